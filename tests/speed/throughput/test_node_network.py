"""Speed over several nodes, which needs a network from the catalog, the plan, or a measurement."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import Strategy
from planner.model.quantity import Basis
from planner.scenario.job import Job
from planner.speed.throughput.fastest_strategy import fastest
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction
from planner.speed.throughput.speed import Speed, speed
from tests.speed.throughput.asking import asked

POD = {"offer": "runpod/8x-h100-sxm", "usd_per_hour": 1.0, "nodes": 2}
"""Pods of eight H100 behind an NVSwitch. RunPod joins pods only in Instant Clusters, which are another offer."""
P5 = {"offer": "aws/p5.48xlarge", "usd_per_hour": 1.0, "nodes": 2}
"""Nodes with the same accelerators, and 3,200 Gbit/s of EFA by AWS's own list."""
LLAMA = {"workload": {"ref": "llama3-8b"}, "training": {"precision": "bf16", "strategy": "fsdp2"}}


def answered(catalog: Catalog, option: dict[str, Any], **changes: Any) -> Speed:
    job, candidate = asked(catalog, option, **(LLAMA | changes))
    return fastest(job, candidate, catalog)[1]


def rate(catalog: Catalog, option: dict[str, Any], **changes: Any) -> float:
    answer = answered(catalog, option, **changes)
    assert answer.samples_per_s is not None, answer.problems
    return answer.samples_per_s.value


def test_two_nodes_of_an_unstated_network_have_no_speed_and_fit_all_the_same(catalog: Catalog) -> None:
    answer = answered(catalog, POD)
    assert answer.samples_per_s is None
    assert answer.known_from is None
    assert [reason.code for reason in answer.problems] == [ReasonCode.NODE_NETWORK_NOT_KNOWN]
    assert answer.problems[0].text.startswith("the provider sells it as single nodes only; if yours are joined, state")
    assert answer.fit == answered(catalog, P5).fit
    assert answer.fit.fits is True


