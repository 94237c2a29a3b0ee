"""Which nodes to buy: the least price at which pods are placed, with its bound (docs/provision.md)."""
