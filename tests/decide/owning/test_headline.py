"""The headline of own-or-rent: its advice and the yearly cost in it, computed by hand."""

from __future__ import annotations

from planner.decide.owning.owning_sentence import headline
from planner.model.answer.planned_year import CountedFrom, PlannedYear, YearOption
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Basis, Quantity, Unit
from tests.decide.owning.test_year_options import DEAR, OURS, PC, row


def _exact(value: float, unit: Unit) -> Quantity:
    return Quantity(value=value, low=value, high=value, unit=unit, basis=Basis.ASSUMED, source="hand")


def _year(*options: YearOption, recommended: str, firm: str | None = None) -> PlannedYear:
    return PlannedYear(
        counted_from=CountedFrom.CAMPAIGN, counted="by hand", trainings_wanted=50, trainings=50,
        hours_per_training=_exact(20, Unit.HOURS), most_trainings=400, busy_hours=1000,
        busy_fraction=_exact(0.125, Unit.RATIO), site_busy_fraction=0.7,
        usd_per_busy_gpu_hour=_exact(3, Unit.USD_PER_GPU_HOUR), owning="ours", recommended=recommended,
        cheapest_firm=firm, pay_as_you_go=firm, cheapest_rent=firm, options=options,
    )  # fmt: skip


def _headline(year: PlannedYear) -> tuple[str, ...]:
    return headline(year, confidence=0.8)


def test_a_cheaper_machine_stands_beside_what_keeping_costs() -> None:
    assert _headline(_year(PC, OURS, recommended="pc")) == (
        "Buy pc: 1,300 USD a year for 50 trainings; keeping ours costs 3,000 USD.",
    )


def test_a_cheaper_option_that_is_not_surely_cheaper_has_its_chance() -> None:
    """Ours costs less than the rent in 71 of 100 cases, so that the rent costs less in the other 29."""
    unsure = DEAR.model_copy(update={"chance_owning_cheaper": 0.71})
    assert _headline(_year(OURS, unsure, recommended="dear"))[0] == (
        "Rent dear: 9,000 USD a year; keeping ours at 3,000 USD costs less in 71 of 100 cases, and 80 are asked for."
    )
    cheap = unsure.model_copy(update={"usd_per_year": _exact(2000, Unit.USD_PER_YEAR)})
    assert _headline(_year(OURS, cheap, recommended="ours", firm="dear"))[0] == (
        "Keep ours: 3,000 USD a year; dear at 2,000 USD costs less in 29 of 100 cases, and 80 are asked for."
    )


def test_a_saving_that_is_small_is_said_to_be_so() -> None:
    """It costs less in 90 of 100 cases, which is enough, but is no tenth cheaper."""
    sure = DEAR.model_copy(update={"chance_owning_cheaper": 0.9, "usd_per_year": _exact(3100, Unit.USD_PER_YEAR)})
    assert _headline(_year(OURS, sure, recommended="dear"))[0] == (
        "Rent dear: 3,100 USD a year; keeping ours at 3,000 USD costs less, but by under 10 %."
    )


def test_a_cheaper_option_over_the_budget_is_named_with_its_commitment() -> None:
    """Ours at 3,000 and the term at 4,000 a year cost less than 9,000, and take 7,000 at once and 12,000 in all."""
    over = {"over_budget": True}
    bought = OURS.model_copy(update=over | {"hold": Hold.BUY, "usd_at_once": 7000.0})
    term = row("term", 4000.0, usd_committed=12000.0, **over)
    dear = DEAR.model_copy(update={"chance_owning_cheaper": 0.99})
    assert _headline(_year(bought, term, dear, recommended="dear")) == (
        "Rent dear: 9,000 USD a year for 50 trainings; buying costs 3,000 USD.",
        "Buying takes 7,000 USD at once and term commits 12,000 USD, both over the plan's budget.",
    )
    (_, only) = _headline(_year(OURS, term, dear, recommended="dear"))
    assert only == "Term commits 12,000 USD, over the plan's budget."


def test_a_cheaper_rent_over_the_budget_is_not_called_a_small_saving() -> None:
    """It costs less in 99 of 100 cases, by 1,000 of 3,000 USD, but commits more than the plan has."""
    term = row("term", 2000.0, usd_committed=12000.0, over_budget=True, chance_owning_cheaper=0.01)
    assert _headline(_year(OURS, term, recommended="ours", firm="term")) == (
        "Keep ours: 3,000 USD a year for 50 trainings; term costs 2,000 USD.",
        "Term commits 12,000 USD, over the plan's budget.",
    )


def test_a_term_that_costs_less_than_hourly_rent_is_the_next_best() -> None:
    """8,000 - 3,000 USD."""
    ours = OURS.model_copy(update={"costs_less_than": "term"})
    said = _headline(_year(ours, row("term", 8000.0), DEAR, recommended="ours", firm="dear"))
    assert said[0] == "Keep ours: 3,000 USD a year for 50 trainings, 5,000 USD less than renting term."


def test_a_headline_without_a_chance_states_the_cost_alone() -> None:
    unknown = DEAR.model_copy(update={"chance_owning_cheaper": None})
    assert _headline(_year(OURS, unknown, recommended="dear"))[0] == (
        "Rent dear: 9,000 USD a year for 50 trainings; keeping ours costs 3,000 USD."
    )


def test_keeping_is_compared_with_hourly_rent() -> None:
    """9,000 - 3,000 USD."""
    said = _headline(_year(OURS, DEAR, recommended="ours", firm="dear"))
    assert said[0] == "Keep ours: 3,000 USD a year for 50 trainings, 6,000 USD less than renting dear."


def test_nothing_that_fits_has_the_reason() -> None:
    broken = OURS.model_copy(update={"why_not": "it does not fit"})
    (said,) = _headline(_year(broken, recommended="none"))
    assert said == "Nothing fits: ours: it does not fit."


def test_without_anything_to_rent_the_plan_is_told_so() -> None:
    said = _headline(_year(OURS, recommended="ours"))
    assert said[0] == "Keep ours: 3,000 USD a year for 50 trainings; the plan names nothing firm to rent."
    assert OURS.hold is Hold.HAVE
