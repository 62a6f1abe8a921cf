"""Filters of `planner find`, and input that is refused."""

from __future__ import annotations

import pytest

LORA = ("llama3-8b", "--method", "lora", "--tokens", "35e6")


@pytest.mark.parametrize(
    ("filters", "holds"),
    [
        (("--provider", "lambda"), lambda option: option["offer"].startswith("lambda/")),
        (("--gpus", "8"), lambda option: option["accelerators"] == 8),
        (("--max-usd-per-hour", "3"), lambda option: option["usd_per_hour"]["value"] <= 3),
        (("--spot",), lambda option: option["firm"] is False),
        (("--firm",), lambda option: option["firm"] is True),
        (("--region", "us-east-1"), lambda option: option["region"] == "us-east-1"),
        (("--accelerator", "A100 80GB SXM", "--accelerator", "h200"),
         lambda option: option["accelerator"] in ("A100-80GB-SXM", "H200-SXM")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_filters_hold_of_all_that_is_rented(planner, filters, holds) -> None:
    rented = [
        option for option in planner("find", *LORA, *filters, "--json").document["options"] if option["hold"] == "rent"
    ]
    assert rented
    assert all(holds(option) for option in rented)


def test_h100_stands_for_all_forms_of_it_and_eu_for_the_regions_of_every_cloud(planner) -> None:
    """Nebius's eu-north1 is in Finland; no machine of AWS there has a bundled price on demand.

    Verda's, in Finland too, is passed over: 28.44 USD of September is under the next one's 36 by more than 1.21.
    """
    answer = planner("find", "llama3-8b", "--accelerator", "H100", "--gpus", "8", "--region", "eu", "--firm", "--json")
    assert {option["offer"] for option in answer.document["options"]} == {"nebius/gpu-h100-sxm_8gpu"}
    cards = planner("find", *LORA, "--accelerator", "H100", "--gpus", "1", "--firm", "--json").document["options"]
    assert {card["offer"].rpartition("-")[2] for card in cards} > {"pcie", "nvl"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("llama3-8b", "--accelerator", "H200-SMX"), "Did you mean"),
        (("llama3-8b", "--gpus", "0"), "gpus"),
        (("llama3-8b", "--max-usd-per-hour", "-1"), "max_usd_per_hour"),
        (("llama3-8b", "--max-usd-per-hour", "nan"), "'nan' is not a valid float"),
        (("llama3-8b", "--tokens", "inf"), "is not a number. Write 50B"),
        (("llama3-8b", "--gpus", "1" + "0" * 20), "gpus"),
        (("llama3-8b", "--spot", "--provider", "lambda"), "have no such machine"),
        (("llama3-8b", "--gpus", "3"), "have no such machine"),
        (("llama3-8b", "--max-usd-per-hour", "0"), "max_usd_per_hour"),
        (("llama3-8b", "--available", "--provider", "azure"), "nothing is left"),
        (("llama3-8b", "--available", "--provider", "azure"), "Only some sources say what is to be had"),
        (("llama3-8b", "--provider", "lambda", "--region", "us-eats-1"), "Did you mean"),
        (("resnet50", "--tokens", "5"), "--tokens"),
        (("no-such-workload",), "no-such-workload"),
    ],
    ids=" ".join,
)
def test_wrong_input_is_refused(planner, arguments, said) -> None:
    answer = planner("find", *arguments)
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize(
    ("options", "said"),
    [({"providr": "aws"}, "providr"), ("automatic", "options"), ([], "options"), ({"gpus": 0}, "gpus")],
    ids=str,
)
def test_wrong_filters_of_a_plan_are_refused(planner, plan_path, options, said) -> None:
    answer = planner("compare", plan_path(options))
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize(("name", "said"), [("AWS", "Did you mean aws?"), ("amazon", "Known: "), ("lamda", "lambda")])
def test_a_provider_by_another_name_is_refused_with_ours(planner, name, said) -> None:
    answer = planner("find", *LORA, "--provider", name)
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize("gbit", ["0", "-1", "nan"])
def test_a_network_that_is_no_rate_is_refused(planner, gbit) -> None:
    answer = planner("find", *LORA, "--network", gbit)
    assert answer.code == 2
    assert "network" in answer.err
