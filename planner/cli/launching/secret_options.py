"""Refuses secrets in the options of a launch, because they are written into its task, its ledger and its log."""

from __future__ import annotations

import re

from planner.errors import InputError
from planner.redact import has_secret

STORE = re.compile(
    r"s3://(?!\d+\.\d+\.\d+\.\d+(?:/|$))[a-z0-9](?:(?:[a-z0-9-]|\.(?=[a-z0-9])){0,61}[a-z0-9])?"
    r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9!_.'()=+ -]{1,200}){0,20}/?"
)
"""Names of buckets by S3's rules of 2024; in a prefix the characters that S3 calls safe, without `*`."""
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,300}(?:@sha256:[0-9a-f]{4,64})?")


def check_no_secret(value: str | None, option: str, *, fix: str = "") -> None:
    """Refuse an option that holds a key, a token or a password. The message does not repeat it."""
    if value is not None and has_secret(value):
        raise InputError(
            f"{option}: holds what looks like a key, a token or a password, and it would be written to the task, "
            "the ledger and the log.",
            fix=fix or "Leave the secret out.",
        )


def read_store(text: str | None) -> str | None:
    """Return an S3 address without its last slash. InputError if it names no bucket."""
    if text is None:
        return None
    fix = "Write s3://bucket/prefix; nodes push with their own role or profile."
    check_no_secret(text, "--store", fix=fix)
    if not text.startswith("s3://"):
        raise InputError(f"--store {text}: is no S3 address.", fix="Write s3://bucket/prefix.")
    if not STORE.fullmatch(text):
        raise InputError(f"--store {text!r}: does not name a bucket and a plain prefix.", fix=fix)
    return text.rstrip("/")


def read_image(text: str | None) -> str | None:
    """Return the name of an image. InputError if it holds more than a name."""
    if text is None:
        return None
    fix = "Write e.g. docker:registry/name:tag or ami-0abc; log in to a private registry on the machine itself."
    check_no_secret(text, "--image", fix=fix)
    if not IMAGE.fullmatch(text):
        raise InputError(f"--image {text!r}: is not the name of an image.", fix=fix)
    return text
