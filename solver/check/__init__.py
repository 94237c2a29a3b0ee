"""Checks of what kubestow said, against the input alone: neither an encoder nor a solver is behind them."""
