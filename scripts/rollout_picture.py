"""Draws docs/images/rollout_phases.svg: the phases of one step of examples/grpo_7b.yaml in three arrangements.

    python -m scripts.rollout_picture

The seconds are those that the planner answers for eight H100s, and for sixteen of which eight generate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from planner.adapters.documents import read_model
from planner.adapters.workspace import examples_dir
from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.scenario.candidate import expand
from planner.scenario.job import resolve_job
from planner.speed.throughput.fastest_strategy import fastest
from planner.use_cases.catalogs import open_catalog

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "rollout_phases.svg"
COLOURS = {
    "generation": "#2a6f97", "reward": "#b08968", "old_policy": "#8ab17d", "reference": "#e9c46a",
    "values": "#b5838d", "training": "#e76f51", "critic": "#9c6644", "weights": "#6d6875", "waiting": "#d9d9d9",
}  # fmt: skip
ARRANGEMENTS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("8 devices in turn", 1, {"devices": "colocated"}),
    ("8 + 8 devices in turn", 2, {"devices": 8}),
    ("8 + 8, one step ahead", 2, {"devices": 8, "asynchronous": True}),
)
LEFT, WIDTH, ROW, GAP, TOP = 190, 620, 22, 16, 20
FOLLOWING = ("reward", "old_policy", "reference", "values", "training", "critic")


def step_of(nodes: int, generation: dict[str, Any], catalog: Catalog) -> RolloutEstimate:
    """Return the step of the example on nodes of eight H100s."""
    plan = read_model(Plan, examples_dir() / "grpo_7b.yaml").model_dump(mode="json", exclude_defaults=True)
    several = {"nodes": nodes, "network_gbit_per_s": 3200} if nodes > 1 else {}
    plan["options"] = [{"own": "H100-SXM", "count": 8} | several]
    plan["training"]["generation"] = {"engine": "vllm"} | generation
    asked = Plan.model_validate(plan)
    (candidate,) = expand(asked, catalog)
    step = fastest(resolve_job(asked, catalog), candidate, catalog)[1].rollout
    assert step is not None, "the example has an answer"
    return step


def rows_of(step: RolloutEstimate) -> list[tuple[str, list[tuple[str, float, float]]]]:
    """Return each group of devices with its phases: name, begin and end in seconds. The rest of a step is waiting."""
    seconds = step.seconds
    generating, weights = seconds["generation"], seconds.get("weights", 0.0)
    following, at = [], 0.0 if step.generating_devices and _is_ahead(step) else generating
    for name in FOLLOWING:
        if name in seconds:
            following.append((name, at, at + seconds[name]))
            at += seconds[name]
    begin = max(at, generating)
    written, moved = ("generation", 0.0, generating), ("weights", begin, begin + weights)
    if not step.generating_devices:
        return [("all", [written, *following, moved])]
    return [("generate", [written, moved]), ("train", [*following, moved])]


def _is_ahead(step: RolloutEstimate) -> bool:
    return step.step_seconds < sum(step.seconds.values())


def picture(catalog: Catalog) -> str:
    """Return the picture as SVG."""
    steps = [(title, step_of(nodes, generation, catalog)) for title, nodes, generation in ARRANGEMENTS]
    longest = max(step.step_seconds for _, step in steps)
    scale, y, shapes = WIDTH / longest, TOP, []
    for title, step in steps:
        shapes.append(_text(8, y + ROW - 7, title, weight="bold"))
        shapes.append(_text(LEFT + step.step_seconds * scale + 6, y + ROW - 7, f"{step.step_seconds:.0f} s"))
        for group, phases in rows_of(step):
            if group != "all":
                shapes.append(_text(130, y + ROW - 7, group))
            shapes.append(_bar("waiting", 0.0, step.step_seconds, scale, y))
            shapes += [_bar(name, begin, end, scale, y) for name, begin, end in phases]
            y += ROW + 2
        y += GAP
    x = LEFT
    for name in dict.fromkeys(phase for _, step in steps for phase in (*step.seconds, "waiting")):
        shapes.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLOURS[name]}"/>')
        shapes.append(_text(x + 16, y + 11, name.replace("_", " ")))
        x += 30 + 7 * len(name)
    width, height = LEFT + WIDTH + 60, y + 30
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


def _bar(name: str, begin: float, end: float, scale: float, y: int) -> str:
    x, width = LEFT + begin * scale, (end - begin) * scale
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW}" fill="{COLOURS[name]}"/>'


def _text(x: float, y: float, text: str, *, weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.0f}" font-weight="{weight}">{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(open_catalog()), encoding="utf-8")
    print(f"written {PICTURE}")
