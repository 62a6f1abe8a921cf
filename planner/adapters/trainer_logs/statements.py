"""What the files of a training state, each with its place; what two places state differently is a contradiction."""

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
    """One fact, what a place says of it, and the place: a file, with the line where it is known."""

    key: str
    """The fact's name in `Facts`."""
    value: Any
    file: str
    line: int | None = None

    @property
    def place(self) -> str:
        """The place in words."""
        return self.file if self.line is None else f"{self.file}, line {self.line}"


class Statements:
    """All that the files of one training state. What is added first counts, where two places may differ."""

    def __init__(self, said: Iterable[Statement] = ()) -> None:
        self.said = list(said)

    def add(self, facts: Facts, file: str, lines: Mapping[str, int] | None = None) -> Self:
        """Add what a file states; `lines` says where in it."""
        for item in fields(Facts):
            value = getattr(facts, item.name)
            if value is not None:
                self.said.append(Statement(item.name, value, file, (lines or {}).get(item.name)))
        return self

    @property
    def files(self) -> tuple[str, ...]:
        """The files that state something."""
        return tuple(dict.fromkeys(one.file for one in self.said))

    def of(self, file: str) -> list[Statement]:
        """Return what one file states."""
        return [one for one in self.said if one.file == file]

    def first(self, key: str) -> Statement | None:
        """Return what is stated first of a fact."""
        return next((one for one in self.said if one.key == key), None)

    def contradictions(self) -> tuple[Contradiction, ...]:
        """Return the facts that two places state differently."""
        found = []
        for key, words in COMPARED.items():
            of_key = [one for one in self.said if one.key == key]
            other = next((one for one in of_key if one.value != of_key[0].value), None)
            if other is not None:
                one = of_key[0]
                text = f"{one.place} says {one.value} and {other.place} says {other.value}"
                found.append(Contradiction(key, f"{words}: {text}"))
        return tuple(found)

    def facts(self) -> Facts:
        """Return the agreed facts; one that is contradicted is left open."""
        agreed: dict[str, Any] = {}
        for one in self.said:
            agreed.setdefault(one.key, one.value)
        return replace(Facts(**agreed), **dict.fromkeys((one.key for one in self.contradictions()), None))
