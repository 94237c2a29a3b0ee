"""A round a second time: a Boolean for each pod and node, and for each claim and device, and no encoder.

It has the rows that are quickest said in this way, and leaves the others out: where it has no solution, no
plan places the pod. A solution of it is a plan only once the framework has replayed it.
"""
