"""Finds the machines of one launch, or of all our launches, that the providers still have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from planner.errors import NodeError, PlannerError
from planner.launcher.cloud import aws, kubernetes, lambda_labs
from planner.launcher.cloud.account import lambda_account, lambda_key_of
from planner.launcher.cloud.aws_storage import StorageAnswer, stored_in
from planner.launcher.cloud.machine import ListedMachine
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.sighting import ANYTHING, KnownMachine, Sight, Sighting
from planner.launcher.plan.target import CLOUDS, LaunchProvider, Target

ASKED = (LaunchProvider.AWS, LaunchProvider.LAMBDA, LaunchProvider.K8S, LaunchProvider.SSH_POOL)
"""Providers with a list that we can read. For Slurm, SkyPilot itself is asked."""
WHO = {LaunchProvider.AWS: "EC2", LaunchProvider.LAMBDA: "Lambda"}


@dataclass(frozen=True)
class ProviderView:
    """A provider's machines of a launch, including ended machines that it still lists."""

    machines: tuple[ListedMachine, ...]
    said: str
    """The party asked, the place, and the answer, in words."""
    problem: NodeError | None = None
    """Reason why the answer does not cover all that the launch may have reached."""
    seen: tuple[Sighting, ...] = ()
    """One sighting for each id: the listed machines, and known ids that are not listed."""


@dataclass(frozen=True)
class ProviderAnswer:
    """One provider's machines of any launch of ours. `problem` says why it could not be asked, wholly or in part."""

    where: str
    machines: tuple[ListedMachine, ...] = ()
    problem: str | None = None
    no_credentials: bool = False
    """True if it was not asked: no launch used it, and there are no credentials here."""

    def in_words(self) -> str:
        """Return the party asked, and the answer."""
        if self.no_credentials:
            return f"{self.where}: not asked, no credentials"
        seen = f"{self.where}: {_counted(self.machines)}"
        return seen if self.problem is None else f"{seen}; {self.problem}"


def could_ask(target: Target) -> bool:
    """Return whether the provider can be asked without SkyPilot."""
    return target.provider in ASKED


def look(launch: Launch, *, learn: bool = False) -> ProviderView:
    """Return the provider's machines of this launch, in every enabled region.

    Looks for its label or name, and for known ids whatever they carry now. A launch with a named region reaches another
    one only by a fault. So a region that the account may not look into is left out and named; every other region must
    answer. With `learn`, a Lambda key that lists a known id is asked too.
    """
    target, asked = launch.target, launch.account
    who, silent, places, unasked = WHO.get(target.provider, "Kubernetes"), None, "", frozenset[str]()
    if target.provider is LaunchProvider.AWS:
        ordered = {target.region} if target.region is not None else set()  # billed in a disabled region too
        ids = {
            where: tuple(machine.id for machine in known_machines(launch) if machine.where == where)
            for where in _places(launch)
        }
        regions = sorted({*aws.enabled_regions(target.region), *ordered, *ids})
        if not regions:
            raise NodeError("EC2 names no region in which it could be asked.", fix="Try again in a minute.")
        listing = aws.listed(run_id=launch.run_id, regions=regions, spot=target.purchase == "spot", ids=ids)
        machines, at, unasked = listing.machines, listing.at, frozenset(listing.silent)
        left_out = [region for region in listing.forbidden if target.region not in (None, region) and region not in ids]
        silent = next((error for region, error in listing.silent.items() if region not in left_out), None)
        places = f" in {len(regions) - len(listing.silent)} regions"
        places += f" (forbidden to look: {', '.join(left_out)})" if left_out else ""
    elif target.provider is LaunchProvider.LAMBDA:
        key, named = lambda_key_of(launch, learn=learn), [machine.id for machine in known_machines(launch)]
        found, at = lambda_labs.seen_at(cluster=launch.cluster, key=key, ids=named)
        machines, asked = tuple(found), lambda_account(key)
    else:
        uids = {machine.id: machine.marks.get("uid", "") for machine in known_machines(launch)}
        machines = tuple(kubernetes.pods(context=kubernetes.context_of(target), run_id=launch.run_id, ids=uids))
        at = max((machine.seen_at for machine in machines if machine.seen_at is not None), default=None)
    said = f"{who}{places}, machines of {launch.cluster}: {_counted(machines)}"
    seen = [machine.sighting(asked) for machine in machines if not machine.is_order]
    listed = {machine.id for machine in machines}
    absent = [
        machine for machine in known_machines(launch) if machine.id not in listed and machine.where not in unasked
    ]
    seen += [Sighting(id=machine.id, where=machine.where, sight=Sight.ABSENT, at=at) for machine in absent]
    if silent is None:
        anything = Sight.ALIVE if any(machine.alive for machine in machines) else Sight.ABSENT
        seen.append(Sighting(id=ANYTHING, sight=anything, at=at))
    return ProviderView(machines=machines, said=said, problem=silent, seen=tuple(seen))


