"""Dynamic resource allocation: which devices serve which claims."""
