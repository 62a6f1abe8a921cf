"""Scores the physics of decoding on published steps, each accelerator left out; writes docs/accuracy/decoding.csv.

Usage: python benchmarks/generation_accuracy.py [--write]; some two minutes. It prints the constants that all rows of
vLLM and SGLang give together; those of planner/speed/generation/engine.py are these, rounded. Rows of TensorRT-LLM are
predicted and never fitted.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from scipy.optimize import minimize

from benchmarks.accuracy_tables import write_table
from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.base import Count, Frozen, Positive, Text
from planner.model.hardware.machines import Accelerator
from planner.model.network.architecture import TextModel
from planner.speed.generation.engine import EngineConstants, EngineCopy, decoding_step, engine_device
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.networks import find_architecture

FREE = ("bandwidth", "compute", "layer_us", "sequence_us", "exchange_us")
"""Fitted constants. Everything else is counted."""
STARTING = EngineConstants(bandwidth=0.8, compute=0.7, layer_us=15.0, sequence_us=10.0, exchange_us=15.0)
"""Constants before any evidence: usual shares of peaks, and latencies of kernels and of NCCL."""
MS = 1e3


class DecodingMeasurement(Frozen):
    """One row of `catalogs/generation/decoding.csv`."""

    id: Text
    source: Text
    source_ref: Text
    source_date: Text
    licence: Text
    kind: Literal["measured", "composed"]
    """Way of measuring: a server under load ("measured"), or kernels that the source added up ("composed")."""
    network: Text
    gpu: Text
    engine: Text
    version: Text | None = None
    tensor: Count
    weight_bits: Count
    batch: Count
    prompt_tokens: Count
    completion_tokens: Count
    step_ms: Positive
    """Mean time between two tokens of a sequence."""

    @property
    def prefilled(self) -> float:
        """Prompt tokens that a step also computes, because sequences end and begin: batch x prompt / answer."""
        return 0.0 if self.kind == "composed" else self.batch * self.prompt_tokens / self.completion_tokens


@dataclass(frozen=True)
class DecodingCase:
    """A measurement with the network and accelerator that it names."""

    row: DecodingMeasurement
    copy: EngineCopy

    def log_ratio(self, constants: EngineConstants) -> float:
        """Return ln(predicted / measured) of the step."""
        row = self.row
        context = row.prompt_tokens + row.completion_tokens / 2
        step = decoding_step(self.copy, constants, batch=row.batch, context=context, prefilled=row.prefilled)
        return math.log(step.seconds * MS / row.step_ms)


def decoding_cases(
    rows: Sequence[DecodingMeasurement], networks: Mapping[str, TextModel], accelerators: Mapping[str, Accelerator]
) -> list[DecodingCase]:
    """Join rows with their networks and accelerators. Raise KeyError for a name that the catalogs lack."""
    cases = []
    for row in rows:
        device = engine_device(accelerators[row.gpu], weight_bits=row.weight_bits)
        assert device is not None, f"{row.gpu} has a data sheet"
        copy = EngineCopy(networks[row.network], device, tensor=row.tensor, weight_bytes=row.weight_bits / 8)
        cases.append(DecodingCase(row, copy))
    return cases


def scaled(logs: Sequence[float]) -> EngineConstants:
    """Return the starting constants, each multiplied by e to the power of its entry in `logs`."""
    return replace(
        STARTING, **{name: getattr(STARTING, name) * math.exp(log) for name, log in zip(FREE, logs, strict=True)}
    )


def mean_log_error(cases: Sequence[DecodingCase], constants: EngineConstants) -> float:
    """Return the mean of |ln(predicted / measured)|."""
    return sum(abs(case.log_ratio(constants)) for case in cases) / len(cases)


FITTED_ENGINES = ("vllm", "sglang")
HOLD = 0.01
"""Penalty on the distance from a starting value: added to the error for a factor of e."""
TRIES = 400


def fit(cases: Sequence[DecodingCase]) -> EngineConstants:
    """Return the constants with the least mean error on these cases."""

    def loss(logs: Sequence[float]) -> float:
        return mean_log_error(cases, scaled(logs)) + HOLD * sum(log * log for log in logs)

    found = minimize(loss, [0.0] * len(FREE), method="Nelder-Mead", options={"maxfev": TRIES})
    return scaled([float(log) for log in found.x])


def main() -> None:
    """Score, print, write."""
    catalog = open_catalog()
    rows = read_rows(DecodingMeasurement, catalogs_dir() / "generation" / "decoding.csv")
    names = {row.network for row in rows}
    networks = {name: find_architecture(name, catalog).architecture for name in names}
    cases = decoding_cases(rows, networks, catalog.accelerators)
    fitted = [case for case in cases if case.row.engine in FITTED_ENGINES]
    print("all rows:", {name: round(value, 3) for name, value in asdict(fit(fitted)).items()})
    groups: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    for gpu in sorted({case.row.gpu for case in cases}):
        constants = fit([case for case in fitted if case.row.gpu != gpu])
        for case in cases:
            if case.row.gpu == gpu:
                key = (gpu, case.row.kind, case.row.engine)
                groups[key].append((case.log_ratio(STARTING), case.log_ratio(constants)))
    table = [_line(key, pairs) for key, pairs in sorted(groups.items())]
    everything = [pair for pairs in groups.values() for pair in pairs]
    table.append(_line(("all", "", ""), everything))
    for line in table:
        print(line)
    if "--write" in sys.argv:
        write_table("decoding", table)


def _line(key: tuple[str, str, str], pairs: Sequence[tuple[float, float]]) -> dict[str, object]:
    """Return the errors of a group: with the starting constants, and with constants fitted without its accelerator."""
    before, left_out = (list(logs) for logs in zip(*pairs, strict=True))
    off = sorted(abs(log) for log in left_out)
    return {
        "gpu": key[0], "kind": key[1], "engine": key[2], "rows": len(pairs),
        "before_median_ratio": round(math.exp(median(before)), 2),
        "before_median_error": round(math.exp(median(abs(log) for log in before)) - 1, 3),
        "left_out_median_ratio": round(math.exp(median(left_out)), 2),
        "left_out_median_error": round(math.exp(median(off)) - 1, 3),
        "left_out_p90_error": round(math.exp(off[int(0.9 * (len(off) - 1))]) - 1, 3),
    }  # fmt: skip


if __name__ == "__main__":
    main()
