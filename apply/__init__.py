"""A plan as what an API server is asked for: requests in order, as documents or a script."""
