"""Write what a plan states on an option other than machine and price, to distinguish equal names."""

from __future__ import annotations

from planner.model.owning.acquisition import Hold
from planner.model.plan.plan_option import PlanOption

HOLD_WORDS = {Hold.HAVE: "there already", Hold.BUY: "to be bought", Hold.RENT: "leased"}
REMARKS = (
    "sell_after", "other_use", "training_hours", "ready_on", "hold", "purchase_usd", "power_cap_w",
    "network_gbit_per_s", "commitment_bought",
)  # fmt: skip
"""Keys of the remarks in the order in which they are tried."""
HALF = 0.5


def plan_remarks(option: PlanOption) -> dict[str, str]:
    """Return the plan's remarks on the option by the key of REMARKS: `sell_after` is "sold after"."""
    said: dict[str, str] = {}
    if option.sell_after:
        said["sell_after"] = "sold after"
    if option.other_use:
        share = "half" if option.other_use == HALF else f"{100 * option.other_use:.3g} %"
        said["other_use"] = f"{share} used by others"
    if option.training_hours is not None:
        said["training_hours"] = f"{option.training_hours:g} h stated"
    if option.ready_on is not None:
        said["ready_on"] = f"ready {option.ready_on}"
    if option.hold in HOLD_WORDS:
        said["hold"] = HOLD_WORDS[option.hold]
    if option.purchase_usd is not None:
        said["purchase_usd"] = f"bought for {option.purchase_usd:,.6g} USD"
    if option.power_cap_w is not None:
        said["power_cap_w"] = f"capped at {option.power_cap_w:g} W"
    if option.network_gbit_per_s is not None:
        said["network_gbit_per_s"] = f"{option.network_gbit_per_s:g} Gbit/s between nodes"
    if option.commitment_bought:
        said["commitment_bought"] = "its term paid already"
    return said
