"""Suites for regression: where their rounds come from, and what is known of them (docs/regress.md).

Beside this module is the suite of the catalogue; its best known values are written by `kubestow regress`.
"""
