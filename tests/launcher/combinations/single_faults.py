"""The single faults of the combinations, by what they are about."""

from __future__ import annotations

import math
from typing import Any

from planner.launcher.plan.target import LaunchProvider
from tests.launcher.combinations.single_fault import (
    ALL,
    AWS,
    BOTH,
    EARLY_S,
    LAMBDA,
    OUTAGE_S,
    RUNNING_S,
    SUBMITTED_S,
    Proof,
    SingleFault,
)
from tests.launcher.combinations.steps import (
    BEHIND_S,
    asleep,
    both,
    cloud,
    dies,
    fails_over,
    lists_empty,
    one_more,
    right,
    rotated,
    side,
    sky,
    stands_beside,
    taken_away,
    turns,
    unlabelled,
    user_takes_down,
    wrong,
)

TAKEN_S = 200.0
"""Time at which the provider or the person ends the machines."""
LONG_S = 7200.0


def _answers(
    name: str, words: str, *, what: str = "", where: tuple[LaunchProvider, ...] = ALL, **more: Any
) -> SingleFault:
    """Return a fault of the cloud's answers, which ceases after ten minutes unless it has an alarm."""
    what = what or name
    lasts_s, end = (0.0, None) if "alarm" in more else (OUTAGE_S, right(what))
    return SingleFault(name, words, wrong(what), "answers", lasts_s=lasts_s, end=end, where=where, **more)


