"""Clusters of several nodes: their networks with sources, assumed or stated."""

from __future__ import annotations

import re

import pytest

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
