"""The wheel: built from the tracked files, installed away from the checkout, it answers and has all it needs."""

from __future__ import annotations

import importlib.metadata
import json
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.conftest import python

ROOT = Path(__file__).parents[2]
OURS = "training-planner"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    python(*pip, "--target", str(target), str(wheel), cwd=target)
    return target


@pytest.mark.slow
class TestWheel:
    def test_planner_estimate_answers_from_it(self, installed, tmp_path):
        plan = installed / "planner" / "_examples" / "dgx_station_v100.yaml"
        script = installed / "bin" / "planner"
        out = python(str(script), "estimate", str(plan), "--json", cwd=tmp_path, PYTHONPATH=str(installed))
        station = next(option for option in json.loads(out)["options"] if option["site"] == "dgx-station-v100")
        assert f"{station['epoch_hours']['value']:.3f}" == "5.669"
        assert list(tmp_path.iterdir()) == [], "an estimate leaves nothing behind"

    def test_code_catalogs_and_examples_are_its_own(self, installed, tmp_path):
        code = (
            "import planner, json\n"
            "from planner import launcher, workloads\n"
            "from planner.adapters.workspace import catalogs_dir, examples_dir\n"
            "from planner.adapters.catalog import load_catalog\n"
            "assert len(load_catalog().runs) == 17\n"
            "print(json.dumps([*map(str, (planner.__path__[0], launcher.__path__[0], workloads.__path__[0], "
            "catalogs_dir(), examples_dir()))]))\n"
        )
        places = json.loads(python("-c", code, cwd=tmp_path, PYTHONPATH=str(installed)))
        assert all(Path(place).resolve().is_relative_to(installed.resolve()) for place in places)

    def test_every_catalog_file_and_example_ships(self, installed):
        for name, shipped in (("catalogs", "_catalogs"), ("examples", "_examples")):
            here = {path.relative_to(ROOT / name) for path in (ROOT / name).rglob("*") if path.is_file()}
            there = installed / "planner" / shipped
            assert here == {path.relative_to(there) for path in there.rglob("*") if path.is_file()}

    @pytest.mark.parametrize(
        "name",
        [
            "planner/ui/.streamlit/config.toml",
            "planner/present/page/templates/report.html",
            "planner/ui/app.py",
            "planner/ui/streamlit_app.py",
            "planner/_catalogs/templates/plan.yaml",
            "planner/launcher/__init__.py",
            "planner/workloads/train.py",
            "planner/workloads/README.md",
        ],
    )
    def test_a_file_ships(self, installed, name):
        assert (installed / name).is_file()

    def test_all_code_ships(self, installed):
        for package, inside in (
            ("planner", "planner"),
            ("launcher", "planner/launcher"),
            ("workloads", "planner/workloads"),
        ):
            here = {path.relative_to(ROOT / package) for path in (ROOT / package).rglob("*.py")}
            there = {path.relative_to(installed / inside) for path in (installed / inside).rglob("*.py")}
            assert here
            assert here <= there

    def test_nothing_else_ships(self, wheel):
        with ZipFile(wheel) as archive:
            tops = {name.partition("/")[0] for name in archive.namelist()}
        assert {top for top in tops if not top.endswith(".dist-info")} == {"planner"}

    def test_no_file_ships_twice_and_no_litter_ships(self, wheel):
        with ZipFile(wheel) as archive:
            names = archive.namelist()
        assert len(names) == len(set(names))
        assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".part"))]

    def test_the_licence_ships(self, wheel):
        with ZipFile(wheel) as archive:
            assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())

    def test_init_compare_and_report_work_from_it(self, installed, tmp_path):
        script = str(installed / "bin" / "planner")
        python(script, "init", "plan.yaml", cwd=tmp_path, PYTHONPATH=str(installed))
        python(script, "compare", "plan.yaml", "--json", cwd=tmp_path, PYTHONPATH=str(installed))
        python(script, "report", "plan.yaml", "--out", "report.md", cwd=tmp_path, PYTHONPATH=str(installed))
        assert {path.name for path in tmp_path.iterdir()} == {"plan.yaml", "report.md"}


def test_no_other_distribution_owns_our_name():
    assert set(importlib.metadata.packages_distributions().get("planner", [OURS])) == {OURS}


def test_the_core_needs_no_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {requirement.partition(">")[0] for requirement in project["dependencies"]}
    assert needed == {
        "babel", "filelock", "highspy", "httpx", "jinja2", "numpy", "pydantic", "pydantic-core", "pyyaml", "rich",
        "typer", "xlsxwriter",
    }  # fmt: skip
    assert {"app", "bench", "configs", "mcp", "prices", "launch", "dev"} == set(project["optional-dependencies"])


@pytest.mark.parametrize("name", ["planner", "training-planner"])
def test_the_script_points_at_a_function(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    script = importlib.metadata.EntryPoint(name, project["scripts"][name], "console_scripts")
    assert callable(script.load())


def test_constraints_pin_exact_versions():
    lines = [line.strip() for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()]
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert all("==" in pin for pin in pins)
    assert any(pin.startswith("torch==2.13.0") for pin in pins)
