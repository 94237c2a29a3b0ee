"""Large-neighbourhood search near the incumbent."""
