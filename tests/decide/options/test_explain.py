"""An explanation is arithmetic: parts add up to the step, and a run moves the answer as much as its absence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from planner.adapters.documents import read_model
from planner.adapters.workspace import examples_dir
from planner.decide.options.estimate_plan import estimate_plan
from planner.decide.options.explain import explain_plan
from planner.decide.options.step_breakdown import Published
from planner.errors import NotFoundError
from planner.model.answer.explanation import LabelEffect, OptionExplanation
from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.network.architecture import TextModel
from planner.model.network.workload import Precision, Strategy
from planner.model.plan.plan import Plan
from planner.scenario.cluster import Cluster
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.image_fit import OF_IMAGES
from planner.speed.estimator.text_estimator import OF_TEXT, fitted
from planner.speed.physics.config_arrays import from_rows
from planner.speed.physics.planned_text_config import labels_of, planned_text_config
from tests.bundled import image_rows, owned_catalog, text_rows
from tests.formula_evaluation import evaluated

RTX_3090 = read_model(Plan, examples_dir() / "rtx3090_cluster.yaml")
MODELLED, MEASURED = "rtx-pro-6000-x4:ddp", "rtx3090-x10:zero2"


def nothing(images: bool) -> Published:
    """No published evidence: it changes no estimate."""
    return Published([])


def explained(catalog: Catalog, option: str) -> OptionExplanation:
    (found,) = explain_plan(RTX_3090, catalog, nothing, option=option).options
    return found


def test_the_parts_of_a_step_add_up_to_it(catalog: Catalog) -> None:
    found = explained(catalog, MODELLED)
    assert found.step_seconds is not None
    assert sum(part.seconds for part in found.parts) == pytest.approx(found.step_seconds)
    assert sum(part.share for part in found.parts) == pytest.approx(1)


def test_the_step_is_the_throughput_turned_over(catalog: Catalog) -> None:
    found = explained(catalog, MODELLED)
    assert found.step_seconds is not None
    assert found.step_size is not None
    assert found.throughput is not None
    assert found.step_size / 512 / found.step_seconds == pytest.approx(found.throughput.value)


@pytest.mark.slow
@pytest.mark.parametrize("option", [MODELLED, MEASURED])
def test_a_run_moves_the_answer_by_what_is_missing_without_it(catalog: Catalog, option: str) -> None:
    found = explained(catalog, option)
    assert len(found.runs) >= 2
    for run in found.runs:
        others = {key: record for key, record in catalog.runs.items() if key != run.id}
        without = estimate_plan(RTX_3090, catalog.model_copy(update={"runs": others}))
        (again,) = (estimate.throughput for estimate in without.options if estimate.id == option)
        assert again is not None
        assert run.without is not None
        assert run.without.value == pytest.approx(again.value)
        assert found.throughput is not None
        assert run.change_fraction == pytest.approx(found.throughput.value / again.value - 1)


def test_runs_have_a_weight_where_physics_answers_and_none_where_they_do(catalog: Catalog) -> None:
    assert all(run.weight is not None and 0 < run.weight < 1 for run in explained(catalog, MODELLED).runs)
    assert all(run.weight is None for run in explained(owned_catalog(), MEASURED).runs)


def test_beside_a_measured_answer_stands_what_physics_says() -> None:
    found = explained(owned_catalog(), MEASURED)
    assert found.throughput is not None
    assert found.physics is not None
    assert (found.throughput.basis.value, found.physics.basis.value) == ("measured", "modelled")


def test_a_constant_s_influence_is_what_doubling_it_does_at_first(catalog: Catalog) -> None:
    """The strongest constants again, by a larger step of another size: a hundredth more."""
    assert catalog.calibration is not None
    preset, node = catalog.presets["llama3-8b"], catalog.nodes["aws/p5.48xlarge"]
    accelerator = catalog.accelerators[node.accelerator]
    assert isinstance(preset.architecture, TextModel)
    config = planned_text_config(
        TrainingSetup(
            workload="asked",
            network=preset.architecture,
            seq_len=4096,
            precision=Precision.BF16,
            checkpointing=None,
            strategy=Strategy.FSDP2,
            compiled=False,
        ),
        Cluster(accelerator, node, 1, 8),
        micro_batch=1,
        micro_batches=1,
    )
    assert not isinstance(config, Reason)
    asked = Plan.model_validate(
        {
            "schema_version": 1, "name": "one", "workload": {"ref": "llama3-8b", "seq_len": 4096},
            "work": {"tokens": 1e9}, "options": [{"offer": "aws/p5.48xlarge"}],
            "training": {"precision": "bf16", "strategy": "fsdp2", "micro_batch": 1, "checkpointing": "none"},
        }
    )  # fmt: skip
    (found,) = explain_plan(asked, catalog, nothing).options
    fit, label = fitted(catalog.calibration), [labels_of(accelerator, "llama3-8b")]
    before = OF_TEXT.log_step(fit, from_rows([config]), label)[0]
    for constant in found.constants[:3]:
        moved = replace(fit, constants=fit.constants | {constant.name: constant.value * 1.01})
        change = float((OF_TEXT.log_step(moved, from_rows([config]), label)[0] - before)[0]) / np.log(1.01)
        assert constant.percent_per_percent == pytest.approx(change, abs=0.01)


def of_images(catalog: Catalog) -> OptionExplanation:
    plan = {
        "schema_version": 1, "name": "images", "workload": {"ref": "resnet50"}, "work": {"samples": 1e8},
        "options": [{"offer": "aws/p4d.24xlarge"}], "training": {"precision": "bf16"},
    }  # fmt: skip
    (found,) = explain_plan(Plan.model_validate(plan), catalog, lambda _: Published(image_rows())).options
    return found


def own_work(effects: Sequence[LabelEffect]) -> float:
    """Return the factor that chip and accelerator add to their own work."""
    return math.prod(effect.step_factor or 1.0 for effect in effects if effect.level in ("chip", "accelerator"))


def test_parts_can_be_recomputed_from_formulas_and_constants(catalog: Catalog) -> None:
    """Llama 3 8B (32 layers) under fsdp2 on 8 A100 of 1,555 GB/s, selective: 0.3 of the forward pass again.

    By hand: optimizer parameters / 8 x optimizer bytes / (bandwidth x hbm); overhead step_ms; elementwise 32 layers x
    4,096 tokens x (0.6 x 4,096 + 0.1 x 2 x 14,336) x 2 bytes x elementwise x (1 + 0.33 x 0.3) / (bandwidth x hbm);
    tail 32 x tail_us x 1.099. The accelerator's own work also takes what its chip adds, tail and links do not, and
    element-wise passes and gathers what PyTorch's frameworks take; `times` is that, and what the smooth maximum with
    the gathers of weights leaves of compute: (micro-batch / compute)^(1 - overlap).
    """
    plan = read_model(Plan, examples_dir() / "gpu_guide_llama3_8b.yaml")
    (option,) = explain_plan(plan, catalog, nothing, option="aws/p4d.24xlarge:us-east-1:on_demand").options
    assert option.configuration is not None
    assert (option.configuration.accelerators, option.configuration.recomputed) == (8, 0.3)
    assert option.throughput_from == "mfu"
    assert option.correction is not None
    assert option.correction.runs == 2
    factor = option.correction.factor
    assert factor == pytest.approx(option.correction.by_labels * option.correction.by_runs)
    constants = {constant.name: constant.value for constant in option.constants}
    parts = {part.name: part for part in option.parts}
    optimizer = 8_030_261_248 / 8 * constants["optimizer"] / (1.555e12 * constants["hbm"])
    own = own_work(option.effects)
    assert parts["optimizer"].seconds / factor == pytest.approx(optimizer * own)
    assert parts["overhead"].seconds / factor == pytest.approx(constants["step_ms"] / 1000)
    tail = 32 * constants["tail_us"] * 1e-6 * (1 + 0.33 * 0.3)
    assert parts["tail"].times is not None
    assert parts["tail"].seconds / factor / parts["tail"].times == pytest.approx(tail)
    stream = 4_096 * (0.6 * 4_096 + 0.1 * 2 * 14_336) * 2 * constants["elementwise"] * (1 + 0.33 * 0.3)
    elementwise = 32 * stream / (1.555e12 * constants["hbm"])
    assert catalog.calibration is not None
    stack = {part: math.exp(catalog.calibration.effects[part]["PyTorch"]) for part in ("elementwise", "sharding")}
    elementwise *= own * stack["elementwise"]
    assert parts["elementwise"].seconds / factor / parts["tail"].times == pytest.approx(elementwise)

    alone = {name: part.seconds / part.times / factor for name, part in parts.items() if part.times}
    assert parts["elementwise"].times == pytest.approx(parts["tail"].times * own * stack["elementwise"])
    computed = sum(alone[name] for name in ("products", "traffic", "attention", "logits"))
    device = computed * own + elementwise + alone["tail"]
    overlap = constants["overlap"]
    gathers = alone["sharding"] * stack["sharding"]
    micro = (device**overlap + gathers**overlap) ** (1 / overlap)
    assert parts["tail"].times == pytest.approx((micro / device) ** (1 - overlap), rel=1e-3)
    whole = (micro + optimizer * own + constants["step_ms"] / 1000) * (1 + constants["jitter"] * 3)
    assert option.step_seconds == pytest.approx(whole * factor, rel=1e-3)


def test_without_own_runs_labels_alone_correct_a_step(catalog: Catalog) -> None:
    """ResNet-50 has 25,557,032 parameters; an A100 of 40 GB reads 1,555 GB/s. Nothing shards under ddp."""
    assert catalog.image_calibration is not None
    option = of_images(catalog.model_copy(update={"runs": {}}))
    assert option.throughput_from == "estimator"
    assert option.correction is not None
    assert option.correction.runs == 0
    assert option.correction.by_runs == pytest.approx(1)
    assert option.configuration is not None
    constants = catalog.image_calibration.constants
    (part,) = (part for part in option.parts if part.name == "optimizer")
    own = own_work(option.effects)
    assert part.times == pytest.approx(own, rel=1e-3)  # reading images, which no plan states, hides nothing
    alone = 25_557_032 * constants["optimizer"] / (1.555e12 * constants["hbm"])
    if option.configuration.strategy is not Strategy.DDP:
        alone /= 8
    assert part.seconds / option.correction.factor == pytest.approx(alone * own, rel=1e-3)


def test_deepspeed_s_host_work_is_a_part_of_its_own(catalog: Catalog) -> None:
    """16 layers of 24 GB cards of Ampere's age under ZeRO-2, by formula: zero2_ms a layer, one micro-batch a step."""
    found = explained(owned_catalog(), MEASURED)
    parts = {part.name: part for part in found.parts}
    constants = {constant.name: constant.value for constant in found.constants}
    assert found.correction is not None
    alone = 16 * constants["zero2_ms"] / 1000
    assert parts["engine"].where == "planner/speed/physics/step.py: engine_seconds"
    assert parts["engine"].times is not None
    assert parts["engine"].seconds / found.correction.factor / parts["engine"].times == pytest.approx(alone)
    assert all(part.name != "engine" for part in explained(catalog, MODELLED).parts), "DDP"


