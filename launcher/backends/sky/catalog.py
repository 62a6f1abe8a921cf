"""A separate SkyPilot for one price. SkyPilot needs a price that its catalog lacks for a Capacity Block."""

from __future__ import annotations

import contextlib
import csv
import io
import shutil
import socket
import zlib
from pathlib import Path

from planner.errors import InputError, NodeError
from planner.launcher.plan.target import Target
from planner.whole_file import whole_file

CATALOG = Path(".sky") / "catalogs" / "v8"
"""Path of the catalogs in SkyPilot's home. Source: CATALOG_SCHEMA_VERSION of skypilot 0.14."""
FIRST_PORT = 21600
"""First port to try.

It is below the ports that Linux gives to clients (32768 to 60999), so that no other connection takes it by chance.
SkyPilot's own server uses 46580.
"""
PORTS = 900
PORT_FILE = "port"


def own_catalog(target: Target, *, usd_per_node_hour: float, sky_home: Path, place: Path) -> dict[str, str]:
    """Copy SkyPilot's catalogs with our price of this target. Return the environment that uses the copy.

    The copy is made again each time, so it is never older than the original. It has no check sums, so SkyPilot does not
    replace it by a download. One place keeps one port, so that the next client meets the same server.
    """
    source = sky_home / CATALOG
    if not (source / "aws" / "vms.csv").is_file():
        fix = "Let SkyPilot fetch it once: sky gpus list --infra aws"
        raise InputError(f"{source}: SkyPilot has no catalog for AWS yet.", fix=fix)
    copy = place / CATALOG
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".meta"), dirs_exist_ok=True)
    _set_price(copy / "aws" / "vms.csv", target, usd_per_node_hour)
    return {"SKY_RUNTIME_DIR": str(place), "SKYPILOT_API_SERVER_LOCAL_PORT": str(_port_of(place))}


def _port_of(place: Path) -> int:
    """Return the port of this place's server: its earlier port, unless another program listens there now.

    SkyPilot would take any program that answers for its own server, and use that server's catalogs.
    """
    kept = place / PORT_FILE
    known = kept.read_text(encoding="utf-8", errors="replace").strip() if kept.exists() else ""
    if known.isdecimal() and (_is_free(int(known)) or _is_ours(int(known), place)):
        return int(known)
    first = zlib.crc32(str(place.resolve()).encode())
    ports = (FIRST_PORT + (first + step) % PORTS for step in range(PORTS))
    port = next((port for port in ports if _is_free(port)), None)
    if port is None:
        raise NodeError(
            f"no port from {FIRST_PORT} on is free for SkyPilot's server.", fix="End a program that has one."
        )
    with whole_file(kept) as file:
        file.write(f"{port}\n".encode())
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server that has just ended blocks nothing
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return False
    return True


def _is_ours(port: int, place: Path) -> bool:
    """Return whether the server of this place listens there. It was started with the place in its environment."""
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if f"--port={port}" in process.cmdline():
                return bool(process.environ().get("SKY_RUNTIME_DIR") == str(place))
    return False


def _set_price(path: Path, target: Target, usd_per_node_hour: float) -> None:
    """Write our price into the rows of the instance type, in its region or in all."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader(file)
        columns, rows = list(reader.fieldnames or ()), list(reader)
    ours = [row for row in rows if row["InstanceType"] == target.name and target.region in (None, row["Region"])]
    if not ours:
        where = f" in {target.region}" if target.region else ""
        raise InputError(f"SkyPilot's catalog has no {target.name}{where}.", fix="Name another region.")
    for row in ours:
        row["Price"] = f"{usd_per_node_hour:.6f}"
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(rows)
    with whole_file(path) as file:
        file.write(text.getvalue().encode())
