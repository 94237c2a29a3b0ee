"""The words that all rooms share: names, statuses, resources, domains, messages."""
