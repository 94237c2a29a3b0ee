"""Objects of a round in one line each, for notebooks and tests: one verb per fact.

    cluster(
        node("a", zone="z1", cpu="2"),
        pod("v").req(cpu="2").priority(0).on("a"),
        pod("p").req(cpu="1").priority(10).label(app="web").spread("zone", max_skew=1),
        budget("keep", allowed=0, app="web"),
    )

Builders are frozen: every verb returns a new one, so a half-built pod may be kept and varied. Short names of
keys: `zone`, `region` and `hostname` are the well-known labels, any other key is taken as written.
"""
