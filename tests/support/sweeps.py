"""How much of a sweep a run of the suite takes: a fixed sample as a rule, all of it with `pytest --sweep`.

A sweep solves many seeded rounds of one kind, or has hypothesis look for many. Its first rounds are enough to
notice in a minute that something broke; the others are for changes to the search and for releases, and
`python -m benchmarks sweeps` runs them.
"""

_ALL = False


def sweep_all(*, wanted: bool) -> None:
    """Choose between samples and whole sweeps, before tests are collected."""
    global _ALL
    _ALL = wanted


def few_or_all(few: int, every: int) -> int:
    """Return how many rounds to take: the first number as a rule, the second one in a sweep."""
    assert few < every, "a sample is smaller than the whole"
    return every if _ALL else few
