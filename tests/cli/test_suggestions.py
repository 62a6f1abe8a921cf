"""Suggestions of `find` and `ask` beside the usual setup; the second method asks for the suggestion itself."""

from __future__ import annotations

import math
import re

import pytest

FULL = ("find", "llama3-70b", "--tokens", "100e6")
TOO_SMALL = ("find", "llama3-70b", "--tokens", "100e6", "--accelerator", "H100", "--gpus", "8")
SURELY = 0.945


def suggested(answer, start: str) -> str:
    """Return the one note that begins so."""
    [note] = [note for note in answer["notes"] if note.startswith(start)]
    return note


def campaign_hours(option) -> float:
    """Return the hours until an option is done, waiting included."""
    return option["wait_hours"] + option["campaign_hours"]["value"]


def cheapest_sure(answer, *, most_hours: float = math.inf) -> dict[str, object]:
    """Return the option whose memory is no question that costs least with the answer's confidence."""
    return min(
        (
            option
            for option in answer["options"]
            if option["rank"] is not None
            and option["payable"] > 0
            and (option["fit_chance"] or 1) >= SURELY
            and campaign_hours(option) <= most_hours
        ),
        key=lambda option: option["usd_confident"],
    )


def told(option) -> str:
    """Return the words in which an option is suggested."""
    usd = option["payable"]
    hours = campaign_hours(option)
    assert 1 <= hours < 48
    return f"{option['display_name']}, {hours:.3g} hours, {usd:,.{0 if usd >= 100 else 2}f} USD"


@pytest.fixture
def asked(planner):
    """Ask, and give every option what it costs as `payable`."""

    def call(*words):
        document = planner(*words, "--json").document
        for option in document["options"]:
            usd = option["to_pay_usd"] or option["campaign_usd"]
            option["payable"] = usd["value"] if usd and "ask_for_quote" not in option["why_not_codes"] else 0.0
        return document

    return call


@pytest.mark.slow
def test_an_8_bit_optimizer_is_suggested_at_what_asking_for_it_answers(asked) -> None:
    note = suggested(asked(*FULL), "With an optimizer at 8 bit")
    flag, words = re.match(r"With an optimizer at 8 bit \((.+)\): (.+ USD) instead of", note).groups()
    assert words == told(cheapest_sure(asked(*FULL, *flag.split())))


@pytest.mark.slow
def test_the_cheapest_option_that_surely_fits_is_named_where_the_best_may_not_fit(asked) -> None:
    answer = asked(*FULL, "--accelerator", "B200")
    best = answer["options"][0]
    assert best["fit_chance"] < SURELY
    sure = cheapest_sure(answer, most_hours=5 * campaign_hours(best))
    assert suggested(answer, "Surely fits") == f"Surely fits: {told(sure)}"


def test_more_nodes_are_suggested_where_one_is_too_small(asked) -> None:
    answer = asked(*TOO_SMALL)
    assert all(option["fits"] is False for option in answer["options"])
    twice = asked(*TOO_SMALL[:-1], "16")
    best = next(option for option in twice["options"] if option["payable"] > 0)
    assert best["fits"] is True
    assert answer["headline"][1] == f"2 nodes fit: {told(best)}."
    assert suggested(answer, "To ask for ") == f"To ask for {best['display_name']}: --gpus 16"


def test_a_setup_is_suggested_that_surely_fits_where_the_usual_one_does_not(asked) -> None:
    best = cheapest_sure(asked(*TOO_SMALL, "--offload", "optimizer"))
    note = suggested(asked(*TOO_SMALL), "With the optimizer in the host's memory")
    assert note.endswith(f" (--offload optimizer): {told(best)}")


def test_a_setup_that_does_not_fit_is_not_suggested(asked) -> None:
    paged = asked(*TOO_SMALL, "--optimizer", "paged-adamw")["options"]
    assert {option["fits"] for option in paged} == {False}
    assert not [note for note in asked(*TOO_SMALL)["notes"] if note.startswith("With a paged optimizer")]


def test_a_named_offer_that_is_too_small_is_asked_for_in_more_nodes(asked) -> None:
    answer = asked("ask", "llama3-70b", "--tokens", "1e8", "--on", "nebius/gpu-h100-sxm_8gpu")
    assert answer["headline"][1].startswith("2 nodes fit: 2x Nebius, 16x H100, ")
    assert suggested(answer, "To ask for ") == "To ask for 2x Nebius, 16x H100: nodes: 2 in a plan"


def test_one_card_is_suggested_where_eight_were_asked_for(asked) -> None:
    eight = ("find", "llama3-8b", "--method", "lora", "--tokens", "35e6", "--accelerator", "H100", "--firm")
    note = suggested(asked(*eight, "--gpus", "8"), "One card is enough")
    best = cheapest_sure(asked(*eight, "--gpus", "1"))
    assert note.startswith(f"One card is enough: {told(best)} instead of ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--optimizer", "adamw", "--offload", "none"), id="the setup is stated"),
        pytest.param(("--method", "lora"), id="adapters have few states"),
    ],
)
def test_no_setup_is_suggested_where_none_is_open(asked, words) -> None:
    notes = asked("find", "llama3-8b", "--tokens", "1e8", "--accelerator", "H100", *words)["notes"]
    assert [note for note in notes if note.startswith("With ")] == []


def test_nothing_is_suggested_to_one_card_that_surely_holds_all(asked) -> None:
    answer = asked("find", "gpt-305m", "--tokens", "1e8", "--gpus", "1", "--accelerator", "H100", "--firm")
    assert answer["options"][0]["fit_chance"] is None or answer["options"][0]["fit_chance"] >= SURELY
    assert [note for note in answer["notes"] if note.startswith(("With ", "One card", "Surely"))] == []
