"""Python reads this at its start: it turns SkyPilot's address of Lambda, which no setting changes, to the fake's."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType

MODULE = "sky.provision.lambda_cloud.lambda_utils"


class _Redirect(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        assert spec is not None
        assert spec.loader is not None
        loader, load = spec.loader, spec.loader.exec_module

        def load_and_redirect(module: ModuleType) -> None:
            load(module)
            module.API_ENDPOINT = os.environ["FAKE_LAMBDA_URL"]  # type: ignore[attr-defined]

        loader.exec_module = load_and_redirect  # type: ignore[method-assign]
        return spec


if "FAKE_LAMBDA_URL" in os.environ:
    sys.meta_path.insert(0, _Redirect())
