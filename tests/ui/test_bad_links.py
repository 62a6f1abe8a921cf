"""A link with an unreadable log or price book: every page reports it and stays alive."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape

import pytest

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from planner.ui.ask.link import packed


def ask_page() -> None:
    from planner.ui.ask import page

    page.render()


def prices_page() -> None:
    from planner.ui import prices_page as page

    page.render()


def own_page() -> None:
    from planner.ui import own_page as page

    page.render()


def campaign_page() -> None:
    from planner.ui import campaign_page as page

    page.render()


UNREADABLE = {
    "no text": "",
    "no mapping": "[1, 2]",
    "another document": '{"schema_version": 1, "kind": "lock"}',
    "cut off": '{"schema_version": 1, "id": "a-ru',
    "nested": "[" * 20_000,
    "an alias of itself": "a: &a [*a]",
    "of a newer planner": '{"schema_version": 99}',
}


@pytest.mark.slow
@pytest.mark.parametrize("carried", ["log", "book"])
@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_the_pages_that_show_it_say_that_the_link_is_wrong(carried: str, text: str):
    page = {"log": ask_page, "book": prices_page}[carried]
    check(page, **{carried: packed(text)})


@pytest.mark.slow
@pytest.mark.parametrize("page", [ask_page, own_page, campaign_page, prices_page])
@pytest.mark.parametrize("carried", ["log", "book"])
def test_every_page_stays_alive(page: Callable[[], None], carried: str):
    opened(page, **{carried: packed("{}")})


def check(page: Callable[[], None], **parameters: str) -> None:
    shown = opened(page, **parameters)
    words = [element.value for kind in (shown.html, shown.error, shown.warning, shown.markdown) for element in kind]
    assert f"the link: its {next(iter(parameters))}" in unescape("\n".join(words))


def opened(page: Callable[[], None], **parameters: str) -> AppTest:
    shown = AppTest.from_function(page, default_timeout=60)
    for name, value in parameters.items():
        shown.query_params[name] = value
    shown.run()
    assert not shown.exception
    return shown