def test_no_division_is_searched_for_where_none_could_be_timed(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network fits undivided, and the missing speed of the nodes' network is missing for divided layouts too."""
    searched: list[str] = []
    monkeypatch.setattr(
        "planner.speed.throughput.fastest_strategy.layouts", lambda _, candidate, __: searched.append(candidate.id)
    )
    left_open = {"training": {"precision": "bf16"}}
    answer = answered(catalog, POD, **left_open)
    assert [reason.code for reason in answer.problems] == [ReasonCode.NODE_NETWORK_NOT_KNOWN]
    assert searched == []
    too_large = left_open | {"workload": {"ref": "llama3-70b"}}
    assert answered(catalog, POD | {"nodes": 1}, **too_large).samples_per_s is None
    assert len(searched) == 1


def test_a_stated_network_gives_the_speed_of_the_same_machine_with_that_network(catalog: Catalog) -> None:
    assert rate(catalog, POD | {"network_gbit_per_s": 3200.0}) == rate(catalog, P5)


def test_a_slower_network_is_slower_and_comes_before_the_catalogs(catalog: Catalog) -> None:
    rates = [rate(catalog, P5 | {"network_gbit_per_s": gbit}) for gbit in (10.0, 100.0, 400.0, 3200.0)]
    assert rates == sorted(rates)
    assert rates[0] < 0.5 * rate(catalog, P5)
    assert (
        "10 Gbit/s between nodes, of each: the plan's word"
        in answered(catalog, P5 | {"network_gbit_per_s": 10.0}).notes
    )


def test_one_node_is_never_asked_for_its_network(catalog: Catalog) -> None:
    """Whatever else keeps a bundled machine from an answer; and stating a network changes none."""
    silent = [node for node in catalog.nodes.values() if node.network_gbit_per_s is None]
    assert len(silent) > 100
    for node in silent:
        job, candidate = asked(catalog, {"offer": node.id, "usd_per_hour": 1.0}, **LLAMA)
        codes = [reason.code for reason in speed(job, candidate, catalog).problems]
        assert ReasonCode.NODE_NETWORK_NOT_KNOWN not in codes, node.id
    alone = POD | {"nodes": 1}
    assert rate(catalog, alone | {"network_gbit_per_s": 1.0}) == rate(catalog, alone)


def test_a_step_of_the_plan_s_own_and_its_own_mfu_answer(catalog: Catalog) -> None:
    step = {"batch": 64, "seconds": 0.5, "basis": "measured"}
    assert rate(catalog, POD | {"step": step}) == 128
    assert rate(catalog, POD, assumptions={"mfu": 0.4}) == rate(catalog, P5, assumptions={"mfu": 0.4})


def run_on(catalog: Catalog, node: str, *, nodes: int, samples_per_s: float, **changes: Any) -> RunRecord:
    return RunRecord.model_validate(
        {
            "schema_version": 1,
            "id": "mine",
            "workload": "llama3-8b",
            "architecture": catalog.presets["llama3-8b"].architecture.model_dump(),
            "seq_len": catalog.presets["llama3-8b"].seq_len,
            "hardware": {"accelerator": "H100-SXM", "accelerators_per_node": 8, "nodes": nodes, "node": node},
            "strategy": "fsdp2",
            "precision": "bf16",
            "micro_batch": 1,
            "global_batch": 8 * nodes,
            "throughput": {
                "value": samples_per_s, "low": samples_per_s, "high": samples_per_s, "unit": "samples/s",
                "basis": "measured", "source": "timed here", "as_of": "2026-11-01",
            },
        }
        | changes
    )  # fmt: skip


def test_a_run_on_several_nodes_of_that_machine_answers_for_itself_and_for_more_nodes(catalog: Catalog) -> None:
    node = POD["offer"]
    assert isinstance(node, str)
    seeing = catalog.model_copy(update={"runs": {"mine": run_on(catalog, node, nodes=2, samples_per_s=12.0)}})
    measured = answered(seeing, POD)
    assert measured.basis is Basis.MEASURED
    assert measured.known_from == "measured (your run mine)"
    assert rate(seeing, POD) == 12.0
    four = rate(seeing, POD | {"nodes": 4})
    assert 12.0 < four <= 2 * 12.0 * 1.1


@pytest.mark.parametrize(
    ("node", "changes"),
    [
        pytest.param("runpod/8x-h100-sxm", {"verdict": ("throttled",)}, id="found wrong"),
        pytest.param("aws/p5.48xlarge", {}, id="on another machine"),
    ],
)
def test_other_runs_do_not_make_a_network_known(catalog: Catalog, node: str, changes: dict[str, Any]) -> None:
    run = run_on(catalog, node, nodes=4, samples_per_s=12.0, **changes)
    seeing = catalog.model_copy(update={"runs": {"mine": run}})
    assert answered(seeing, POD).problems[0].code is ReasonCode.NODE_NETWORK_NOT_KNOWN


def test_a_run_over_a_network_that_nobody_states_says_nothing_of_one_node(catalog: Catalog) -> None:
    """Two nodes over office Ethernet, at a hundredth of their speed, are no slow H100s."""
    node = POD["offer"]
    assert isinstance(node, str)
    slow = catalog.model_copy(update={"runs": {"mine": run_on(catalog, node, nodes=2, samples_per_s=0.2)}})
    blind = catalog.model_copy(update={"runs": {}})
    assert rate(slow, POD | {"nodes": 1}) == rate(blind, POD | {"nodes": 1})


def test_nodes_of_one_rack_need_no_network_until_they_fill_it(catalog: Catalog) -> None:
    """72 GB200 share one NVLink switch: 18 nodes of four."""
    rack = {"offer": "coreweave/gb200-4x", "usd_per_hour": 1.0}
    assert catalog.nodes["coreweave/gb200-4x"].network_gbit_per_s is None
    assert rate(catalog, rack | {"nodes": 18}) > rate(catalog, rack | {"nodes": 2})
    assert answered(catalog, rack | {"nodes": 19}).problems[0].code is ReasonCode.NODE_NETWORK_NOT_KNOWN


def test_single_cards_of_a_marketplace_are_no_rack(catalog: Catalog) -> None:
    cards = {"offer": "verda/1x-gb300", "usd_per_hour": 1.0, "nodes": 2}
    assert answered(catalog, cards).problems[0].code is ReasonCode.NODE_NETWORK_NOT_KNOWN


def test_a_network_that_fits_divided_alone_lacks_the_network_not_the_memory(catalog: Catalog) -> None:
    """70 billion parameters x 16 bytes of states on 16 H100 of 80 GiB are 66 GiB each, without activations."""
    large = catalog.presets["llama3-8b"].architecture.model_dump() | {"layers": 80, "hidden": 8192, "heads": 64}
    workload = {"architecture": large | {"ffn_hidden": 28672}, "seq_len": 8192}
    assert answered(catalog, P5, workload=workload).fit.fits is False
    auto = {"workload": workload, "training": {"precision": "bf16", "strategy": "auto"}}
    assert answered(catalog, P5, **auto).fit.fits is True
    answer = answered(catalog, POD, **auto)
    assert answer.fit.fits is True
    assert [reason.code for reason in answer.problems] == [ReasonCode.NODE_NETWORK_NOT_KNOWN]


def test_images_are_refused_alike(catalog: Catalog) -> None:
    images = {"workload": {"ref": "resnet50"}, "training": {"precision": "fp16", "micro_batch": 64}}
    assert answered(catalog, POD, **images).problems[0].code is ReasonCode.NODE_NETWORK_NOT_KNOWN
    assert rate(catalog, POD | {"network_gbit_per_s": 100.0}, **images) > rate(catalog, POD | {"nodes": 1}, **images)


def test_a_bare_step_is_not_scaled_over_it_either(catalog: Catalog) -> None:
    """The station's run has no network, so ratios answer, with one share of linear scaling for all nodes."""
    bare = {"workload": {"measured": "seed-000-dgx-station-v100"}, "training": {"strategy": Strategy.DDP}}
    job, candidate = asked(catalog, POD, **bare)
    assert isinstance(job, Job)
    assert job.setup.network is None
    assert speed(job, candidate, catalog).problems[0].code is ReasonCode.NODE_NETWORK_NOT_KNOWN
    job, candidate = asked(catalog, P5, **bare)
    assert isinstance(predict(job, candidate, catalog), Prediction)


ASSUMED = {"offer": "lambda/gpu_8x_h100_sxm5", "usd_per_hour": 1.0, "nodes": 2}
"""Nodes of eight H100 whose catalog row assumes 32 Gbit/s between nodes, with a range of 10 to 100."""


def test_an_assumed_network_gives_the_speed_of_the_likeliest_and_a_range_that_holds_both_ends(catalog: Catalog) -> None:
    answer = answered(catalog, ASSUMED)
    known = answered(catalog, ASSUMED | {"network_gbit_per_s": 32.0})
    slowest, fastest_one = (rate(catalog, ASSUMED | {"network_gbit_per_s": gbit}) for gbit in (10.0, 100.0))
    assert answer.samples_per_s is not None
    assert known.samples_per_s is not None
    assert answer.samples_per_s.value == known.samples_per_s.value
    assert slowest < answer.samples_per_s.value < fastest_one
    assert answer.samples_per_s.low < min(slowest, known.samples_per_s.low)
    assert answer.samples_per_s.high > max(fastest_one, known.samples_per_s.high)
    assert any("32 Gbit/s between nodes, of each: 10 to 100 assumed" in note for note in answer.notes)


def test_a_stated_network_narrows_the_range_of_an_assumed_one(catalog: Catalog) -> None:
    stated = answered(catalog, ASSUMED | {"network_gbit_per_s": 3200.0})
    published = answered(catalog, P5)
    assert stated.samples_per_s == published.samples_per_s
    assert not any("assumed" in note for note in stated.notes)


def test_a_range_of_the_network_does_not_touch_one_node(catalog: Catalog) -> None:
    alone = answered(catalog, ASSUMED | {"nodes": 1})
    assert alone.samples_per_s == answered(catalog, POD | {"nodes": 1}).samples_per_s
