"""Checks of what kubestow said, against the input alone: no encoder is behind them.

A solver is asked in one place only (`booleans`), and only for a proof that is the solver's own.
"""
