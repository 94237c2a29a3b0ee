"""A node's verdict, where it is not the place of the filter that rejected it."""

from typing import Final

PASSED: Final = -1
OUTSIDE: Final = -2
"""Not looked at: the pod names its nodes, and this is none of them."""
