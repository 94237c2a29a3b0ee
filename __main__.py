"""``python -m kubestow``: the same command as ``kubestow``."""

from kubestow.cli import main

if __name__ == "__main__":
    main()
