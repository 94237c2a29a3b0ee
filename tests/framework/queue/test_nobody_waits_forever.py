"""No pod waits while it fits: whatever ends a rejection is an event, and the hints see that it helps.

A small cluster changes at random while the queue and the real filters schedule it. Whenever nothing happens
any more and all backoffs are over, no waiting pod may fit anywhere; and no five-minute flush may have helped.

Known gaps of the real hints are left out of the game: anti-affinity of existing pods towards pods without
such terms, several terms at once, affinity to oneself, and spreading over nodes that a selector chooses.
"""

from random import Random

import pytest
from support.builders import cluster, node, pod
from support.changing import Queue, built

from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.index.cluster import Cluster
from kubestow.framework.queue.clock import SECOND
from kubestow.framework.state.state import State
from kubestow.models.node import Node
from kubestow.models.pod import Pod

WISHES = {
    "nothing": lambda p: p.label(app="web"),
    "a disk": lambda p: p.select(disk="ssd"),
    "spreading": lambda p: p.label(app="web").spread("zone"),
    "spreading over what it tolerates": lambda p: p.label(app="web").spread("zone", node_taints="Honor"),
    "to be alone": lambda p: p.label(alone="yes").anti("zone", {"alone": "yes"}),
    "to be near": lambda p: p.label(app="front").affinity("zone", {"app": "web"}),
    "a port": lambda p: p.host_port(80),
}
"""Each pod has one, so that what one plugin rejects no other one does."""


class Game:
    """A cluster in which things happen."""

    def __init__(self, seed, wish):
        self.random = Random(f"{seed} {wish}")
        self.queue = Queue()
        self.objects = self.queue.queue.objects
        self.wishes = [wish, wish, "nothing"]
        self.made = 0
        for _ in range(2):
            self.node_comes()
        for _ in range(3):
            self.pod_comes()

    # -- what may happen --

    def name(self, letter):
        self.made += 1
        return f"{letter}{self.made}"

    def any_node(self, name):
        item = node(name, cpu=self.random.choice("1234"), zone=self.random.choice([None, "z1", "z2", "z2"]))
        item = item.label(disk=self.random.choice(["hdd", "ssd"]))
        return self.random.choice([item.taint("k"), item.cordoned(), item, item, item])

    def node_comes(self):
        self.queue.add(self.any_node(self.name("n")))

    def node_changes(self):
        old = self.random.choice(self.objects.all(Node))
        self.queue.change(old, self.any_node(old.name))

    def label_changes(self):
        old = self.random.choice(self.objects.all(Node))
        key, values = self.random.choice(
            [("disk", ["hdd", "ssd"]), ("topology.kubernetes.io/zone", ["z1", "z2"])]
        )
        labels = {**old.metadata.labels, key: self.random.choice(values)}
        self.queue.change(
            old, old.model_copy(update={"metadata": old.metadata.model_copy(update={"labels": labels})})
        )

    def node_goes(self):
        if len(self.objects.all(Node)) > 1:
            gone = self.random.choice(self.objects.all(Node))
            self.queue.remove(*self.objects.pods_on(gone.name).values(), gone)

    def pod_comes(self):
        wish = WISHES[self.random.choice(self.wishes)]
        self.queue.add(wish(pod(self.name("p")).req(cpu=self.random.choice("012"))))

    def pod_goes(self):
        if running := [p for p in self.objects.all(Pod) if p.spec.node_name]:
            self.queue.remove(self.random.choice(running))

    def pod_tolerates(self):
        if waiting := [p for p in self.objects.all(Pod) if not p.spec.node_name and not p.spec.tolerations]:
            old = self.random.choice(waiting)
            tolerations = built(pod("x").tolerate("k")).spec.tolerations
            spec = old.spec.model_copy(update={"tolerations": tolerations})
            self.queue.change(old, old.model_copy(update={"spec": spec}))

    def happen(self):
        events = (
            self.node_comes,
            self.node_changes,
            self.label_changes,
            self.node_goes,
            self.pod_comes,
            self.pod_goes,
            self.pod_goes,
            self.pod_tolerates,
        )
        self.random.choice(events)()

    # -- the scheduler --

    def judge(self, item):
        """Return the nodes that take a pod, and who rejects it elsewhere."""
        found = Cluster(cluster(self.objects.all(Node), self.objects.all(Pod)))
        i = found.pod_index[item.key]
        result = framework_for(found, i).filter_all(State.initial(found), i)
        return [found.node_names[n] for n in result.feasible], result.plugins

    def work(self):
        """Place every pod that can be popped on the first node that takes it."""
        while (name := self.queue.pop()) is not None:
            item = self.objects.get(Pod, f"default/{name}")
            feasible, plugins = self.judge(item)
            if self.random.random() < 0.2:
                self.happen()  # too late for this attempt
            if feasible and self.objects.get(Node, feasible[0]) is None:
                self.queue.fail(name)  # its binding is an error
            elif feasible:
                spec = item.spec.model_copy(update={"node_name": feasible[0]})
                self.queue.change(item, item.model_copy(update={"spec": spec}))
                self.queue.done(name)
            else:
                self.queue.fail(name, *plugins)

    def pass_time(self, seconds):
        now = self.queue.queue.clock.now / SECOND
        assert all(name == "tick" for _, name in self.queue.at(now + seconds)), "a flush was at work"

    def rest(self):
        """Let nothing happen until nobody backs off."""
        self.work()
        while (due := self.queue.queue.next_tick()) is not None:
            self.pass_time((due - self.queue.queue.clock.now) / SECOND)
            self.work()


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("seed", range(4))
def test_no_pod_waits_while_it_fits(seed, wish):
    game = Game(seed, wish)
    for _ in range(30):
        game.happen()
        if game.random.random() < 0.5:
            game.pass_time(game.random.choice([0, 0.4, 2.5]))
            game.work()
        else:
            game.rest()
            for item in game.queue.queue.unschedulable:
                feasible, _ = game.judge(item)
                assert not feasible, f"{item.key}, rejected by {item.rejectors}, fits {feasible}"
