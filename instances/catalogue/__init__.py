"""The bundled instances, each a small story with a known optimum."""
