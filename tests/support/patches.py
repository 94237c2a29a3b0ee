"""Patches as an API server applies them: JSON Patch (RFC 6902) and strategic merge, as far as tests need."""

from copy import deepcopy

JSON_PATCH = "application/json-patch+json"
KEYS = {"reservedFor": "uid", "conditions": "type"}
"""List to the field by which its entries are merged; lists of texts are united."""


class TestFailed(Exception):
    """A test of a patch does not hold."""

    __test__ = False


def json_patch(document, operations):
    """Apply operations one after the other; a missing field is null to a test, as upstream."""
    document = deepcopy(document)
    for operation in operations:
        *names, last = (
            name.replace("~1", "/").replace("~0", "~") for name in operation["path"].split("/")[1:]
        )
        at = document
        for name in names:
            if name not in at:
                raise TestFailed(f"{operation['path']}: no such field")
            at = at[name]
        if operation["op"] == "test":
            if at.get(last) != operation["value"]:
                raise TestFailed(f"{operation['path']} is {at.get(last)}, not {operation['value']}")
        elif operation["op"] == "add":
            at[last] = deepcopy(operation["value"])
        elif operation["op"] == "remove":
            if last not in at:
                raise TestFailed(f"{operation['path']}: no such field")
            del at[last]
        else:
            raise TestFailed(f"unknown operation {operation['op']}")
    return document


def strategic_merge(document, patch):
    """Merge a patch: maps field by field, lists of texts united, other lists by their key."""
    merged = dict(deepcopy(document))
    for name, value in patch.items():
        old = merged.get(name)
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = strategic_merge(old or {}, value)
        elif name in KEYS:
            key = KEYS[name]
            entries = {entry[key]: entry for entry in (*(old or ()), *value)}
            merged[name] = list(entries.values())
        elif name == "finalizers":
            merged[name] = list(dict.fromkeys((*(old or ()), *value)))
        else:
            merged[name] = deepcopy(value)
    return merged
