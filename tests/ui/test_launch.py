"""The app listens on this machine only and makes no calls, however it is started."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from planner.ui.launch import OPTIONS, command, script

CHECKOUT = Path(__file__).parents[2]


def test_the_command_runs_streamlit_on_this_machine_only() -> None:
    found = command(8600)
    assert found[:4] == [sys.executable, "-m", "streamlit", "run"]
    assert {
        "--server.address=127.0.0.1",
        "--server.headless=true",
        "--browser.gatherUsageStats=false",
        "--runner.magicEnabled=false",
        "--server.fileWatcherType=none",
        "--client.showErrorDetails=none",
        "--server.port=8600",
    } <= set(found)


def test_without_a_port_streamlit_chooses_one() -> None:
    assert not [flag for flag in command() if flag.startswith("--server.port")]


def test_another_address_is_a_word_of_its_own() -> None:
    assert "--server.address=0.0.0.0" in command(8600, "0.0.0.0")
    assert "--server.address=127.0.0.1" not in command(8600, "0.0.0.0")
    assert "--browser.serverAddress=localhost" in command(8600, "0.0.0.0"), "else Streamlit asks the internet for it"


def test_the_script_exists() -> None:
    assert script().is_file()


def test_the_flags_and_the_configuration_file_say_the_same() -> None:
    file = tomllib.loads((CHECKOUT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert dict(flat(file)) == OPTIONS


def flat(table: dict[str, object], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", str(value).lower() if isinstance(value, bool) else str(value)
