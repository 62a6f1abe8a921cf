"""Every row of the fault table, in the order of the documents."""

from __future__ import annotations

from tests.launcher.faults.account_rows import ACCOUNT_ROWS
from tests.launcher.faults.answers import ANSWERS
from tests.launcher.faults.by_id import BY_ID_ROWS
from tests.launcher.faults.clouds import CLOUDS
from tests.launcher.faults.combined import COMBINED
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.guards import GUARDS
from tests.launcher.faults.host_rows import HOSTS
from tests.launcher.faults.killed import KILLED
from tests.launcher.faults.results_rows import RESULTS
from tests.launcher.faults.seen_again import SEEN_AGAIN
from tests.launcher.faults.silences import SILENCES
from tests.launcher.faults.silences_combined import SILENCES_COMBINED
from tests.launcher.faults.states import STATES
from tests.launcher.faults.submissions import SUBMISSIONS
from tests.launcher.faults.surroundings import SURROUNDINGS

FAULTS: tuple[Fault, ...] = (
    *KILLED, *SUBMISSIONS, *ANSWERS, *CLOUDS, *RESULTS, *STATES, *GUARDS, *COMBINED, *SEEN_AGAIN, *SURROUNDINGS,
    *BY_ID_ROWS, *ACCOUNT_ROWS, *HOSTS,
    *SILENCES, *SILENCES_COMBINED,
)  # fmt: skip
