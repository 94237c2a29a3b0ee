"""What is said of many runs: one statistic a module, with its definition, source and number of cases."""
