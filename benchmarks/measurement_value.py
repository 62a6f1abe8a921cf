"""Compares the regret of decisions after proposed measurements and after random ones. Asserts nothing.

Each bundled source that measured one network on at least five machines is a case. Its machines are the options, each
with the setting that is predicted to be fastest. A calibration fitted without the source (takes minutes) predicts them.
They have the cheapest on-demand price of the catalog, and the cheapest at a confidence of 0.8 is chosen, with and
without a deadline. Then up to three options are measured with the source's own figures: the most valuable ones, one
after another, or three random ones. The regret of the new choice follows from the figures of all options. The last line
of stdout is one JSON document; the lines before it are the cases.
Run: python -m benchmarks.measurement_value
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import read_calibration
from planner.decide.advice.error_correlation import of_estimates
from planner.decide.advice.measuring import NOISE
from planner.decide.advice.sample_value import Errors, Learnt, given, regret_of, sample_value
from planner.decide.outcomes.draws import Array, generator
from planner.model.catalog import Catalog
from planner.model.prices.offer import PriceKind
from planner.quantity.chance import NORMAL, TAIL
from planner.speed.calibration.hold_out import gpus_of
from planner.speed.calibration.text_accuracy import train_text_folds
from planner.speed.estimator.network_kind import kind_of_text
from planner.speed.estimator.text_estimator import fitted
from planner.speed.physics.observation import Observation
from planner.use_cases.published.evidence import bundled_evidence

FEWEST, MEASURED, CONFIDENCE, DRAWS, RANDOM = 5, 3, 0.8, 2000, 200
LIMITS = ("none", "deadline")


@dataclass(frozen=True)
class ValueCase:
    """One network on the machines of one source.

    The work is scaled to cost 1 on the option that is predicted to be cheapest.
    """

    name: str
    usd: Array
    """Predicted cost of each option."""
    hours: Array
    sd: Array
    together: Array
    truth: Array
    """ln(measured hours / predicted hours) of each option."""
    deadline: float

    def decide(self, shift: Array, covariance: Array) -> int:
        """Return the cheapest option at the confidence, among those that keep the deadline at the confidence."""
        sd = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
        z = NORMAL.inv_cdf(CONFIDENCE)
        sure = np.log(self.hours) + shift + z * sd <= math.log(self.deadline)
        if not sure.any():
            return int(np.argmax((math.log(self.deadline) - np.log(self.hours) - shift) / sd))
        return int(np.argmin(np.where(sure, self.usd * np.exp(shift + z * sd), np.inf)))

    def regret(self, errors: Array) -> Array:
        """Return the regret of every option if ln(hours) is wrong by `errors`."""
        grown = np.exp(errors)
        return regret_of(self.usd * grown, self.hours * grown <= self.deadline)


def main() -> None:
    """Measure and print."""
    catalog = load_catalog()
    totals: dict[str, dict[str, list[float]]] = {limit: defaultdict(list) for limit in LIMITS}
    for limit, case in cases(catalog):
        found = scored(case)
        print(limit, len(case.usd), case.name, {name: f"{regret:.4f}" for name, regret in found.items()}, sep="\t")
        for name, regret in found.items():
            totals[limit][name].append(regret)
    means = {
        limit: {name: float(np.mean(regrets)) for name, regrets in of_limit.items()}
        for limit, of_limit in totals.items()
    }
    print(json.dumps({"benchmark": "measurement_value", "cases": len(totals["none"]["before"]), "mean_regret": means}))


def scored(case: ValueCase) -> dict[str, float]:
    """Return the true regret before any measurement, after the proposed ones, and after random ones on average."""
    count = len(case.usd)
    start = np.zeros(count), case.together * np.outer(case.sd, case.sd)
    regret = case.regret(case.truth[None, :])[0]
    rng = generator(1, case.name)
    chosen = [measure(case, rng.permutation(count)[:MEASURED], start) for _ in range(RANDOM)]
    proposed = start
    for _ in range(MEASURED):
        best = propose(case, *proposed)
        if best is None:
            break
        proposed = result(case, best, *proposed)
    return {
        "before": float(regret[case.decide(*start)]),
        "proposed": float(regret[case.decide(*proposed)]),
        "random": float(np.mean([regret[option] for option in chosen])),
    }


def measure(case: ValueCase, options: Sequence[int], start: tuple[Array, Array]) -> int:
    """Return the option chosen after these measurements."""
    known = start
    for option in options:
        known = result(case, int(option), *known)
    return case.decide(*known)


def result(case: ValueCase, option: int, shift: Array, covariance: Array) -> tuple[Array, Array]:
    """Return the shifts and the covariance of the errors after one measurement."""
    gain, left = given(covariance, option, NOISE)
    return shift + gain * (case.truth[option] - shift[option]), left


def propose(case: ValueCase, shift: Array, covariance: Array) -> int | None:
    """Return the option with the most valuable measurement; None if no measurement has a value."""
    errors = Errors.drawn(covariance, generator(2, case.name), DRAWS)
    regret, chosen = case.regret(shift + errors.draws), case.decide(shift, covariance)

    def decide(learnt: Learnt) -> int:
        return case.decide(shift + learnt.shift, learnt.covariance)

    worths = [
        sample_value(errors, regret, chosen, number, decide, noise=NOISE, rng=generator(3, case.name)).worth
        for number in range(len(case.usd))
    ]
    best = int(np.argmax(worths))
    return best if worths[best] > 0 else None


def cases(catalog: Catalog) -> Iterator[tuple[str, ValueCase]]:
    """Yield every held-out case, without a deadline and with a deadline that half of the options should keep."""
    evidence = bundled_evidence(catalog)
    price = prices(catalog)
    for fold in train_text_folds(evidence, evidence, read_calibration(), leave_out="source", today=date(2026, 11, 24)):
        kind, learnt = kind_of_text(fold.calibration), fitted(fold.calibration)
        groups: dict[tuple[str, str], list[Observation]] = defaultdict(list)
        for place in fold.places:
            observation = evidence[place]
            if observation.labels.accelerator in price:
                groups[observation.labels.source, observation.labels.workload].append(observation)
        for (source, workload), rows in sorted(groups.items()):
            options = machines(rows, kind.estimate(rows, []).tokens_per_s_per_gpu)
            if len(options) < FEWEST:
                continue
            guess = kind.estimate(options, [])
            rate = guess.tokens_per_s_per_gpu
            usd = np.array([price[option.labels.accelerator] for option in options]) / rate
            hours = 1 / (rate * np.array([gpus_of(option) for option in options]))
            truth = np.log(rate / np.array([option.tokens_per_s_per_gpu for option in options]))
            sd = np.log(guess.high_90 / rate) / TAIL
            together = of_estimates(kind, learnt, options, [])
            for limit in LIMITS:
                deadline = math.inf if limit == "none" else float(np.median(hours))
                name = f"{source}: {workload}"
                yield limit, ValueCase(name, usd / usd.min(), hours, sd, together, truth, deadline)


def machines(rows: Sequence[Observation], rates: Array) -> list[Observation]:
    """Return one row per accelerator and count, with the setting that is predicted to be fastest."""
    best: dict[tuple[str, float], tuple[float, Observation]] = {}
    for row, rate in zip(rows, rates, strict=True):
        key = (row.labels.accelerator, gpus_of(row))
        if key not in best or rate > best[key][0]:
            best[key] = (float(rate), row)
    return [row for _, row in best.values()]


def prices(catalog: Catalog) -> dict[str, float]:
    """Return the lowest USD per hour of one accelerator of each kind, on demand if available."""
    found: dict[PriceKind, dict[str, float]] = {PriceKind.MARKETPLACE: {}, PriceKind.ON_DEMAND: {}}
    for row in catalog.prices:
        node = catalog.nodes.get(f"{row.provider}/{row.instance_type}")
        if row.price_kind in found and row.usd_per_hour and node is not None:
            of_kind = found[row.price_kind]
            usd = row.usd_per_hour / node.accelerators
            of_kind[node.accelerator] = min(usd, of_kind.get(node.accelerator, math.inf))
    return found[PriceKind.MARKETPLACE] | found[PriceKind.ON_DEMAND]


if __name__ == "__main__":
    main()
