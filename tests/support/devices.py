"""Devices, slices and claims in one line each, for tests.

    cluster(
        node("a"),
        device_class("gpu"),
        slice_on("a", gpu("g0", model="a100"), gpu("g1", model="l4")),
        claim("c", request("r", count=2), match="model"),
        user("p", "c"),
    )

The driver is `DRIVER` and class `gpu` takes all of its devices, unless told otherwise. Short names of
attributes are the driver's.
"""

from kubestow.framework.vocabulary.status import Code
from kubestow.models.resource_api import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from support.builders import pod
from support.filtering import Look, written

DRIVER = "gpu.example.com"


def _attribute(value):
    if isinstance(value, list):
        single = [_attribute(item) for item in value]
        [kind] = {key for item in single for key in item}
        return {f"{kind}s": [item[kind] for item in single]}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    return {"version": value[1:]} if value.startswith("v") and value[1:2].isdigit() else {"string": value}


def gpu(name, *, capacity=(), takes=(), taints=(), shared=False, extra=(), **attributes):
    """A device.

    Parameters
    ----------
    capacity : mapping
        Name to amount, or to (amount, policy).
    takes : mapping
        Counter set to {counter: amount}.
    taints : iterable of (key, effect)
    shared : bool
        Whether it allows multiple allocations.
    extra : mapping
        More fields, as served.
    attributes
        `v1.2.3` is a version, other texts are strings; a list has several values.
    """
    amounts = {
        key: {"value": item} if isinstance(item, str) else {"value": item[0], "requestPolicy": item[1]}
        for key, item in dict(capacity).items()
    }
    return {
        "name": name,
        "attributes": {key: _attribute(value) for key, value in attributes.items()},
        "capacity": amounts,
        "consumesCounters": [
            {"counterSet": counter_set, "counters": {key: {"value": item} for key, item in counters.items()}}
            for counter_set, counters in dict(takes).items()
        ],
        "taints": [{"key": key, "effect": effect} for key, effect in taints],
        "allowMultipleAllocations": shared,
        **dict(extra),
    }


def slice_(name, *devices, pool=None, generation=1, of=1, driver=DRIVER, counters=(), **where):
    """A slice, one of so many; `where` says for which nodes (`nodeName`, `nodeSelector`, `allNodes`, ...)."""
    sets = [
        {"name": key, "counters": {counter: {"value": amount} for counter, amount in amounts.items()}}
        for key, amounts in dict(counters).items()
    ]
    return ResourceSlice.model_validate(
        {
            "metadata": {"name": name},
            "spec": {
                "driver": driver,
                "pool": {"name": pool or name, "generation": generation, "resourceSliceCount": of},
                "devices": list(devices),
                "sharedCounters": sets,
                **where,
            },
        }
    )


def slice_on(node, *devices, name=None, **more):
    """A slice of a node's own pool."""
    return slice_(name or f"{node}-{more.get('driver', DRIVER)}", *devices, pool=node, nodeName=node, **more)


def zone(value):
    """A node selector for one zone."""
    key = "topology.kubernetes.io/zone"
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
    return {"nodeSelectorTerms": [term]}


def _selectors(expressions):
    return [{"cel": {"expression": expression}} for expression in expressions]


def device_class(name="gpu", *expressions, serves=None):
    """A class; without expressions it takes what `DRIVER` has, with `serves` it has an extended resource."""
    expressions = expressions or (f'device.driver == "{DRIVER}"',)
    return DeviceClass.model_validate(
        {
            "metadata": {"name": name},
            "spec": {"selectors": _selectors(expressions), "extendedResourceName": serves},
        }
    )


def _want(*expressions, of="gpu", count=None, mode=None, tolerate=(), capacity=None):
    return {
        "deviceClassName": of,
        "selectors": _selectors(expressions),
        "allocationMode": mode or "ExactCount",
        "count": count,
        "tolerations": [{"key": key, "operator": "Exists"} for key in tolerate],
        "capacity": None if capacity is None else {"requests": capacity},
    }


def request(name, *expressions, admin=False, **want):
    """A request for devices that every expression takes."""
    return {"name": name, "exactly": {**_want(*expressions, **want), "adminAccess": admin}}


def alternative(name, *expressions, **want):
    """One alternative of `first_of`."""
    return {"name": name, **_want(*expressions, **want)}


