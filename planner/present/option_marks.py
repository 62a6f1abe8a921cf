"""Marks behind an option's row: what a person must not overlook in its price, and what each mark means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.cost.cloud.price_age import renewal
from planner.decide.recommend.wording import duration_text, may_not_fit, percent_text
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.quantity import Quantity

STALE, SPOT, UNPRICED, ASSUMED, CREDITED, MANY, ARM, NETWORK, CHUNKED = "*", "s", "+", "~", "c", "?", "a", "n", "l"
DIVIDED, SOFTWARE = "d", "w"
PLAN = "the plan:"
"""With which the source of a price begins that the plan states."""
ARM_HOSTS = ("GH200", "GB200", "GB300", "GB10")
"""How accelerators are called whose host is an Arm processor."""
MAKERS_SOFTWARE = {
    "Trainium": "AWS Neuron", "Inferentia": "AWS Neuron", "Gaudi": "Intel's Gaudi software (Habana)",
    "TPU": "XLA (JAX, or PyTorch/XLA)", "Ascend": "Huawei's CANN",
}  # fmt: skip
"""What accelerators need on which PyTorch does not run as it is, by how their names begin."""
MANY_NODES = 4
"""Rented at once: from here on nobody should take for granted that they can be had."""


def marks(option: OptionEstimate) -> str:
    """Return the marks of what a person must not overlook in an option's price."""
    found = {
        STALE: option.price_stale,
        SPOT: option.firm is False,
        UNPRICED: option.unpriced,
        ASSUMED: option.assumed_rates,
        CREDITED: bill_before_credits(option),
        MANY: _nobody_says_that_so_many_are_there(option),
        ARM: option.accelerator is not None and option.accelerator.startswith(ARM_HOSTS),
        NETWORK: option.network is not None and option.network.low_gbit_per_s is not None,
        CHUNKED: option.fits and option.chunked_loss,
        DIVIDED: option.trainers,
        SOFTWARE: needed_software(option),
    }
    return "".join(mark for mark, applies in found.items() if applies)


def marks_explained(options: Sequence[OptionEstimate], money: Callable[[Quantity], str]) -> list[str]:
    """Return what the marks mean that occur; `money` writes an amount."""
    used = "".join(marks(option) for option in options)
    lacking = dict.fromkeys(what for option in options for what in option.unpriced)
    assumed = dict.fromkeys(what for option in options for what in option.assumed_rates)
    software = dict.fromkeys(name for option in options if (name := needed_software(option)) is not None)
    bills = dict.fromkeys(money(usd) for option in options if (usd := bill_before_credits(option)) is not None)
    explained = {
        SPOT: "s spot: may be taken away.",
        STALE: f"* price out of date: {renewed_by([one.price_refreshed for one in options if one.price_stale])}.",
        UNPRICED: f"+ not in the bill: {', '.join(lacking)}.",
        ASSUMED: f"~ at an assumed rate in the bill: {', '.join(assumed)}.",
        CREDITED: f"c after credits: the bill{'s are' if len(bills) > 1 else ' is'} {' and '.join(bills)}.",
        MANY: "? ask whether so many can be had.",
        ARM: "a Arm processor: x86 images do not run.",
        NETWORK: f"n network between nodes assumed: {_widest(options)} Gbit/s of each; set yours with --network.",
        CHUNKED: "l fits only with a loss in chunks, as Liger's: --loss chunked.",
        DIVIDED: f"d the trainer must split the model: {_layouts([option for option in options if option.trainers])}.",
        SOFTWARE: f"w needs {' and '.join(software)}: the trainer must be ported to it.",
    }
    return [text for mark, text in explained.items() if mark in used]


def renewed_by(refreshed: Sequence[bool | None]) -> str:
    """Write below a table how old prices are renewed: planner prices refresh, or a quote."""
    return renewal(*refreshed, run="")


def fit_text(option: OptionEstimate) -> str:
    """Write the chance to fit the device where it is too low to be taken for granted; nothing else."""
    return f"fits {percent_text(option.fit_chance or 0.0)}" if may_not_fit(option) else ""


def _widest(options: Sequence[OptionEstimate]) -> str:
    """Write the range that holds the assumed networks of all options."""
    ranges = [option.network for option in options if option.network is not None]
    lows = [one.low_gbit_per_s for one in ranges if one.low_gbit_per_s is not None]
    highs = [one.high_gbit_per_s for one in ranges if one.high_gbit_per_s is not None]
    return f"{min(lows):,g} to {max(highs):,g}" if lows and highs else "not known"


def needed_software(option: OptionEstimate) -> str | None:
    """Return the maker's software that an option's accelerator needs; None where PyTorch runs as it is."""
    name = option.accelerator or ""
    return next((software for start, software in MAKERS_SOFTWARE.items() if name.startswith(start)), None)


def _layouts(divided: Sequence[OptionEstimate]) -> str:
    """Write the layout of the first option that divides the network, and of how many more the details say it."""
    more = f"; {len(divided) - 1} more: --details" if len(divided) > 1 else ""
    return f"{_layout(divided[0])}{more}" if divided else ""


def _layout(option: OptionEstimate) -> str:
    """Write how an option divides the network, by which trainers, and how long it takes as any trainer runs it."""
    strategy = option.strategy.value if option.strategy else ""
    said = f"{option.display_name or option.id}: {strategy}, {option.split}, by {' or '.join(option.trainers)}"
    campaign = option.campaign_hours if isinstance(option, CampaignOption) else None
    shown = campaign or option.wall_hours
    if option.whole_hours is None or option.training_hours is None or shown is None:
        return said
    whole = shown.value * option.whole_hours.value / option.training_hours.value
    return f"{said}; by plain FSDP or ZeRO {duration_text(whole)}"


def bill_before_credits(option: OptionEstimate) -> Quantity | None:
    """Return the bill of what is rented where credits pay a part of it, so that less is shown; else None."""
    if not isinstance(option, CampaignOption) or option.offer is None:
        return None
    usd, to_pay = option.campaign_usd, option.to_pay_usd
    return usd if usd is not None and to_pay is not None and usd.value != to_pay.value else None


def _nobody_says_that_so_many_are_there(option: OptionEstimate) -> bool:
    """Return whether many firm machines are rented at a list's price, and no fresh price says that they are there."""
    at_once = option.at_once if isinstance(option, CampaignOption) else 1
    price = option.price
    listed = option.offer is not None and price is not None and not price.source.startswith(PLAN)
    many = (option.nodes or 0) * at_once >= MANY_NODES
    return many and listed and option.firm is True and option.availability == "unknown"
