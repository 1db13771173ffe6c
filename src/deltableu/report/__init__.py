"""Results come in; tables and pages for people go out."""
