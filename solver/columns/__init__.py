"""Shares of devices on nodes that are alike: which shares go on one device, and which pods on one node."""
