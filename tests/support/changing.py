"""Changes of a cluster in one line, for tests of hints and of the queue."""

from kubestow.framework.events.objects import ObjectStore
from kubestow.framework.hints.verdicts import judge
from kubestow.framework.queue.clock import VirtualClock, from_seconds
from kubestow.framework.queue.handlers import EventHandlers
from kubestow.framework.queue.periodic import work_until
from kubestow.framework.queue.scheduling_queue import SchedulingQueue
from kubestow.models.config import KubeSchedulerConfiguration
from kubestow.models.features import FeatureGates
from kubestow.models.recordings import HintCase


def built(item):
    """Return the object behind a builder; an object or None is taken as it is."""
    return item.build() if hasattr(item, "build") else item


def with_uid(pod):
    """Give a pod an identity of its own."""
    pod = built(pod)
    return pod.model_copy(update={"metadata": pod.metadata.model_copy(update={"uid": f"uid-{pod.key}"})})


def hint(plugin, waiting, old=None, new=None, objects=(), gates=""):
    """Ask whether a change wakes a pod; the answer is `Queue` or `QueueSkip`."""
    case = HintCase("test", plugin, built(waiting), built(old), built(new), tuple(map(built, objects)))
    return judge(case, FeatureGates.parse(gates)).document()["hint"]


def events(old=None, new=None, waiting=None):
    """Return the events of a change."""
    case = HintCase("test", "NodeName", built(waiting or new or old), built(old), built(new))
    return judge(case).document()["events"]


class Queue:
    """A scheduling queue with its handlers and its clock.

    Pods are named; `at` moves the clock, with all that happens by itself.
    """

    def __init__(self, *pods, gates="", configuration=None, objects=()):
        configured = configuration and KubeSchedulerConfiguration.model_validate(configuration)
        self.queue = SchedulingQueue(
            ObjectStore(map(built, objects)),
            VirtualClock(),
            configuration=configured,
            gates=FeatureGates.parse(gates),
        )
        self._handlers = EventHandlers(self.queue)
        self._in_flight = {}
        self.add(*pods)

    def add(self, *items):
        for item in items:
            self._handlers.change(None, built(item))
        return self

    def change(self, old, new):
        self._handlers.change(built(old), built(new))
        return self

    def remove(self, *items):
        for item in items:
            self._handlers.change(built(item), None)
        return self

    def at(self, seconds):
        """Move on; return what happened by itself on the way."""
        return [(time / 1e9, name) for time, name in work_until(self.queue, from_seconds(seconds))]

    def pop(self):
        """Return the name of the next pod, None if there is none."""
        popped = self.queue.pop()
        if popped is None:
            return None
        self._in_flight[popped.item.pod.name] = popped.item
        return popped.item.pod.name

    def fail(self, name, *plugins, pending=()):
        self.queue.fail(self._in_flight.pop(name), plugins, pending)
        return self

    def rejected(self, *plugins, pending=()):
        """Pop the next pod and let it fail."""
        return self.fail(self.pop(), *plugins, pending=pending)

    def done(self, name):
        self.queue.done(self._in_flight.pop(name))
        return self

    @property
    def active(self):
        return [item.pod.name for item in self.queue.active]

    @property
    def backoff(self):
        return [item.pod.name for item in self.queue.backoff]

    @property
    def unschedulable(self):
        return [item.pod.name for item in self.queue.unschedulable]

    def where(self, name):
        """Return the place of a pod."""
        places = {"active": self.active, "backoff": self.backoff, "unschedulable": self.unschedulable}
        return next((place for place, names in places.items() if name in names), "nowhere")
