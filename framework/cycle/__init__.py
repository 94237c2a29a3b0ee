"""One scheduling cycle: filters, scores, preemption."""
