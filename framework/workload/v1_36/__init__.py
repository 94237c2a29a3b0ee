"""The workload cycle of kube-scheduler 1.36.2: every placement and every member is tried.

Source: kube-scheduler 1.36.2 schedule_one_podgroup.go, framework/preemption/podgrouppreemption.go.
"""
