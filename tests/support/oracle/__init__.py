"""Second opinions: exhaustive searches, and values of plans from their definitions alone."""
