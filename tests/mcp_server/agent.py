"""An agent that calls the tools of `planner mcp` over stdio, by the SDK's own client."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parents[2]
PID = "server.pid"
START = """
import os, pathlib, sys
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
from planner.cli.main import main
main(sys.argv[2:])
"""


class Agent:
    """A connected client; its calls wait for the answer."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self._client = client
        self._portal = portal

    def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self._portal.call(self._client.list_tools).tools}

    def instructions(self) -> str:
        return self._client.instructions or ""

    def call(self, tool: str, **arguments: Any) -> Any:
        return self._portal.call(self._client.call_tool, tool, arguments)

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error, result.content
        return result.content[0].text


@contextmanager
def connected(folder: Path, state: Path, **environment: str) -> Iterator[Agent]:
    """Start the server of a folder, connect, and end it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", START, str(state / PID), "mcp", "--folder", str(folder)],
        env={
            "PYTHONPATH": str(ROOT),
            "PLANNER_HOME": str(state / "workspace"),
            "XDG_STATE_HOME": str(state),
            "HOME": str(state),
            "PATH": os.environ["PATH"],
        }
        | environment,
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(stdio_client(server))) as client:
        yield Agent(client, portal)
