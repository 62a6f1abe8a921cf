"""The table has enough rows with unique names, and equals its document."""

from __future__ import annotations

from tests.launcher.faults.document import FAULT_TABLE, fault_table
from tests.launcher.faults.table import FAULTS


def test_there_are_eighty_rows_at_least_and_each_has_one_name():
    names = [fault.id for fault in FAULTS]
    assert len(names) >= 80
    assert len(set(names)) == len(names)


def test_the_published_table_is_that_of_the_tests(request):
    if request.config.getoption("--update-golden"):
        FAULT_TABLE.write_text(fault_table(), encoding="utf-8")
    else:
        assert FAULT_TABLE.read_text(encoding="utf-8") == fault_table(), "make golden"
