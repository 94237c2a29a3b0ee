"""PodGroups that controllers make: one for each template of a Workload, and one for a Job of equal pods.

Templates of groups of groups are made into CompositePodGroups, whose children name them as their parent.

A Job's pods name the group of the Workload that refers to the Job, if that has one template. Without such a
Workload an indexed Job that runs all its completions at once gets a gang of its own, in the releases that
have it so (gate EnableWorkloadWithJob). A group goes with what it was made for.

Sources: KEP-4671, KEP-5832, KEP-5547, KEP-6012; kubernetes pkg/controller/job.
"""

from ..framework.vocabulary.releases import RELEASES
from ..models.controllers import Job
from ..models.meta import KubeObject
from ..models.scheduling import (
    CompositePodGroup,
    CompositePodGroupSpec,
    CompositePodGroupTemplate,
    GangPolicy,
    GroupSpec,
    PodGroup,
    PodGroupSpec,
    PodGroupTemplate,
    SchedulingPolicy,
    Workload,
    WorkloadTemplateReference,
)
from .agenda import LATE
from .offspring import owned_by
from .world import World


class PodGroups:
    """See the module's docstring.

    Parameters
    ----------
    world : World
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._enabled = world.gates.enabled("GenericWorkload")
        release = RELEASES[world.scenario.snapshot.kube_version]
        self._trees = world.queue.trees.known
        self._for_jobs = self._enabled and release.gang_jobs and world.gates.enabled("EnableWorkloadWithJob")
        world.listeners.add(self._changed, "Workload", "Job")

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        item = new if new is not None else old
        if not self._enabled or not isinstance(item, (Workload, Job)):
            return
        if new is None:
            self._world.agenda.after(0, lambda: self._remove(item), LATE)
        elif isinstance(item, Workload):
            self._world.agenda.after(0, lambda: self._make(item.key), LATE)

    def of_job(self, job: Job) -> str | None:
        """Return the name of the PodGroup of a Job's pods, None for none; it is made where it is missing."""
        if not self._enabled or job.spec.template.spec.scheduling_group is not None:
            return None
        for workload in self._world.objects.all(Workload):
            ref = workload.spec.controller_ref
            if (
                ref is not None
                and workload.namespace == job.namespace
                and (ref.kind, ref.name) == ("Job", job.name)
            ):
                templates = workload.spec.pod_group_templates
                return f"{workload.name}-{templates[0].name}" if len(templates) == 1 else None
        spec = job.spec
        size = spec.parallelism or 1
        if not self._for_jobs or spec.completion_mode != "Indexed" or size < 2 or spec.completions != size:
            return None
        policy = SchedulingPolicy(gang=GangPolicy(min_count=size))
        self._put(job, job.name, PodGroup, PodGroupSpec(scheduling_policy=policy))
        return job.name

    def _make(self, key: str) -> None:
        workload = self._world.objects.get(Workload, key)
        if workload is None:
            return
        for template in workload.spec.pod_group_templates:
            self._put_one(workload, template, None)
        for tree in workload.spec.composite_pod_group_templates if self._trees else ():
            self._make_tree(workload, tree, None)

    def _make_tree(self, workload: Workload, template: CompositePodGroupTemplate, parent: str | None) -> None:
        """Make a group of groups, then what is below it."""
        name = self._put_one(workload, template, parent)
        for below in template.composite_pod_group_templates:
            self._make_tree(workload, below, name)
        for group in template.pod_group_templates:
            self._put_one(workload, group, name)

    def _put_one(
        self, workload: Workload, template: PodGroupTemplate | CompositePodGroupTemplate, parent: str | None
    ) -> str:
        fields = {name: getattr(template, name) for name in GroupSpec.__pydantic_fields__}
        ref = WorkloadTemplateReference(workload_name=workload.name, template_name=template.name)
        fields |= {"workload_ref": ref, "parent_composite_pod_group_name": parent}
        name = f"{workload.name}-{template.name}"
        if isinstance(template, CompositePodGroupTemplate):
            whole = CompositePodGroupSpec().model_copy(update=fields)
            self._put(workload, name, CompositePodGroup, whole)
        else:
            self._put(workload, name, PodGroup, PodGroupSpec().model_copy(update=fields))
        return name

    def _put(
        self,
        owner: KubeObject,
        name: str,
        model: type[PodGroup | CompositePodGroup],
        spec: PodGroupSpec,
    ) -> None:
        if self._world.objects.get(model, f"{owner.namespace}/{name}") is None:
            version = owner.api_version if isinstance(owner, Workload) else model().api_version
            fields = {"api_version": version, "metadata": owned_by(owner, name, {}), "spec": spec}
            self._world.put(model.model_validate(fields))

    def _remove(self, owner: KubeObject) -> None:
        """Let the groups go that were made for an object that is gone."""
        objects = self._world.objects
        for group in (*objects.all(PodGroup), *objects.all(CompositePodGroup)):
            ref = group.metadata.controller
            if (
                ref is not None
                and group.namespace == owner.namespace
                and (ref.kind, ref.name, ref.uid) == (owner.kind, owner.name, owner.metadata.uid)
            ):
                self._world.change(group, None)
