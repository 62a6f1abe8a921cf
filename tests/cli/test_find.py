"""`planner find` and `options: auto`: what is offered, filtered, timed and ranked; the rest is counted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.bundled import bundled_catalog

LORA = ("llama3-8b", "--method", "lora", "--tokens", "35e6")
FITTED = {
    "schema_version": 1,
    "name": "fitted",
    "workload": {"ref": "llama3-8b"},
    "work": {"tokens": 35e6},
    "training": {"precision": "bf16", "adapters": {"rank": 16}},
}
WORKSTATION = {
    "schema_version": 1, "id": "our-workstation", "name": "Our workstation", "node": "rtx-pro-6000-x4",
    "power": {"value": 2.2, "low": 2.2, "high": 2.2, "unit": "kW", "basis": "measured", "source": "our meter",
              "as_of": "2026-11-01"},
    "source": "us", "as_of": "2026-11-01",
}  # fmt: skip


def kinds_of(document) -> set[str]:
    return {
        "buy" if option["hold"] == "buy" else "spot" if option["firm"] is False else f"{min(option['nodes'], 2)} firm"
        for option in document["options"]
        if option["hold"] != "have"
    }


def counted(document) -> tuple[int, int, int]:
    """Return how many are shown, how many there are, and the sum of the reasons' counts."""
    [note] = [note for note in document["notes"] if note.startswith("Found: ")]
    shown, total = re.match(r"Found: ([\d,]+) of ([\d,]+) ", note).groups()
    reasons = re.findall(
        r"([\d,]+) (?:more expensive|do not|without|sold|not known|no longer|with an|with a price|on which|on more"
        r"|on the|Capacity)",
        note.partition("Left out")[2],
    )
    numbers = [int(text.replace(",", "")) for text in (shown, total, *reasons)]
    return numbers[0], numbers[1], sum(numbers[2:])


@pytest.fixture(scope="module")
def plan_path(tmp_path_factory):
    def write(options, **more) -> Path:
        path = tmp_path_factory.mktemp("plans") / "plan.yaml"
        path.write_text(yaml.safe_dump(FITTED | {"options": options} | more, sort_keys=False), encoding="utf-8")
        return path

    return write


@pytest.mark.slow
def test_a_workload_alone_finds_a_dozen_of_every_kind(planner) -> None:
    answer = planner("find", *LORA, "--json")
    assert answer.code == 0
    document = answer.document
    assert len(document["options"]) == 12
    assert kinds_of(document) == {"1 firm", "2 firm", "spot", "buy"}
    shown, total, others = counted(document)
    assert shown == 12
    assert shown + others == total
    assert "llama3-8b, 35 million tokens" in document["plan"]


@pytest.mark.slow
def test_the_first_is_the_first_of_all_listed_by_hand(planner, plan_path) -> None:
    """The second method: every firm offer of H100 SXM, alone and as 2, 4, 8 and 16 nodes, in a plan of its own."""
    catalog = bundled_catalog()
    offers = {
        row.node
        for row in catalog.prices
        if row.price_kind == "on_demand" and row.usd_per_hour is not None and row.node in catalog.nodes
    }
    nodes = [catalog.nodes[name] for name in sorted(offers) if catalog.nodes[name].accelerator == "H100-SXM"]
    listed = [
        {"offer": node.id, "nodes": count}
        for node in nodes
        for count in ((1, 2, 4, 8, 16) if node.accelerators >= 8 and node.network_gbit_per_s else (1,))
    ]
    assert len(listed) > 20
    by_hand = planner("compare", plan_path(listed), "--json").document["options"]
    found = planner("find", *LORA, "--accelerator", "H100 SXM5", "--firm", "--json").document
    ordered = [option["id"] for option in by_hand if not much_cheaper_than_all_others(option, by_hand)]
    assert len(ordered) > 20
    assert found["recommended"] == ordered[0]
    firm = [option["id"] for option in found["options"] if option["hold"] == "rent"]
    assert firm[:2] == ordered[:2]


def much_cheaper_than_all_others(option: dict[str, Any], options: list[dict[str, Any]]) -> bool:
    """Return whether an old price is below all others by more than such prices move: find passes it over."""

    def usd(option: dict[str, Any]) -> float:
        return option["usd_per_hour"]["value"] * option["nodes"] / option["accelerators"]

    def provider(option: dict[str, Any]) -> str:
        return option["offer"].partition("/")[0]

    priced = [option for option in options if option["usd_per_hour"] is not None]
    others = [usd(other) for other in priced if provider(other) != provider(option)]
    return option in priced and option["price_stale"] and 1.21 * usd(option) < min(others)


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


