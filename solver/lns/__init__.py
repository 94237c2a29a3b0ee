"""Large-neighbourhood search from the incumbent."""
