"""A plan as what an API server is asked for: requests in order, as documents or as a script. Nothing is sent."""
