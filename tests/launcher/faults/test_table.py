"""The table itself: large enough, its rows named once, its document as it is."""

from __future__ import annotations

import pytest

from tests.launcher.faults.document import PAGE, page
from tests.launcher.faults.table import FAULTS


def test_there_are_eighty_rows_at_least_and_each_has_one_name():
    names = [fault.id for fault in FAULTS]
    assert len(names) >= 80
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.id for fault in FAULTS])
def test_dollars_are_lost_only_where_nobody_can_tell(fault):
    assert fault.lost_usd == 0.0 or fault.undetectable
    assert fault.exit_code != 0 or fault.state is not None


def test_the_document_has_the_table(request):
    text = PAGE.read_text(encoding="utf-8")
    if request.config.getoption("--update-golden"):
        PAGE.write_text(page(text), encoding="utf-8")
    else:
        assert text == page(text), "make golden"
