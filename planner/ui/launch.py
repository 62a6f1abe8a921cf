"""Starts the app, from a checkout or from an installed wheel."""

from __future__ import annotations

import sys
from pathlib import Path

OPTIONS = {
    "server.address": "127.0.0.1",
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "server.maxUploadSize": "20",
    "runner.magicEnabled": "false",  # it prints docstrings of constants on the page
    "browser.gatherUsageStats": "false",
    "client.showErrorDetails": "none",
    "client.toolbarMode": "minimal",
    "theme.light.primaryColor": "#0072B2",
    "theme.dark.primaryColor": "#56B4E9",
}
"""Options of `.streamlit/config.toml`, which Streamlit reads only beside the script that it runs."""

PAGES = Path(__file__).resolve().with_name("app.py")


def command(port: int | None = None, listen: str | None = None) -> list[str]:
    """Return the command line that serves the app. Without a port, Streamlit takes a free one.

    `listen` is the address on which other machines reach it. Without it, the app serves this machine only.
    """
    options = OPTIONS | ({"server.port": str(port)} if port is not None else {})
    if listen is not None:  # without it, Streamlit asks a server on the internet for this machine's address
        options |= {"server.address": listen, "browser.serverAddress": "localhost"}
    flags = [f"--{name}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "streamlit", "run", str(script()), *flags]


def script() -> Path:
    """Return the checkout's script, whose folder makes `planner` importable, or that of the installed package."""
    here = Path(__file__).resolve().parent
    checkout = here.parents[1]
    if (checkout / "pyproject.toml").is_file() and (checkout / "streamlit_app.py").is_file():
        return checkout / "streamlit_app.py"
    return here / "streamlit_app.py"  # the wheel carries it there
