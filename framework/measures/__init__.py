"""What is measured on a finished state and read by the solver as well."""
