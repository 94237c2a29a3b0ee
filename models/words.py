"""Text that may come from anywhere, made fit for a terminal."""


def shown(text: str) -> str:
    """Return text in which all but ends of lines can be seen: other characters are spelled out."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
