"""Statements of a training's files, each with its place. Two places that disagree are a contradiction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from planner.adapters.trainer_logs.trainer_log import Contradiction, Facts

COMPARED = {
    "micro_batch": "the samples of one pass", "accumulation": "the gradient accumulation",
    "global_batch": "the samples of a step", "devices": "the accelerators", "lora_rank": "the rank of the adapters",
    "planned_steps": "the steps of the whole training", "strategy": "the parallel strategy",
    "precision": "the number format", "method": "what is trained", "objective": "the objective", "epochs": "the epochs",
}  # fmt: skip
"""Facts that cannot differ between two files of one training, in words."""


@dataclass(frozen=True)
class Statement:
    """One fact, its value at one place, and the place: a file, with the line if known."""

    key: str
    """Name of the fact in `Facts`."""
    value: Any
    file: str
    line: int | None = None

    @property
    def place(self) -> str:
        """Place in words."""
        return self.file if self.line is None else f"{self.file}, line {self.line}"


class Statements:
    """All statements of the files of one training. Facts outside COMPARED may differ: the first one added counts."""

    def __init__(self, said: Iterable[Statement] = ()) -> None:
        self.said = list(said)

    def add(self, facts: Facts, file: str, lines: Mapping[str, int] | None = None) -> Self:
        """Add the statements of a file. `lines` has their line numbers."""
        for item in fields(Facts):
            value = getattr(facts, item.name)
            if value is not None:
                self.said.append(Statement(item.name, value, file, (lines or {}).get(item.name)))
        return self

    @property
    def files(self) -> tuple[str, ...]:
        """Files that state something."""
        return tuple(dict.fromkeys(statement.file for statement in self.said))

    def of(self, file: str) -> list[Statement]:
        """Return the statements of one file."""
        return [statement for statement in self.said if statement.file == file]

    def first(self, key: str) -> Statement | None:
        """Return the first statement of a fact."""
        return next((statement for statement in self.said if statement.key == key), None)

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Return the facts that two places state differently."""
        found = []
        for key, words in COMPARED.items():
            of_key = [statement for statement in self.said if statement.key == key]
            other = next((statement for statement in of_key if statement.value != of_key[0].value), None)
            if other is not None:
                first = of_key[0]
                text = f"{first.place} says {first.value} and {other.place} says {other.value}"
                found.append(Contradiction(key, f"{words}: {text}"))
        return tuple(found)

    def facts(self) -> Facts:
        """Return the agreed facts. Contradicted facts are None."""
        agreed: dict[str, Any] = {}
        for statement in self.said:
            agreed.setdefault(statement.key, statement.value)
        return replace(
            Facts(**agreed), **dict.fromkeys((contradiction.key for contradiction in self.contradictions()), None)
        )
