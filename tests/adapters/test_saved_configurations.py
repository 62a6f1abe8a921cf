"""Parameters of a config.json, as published and as transformers 5 saves it again: those of its class, to the last one.

`saved_configurations.jsonl` holds what `scripts/saved_configurations.py` built with transformers. Where the extra
`configs` is installed (`pip install -e '.[configs]'`), the classes are built again.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from planner.adapters.model_config.reader import architecture_of
from planner.adapters.model_config.text_families import TEXT_FAMILIES
from planner.network.flops import parameters
from scripts.saved_configurations import names, saved

ROWS = {
    row["name"]: row
    for line in (Path(__file__).parent / "saved_configurations.jsonl").read_text(encoding="utf-8").splitlines()
    for row in (json.loads(line),)
}
HAS_TRANSFORMERS = importlib.util.find_spec("transformers") is not None
NOT_BUILT = {"Yi", "aquila", "baichuan", "chatglm", "dbrx", "deepseek", "internlm2", "orion"}
"""Families whose class transformers 5 does not have, or cannot build from sizes alone."""


@pytest.mark.parametrize("name", ROWS)
def test_a_configuration_has_the_parameters_of_its_class(name):
    assert parameters(architecture_of(ROWS[name]["config"], where=name)) == ROWS[name]["parameters"]


def test_every_family_with_a_formula_is_counted():
    assert {name.partition(",")[0] for name in ROWS} == TEXT_FAMILIES.keys() - NOT_BUILT
    assert len(ROWS) >= 71


@pytest.mark.slow
@pytest.mark.skipif(not HAS_TRANSFORMERS, reason="needs the extra configs")
@pytest.mark.parametrize("name", names())
def test_so_it_has_when_it_is_saved_again(name):
    built = saved(name)
    assert (built is None) == (name not in ROWS)
    if built is not None:
        for config in (built.published, built.whole):
            assert parameters(architecture_of(config, where=name)) == built.parameters
