"""Nodes filled to the brim: plans that attain the bound by sums, where only room ties pods together."""
