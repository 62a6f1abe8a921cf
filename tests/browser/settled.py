"""Wait until a page has been drawn to its end: a click on what is drawn anew meanwhile is lost."""

from __future__ import annotations

from playwright.sync_api import Download, Page

SETTLED = "document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"


def settle(page: Page) -> None:
    page.wait_for_function(SETTLED)


def download(page: Page, button: str) -> Download:
    """Return the file behind a button, pressed again as a person does if the file belonged to a page drawn before.

    Streamlit drops a page's files when it has drawn the page anew, and the click may still name the old one.
    """
    for _ in range(2):
        settle(page)
        with suppress(TimeoutError), page.expect_download(timeout=30_000) as started:
            page.get_by_role("button", name=button).click()
            return started.value
    settle(page)
    with page.expect_download(timeout=60_000) as started:
        page.get_by_role("button", name=button).click()
    return started.value
