"""Everything the planner knows about machines, prices, workloads and runs, in one value."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_serializer, model_validator

from planner.errors import NotFoundError
from planner.model.base import Count, Frozen
from planner.model.default_quantity import DefaultQuantity, check_units, quantities
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.practice import PracticeFit
from planner.model.evidence.probe import ProbeRecord
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Accelerator, Node
from planner.model.hardware.storage import StorageKind
from planner.model.network.names import base_name, name_key, nearest_names, original_name, preset_words
from planner.model.network.other_families import missing_for, nearest_to
from planner.model.network.workload import Preset
from planner.model.owning.country import Country, ElectricityPrice
from planner.model.owning.holding_defaults import HoldingDefaults
from planner.model.owning.owning_defaults import OwningDefaults
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.plan.convergence import ConvergenceSpread
from planner.model.plan.goodput import GoodputDefaults
from planner.model.prices.bill_defaults import BillDefaults
from planner.model.prices.offer import Price
from planner.model.prices.price_book import Credit
from planner.model.prices.price_defaults import PriceDefaults
from planner.model.prices.provider import Provider
from planner.model.prices.service import ServiceRate
from planner.model.prices.unread import Unread
from planner.model.quantity import Unit


class Defaults(Frozen):
    """Values taken where neither the plan nor the site says: `catalogs/defaults.yaml`."""

    schema_version: Count
    electricity: DefaultQuantity
    household_electricity: DefaultQuantity | None = None
    """What a household pays in a country that nobody states; null in a file of the user's own or an old lock."""
    pue: DefaultQuantity
    household_pue: DefaultQuantity | None = None
    """Of a machine in a household; null in a file of the user's own or an old lock, where `pue` counts."""
    idle_power_fraction: DefaultQuantity
    training_power_fraction: DefaultQuantity
    """Share of its rated power that a node draws in training."""
    cloud_pue: DefaultQuantity | None = None
    """Of rented machines; null only in a file of the user's own."""
    bill: BillDefaults | None = None
    goodput: GoodputDefaults | None = None
    owning: OwningDefaults | None = None
    holding: HoldingDefaults | None = None
    prices: PriceDefaults | None = None
    """These five are null only in a file of the user's own (the bundled block is then taken), the last also in a lock
    of a planner before it doubted prices."""

    @model_validator(mode="after")
    def _units_and_ends(self) -> Self:
        check_units(self, {"electricity": Unit.USD_PER_KWH, "household_electricity": Unit.USD_PER_KWH})
        for name, quantity in quantities(self).items():
            if name.endswith("pue") and quantity.low < 1:
                raise ValueError(f"{name} must be at least 1 in its whole range")
            if name.endswith("fraction") and quantity.high > 1:
                raise ValueError(f"{name} must be at most 1 in its whole range")
        return self


