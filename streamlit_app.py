"""What `streamlit run` serves: the pages of planner/ui/app.py, under the app's own address alone."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from planner.ui.address_guard import AddressGuard, ResponseHeaders
from planner.ui.launch import PAGES
from planner.ui.warm import warm

app = App(PAGES, middleware=[Middleware(ResponseHeaders), Middleware(AddressGuard)])
warm()
