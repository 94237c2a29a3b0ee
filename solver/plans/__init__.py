"""Outcomes and plans: valuation, replay, documents. Free of ortools and encoders."""
