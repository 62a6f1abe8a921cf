"""Published rows of images: their configurations, refusals, and predictions of rows left out of the fit."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from planner.adapters.bundled_tables import read_image_networks
from planner.adapters.catalog import accelerator_aliases
from planner.model.evidence.measurement import Measurement
from planner.model.hardware.accelerator_name import accelerator_named
from planner.speed.calibration.accuracy import train_image_folds
from planner.speed.calibration.image_calibration import fit_image_calibration
from planner.speed.calibration.scored_rows import predict_folds
from planner.speed.calibration.text_calibration import fingerprint
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.image_fit import OF_IMAGES, ImageSample
from planner.speed.evidence.measured_image_config import is_of_images, observe_image
from planner.speed.physics.observation import Observation, Refusal
from planner.use_cases.published.accuracy import shipped_image_calibration
from tests.bundled import bundled_catalog, image_rows

ROW = {
    "id": "a", "source": "somebody", "model": "resnet50", "gpu": "A100-SXM4-80GB", "gpus_per_node": "8",
    "num_gpus": "8", "precision": "fp16-amp", "micro_batch": "128", "framework": "own", "unit": "images/s",
    "throughput_total": "16000", "source_date": "2024-01",
}  # fmt: skip


def seen(**changes: Any) -> Observation | Refusal:
    row = Measurement.model_validate({key: value for key, value in (ROW | changes).items() if value != ""})
    networks = read_image_networks()
    assert is_of_images(row, networks)
    return observe_image(
        row, accelerator_named(row.gpu, bundled_catalog().accelerators, accelerator_aliases()), networks
    )


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        pytest.param({}, "peak", 312e12, id="dense 16-bit peak"),
        pytest.param({"precision": "tf32"}, "peak", 156e12, id="tf32"),
        pytest.param({"precision": "fp32", "num_gpus": "64"}, "vector_rate", 1, id="fp32 on ordinary cores"),
        pytest.param({"compile_kernels": "AMP channels_last"}, "channels_last", 1, id="layout stated"),
        pytest.param({"compile_kernels": "eager contiguous"}, "channels_last", 0, id="planes stated"),
        pytest.param({"framework": "TensorFlow 2"}, "channels_last", 1, id="frameworks that choose the layout"),
        pytest.param({"framework": "TensorFlow 2", "compile_kernels": "XLA"}, "fused", 1, id="compiled"),
        pytest.param({"micro_batch": "", "global_batch": "2048"}, "micro_batch", 256, id="batch of one device"),
        pytest.param({"parallelism": "DataParallel(single process)"}, "one_process", 1, id="one process for all"),
        pytest.param({"parallelism": "DistributedDataParallel"}, "one_process", 0, id="a process each"),
        pytest.param({"source_date": "2022-05"}, "flash", 0, id="attention written out before PyTorch 2"),
        pytest.param({"source_date": "\u00b2\u00b2\u00b2\u00b2"}, "flash", 0, id="no year in raised digits"),
        pytest.param({"zero": "\u00b2"}, "zero", 0, id="no ZeRO in a raised digit"),
        pytest.param(
            {"model": "Classification/ConvNets/resnet50v1.5"}, "flops", 24.299e9, id="a network behind a path"
        ),
        pytest.param(
            {"model": "Classification/ConvNets/efficientnet:efficientnet-b0"}, "flops", 2.2932e9, id="EfficientNet-B0"
        ),
        pytest.param({"model": "mlperf-resnet", "unit": "samples/s"}, "flops", 24.299e9, id="samples that are images"),
    ],
)
def test_a_row_becomes_the_numbers_of_the_physics(changes: dict[str, str], key: str, value: float) -> None:
    found = seen(**changes)
    assert isinstance(found, Observation), found
    assert found.config[key] == pytest.approx(value, rel=1e-4)
    assert found.tokens_per_s_per_gpu * found.unit_per_token == pytest.approx(16_000)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"model": "a network of ours"}, "image network not known", id="unknown network"),
        pytest.param({"gpu": "H900"}, "accelerator not known", id="unknown accelerator"),
        pytest.param({"metric": "time_to_train"}, "time to train, not speed", id="time to train"),
        pytest.param({"throughput_total": ""}, "no throughput in images", id="no speed"),
        pytest.param({"throughput_total": "200000"}, "faster than the accelerator's peak", id="beyond the peak"),
    ],
)
def test_a_row_that_says_too_little_or_too_much_is_refused_with_its_reason(
    changes: dict[str, str], reason: str
) -> None:
    found = seen(**changes)
    assert isinstance(found, Refusal)
    assert found.reason.startswith(reason)


def test_the_shipped_calibration_was_made_of_the_shipped_rows() -> None:
    """`make calibrate` was run after the last change to rows, or to how they are read."""
    assert shipped_image_calibration().rows_sha256 == fingerprint(image_rows())


def test_the_fit_finds_the_constants_that_made_its_data() -> None:
    truth = OF_IMAGES.problem(OF_IMAGES.sample([])).prior.constants | {"conv_ampere": 0.5, "transposed": 1.5}
    rows = image_rows()[::8]
    data = OF_IMAGES.sample(rows)
    made, _ = OF_IMAGES.log_step(
        Fit(truth, OF_IMAGES.problem(OF_IMAGES.sample([])).prior.effects), data.configs, data.labels
    )
    noise = np.random.default_rng(7).normal(0, 0.02, len(rows))
    found = OF_IMAGES.fit(ImageSample(data.configs, data.labels, made + noise))
    assert found.constants["conv_ampere"] == pytest.approx(0.5, rel=0.12)
    assert found.constants["transposed"] == pytest.approx(1.5, rel=0.15)


def test_without_evidence_the_priors_stand() -> None:
    assert fit_image_calibration([], today=shipped_image_calibration().made_on, ranges=False).constants == {
        name: pytest.approx(value) for name, value in OF_IMAGES.problem(OF_IMAGES.sample([])).prior.constants.items()
    }


LEFT_OUT = {
    "V100-SXM2-16GB": "m01832", "A100-80GB-SXM": "m01828", "H100-SXM": "m00653", "RTX-3090": "field-0686",
    "RTX-8000-Turing": "m00545", "H100-PCIe": "m00635", "A10": "m00572",
}  # fmt: skip
"""Published ResNet-50 in mixed precision for each accelerator: NVIDIA's, Lambda's, timm's, MLCommons'."""


@cache
def blind() -> dict[str, tuple[float, float, float, float]]:
    """Return predictions of these points by a fit without any row of their accelerators."""
    asked = [row for row in image_rows() if row.id in LEFT_OUT.values()]
    trained_on = [row for row in image_rows() if row.labels.accelerator not in LEFT_OUT]
    calibration = fit_image_calibration(trained_on, today=shipped_image_calibration().made_on)
    folds = train_image_folds(asked, trained_on, calibration, leave_out=None, today=calibration.made_on)
    return {
        row.observation.id: (row.observation.tokens_per_s_per_gpu, row.predicted, row.low_90, row.high_90)
        for row in predict_folds(asked, folds, anchors=0)
    }


@pytest.mark.slow
@pytest.mark.parametrize(("accelerator", "name"), LEFT_OUT.items())
def test_a_published_point_of_an_unmeasured_accelerator_lies_in_the_range(accelerator: str, name: str) -> None:
    measured, predicted, low, high = blind()[name]
    assert low <= measured <= high
    assert predicted == pytest.approx(measured, rel=0.45)
