"""Snapshots of a live cluster: through `kubectl proxy`, with nothing but lists, page by page."""
