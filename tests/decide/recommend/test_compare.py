"""Which option is taken, and what is said of the others; on options made by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.decide.campaign.campaign import hours_to
from planner.decide.recommend.compare import compare
from planner.decide.recommend.pareto import pareto_front
from planner.model.answer.documents import CampaignDocument, CampaignOption
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.answer.training_time import TrainingTime
from planner.model.network.workload import Strategy
from planner.model.plan.plan import CampaignLimits, Owning
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Quantity, Unit

TODAY = date(2026, 11, 21)
NO_PRICE = Reason(code=ReasonCode.NO_PRICE, text="no price: sold out")


def quantity(value: float, unit: Unit, spread: float = 1.0) -> Quantity:
    return Quantity(
        value=value, low=value / spread, high=value * spread, unit=unit, basis=Basis.MEASURED, source="by hand"
    )


def option(name: str, hours: float | None, usd: float | None, **changes: Any) -> CampaignOption:
    limits: CampaignLimits = changes.pop("limits", CampaignLimits())
    spread = changes.pop("spread", 1.0)
    fields: dict[str, Any] = dict.fromkeys(
        ("region", "price_kind", "micro_batch", "checkpointing", "epoch_hours", "training_hours", "usd_per_hour",
         "usd_per_epoch", "usd_total", "usd_marginal", "energy_kwh", "power_kw", "rated_kw", "smallest_purchase_usd",
         "why_not", "site", "carbon_kg", "owning")
    )  # fmt: skip
    fields |= {
        "id": name,
        "name": name,
        "offer": name,
        "nodes": 1,
        "accelerators": 1,
        "accelerator": "H100-SXM",
        "fits": True,
        "strategy": Strategy.DDP,
        "throughput": quantity(1.0, Unit.SAMPLES_PER_S),
        "runs": ("run-1",),
        "doubts": (),
        "notes": (),
        "at_once": 1,
        "campaign_hours": None if hours is None else quantity(hours, Unit.HOURS, spread),
        "campaign_usd": None if usd is None else quantity(usd, Unit.USD, spread),
        "finish": TODAY,
        "meets_deadline": None if hours is None else hours <= hours_to(limits, today=TODAY),
        "within_budget": None if usd is None else limits.budget_usd is None or usd <= limits.budget_usd,
    }
    owning = Owning.MARGINAL if changes.get("site") else None
    return CampaignOption.model_validate(fields | {"owning": owning} | changes)


def compared(options: list[CampaignOption], limits: CampaignLimits | None = None) -> Any:
    document = CampaignDocument(plan="test", assumptions=(), runs=1, options=tuple(options))
    return compare(document, limits or CampaignLimits(), today=TODAY)


def why(answer: Any, name: str) -> str | None:
    return next(found.why_not for found in answer.options if found.id == name)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({}, "cheap", id="no limits: the cheapest"),
        pytest.param({"deadline": date(2026, 11, 21)}, "middle", id="24 hours: the cheapest that meets the deadline"),
        pytest.param({"budget_usd": 100.0}, "middle", id="only a budget: the fastest within it"),
        pytest.param({"budget_usd": 100.0, "prefer": "cost"}, "cheap", id="a budget, and cost preferred"),
        pytest.param({"prefer": "time"}, "fast", id="time preferred"),
        pytest.param({"deadline": date(2026, 11, 21), "budget_usd": 300.0}, "middle", id="both limits"),
    ],
)
def test_what_is_taken(limits: dict[str, Any], expected: str) -> None:
    rules = CampaignLimits.model_validate(limits)
    answer = compared(
        [
            option("cheap", 100, 10, limits=rules),
            option("middle", 20, 90, limits=rules),
            option("fast", 2, 250, limits=rules),
        ],
        rules,
    )
    assert answer.recommended == expected
    assert answer.options[0].id == expected
    assert answer.options[0].rank == 1
    assert answer.options[0].why_not is None
    assert answer.sentence.startswith(f"Take {expected}:")
    assert all(found.why_not for found in answer.options[1:])


def test_a_dominated_option_names_what_beats_it() -> None:
    answer = compared([option("good", 10, 10), option("bad", 11, 12)])
    assert "dominated by good" in why(answer, "bad")
    assert [found.pareto for found in answer.options] == [True, False]


def test_a_dearer_but_faster_option_is_on_the_front_and_says_what_it_costs() -> None:
    answer = compared([option("slow", 10, 10), option("quick", 5, 30)])
    assert answer.options[1].pareto
    assert "faster" in why(answer, "quick")
    assert "more expensive (30.00 USD against 10.00 USD)" in why(answer, "quick")


def test_nothing_feasible_names_the_binding_limit_and_the_nearest() -> None:
    rules = CampaignLimits(budget_usd=100.0)
    answer = compared([option("near", 5, 110, limits=rules), option("far", 1, 400, limits=rules)], rules)
    assert answer.recommended is None
    assert answer.nearest == "near"
    assert "the budget of 100 USD binds" in answer.sentence
    assert "110 USD" in answer.sentence
    assert why(answer, "far") == "costs 400 USD, 300 USD over the budget"


def test_an_option_without_a_price_is_never_recommended_and_keeps_its_reason() -> None:
    answer = compared([option("free?", 1, None, reasons=(NO_PRICE,)), option("known", 9, 9)])
    assert answer.recommended == "known"
    assert why(answer, "free?") == "no price: sold out"
    assert answer.options[-1].rank is None
    assert not answer.options[-1].pareto


def test_what_does_not_fit_is_never_recommended() -> None:
    answer = compared([option("small", 1, 1, fits=False), option("large", 9, 9)])
    assert answer.recommended == "large"


def test_nobody_can_be_estimated() -> None:
    answer = compared([option("a", None, None)])
    assert answer.recommended is None
    assert answer.nearest is None
    assert "No option can be recommended" in answer.sentence


def test_a_range_past_the_limit_is_said() -> None:
    rules = CampaignLimits(budget_usd=100.0)
    answer = compared([option("wide", 5, 90, spread=2.0, limits=rules)], rules)
    assert "reaches past the budget" in answer.sentence


def test_doubtful_evidence_is_said_in_the_sentence() -> None:
    answer = compared([option("a", 1, 1, doubts=("run-1: it cannot be true.", "run-1: more"))])
    assert "the evidence is doubtful: run-1: it cannot be true (and 1 more)" in answer.sentence


def test_an_owned_machine_is_set_beside_the_best_rented_one() -> None:
    answer = compared([option("ours", 10, 1, site="ours", offer=None), option("theirs", 9, 50)])
    assert answer.recommended == "ours"
    assert "buying or owning ours is not counted" in answer.sentence
    assert "the cheapest rented option is theirs, 9 hours for 50.00 USD" in answer.sentence


def test_owning_is_said_also_where_nothing_can_be_rented_and_of_the_budget_too() -> None:
    rules = CampaignLimits(budget_usd=100.0)
    answer = compared([option("ours", 10, 1, site="ours", offer=None, limits=rules)], rules)
    assert "buying or owning ours is not counted, and the budget is held against electricity alone" in answer.sentence


def test_a_modelled_option_is_set_beside_the_best_measured_one() -> None:
    guess = quantity(1.0, Unit.SAMPLES_PER_S).model_copy(update={"basis": Basis.MODELLED})
    answer = compared([option("guess", 1, 1, throughput=guess), option("known", 2, 2)])
    assert answer.recommended == "guess"
    assert "the cheapest measured option is known, 2 hours for 2.00 USD" in answer.sentence


@pytest.mark.parametrize(
    ("as_of", "interruptions", "words"),
    [
        pytest.param(
            date(2026, 5, 24), None, "is of 2026-05-24, and interruptions are not counted one by one", id="left out"
        ),
        pytest.param(
            date(2026, 5, 24), 0.1, "is of 2026-05-24, and how often it is preempted is assumed", id="counted"
        ),
        pytest.param(None, 0.1, "is the plan's own, and how often it is preempted is assumed", id="without a date"),
    ],
)
def test_a_spot_price_says_its_date_and_what_of_interruptions_is_counted(
    as_of: date | None, interruptions: float | None, words: str
) -> None:
    price = quantity(1.0, Unit.USD_PER_HOUR).model_copy(update={"as_of": as_of})
    hour, whole = quantity(1.0, Unit.HOURS), quantity(1.0, Unit.RATIO)
    time = TrainingTime(
        lines=(), wall_hours=hour, goodput=whole, lost_hours=None, launch_hours=None, optimizer_steps=None,
        interruptions=None if interruptions is None else quantity(interruptions, Unit.RATIO),
        checkpoint_interval_hours=None, optimal_interval_hours=None, limited_by=(), uncounted=(), convergence=None,
    )  # fmt: skip
    answer = compared([option("spot", 1, 1, price_kind=PriceKind.SPOT, usd_per_hour=price, time=time)])
    assert f"its spot price {words}" in answer.sentence


def test_what_must_be_bought_at_least_is_said() -> None:
    answer = compared([option("block", 1, 10, smallest_purchase_usd=quantity(240, Unit.USD))])
    assert "that holds 240 USD for a term longer than the work" in answer.sentence


def test_an_unchecked_fit_ranks_last_and_is_said() -> None:
    answer = compared([option("perhaps", 1, 1, fits=None), option("surely", 9, 9)])
    assert answer.recommended == "surely"
    assert "whether the model fits was not checked" in (why(answer, "perhaps") or "")
    assert "was not checked" in compared([option("perhaps", 1, 1, fits=None)]).sentence


def test_a_start_in_the_past_is_said_and_a_passed_deadline_binds() -> None:
    late = CampaignLimits(start=date(2020, 1, 1))
    assert "the start 2020-01-01 lies in the past" in compared([option("a", 1, 1, limits=late)], late).sentence
    passed = CampaignLimits(deadline=date(2026, 11, 1))
    assert "the deadline 2026-11-01 has passed" in compared([option("a", 1, 1, limits=passed)], passed).sentence


@pytest.mark.parametrize(
    ("high", "warned"), [pytest.param(24.0, False, id="24 h of 24"), pytest.param(24.1, True, id="24.1 h of 24")]
)
def test_the_warning_of_the_deadline_counts_hours(high: float, warned: bool) -> None:
    rules = CampaignLimits(deadline=TODAY)
    time = Quantity(value=20, low=19, high=high, unit=Unit.HOURS, basis=Basis.MEASURED, source="by hand")
    answer = compared([option("a", 20, 1, campaign_hours=time, limits=rules)], rules)
    assert ("reaches past the deadline" in answer.sentence) is warned


points = st.lists(st.tuples(st.floats(0.1, 1e4), st.floats(0.1, 1e6)), min_size=1, max_size=12, unique=True)


@given(points)
def test_the_front_is_what_brute_force_says(chosen: list[tuple[float, float]]) -> None:
    options = [option(str(index), hours, usd) for index, (hours, usd) in enumerate(chosen)]
    expected = {
        str(index)
        for index, (hours, usd) in enumerate(chosen)
        if not any(
            (other_hours <= hours and other_usd < usd) or (other_hours < hours and other_usd <= usd)
            for other_hours, other_usd in chosen
        )
    }
    assert pareto_front(options) == expected


@given(points, st.floats(0.1, 1e6))
def test_the_recommended_option_is_on_the_front_and_within_the_budget(
    chosen: list[tuple[float, float]], budget: float
) -> None:
    rules = CampaignLimits(budget_usd=budget)
    answer = compared(
        [option(str(index), hours, usd, limits=rules) for index, (hours, usd) in enumerate(chosen)], rules
    )
    if answer.recommended is None:
        assert all(usd > budget for _, usd in chosen)
    else:
        taken = answer.options[0]
        assert taken.pareto
        assert taken.campaign_usd.value <= budget
    assert len({found.id for found in answer.options}) == len(chosen)
