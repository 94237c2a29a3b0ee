"""The immutable index of a snapshot: nodes, pods, classes, parsed rules of pods."""
