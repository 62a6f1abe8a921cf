"""Over 200 forms of secrets in 12 variants: nothing of them remains. Ordinary lines of trainers stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.redact import clean
from planner.redact.token_forms import named_forms, token_forms
from tests.redact.forms import secret_forms
from tests.redact.ordinary_lines import LINES, ordinary_lines
from tests.redact.variants import VARIANTS, remains

SEEDS = (1, 2)
FORMS = {seed: secret_forms(seed) for seed in SEEDS}
LOGS = Path(__file__).parents[1] / "adapters" / "trainer_logs" / "logs"
MOST_ALARMS = 10
"""Most hidden lines of 10,000."""


def test_there_are_enough_forms():
    assert len({form.id for form in FORMS[1]}) == len(FORMS[1]) >= 200
    assert len(VARIANTS) == 12


def test_forms_are_drawn_from_their_seed_alone():
    assert secret_forms(1) == FORMS[1]
    assert all(first.secret != two.secret for first, two in zip(FORMS[1], FORMS[2], strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_no_secret_remains(seed, variant):
    make = VARIANTS[variant]
    written = {form.id: (form, make(form)) for form in FORMS[seed]}
    assert [name for name, (form, text) in written.items() if not remains(form, text)] == []  # it stands there before
    assert [name for name, (form, text) in written.items() if remains(form, clean(text))] == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_cleaning_twice_changes_nothing(variant):
    for form in FORMS[1]:
        cleaned = clean(VARIANTS[variant](form))
        assert clean(cleaned) == cleaned, form.id


def test_secrets_are_found_among_ordinary_lines():
    ordinary = list(ordinary_lines(len(FORMS[1]), seed=3))
    texts = [VARIANTS["quotes"](form) for form in FORMS[1]]
    cleaned = clean("\n".join(line for pair in zip(ordinary, texts, strict=True) for line in pair))
    assert [form.id for form in FORMS[1] if remains(form, cleaned)] == []
    assert [line for line in ordinary if line not in cleaned] == []


def test_ordinary_lines_stay():
    lines = list(ordinary_lines(10_000, seed=1))
    assert len(set(lines)) > 9_000
    alarms = [line for line in lines if clean(line) != line]
    assert len(alarms) < MOST_ALARMS, alarms[:3]
    assert clean("\n".join(lines[: 4 * len(LINES)])) == "\n".join(lines[: 4 * len(LINES)])


def test_the_logs_of_trainers_stay():
    logs = [path for path in LOGS.rglob("*") if path.is_file()]
    assert len(logs) > 10
    for path in logs:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert clean(text) == text, path.name


def test_every_row_of_the_data_files_has_a_source_and_one_name():
    assert len({form.id for form in token_forms()}) == len(token_forms())
    assert len({form.id for form in named_forms()}) == len(named_forms())
    for name in ("token_forms.csv", "named_forms.csv"):
        text = (Path(clean.__code__.co_filename).parent / name).read_text(encoding="utf-8")
        rows = [line for line in text.splitlines() if not line.startswith("#")]
        assert all(row.rpartition(",")[2] for row in rows)
    assert all(form.least >= 8 for form in token_forms() if not form.before)
    assert all(form.least >= 8 for form in named_forms())
