"""Only the families know the classes of networks; all others ask what a network is, or what its family counts."""

from __future__ import annotations

import ast
from pathlib import Path

import planner
from planner.model.network import architecture
from planner.network.families.known_families import FAMILIES

ROOT = Path(planner.__file__).parent
KINDS = {"Transformer", "Decoder", "MoeDecoder", "Encoder", "Resnet", "Vit", "TextModel", "ImageModel"}
OF_THE_FAMILIES = ("model/network/architecture.py", "network/families/", "network/image_", "workloads/models/")


def checks(path: Path) -> list[str]:
    """Return each `isinstance(..., kind)` in a file, by its line."""
    text = path.read_text(encoding="utf-8")
    if "isinstance(" not in text or not any(kind in text for kind in KINDS):
        return []
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        and KINDS & {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
    ]  # fmt: skip


def test_no_code_outside_the_families_asks_for_the_class_of_a_network() -> None:
    paths = [*ROOT.rglob("*.py"), *(ROOT / "launcher").rglob("*.py"), *(ROOT / "workloads").rglob("*.py")]
    found = {
        check for path in paths if not path.relative_to(ROOT).as_posix().startswith(OF_THE_FAMILIES)
        for check in checks(path)
    }  # fmt: skip
    assert found == set()


def test_the_check_sees_what_it_looks_for(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tests.network.test_families_stand_apart.ROOT", tmp_path)
    (tmp_path / "one.py").write_text("if isinstance(network, Resnet | Vit):\n    pass\n")
    assert checks(tmp_path / "one.py") == ["one.py:1"]


def test_every_kind_has_a_family() -> None:
    assert tuple(FAMILIES) == architecture.KINDS
