"""The score of a probe: nothing is claimed without one, and an exact one is no worse than none where it knows all."""

from benchmarks.probe_accuracy import NOT_SCORED, machine, scored
from benchmarks.simulated_machine import SimulatedMachine
from planner.adapters.catalog import load_catalog


def test_without_a_probe_what_needs_one_is_not_scored():
    catalog = load_catalog()

    document = scored(catalog, machine(catalog), None)

    assert document["settings"] == 11
    assert document["median_error"]["probe"] == document["median_error"]["both"] == NOT_SCORED
    assert document["a_quarter_below_one_own_run"] == NOT_SCORED
    assert set(document["median_error"]["none"]) == {"all", "bound by host", "bound by loss", "bound by attention"}


def test_a_probe_that_finds_what_the_physics_says_changes_no_estimate():
    catalog = load_catalog()
    candidate = machine(catalog)

    document = scored(catalog, candidate, SimulatedMachine(catalog, candidate, {}).probe())

    assert document["median_error"]["probe"] == document["median_error"]["none"]
    assert set(document["a_quarter_below_one_own_run"].values()) <= {True, False}
