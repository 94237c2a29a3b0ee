"""What a server or kubectl says, without credentials that it may repeat."""

import re
from typing import Final

# Words such as "invalid bearer token" are none; a scheme is written `Bearer`, a token is long.
_CREDENTIALS: Final = re.compile(r"\b(?:(Bearer|Basic)\s+\S+|((?i:bearer|basic))[\s:=]+\S{20,})")


def redacted(text: str) -> str:
    """Return text in which what follows `Bearer` or `Basic`, as in an Authorization header, is left out."""
    return _CREDENTIALS.sub(lambda found: f"{found[1] or found[2]} …", text)
