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
from planner.decide.advice.measuring import NOISE
from planner.decide.advice.sample_value import regret_of
from planner.decide.outcomes.draws import Array, generator, mixed, scores
from planner.decide.outcomes.learnt import given
from planner.model.catalog import Catalog
from planner.model.prices.offer import PriceKind
from planner.quantity.interval import TAIL
from planner.speed.calibration.accuracy import train_text_folds
from planner.speed.calibration.hold_out import gpus_of
from planner.speed.estimator.network_kind import kind_of_sample
from planner.speed.estimator.own_runs import UpdatePoints
from planner.speed.estimator.shared_causes import causes_of
from planner.speed.estimator.text_estimator import fitted
from planner.speed.physics.observation import Observation
from planner.use_cases.published.evidence import bundled_evidence

FEWEST, MEASURED, CONFIDENCE, SLICES, RANDOM = 5, 3, 0.8, 25, 200
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
    errors: Array
    """Errors of ln(hours) by sample and option."""
    truth: Array
    """ln(measured hours / predicted hours) of each option."""
    deadline: float

    def decide(self, errors: Array) -> int:
        """Return the cheapest option at the confidence, among those that keep the deadline at the confidence."""
        grown = np.exp(np.quantile(errors, CONFIDENCE, axis=0))
        sure = self.hours * grown <= self.deadline
        if not sure.any():
            early = math.log(self.deadline) - np.log(self.hours) - errors.mean(axis=0)
            return int(np.argmax(early / np.maximum(errors.std(axis=0), 1e-6)))
        return int(np.argmin(np.where(sure, self.usd * grown, np.inf)))

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
    regret = case.regret(case.truth[None, :])[0]
    rng = generator("random", case.name)
    chosen = [measure(case, rng.permutation(count)[:MEASURED]) for _ in range(RANDOM)]
    errors = case.errors
    for _ in range(MEASURED):
        best = propose(case, errors)
        if best is None:
            break
        errors = errors_after(errors, best, float(case.truth[best]))
    return {
        "before": float(regret[case.decide(case.errors)]),
        "proposed": float(regret[case.decide(errors)]),
        "random": float(np.mean([regret[option] for option in chosen])),
    }


def measure(case: ValueCase, options: Sequence[int]) -> int:
    """Return the option chosen after these measurements."""
    errors = case.errors
    for option in options:
        errors = errors_after(errors, int(option), float(case.truth[option]))
    return case.decide(errors)


def results(errors: Array, option: int) -> Array:
    """Return the result of one run of an option in each sample."""
    return np.asarray(errors[:, option] + NOISE * scores("noise", str(option)))


def errors_after(errors: Array, option: int, result: float) -> Array:
    """Return the errors of all options, given one run."""
    drawn = results(errors, option)
    return np.stack([given(error, drawn, result) for error in errors.T], axis=1)


def propose(case: ValueCase, errors: Array) -> int | None:
    """Return the option with the most valuable measurement; None if no measurement has a value."""
    regret, chosen = case.regret(errors), case.decide(errors)
    worths = []
    for option in range(len(case.usd)):
        drawn, saved = results(errors, option), 0.0
        for samples in np.array_split(np.argsort(drawn), SLICES):
            after = case.decide(errors_after(errors, option, float(drawn[samples].mean())))
            saved += float((regret[samples, chosen] - regret[samples, after]).sum())
        worths.append(saved)
    best = int(np.argmax(worths))
    return best if worths[best] > 0 else None


def cases(catalog: Catalog) -> Iterator[tuple[str, ValueCase]]:
    """Yield every held-out case, without a deadline and with a deadline that half of the options should keep."""
    evidence = bundled_evidence(catalog)
    price = prices(catalog)
    for fold in train_text_folds(evidence, evidence, read_calibration(), leave_out="source", today=date(2026, 11, 24)):
        kind, learnt = kind_of_sample("tokens", fold.calibration), fitted(fold.calibration)
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
            errors = np.stack(
                [
                    deviation * drawn_error(kind.model(learnt, [option]).place, option)
                    for deviation, option in zip(sd, options, strict=True)
                ],
                axis=1,
            )
            for limit in LIMITS:
                deadline = math.inf if limit == "none" else float(np.median(hours))
                name = f"{source}: {workload}"
                yield limit, ValueCase(name, usd / usd.min(), hours, errors, truth, deadline)


def drawn_error(place: UpdatePoints, machine: Observation) -> Array:
    """Return the standard normal error of a machine's speed in each sample."""
    shared = causes_of(place)
    own = math.sqrt(max(0.0, 1 - sum(share**2 for _, share in shared)))
    return mixed((*shared, (f"{machine.labels.accelerator} {gpus_of(machine)}", own)))


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
