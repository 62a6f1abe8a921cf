"""`planner mcp`: the planner as tools for AI agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.output import HomeOption
from planner.cli.registration import command, command_app
from planner.errors import MissingExtraError

app = command_app()


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
