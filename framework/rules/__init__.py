"""Parsed scheduling rules that plugins and encoders share."""
