"""Wait until a page has been drawn to its end: a click on what is drawn anew meanwhile is lost."""

from __future__ import annotations

from contextlib import suppress

from playwright.sync_api import Download, Page, TimeoutError

SETTLED = "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"


def settle(page: Page) -> None:
    page.wait_for_function(SETTLED)


def download(page: Page, button: str) -> Download:
    """Return the file behind a button, pressed again as a person does if the file belonged to a page drawn before.

    Streamlit drops a page's files when it has drawn the page anew, and the click may still name the old one.
    """
    for _ in range(2):
        with suppress(TimeoutError):
            return _pressed_once(page, button, timeout=30_000)
    return _pressed_once(page, button, timeout=60_000)


def _pressed_once(page: Page, button: str, *, timeout: int) -> Download:
    settle(page)
    with page.expect_download(timeout=timeout) as started:
        page.get_by_role("button", name=button).click()
    return started.value
