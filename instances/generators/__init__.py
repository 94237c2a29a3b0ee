"""Seeded generators of rounds, a family each: plain manifests, the same for the same seed and knobs."""
