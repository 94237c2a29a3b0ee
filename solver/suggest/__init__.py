"""The least change of a cluster after which a pod or a group is placed."""
