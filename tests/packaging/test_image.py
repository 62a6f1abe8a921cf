"""The image and the compose file: what they copy is there, no user is root, nothing can be written, health is asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SERVICE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["planner"]
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("name", [line[1:] for line in IGNORED if line.startswith("!")])
def test_what_the_image_is_built_of_is_there(name: str) -> None:
    assert (ROOT / name).exists()


def test_only_what_is_named_goes_into_the_image() -> None:
    assert IGNORED[0] == "*"
    assert "!planner-data" not in IGNORED


def test_every_base_is_pinned_by_its_digest_and_kept_up_to_date() -> None:
    stages = set(re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE, re.MULTILINE))
    bases = [name for name in re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) if name not in stages]
    assert bases
    assert all(re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", name) for name in bases)
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert "docker" in {update["package-ecosystem"] for update in updates}


def test_the_image_runs_the_app_as_nobody_special() -> None:
    last = DOCKERFILE.split("FROM ")[-1]
    assert re.search(r"^USER planner$", last, re.MULTILINE)
    assert last.index("USER planner") < last.index('CMD ["planner"')
    assert 'CMD ["planner", "ui", "--port", "8501", "--listen", "0.0.0.0"]' in last
    assert "HEALTHCHECK" in last


def test_the_service_is_read_only_and_published_on_this_machine_alone() -> None:
    assert SERVICE["read_only"] is True
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["ports"] == ["127.0.0.1:8501:8501"]
    assert all(volume.endswith(":ro") for volume in SERVICE["volumes"])
    assert SERVICE["environment"]["PLANNER_UI_PUBLIC_URL"].endswith(":-http://localhost:8501}")


def test_both_ask_for_health_where_the_app_answers() -> None:
    for text in (DOCKERFILE, str(SERVICE["healthcheck"]["test"])):
        assert "http://127.0.0.1:8501/_stcore/health" in text
