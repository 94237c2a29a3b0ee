"""``python -m kubestow``: the same command as ``kubestow``."""

from kubestow.entry import main

if __name__ == "__main__":
    main()
