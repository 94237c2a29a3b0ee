"""Scheduling through time: a cluster on a virtual clock, with the queue, controllers and an autoscaler."""
