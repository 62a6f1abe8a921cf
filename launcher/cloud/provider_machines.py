"""Which machines of a launch, or of any launch of ours, the providers still have; each provider in its own way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from planner.errors import NodeError, PlannerError
from planner.launcher.cloud import aws, kubernetes, lambda_labs
from planner.launcher.cloud.account import lambda_account, lambda_key_of
from planner.launcher.cloud.aws_storage import StorageAnswer, stored_in
from planner.launcher.cloud.machine import Machine
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.sighting import ANYTHING, Known, Sight, Sighting
from planner.launcher.plan.target import CLOUDS, Provider, Target

ASKED = (Provider.AWS, Provider.LAMBDA, Provider.K8S, Provider.SSH_POOL)
"""Slurm has no list that we can read from here: SkyPilot itself is asked."""
WHO = {Provider.AWS: "EC2", Provider.LAMBDA: "Lambda"}


@dataclass(frozen=True)
class Seen:
    """What a provider has of a launch, dead machines included as far as it lists them."""

    machines: tuple[Machine, ...]
    said: str
    """Who was asked, where, and the answer, in words."""
    problem: NodeError | None = None
    """Why the answer does not cover all that the launch may have reached."""
    seen: tuple[Sighting, ...] = ()
    """One sighting for each id: the listed machines, and known ids that are not listed."""


@dataclass(frozen=True)
class Answer:
    """What one provider has of any launch of ours; `problem`: why it could not be asked, wholly or in part."""

    where: str
    machines: tuple[Machine, ...] = ()
    problem: str | None = None
    no_credentials: bool = False
    """It was not asked: no launch used it, and nothing here opens it."""

    def in_words(self) -> str:
        """Return who was asked, and the answer."""
        if self.no_credentials:
            return f"{self.where}: not asked, no credentials"
        seen = f"{self.where}: {_counted(self.machines)}"
        return seen if self.problem is None else f"{seen}; {self.problem}"


def could_ask(target: Target) -> bool:
    """Return whether the provider can be asked without SkyPilot."""
    return target.provider in ASKED


def look(launch: Launch, *, learn: bool = False) -> Seen:
    """Return what the provider has of this launch wherever it may have reached: in every region that is enabled.

    By its label or name, and by the ids that were seen before, whatever those carry now. A launch whose region is named
    reaches another one only by a fault, so a region that the account is forbidden to look into is left out then, and
    named; every other region must answer. `learn`: a key of Lambda that lists a known id is asked too.
    """
    target, asked = launch.target, launch.account
    who, silent, places, unasked = WHO.get(target.provider, "Kubernetes"), None, "", frozenset[str]()
    if target.provider is Provider.AWS:
        ordered = {target.region} if target.region is not None else set()  # billed also once the account disabled it
        ids = {
            where: tuple(one.id for one in known_machines(launch) if one.where == where) for where in _places(launch)
        }
        regions = sorted({*aws.enabled_regions(target.region), *ordered, *ids})
        if not regions:
            raise NodeError("EC2 names no region in which it could be asked.", fix="Try again in a minute.")
        listing = aws.listed(run_id=launch.run_id, regions=regions, spot=target.purchase == "spot", ids=ids)
        machines, at, unasked = listing.machines, listing.at, frozenset(listing.silent)
        left_out = [one for one in listing.forbidden if target.region not in (None, one) and one not in ids]
        silent = next((error for one, error in listing.silent.items() if one not in left_out), None)
        places = f" in {len(regions) - len(listing.silent)} regions"
        places += f" (forbidden to look: {', '.join(left_out)})" if left_out else ""
    elif target.provider is Provider.LAMBDA:
        key, named = lambda_key_of(launch, learn=learn), [one.id for one in known_machines(launch)]
        found, at = lambda_labs.seen_at(cluster=launch.cluster, key=key, ids=named)
        machines, asked = tuple(found), lambda_account(key)
    else:
        uids = {one.id: one.marks.get("uid", "") for one in known_machines(launch)}
        machines = tuple(kubernetes.pods(context=kubernetes.context_of(target), run_id=launch.run_id, ids=uids))
        at = max((one.seen_at for one in machines if one.seen_at is not None), default=None)
    said = f"{who}{places}, machines of {launch.cluster}: {_counted(machines)}"
    seen = [machine.sighting(asked) for machine in machines if not machine.is_order]
    listed = {machine.id for machine in machines}
    absent = [one for one in known_machines(launch) if one.id not in listed and one.where not in unasked]
    seen += [Sighting(id=one.id, where=one.where, sight=Sight.ABSENT, at=at) for one in absent]
    if silent is None:
        anything = Sight.ALIVE if any(machine.alive for machine in machines) else Sight.ABSENT
        seen.append(Sighting(id=ANYTHING, sight=anything, at=at))
    return Seen(machines=machines, said=said, problem=silent, seen=tuple(seen))


def known_machines(launch: Launch) -> list[Known]:
    """Return the machines of a launch that were ever seen by their id."""
    return [one for one in launch.known if one.id != ANYTHING]


def _places(launch: Launch) -> set[str]:
    return {one.where for one in known_machines(launch) if one.where}


def machines_of(launch: Launch) -> list[Machine]:
    """Return what the provider has of this launch in the region that was asked for."""
    if launch.target.provider is Provider.AWS:
        return aws.instances(run_id=launch.run_id, region=launch.target.region)
    return list(look(launch).machines)


def to_end(launch: Launch, seen: Seen) -> list[Machine]:
    """Return what must be ended of a launch: what lives, and every id that nobody has listed as ended.

    A list may be behind or lack a tag; the provider answers a request to end an id by that id. Not so in Kubernetes:
    its list is exact, and a later pod may have the name of an earlier one.
    """
    listed = {machine.id: machine for machine in seen.machines}
    ended = {one.id for one in known_machines(launch) if one.sight is Sight.DEAD}
    wanted = [machine for machine in seen.machines if machine.alive or machine.ending]
    if launch.target.provider not in CLOUDS:
        return wanted
    return wanted + [
        Machine(id=one.id, name=one.id, where=one.where, state="not listed", alive=False, run_id=launch.run_id)
        for one in known_machines(launch)
        if one.id not in listed and one.id not in ended
    ]


def delete(machines: Sequence[Machine], launch: Launch) -> None:
    """End these machines of a launch at their provider, each in its own region."""
    target = launch.target
    if not machines:
        return
    if target.provider is Provider.AWS:
        aws.terminate(machines)
    elif target.provider is Provider.LAMBDA:
        lambda_labs.terminate(machines, key=lambda_key_of(launch))
    else:
        kubernetes.delete(machines, context=kubernetes.context_of(target))


def machines_of_anybody(targets: Collection[Target]) -> list[Answer]:
    """Return every machine with our label or name that a provider has: of those that we have used or can open.

    Credentials are those that the providers' own libraries find. Where nobody could be asked at all, that is a problem.
    """
    used = {target.provider for target in targets if target.through_sky}
    near = next((one.region for one in targets if one.provider is Provider.AWS and one.region is not None), None)
    answers = _of_aws(used=Provider.AWS in used, near=near) + _of_lambda(used=Provider.LAMBDA in used)
    contexts = {kubernetes.context_of(one) for one in targets if one.provider in (Provider.K8S, Provider.SSH_POOL)}
    if not used:  # nothing is known of any launch: a new workspace, or a ledger that cannot be read
        contexts |= set(kubernetes.contexts())
    for context in sorted(contexts):
        answers += _answers(context, lambda context=context: kubernetes.pods(context=context, run_id=None))  # type: ignore[misc]
    if not used and all(answer.no_credentials for answer in answers):
        return [Answer(where=one.where, problem="no credentials") for one in answers]
    return answers


def storage_of_anybody(launches: Collection[Launch]) -> list[StorageAnswer]:
    """Return what machines on EC2 left behind; that it cannot be asked is an answer too."""
    used = any(launch.target.provider is Provider.AWS for launch in launches)
    owners = {part: one.run_id for one in launches for known in known_machines(one) for part in known.parts}
    try:
        if not used and not aws.has_credentials():
            return []
        return stored_in(aws.enabled_regions(None), owners)
    except Exception as error:  # noqa: BLE001  whatever a library raises, EC2 was not asked
        return [StorageAnswer(where="every region", problem=_why(error))]


def end_everywhere(run_id: str, *, cluster: str) -> list[Answer]:
    """End what carries the label or name of one launch, with all credentials here; return what was left after that."""
    answers = _aws_ended(run_id)
    answers += _lambda_ended(cluster)
    for context in kubernetes.contexts():
        asked = partial(kubernetes.pods, context=context, run_id=run_id)
        answers.append(_ended(f"Kubernetes context {context}", asked, partial(kubernetes.delete, context=context)))
    return answers


def _lambda_ended(cluster: str) -> list[Answer]:
    if not lambda_labs.has_key():
        return [Answer(where="Lambda", no_credentials=True)]
    try:
        keys = lambda_labs.keys()
    except NodeError as error:
        return [Answer(where="Lambda", problem=error.message)]
    return [
        _ended(
            "Lambda" if len(keys) == 1 else lambda_account(key),
            partial(lambda_labs.instances, cluster=cluster, key=key),
            partial(lambda_labs.terminate, key=key),
        )
        for key in keys
    ]


def _aws_ended(run_id: str) -> list[Answer]:
    try:
        if not aws.has_credentials():
            return [Answer(where="EC2", no_credentials=True)]
        regions = aws.enabled_regions(None)
    except Exception as error:  # noqa: BLE001  whatever a library raises, the provider was not asked
        return [Answer(where="EC2", problem=_why(error))]
    silent = aws.listed(run_id=run_id, regions=regions, spot=True).silent
    asked = [region for region in regions if region not in silent]
    where = f"EC2 in {len(asked)} regions"

    def of_this_launch() -> list[Machine]:
        listed = aws.listed(run_id=run_id, regions=asked, spot=True)
        return [machine for machine in listed.machines if machine.run_id == run_id]  # EC2 reads * and ? in a filter

    ended = _ended(where, of_this_launch, aws.terminate)
    return [ended, *(Answer(where="EC2", problem=error.message) for error in silent.values())]


def _ended(where: str, ask: Callable[[], Sequence[Machine]], end: Callable[[Sequence[Machine]], None]) -> Answer:
    problem: str | None = None
    machines: tuple[Machine, ...] = ()
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
    return Answer(where=where, machines=machines, problem=problem)


def _of_aws(*, used: bool, near: str | None) -> list[Answer]:
    try:
        if not used and not aws.has_credentials():
            return [Answer(where="EC2", no_credentials=True)]
        regions = aws.enabled_regions(near)
        listing = aws.listed(run_id=None, regions=regions)
    except Exception as error:  # noqa: BLE001  whatever a library raises, the provider was not asked
        return [Answer(where="EC2", problem=_why(error))]
    silent = [Answer(where="EC2", problem=error.message) for error in listing.silent.values()]
    return [Answer(where="EC2", machines=listing.machines), *silent]


def _of_lambda(*, used: bool) -> list[Answer]:
    if not used and not lambda_labs.has_key():
        return [Answer(where="Lambda", no_credentials=True)]
    try:
        keys = lambda_labs.keys()
    except NodeError as error:
        return [Answer(where="Lambda", problem=error.message)]
    where = {key: "Lambda" if len(keys) == 1 else lambda_account(key) for key in keys}
    answers: list[Answer] = []
    for key in keys:
        answers += _answers(where[key], lambda key=key: lambda_labs.instances(cluster=None, key=key))  # type: ignore[misc]
    return answers


def _answers(where: str, question: Callable[[], Sequence[Machine]]) -> list[Answer]:
    try:
        return [Answer(where=where, machines=tuple(question()))]
    except Exception as error:  # noqa: BLE001  whatever a library raises, the provider was not asked
        return [Answer(where=where, problem=_why(error))]


def _why(error: Exception) -> str:
    return error.message if isinstance(error, PlannerError) else f"{type(error).__name__}: {error}"


def _counted(machines: Sequence[Machine]) -> str:
    states: dict[str, int] = {}
    for machine in machines:
        states[machine.state] = states.get(machine.state, 0) + 1
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
