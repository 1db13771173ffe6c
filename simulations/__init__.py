"""Truth by simulation: what tests and intervals do where the truth is known."""
