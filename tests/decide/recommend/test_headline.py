"""The sentences of the answer; on options made by hand."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.answer.option_estimate import CampaignOption
from planner.model.network.workload import Split
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Unit
from tests.decide.recommend.by_hand import TODAY, compared, option, paid_by_credits, quantity

GUESS = quantity(1.0, Unit.SAMPLES_PER_S).model_copy(update={"basis": Basis.MODELLED})
OURS = {"site": "ours", "offer": None, "hold": "have"}
FIRST_WORDS = ("Keep", "Rent", "Buy", "Use", "Mix", "Measure", "Best", "Nothing")


def headline_of(*options: CampaignOption, **limits: Any) -> list[str]:
    left_whole = limits.pop("left_whole", None)
    return list(compared(list(options), CampaignLimits.model_validate(limits), left_whole).headline)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        pytest.param(
            option("our PC", 30, 5.234, **OURS),
            "Keep our PC: done in 30 hours, at most 5.24 USD of electricity, 4 in 5 sure.", id="have",
        ),
        pytest.param(
            option("Lambda, 1x H100", 3.21, 4561.2),
            "Rent Lambda, 1x H100: done in 3.3 hours, at most 4,570 USD, 4 in 5 sure.", id="rent: rounded up",
        ),
        pytest.param(
            option("Lambda, 1x H100", 48.1, 99.1),
            "Rent Lambda, 1x H100: done by 2026-11-23, at most 100 USD, 4 in 5 sure.", id="over two days: by a day",
        ),
        pytest.param(
            option("Lambda, 1x H100", 0.4, 1.0),
            "Rent Lambda, 1x H100: done in 24 minutes, at most 1.00 USD, 4 in 5 sure.", id="minutes",
        ),
        pytest.param(
            option("a grant", 10, 0.0, hold="use"),
            "Use a grant: done in 10 hours, nothing to pay, 4 in 5 sure.", id="use",
        ),
        pytest.param(
            option("AWS p5", 10, 900, **paid_by_credits(900, 1_000)),
            "Rent AWS p5: done in 10 hours, all of it paid by credits, 4 in 5 sure.", id="credits",
        ),
        pytest.param(
            option("a server", 10, 100, hold="buy", ready_on=date(2026, 11, 28), wait_hours=7 * 24 - 12.0,
                   cash_usd=quantity(40_100, Unit.USD)),
            "Buy a server: done by 2026-11-28, at most 40,100 USD in all, 4 in 5 sure.", id="buy: after a week",
        ),
        pytest.param(
            option("a service", None, 60, hold="use"),
            "Use a service: time not known, at most 60 USD, 4 in 5 sure.", id="no time",
        ),
    ],
)  # fmt: skip
def test_the_deed(chosen: CampaignOption, expected: str) -> None:
    assert headline_of(chosen)[0] == expected


@pytest.mark.parametrize(
    ("confidence", "words"),
    [(0.8, "4 in 5 sure"), (0.9, "9 in 10 sure"), (0.5, "1 in 2 sure"), (0.95, "19 in 20 sure"), (0.85, "85 % sure")],
)
def test_confidence_in_words(confidence: float, words: str) -> None:
    assert headline_of(option("a", 1, 1), confidence=confidence)[0].endswith(f"{words}.")


@pytest.mark.parametrize(
    ("split", "degrees"),
    [
        pytest.param(Split(tensor=2, pipeline=4), "tensor 2, pipeline 4", id="two"),
        pytest.param(
            Split(tensor=8, pipeline=4, context=2, experts=8), "tensor 8, pipeline 4, context 2, experts 8", id="all"
        ),
    ],
)
def test_a_divided_network_is_named_before_anything_is_spent(split: Split, degrees: str) -> None:
    sentence = headline_of(option("cards", 10, 10, split=split, throughput=GUESS))[1]
    assert sentence == f"Your trainer must split the model ({degrees}): try a step first."
    assert len(sentence.split()) <= 20
    assert not any("split" in line for line in headline_of(option("cards", 10, 10, throughput=GUESS)))


def test_the_trainer_that_divides_a_network_is_named() -> None:
    cards = option("cards", 10, 10, split=Split(tensor=4), trainers=("torchtitan",), throughput=GUESS)
    assert (
        headline_of(cards)[1] == "Your trainer must split the model (tensor 4), as torchtitan does: try a step first."
    )


@pytest.mark.parametrize(
    ("hours_whole", "expected"),
    [
        pytest.param(400, "Without dividing the network: rented, done in 20 hours, at most 90 USD.", id="it flips"),
        pytest.param(12, None, id="the same one wins either way"),
    ],
)
def test_the_best_undivided_option_is_named_if_it_is_another(hours_whole: float, expected: str | None) -> None:
    rented = option("rented", 20, 90)
    cards = option("cards", 10, 10, split=Split(tensor=4), trainers=("torchtitan",), throughput=GUESS)
    whole = [option("cards", hours_whole, 10, throughput=GUESS), rented]
    sentences = headline_of(cards, rented, deadline=TODAY + timedelta(days=3), left_whole=whole)
    assert sentences[0].startswith("Rent cards")
    if expected is None:
        assert not any("Without dividing" in line for line in sentences)
    else:
        assert sentences[1] == expected


def test_the_firm_option_stands_beside_a_spot_one() -> None:
    answer = compared([option("spot", 10, 10, price_kind=PriceKind.SPOT), option("firm", 10, 90)])
    assert answer.runner_up_firm == "firm"
    assert answer.headline[1] == "Firm: firm, done in 10 hours, at most 90 USD."


def test_the_firm_option_is_the_one_that_would_be_recommended_among_firm_ones() -> None:
    """Hours likely cost 70 USD and the block 97; at 4 in 5 sure, hours cost 1.9^(0.84 / 1.645) x 70 = 97.2 USD."""
    spot = option("spot", 10, 10, price_kind=PriceKind.SPOT)
    block = option("block", 10, 97, paid_ahead_hours=24.0)
    answer = compared([spot, block, option("hours", 10, 70, spread=1.9)])
    assert answer.runner_up_firm == answer.next_best == "hours"


def test_an_owned_machine_that_is_sooner_is_named_before_a_rented_one_that_is_sooner_still() -> None:
    """30 hours for 3 USD are recommended: 12 hours for 5 USD are 2.5 times as fast, and 8 hours cost 232 USD."""
    ours = [option("pc", 30, 3, **OURS), option("server", 12, 5, **OURS | {"site": "server"})]
    assert (
        headline_of(*ours, option("rent", 8, 232))[1]
        == "Sooner: server, done in 12 hours, at most 5.00 USD of electricity."
    )
    assert headline_of(ours[0], option("rent", 8, 232))[1] == "Sooner: rent, done in 8.0 hours, at most 232 USD."


def test_a_headline_says_that_no_firm_option_exists() -> None:
    assert "no firm option" in " ".join(headline_of(option("spot", 10, 10, price_kind=PriceKind.SPOT)))


def test_the_measured_option_stands_beside_a_modelled_one() -> None:
    answer = compared([option("guess", 1, 1, throughput=GUESS), option("known", 2, 2)])
    assert answer.recommended == "guess"
    assert answer.runner_up_measured == "known"
    assert answer.headline[1] == "Measured: known, done in 2.0 hours, at most 2.00 USD."


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        pytest.param(
            option("a", 1, 1, doubts=("run-1: it cannot be true.",)), "is doubtful", id="doubt"
        ),
        pytest.param(option("a", 1, 1, price_stale=True, price_age_days=64), "Its price is 64 days old", id="price"),
        pytest.param(option("a", 1, 1, fits=None), "fits its memory was not checked", id="memory"),
        pytest.param(
            option("a", 1, 1, fits=True, fit_chance=0.8), "It fits its memory with 80 %: try a step first.",
            id="it may not fit",
        ),
        pytest.param(
            option("a", 1, 10, smallest_purchase_usd=quantity(240, Unit.USD)),
            "bought for a term longer than the work, 240 USD in all", id="a term",
        ),
        pytest.param(
            option("a", 100, 240, smallest_purchase_usd=quantity(240, Unit.USD),
                   usd_per_hour=quantity(3, Unit.USD_PER_HOUR)),
            "Its term may end before the work: more hours are counted on demand, or as another term.",
            id="100 h of a term of 240 / 3 = 80",
        ),
        pytest.param(
            option("a", 1, 10, hold="buy", pay_now_usd=quantity(57_400, Unit.USD), left_usd=quantity(41_000, Unit.USD)),
            "57,400 USD are due at once; 41,000 USD of it would be left then", id="a purchase",
        ),
        pytest.param(
            option("a", 1, 1, throughput=GUESS, known_from="estimated from 3,315 published runs"),
            "This exact setup was not measured: estimated from 3,315 published runs.", id="modelled",
        ),
    ],
)  # fmt: skip
def test_the_remarks_of_a_headline(chosen: CampaignOption, expected: str) -> None:
    assert expected in " ".join(headline_of(chosen)[1:])


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        pytest.param(
            "scaled from your run on 2x RTX 3090", "Its speed is scaled from your run on 2x RTX 3090.", id="a run",
        ),
        pytest.param(
            "estimated from 3,304 published runs and your step",
            "Its speed is estimated from 3,304 published runs and your step.", id="a step elsewhere",
        ),
        pytest.param("assumed by the plan (step)", "Its speed is assumed by the plan (step).", id="the plan's word"),
        pytest.param(
            "scaled from the run measured on 4x V100",
            "This exact setup was not measured: scaled from the run measured on 4x V100.",
            id="another's run",
        ),
        pytest.param(None, "This exact setup was not measured.", id="nothing known"),
    ],
)  # fmt: skip
def test_the_remark_on_a_modelled_speed_names_a_figure_of_one_s_own(known: str | None, sentence: str) -> None:
    assert headline_of(option("a", 1, 1, throughput=GUESS, known_from=known))[1:] == [sentence]


def test_a_cheaper_owned_machine_is_named_first() -> None:
    """10.80 USD are within 10 % of 10, and twice as fast."""
    ours, quick = option("ours", 30, 10, **OURS), option("quick", 10, 10.8, price_stale=True, price_age_days=64)
    assert headline_of(ours, quick) == [
        "Rent quick: done in 10 hours, at most 11 USD, 4 in 5 sure.",
        "Cheaper, and already yours: ours, done in 30 hours, at most 10 USD of electricity.",
        "The price of quick is 64 days old: run planner prices refresh first.",
    ]


def test_a_faster_option_is_named_where_it_is_much_faster() -> None:
    assert headline_of(option("slow", 100, 10), option("quick", 30, 500))[1] == (
        "Sooner: quick, done in 30 hours, at most 500 USD."
    )
    assert len(headline_of(option("slow", 100, 10), option("quick", 80, 500))) == 1


def test_the_cheapest_purchase_is_named_where_another_option_is_taken() -> None:
    dear = option(
        "server", 10, 5, hold="buy", pay_now_usd=quantity(34_700, Unit.USD), cash_usd=quantity(34_705, Unit.USD)
    )
    assert headline_of(option("ours", 10, 10, **OURS), dear)[1] == "The cheapest to buy, server, is 34,700 USD at once."


def test_nothing_fits_names_the_limit_and_what_it_would_take() -> None:
    answer = compared([option("near", 5, 211), option("far", 1, 400)], CampaignLimits(budget_usd=100.0))
    assert answer.recommended is None
    assert answer.nearest == "near"
    assert answer.headline == (
        "Nothing fits: the nearest, near, costs up to 211 USD of 100 USD.",
        "To be 4 in 5 sure, it needs 211 USD.",
    )


def test_measure_first_where_an_unmeasured_option_has_an_even_chance() -> None:
    """90 of a budget of 100 with a factor of 2 both ways: Phi(ln(100/90) / (ln 2 / 1.6449)) = Phi(0.25) = 60 %."""
    guess = option("guess", 5, 90, spread=2.0, throughput=GUESS)
    answer = compared([guess], CampaignLimits(budget_usd=100.0))
    assert answer.recommended is None
    assert answer.nearest == "guess"
    assert answer.headline[0] == "Measure first: guess stays in the budget with a chance of 60 %; you asked for 80 %."
    assert "planner launch" in answer.headline[1]


def test_best_chance_where_it_was_measured() -> None:
    answer = compared([option("known", 5, 90, spread=2.0)], CampaignLimits(budget_usd=100.0))
    assert answer.recommended is None
    assert answer.headline[0] == "Best chance: known stays in the budget with a chance of 60 %; you asked for 80 %."


def test_a_long_name_leaves_no_room_for_what_is_asked() -> None:
    guess = option("2 nodes of our own, 16x RTX 3090", 5, 90, spread=2.0, throughput=GUESS)
    first = headline_of(guess, budget_usd=100.0)[0]
    assert first == "Measure first: 2 nodes of our own, 16x RTX 3090 stays in the budget with a chance of 60 %."


def test_many_nodes_are_asked_for() -> None:
    dated = quantity(1, Unit.USD_PER_HOUR).model_copy(update={"as_of": TODAY})
    answer = compared([option("AWS p5", 4320, 8_000_000, nodes=32, usd_per_hour=dated)])
    assert answer.recommended is None
    assert answer.headline[:2] == (
        "Nothing fits as listed: no source says that 32 nodes are available at once.",
        "Ask for a quote of AWS p5: done by 2027-05-20, at most 8,000,000 USD.",
    )


def test_a_headline_says_why_nothing_fits() -> None:
    nothing = compared([option("a", None, None)])
    assert (nothing.recommended, nothing.nearest) == (None, None)
    assert nothing.headline[0] == "Nothing fits: of no option are both time and cost known."
    passed = CampaignLimits(deadline=date(2026, 11, 1))
    assert compared([option("a", 1, 1)], passed).headline == ("Nothing fits: the deadline 2026-11-01 has passed.",)


def test_a_headline_mentions_a_start_in_the_past() -> None:
    assert "The start 2020-01-01 lies in the past." in headline_of(option("a", 1, 1), start=date(2020, 1, 1))


drawn = st.builds(
    option,
    st.sampled_from(["Lambda, 8x H100", "AWS p5en spot, 8x H200 in us-east-1", "2 nodes of our own, 16x RTX 3090"]),
    st.one_of(st.none(), st.floats(0.1, 9000)),
    st.floats(0, 1e7),
    hold=st.sampled_from(["have", "rent", "buy", "use"]),
    price_kind=st.sampled_from([None, PriceKind.SPOT, PriceKind.ON_DEMAND]),
    price_stale=st.booleans(),
    price_age_days=st.just(64),
    spread=st.sampled_from([1.0, 1.5, 4.0]),
    fits=st.sampled_from([True, None, False]),
    nodes=st.sampled_from([1, 4, 32]),
    throughput=st.sampled_from([GUESS, quantity(1.0, Unit.SAMPLES_PER_S)]),
    pay_now_usd=st.sampled_from([None, quantity(300_000, Unit.USD)]),
    doubts=st.sampled_from([(), ("a doubt",)]),
)


@given(st.lists(drawn, min_size=1, max_size=6, unique_by=lambda option: option.id), st.sampled_from([None, 50.0, 5e5]))
def test_at_most_three_sentences_of_twenty_words(options: list[CampaignOption], budget: float | None) -> None:
    answer = compared(options, CampaignLimits(budget_usd=budget, deadline=date(2027, 3, 1)))
    assert 1 <= len(answer.headline) <= 3
    assert all(len(sentence.split()) <= 20 and sentence.endswith(".") for sentence in answer.headline)
    assert answer.headline[0].split()[0] in FIRST_WORDS
    assert answer.sentence == " ".join(answer.headline)
