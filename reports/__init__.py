"""A plan or a comparison as a person reads it."""
