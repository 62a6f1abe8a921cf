"""Reads files of claims. A claim that cannot be read does not keep the others from being audited."""

from __future__ import annotations

from pathlib import Path

from planner.adapters.documents import PLAN_LIMIT_BYTES, parse_model, read_text
from planner.adapters.mapping_text import line_of, parse_mapping
from planner.adapters.user_text import without_secrets
from planner.errors import InputError
from planner.model.evidence.claims import Claim, ClaimFile

FIX = "Its kinds and keys: docs/audit.md; examples stand in examples/claims."


def read_claims(path: Path) -> list[tuple[str, Claim | InputError]]:
    """Return every claim of a file by its id, or why it cannot be read. InputError if none can be read."""
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=FIX)
    data = without_secrets(parse_mapping(text, where=str(path), fix=FIX), text=text, where=str(path))
    try:
        whole = parse_model(ClaimFile, data, where=str(path), text=text, fix=FIX)
        return [(claim.id, claim) for claim in whole.claims]
    except InputError as error:
        entries = data.get("claims")
        if not isinstance(entries, list):
            raise
        read = [(_name(entry, place), _parsed_entry(data, place, path, text)) for place, entry in enumerate(entries)]
        if all(isinstance(claim, InputError) for _, claim in read):
            raise error from None
        return read


def _parsed_entry(data: dict[str, object], place: int, path: Path, text: str) -> Claim | InputError:
    entries = data["claims"]
    assert isinstance(entries, list)
    where = f"{path}:{line_of(text, ('claims', place)) or 1}"
    try:
        return parse_model(ClaimFile, {**data, "claims": [entries[place]]}, where=where, fix=FIX).claims[0]
    except InputError as error:
        return InputError(error.message.replace(" claims.0", f" claims.{place}"), fix=error.fix)


def _name(entry: object, place: int) -> str:
    named = isinstance(entry, dict) and isinstance(entry.get("id"), str | int) and entry["id"] != ""
    return str(entry["id"]) if isinstance(entry, dict) and named else f"claim-{place + 1}"
