"""Whose machines a provider's answer is about: the account, the key or the cluster that is asked, without a secret.

An answer proves that nothing is left only where it comes from the account in which the machines were started.
"""

from __future__ import annotations

import hashlib
import re

from launcher.cloud import aws, kubernetes, lambda_labs
from launcher.plan.target import Provider, Target

OF_USER = " of user "
"""Between the id of a machine and that of the user there."""
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


def lambda_key_of(account: str | None) -> str:
    """Return the key with which a recorded account of Lambda is asked: whichever there is that fits, else the first."""
    keys = lambda_labs.keys()
    return next((key for key in keys if lambda_account(key) == account), keys[0])


def witness_of(target: Target, recorded: str | None) -> str | None:
    """Return who can be asked about what `recorded` started: that account, where the credentials are here."""
    if target.provider is Provider.LAMBDA:
        return lambda_account(lambda_key_of(recorded))
    return account_of(target)


def is_same_account(recorded: str, asked: str | None) -> bool:
    """Return whether who is asked is who was recorded; older ledgers did not record the user of a machine."""
    return asked is not None and recorded in (asked, re.sub(rf"{OF_USER}\d+", "", asked))


def fingerprint(secret: str) -> str:
    """Return a short name of a secret that tells nothing of it."""
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest()[:FINGERPRINT_DIGITS]
