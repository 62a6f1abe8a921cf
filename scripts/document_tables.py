"""Write docs/document-tables.md: tables of the source documents, computed from the example plans.

Run: make document-tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from planner import api
from planner.adapters.workspace import examples_dir
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import OptionEstimate, RankedOption
from planner.network.flops import parameters
from planner.scenario.job import resolve_job
from planner.use_cases import plans
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.owning import own_or_rent

TARGET = Path(__file__).parents[1] / "docs" / "document-tables.md"
GUIDE = examples_dir() / "guide"
STATION = examples_dir() / "dgx_station_v100.yaml"
TODAY = date(2026, 11, 24)
"""Day of the comparisons, from which the age of prices counts."""
BYTES_PER_PARAMETER = 16
"""Bytes of weights and gradients in bf16, an fp32 copy and both moments of Adam (Rajbhandari and others, SC 2020, 3.1).
"""


class GuideSize(NamedTuple):
    """A row of the guide's table of model sizes, with its GB and its number of H100."""

    name: str
    plan: str
    said_gb: int
    said_h100: str


SIZES = (
    GuideSize("7B", "size_7b", 56, "1"), GuideSize("13B", "size_13b", 104, "2"), GuideSize("70B", "size_70b", 560, "8"),
    GuideSize("405B", "size_405b", 3_200, "40 and more"), GuideSize("1T", "size_1t", 8_000, "100 and more"),
)  # fmt: skip
CARDS = {"A100-80GB-SXM": "A100 80GB", "H100-SXM": "H100", "H200-SXM": "H200", "B200-SXM": "B200"}
BUDGETS = ("budget_researcher", "budget_startup", "budget_team", "budget_institution")
OF_SIZES = """\
The fewest accelerators of the plans on which all weights train, with hours and USD for a billion tokens in samples of
4,096 at benchmark speed. States: 16 bytes a parameter. The guide (document 002) counts 8 bytes and no activations; its
H100 counts may suit adapters or inference."""
OF_CAMPAIGNS = """\
The plan of document 000, [dgx_station_v100.yaml](../examples/dgx_station_v100.yaml), without its limits: days of work,
days saved against the DGX Station, and USD to pay (with the whole price of a purchase). Only rented machines run side
by side: a site has one machine. Pays from: trainings a year from which buying costs no more than the cheapest firm
rent."""
COUNTS = ((1, 1), (10, 1), (10, 10), (50, 1), (50, 10))
"""Numbers of trainings, each with the number that run at once."""


def page() -> str:
    """Return the text of docs/document-tables.md."""
    return "\n".join([*_sizes(), *_budgets(), *_campaigns()]) + "\n"


def fewest(options: tuple[OptionEstimate, ...], card: str) -> OptionEstimate | None:
    """Return the option with the fewest accelerators of a kind on which the training fits."""
    able = [
        option for option in options
        if option.accelerator == card and option.fits is not False and option.wall_hours is not None
    ]  # fmt: skip
    return min(able, key=lambda option: option.accelerators or 0, default=None)


def _sizes() -> Iterator[str]:
    yield "# Tables of the source documents, computed"
    yield ""
    yield "After reading this page you know what the plans of the [source documents](documents.md) cost and how long"
    yield "they take. Written by `make document-tables`; a test compares it."
    yield ""
    yield "## Model sizes"
    yield ""
    yield OF_SIZES
    yield ""
    yield f"| size | states, GB | guide, GB | guide, H100 | {' | '.join(CARDS.values())} |"
    yield "|---|---|---|---|" + "---|" * len(CARDS)
    for size in SIZES:
        path = GUIDE / f"{size.plan}.yaml"
        options = api.estimate(path).document.options
        cells = [_on(fewest(options, card)) for card in CARDS]
        states = parameters_of(path) * BYTES_PER_PARAMETER / 1e9
        row = [
            f"[{size.name}](../examples/guide/{size.plan}.yaml)",
            f"{states:,.0f}",
            f"{size.said_gb:,}",
            size.said_h100,
        ]
        yield f"| {' | '.join([*row, *cells])} |"


