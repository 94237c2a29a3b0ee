"""The vocabulary: Kubernetes objects as read, quantities, selectors, snapshots, rounds and plans."""
