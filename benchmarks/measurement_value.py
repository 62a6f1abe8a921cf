"""Whether the measurements that are proposed lower the regret of a decision more than random ones. Asserts nothing.

Of every bundled source that measured one network on five machines and more, the machines are the options, each with the
setting that is predicted to be fastest there. They are predicted by a calibration that was fitted without the source
(some minutes), priced at the cheapest on-demand price of the catalog, and chosen among by cost at the confidence of
0.8, with and without a deadline. Up to three are then measured: those that are worth most, one after another, or three
at random; a measurement is the source's own. The regret is that of what is then chosen, by what all options measured.
The last line of stdout is one JSON document; those before it are the cases.
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
from planner.decide.simulation.draws import Array, generator
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
    """One network on the machines of one source; USD and hours of as much work as costs 1 where it is predicted to be
    cheapest.
    """

    name: str
    usd: Array
    """Predicted."""
    hours: Array
    sd: Array
    together: Array
    truth: Array
    """ln(measured hours / predicted)."""
    deadline: float

    def decide(self, shift: Array, covariance: Array) -> int:
        """Return the option that is cheapest at the confidence among those that keep the deadline with it."""
        sd = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
        z = NORMAL.inv_cdf(CONFIDENCE)
        sure = np.log(self.hours) + shift + z * sd <= math.log(self.deadline)
        if not sure.any():
            return int(np.argmax((math.log(self.deadline) - np.log(self.hours) - shift) / sd))
        return int(np.argmin(np.where(sure, self.usd * np.exp(shift + z * sd), np.inf)))

    def regret(self, errors: Array) -> Array:
        """Return the regret of every option where hours are off by these logarithms."""
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
        "random": float(np.mean([regret[one] for one in chosen])),
    }


def measure(case: ValueCase, options: Sequence[int], start: tuple[Array, Array]) -> int:
    """Return what is chosen after these measurements."""
    known = start
    for option in options:
        known = result(case, int(option), *known)
    return case.decide(*known)


def result(case: ValueCase, option: int, shift: Array, covariance: Array) -> tuple[Array, Array]:
    """Return what is known after one measurement."""
    gain, left = given(covariance, option, NOISE)
    return shift + gain * (case.truth[option] - shift[option]), left


def propose(case: ValueCase, shift: Array, covariance: Array) -> int | None:
    """Return the option whose measurement is worth most; None where none is worth anything."""
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
    """Return every held-out case, without a deadline and with one that half of the options are predicted to keep."""
    evidence = bundled_evidence(catalog)
    price = prices(catalog)
    for fold in train_text_folds(evidence, evidence, read_calibration(), leave_out="source", today=date(2026, 11, 24)):
        kind, learnt = kind_of_text(fold.calibration), fitted(fold.calibration)
        groups: dict[tuple[str, str], list[Observation]] = defaultdict(list)
        for place in fold.places:
            one = evidence[place]
            if one.labels.accelerator in price:
                groups[one.labels.source, one.labels.workload].append(one)
        for (source, workload), rows in sorted(groups.items()):
            options = machines(rows, kind.estimate(rows, []).tokens_per_s_per_gpu)
            if len(options) < FEWEST:
                continue
            guess = kind.estimate(options, [])
            rate = guess.tokens_per_s_per_gpu
            usd = np.array([price[one.labels.accelerator] for one in options]) / rate
            hours = 1 / (rate * np.array([gpus_of(one) for one in options]))
            truth = np.log(rate / np.array([one.tokens_per_s_per_gpu for one in options]))
            sd = np.log(guess.high_90 / rate) / TAIL
            together = of_estimates(kind, learnt, options, [])
            for limit in LIMITS:
                deadline = math.inf if limit == "none" else float(np.median(hours))
                name = f"{source}: {workload}"
                yield limit, ValueCase(name, usd / usd.min(), hours, sd, together, truth, deadline)


def machines(rows: Sequence[Observation], rates: Array) -> list[Observation]:
    """Return one row of each accelerator and count: the setting that is predicted to be fastest."""
    best: dict[tuple[str, float], tuple[float, Observation]] = {}
    for row, rate in zip(rows, rates, strict=True):
        key = (row.labels.accelerator, gpus_of(row))
        if key not in best or rate > best[key][0]:
            best[key] = (float(rate), row)
    return [row for _, row in best.values()]


def prices(catalog: Catalog) -> dict[str, float]:
    """Return the cheapest USD an hour of one accelerator of each kind: on demand, where it is sold so."""
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
