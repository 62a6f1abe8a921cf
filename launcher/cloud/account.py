"""Whose machines a provider's answer is about: the account, the key or the cluster that is asked, without a secret.

An answer proves that nothing is left only where it comes from the account in which the machines were started.
"""

from __future__ import annotations

import hashlib
import re

from planner.errors import NodeError
from planner.launcher.cloud import aws, kubernetes, lambda_labs
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.sighting import ANYTHING
from planner.launcher.plan.target import Provider, Target

OF_USER = " of user "
"""Between the id of a machine and that of the user there."""
TRUST = "If you know that it is the same account: planner launches down ID --account-changed"
FINGERPRINT_DIGITS = 12
"""Of a SHA-256, in hexadecimal: 48 bits, enough to tell a person's keys apart, and no way back to a key."""


def account_of(target: Target) -> str | None:
    """Return who would be asked about this target now, by the credentials as they are; NodeError where nobody would.

    None: the provider has no account that we know of (Slurm).
    """
    if target.provider is Provider.AWS:
        return aws.account(target.region)
    if target.provider is Provider.LAMBDA:
        return lambda_account(lambda_labs.launching_key())
    if target.provider in (Provider.K8S, Provider.SSH_POOL):
        identity = fingerprint(kubernetes.cluster_identity(target))
        return f"Kubernetes context {kubernetes.context_of(target)} ({identity})"
    return None


def lambda_account(key: str) -> str:
    """Return the name of the account that a key of Lambda opens: Lambda tells no other; and where it is asked."""
    return f"Lambda key {fingerprint(key)}{lambda_labs.elsewhere()}"


def lambda_key_of(launch: Launch, *, learn: bool = False) -> str:
    """Return the key with which Lambda is asked about a launch.

    That which launched, or one that has listed its machines before. `learn`: else one that lists one of them now, which
    proves that it is of the same account (a key that was rotated). Else the first.
    """
    keys, askers = lambda_labs.keys(), _askers(launch)
    ids = [one.id for one in launch.known if one.id != ANYTHING]
    trusted = [key for key in keys if lambda_account(key) in askers]
    if not trusted and learn and ids:
        trusted = [key for key in keys if lambda_labs.lists_any(ids, key=key)]
    return (trusted or keys)[0]


def wrong_witness(launch: Launch) -> str | None:
    """Return why nobody here can say what is left of a launch; None where its own account can be asked.

    A launch of an older ledger has no account: then whoever is asked counts.
    """
    if launch.account is None:
        return None
    try:
        if launch.target.provider is Provider.LAMBDA:
            asked: str | None = lambda_account(lambda_key_of(launch))
        else:
            asked = account_of(launch.target)
    except NodeError as error:
        return f"unknown, keys of {launch.account} needed: {error}"
    if asked in _askers(launch):
        return None
    return f"unknown, keys of {launch.account} needed: those here are of {asked}. {TRUST}"


def _askers(launch: Launch) -> set[str]:
    """Return whose word counts for a launch: who launched it, and who has listed one of its machines by id."""
    listed = {asked for one in launch.known if one.id != ANYTHING for asked in one.asked}
    return listed | ({launch.account} if launch.account is not None else set())


def is_same_account(recorded: str, asked: str | None) -> bool:
    """Return whether who is asked is who was recorded; older ledgers did not record the user of a machine."""
    return asked is not None and recorded in (asked, re.sub(rf"{OF_USER}\d+", "", asked))


def fingerprint(secret: str) -> str:
    """Return a short name of a secret that tells nothing of it."""
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest()[:FINGERPRINT_DIGITS]
