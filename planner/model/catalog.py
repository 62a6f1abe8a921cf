"""All known machines, prices, workloads and runs, in one value."""

from __future__ import annotations

from pydantic import Field, field_serializer

from planner.errors import NotFoundError
from planner.model.base import Frozen
from planner.model.defaults import (
    BillDefaults,
    Defaults,
    GoodputDefaults,
    HoldingDefaults,
    OwningDefaults,
)
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.probe import ProbeRecord
from planner.model.evidence.run import RunRecord
from planner.model.evidence.whole_training import PracticeFit
from planner.model.hardware.machines import Accelerator, Node
from planner.model.hardware.storage import StorageKind
from planner.model.network.names import (
    base_name,
    missing_for,
    name_key,
    nearest_names,
    nearest_to,
    original_name,
    preset_words,
)
from planner.model.network.workload import Preset
from planner.model.owning.country import Country, ElectricityPrice
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.plan.convergence import ConvergenceSpread
from planner.model.prices.offer import Price
from planner.model.prices.price_book import Credit
from planner.model.prices.price_list import Unread
from planner.model.prices.service import Provider, ServiceRate


class Catalog(Frozen):
    """The bundled catalogs with the user's own files layered on top; keys are ids."""

    accelerators: dict[str, Accelerator]
    aliases: dict[str, str] = Field(default_factory=dict)
    """Other names of accelerators, to their ids; empty in an old lock."""
    nodes: dict[str, Node]
    prices: tuple[Price, ...]
    """Bundled prices, and those that refreshes fetched; `origin` tells them apart."""
    unread: tuple[Unread, ...] = ()
    """Fetched prices that a search did not read."""
    own_prices: tuple[Price, ...] = ()
    """The user's prices. They replace others for the same instance, kind and region."""
    credits: tuple[Credit, ...] = ()
    """Credits of the user's price book, if the command has --with-price-book."""
    services: tuple[ServiceRate, ...] = ()
    """Service rates, the user's first."""
    providers: dict[str, Provider] = Field(default_factory=dict)
    """Names of providers. One without a name, as in a lock stored before 0.2.0, is called by its id."""
    sites: dict[str, Site]
    tariffs: dict[str, Tariff]
    countries: dict[str, Country] = Field(default_factory=dict)
    """Countries; empty in an old lock, like the next field."""
    electricity_prices: dict[str, ElectricityPrice] = Field(default_factory=dict)
    storage: dict[str, StorageKind] = Field(default_factory=dict)
    """Kinds of storage; empty only in an older lock that counted no stalls, like the next field."""
    convergence: dict[str, ConvergenceSpread] = Field(default_factory=dict)
    presets: dict[str, Preset]
    runs: dict[str, RunRecord]
    impossible_runs: tuple[str, ...] = ()
    """Sorted ids of runs that cannot be true as stated, if a plan is answered (docs/audit.md)."""
    doubtful_runs: tuple[str, ...] = ()
    """Sorted ids of runs that are hard to believe."""
    probes: dict[str, ProbeRecord] = Field(default_factory=dict)
    """Kernels of a training step, measured one by one on the user's machines."""
    bundled_runs: frozenset[str]
    """Ids of the runs that ship with the planner. The others are the user's."""
    bundled_sites: frozenset[str] = frozenset()
    """Ids of the example sites that ship with the planner."""
    defaults: Defaults
    calibration: Calibration | None = None
    """Constants fitted to published measurements; None predicts from ratios of the user's runs."""
    image_calibration: Calibration | None = None
    """Constants for image networks, which have other operators."""
    practice: PracticeFit | None = None
    """Stretch of whole trainings over their steps; None only in an old lock, whose times are a benchmark's."""

    def calibration_for(self, sample: str | None) -> Calibration | None:
        """Return the calibration for samples of a kind, tokens or images; for an unknown kind that for tokens."""
        return self.image_calibration if sample == "image" else self.calibration

    @field_serializer("bundled_runs", "bundled_sites", when_used="json")
    def _in_order(self, ids: frozenset[str]) -> list[str]:
        """Write them sorted. A set has another order in every process, so two locks of one plan would differ."""
        return sorted(ids)

    def preset_named(self, name: str) -> Preset | None:
        """Return a workload by its id, or by a name as people write it; None if there is none."""
        if name in self.presets:
            return self.presets[name]
        return self._preset_of(name) or self._preset_of(original_name(name)) or self._base_of(name)

    def preset_called(self, words: str | None) -> Preset | None:
        """Return the workload that a trainer's word or the path of a folder means; None if it means none."""
        found = (self.preset_named(name) for name in preset_words(words)) if words else ()
        return next((preset for preset in found if preset is not None), None)

    def _base_of(self, name: str) -> Preset | None:
        """Return the network that a name says it was trained from; None if it may be of another kind."""
        if "/" not in name or missing_for(name) is not None:
            return None
        text = {
            known: preset
            for preset in self.presets.values()
            for known in (preset.name, *preset.names)
            if preset.seq_len
        }
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
        """Return a workload by its name. Raises with the nearest names if there is none."""
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
        """Defaults of a bill."""
        assert self.defaults.bill is not None, "the loader fills it in"
        return self.defaults.bill

    @property
    def goodput_defaults(self) -> GoodputDefaults | None:
        """Defaults of interruptions; None only in an old lock, which counts nothing."""
        return self.defaults.goodput

    def find_storage(self, storage_id: str, *, where: str) -> StorageKind:
        """Return a kind of storage by its id. Raises with the known ones if there is none."""
        storage = self.storage.get(storage_id)
        if storage is None:
            known = ", ".join(self.storage) or "none"
            raise NotFoundError("storage", storage_id, self.storage, where=where, fix=f"Known: {known}")
        return storage

    def find_convergence(self, name: str, *, where: str) -> ConvergenceSpread:
        """Return a spread of convergence by its id. Raises with the known ones if there is none."""
        convergence = self.convergence.get(name)
        if convergence is None:
            known = ", ".join(self.convergence) or "none"
            raise NotFoundError("convergence", name, self.convergence, where=where, fix=f"Known: {known}")
        return convergence

    @property
    def owning_defaults(self) -> OwningDefaults:
        """Defaults of the cost of owning."""
        assert self.defaults.owning is not None, "the loader fills it in"
        return self.defaults.owning

    @property
    def holding_defaults(self) -> HoldingDefaults:
        """Defaults of holding a machine."""
        assert self.defaults.holding is not None, "the loader fills it in"
        return self.defaults.holding

    def find_site(self, site_id: str, *, where: str) -> Site:
        """Return a site by its id. Raises with the known ones if there is none."""
        site = self.sites.get(site_id)
        if site is None:
            raise NotFoundError("site", site_id, self.sites, where=where, fix=f"Known: {', '.join(self.sites)}")
        return site

    def find_tariff(self, tariff_id: str, *, where: str) -> Tariff:
        """Return a tariff by its id. Raises with the known ones if there is none."""
        tariff = self.tariffs.get(tariff_id)
        if tariff is None:
            known = ", ".join(self.tariffs) or "none"
            raise NotFoundError("tariff", tariff_id, self.tariffs, where=where, fix=f"Known: {known}")
        return tariff

    def find_country(self, code: str, *, where: str) -> Country:
        """Return a country by its code. Raises with the known ones if there is none."""
        country = self.countries.get(code)
        if country is None:
            known = ", ".join(self.countries) or "none"
            fix = f"Known: {known}. Elsewhere leave it out, and state the price of a kWh."
            raise NotFoundError("country", code, self.countries, where=where, fix=fix)
        return country

    def find_run(self, run_id: str, *, where: str = "") -> RunRecord:
        """Return a run by its id. Raises with the nearest ids if there is none."""
        run = self.runs.get(run_id)
        if run is None:
            raise NotFoundError("run", run_id, self.runs, where=where, fix="List them with: planner runs list")
        return run


def _owner(name: str) -> str:
    return name.rpartition("/")[0].casefold()
