"""The answer to `explain --why` as a person reads it: one sentence, then what it rests on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from ..framework.index.missing import readable
from ..models.quantity import parse_quantity
from .layout import section
from .words import count, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BEARING = ("preemptionPolicy", "guard", "budget", "terminating")
"""Kinds of rules that decide which running pods stay."""

_RULES = ("rule", "of", "without it")

_STYLES = {"placed": "green", "atACost": "yellow", "placeable": "green"}


def why_report(document: Mapping[str, Any]) -> RenderableType:
    """Return the report of an answer (`kubestow explain --why`)."""
    match document["answer"]:
        case "placed":
            parts = _placed(document)
        case "atACost":
            parts = _at_a_cost(document)
        case "placeable":
            parts = [Text(f"{_place(document)}."), Text("What that costs others was not looked for.", "dim")]
        case _:
            parts = _impossible(document)
    return Group(_title(document), *parts)


def headline(document: Mapping[str, Any]) -> str:
    """Return an answer in one line: what is proven about whom, and the sentence that it rests on."""
    match document["answer"]:
        case "placed":
            sentence = ""
        case "atACost":
            sentence = _paying(document)
        case "placeable":
            sentence = f"{_place(document)}."
        case _:
            sentence = _headline(document) if document.get("core") else ""
    claim = f"{_name(document)} {_verdict(document)}"
    return f"{claim}: {sentence}" if sentence else f"{claim}."


def _title(document: Mapping[str, Any]) -> Text:
    return Text.assemble(
        (f"{document['instance']}: {_name(document)}", "bold"),
        (f" {_verdict(document)}", _STYLES.get(document["answer"], "red")),
        f" (priority {document['priority']})",
    )


def _name(document: Mapping[str, Any]) -> str:
    kind, _, key = document["subject"].partition(" ")
    return key if kind == "Pod" else f"group {key}"


def _verdict(document: Mapping[str, Any]) -> str:
    group = not document["subject"].startswith("Pod ")
    match document["answer"]:
        case "placed":
            nodes = sorted(set(document["placed"].values()))
            where = "the best round" if document["status"] == "OPTIMAL" else "the best plan that was found"
            return f"{'starts' if group else 'runs'} in {where}, on {listed(nodes, 4)}"
        case "atACost":
            if document["status"] == "OPTIMAL" or (document["tier"] or {}).get("certain"):
                return f"can {'start' if group else 'run'}, but others pay for it"
            return f"can {'start' if group else 'run'}; whether others pay for it is not proven"
        case "placeable":
            return f"can {'start' if group else 'run'}"
        case "impossible":
            return f"cannot {'start' if group else 'run'} by any plan"
        case _:
            if document.get("beside"):
                return "has no place beside what runs; whether others that wait could help is open"
            return "waits; time was out before it was proven why"


# -- placed --


def _placed(document: Mapping[str, Any]) -> list[RenderableType]:
    lines: list[RenderableType] = []
    if document["victims"]:
        lines.append(Text(f"{listed(document['victims'])} would go for it."))
    missed = [pod for pod, node in document["greedy"].items() if node is None]
    if not missed:
        lines.append(Text("kube-scheduler's own order places it, too."))
    else:
        lines.append(Text(f"kube-scheduler's own order leaves out {listed(missed)}."))
    lines += [Text(f"  {message}") for message in dict.fromkeys(document["greedyMessages"].values())]
    return lines


# -- at a cost --


def _at_a_cost(document: Mapping[str, Any]) -> list[RenderableType]:
    lines: list[RenderableType] = [Text(_paying(document), "bold")]
    lines.append(Text(_difference(document["status"], document["tier"])))
    nodes = sorted(set(document["placed"].values()))
    lines.append(Text(f"It would be on {listed(nodes, 4)}."))
    return lines


def _paying(document: Mapping[str, Any]) -> str:
    """Return who pays for a placement, in a sentence."""
    left, evicted = document["leftOut"], document["evicted"]
    paying = []
    if left:
        paying.append(f"{listed(left)} would be left out")
    if evicted:
        paying.append(f"{listed(evicted)} would be evicted")
    return f"{', and '.join(paying) or 'Others would move'}."


def _difference(status: str, tier: Mapping[str, Any] | None) -> str:
    """Return what the placement costs, and how far that is proven."""
    if tier is None and status == "OPTIMAL":
        return "No tier gets worse: the best round could as well have it in their place."
    if tier is None:
        return "No tier of the best plan that was found gets worse; time was out before that was proven best."
    name, best, with_it = tier["name"], tier["best"], tier["with"]
    if tier["proven"]:
        return f"{name}: {best} at best, {with_it} with it."
    bound = "" if tier["withBound"] is None else f" (bound {tier['withBound']})"
    some = "; that it costs something is proven" if tier["certain"] else ""
    return f"{name}: {best} in the best plan found, {with_it} with it{bound}: time was out{some}."


def place_found(document: Mapping[str, Any]) -> str:
    """Return what is known as soon as there is a place, in one line."""
    return f"{_name(document)} {_verdict(document)}: {_place(document)}"


def _place(document: Mapping[str, Any]) -> str:
    nodes = sorted(set(document["placed"].values()))
    evicted = f", {listed(document['evicted'], 3)} evicted" if document["evicted"] else ""
    return f"a plan has it on {listed(nodes, 4)}{evicted}"


# -- impossible --


def _impossible(document: Mapping[str, Any]) -> list[RenderableType]:
    core = document.get("core", [])
    if not core:
        return [Text("No rule that can be lifted keeps it: see `kubestow explain` without --why.")]
    lines: list[RenderableType] = [Text(_headline(document), "bold")]
    rows = [(row["text"], row["object"], _without(row)) for row in core]
    title = "What keeps it waiting; without any one of these it has a place"
    if len(core) == 1:
        title = "What keeps it waiting"
    parts = section(title, _RULES, rows, (), "rules")
    every = [core, *(other["core"] for other in document.get("otherCores", ()))]
    if any(row["without"]["others"] == "lifted" for rows in every for row in rows):
        parts.append(Text("  * if the rules that are not named here are lifted, too", "dim"))
    for row in core:
        if "counts" in row:
            parts += _counts(row["counts"])
    return [*lines, *parts, *_others(document), *_domains(document), *_nodes(document), _proof(document)]


def _others(document: Mapping[str, Any]) -> list[RenderableType]:
    """Show further minimal sets of rules, where they were asked for."""
    parts: list[RenderableType] = []
    for number, other in enumerate(document.get("otherCores", ()), start=2):
        rows = [(row["text"], row["object"], _without(row)) for row in other["core"]]
        parts += section(f"Set {number} of rules that keeps it waiting", _RULES, rows, (), "rules")
    if "allCores" in document:
        more = "There is no other set." if document["allCores"] else "There may be other sets."
        parts.append(Text(f"\n{more}", "dim"))
    return parts


def _without(row: Mapping[str, Any]) -> str:
    placed, evicted = row["without"]["placed"], row["without"]["evicted"]
    nodes = sorted(set(placed.values()))
    if not nodes:
        return "not known in time"
    others = " *" if row["without"]["others"] == "lifted" else ""
    return f"goes to {listed(nodes, 3)}" + (f", {listed(evicted, 3)} would go" if evicted else "") + others


def _headline(document: Mapping[str, Any]) -> str:
    """Return the one sentence: the sum where there is one, else the rules."""
    core, proof = document["core"], document["proof"]
    if proof["kind"] == "counting" and (sentence := _sum(core, proof)):
        return sentence
    if proof["kind"] == "countingByDomain":
        nearest = min(proof["domains"], key=lambda row: (row["short"], row["domain"]))
        where = f"{nearest['key']}={nearest['domain']}" if nearest["key"] else "the whole cluster"
        limit = f" of {nearest['limitedBy']}" if nearest["limitedBy"] else ""
        if nearest["running"] >= nearest["needed"]:
            return f"The group runs in {where}, which has no room{limit} for one more."
        more = f" beside the {nearest['running']} that run there" if nearest["running"] else ""
        return (
            f"{nearest['needed']} pods must start together; the nearest, {where}, has room{limit} for "
            f"{nearest['room']}{more}: {nearest['short']} short."
        )
    return f"{_sentence(core)}."


def _sentence(core: Sequence[Mapping[str, Any]]) -> str:
    texts = [f"{row['text']}{_fewest(row)}" for row in core]
    together = "; and ".join(texts)
    return together[0].upper() + together[1:]


def _fewest(row: Mapping[str, Any]) -> str:
    """Return where a spread constraint counts fewest now; empty for other rules."""
    counts = row.get("counts")
    if counts is None:
        return ""
    at = counts["minimumAt"]
    where = f"in {listed(at, 3)}" if at else f"as there are fewer than {counts['minDomains']} domains"
    return f" (the minimum is {counts['minimum']} now, {where})"


def _sum(core: Sequence[Mapping[str, Any]], proof: Mapping[str, Any]) -> str:
    """Return `12 cpu wanted, 8 can ever be free on the 3 nodes that ...`; empty without an amount."""
    short = [row for row in proof["nodes"] if "free" in row]
    if not short:
        return ""
    sentences = []
    for resource in dict.fromkeys(row["resource"] for row in short):
        mine = [row for row in short if row["resource"] == resource]
        free = max(parse_quantity(row["free"]) for row in mine)
        most, wanted = (_amount(resource, value) for value in (free, parse_quantity(mine[0]["wanted"])))
        nodes = f"{mine[0]['node']}" if len(mine) == 1 else f"any of {count(len(mine), 'node')}"
        sentences.append(f"{wanted} {resource} wanted, {most} can ever be free on {nodes}")
    sentences += [f"{row['object']}: {row['text']}" for row in core if row["kind"] in _BEARING]
    others = Counter(row["reason"] for row in proof["nodes"] if "free" not in row)
    rest = [
        f"{count(number, 'other node')}: {core[place]['text']}{_fewest(core[place])}"
        for place, number in sorted(others.items())
    ]
    return f"{'; '.join((*sentences, *rest))}."


def _amount(resource: str, value: Any) -> str:
    return readable(resource, int(value * 1000) if resource == "cpu" else int(value))


def _counts(counts: Mapping[str, Any]) -> list[RenderableType]:
    rows = [
        (
            row["domain"],
            str(row["pods"]),
            "<- the minimum" if row["domain"] in counts["minimumAt"] else "",
        )
        for row in counts["domains"]
    ]
    title = f"Pods that count now, by {counts['topologyKey']} (maxSkew {counts['maxSkew']}"
    if len(counts["domains"]) < counts["minDomains"]:
        title += f"; fewer than {counts['minDomains']} domains: the minimum is 0"
    return section(f"{title})", ("domain", "pods", ""), rows, (1,), "domains")


def _domains(document: Mapping[str, Any]) -> list[RenderableType]:
    rows = [
        (
            row["domain"],
            str(row["running"]),
            str(row["room"]),
            str(row["needed"]),
            str(row["short"]) if row["short"] else "enough by counting",
            row["limitedBy"] or "",
        )
        for row in document.get("domains", ())
    ]
    columns = ("domain", "running", "room for", "needed", "short", "least of")
    return section("Where it could start, the nearest miss first", columns, rows, (1, 2, 3), "domains")


def _nodes(document: Mapping[str, Any]) -> list[RenderableType]:
    """List the amounts of a counting proof, the nodes with most first."""
    rows = [row for row in document["proof"].get("nodes", ()) if "free" in row]
    rows.sort(key=lambda row: (-parse_quantity(row["free"]), row["node"]))
    cells = [
        (row["node"], row["resource"], row["wanted"], row["allocatable"], row["held"], row["free"])
        for row in rows
    ]
    columns = ("node", "resource", "wanted", "allocatable", "held by pods that stay", "can be free")
    return section("The sums", columns, cells, (2, 3, 4, 5), "nodes", 10)


def _proof(document: Mapping[str, Any]) -> RenderableType:
    asked = count(document["roundsAsked"], "round")
    words = {
        "counting": "The sums prove it",
        "countingByDomain": "The sums by domain prove it",
        "search": "The solver proves it",
    }[document["proof"]["kind"]]
    return Text(f"\n{words}; {asked} solved to see that no rule is needless.", "dim")
