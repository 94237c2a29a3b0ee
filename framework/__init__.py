"""The greedy baseline: kube-scheduler's framework, extension point by extension point."""