def parameters_of(path: Path) -> float:
    """Return the parameters of a plan's network."""
    network = resolve_job(plans.read_plan(path), open_catalog(None)).setup.network
    assert network is not None, "the plan names it"
    return float(parameters(network))


def _on(option: OptionEstimate | None) -> str:
    if option is None or option.wall_hours is None or option.usd_marginal is None:
        return "does not fit"
    return f"{option.accelerators:,}: {_short(option.wall_hours.value)} h, {_short(option.usd_marginal.value)} USD"


def _budgets() -> Iterator[str]:
    yield ""
    yield "## Budgets"
    yield ""
    yield "What to do in each of the guide's tiers; work and days are the plans' own."
    yield ""
    yield "| plan | answer | chance to keep both limits |"
    yield "|---|---|---|"
    for name in BUDGETS:
        document = compared(GUIDE / f"{name}.yaml")
        shown = next(option for option in document.options if option.id == (document.recommended or document.nearest))
        chance = min(chance_ for chance_ in (shown.chance_deadline, shown.chance_budget) if chance_ is not None)
        sure = f"{min(99, int(100 * chance))} %"
        yield f"| [{document.plan}](../examples/guide/{name}.yaml) | {document.headline[0]} | {sure} |"


def compared(plan: Path) -> ComparisonDocument:
    """Return the comparison of a plan on the page's day."""
    return plans.compare(plans.read_plan(plan), open_catalog(None), today=TODAY)


def campaign(runs: int, at_once: int) -> ComparisonDocument:
    """Return the first document's question with the given number of trainings and without limits."""
    given: dict[str, Any] = yaml.safe_load(STATION.read_text(encoding="utf-8"))
    given["campaign"] = {"runs": runs, "at_once": at_once, "start": "2026-12-01", "mix": "never"}
    plan = plans.parse_plan(yaml.safe_dump(given), where=str(STATION))
    return plans.compare(plan, open_catalog(None), today=TODAY)


def _campaigns() -> Iterator[str]:
    yield ""
    yield "## One, ten and fifty trainings"
    yield ""
    yield OF_CAMPAIGNS
    yield ""
    heads = [f"{runs}" + (f", {at_once} at once" if at_once > 1 else "") for runs, at_once in COUNTS]
    yield f"| machine | {' | '.join(heads)} | pays from |"
    yield "|---|" + "---|" * (len(COUNTS) + 1)
    documents = [campaign(*count) for count in COUNTS]
    base = [_days(_option(document, "dgx-station-v100")) for document in documents]
    for option in sorted(documents[0].options, key=lambda option_: (option_.hold or "", option_.id)):
        cells = [
            _cell(_option(document, option.id), days, at_once)
            for document, days, (_, at_once) in zip(documents, base, COUNTS, strict=True)
        ]
        yield f"| {option.display_name} | {' | '.join(cells)} | {_pays_from(option)} |"


def _option(document: ComparisonDocument, name: str) -> RankedOption:
    return next(option for option in document.options if option.id == name)


def _days(option: RankedOption) -> float:
    assert option.campaign_hours is not None, "it is known"
    return option.campaign_hours.value / 24


def _cell(option: RankedOption, base: float, at_once: int) -> str:
    usd = option.cash_usd or option.campaign_usd
    assert usd is not None, "it is known"
    if option.at_once < at_once:
        return ""
    days = _days(option)
    saved = f" ({_short(abs(base - days))} {'saved' if days < base else 'longer'})" if abs(base - days) > 0.01 else ""
    return f"{_short(days)} d{saved}, {_short(usd.value)}"


def _pays_from(option: RankedOption) -> str:
    """Return the trainings per year from which a purchase costs no more than the cheapest firm rent."""
    if option.hold != "buy":
        return ""
    year = own_or_rent(plans.read_plan(STATION), open_catalog(None), today=TODAY, site=option.site).by_plan
    rent = (
        next((option for option in year.options if option.id == year.cheapest_firm), None) if year is not None else None
    )
    if rent is None or rent.break_even is None:
        return "never"
    return f"{rent.break_even.trainings_per_year:,} ({rent.break_even.busy_fraction:.0%} busy)"


def _short(value: float) -> str:
    return f"{float(f'{value:.3g}'):,g}"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    print(f"written {TARGET}")