def known_machines(launch: Launch) -> list[KnownMachine]:
    """Return the machines of a launch that were ever seen by their id."""
    return [machine for machine in launch.known if machine.id != ANYTHING]


def _places(launch: Launch) -> set[str]:
    return {machine.where for machine in known_machines(launch) if machine.where}


def machines_of(launch: Launch) -> list[ListedMachine]:
    """Return the provider's machines of this launch in the region that was asked for."""
    if launch.target.provider is LaunchProvider.AWS:
        return aws.instances(run_id=launch.run_id, region=launch.target.region)
    return list(look(launch).machines)


def to_end(launch: Launch, seen: ProviderView) -> list[ListedMachine]:
    """Return the machines of a launch that must be ended: the living ones, and every id that was never listed as ended.

    A list may be outdated or lack a tag, while the provider answers a request to end an id by that id. Kubernetes is an
    exception: its list is exact, and a later pod may reuse a name.
    """
    listed = {machine.id: machine for machine in seen.machines}
    ended = {machine.id for machine in known_machines(launch) if machine.sight is Sight.DEAD}
    wanted = [machine for machine in seen.machines if machine.alive or machine.ending]
    if launch.target.provider not in CLOUDS:
        return wanted
    return wanted + [
        ListedMachine(
            id=machine.id, name=machine.id, where=machine.where, state="not listed", alive=False, run_id=launch.run_id
        )
        for machine in known_machines(launch)
        if machine.id not in listed and machine.id not in ended
    ]


def delete(machines: Sequence[ListedMachine], launch: Launch) -> None:
    """End these machines of a launch at their provider, each in its own region."""
    target = launch.target
    if not machines:
        return
    if target.provider is LaunchProvider.AWS:
        aws.terminate(machines)
    elif target.provider is LaunchProvider.LAMBDA:
        lambda_labs.terminate(machines, key=lambda_key_of(launch))
    else:
        kubernetes.delete(machines, context=kubernetes.context_of(target))


def machines_of_anybody(targets: Collection[Target]) -> list[ProviderAnswer]:
    """Return all machines with our label or name, from every provider that we have used or can open.

    Credentials are those that the providers' own libraries find. If no provider could be asked, that is a problem.
    """
    used = {target.provider for target in targets if target.through_sky}
    aws_region = next(
        (target.region for target in targets if target.provider is LaunchProvider.AWS and target.region is not None),
        None,
    )
    answers = _aws_answers(used=LaunchProvider.AWS in used, launch_region=aws_region) + _lambda_answers(
        used=LaunchProvider.LAMBDA in used
    )
    contexts = {
        kubernetes.context_of(target)
        for target in targets
        if target.provider in (LaunchProvider.K8S, LaunchProvider.SSH_POOL)
    }
    if not used:  # no launch is known: a new workspace, or an unreadable ledger
        contexts |= set(kubernetes.contexts())
    for context in sorted(contexts):
        answers += _answers(context, lambda context=context: kubernetes.pods(context=context, run_id=None))  # type: ignore[misc]
    if not used and all(answer.no_credentials for answer in answers):
        return [ProviderAnswer(where=answer.where, problem="no credentials") for answer in answers]
    return answers


def storage_of_anybody(launches: Collection[Launch]) -> list[StorageAnswer]:
    """Return what machines on EC2 left behind, or that EC2 cannot be asked."""
    used = any(launch.target.provider is LaunchProvider.AWS for launch in launches)
    owners = {part: launch.run_id for launch in launches for known in known_machines(launch) for part in known.parts}
    try:
        if not used and not aws.has_credentials():
            return []
        return stored_in(aws.enabled_regions(None), owners)
    except Exception as error:  # noqa: BLE001  whatever a library raises, EC2 was not asked
        return [StorageAnswer(where="every region", problem=_why(error))]


