"""Python reads this at its start, in the command line and in the worker: lengths of waits, and what happens when.

`FAULT_SETTINGS` is JSON: `{"module:NAME": seconds}` sets constants as their module is imported. `FAULT_AT` names the
state of the ledger, or a `module:function`, at which `FAULT_DOES` is done to this process: see `DEEDS`. `FAULT_CLOCK_H`
sets the clock of this process by hours, `FAULT_BOOT` gives its machine another boot, `FAULT_AWAKE_H` a longer one.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

LEDGER = "planner.launcher.ledger.ledger"
SETTINGS: dict[str, Any] = json.loads(os.environ.get("FAULT_SETTINGS", "{}"))
AT = os.environ.get("FAULT_AT", "")
DOES = os.environ.get("FAULT_DOES", "kill")
CLOCK_H = [float(os.environ.get("FAULT_CLOCK_H", "0"))]
"""Hours by which the clock is wrong."""
BOOT = os.environ.get("FAULT_BOOT", "")
AWAKE_S = 3600.0 * float(os.environ.get("FAULT_AWAKE_H", "0"))


def _signal(number: int) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def _full() -> None:
    """Let no file grow any more, as a full disk does (EFBIG instead of ENOSPC)."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def _ledger() -> Path:
    return Path(os.environ["PLANNER_HOME"]) / "ledger.sqlite"


DEEDS: dict[str, Callable[[], object]] = {
    "kill": _signal(signal.SIGKILL),
    "term": _signal(signal.SIGTERM),
    "hup": _signal(signal.SIGHUP),
    "int": _signal(signal.SIGINT),
    "full": _full,
    "delete": lambda: _ledger().unlink(),
    "damage": lambda: _ledger().write_bytes(b"no ledger" * 1000),
    "forward": lambda: CLOCK_H.append(30.0),
    "back": lambda: CLOCK_H.append(-30.0),
}


def deed(function: Callable[..., Any], *, after: bool, state: str | None = None) -> Callable[..., Any]:
    """Do what is to be done with the call, before or after it is carried out; only for calls that name the state."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        meant = state is None or state in [str(argument) for argument in arguments]
        if after:
            answer = function(*arguments, **named)
            if meant:
                DEEDS[DOES]()
            return answer
        DEEDS[DOES]()
        return function(*arguments, **named)

    return call


def _clocks(module: ModuleType) -> None:
    """Let this process see another time."""
    if module.__name__ == "planner.launcher.drive.context":
        now: Callable[[], Any] = vars(module)["utc_now"]
        vars(module)["utc_now"] = lambda: now() + timedelta(hours=sum(CLOCK_H))
    if module.__name__ == "planner.launcher.plan.instant" and (BOOT or AWAKE_S):
        instant: Callable[[], Any] = vars(module)["boot_instant"]

        def elsewhere() -> Any:
            at = instant()
            return at.model_copy(update={"boot": BOOT or at.boot, "s": at.s + AWAKE_S})

        vars(module)["boot_instant"] = elsewhere


def change(module: ModuleType) -> None:
    """Set what concerns this module."""
    for key, value in SETTINGS.items():
        name, _, attribute = key.partition(":")
        if name == module.__name__:
            known = getattr(module, attribute)
            setattr(module, attribute, timedelta(seconds=value) if isinstance(known, timedelta) else value)
    _clocks(module)
    if module.__name__ == LEDGER and AT == "PLANNED":
        module.Ledger.plan = deed(module.Ledger.plan, after=True)
    elif module.__name__ == LEDGER and AT.isupper():
        module.Ledger.move = deed(module.Ledger.move, after=True, state=AT)
    elif AT.startswith(f"{module.__name__}:"):
        owner: Any = module
        *path, attribute = AT.partition(":")[2].split(".")
        for step in path:
            owner = getattr(owner, step)
        setattr(owner, attribute, deed(getattr(owner, attribute), after=False))


NAMES = {key.partition(":")[0] for key in [*SETTINGS, AT]} | {
    LEDGER,
    "planner.launcher.drive.context",
    "planner.launcher.plan.instant",
}


class _Change(importlib.abc.MetaPathFinder):
    under_way: ClassVar[set[str]] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if name not in NAMES or name in self.under_way:
            return None
        self.under_way.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.under_way.remove(name)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def load_and_change(module: ModuleType) -> None:
            load(module)
            change(module)

        spec.loader.exec_module = load_and_change  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _Change())
