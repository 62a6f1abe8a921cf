"""Python reads this at its start: it turns addresses in SkyPilot that no setting changes to the fakes.

Lambda's, and those of the internet that the controller of managed jobs must reach before it looks at a job.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import ClassVar

MODULES = {
    "sky.provision.lambda_cloud.lambda_utils": ("API_ENDPOINT", lambda: os.environ["FAKE_LAMBDA_URL"]),
    "sky.backends.backend_utils": ("_TEST_IP_LIST", lambda: [f"{os.environ['AWS_ENDPOINT_URL']}/fake/internet"]),
}


class _Redirect(importlib.abc.MetaPathFinder):
    under_way: ClassVar[set[str]] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if name not in MODULES or name in self.under_way:
            return None
        self.under_way.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.under_way.remove(name)
        assert spec is not None
        assert spec.loader is not None
        loader, load = spec.loader, spec.loader.exec_module

        def load_and_redirect(module: ModuleType) -> None:
            load(module)
            attribute, address = MODULES[name]
            assert hasattr(module, attribute), f"{name} has no {attribute} any more"
            setattr(module, attribute, address())

        loader.exec_module = load_and_redirect  # type: ignore[method-assign]
        return spec


if "FAKE_LAMBDA_URL" in os.environ:
    sys.meta_path.insert(0, _Redirect())
