"""Refusals of SkyPilot, or of the provider behind it, in plain words. Pure."""

from __future__ import annotations

import re

from planner.errors import RefusedError
from planner.model.aws_error import REFUSALS

SAID_CHARACTERS = 800
"""Characters of SkyPilot's own words that are passed on."""
NO_MACHINE = ("ResourcesUnavailableError", "NoCloudAccessError", "ResourcesMismatchError", "InvalidCloudConfigs")
"""SkyPilot's exceptions that mean: the provider supplied no machine."""

SETTING_ERROR = "SettingError"
"""Error that the worker raises if a user's own setting would break a cap (worker/settings.py)."""


def setting_refusal(said: str) -> RefusedError:
    """Return the refusal to launch under such a setting."""
    return RefusedError(
        f"SkyPilot's settings: {said}.",
        fix="Change it in ~/.sky/config.yaml or the project's .sky.yaml, or launch with other settings: "
        "SKYPILOT_GLOBAL_CONFIG=FILE.",
    )


def aws_refusal(said: str) -> tuple[str, str] | None:
    """Return reason and fix if the words name a known refusal by AWS."""
    for code, words in REFUSALS.items():
        if not code.isdigit() and re.search(rf"\b{code}\b", said):
            return words
    return None


def is_refusal(sky_type: str, said: str) -> bool:
    """Return whether a launch failed because no machine was supplied, and not on a machine."""
    return sky_type in NO_MACHINE or aws_refusal(said) is not None


def plain_words(sky_type: str, said: str) -> tuple[str, str]:
    """Return what happened and what to do, in clearer words than SkyPilot's own if we have them."""
    refusal = aws_refusal(said)
    if refusal is not None:
        return f"SkyPilot: {refusal[0]}.", refusal[1]
    short = " ".join(said.split())[:SAID_CHARACTERS].rstrip(".")
    if sky_type == "ResourcesUnavailableError":
        return f"SkyPilot found no such machine: {short}.", "Try another region, spot or another target."
    if sky_type == "NoCloudAccessError":
        return f"SkyPilot may not use this provider: {short}.", "See: sky check"
    return f"SkyPilot failed ({sky_type}): {short}.", ""