class Catalog(Frozen):
    """The bundled catalogs with the user's own files layered on top; keys are ids."""

    accelerators: dict[str, Accelerator]
    aliases: dict[str, str] = Field(default_factory=dict)
    """Other names of accelerators, to their ids; empty in an old lock."""
    nodes: dict[str, Node]
    prices: tuple[Price, ...]
    """The bundled ones, and what refreshes have brought; `origin` tells them apart."""
    unread: tuple[Unread, ...] = ()
    """What refreshes have brought and a search did not read."""
    own_prices: tuple[Price, ...] = ()
    """The user's; where they have a row for the same instance, kind and region, it is taken."""
    credits: tuple[Credit, ...] = ()
    """Of the user's price book, where that was asked for."""
    services: tuple[ServiceRate, ...] = ()
    """The user's first."""
    providers: dict[str, Provider] = Field(default_factory=dict)
    """Their names; one that is not among them, as in a lock stored before 0.2.0, is called by its id."""
    sites: dict[str, Site]
    tariffs: dict[str, Tariff]
    countries: dict[str, Country] = Field(default_factory=dict)
    """Empty in an old lock, as the next."""
    electricity_prices: dict[str, ElectricityPrice] = Field(default_factory=dict)
    storage: dict[str, StorageKind] = Field(default_factory=dict)
    """Empty only in a lock of a planner before it counted stalls, as the next."""
    convergence: dict[str, ConvergenceSpread] = Field(default_factory=dict)
    presets: dict[str, Preset]
    runs: dict[str, RunRecord]
    impossible_runs: tuple[str, ...] = ()
    """Ids of those that cannot be true as stated, where a plan is answered (docs/audit.md); sorted."""
    doubtful_runs: tuple[str, ...] = ()
    """Ids of those that are hard to believe; the same."""
    probes: dict[str, ProbeRecord] = Field(default_factory=dict)
    """Kernels of a training step, measured one by one on the user's machines."""
    bundled_runs: frozenset[str]
    """Ids of the runs that ship with the planner; the others are the user's."""
    bundled_sites: frozenset[str] = frozenset()
    """Ids of the sites that ship with it: examples, which nobody has."""
    defaults: Defaults
    calibration: Calibration | None = None
    """Constants fitted to published measurements; None: predictions come from ratios of the user's runs."""
    image_calibration: Calibration | None = None
    """The same of image networks, whose operators are others."""
    practice: PracticeFit | None = None
    """How much longer whole trainings take than steps; None only in an old lock, whose times are a benchmark's."""

    def calibration_for(self, sample: str | None) -> Calibration | None:
        """Return what was fitted to networks with samples of a kind, tokens or images; of an unknown one: tokens."""
        return self.image_calibration if sample == "image" else self.calibration

    @field_serializer("bundled_runs", "bundled_sites", when_used="json")
    def _in_order(self, ids: frozenset[str]) -> list[str]:
        """Write them sorted: a set has another order in every process, and two locks of one plan would differ."""
        return sorted(ids)

    def preset_named(self, name: str) -> Preset | None:
        """Return a workload by its id, or by a name as people write it; None where there is none."""
        if name in self.presets:
            return self.presets[name]
        return self._preset_of(name) or self._preset_of(original_name(name)) or self._base_of(name)

    def preset_called(self, words: str | None) -> Preset | None:
        """Return the workload that a trainer's word or the path of a folder means; None where it means none."""
        found = (self.preset_named(name) for name in preset_words(words)) if words else ()
        return next((preset for preset in found if preset is not None), None)

    def _base_of(self, name: str) -> Preset | None:
        """Return the network that a name says it was trained from; None where it may be of another kind."""
        if "/" not in name or missing_for(name) is not None:
            return None
        text = {known: one for one in self.presets.values() for known in (one.name, *one.names) if one.seq_len}
        found = base_name(name, text)
        return None if found is None else text[found]

    def _preset_of(self, name: str) -> Preset | None:
        key, in_full = name_key(name), "/" in name
        for preset in self.presets.values():
            repositories = preset.names if in_full else (preset.name, *preset.names)
            for known in repositories:
                if name_key(known) == key and (not in_full or _owner(known) == _owner(name)):
                    return preset
        return None

    def find_preset(self, name: str, *, where: str = "", fix: str = "") -> Preset:
        """Return a workload by its name; raise with the nearest names where there is none."""
        preset = self.preset_named(name)
        if preset is None:
            missing = missing_for(name)
            if missing is not None:
                text = f"The planner has no formula for {missing}. {nearest_to(missing)}"
                raise NotFoundError("workload", name, (), where=where, fix=text)
            near = nearest_names(name, self.presets)
            hint = f"Did you mean {' or '.join(near)}?" if near else fix or "The names: docs/cli.md"
            raise NotFoundError("workload", name, (), where=where, fix=hint)
        return preset

    @property
    def bill_defaults(self) -> BillDefaults:
        """What a bill takes where the plan does not say."""
        assert self.defaults.bill is not None, "the loader fills it in"
        return self.defaults.bill

    @property
    def goodput_defaults(self) -> GoodputDefaults | None:
        """What interrupts a training where the plan does not say; None only in an old lock, which counts nothing."""
        return self.defaults.goodput

    def find_storage(self, storage_id: str, *, where: str) -> StorageKind:
        """Return a kind of storage by its id; raise with the known ones where there is none."""
        storage = self.storage.get(storage_id)
        if storage is None:
            known = ", ".join(self.storage) or "none"
            raise NotFoundError("storage", storage_id, self.storage, where=where, fix=f"Known: {known}")
        return storage

    def find_convergence(self, name: str, *, where: str) -> ConvergenceSpread:
        """Return a spread of convergence by its id; raise with the known ones where there is none."""
        convergence = self.convergence.get(name)
        if convergence is None:
            known = ", ".join(self.convergence) or "none"
            raise NotFoundError("convergence", name, self.convergence, where=where, fix=f"Known: {known}")
        return convergence

    @property
    def owning_defaults(self) -> OwningDefaults:
        """What owning is taken to cost where a site does not say."""
        assert self.defaults.owning is not None, "the loader fills it in"
        return self.defaults.owning

    @property
    def holding_defaults(self) -> HoldingDefaults:
        """What holding a machine is taken to mean where nothing says."""
        assert self.defaults.holding is not None, "the loader fills it in"
        return self.defaults.holding

    def find_site(self, site_id: str, *, where: str) -> Site:
        """Return a site by its id; raise with the known ones where there is none."""
        site = self.sites.get(site_id)
        if site is None:
            raise NotFoundError("site", site_id, self.sites, where=where, fix=f"Known: {', '.join(self.sites)}")
        return site

    def find_tariff(self, tariff_id: str, *, where: str) -> Tariff:
        """Return a tariff by its id; raise with the known ones where there is none."""
        tariff = self.tariffs.get(tariff_id)
        if tariff is None:
            known = ", ".join(self.tariffs) or "none"
            raise NotFoundError("tariff", tariff_id, self.tariffs, where=where, fix=f"Known: {known}")
        return tariff

    def find_country(self, code: str, *, where: str) -> Country:
        """Return a country by its code; raise with the known ones where there is none."""
        country = self.countries.get(code)
        if country is None:
            known = ", ".join(self.countries) or "none"
            fix = f"Known: {known}. Elsewhere leave it out, and state the price of a kWh."
            raise NotFoundError("country", code, self.countries, where=where, fix=fix)
        return country

    def find_run(self, run_id: str, *, where: str = "") -> RunRecord:
        """Return a run by its id; raise with the nearest ids where there is none."""
        run = self.runs.get(run_id)
        if run is None:
            raise NotFoundError("run", run_id, self.runs, where=where, fix="List them with: planner runs list")
        return run


def _owner(name: str) -> str:
    return name.rpartition("/")[0].casefold()
