"""What `make docs` adds to the pages of docs/: references written from the code itself."""
