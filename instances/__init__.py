"""Where snapshots come from: manifests and the bundled catalogue."""
