"""`planner init|schema|doctor|ui|mcp`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.adapters import doctor as checks
from planner.adapters.files import write_text
from planner.adapters.workspace import workspace_dir
from planner.cli.output import HomeOption, JsonFlag
from planner.cli.registration import command, command_app
from planner.cli.streams import say
from planner.errors import InputError, MissingExtraError
from planner.model.base import SCHEMA_VERSION
from planner.ui import launch
from planner.ui.address_guard import PUBLIC_URL, origin_of, public_origins
from planner.use_cases import catalogs, plans, schemas

app = command_app()


@command(app, example="planner init plan.yaml")
def init(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="Plan file to write")] = Path("plan.yaml"),
    measured: Annotated[
        str | None, typer.Option(metavar="RUN", help="Run, or latest, whose machine becomes an option")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file")] = False,
    home: HomeOption = None,
) -> None:
    """Write a commented plan file to start from."""
    if out.exists() and not force:
        raise InputError(f"{out}: exists already; nothing was changed.", fix="Name another file, or add --force.")
    text = plans.new_plan(catalogs.open_catalog(home), measured=measured)
    write_text(out, text)
    say(f"Wrote {out}. Next: planner compare {out}")


@command(app, example="planner schema plan > plan.schema.json")
def schema(name: Annotated[str, typer.Argument(metavar="plan|run|site|tariff", help="Kind of file")]) -> None:
    """Print the JSON Schema of a file."""
    sys.stdout.write(schemas.schema_text(name))


@command(app, example="planner doctor --json")
def doctor(as_json: JsonFlag = False, home: HomeOption = None) -> None:
    """Check what is installed, which devices and credentials exist.

    The values of credentials are never shown.
    """
    installed, devices = checks.installed(), checks.devices()
    credentials = checks.credentials(Path.home())
    counts = catalogs.catalog_counts(catalogs.open_catalog(home))
    python = sys.version.split()[0]
    if as_json:
        document = {
            "schema_version": SCHEMA_VERSION,
            "kind": "doctor",
            "date": clock.today().isoformat(),
            "python": python,
            "installed": installed,
            "devices": devices,
            "credentials": credentials,
            "workspace": str(workspace_dir(home)),
            "catalog": counts,
        }
        print(json.dumps(document, indent=1))
        return
    print(f"Python {python}")
    for name, version in installed.items():
        extra = next((extra for extra, names in checks.EXTRAS.items() if name in names), None)
        missing = f"missing; install it with: pip install 'training-planner[{extra}]'" if extra else "missing"
        print(f"{name}: {version or missing}")
    for device in devices:
        print(device)
    for name, present in credentials.items():
        print(f"credentials for {name}: {'present' if present else 'none'}")
    print(f"workspace: {workspace_dir(home)}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


@command(app, example="planner ui --port 8600")
def ui(
    port: Annotated[int | None, typer.Option(help="Port; default: 8501, or the next free one")] = None,
    public_url: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Address under which your own proxy serves it; may be repeated"),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="IP", help="Address of this machine to listen on, beside --public-url; 0.0.0.0: all"),
    ] = None,
) -> None:
    """Open the app in a browser.

    The app runs on this machine alone, and answers no page of another address. Needs the extra `app`.
    """
    if find_spec("streamlit") is None or find_spec("altair") is None:
        raise MissingExtraError("streamlit", "app")
    if public_url:
        os.environ[PUBLIC_URL] = " ".join(origin_of(url) for url in public_url)
    public = public_origins()  # a wrong one is refused here, not by the server
    if listen is not None:
        _check_listened_on(listen, public)
    program, *arguments = launch.command(port, listen)
    os.execv(program, [program, *arguments])  # in this process, so that ending it ends the app


def _check_listened_on(listen: str, public: Sequence[str]) -> None:
    """Refuse invalid addresses, and serving others without the public name."""
    try:
        ip_address(listen)
    except ValueError:
        raise InputError(f"--listen {listen} is no IP address.", fix="Write e.g. --listen 0.0.0.0") from None
    if not public:
        raise InputError(
            "--listen lets other machines in, and the app does not know under which address they come.",
            fix="Name it too: --public-url https://plans.example.org (docs/app.md, Serving a team)",
        )


@command(app, "mcp", example="planner mcp --folder .")
def serve_tools(
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder whose files may be read; default: this one")
    ] = Path(),
    home: HomeOption = None,
) -> None:
    """Serve the planner as tools for AI agents.

    Speaks MCP over stdin and stdout: ask, compare, memory, check_run, find, prices, explain. Reads files below the
    folder alone, and cannot launch anything. Needs the extra `mcp`.
    """
    try:
        import mcp  # noqa: F401  imported alone: another missing module is a bug of ours
    except ModuleNotFoundError:
        raise MissingExtraError("mcp", "mcp") from None
    from planner.mcp_server.server import serve

    serve(folder, home)
