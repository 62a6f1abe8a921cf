"""Documents and tables of a user are written anew where they hold a secret, and stay as they are where they do not."""

from __future__ import annotations

import csv
import io
import json
import threading

import pytest
import yaml

from planner.adapters.user_text import note_secret, secrets_noted, table_without_secrets, text_without_secrets
from planner.errors import InputError

SECRET = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKEN = f"ghp_{SECRET}"


@pytest.mark.parametrize("text", ["# a comment\nname: 'x'   # kept\n", '{"name":   "x"}', "a,b\n1, 2\n"])
def test_a_text_without_a_secret_is_not_touched(text: str) -> None:
    with secrets_noted() as noted:
        assert table_without_secrets(text, where="f") == text
        assert text_without_secrets(text, where="f") == text
    assert noted == []


def test_of_yaml_every_other_value_stays() -> None:
    data = {
        "name": f"with {TOKEN}",
        "runs": 3,
        "start": "2026-12-01",
        "octal": "010",
        "yes": "yes",
        "list": [1.5, None],
    }
    with secrets_noted() as noted:
        text = text_without_secrets(yaml.safe_dump(data), where="plan.yaml")
    assert yaml.safe_load(text) == data | {"name": "with [hidden]"}
    assert noted == [
        "plan.yaml: holds a secret (name), which is hidden in all that is written. Take it out of the file."
    ]


def test_json_stays_json() -> None:
    text = text_without_secrets(json.dumps({"a": {"b": TOKEN}, "c": 1}), where="f.json")
    assert json.loads(text) == {"a": {"b": "[hidden]"}, "c": 1}


def test_what_is_no_document_is_refused_without_showing_it() -> None:
    with pytest.raises(InputError) as refused:
        text_without_secrets(f"name: [{TOKEN}", where="f.yaml")
    assert SECRET not in str(refused.value)


def test_of_a_table_every_other_cell_stays() -> None:
    rows = [["id", "note"], ["1", f'a "quoted", {TOKEN}'], ["2", "two\nlines"], ["3", ""]]
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    with secrets_noted() as noted:
        text = table_without_secrets(written.getvalue(), where="t.csv")
    rows[1][1] = 'a "quoted", [hidden]'
    assert list(csv.reader(io.StringIO(text))) == rows
    assert noted[0].startswith("t.csv: holds a secret (line 2, column 2)")


def test_a_visit_is_told_of_its_own_secrets_alone() -> None:
    """The app draws visits in threads of one process, at the same time."""
    both_collect, both_noted = threading.Barrier(2, timeout=20), threading.Barrier(2, timeout=20)
    found: dict[str, list[str]] = {}

    def visit(name: str) -> None:
        with secrets_noted() as noted:
            both_collect.wait()
            note_secret(f"of {name}")
            both_noted.wait()
        found[name] = noted

    visits = [threading.Thread(target=visit, args=(name,)) for name in ("one", "two")]
    for thread in visits:
        thread.start()
    for thread in visits:
        thread.join()
    assert found == {"one": ["of one"], "two": ["of two"]}