@pytest.mark.slow
def test_a_machine_of_the_workspace_is_among_them_and_examples_are_nobody_s(planner, tmp_path) -> None:
    folder = tmp_path / "home" / "sites"
    folder.mkdir(parents=True)
    (folder / "our-workstation.yaml").write_text(yaml.safe_dump(WORKSTATION), encoding="utf-8")
    document = planner("find", *LORA, "--json", "--home", tmp_path / "home").document
    assert [option["site"] for option in document["options"] if option["hold"] == "have"] == ["our-workstation"]


@pytest.mark.slow
def test_nothing_over_a_network_that_nobody_states(planner) -> None:
    catalog = bundled_catalog()
    for option in planner("find", *LORA, "--gpus", "16", "--firm", "--json").document["options"]:
        if option["nodes"] > 1 and option["offer"]:
            node = catalog.nodes[option["offer"]]
            assert node.network_gbit_per_s is not None or node.accelerator.endswith("-per-GPU"), "racks have NVLink"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["estimate", "campaign", "compare", "explain"])
def test_a_plan_may_leave_its_options_to_the_planner(planner, plan_path, command) -> None:
    path = plan_path({"accelerator": "L40S", "terms": "firm"})
    answer = planner(command, path, "--json")
    assert answer.code == 0
    rented = {option["accelerator"] for option in answer.document["options"] if option.get("offer")}
    assert rented <= {"L40S"}
    assert answer.document["options"]


@pytest.mark.slow
def test_the_plan_s_limits_hold_and_auto_alone_is_enough(planner, plan_path) -> None:
    path = plan_path("auto", limits={"spot": "never", "providers": {"allow": ["aws", "lambda"]}})
    document = planner("compare", path, "--json").document
    offers = [option for option in document["options"] if option["offer"]]
    assert {offer["offer"].split("/")[0] for offer in offers} == {"aws", "lambda"}
    assert all(offer["firm"] for offer in offers)


@pytest.mark.slow
def test_a_lock_holds_the_options_that_were_found(planner, plan_path) -> None:
    path = plan_path({"provider": "lambda"})
    now = planner("compare", path, "--json").document
    assert planner("estimate", path, "--freeze", "--json").code == 0
    frozen = planner("compare", path, "--locked", "--json")
    assert frozen.code == 0, frozen.err
    assert [option["id"] for option in frozen.document["options"]] == [option["id"] for option in now["options"]]
    assert planner("diff", path.with_name("plan.lock.json"), path.with_name("plan.lock.json")).code == 0


@pytest.mark.slow
def test_the_answer_can_be_gone_on_from(planner, tmp_path) -> None:
    path = tmp_path / "found.yaml"
    found = planner("find", *LORA, "--firm", "--write", path, "--json").document
    assert planner("compare", path, "--json").document["recommended"] == found["recommended"]
    again = planner("find", *LORA, "--firm", "--write", path)
    assert again.code == 2
    assert "exists already" in again.err


def test_images_are_found_machines_for_too(planner) -> None:
    answer = planner("find", "resnet50", "--gpus", "1", "--firm", "--json")
    assert answer.code == 0
    assert answer.document["plan"] == "resnet50, ImageNet once"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("llama3-8b", "--accelerator", "H200-SMX"), "Did you mean"),
        (("llama3-8b", "--gpus", "0"), "gpus"),
        (("llama3-8b", "--max-usd-per-hour", "-1"), "max_usd_per_hour"),
        (("llama3-8b", "--max-usd-per-hour", "nan"), "'nan' is not a valid float"),
        (("llama3-8b", "--tokens", "inf"), "is no number. Write 50B"),
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


def test_h100_stands_for_all_forms_of_it_and_eu_for_the_regions_of_every_cloud(planner) -> None:
    """Nebius's eu-north1 is in Finland; no machine of AWS there has a bundled price on demand.

    Verda's, in Finland too, is passed over: 28.44 USD of September is under the next one's 36 by more than 1.21.
    """
    answer = planner("find", "llama3-8b", "--accelerator", "H100", "--gpus", "8", "--region", "eu", "--firm", "--json")
    assert {option["offer"] for option in answer.document["options"]} == {"nebius/gpu-h100-sxm_8gpu"}
    cards = planner("find", *LORA, "--accelerator", "H100", "--gpus", "1", "--firm", "--json").document["options"]
    assert {card["offer"].rpartition("-")[2] for card in cards} > {"pcie", "nvl"}


