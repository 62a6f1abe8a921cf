"""Marks behind an option's row for details of its price that readers must not miss, and their meanings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.cost.cloud.price_age import renewal
from planner.decide.options.part_notes import may_not_fit
from planner.decide.recommend.wording import duration_text
from planner.model.answer.option_estimate import CampaignOption, OptionEstimate
from planner.model.quantity import Quantity
from planner.text.number_text import percent_text

STALE, SPOT, UNPRICED, ASSUMED, CREDITED, MANY, ARM, NETWORK, CHUNKED = "*", "s", "+", "~", "c", "?", "a", "n", "l"
DIVIDED, SOFTWARE = "d", "w"
PLAN = "the plan:"
"""Beginning of the source of a price from the plan."""
ARM_HOSTS = ("GH200", "GB200", "GB300", "GB10")
"""Beginnings of the names of accelerators with an Arm processor as host."""
MAKERS_SOFTWARE = {
    "Trainium": "AWS Neuron", "Inferentia": "AWS Neuron", "Gaudi": "Intel's Gaudi software (Habana)",
    "TPU": "XLA (JAX, or PyTorch/XLA)", "Ascend": "Huawei's CANN",
}  # fmt: skip
"""Software that accelerators need instead of plain PyTorch, by the beginning of their names."""
MANY_NODES = 4
"""Nodes rented at once from which their availability is doubtful."""


def marks(option: OptionEstimate) -> str:
    """Return the marks of an option."""
    found = {
        STALE: option.price_stale,
        SPOT: option.firm is False,
        UNPRICED: option.unpriced,
        ASSUMED: option.assumed_rates,
        CREDITED: bill_before_credits(option),
        MANY: _availability_is_doubtful(option),
        ARM: option.accelerator is not None and option.accelerator.startswith(ARM_HOSTS),
        NETWORK: option.network is not None and option.network.low_gbit_per_s is not None,
        CHUNKED: option.fits and option.chunked_loss,
        DIVIDED: option.trainers,
        SOFTWARE: needed_software(option),
    }
    return "".join(mark for mark, applies in found.items() if applies)


def marks_explained(options: Sequence[OptionEstimate], money: Callable[[Quantity], str]) -> list[str]:
    """Return the meanings of the marks of these options. `money` writes an amount."""
    used = "".join(marks(option) for option in options)
    unpriced = dict.fromkeys(what for option in options for what in option.unpriced)
    assumed = dict.fromkeys(what for option in options for what in option.assumed_rates)
    software = dict.fromkeys(name for option in options if (name := needed_software(option)) is not None)
    bills = dict.fromkeys(money(usd) for option in options if (usd := bill_before_credits(option)) is not None)
    explained = {
        SPOT: "s spot: may be taken away.",
        STALE: f"* price out of date: {renewed_by([stale.price_refreshed for stale in options if stale.price_stale])}.",
        UNPRICED: f"+ not in the bill: {', '.join(unpriced)}.",
        ASSUMED: f"~ at an assumed rate in the bill: {', '.join(assumed)}.",
        CREDITED: f"c after credits: the bill{'s are' if len(bills) > 1 else ' is'} {' and '.join(bills)}.",
        MANY: "? ask whether they have that many.",
        ARM: "a Arm processor: x86 images do not run.",
        NETWORK: f"n network between nodes assumed: {_widest(options)} Gbit/s of each; set yours with --network.",
        CHUNKED: "l fits only with a loss in chunks, as Liger's: --loss chunked.",
        DIVIDED: f"d the trainer must split the model: {_layouts([option for option in options if option.trainers])}.",
        SOFTWARE: f"w needs {' and '.join(software)}: the trainer must be ported to it.",
    }
    return [text for mark, text in explained.items() if mark in used]


def renewed_by(refreshed: Sequence[bool | None]) -> str:
    """Write how to renew old prices: planner prices refresh, or a quote."""
    return renewal(*refreshed, run="")


def fit_text(option: OptionEstimate) -> str:
    """Write the chance to fit the device if it is low; empty otherwise."""
    return f"fits {percent_text(option.fit_chance or 0.0)}" if may_not_fit(option) else ""


def _widest(options: Sequence[OptionEstimate]) -> str:
    """Write the range that covers the assumed networks of all options."""
    ranges = [option.network for option in options if option.network is not None]
    lows = [network.low_gbit_per_s for network in ranges if network.low_gbit_per_s is not None]
    highs = [network.high_gbit_per_s for network in ranges if network.high_gbit_per_s is not None]
    return f"{min(lows):,g} to {max(highs):,g}" if lows and highs else "not known"


def needed_software(option: OptionEstimate) -> str | None:
    """Return the maker's software that an option's accelerator needs; None if plain PyTorch runs on it."""
    name = option.accelerator or ""
    return next((software for start, software in MAKERS_SOFTWARE.items() if name.startswith(start)), None)


def _layouts(divided: Sequence[OptionEstimate]) -> str:
    """Write the layout of the first option that divides the network, and the number of further ones."""
    more = f"; {len(divided) - 1} more: --details" if len(divided) > 1 else ""
    return f"{_layout(divided[0])}{more}" if divided else ""


def _layout(option: OptionEstimate) -> str:
    """Write how an option divides the network, with the trainers that do it and the time without dividing."""
    strategy = option.strategy.value if option.strategy else ""
    said = f"{option.display_name or option.id}: {strategy}, {option.split}, by {' or '.join(option.trainers)}"
    campaign = option.campaign_hours if isinstance(option, CampaignOption) else None
    shown = campaign or option.wall_hours
    if option.whole_hours is None or option.training_hours is None or shown is None:
        return said
    whole = shown.value * option.whole_hours.value / option.training_hours.value
    return f"{said}; by plain FSDP or ZeRO {duration_text(whole)}"


def bill_before_credits(option: OptionEstimate) -> Quantity | None:
    """Return the bill of a rented option before credits, if credits pay a part of it; else None."""
    if not isinstance(option, CampaignOption) or option.offer is None:
        return None
    usd, to_pay = option.campaign_usd, option.to_pay_usd
    return usd if usd is not None and to_pay is not None and usd.value != to_pay.value else None


def _availability_is_doubtful(option: OptionEstimate) -> bool:
    """Return True for many firm machines at a list price without a fresh price that reports their availability."""
    at_once = option.at_once if isinstance(option, CampaignOption) else 1
    price = option.price
    listed = option.offer is not None and price is not None and not price.source.startswith(PLAN)
    many = (option.nodes or 0) * at_once >= MANY_NODES
    return many and listed and option.firm is True and option.availability == "unknown"
