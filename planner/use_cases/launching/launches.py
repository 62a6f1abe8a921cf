"""Starts launches, resumes them, checks on them, collects their results and takes them down. Spends money."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from planner.adapters.catalog import accelerator_aliases
from planner.adapters.workspace import workspace_dir
from planner.errors import NodeError, PlannerError
from planner.launcher.collect.launch_record import probe_of_launch, record_of_launch
from planner.launcher.collect.probe_record import is_probe
from planner.launcher.collect.results import collected, read_probes, read_result
from planner.launcher.drive import gone
from planner.launcher.drive.campaign import LaunchGroup, Watch, raise_worst
from planner.launcher.drive.context import utc_now
from planner.launcher.drive.drive import Driver
from planner.launcher.drive.unwritten import fault_text
from planner.launcher.ledger.entry import LedgerEntry
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import Backend, Launch
from planner.launcher.plan.guard import LaunchLimits, check_launches
from planner.launcher.plan.instant import Instant, boot_instant
from planner.launcher.plan.target import Reach
from planner.launcher.plan.task import with_expiry
from planner.use_cases import runs
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.expectations import expect_from
from planner.use_cases.launching.account_budget import NOT_SET, AccountCheck, running_in_accounts, used_usd
from planner.use_cases.launching.launch_plan import Planned, check_prices_again, read_budget
from planner.use_cases.launching.launch_target import open_backend

WHY_OPEN = ("PROBLEM", "UNKNOWN", "STILL_UP", "SETTLING")
"""Kinds of events that tell why a launch is not over."""
LEDGER_FILE = "ledger.sqlite"
LAUNCHES_FOLDER = "launches"
DIRECT_POLL_S = 2.0
SKY_POLL_S = 15.0


@dataclass
class Launches:
    """The launches of one workspace and the ways to reach their machines."""

    home: str | None = None
    now: Callable[[], datetime] = utc_now
    instant: Callable[[], Instant] = boot_instant
    poll_s: float | None = None
    """Seconds between two checks; None for the backend's usual interval."""
    watch: Watch = field(default_factory=Watch)
    tell: Callable[[str], None] = lambda _text: None
    """Receives urgent messages for the user while launches are watched."""
    _backends: dict[Reach, Backend] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def ledger(self) -> Ledger:
        """Ledger of the workspace."""
        return Ledger(workspace_dir(self.home) / LEDGER_FILE)

    @property
    def folder(self) -> Path:
        """Folder with one subfolder per launch."""
        return workspace_dir(self.home) / LAUNCHES_FOLDER

    def backend(self, reach: Reach) -> Backend:
        """Return the backend for this way to reach machines. Each is created once."""
        with self._lock:
            if reach not in self._backends:
                self._backends[reach] = open_backend(reach, self.folder, home=self.home)
            return self._backends[reach]

    def close(self) -> None:
        """Close the connections to machines. Launches continue."""
        for backend in self._backends.values():
            backend.close()
        self._backends.clear()

    def driver(self, launch: Launch) -> Driver:
        """Return the driver of this launch."""
        return Driver(
            ledger=self.ledger,
            backend=self.backend(launch.target.reach),
            folder=self.folder,
            now=self.now,
            instant=self.instant,
            watch=self.watch,
            tell=self.tell,
        )

    def check(self, planned: Sequence[Planned], limits: LaunchLimits) -> None:
        """Raise RefusedError if a price, a cap, the budget or the deadline forbids the launches. Writes nothing."""
        path = workspace_dir(self.home) / LEDGER_FILE
        self._check_against(planned, limits, self.ledger.entries() if path.exists() else [])

    def check_target(self, launch: Launch) -> tuple[str, ...]:
        """Let the backend check the launch without spending money."""
        return self.backend(launch.target.reach).check(launch)

    def start(self, planned: Sequence[Planned], limits: LaunchLimits, *, tick: Callable[[], None]) -> list[LedgerEntry]:
        """Check launches against the current ledger, write every intent into it, then drive all of them to the end.

        Each intent contains the account of its machines, which later proves that no machine remains. A provider that
        does not answer now therefore gets no order.
        """
        launches, now = [], self.now()  # the plan may be hours old when the user says yes
        check_prices_again(planned, home=self.home, today=now.date())
        for plan in planned:  # missing software and silent providers are reported before anything is written
            backend = self.backend(plan.launch.target.reach)
            backend.ready(plan.launch)
            end = now + timedelta(minutes=plan.launch.bill.caps.worst_minutes)
            changed = {"task": with_expiry(plan.launch.task, end), "account": backend.account(plan.launch)}
            launches.append(plan.launch.model_copy(update=changed))
        check_account = self._account_check(launches)

        def check(entries: Sequence[LedgerEntry]) -> None:
            self._check_against(planned, limits, entries)
            check_account(entries)

        with self._settled_also_after_a_failure(launches):
            self._campaign(tick).start(launches, check=check)
        return self._each([launch.run_id for launch in launches], self.settle)

    def resume(self, run_ids: Sequence[str], *, tick: Callable[[], None]) -> list[LedgerEntry]:
        """Continue launches where their last client left them. Finished launches get a missing record."""
        entries = [self.ledger.entry(run_id) for run_id in run_ids]
        with self._settled_also_after_a_failure([entry.launch for entry in entries]):
            self._campaign(tick).resume([entry.launch for entry in entries if entry.open])
        over = {entry.launch.run_id: entry for entry in entries if not entry.open}

        def collected_and_settled(run_id: str) -> LedgerEntry:
            entry = over.get(run_id)
            if entry is not None and not self._results(entry):
                self.driver(entry.launch).collect_again(run_id)
            return self.settle(run_id)

        return self._each(run_ids, collected_and_settled)

    def step_each(self, run_ids: Sequence[str]) -> list[LedgerEntry]:
        """Do one step for each launch."""
        return self._each(run_ids, self.step)

    def is_late(self, entry: LedgerEntry) -> bool:
        """Return True if the time of a launch is over, by better evidence than the clock if available."""
        return self.driver(entry.launch).is_late(entry)

    def step(self, run_id: str) -> LedgerEntry:
        """Do one step for a launch, unless another client drives it."""
        self.driver(self.ledger.entry(run_id).launch).step_if_free(run_id)
        return self.settle(run_id)

    def cancel(self, run_id: str) -> LedgerEntry:
        """Collect the results of a launch, then take it down, even if another client drives it or it is over."""
        self.driver(self.ledger.entry(run_id).launch).cancel(run_id)
        return self.settle(run_id)

    def cancel_all(
        self, run_ids: Sequence[str], *, account_changed: bool = False
    ) -> tuple[list[LedgerEntry], dict[str, Exception]]:
        """Take launches down one after the other. Return their ledger entries, and the failures by launch.

        A failure never stops the others. Launches whose proof takes time are checked until it is there.
        `account_changed`: the user confirms that the keys or the host here are those of the launch.
        """
        failures: dict[str, Exception] = {}
        trust: list[Callable[[str], object]] = [self.trust_account] if account_changed else []
        for do in (*trust, self.cancel, self.see_settled):
            for run_id in run_ids:
                try:
                    do(run_id)
                except Exception as error:  # noqa: BLE001  whatever one launch raises, the next one costs money too
                    failures.setdefault(run_id, error)
        return [self.ledger.entry(run_id) for run_id in run_ids], failures

    def why_open(self, run_id: str) -> str:
        """Return the last recorded reason why a launch is not over; empty if there is none."""
        events = reversed(self.ledger.events(run_id))
        return next((event.text for event in events if event.kind in WHY_OPEN and event.text), "")

    def trust_account(self, run_id: str) -> None:
        """Record the user's statement that the keys here are those of a launch's account."""
        launch = self.ledger.entry(run_id).launch
        account = self.backend(launch.target.reach).account(launch)
        self.ledger.set_account(run_id, account, at=self.now(), forget_marks=not launch.target.through_sky)

    def see_settled(self, run_id: str) -> LedgerEntry:
        """Repeat taking down a launch whose proof only needs time, until it is proven or a time limit ends.

        Does not wait for another client that holds the lock of the launch, because it may be suspended (Ctrl-Z).
        """
        entry = self.ledger.entry(run_id)
        driver = self.driver(entry.launch)
        give_up_s = time.monotonic() + gone.settle_limit_s()
        while entry.open and driver.is_settling(run_id) and time.monotonic() < give_up_s:
            time.sleep(self._poll_s(entry.launch))
            driver.step(run_id)
            entry = self.ledger.entry(run_id)
        return self.settle(run_id)

    def settle(self, run_id: str) -> LedgerEntry:
        """Make the RunRecord of a finished launch without one, or record once why there is none."""
        entry = self.ledger.entry(run_id)
        if entry.open or entry.record_id is not None:
            return entry
        events = self.ledger.events(run_id)
        if any(event.kind == "NO_RECORD" for event in events):
            return entry
        try:
            results = self._results(entry)
            if not results:
                return entry
            record_id = self._store(entry, results)
        except Exception as error:  # noqa: BLE001  what a node sent may be anything, and the launch is over all the same
            kind = "PROBLEM" if isinstance(error, PlannerError) and not isinstance(error, NodeError) else "NO_RECORD"
            self.ledger.note(run_id, kind, fault_text(error), at=self.now())
            return entry
        self.ledger.set_record(run_id, record_id)
        self.ledger.note(run_id, "RECORD", record_id, at=self.now())
        return self.ledger.entry(run_id)

    def _store(self, entry: LedgerEntry, results: Sequence[dict[str, object]]) -> str:
        """Store the record of a launched training or probe, and return its id."""
        where, aliases = self.folder / entry.launch.run_id, accelerator_aliases()
        if is_probe(results[0]):
            probe = probe_of_launch(entry, results[0], aliases=aliases, where=str(where))
            runs.store_probe(probe, self.home)
            return probe.id
        expect, probes = expect_from(open_catalog(self.home)), read_probes(where)
        record = record_of_launch(entry, results, aliases=aliases, where=str(where), expect=expect, probes=probes)
        runs.store_run(record, self.home)
        return record.id

    def _each(self, run_ids: Sequence[str], do: Callable[[str], LedgerEntry]) -> list[LedgerEntry]:
        """Do something for each launch even if others fail, then raise the worst failure."""
        entries: list[LedgerEntry] = []
        failures: dict[str, BaseException] = {}
        for run_id in run_ids:
            try:
                entries.append(do(run_id))
            except Exception as error:  # noqa: BLE001  one bad launch must not stop the others
                failures[run_id] = error
        raise_worst(failures)
        return entries

    def _results(self, entry: LedgerEntry) -> list[dict[str, object]]:
        folder = self.folder / entry.launch.run_id
        files = collected(folder, run_id=entry.launch.run_id, nodes=entry.launch.target.nodes)
        return [result for path in files.results if (result := read_result(path)) is not None]

    def _check_against(
        self, planned: Sequence[Planned], limits: LaunchLimits, entries: Collection[LedgerEntry]
    ) -> None:
        budget = read_budget(self.home)
        total_usd = None if budget is None else budget.total_usd
        budgeted = limits.model_copy(update={"budget_usd": total_usd, "budget_used_usd": used_usd(entries)})
        check_launches([(plan.launch.target, plan.launch.bill) for plan in planned], budgeted, now=self.now())

    def _account_check(self, launches: Sequence[Launch]) -> Callable[[Sequence[LedgerEntry]], None]:
        """Return a check that raises RefusedError if `account_usd` forbids these launches.

        The account is queried now. The check compares with the ledger at the time when it is written.
        """
        budget = read_budget(self.home) if any(launch.target.is_cloud for launch in launches) else None
        if budget is None or budget.account_usd is None:
            if any(launch.target.is_cloud for launch in launches):
                self.tell(NOT_SET)
            return lambda _entries: None
        check = AccountCheck(
            launches, running_in_accounts(launches), budget.account_usd, catalog=open_catalog(self.home), now=self.now()
        )
        return check.raise_where_too_dear

    @contextlib.contextmanager
    def _settled_also_after_a_failure(self, launches: Sequence[Launch]) -> Iterator[None]:
        """Make the records of all launches even after a failure: an unreachable machine must not block the others."""
        try:
            yield
        except Exception:
            for launch in launches:
                with contextlib.suppress(Exception):
                    self.settle(launch.run_id)
            raise

    def _campaign(self, tick: Callable[[], None]) -> LaunchGroup:
        return LaunchGroup(ledger=self.ledger, driver_of=self.driver, poll_s=self._poll_s, tick=tick)

    def _poll_s(self, launch: Launch) -> float:
        return self.poll_s or (SKY_POLL_S if launch.target.through_sky else DIRECT_POLL_S)
