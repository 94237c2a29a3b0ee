"""The choices that random rounds of all families make alike."""


class Choices:
    """A source of random choices, and the kinds of things that a round uses.

    `shares` is each kind's share of the rounds that use it.
    """

    def __init__(self, rng, shares):
        self.rng = rng
        self.kinds = {kind for kind, share in shares.items() if self.chance(share)}

    def uses(self, kind):
        return kind in self.kinds

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, *choices):
        return self.rng.choice(choices)
