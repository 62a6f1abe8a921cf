"""The app: which pages there are. It reads and plans; it spends nothing and needs no credential."""

from __future__ import annotations

import streamlit as st

from planner.ui import decide_page


def main() -> None:
    """Show the page that the address names; `/` and `/decide` are the same."""
    st.set_page_config(page_title="Training planner", layout="wide")
    pages = [
        st.Page(decide_page.render, title="Decide", default=True),
        st.Page(decide_page.render, title="Decide", url_path="decide"),  # a default page has no path of its own
    ]
    st.navigation(pages, position="hidden").run()


if __name__ == "__main__":
    main()
