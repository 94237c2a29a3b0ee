"""The commands of the command line, one module each; `cli.py` is the command line."""
