"""The command line: one module a command; thin: parse, call, print."""