def test_an_old_price_that_no_second_provider_asks_is_passed_over(planner) -> None:
    """GPUhub's RTX 5090 at 0.38 USD of May; the next asks 0.60. Asked for by name, it is shown."""
    job = (*LORA, "--lora-frozen", "nf4", "--accelerator", "RTX-5090", "--firm", "--json")
    offers = {option["offer"] for option in planner("find", *job).document["options"]}
    assert offers
    assert "gpuhub/1x-rtx-5090" not in offers
    answer = planner("find", *job, "--provider", "gpuhub")
    assert [option["offer"] for option in answer.document["options"]] == ["gpuhub/1x-rtx-5090"]


@pytest.mark.slow
def test_machines_to_rent_are_found_where_a_network_fits_only_divided(planner) -> None:
    """Samples of 131,072 tokens of a 70B network: no device holds one undivided."""
    answer = planner("find", "llama-3-70b", "--tokens", "35e6", "--seq-len", "131072", "--json")
    assert answer.code == 0
    rented = [option for option in answer.document["options"] if option["hold"] == "rent" and option["fits"]]
    assert len(rented) >= 2
    assert all(option["split"] for option in rented)
    shown, total, reasons = counted(answer.document)
    assert shown + reasons == total


def test_a_capacity_block_is_among_the_firm_ones_where_its_days_are_used(planner) -> None:
    """Some nine days on p5 are bought as the block that holds them with 4 in 5, and not shown where it is a day."""
    wanted = ("--provider", "aws", "--accelerator", "H100-SXM", "--gpus", "8", "--firm", "--json")
    long = planner("find", "llama3-8b", "--tokens", "30e9", *wanted).document["options"]
    [block] = [
        option for option in long if option["price_kind"] == "capacity_block" and option["offer"] == "aws/p5.48xlarge"
    ]
    assert (block["firm"], block["display_name"]) == (True, "AWS p5 block, 8x H100")
    hours = sum(line["quantity"] for line in block["bill"]["lines"] if line["quantity_unit"] == "node-h")
    work = block["campaign_hours"]
    surely = work["value"] * (work["high"] / work["value"]) ** (0.8416 / 1.645)
    sold = [24 * days for days in (*range(1, 15), 21, 28)]
    assert hours == pytest.approx(next(length for length in sold if length >= surely + 0.5))
    assert block["bill"]["usd_upfront"] == pytest.approx(hours * 47.76, abs=0.01)
    short = planner("find", *LORA, *wanted).document["options"]
    best = min(short, key=lambda option: option["campaign_usd"]["value"])
    assert best["price_kind"] == "on_demand"


@pytest.mark.slow
def test_what_takes_other_software_is_shown_where_it_is_named(planner) -> None:
    """Trainium is rented by the block alone."""
    everything = planner("find", "llama3-8b", "--tokens", "30e9", "--provider", "aws", "--json").document
    assert not any("Trainium" in option["accelerator"] for option in everything["options"])
    assert any("2 on which PyTorch does not run as it is" in note for note in everything["notes"])
    named = planner("find", "llama3-8b", "--tokens", "30e9", "--accelerator", "trainium2", "--json").document
    assert {option["accelerator"] for option in named["options"]} == {"Trainium2"}


def test_a_block_is_left_out_where_most_of_it_would_be_unused(planner) -> None:
    """An hour of work: the day that a block lasts would be unused, whatever else is known to be joined."""
    document = planner("find", *LORA, "--provider", "aws", "--firm", "--json").document
    assert not any(option["price_kind"] == "capacity_block" for option in document["options"])
    assert any("Capacity Blocks of which the work uses less than half" in note for note in document["notes"])


def test_where_blocks_alone_are_to_be_had_an_idle_one_is_no_answer(planner) -> None:
    """P5e in Stockholm is sold by the block alone: a quarter of an hour's work would pay for a day of eight H200."""
    asked = ("--tokens", "1e6", "--provider", "aws", "--region", "eu-north-1", "--gpus", "8", "--firm")
    answer = planner("find", "llama3-8b", *asked)
    assert answer.code == 2
    assert "Capacity Blocks of which the work uses less than half" in answer.err
    assert " -" not in answer.err.partition("Left out")[2]


def test_a_provider_offers_the_same_cards_once(planner) -> None:
    """Vultr lists its GH200 twice at one price: one row is enough, and no way out where it is sold out."""
    document = planner("find", *LORA, "--accelerator", "GH200", "--firm", "--json").document
    places = [option["offer"].partition("/")[0] for option in document["options"]]
    assert "vultr" in places
    assert len(places) == len(set(places))
    chosen = {option["id"]: option["offer"] for option in document["options"]}
    assert chosen[document["recommended"]].partition("/")[0] != chosen[document["next_best"]].partition("/")[0]


