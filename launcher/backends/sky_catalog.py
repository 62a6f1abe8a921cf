"""A SkyPilot of its own for one price: its catalog has no price for what is sold as a Capacity Block, and needs one."""

from __future__ import annotations

import csv
import shutil
import zlib
from pathlib import Path

from launcher.target import Target
from planner.errors import InputError

CATALOG = Path(".sky") / "catalogs" / "v8"
"""Below SkyPilot's home. Source: CATALOG_SCHEMA_VERSION of skypilot 0.14."""
FIRST_PORT = 46600
"""SkyPilot's own server takes 46580."""
PORTS = 900


def own_catalog(target: Target, *, usd_per_node_hour: float, sky_home: Path, place: Path) -> dict[str, str]:
    """Make a copy of SkyPilot's catalogs with our price of this target; return the environment that uses it.

    The copy is made again each time, so it is never older than the original; without SkyPilot's check sums it is not
    replaced by a download. One place has one port, so the next client meets the same server.
    """
    source = sky_home / CATALOG
    if not (source / "aws" / "vms.csv").is_file():
        fix = "Let SkyPilot fetch it once: sky gpus list --infra aws"
        raise InputError(f"{source}: SkyPilot has no catalog for AWS yet.", fix=fix)
    copy = place / CATALOG
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".meta"), dirs_exist_ok=True)
    _set_price(copy / "aws" / "vms.csv", target, usd_per_node_hour)
    port = FIRST_PORT + zlib.crc32(str(place.resolve()).encode()) % PORTS
    return {"SKY_RUNTIME_DIR": str(place), "SKYPILOT_API_SERVER_LOCAL_PORT": str(port)}


def _set_price(path: Path, target: Target, usd_per_node_hour: float) -> None:
    """Write our price into the rows of the instance type, in its region or in all."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        columns, rows = list(reader.fieldnames or ()), list(reader)
    ours = [row for row in rows if row["InstanceType"] == target.name and target.region in (None, row["Region"])]
    if not ours:
        where = f" in {target.region}" if target.region else ""
        raise InputError(f"SkyPilot's catalog has no {target.name}{where}.", fix="Name another region.")
    for row in ours:
        row["Price"] = f"{usd_per_node_hour:.6f}"
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)
