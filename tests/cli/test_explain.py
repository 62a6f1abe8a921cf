"""`planner explain` from the command line."""

from __future__ import annotations

import re

import pytest

BOOK = """schema_version: 1
as_of: 2026-11-01
credits:
  - {name: startup, provider: aws, usd: 1000000, expires: 2099-01-01, source: letter}
"""


@pytest.mark.usefixtures("owner")
def test_one_option_as_a_document(planner, example):
    answer = planner("explain", example("rtx3090_cluster"), "--option", "rtx3090-x10:ddp", "--json")
    assert answer.code == 0
    document = answer.document
    assert (document["schema_version"], document["kind"]) == (1, "explanation")
    (option,) = document["options"]
    assert option["throughput"]["value"] == 47.9
    assert option["runs"][0]["id"] == "seed-003-rtx3090-ddp-x10"
    assert option["parts"]
    assert option["nearest"]


def test_all_options_as_text(planner, example):
    answer = planner("explain", example("local_pc"), "--all")
    assert answer.code == 0
    assert answer.out.count("\n== ") == 5
    assert "Where the hours of one training go" in answer.out


def test_it_begins_with_the_answer_that_compare_gives(planner, example):
    """Days, chances, cost and bill stand before the speed; the numbers are those of the comparison of the same day."""
    plan = example("dgx_station_v100")
    compared = planner("compare", plan, "--json").document
    explained = planner("explain", plan, "--json").document
    assert {option["id"]: option["answer"] for option in explained["options"]} == {
        option["id"]: option for option in compared["options"]
    }
    assert (explained["recommended"], explained["confidence"]) == (compared["recommended"], compared["confidence"])
    first = planner("explain", plan, "--option", "1").out.splitlines()
    assert first[3] == "Recommended."
    names = [line.split("  ")[1] for line in first if re.match(r"  \S", line)]
    assert names[:6] == ["done by", "hours", "chance", "cost", "at most", "bill"]
    bought = planner("explain", plan, "--option", "8").out
    assert bought.splitlines()[3].startswith("Not recommended: ")
    assert "  pay now   34,700 USD" in bought
    assert re.search(r"\n  left +[\d,]+ USD .* by the end, if it is sold\n", bought)


def test_a_mix_is_named_and_its_parts_add_up_to_it(planner, example):
    """An option that takes part, the best one alone, and the sum of the plan of `campaign`."""
    plan = example("campaign_mix")
    placements = planner("campaign", plan, "--json").document["placements"]
    explained = planner("explain", plan).out
    for placed in placements:
        assert f"  {placed['name']}: {placed['runs']} trainings, " in explained
    whole = planner("campaign", plan, "--json").document["campaign_usd"]["value"]
    assert f"  together: {whole:,.0f} USD\n" in explained
    for placed in placements:
        shown = planner("explain", plan, "--option", placed["option"]).out
        assert f"Part of the recommended mix: {placed['runs']} trainings." in shown
    assert "Recommended." not in planner("explain", plan, "--all").out


def test_a_run_that_decides_nothing_is_named_with_the_reason(planner, example):
    plan = example("p5e_vs_a100")
    compared = planner("compare", plan, "--json").document
    told = "run seed-004-onprem-a100 decides nothing: the audit finds it impossible: planner audit seed-004-onprem-a100"
    assert told in compared["notes"]
    said = planner("explain", plan, "--option", "onprem-a100-40gb:4n").out
    assert f"Note: {told}" in " ".join(said.split())


def test_the_price_book_stands_in_an_explanation_as_in_the_comparison(planner, changed, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    plan = changed("gpu_guide_llama3_8b", {"options": [{"offer": "aws/p5.48xlarge", "region": "us-east-1"}]})
    (home / "price_book.yaml").write_text(BOOK)
    net = planner("explain", plan, "--with-price-book", "--home", home, "--json").document["options"][0]["answer"]
    assert net["to_pay_usd"]["value"] == 0
    said = planner("explain", plan, "--with-price-book", "--home", home).out
    assert "  to pay    0.00 USD" in said
    screen = planner("compare", plan, "--with-price-book", "--home", home, "--format", "table").out
    assert f"planner explain {plan} --home {home} --with-price-book" in " ".join(screen.split())
    assert "to pay" not in planner("explain", plan, "--home", home).out


def test_a_wrong_option_is_told_of_the_right_ones(planner, example):
    answer = planner("explain", example("local_pc"), "--option", "pc-rtx409", "--json")
    assert answer.code == 2
    assert "pc-rtx4090" in answer.err


def test_a_row_of_the_comparison_stands_for_its_option(planner, example):
    compared = planner("compare", example("local_pc"), "--json").document["options"]
    for row in (1, 5):
        (option,) = planner("explain", example("local_pc"), "--option", str(row), "--json").document["options"]
        assert option["id"] == compared[row - 1]["id"]


def test_a_row_that_the_comparison_does_not_have(planner, example):
    for row in ("0", "6"):
        answer = planner("explain", example("local_pc"), "--option", row)
        assert answer.code == 2
        assert f"--option {row}: the plan has 5 options." in answer.err


SERVICE = {"offer": "ori/lora-up-to-10b", "price": "hosted_training"}
SERVICE_ID = "ori/lora-up-to-10b:any:hosted_training"


def test_a_service_is_named_and_has_no_speed(planner, changed):
    plan = changed("gpu_guide_llama3_8b", {"options": [SERVICE, SERVICE | {"training_hours": 3.0}]})
    answer = planner("explain", plan, "--all")
    assert answer.out.count("\n== ") == 2
    assert answer.out.count("No speed is known: ") == 2
    assert "None" not in answer.out
    (option,) = planner("explain", plan, "--option", SERVICE_ID, "--json").document["options"]
    assert (option["throughput"], option["time"]) == (None, None)
    assert "the service does not say" in option["why_not"]


def test_a_speed_whose_training_never_ends_says_so(planner, changed):
    plan = changed("gpu_guide_llama3_8b", {"goodput": {"gpu_hours_per_failure": 1e-3}})
    assert "would not get on" in planner("explain", plan).out


def test_the_host_of_a_machine_stands_there_where_it_is_known(planner, tmp_path):
    """2 TiB, 192 vCPU, 8 disks of 3,800 GB: AWS's table of instance sizes. CoreWeave's V100 has none."""
    path = tmp_path / "hosts.yaml"
    path.write_text(
        "schema_version: 1\nname: hosts\nworkload: {ref: llama3-8b}\nwork: {tokens: 1.0e+9}\n"
        "options: [{offer: aws/p5.48xlarge}, {offer: coreweave/1x-v100-sxm2-16gb}]\n",
        encoding="utf-8",
    )
    ours, theirs = planner("explain", path, "--json").document["options"]
    assert ours["host"] == "2,048 GiB of memory, 192 vCPU, 30,400 GB of local disks"
    assert theirs["host"] is None
