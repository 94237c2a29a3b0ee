"""The CP-SAT model of a round: variables, rows, submodels, solutions."""
