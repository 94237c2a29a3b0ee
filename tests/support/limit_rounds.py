"""Random rounds with limits on evictions: those of other families, with limits that bite.

In the mix by construction: no evictions at all, one, two; no violation, one; pods that stay by a label, by
their namespace, or both; beside budgets and guards, groups that are evicted whole, and every other family.
"""

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from kubestow.models.eviction_limits import EvictionLimits, PodSelector
from support.guard_rounds import contested
from support.strategies import TINY, generate
from support.whole_rounds import crowded

NUMBERS = (None, None, 0, 1, 1, 2)
NAMED = ("app=x", "app=y", "app in (x, y)", "tier=front", "!app", "default:app=x", "other:", "default:tier")


def tiny_limits(seed):
    """Return the tiny round of a seed."""
    return limited(Random(seed), f"tiny-limits-{seed}")


tiny_limit_rounds = st.randoms(use_true_random=False).map(lambda rng: limited(rng, "tiny-limits"))


def limited(rng, name):
    """Make a round and limit what it evicts."""
    make = rng.choice((contested, contested, crowded, lambda rng, name: generate(rng, TINY, name)))
    never = tuple(PodSelector.parse(text) for text in rng.sample(NAMED, rng.choice((0, 0, 1, 1, 2))))
    return replace(make(rng, name), limits=EvictionLimits(rng.choice(NUMBERS), rng.choice(NUMBERS), never))
