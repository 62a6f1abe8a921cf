"""Collects the messages of the app's pages, and compiles their translations.

`python -m scripts.page_messages` compiles every `.po` below planner/present/page/locale and lists missing messages.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages import mofile, pofile

from planner.model.answer.audit import AuditVerdict, Severity
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Basis
from planner.present.charts import CHART_READING
from planner.present.columns.registry import columns_of, offered_columns
from planner.present.columns.table_column import OptionTable
from planner.present.columns.year_columns import YearTable, year_columns
from planner.present.facts import QUANTITIES, SHORT_REASONS
from planner.present.page.phrase_forms import PHRASES
from planner.present.page.sentence_forms import SENTENCES
from planner.present.page.words import DOMAIN, LANGUAGES, LOCALE, TERMS
from planner.present.report.report import reading_notes
from planner.ui.ask.question import FORM_FIX

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "planner" / "ui", *(ROOT / "planner" / "present" / name for name in ("columns", "page", "report")))
IN_TEMPLATE = re.compile(r"""\b_\(\s*"((?:[^"\\]|\\.)*)\"""")
COLUMNS = (
    "line", "quantity", "USD each", "USD", "90 % range", "basis", "formula and source", "hours", "what",
    "Machine", "Terms", "Price", "As of", "Source", "Assumption", "Value", "Basis", "exact",
)  # fmt: skip
"""Messages in tables of bills and hours, and in the report in Markdown."""
ASSUMED = (
    "electricity", "pue", "goodput", "mfu", "power in training", "time between failures of one accelerator",
    "time between preemptions of one spot node", "restart after an interruption", "evaluation",
    "longest time between checkpoints", "checkpoints every", "set-up of a launch", "idle tail of a launch",
    "failed launches", "support", "checkpoints kept", "kept after the campaign",
)  # fmt: skip
"""Names of values from the plan, the sites or the defaults."""
BINDING = ("deadline", "budget", "confidence")
"""Limits that may forbid every plan of a campaign."""
UNITS = ("{n} minute", "{n} minutes", "{n} hours", "{n} days")
SPEED_MARKS = tuple(f"speed {basis.value}" for basis in Basis)
SIDES = tuple(f"{{name}} is cheaper {side} {{rate}} {{code}} a USD; today {{today}}." for side in ("above", "below"))


def messages() -> set[str]:
    """Return every English message that a page may show."""
    found = {
        *COLUMNS,
        *UNITS,
        *SPEED_MARKS,
        *SIDES,
        FORM_FIX,
        CHART_READING,
        *ASSUMED,
        *TERMS,
        *BINDING,
        *reading_notes(),
    }
    found |= {*QUANTITIES.values(), *SHORT_REASONS.values()}
    found |= {text for column in offered_columns() for text in (column.title, column.words)}
    found |= {column.head(table) for table in (OptionTable.PAGE, OptionTable.REPORT) for column in columns_of(table)}
    found |= {column.head(YearTable.PAGE) for column in year_columns(YearTable.PAGE)}
    for kind in (Hold, Basis, AuditVerdict, Severity):
        found |= {member.value for member in kind}
    for folder in SOURCES:
        for path in folder.rglob("*.py"):
            found |= set(_of_python(path))
        for path in folder.rglob("*.html"):
            found |= {match[1].replace('\\"', '"') for match in IN_TEMPLATE.finditer(path.read_text(encoding="utf-8"))}
    return {*found, *SENTENCES, *PHRASES} - {""}


def _of_python(path: Path) -> Iterator[str]:
    """Yield the texts in calls of `words(...)` and `self(...)`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
            continue
        first = node.args[0]
        if node.func.id in ("words", "self", "_") and isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def compiled(language: str) -> bytes:
    """Return the compiled catalog of a language."""
    from io import BytesIO

    with (LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as file:
        catalog = pofile.read_po(file, locale=language, domain=DOMAIN)
    out = BytesIO()
    mofile.write_mo(out, catalog)
    return out.getvalue()


def translations(language: str) -> dict[str, str]:
    """Return the translations of a language by message."""
    with (LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as file:
        catalog = pofile.read_po(file, locale=language, domain=DOMAIN)
    return {str(message.id): str(message.string) for message in catalog if message.id}


def main() -> int:
    """Compile the catalogs. Return 1 if a message is not translated."""
    missing = 0
    for language in [language for language in LANGUAGES if language != "en"]:
        (LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.mo").write_bytes(compiled(language))
        known = translations(language)
        for message in sorted(messages() - {key for key, text in known.items() if text}):
            print(f"{language}: {message!r}")
            missing += 1
        for message in sorted(known.keys() - messages()):
            print(f"{language}: no page says {message!r}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