def test_every_part_that_the_physics_knows_has_its_formula(catalog: Catalog) -> None:
    """The formula of a part gives its seconds from its inputs, before `times` (hidden work) and the correction."""
    whole = {option: explained(catalog, option) for option in (MODELLED, MEASURED)} | {"images": of_images(catalog)}
    for name, option in whole.items():
        assert {part.name for part in option.parts} <= (OF_IMAGES if name == "images" else OF_TEXT).places.keys()
        assert option.correction is not None
        for part in option.parts:
            if part.times is not None:
                alone = evaluated(part.formula, {given.name: given.value for given in part.inputs})
                assert alone * part.times * option.correction.factor == pytest.approx(part.seconds, rel=1e-9), part.name


def test_a_step_of_images_is_taken_apart_too(catalog: Catalog) -> None:
    found = of_images(catalog)
    assert found.step_unit == "images"
    assert found.step_seconds is not None
    assert found.step_size is not None
    assert found.throughput is not None
    assert sum(part.seconds for part in found.parts) == pytest.approx(found.step_seconds)
    assert found.step_size / found.step_seconds == pytest.approx(found.throughput.value)
    assert found.constants
    assert len(found.nearest) == 3


def test_the_nearest_evidence_comes_first_and_is_the_row_itself_where_it_is_asked(catalog: Catalog) -> None:
    evidence = text_rows()
    (found,) = explain_plan(RTX_3090, catalog, lambda _: Published(evidence), option=MODELLED).options
    distances = [row.distance for row in found.nearest]
    assert len(distances) == 3
    assert distances == sorted(distances)
    by_id = {row.id: row for row in evidence}
    for row in found.nearest:
        assert row.measured_per_s == by_id[row.id].tokens_per_s_per_gpu


