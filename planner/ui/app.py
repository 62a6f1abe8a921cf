"""The app: which pages there are. It reads and plans; it spends nothing and needs no credential."""

from __future__ import annotations

import streamlit as st

from planner.ui import decide_page
from planner.ui.address_guard import public_origins, refusal


def main() -> None:
    """Show the page that the address names; `/` and `/decide` are the same."""
    st.set_page_config(page_title="Training planner", layout="wide")
    _stop_for_another_page()
    pages = [
        st.Page(decide_page.render, title="Decide", default=True),
        st.Page(decide_page.render, title="Decide", url_path="decide"),  # a default page has no path of its own
    ]
    st.navigation(pages, position="hidden").run()


def _stop_for_another_page() -> None:
    """Show nothing to a session of another address, where this file was run without the guard before it."""
    headers = st.context.headers
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    hosts, origins, port = headers.get_all("Host"), headers.get_all("Origin"), int(st.get_option("server.port"))
    if hosts and (why := refusal(hosts, origins, scheme=scheme, port=port, public=public_origins())):
        st.error(why)
        st.stop()


if __name__ == "__main__":
    main()
