"""Compute how much one more run would narrow the range of an estimate, before the run is paid for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from planner.model.answer.explanation import NextRun
from planner.model.network.adapters import AdapterKind
from planner.model.network.workload import Strategy
from planner.speed.estimator.network_kind import kind_of
from planner.speed.memory.device_fit import fit
from planner.speed.throughput.extrapolation import nearest_run
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction

if TYPE_CHECKING:
    from planner.model.catalog import Catalog
    from planner.model.evidence.calibration import Calibration
    from planner.scenario.candidate import Candidate
    from planner.scenario.job import Job
    from planner.speed.estimator.network_kind import EstimatorQuery
    from planner.speed.physics.observation import Observation


def next_runs(job: Job, candidate: Candidate, catalog: Catalog, query: EstimatorQuery) -> tuple[NextRun, ...]:
    """Return what runs on parts of the candidate's machines would do: one accelerator, then one node.

    They are runs of the benchmark, whatever will train the job. Parts on which it does not fit are left out. So is the
    whole machine: a run there is the measurement itself.
    """
    calibration = catalog.calibration_for(query.sample)
    assert calibration is not None, "it made the prediction"
    runs = []
    for nodes, per_node in dict.fromkeys([(1, 1), (1, candidate.accelerators_per_node)]):
        if nodes * per_node == candidate.accelerators:
            continue
        part = replace(
            candidate,
            nodes=nodes,
            accelerators_per_node=per_node,
            strategy=Strategy.DDP if per_node == 1 else candidate.strategy,
            parallel_config=None,
        )
        setup = replace(job.setup, global_batch=None, framework=None)
        if setup.adapters is not None:
            of_the_benchmark = setup.adapters.model_copy(update={"frozen": None, "kind": AdapterKind.LORA})
            setup = replace(setup, adapters=of_the_benchmark)
        alone = replace(job, mfu=None, setup=setup)
        fitting = fit(alone, part, nearest_run(alone, part, catalog), catalog)
        predicted = predict(alone, part, catalog, fitting) if fitting.fits is not False else None
        if isinstance(predicted, Prediction) and predicted.query is not None:
            then = half_width_with(query, predicted.query.observation, calibration)
            runs.append(NextRun(nodes=nodes, accelerators=nodes * per_node, strategy=part.strategy, half_width=then))
    return tuple(runs)


def half_width_with(query: EstimatorQuery, run: Observation, calibration: Calibration) -> float:
    """Return high / value - 1 of the 90 % range if `run` were known too, and came out as expected.

    The posterior's width does not depend on what is measured, unless the result is rejected as implausible
    (`own_runs.update`).
    """
    import numpy as np

    from planner.speed.estimator.text_estimator import corrected, estimates, fitted

    kind = kind_of(query, calibration)
    learnt, own = fitted(calibration), list(query.own)
    seconds = kind.log_seconds(own) if own else np.zeros(0)
    expected = kind.model(learnt, [run])
    if own:
        expected = corrected(expected, kind.model(learnt, own), seconds)
    with_run = corrected(
        kind.model(learnt, [query.observation]),
        kind.model(learnt, [*own, run]),
        np.concatenate([seconds, expected.log_step]),
    )
    width = estimates(with_run, np.zeros(1), calibration.spreads)
    return float(width.high_90[0] / width.tokens_per_s_per_gpu[0] - 1)
