"""Who leaves each node as a whole: a bound of evictions, and plans near it, where few pods share a node."""