def test_qlora_is_lora_beside_weights_in_nf4(planner) -> None:
    both = [
        planner("find", "llama3-8b", *how, "--tokens", "35e6", "--gpus", "1", "--firm", "--json").document
        for how in (("--method", "qlora"), ("--method", "lora", "--lora-frozen", "nf4"))
    ]
    assert both[0]["options"] == both[1]["options"]
    answer = planner("find", "llama3-8b", "--method", "qlora", "--lora-frozen", "int8")
    assert answer.code == 2
    assert "--method qlora freezes weights in nf4" in answer.err


@pytest.mark.parametrize(("name", "said"), [("AWS", "Did you mean aws?"), ("amazon", "Known: "), ("lamda", "lambda")])
def test_a_provider_by_another_name_is_refused_with_ours(planner, name, said) -> None:
    answer = planner("find", *LORA, "--provider", name)
    assert answer.code == 2
    assert said in answer.err


CLUSTER = ("llama3-70b", "--tokens", "1e9", "--accelerator", "H100", "--gpus", "64")


@pytest.mark.slow
def test_a_cluster_is_found_at_six_providers_with_the_source_of_each_price_and_network(planner) -> None:
    options = planner("find", *CLUSTER, "--json").document["options"]
    ranked = [option for option in options if option["rank"] is not None]
    assert len({option["offer"].partition("/")[0] for option in ranked}) >= 6
    for option in ranked:
        assert len(option["usd_per_hour"]["source"]) > 5, option["offer"]
        assert option["network"]["gbit_per_s"] > 0, option["offer"]
        assert len(option["network"]["source"]) > 5, option["offer"]


def test_an_assumed_network_is_marked_on_its_row_and_a_stated_one_takes_its_place(planner) -> None:
    lambda_ = (*CLUSTER, "--provider", "lambda")
    assumed = planner("find", *lambda_)
    assert re.search(r"(?m)^1 RENT .*[*?]nd?\b", assumed.out)
    assert "n network between nodes assumed: 10 to 100 Gbit/s of each; set yours with --network." in " ".join(
        assumed.out.split()
    )
    stated = planner("find", *lambda_, "--network", "3200", "--json").document["options"][0]
    assert stated["network"] == {
        "gbit_per_s": 3200.0, "low_gbit_per_s": None, "high_gbit_per_s": None, "kind": None, "clusters": None,
        "source": "the plan", "as_of": None,
    }  # fmt: skip
    slow = planner("find", *lambda_, "--json").document["options"][0]
    assert stated["training_hours"]["value"] < 0.7 * slow["training_hours"]["value"]  # which is divided, to send less


def test_a_known_network_and_single_nodes_stay_what_the_catalog_says(planner) -> None:
    for provider, says in (("aws", "EFA"), ("crusoe", "Crusoe")):
        answer = planner("find", *CLUSTER, "--provider", provider, "--network", "10", "--json")
        assert all(says in option["network"]["source"] for option in answer.document["options"])
    pods = planner("find", *CLUSTER, "--provider", "runpod", "--network", "3200")
    assert pods.code != 0
    assert "1 sold as single nodes only" in pods.err


@pytest.mark.parametrize("gbit", ["0", "-1", "nan"])
def test_a_network_that_is_no_rate_is_refused(planner, gbit) -> None:
    answer = planner("find", *LORA, "--network", gbit)
    assert answer.code == 2
    assert "network" in answer.err


@pytest.mark.slow
def test_the_network_of_own_machines_is_asked_for_and_taken(planner) -> None:
    ask = ("ask", "llama3-8b", "--tokens", "1e9", "--own", "2x8xA100-80GB-PCIe", "--json")

    def own(*more):
        return next(option for option in planner(*ask, *more).document["options"] if option["hold"] == "have")

    assert "node_network_not_known" in own()["why_not_codes"]
    told = own("--network", "400")
    assert told["network"]["gbit_per_s"] == 400.0
    assert told["training_hours"]["value"] > 0


def test_the_details_name_the_source_of_each_price_and_network(planner) -> None:
    told = " ".join(planner("find", *CLUSTER, "--provider", "crusoe", "--details").out.split())
    assert "price from on_demand in any: Crusoe pricing page" in told
    assert "3,200 Gbit/s of infiniband between nodes: Crusoe documentation, managing InfiniBand networks" in told
