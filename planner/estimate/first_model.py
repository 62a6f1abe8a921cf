"""The first model: throughput on hardware nobody measured, openly rough, with wide ranges. Its one door is `predict`.

Best evidence first: runs of the same workload, carried over to another count or accelerator; the FLOP rate that another
workload reached on this very machine; a share of the peak.
"""

from __future__ import annotations

from planner.estimate.candidate import Candidate
from planner.estimate.carry_over import carry_over
from planner.estimate.job import Job
from planner.estimate.prediction import NoPrediction, Prediction
from planner.estimate.share_of_peak import from_flop_rate, from_mfu
from planner.model.catalog import Catalog


def predict(job: Job, candidate: Candidate, catalog: Catalog) -> Prediction | NoPrediction:
    """Predict the throughput of a job on a candidate that no run answers for; a plan's own MFU comes first."""
    if job.mfu is not None and job.decoder is not None:
        return from_mfu(job, candidate)
    carried = carry_over(job, candidate, catalog)
    if isinstance(carried, Prediction):
        return carried
    if job.decoder is None:
        return carried or NoPrediction("no run of this workload exists, and its network is not known: measure it once")
    return from_flop_rate(job, candidate, catalog) or from_mfu(job, candidate)
