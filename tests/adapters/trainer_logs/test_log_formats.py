"""Formats of other packages, several logs in a folder, and which format has a file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from planner.adapters.trainer_logs import log_formats
from planner.adapters.trainer_logs.log_formats import LogFormat, read_logs
from planner.adapters.trainer_logs.log_source import MOST_FILES, LogSource, open_source
from planner.adapters.trainer_logs.trainer_log import LogSpan, TrainerLog
from planner.errors import InputError

PAGE = Path(__file__).parents[3] / "docs" / "importing-runs.md"


@pytest.mark.parametrize("name", [form.name for form in log_formats.OWN_FORMATS])
def test_the_page_of_formats_names_each(name: str):
    named = {"loops": "loops of one file"}.get(name, f"`{name}`")
    rows = [line.split("|")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert any(named in row for row in rows)


@dataclass
class LoggedPoint:
    """An entry point that brings a value, or fails."""

    name: str
    value: object

    def load(self) -> object:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def plugged(monkeypatch) -> Iterator[pytest.MonkeyPatch]:
    log_formats._plugged_in.cache_clear()
    yield monkeypatch
    log_formats._plugged_in.cache_clear()


def mine(source: LogSource) -> list[TrainerLog]:
    names = source.named(r".*\.mine")
    return [TrainerLog("mine", "my trainer", (LogSpan(0, 10, 5.0),), files=(name,)) for name in names]


def test_a_package_may_bring_a_format(plugged, tmp_path):
    def entry_points(*, group: str) -> list[LoggedPoint]:
        assert group == "training_planner.log_formats"
        return [LoggedPoint("mine", LogFormat("mine", mine))]

    plugged.setattr(log_formats, "entry_points", entry_points)
    (tmp_path / "run.mine").write_text("anything", encoding="utf-8")
    (tmp_path / "log.csv").write_text("step,elapsed_s\n1,1\n2,2\n3,3\n", encoding="utf-8")
    found = read_logs(open_source(tmp_path))
    assert sorted(log.format for log in found) == ["csv", "mine"]


MODULE = """
import re
from planner.adapters.trainer_logs.log_formats import LogFormat
from planner.adapters.trainer_logs.trainer_log import TrainerLog, spans_between

LINE = re.compile(r"batch (\\d+) after (\\d+) seconds")


def read(source):
    logs = []
    for name in source.named(r".*\\.log"):
        found = [LINE.search(line) for line in source.lines(name)]
        spans, doubts = spans_between([(int(one[1]), float(one[2])) for one in found if one])
        if spans:
            logs.append(TrainerLog("mine", "my trainer", tuple(spans), doubts=tuple(doubts), files=(name,)))
    return logs


FORMAT = LogFormat("mine", read)
"""


def test_an_installed_package_s_format_is_found_by_its_entry_point(plugged, tmp_path):
    """Format as docs/importing-runs.md shows it: a module, and the entry point in the package's metadata."""
    site = tmp_path / "site"
    about = site / "planner_mine-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "planner_mine.py").write_text(MODULE, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: planner-mine\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(
        "[training_planner.log_formats]\nmine = planner_mine:FORMAT\n", encoding="utf-8"
    )
    plugged.syspath_prepend(str(site))
    (tmp_path / "run.log").write_text("".join(f"batch {n} after {3 * n} seconds\n" for n in range(9)), encoding="utf-8")
    (log,) = read_logs(open_source(tmp_path / "run.log"))
    assert (log.format, log.spans[0].seconds) == ("mine", 3.0)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        pytest.param(ImportError("no module"), "cannot be loaded: ImportError: no module", id="fails"),
        pytest.param(mine, "is no LogFormat", id="another thing"),
    ],
)
def test_a_broken_package_is_named(plugged, tmp_path, value, told):
    plugged.setattr(log_formats, "entry_points", lambda **_: [LoggedPoint("theirs", value)])
    with pytest.raises(InputError, match=told) as caught:
        read_logs(open_source(tmp_path))
    assert "theirs" in caught.value.message


@pytest.mark.parametrize("name", ["megatron", "nanogpt", "torchtitan", "lightning", "hf_trainer"])
def test_files_beside_a_log_of_any_trainer_name_the_network_and_the_machine(tmp_path, logs, read, name):
    shutil.copytree(logs / name, tmp_path / name)
    (tmp_path / name / "config.json").write_text('{"model_type": "llama", "hidden_size": 64}', encoding="utf-8")
    about = '{"gpu": "NVIDIA A100-SXM4-80GB", "gpu_count": 8, "host": "gpu-17", "username": "alice"}'
    (tmp_path / name / "wandb-metadata.json").write_text(about, encoding="utf-8")
    facts = read(tmp_path / name).facts
    assert (facts.config, facts.accelerator) == ("config.json", "NVIDIA A100-SXM4-80GB")
    assert facts.devices == {"megatron": 2, "torchtitan": 1}.get(name, 8)  # what the log says stands


def test_a_configuration_that_is_none_of_a_network_is_left_alone(tmp_path, logs, read):
    shutil.copytree(logs / "megatron", tmp_path / "run")
    (tmp_path / "run" / "config.json").write_text('{"train_batch_size": 8}', encoding="utf-8")
    assert read(tmp_path / "run").facts.config is None


def test_a_folder_of_too_many_files_is_refused(tmp_path):
    for number in range(MOST_FILES + 1):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(InputError, match="over 2,000 files"):
        open_source(tmp_path)


def test_a_folder_without_a_log_is_refused_with_where_the_formats_stand(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    with pytest.raises(InputError, match="no log of a known format") as caught:
        read_logs(open_source(tmp_path))
    assert "docs/importing-runs.md" in caught.value.fix


def test_links_out_of_a_folder_are_not_followed_to_folders(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "log.csv").write_text("step,elapsed_s\n1,1\n2,2\n", encoding="utf-8")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    with pytest.raises(InputError):
        read_logs(open_source(folder))
