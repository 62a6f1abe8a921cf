"""Answers kept on this machine, the newest ones, each in a small file. They never leave the machine."""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from pathlib import Path

from planner.adapters.documents import RECORD_LIMIT_BYTES, parse_model, read_bytes
from planner.adapters.files import write_bytes
from planner.adapters.mapping_text import parse_mapping
from planner.errors import InputError, NotFoundError, PlannerError
from planner.model.answer.kept_answer import KeptAnswer

ENDING = ".json.z"
MOST_KEPT = 200
"""Number of answers kept, about 20 kB each."""
ID = re.compile(r"[0-9a-f]{12}")
DAMAGED_FIX = "Ask again."
NOT_KEPT_FIX = f"The newest {MOST_KEPT} answers of this machine are kept. Ask again, or read its lock or report."


def answers_dir() -> Path:
    """Return the folder of the user's answers, shared by all projects (`$XDG_STATE_HOME`, otherwise ~/.local/state)."""
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    state = state if state.is_absolute() else Path.home() / ".local" / "state"  # as the XDG rules say
    return state / "training-planner" / "answers"


def keep_answer(answer: KeptAnswer) -> bool:
    """Keep an answer, and return whether that succeeded. A home that is not writable stops nothing."""
    try:
        folder = answers_dir()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)  # an existing folder may be open to others
        path = folder / f"{answer.id}{ENDING}"
        if path.exists() and not answer.assumed:
            return True  # the same answer, perhaps with other assumptions and suggestions
        write_bytes(path, zlib.compress(answer.model_dump_json().encode(), 1), of_store=True)
        path.chmod(0o600)
        _forget_old(folder)
    except (OSError, RuntimeError, PlannerError):  # no home, no space, or a file in its place
        return False
    return True


def kept_answer(answer_id: str) -> KeptAnswer:
    """Return a kept answer. NotFoundError names the nearest ids; InputError says that the file is damaged."""
    if not ID.fullmatch(answer_id):
        raise InputError(
            f"'{answer_id[:40]}' is not the id of an answer.", fix="An id has 12 of 0-9 and a-f: 3f09c2d47a1e."
        )
    try:
        path = answers_dir() / f"{answer_id}{ENDING}"
    except RuntimeError:
        path = Path(f"{answer_id}{ENDING}")
    if not path.is_file():
        raise NotFoundError("answer", answer_id, _ids(path.parent), fix=NOT_KEPT_FIX)
    packed = zlib.decompressobj()
    try:
        data = packed.decompress(read_bytes(path, limit_bytes=RECORD_LIMIT_BYTES), RECORD_LIMIT_BYTES)
        text = data.decode()
    except (zlib.error, UnicodeDecodeError):
        raise InputError(f"{path}: is damaged.", fix=DAMAGED_FIX) from None
    return parse_model(
        KeptAnswer, parse_mapping(text, where=str(path), fix=DAMAGED_FIX), where=str(path), fix=DAMAGED_FIX
    )


def _forget_old(folder: Path) -> None:
    files = [path for path in folder.iterdir() if path.name.endswith(ENDING)]
    if len(files) > MOST_KEPT:
        for path in sorted(files, key=lambda file: file.stat().st_mtime)[: len(files) - MOST_KEPT]:
            path.unlink(missing_ok=True)


def _ids(folder: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return [path.name.removesuffix(ENDING) for path in folder.iterdir()]
    return []
