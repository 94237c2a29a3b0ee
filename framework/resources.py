"""The rows that every cluster's resource arrays begin with."""

from typing import Final

CPU: Final = 0
MEMORY: Final = 1
EPHEMERAL_STORAGE: Final = 2

FIRST_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
"""Names of these rows; what pods and scoring strategies name beside them follows in order of appearance."""
