"""Which machines of a launch, or of any launch of ours, the providers still have; each provider in its own way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from launcher.cloud import aws, kubernetes, lambda_labs
from launcher.cloud.machine import Machine
from launcher.plan.backend import Launch
from launcher.plan.target import Provider, Target
from planner.errors import NodeError

ASKED = (Provider.AWS, Provider.LAMBDA, Provider.K8S, Provider.SSH_POOL)
"""Slurm has no list that we can read from here: SkyPilot itself is asked."""


def could_ask(target: Target) -> bool:
    """Return whether the provider can be asked without SkyPilot."""
    return target.provider in ASKED


def machines_of(launch: Launch, *, everywhere: bool = False) -> list[Machine]:
    """Return what the provider has of this launch, dead machines included as far as it lists them.

    `everywhere`: in every region, not only the one that was asked for.
    """
    target = launch.target
    if target.provider is Provider.AWS:
        return aws.instances(run_id=launch.run_id, region=None if everywhere else target.region)
    if target.provider is Provider.LAMBDA:
        return lambda_labs.instances(cluster=launch.cluster)
    return kubernetes.pods(context=_context(target), run_id=launch.run_id)


def delete(machines: Sequence[Machine], target: Target) -> None:
    """End these machines at their provider."""
    if not machines:
        return
    if target.provider is Provider.AWS:
        aws.terminate(machines)
    elif target.provider is Provider.LAMBDA:
        lambda_labs.terminate(machines)
    else:
        kubernetes.delete(machines, context=_context(target))


def machines_of_anybody(targets: Collection[Target]) -> Iterator[tuple[Machine | None, str]]:
    """Yield every machine with our label or name, of the clouds we have used or have credentials for.

    A provider that cannot be asked yields (None, why).
    """
    providers = {target.provider for target in targets}
    questions: list[tuple[str, Callable[[], list[Machine]]]] = []
    if Provider.AWS in providers or (Path.home() / ".aws").is_dir():
        questions.append(("EC2", lambda: aws.instances(run_id=None, region=None)))
    if Provider.LAMBDA in providers or (Path.home() / lambda_labs.KEY_FILE).is_file():
        questions.append(("Lambda", lambda: lambda_labs.instances(cluster=None)))
    contexts = {_context(target) for target in targets if target.provider in (Provider.K8S, Provider.SSH_POOL)}
    questions += [(context, _pods_of(context)) for context in sorted(contexts)]
    for where, question in questions:
        try:
            machines = question()
        except NodeError as error:
            yield None, f"{where}: {error.message}"
        else:
            yield from ((machine, where) for machine in machines)


def _pods_of(context: str) -> Callable[[], list[Machine]]:
    return lambda: kubernetes.pods(context=context, run_id=None)


def _context(target: Target) -> str:
    return f"{kubernetes.SSH_POOL_PREFIX}{target.name}" if target.provider is Provider.SSH_POOL else target.name
