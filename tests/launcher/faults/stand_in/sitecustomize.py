"""Python reads this at its start, in the command line and in the worker: waits of a test's length, and when to die.

`FAULT_SETTINGS` is JSON: `{"module:NAME": seconds}` sets constants as their module is imported; `FAULT_KILLED_AT` names
the state of the ledger at which the process is killed once it stands there, or a `module:function` as it is called.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import ModuleType
from typing import Any, ClassVar

LEDGER = "launcher.ledger.ledger"
SETTINGS: dict[str, Any] = json.loads(os.environ.get("FAULT_SETTINGS", "{}"))
KILLED_AT = os.environ.get("FAULT_KILLED_AT", "")


def deadly(function: Callable[..., Any], *, after: bool, state: str | None = None) -> Callable[..., Any]:
    """Kill the process with the call, before or after it is carried out; only for calls that name the state."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        meant = state is None or state in [str(one) for one in arguments]
        answer = function(*arguments, **named) if after or not meant else None
        if meant:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    return call


def change(module: ModuleType) -> None:
    """Set what concerns this module."""
    for key, value in SETTINGS.items():
        name, _, attribute = key.partition(":")
        if name == module.__name__:
            known = getattr(module, attribute)
            setattr(module, attribute, timedelta(seconds=value) if isinstance(known, timedelta) else value)
    if module.__name__ == LEDGER and KILLED_AT == "PLANNED":
        module.Ledger.plan = deadly(module.Ledger.plan, after=True)
    elif module.__name__ == LEDGER and KILLED_AT.isupper():
        module.Ledger.move = deadly(module.Ledger.move, after=True, state=KILLED_AT)
    elif KILLED_AT.startswith(f"{module.__name__}:"):
        owner: Any = module
        *path, attribute = KILLED_AT.partition(":")[2].split(".")
        for step in path:
            owner = getattr(owner, step)
        setattr(owner, attribute, deadly(getattr(owner, attribute), after=False))


NAMES = {key.partition(":")[0] for key in [*SETTINGS, KILLED_AT]} | {LEDGER}


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
