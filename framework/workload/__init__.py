"""The workload cycle: the pods of a group are placed as one, in one placement.

Three texts of it are rebuilt, each a `WorkloadCycleVariant`: KEP-5732's first proposal (`proposal`), kube-
scheduler 1.36 (`v1_36`) and what came after it (`v1_37`); `cycle` runs the one that a profile chooses
(`choice`).  Their plugins implement `interfaces`.  docs/groups.md has all three side by side.

Sources: KEP-4671, KEP-5732, KEP-5710; kube-scheduler schedule_one_podgroup.go (1.36 and later).
"""
