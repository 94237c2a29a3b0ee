"""The scheduling queue: which pods are tried next, which back off, and which wait for something to happen."""
