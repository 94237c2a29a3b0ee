"""kube-scheduler's in-tree plugins, one file each, under upstream's names."""
