"""What the API server would refuse, one rule a room."""
