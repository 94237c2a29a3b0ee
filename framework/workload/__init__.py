"""The workload cycle: the pods of a group are placed as one, in one placement.

`forms` holds the two texts of the cycle, KEP-5732's first proposal and kube-scheduler's current one; `cycle`
runs either.  Their plugins implement `interfaces`.  docs/groups.md has both side by side.

Sources: KEP-4671, KEP-5732, KEP-5710; kube-scheduler schedule_one_podgroup.go (1.36 and later).
"""
