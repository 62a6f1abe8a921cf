"""Reasons against an option in two or three words, for a cell of a table."""

from __future__ import annotations

from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.reason import ReasonCode

SHORT_REASONS = {
    ReasonCode.MISSES_DEADLINE: "late",
    ReasonCode.OVER_BUDGET: "over budget",
    ReasonCode.LIMITS_TOGETHER: "late or over budget",
    ReasonCode.MEMORY_TOO_SMALL: "does not fit",
    ReasonCode.NO_SPLIT_FITS: "does not fit",
    ReasonCode.SPOT_TOO_MUCH: "too much spot",
    ReasonCode.PRICE_TOO_OLD: "price too old",
    ReasonCode.NEEDS_REPLACEMENT: "beyond its life",
    ReasonCode.TIME_NOT_STATED: "time not known",
    ReasonCode.TIME_OR_COST_NOT_KNOWN: "not known",
    ReasonCode.PLACE_NOT_ALLOWED: "not allowed",
    ReasonCode.DATA_LEAVES_REGION: "not allowed",
    ReasonCode.SPOT_NOT_ALLOWED: "not allowed",
    ReasonCode.PROVIDER_NOT_ALLOWED: "not allowed",
    ReasonCode.QUOTA_TOO_SMALL: "over quota",
    ReasonCode.NODES_NOT_ASKED: "wrong number of nodes",
    ReasonCode.CLUSTER_TOO_SMALL: "sold in larger clusters",
    ReasonCode.NOT_AVAILABLE: "not to be had",
    ReasonCode.NOT_LISTED: "not listed any more",
    ReasonCode.ASK_FOR_QUOTE: "ask for a quote",
    ReasonCode.NODE_NETWORK_NOT_KNOWN: "network not known",
    ReasonCode.OFFLOAD_NOT_KNOWN: "speed with offload not known",
}
"""Short words for codes. Other codes are written with blanks."""


ALONE_TOO_SMALL = "too small alone"
"""Reason against an option of a mix, which does only a part of the trainings."""


def short_reason(option: OptionEstimate, *, marked: bool = False) -> str:
    """Return the first reason against an option in two or three words. `marked` means that it is recommended."""
    codes = option.why_not_codes or (ReasonCode.TIME_OR_COST_NOT_KNOWN,)
    if marked and codes[0] is ReasonCode.ALLOCATION_TOO_SMALL:
        return ALONE_TOO_SMALL
    return SHORT_REASONS.get(codes[0], codes[0].value.replace("_", " "))