def first_of(name, *alternatives):
    """A request for the first alternative that can be had."""
    return {"name": name, "firstAvailable": list(alternatives)}


def model(*values):
    """An expression that takes devices of some models."""
    listed = ", ".join(f'"{value}"' for value in values)
    return f'device.attributes["{DRIVER}"].model in [{listed}]'


def _devices(requests, match, distinct, over):
    def full(name):
        return name if "/" in name else f"{DRIVER}/{name}"

    constraints = [{"matchAttribute": full(match), "requests": list(over)}] if match else []
    constraints += [{"distinctAttribute": full(distinct), "requests": list(over)}] if distinct else []
    return {"devices": {"requests": list(requests), "constraints": constraints}}


def claim(
    name, *requests, match=None, distinct=None, over=(), has=(), at=None, users=(), owner=None, **metadata
):
    """A claim.

    Parameters
    ----------
    match, distinct : str, optional
        The attribute of a constraint, over the requests `over`.
    has : iterable of (request, pool, device) or (request, pool, device, more)
        What is allocated; nothing without `at`. `more` are fields as served, such as a share.
    at : str or mapping, optional
        The node of the allocation, or its node selector, or `everywhere`.
    users : iterable of str
        The pods it is reserved for.
    owner : str, optional
        The pod it was made for.
    """
    status = {"reservedFor": [{"resource": "pods", "name": user} for user in users]}
    if at is not None:
        by_name = {"key": "metadata.name", "operator": "In", "values": [at]}
        selector = {"nodeSelectorTerms": [{"matchFields": [by_name]}]} if isinstance(at, str) else at
        status["allocation"] = {
            "devices": {
                "results": [
                    {"request": wanted, "driver": DRIVER, "pool": pool, "device": device} | dict(*more)
                    for wanted, pool, device, *more in has
                ]
            },
            "nodeSelector": None if at == "everywhere" else selector,
        }
    owners = [{"kind": "Pod", "name": owner, "controller": True}] if owner else []
    return ResourceClaim.model_validate(
        {
            "metadata": {"name": name, "namespace": "default", "ownerReferences": owners, **metadata},
            "spec": _devices(requests or [request("r")], match, distinct, over),
            "status": status,
        }
    )


def template(name, *requests):
    """A template of claims."""
    spec = {"spec": _devices(requests or [request("r")], None, None, ())}
    return ResourceClaimTemplate.model_validate({"metadata": {"name": name}, "spec": spec})


def taint_rule(name, key, effect="NoSchedule", *expressions, **where):
    """A rule that taints devices by `where` (driver, pool, device, deviceClassName) and by expressions."""
    selector = {**where, "selectors": _selectors(expressions)}
    return DeviceTaintRule.model_validate(
        {
            "metadata": {"name": name},
            "spec": {"deviceSelector": selector, "taint": {"key": key, "effect": effect}},
        }
    )


def user(name, *claims, made=()):
    """A pod with claims by name, and some made from templates: (entry, claim), or (entry,) if none is yet."""
    entries = [{"name": f"e{k}", "resourceClaimName": key} for k, key in enumerate(claims)]
    entries += [{"name": item[0], "resourceClaimTemplateName": "t"} for item in made]
    statuses = [{"name": item[0], "resourceClaimName": item[1]} for item in made if len(item) > 1]

    def change(doc):
        doc["spec"]["resourceClaims"] = entries
        doc["status"]["resourceClaimStatuses"] = statuses

    return pod(name).changed(change)


def allocated(*objects, node="a", name="p", gates="", release="1.36"):
    """What a pod's claims get on a node.

    Returns
    -------
    dict or str
        Claim name to devices, `request=device` each; or why there are none, in the notation of `filtering`,
        an error as `error: ...`.
    """
    look = Look(*objects, name=name, gates=gates, release=release)
    n = look.node(node)
    status = look.framework.filter_node(look.state, look.pod, n)
    if status.code is Code.ERROR:
        return f"error: {status.message}"
    if not status.ok:
        return written(status)
    brought = look.framework.reserve(look.state, look.pod, n)
    return {key.partition("/")[2]: devices(allocation) for key, allocation in brought.items()}


def devices(allocation):
    """Write an allocation's devices."""
    return [f"{result.request}={result.id.device}" for result in allocation.results]
