"""What if: changes as options and files say them, and the cluster after them."""
