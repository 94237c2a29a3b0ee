"""A suite of rounds beside the best that is known of them (docs/regress.md)."""
