"""The Python interface: `import kubestow as ks` (docs/python.md).

`kubestow.__getattr__` brings a name from here when it is first used, so the import itself costs nothing.
"""
