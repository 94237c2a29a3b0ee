"""What a real API server takes and keeps must load; what it refuses is refused, but for what is listed."""

import gzip
import json

import pytest
from support.paths import DATA

from kubestow.instances.manifests import parse_snapshot
from kubestow.models.errors import InputError

FILE = DATA / "validation" / "verdicts.jsonl.gz"
ROWS = [json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines()]
ACCEPTED = [row for row in ROWS if row["accepted"]]
REFUSED = [row for row in ROWS if not row["accepted"]]

# docs/deviations.md, "What is taken although the API server refuses it".
LENIENT = {
    "dc-cel-authz": "CEL is compiled once a pending pod needs devices",
    "name-upper": "names in capitals",
    "node-name-upper": "names in capitals",
    "prc-badclaim": "names in capitals",
    "csinode-noid": "no identity of a node with a driver",
    "overhead": "no RuntimeClass beside the overhead",
    "overhead-empty": "no RuntimeClass beside the overhead",
    "owner-nouid": "no uid of an owner",
    "pclass-system-prio": "a priority beside its class",
    "pclass-unknown-prio": "a priority beside its class",
    "pg-prio": "a priority beside its class",
    "preempt-never": "a preemption policy beside its class",
    "pg-dm-union": "another version's spelling of a group",
    "pg-topo-two": "several levels of topology",
    "pv-nosource": "no source of a volume",
    "res-ext-nolimit": "no limit of an extended resource",
    "rs-policy-max-gt-value": "a policy beyond the capacity",
    "rs-policy-nomulti": "a policy of a device that is not shared",
    "vol-azuredisk": "what is inside a source",
    "vol-hostpath-relative-dots": "what is inside a source",
}


def load(item):
    return parse_snapshot([("f.json", json.dumps(item).encode())], name="f")


@pytest.mark.parametrize("row", ACCEPTED, ids=[row["id"] for row in ACCEPTED])
def test_what_is_accepted_loads_as_posted_and_as_stored(row):
    load(row["object"])
    load(row["stored"])


@pytest.mark.parametrize("row", REFUSED, ids=[row["id"] for row in REFUSED])
def test_what_is_refused_is_refused_unless_leniency_is_listed(row):
    if row["id"] in LENIENT:
        load(row["object"])
    else:
        with pytest.raises(InputError):
            load(row["object"])


def test_every_leniency_is_held_by_an_object():
    assert LENIENT.keys() <= {row["id"] for row in REFUSED}