ANSWERS = (
    _answers("silent", "the cloud never answers"),
    _answers("silent-running", "... while the job runs", what="silent", strikes_s=RUNNING_S),
    _answers("silent-submitting", "... from the submission on", what="silent", strikes_s=SUBMITTED_S),
    _answers("silent-for-ever", "... any more", what="silent", strikes_s=EARLY_S, alarm="does not answer"),
    _answers("html", "a sign-in page answers for the cloud", where=BOTH),
    _answers("fault", "the cloud has a fault of its own"),
    _answers("throttled", "the cloud asks to slow down", where=BOTH),
    _answers("odd", "the cloud's answer lacks its list", where=BOTH),
    _answers("repeats", "the cloud repeats a page", where=BOTH),
    _answers("regions-refused", "EC2 refuses to name its regions", where=(AWS,)),
    _answers("regions-silent", "EC2 does not name its regions", where=(AWS,)),
    _answers("region-silent", "another region never answers", where=(AWS,)),
    _answers("account-silent", "AWS does not say whose keys these are", where=(AWS,)),
    SingleFault("region-forbidden", "a policy forbids another region for ever", wrong("region-forbidden"), "answers",
        strikes_s=SUBMITTED_S, where=(AWS,)),
)  # fmt: skip
EVERYTHING = (
    SingleFault("all-silent", "cloud and SkyPilot never answer after the submission",
        both(wrong("silent"), sky(silent=True)), "answers", SUBMITTED_S + 1.0, OUTAGE_S,
        both(right("silent"), sky(silent=False)), proof=Proof.NO_JOB),
    SingleFault("all-silent-for-ever", "... any more", both(wrong("silent"), sky(silent=True)), "answers",
        SUBMITTED_S + 1.0, alarm="does not answer"),
)  # fmt: skip
LISTS = (
    SingleFault("empty", "lists are empty for four minutes", lists_empty, "lists", lasts_s=BEHIND_S, where=BOTH),
    SingleFault("empty-running", "... while the job runs", lists_empty, "lists", RUNNING_S, BEHIND_S, where=BOTH),
)
KEYS = (
    SingleFault("other-account", "the keys here are another account's", cloud(key_here="key-of-another"), "keys",
        lasts_s=OUTAGE_S, end=cloud(key_here="key-1"), where=BOTH),
    SingleFault("other-account-for-ever", "... and stay so", cloud(key_here="key-of-another"), "keys", EARLY_S,
        where=BOTH, alarm="needed"),
    SingleFault("no-keys", "there are no keys here", cloud(key_here=None), "keys", lasts_s=OUTAGE_S,
        end=cloud(key_here="key-1")),
    SingleFault("rotated", "the key is rotated", rotated, "keys", RUNNING_S, where=(LAMBDA,)),
    SingleFault("keys-refused", "Lambda refuses the key for ten minutes", wrong("keys-refused"), "keys",
        lasts_s=OUTAGE_S, end=right("keys-refused"), where=(LAMBDA,)),
)  # fmt: skip
ENDS = (
    SingleFault("end-refused", "the cloud refuses three requests to end it", cloud(refusals=3), "ends"),
    SingleFault("end-ignored", "the cloud answers two requests to end it and does nothing", cloud(deaf=2), "ends"),
    SingleFault("end-forbidden", "it may not be ended", wrong("ends-forbidden"), "ends", SUBMITTED_S,
        alarm="down failed"),
    SingleFault("end-unseen", "it may not be ended, and lists stay empty",
        both(wrong("ends-forbidden"), cloud(blind_until_s=math.inf)), "ends", RUNNING_S, where=BOTH,
        alarm="the request to end it was refused or not answered"),
    SingleFault("terminating", "Lambda says `terminating` for 25 minutes", cloud(ends_for_s=1500.0), "terminating",
        lasts_s=1500.0 + OUTAGE_S, where=(LAMBDA,)),
    SingleFault("terminating-long", "... for an hour", cloud(ends_for_s=3600.0), "terminating",
        lasts_s=3600.0 + OUTAGE_S, where=(LAMBDA,)),
    SingleFault("terminating-for-ever", "... for ever", cloud(ends_for_s=10.0 * LONG_S), "terminating",
        SUBMITTED_S, where=(LAMBDA,), alarm="ask the provider, it may bill it"),
)  # fmt: skip
SKY = (
    SingleFault("down-lies", "SkyPilot's `down` says done and ends nothing", sky(lies=9), "sky-down"),
    SingleFault("down-fails", "SkyPilot's `down` fails", sky(fails=9), "sky-down"),
    SingleFault("sky-forgets", "SkyPilot forgets the cluster", sky(cluster=False), "sky-list", RUNNING_S),
    SingleFault("sky-silent", "SkyPilot does not answer", sky(silent=True), "sky-list", lasts_s=OUTAGE_S,
        end=sky(silent=False)),
    SingleFault("sky-lists", "SkyPilot lists the cluster for ever", sky(lists_for_ever=True), "sky-list",
        SUBMITTED_S, alarm="SkyPilot lists"),
)  # fmt: skip
MACHINES = (
    SingleFault("unlabelled", "somebody takes the labels away", unlabelled, "labels", RUNNING_S),
    SingleFault("slow", "the machine takes four minutes to boot", cloud(boots_for_s=240.0), "order", SUBMITTED_S),
    SingleFault("late", "SkyPilot gives up, and the machine comes after four minutes",
        both(cloud(boots_for_s=240.0), sky(gives_up=True)), "order", SUBMITTED_S, 240.0,
        proof=Proof.NO_JOB),
    SingleFault("refused", "there is no capacity",
        both(cloud(gives=False), sky(gives_up=True)), "order", SUBMITTED_S,
        proof=Proof.NO_MACHINE),
    SingleFault("answer-lost", "the answer to the submission is lost", sky(loses=True), "order", SUBMITTED_S,
        proof=Proof.NO_JOB),
    SingleFault("mismatch", "another machine comes than ordered", cloud(ordered_type="another"), "order", SUBMITTED_S,
        where=BOTH, proof=Proof.NO_JOB),
    SingleFault("fails-over", "a machine ends while it boots, and the next one comes after the launch's time",
        fails_over, "order", SUBMITTED_S, 640.0, proof=Proof.NO_JOB),
    SingleFault("interrupted", "the provider takes the machine away", taken_away, "order", TAKEN_S),
    SingleFault("beside", "a second machine stands beside it", stands_beside, "order", TAKEN_S),
    SingleFault("after", "a machine appears after the proof, then `reap --yes`", one_more, "after", None),
)  # fmt: skip
CLIENTS = (
    SingleFault("dies-ordering", "the client dies as it orders", dies("submit:before"), "client", SUBMITTED_S,
        proof=Proof.NO_MACHINE),
    SingleFault("dies-ordered", "... when it has ordered", dies("submit:after"), "client", SUBMITTED_S),
    SingleFault("dies-sighting", "... when it has seen the machine, unwritten", dies("sight:after"), "client",
        SUBMITTED_S),
    SingleFault("dies-running", "... when the job runs", dies("RUNNING"), "client", SUBMITTED_S),
    SingleFault("dies-looking", "... at a look", dies("status:before"), "client", RUNNING_S),
    SingleFault("dies-collecting", "... as it collects", dies("collect:before"), "client"),
    SingleFault("dies-collected", "... when it has collected", dies("COLLECTED", "LOST"), "client"),
    SingleFault("dies-ending", "... as it takes down", dies("down:before"), "client"),
    SingleFault("dies-ended", "... when it has taken down", dies("down:after"), "client"),
    SingleFault("dies-proving", "... when it has the proof, unwritten", dies("verify:after"), "client"),
    SingleFault("dies-proven", "... when the proof is written", dies("DOWN_VERIFIED"), "client"),
    SingleFault("sleeps", "no client looks for two hours", asleep(LONG_S), "client", TAKEN_S, LONG_S),
    SingleFault("down-early", "`down` before the machine is there", user_takes_down, "client", 30.0,
        proof=Proof.NO_JOB),
    SingleFault("down", "`down` while the job runs", user_takes_down, "client", TAKEN_S),
)  # fmt: skip
SURROUNDINGS = (
    SingleFault("unwritable", "the ledger cannot be written for ten minutes", side(unwritable=True), "ledger",
        lasts_s=OUTAGE_S, end=side(unwritable=False)),
    SingleFault("unwritable-running", "... while the job runs", side(unwritable=True), "ledger", RUNNING_S, OUTAGE_S,
        side(unwritable=False)),
    SingleFault("clock-forward", "clock 30 hours forward", turns(30), "clock", RUNNING_S),
    SingleFault("clock-back", "clock 30 hours back", turns(-30), "clock", RUNNING_S),
    SingleFault("unreadable", "the results cannot be copied", lambda world: setattr(world.backend, "unreadable", True),
        "results", SUBMITTED_S, OUTAGE_S),
)  # fmt: skip
SINGLE_FAULTS = (*ANSWERS, *EVERYTHING, *LISTS, *KEYS, *ENDS, *SKY, *MACHINES, *CLIENTS, *SURROUNDINGS)
NAMED = {single_fault.name: single_fault for single_fault in SINGLE_FAULTS}
GROUPS = tuple(
    tuple(NAMED[name] for name in names.split())
    for names in (
        "silent html repeats regions-refused region-silent", "empty", "other-account", "rotated",
        "silent-for-ever other-account-for-ever end-forbidden sky-lists terminating-for-ever",
        "end-refused end-ignored",
        "terminating", "down-lies down-fails", "sky-forgets", "sky-silent", "unlabelled", "slow", "late",
        "refused dies-ordering", "answer-lost", "mismatch", "fails-over", "interrupted", "beside", "after",
        "dies-ordered dies-sighting", "dies-collecting dies-ended dies-proving", "sleeps", "down", "unwritable",
        "clock-forward clock-back", "unreadable",
    )
)  # fmt: skip
"""Groups of faults with the same effect on a launch; they take turns in pairs."""
