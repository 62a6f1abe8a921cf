"""Owner of the machines that a provider's answer covers: the account, key or cluster, without a secret.

An answer proves that nothing is left only if it comes from the account in which the machines were started.
"""

from __future__ import annotations

import hashlib
import re

from planner.errors import NodeError
from planner.launcher.cloud import aws, kubernetes, lambda_labs
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.sighting import ANYTHING
from planner.launcher.plan.target import LaunchProvider, Target

OF_USER = " of user "
"""Text between the id of a machine and that of its user."""
TRUST = "If you know that it is the same account: planner launches down ID --account-changed"
FINGERPRINT_DIGITS = 12
"""Hexadecimal digits of a SHA-256 that are shown: 48 bits tell a user's keys apart and do not reveal the key."""


def account_of(target: Target) -> str | None:
    """Return the account that the current credentials open for this target. Raises NodeError if there are none.

    Returns None if we know of no account at the provider (Slurm).
    """
    if target.provider is LaunchProvider.AWS:
        return aws.account(target.region)
    if target.provider is LaunchProvider.LAMBDA:
        return lambda_account(lambda_labs.launching_key())
    if target.provider in (LaunchProvider.K8S, LaunchProvider.SSH_POOL):
        identity = fingerprint(kubernetes.cluster_identity(target))
        return f"Kubernetes context {kubernetes.context_of(target)} ({identity})"
    return None


def lambda_account(key: str) -> str:
    """Return the name of the account that a Lambda key opens, and the address asked.

    Lambda has no other account name.
    """
    return f"Lambda key {fingerprint(key)}{lambda_labs.elsewhere()}"


def lambda_key_of(launch: Launch, *, learn: bool = False) -> str:
    """Return the key with which Lambda is asked about a launch.

    It is the key that launched, or one that has listed its machines before. With `learn`, otherwise a key that lists
    one of them now, which proves that it belongs to the same account (a key that was rotated). Otherwise the first key.
    """
    keys, askers = lambda_labs.keys(), _askers(launch)
    ids = [machine.id for machine in launch.known if machine.id != ANYTHING]
    trusted = [key for key in keys if lambda_account(key) in askers]
    if not trusted and learn and ids:
        trusted = [key for key in keys if lambda_labs.lists_any(ids, key=key)]
    return (trusted or keys)[0]


def wrong_witness(launch: Launch) -> str | None:
    """Return why no credentials here can tell what remains of a launch; None if its own account can be asked.

    A launch of an older ledger has no account. Then any account counts.
    """
    if launch.account is None:
        return None
    try:
        if launch.target.provider is LaunchProvider.LAMBDA:
            asked: str | None = lambda_account(lambda_key_of(launch))
        else:
            asked = account_of(launch.target)
    except NodeError as error:
        return f"unknown, keys of {launch.account} needed: {error}"
    if asked in _askers(launch):
        return None
    return f"unknown, keys of {launch.account} needed: those here are of {asked}. {TRUST}"


def _askers(launch: Launch) -> set[str]:
    """Return the accounts that can speak for a launch: the one that launched it, and those that listed its machines by
    id.
    """
    listed = {asked for machine in launch.known if machine.id != ANYTHING for asked in machine.asked}
    return listed | ({launch.account} if launch.account is not None else set())


def is_same_account(recorded: str, asked: str | None) -> bool:
    """Return whether the asked account is the recorded one. Older ledgers did not record the user of a machine."""
    return asked is not None and recorded in (asked, re.sub(rf"{OF_USER}\d+", "", asked))


def fingerprint(secret: str) -> str:
    """Return a short name of a secret that does not reveal it."""
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest()[:FINGERPRINT_DIGITS]