def end_everywhere(run_id: str, *, cluster: str) -> list[ProviderAnswer]:
    """End everything with the label or name of one launch, with all local credentials.

    Return what was left after that.
    """
    answers = _aws_ended(run_id)
    answers += _lambda_ended(cluster)
    for context in kubernetes.contexts():
        asked = partial(kubernetes.pods, context=context, run_id=run_id)
        answers.append(_ended(f"Kubernetes context {context}", asked, partial(kubernetes.delete, context=context)))
    return answers


def _lambda_ended(cluster: str) -> list[ProviderAnswer]:
    if not lambda_labs.has_key():
        return [ProviderAnswer(where="Lambda", no_credentials=True)]
    try:
        keys = lambda_labs.keys()
    except NodeError as error:
        return [ProviderAnswer(where="Lambda", problem=error.message)]
    return [
        _ended(
            "Lambda" if len(keys) == 1 else lambda_account(key),
            partial(lambda_labs.instances, cluster=cluster, key=key),
            partial(lambda_labs.terminate, key=key),
        )
        for key in keys
    ]


def _aws_ended(run_id: str) -> list[ProviderAnswer]:
    try:
        if not aws.has_credentials():
            return [ProviderAnswer(where="EC2", no_credentials=True)]
        regions = aws.enabled_regions(None)
    except Exception as error:  # noqa: BLE001  whatever a library raises, the provider was not asked
        return [ProviderAnswer(where="EC2", problem=_why(error))]
    silent = aws.listed(run_id=run_id, regions=regions, spot=True).silent
    asked = [region for region in regions if region not in silent]
    where = f"EC2 in {len(asked)} regions"

    def of_this_launch() -> list[ListedMachine]:
        listed = aws.listed(run_id=run_id, regions=asked, spot=True)
        return [machine for machine in listed.machines if machine.run_id == run_id]  # EC2 treats * and ? as wildcards

    ended = _ended(where, of_this_launch, aws.terminate)
    return [ended, *(ProviderAnswer(where="EC2", problem=error.message) for error in silent.values())]


def _ended(
    where: str, ask: Callable[[], Sequence[ListedMachine]], end: Callable[[Sequence[ListedMachine]], None]
) -> ProviderAnswer:
    problem: str | None = None
    machines: tuple[ListedMachine, ...] = ()
    try:
        alive = [machine for machine in ask() if machine.alive]
        if alive:
            end(alive)
    except Exception as error:  # noqa: BLE001  whatever a library raises, the next provider is asked too
        problem = _why(error)
    try:
        machines = tuple(ask())
    except Exception as error:  # noqa: BLE001  as above
        problem = problem or _why(error)
    return ProviderAnswer(where=where, machines=machines, problem=problem)


def _aws_answers(*, used: bool, launch_region: str | None) -> list[ProviderAnswer]:
    try:
        if not used and not aws.has_credentials():
            return [ProviderAnswer(where="EC2", no_credentials=True)]
        regions = aws.enabled_regions(launch_region)
        listing = aws.listed(run_id=None, regions=regions)
    except Exception as error:  # noqa: BLE001  whatever a library raises, the provider was not asked
        return [ProviderAnswer(where="EC2", problem=_why(error))]
    silent = [ProviderAnswer(where="EC2", problem=error.message) for error in listing.silent.values()]
    return [ProviderAnswer(where="EC2", machines=listing.machines), *silent]


def _lambda_answers(*, used: bool) -> list[ProviderAnswer]:
    if not used and not lambda_labs.has_key():
        return [ProviderAnswer(where="Lambda", no_credentials=True)]
    try:
        keys = lambda_labs.keys()
    except NodeError as error:
        return [ProviderAnswer(where="Lambda", problem=error.message)]
    where = {key: "Lambda" if len(keys) == 1 else lambda_account(key) for key in keys}
    answers: list[ProviderAnswer] = []
    for key in keys:
        answers += _answers(where[key], lambda key=key: lambda_labs.instances(cluster=None, key=key))  # type: ignore[misc]
    return answers


def _answers(where: str, question: Callable[[], Sequence[ListedMachine]]) -> list[ProviderAnswer]:
    try:
        return [ProviderAnswer(where=where, machines=tuple(question()))]
    except Exception as error:  # noqa: BLE001  whatever a library raises, the provider was not asked
        return [ProviderAnswer(where=where, problem=_why(error))]


def _why(error: Exception) -> str:
    return error.message if isinstance(error, PlannerError) else f"{type(error).__name__}: {error}"


def _counted(machines: Sequence[ListedMachine]) -> str:
    states: dict[str, int] = {}
    for machine in machines:
        states[machine.state] = states.get(machine.state, 0) + 1
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