def test_a_bare_step_has_no_parts_and_says_so(catalog: Catalog) -> None:
    asked = read_model(Plan, examples_dir() / "dgx_station_v100.yaml")
    (found,) = explain_plan(asked, catalog, nothing, option="h200-x1").options
    assert found.parts == ()
    assert found.physics is None
    assert [run.id for run in found.runs] == ["seed-000-dgx-station-v100"]
    assert found.throughput is not None
    assert found.throughput_from == "extrapolation"
    assert found.extrapolation is not None
    assert found.extrapolation.seconds == pytest.approx(128 / found.throughput.value)
    device, counts = (ratio.value for ratio in found.extrapolation.ratios)
    assert device == pytest.approx((989.4 / 125 * 4800 / 897) ** 0.5)  # H200 against V100-DGXS, TFLOP/s and GB/s
    assert counts == pytest.approx(1 / 4 * 1.06)  # one of four accelerators, which NVLink slowed
    assert found.throughput.value == pytest.approx(128 / 1.06 * device * counts)  # 1.06 s a batch of 128


def test_the_source_of_an_extrapolated_rate_has_the_grounds_of_its_range(catalog: Catalog) -> None:
    asked = read_model(Plan, examples_dir() / "dgx_station_v100.yaml")
    sources = {
        option.id: option.throughput.source
        for option in explain_plan(asked, catalog, nothing).options
        if option.throughput
    }
    alone = "within a factor of 2.5 = 2 (ratio of accelerators) x 1.25 (network not known)"
    assert sources["h200-x1"].endswith(alone)
    linked = "within a factor of 2.75 = 2 (ratio of accelerators) x 1.1 (link) x 1.25 (network not known)"
    assert any(source.endswith(linked) for source in sources.values())


def test_an_unknown_option_names_those_of_the_plan(catalog: Catalog) -> None:
    with pytest.raises(NotFoundError, match="rtx3090-x99"):
        explain_plan(RTX_3090, catalog, nothing, option="rtx3090-x99")
