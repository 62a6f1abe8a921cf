"""The wheel and its declared dependencies alone, in an environment and a home of their own: what a newcomer gets.

No network: the dependencies are copied from the environment of the tests, by their own lists of files.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.packaging.conftest import ROOT, python

pytestmark = pytest.mark.slow
STEPS = "step,step_seconds\n" + "".join(f"{step},2.0\n" for step in range(1, 41))
Command = Callable[..., subprocess.CompletedProcess[str]]


def closure(requirements: Iterable[str]) -> dict[str, importlib.metadata.Distribution]:
    """Return the installed distributions that some requirements need, directly or not."""
    found: dict[str, importlib.metadata.Distribution] = {}
    open_ends = [(Requirement(requirement), "") for requirement in requirements]
    while open_ends:
        wanted, extra = open_ends.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        known = name in found
        found[name] = importlib.metadata.distribution(name)
        inner = found[name].requires or []
        for extra in wanted.extras or ([] if known else [""]):
            open_ends += [(Requirement(text), extra) for text in inner]
    return found


def declared(*extras: str) -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [
        *project["dependencies"],
        *(requirement for extra in extras for requirement in project["optional-dependencies"][extra]),
    ]


def environment(at: Path, wheel: Path, *extras: str) -> Path:
    """Make an environment with the wheel and what it declares, and nothing else; return its folder of scripts."""
    python("-m", "venv", "--without-pip", str(at), cwd=at.parent)
    site = next((at / "lib").glob("python*/site-packages"))
    for distribution in closure(declared(*extras)).values():
        for file in distribution.files or ():
            origin, target = Path(str(distribution.locate_file(file))), site / file
            if ".." not in file.parts and "__pycache__" not in file.parts and origin.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(origin, target)
    pip = ["-m", "pip", "--python", str(at / "bin" / "python"), "install", "--quiet", "--no-deps", "--no-index"]
    python(*pip, "--disable-pip-version-check", str(wheel), cwd=at.parent)
    return at / "bin"


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("fresh") / "venv", wheel)


@pytest.fixture
def newcomer(base: Path, tmp_path: Path) -> Command:
    """Call the command in an empty folder, with an empty home, and without anything else of the tests' environment."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()

    def call(*arguments: str, script: str = "training-planner") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(base / script), *arguments], cwd=tmp_path / "work", capture_output=True, text=True, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"},
        )  # fmt: skip

    return call


def document(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)


class TestNewcomer:
    @pytest.mark.parametrize(
        "arguments",
        [
            pytest.param(
                ("llama3-8b", "--method", "lora", "--data", "50000x700", "--own", "2xRTX-3090", "--budget", "300"),
                id="two cards of one's own",
            ),
            pytest.param(
                ("seed-000-dgx-station-v100", "--data", "2464256", "--epochs", "10", "--runs", "50", "--own",
                 "dgx-station-v100", "--by", "2027-06", "--on", "p4d"),
                id="fifty runs on a DGX Station or on AWS",
            ),
            pytest.param(
                ("llama3-8b", "--tokens", "10e9", "--on", "p5", "--on", "p4d", "--own", "8xH100"),
                id="p5, p4d or eight H100 of one's own",
            ),
        ],
    )  # fmt: skip
    def test_asks(self, newcomer: Command, arguments: tuple[str, ...]) -> None:
        answer = document(newcomer("ask", *arguments, "--json"))
        assert answer["headline"]
        again = newcomer("show", str(answer["answer_id"]), "--json", script="planner")
        assert document(again) == answer

    def test_asks_whether_it_fits(self, newcomer: Command) -> None:
        assert document(newcomer("memory", "llama3-70b", "--on", "RTX-3090", "--json"))["fits"] == "no"

    def test_checks_the_speed_of_a_log(self, newcomer: Command, tmp_path: Path) -> None:
        log = tmp_path / "steps.csv"
        log.write_text(STEPS, "utf-8")
        facts = ("--workload", "llama3-8b", "--accelerator", "H100-SXM", "--gpus", "8", "--seq-len", "2048")
        answer = document(newcomer("check-run", str(log), *facts, "--global-batch", "16", "--packed", "--json"))
        assert answer["measured"]["value"] == pytest.approx(16 / 2.0), "16 samples in 2 s"

    def test_writes_a_report(self, newcomer: Command) -> None:
        assert newcomer("init", "plan.yaml").returncode == 0
        assert newcomer("report", "plan.yaml", "--out", "report.html").returncode == 0
        assert newcomer("report", "plan.yaml", "--out", "report.ko.xlsx", "--lang", "ko").returncode == 0

    @pytest.mark.parametrize(
        ("arguments", "extra"),
        [
            pytest.param(("mcp",), "mcp", id="mcp"),
            pytest.param(("ui",), "app", id="app"),
            pytest.param(("bench", "cpu-smoke"), "bench", id="bench"),
            pytest.param(("memory", "llama3-8b", "--on", "H100-SXM", "--trace"), "bench", id="trace"),
        ],
    )
    def test_is_told_which_extra_is_missing(self, newcomer: Command, arguments: tuple[str, ...], extra: str) -> None:
        done = newcomer(*arguments)
        assert done.returncode == 2
        assert f"pip install 'training-planner[{extra}]'" in done.stderr
        assert len(done.stderr.splitlines()) <= 2


def test_the_base_has_nothing_heavy() -> None:
    names = closure(declared()).keys()
    assert names.isdisjoint({"torch", "streamlit", "skypilot", "pandas", "altair", "boto3", "mcp", "scipy"})


def test_an_agent_s_server_starts_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    scripts = environment(tmp_path / "venv", wheel, "mcp")
    code = (
        "import anyio, sys\n"
        "from mcp import StdioServerParameters\n"
        "from mcp.client import Client\n"
        "from mcp.client.stdio import stdio_client\n"
        "async def ask():\n"
        "    server = StdioServerParameters(command=sys.argv[1], args=['mcp'])\n"
        "    async with Client(stdio_client(server)) as client:\n"
        "        answer = await client.call_tool('memory', {'workload': 'llama3-70b', 'on': 'RTX-3090'})\n"
        "        print(answer.structured_content['headline'][0])\n"
        "anyio.run(ask)\n"
    )
    done = subprocess.run(
        [str(scripts / "python"), "-c", code, str(scripts / "planner")], cwd=tmp_path, capture_output=True, text=True,
        check=False, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )  # fmt: skip
    assert "Does not fit" in done.stdout, done.stderr


def test_the_wheel_of_the_sdist_is_the_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    out = tmp_path / "out"
    python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), cwd=unpacked)
    with ZipFile(next(out.glob("*.whl"))) as other, ZipFile(wheel) as built:
        assert {info.filename: info.CRC for info in other.infolist()} == {
            info.filename: info.CRC for info in built.infolist()
        }


def test_the_version_is_stated_once(wheel: Path) -> None:
    from planner.use_cases.version import VERSION

    assert wheel.name == f"training_planner-{VERSION}-py3-none-any.whl"
    assert sys.modules["planner"].__version__ == VERSION
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dynamic"]
