"""A purchase as tables: what is bought, what runs there, how near the bound, what heuristics would buy."""

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.provision import BoughtNodes, Provision, Purchase, PurchaseTier
from .layout import section
from .words import count


def provision_report(found: Provision) -> RenderableType:
    """Return the report: the purchase, a row for each group and for each node, goals, heuristics."""
    return Group(
        Text.assemble((found.instance, "bold"), ": nodes to buy"),
        Text(f"  {_headline(found)}", style="bold"),
        *_saving(found),
        *_groups(found.purchase),
        *_nodes(found.purchase),
        *_tiers(found),
        *_heuristics(found),
        *_waiting(found),
    )


def _headline(found: Provision) -> str:
    purchase = found.purchase
    bought = count(purchase.nodes, "node") if purchase.nodes else "nothing"
    limit = "" if found.max_price is None else f" of {money(found.max_price)} that may be spent"
    placed = f"{count(purchase.scheduled, 'waiting pod')} placed, {len(found.waiting)} left"
    return f"{bought} for {money(purchase.price)}{limit}: {placed}, {proof_of(found.tiers)}"


def proof_of(tiers: tuple[PurchaseTier, ...]) -> str:
    """Return whether all tiers are proven, or the bound of the first that is not."""
    for tier in tiers:
        if not tier.proven:
            if tier.bound is None:
                return f"not proven (no bound of {tier.name} yet)"
            limit = "most" if tier.sense == "max" else "least"
            return f"not proven: {tier.name} at {limit} {value_of(tier, tier.bound)}"
    return "proven"


def _saving(found: Provision) -> list[RenderableType]:
    if found.saved is None:
        words = "the heuristics below place fewer pods" if found.heuristics else ""
    elif found.saved:
        words = f"{money(found.saved)} less than the cheapest heuristic below"
    else:
        words = "as cheap as the cheapest heuristic below"
    return [Text(f"  {words}")] if words else []


def _groups(purchase: Purchase) -> list[RenderableType]:
    rows = [
        (item.group, item.zone or "-", str(item.count), money(item.price), money(item.cost))
        for item in purchase.bought
    ]
    return section("Nodes to buy", ("group", "zone", "nodes", "each", "price"), rows, (2, 3, 4), "groups")


def _nodes(purchase: Purchase) -> list[RenderableType]:
    rows = [
        (name, str(len(pods)), ", ".join(pods) or "-")
        for item in purchase.bought
        for name, pods in item.nodes.items()
    ]
    return section("What runs there", ("node", "pods", "that wait now"), rows, (1,), "nodes")


def _tiers(found: Provision) -> list[RenderableType]:
    rows = [
        (
            tier.name,
            value_of(tier, tier.value),
            "-" if tier.bound is None else value_of(tier, tier.bound),
            "proven" if tier.proven else "",
        )
        for tier in found.tiers
    ]
    return section("Goals, most important first", ("goal", "value", "bound", "proof"), rows, (1, 2))


def _heuristics(found: Provision) -> list[RenderableType]:
    rows = [
        (
            item.expander,
            money(item.purchase.price),
            str(item.purchase.nodes),
            str(item.purchase.scheduled),
            _order(item.purchase.bought),
        )
        for item in found.heuristics
    ]
    heads = ("expander", "price", "nodes", "pods placed", "order")
    return section("What the cluster autoscaler would order", heads, rows, (1, 2, 3))


def _order(bought: tuple[BoughtNodes, ...]) -> str:
    parts = (f"{item.count} {item.group}{f' in {item.zone}' if item.zone else ''}" for item in bought)
    return ", ".join(parts) or "-"


def _waiting(found: Provision) -> list[RenderableType]:
    reasons = {item.pod: item.message for item in found.plan.unschedulable}
    rows = [(pod, reasons.get(pod, "")) for pod in found.waiting]
    return section("Pods that still wait", ("pod", "kube-scheduler's message"), rows, (), "pods")


def value_of(tier: PurchaseTier, value: float) -> str:
    """Return a value or a bound of a tier."""
    return money(value) if tier.name == "price" else f"{value:.0f}"


def money(price: float) -> str:
    """Return a price, without zeros at its end."""
    return f"{price:.6f}".rstrip("0").rstrip(".")
