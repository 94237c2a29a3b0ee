"""Studies that survive: a file says what is run, a folder keeps each run when it is done."""
