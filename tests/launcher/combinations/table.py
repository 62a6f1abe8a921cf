"""Combinations of two and three faults, each with the end that the rules demand.

The rules are those of docs/launching.md, "What gone means". A fault after which nothing can prove the end leaves the
launch open, whatever else is wrong. Some pairs end otherwise than each of the two alone; they are listed below
with their reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, cycle, product

from planner.launcher.drive.gone import BY_ABSENCE, BY_ID, BY_LABEL
from planner.launcher.plan.target import LaunchProvider
from tests.launcher.combinations.single_fault import ALL, AWS, BOTH, LAMBDA, Proof, SingleFault
from tests.launcher.combinations.single_faults import GROUPS, NAMED, SINGLE_FAULTS

NEW_KEY_UNPROVEN = {
    "refused", "answer-lost", "mismatch", "interrupted", "dies-ordering", "silent-for-ever", "unwritable",
}  # fmt: skip
"""Beside a rotated key of Lambda: no machine is listed by the new key while it runs, or that cannot be written down, so
nothing shows that the new key is of the same account."""
JOB_UNSEEN = (
    {"slow", "down"},  # it is taken down before its machine has come
    {"slow", "sleeps"},  # the machine comes when no one looks, and the launch is late when somebody does
    {"sky-forgets", "dies-sighting"},  # who comes next sees no job any more
)
"""Pairs after which the ledger has no job, so that only the absence of the label can prove the end."""
NEED_A_MACHINE = ("ends", "terminating", "labels", "lists", "order", "results", "sky-down")
"""Parts that concern a machine and mean nothing where none comes."""
TRIPLES = (
    "empty down-lies dies-ended", "empty down-fails end-refused", "empty unlabelled down-lies",
    "empty sky-forgets clock-back", "empty clock-forward dies-proving", "empty silent down-lies",
    "empty end-ignored down-lies", "empty unwritable down-lies", "empty interrupted clock-back",
    "unlabelled sky-forgets end-refused", "unlabelled html dies-collecting", "unlabelled other-account clock-forward",
    "unlabelled down-lies unwritable", "silent unwritable down-lies", "silent clock-back dies-ended",
    "html down-fails clock-forward", "repeats down-lies dies-proving", "silent other-account end-refused",
    "late silent clock-back", "late empty down-fails", "late dies-ended clock-forward", "late other-account down-lies",
    "answer-lost empty down-lies", "answer-lost silent dies-collecting", "mismatch end-refused down-lies",
    "mismatch clock-back down-fails", "fails-over down-lies clock-forward", "fails-over end-refused unwritable",
    "beside empty down-lies", "beside silent dies-ended", "beside unlabelled end-ignored", "after empty clock-back",
    "after down-lies end-refused", "after silent dies-proving", "sleeps clock-back down-lies",
    "sleeps unlabelled down-fails", "down empty end-refused", "down silent down-lies",
    "unreadable silent clock-forward",
    "unreadable unlabelled down-lies", "silent-for-ever unlabelled dies-ended", "end-forbidden empty clock-back",
    "sky-lists empty dies-proving", "other-account-for-ever down-lies clock-back",
    "end-unseen down-lies clock-back", "end-unseen unlabelled dies-ended", "end-unseen sky-forgets unwritable",
)  # fmt: skip
"""Three at once, chosen so that each takes away another of the witnesses; each on both clouds."""
TRIPLES_AT_LAMBDA = (
    "rotated empty down-lies", "rotated unlabelled end-refused", "rotated dies-ended clock-back",
    "rotated interrupted empty", "terminating empty clock-back", "terminating dies-ended unwritable",
    "terminating-for-ever unlabelled down-lies", "keys-refused empty down-lies",
)  # fmt: skip
TRIPLES_ON_EC2 = (
    "regions-refused unlabelled down-lies", "region-silent empty dies-ended", "account-silent clock-forward down-fails",
    "region-forbidden empty unlabelled",
)  # fmt: skip


@dataclass(frozen=True)
class Combination:
    """One row: faults at once on one cloud, and how the launch must end."""

    provider: LaunchProvider
    faults: tuple[SingleFault, ...]

    @property
    def id(self) -> str:
        """Name the row."""
        return "+".join((self.provider.value, *(fault.name for fault in self.faults)))

    @property
    def names(self) -> frozenset[str]:
        """The names of its faults."""
        return frozenset(fault.name for fault in self.faults)

    @property
    def proven(self) -> str:
        """Return by what the end is proven, where it is."""
        unseen = any(self.names >= pair for pair in JOB_UNSEEN)
        if unseen or any(fault.proof is not Proof.USUAL for fault in self.faults):
            return BY_LABEL
        listed = not self.names >= {"interrupted", "sleeps"}  # EC2 lists what was ended for an hour
        return BY_ID if self.provider is AWS and listed else BY_ABSENCE

    @property
    def alarm(self) -> str:
        """Return the words with which the launch stays open; none where it ends."""
        if "rotated" in self.names and self.names & NEW_KEY_UNPROVEN:
            return "needed"
        if self.provider is AWS and self.names >= {"end-forbidden", "interrupted"}:
            return ""  # EC2 lists it as ended, so nothing has to be asked for
        return next((fault.alarm for fault in self.faults if fault.alarm), "")


def sensible(faults: Sequence[SingleFault]) -> bool:
    """Return whether each of the faults still has an effect together with the others."""
    parts = {fault.part for fault in faults}
    if len(parts) < len(faults) or sum(bool(fault.alarm) for fault in faults) > 1:
        return False
    without = [fault for fault in faults if fault.proof is Proof.NO_MACHINE]
    if without and any(fault.part in NEED_A_MACHINE for fault in faults if fault not in without):
        return False
    asleep = [fault for fault in faults if fault.name == "sleeps"]
    return not any(
        fault.strikes_s is not None
        and fault.strikes_s > nap.strikes_s
        and fault.ceases_s <= nap.ceases_s
        and fault.lasts_s
        for nap in asleep
        for fault in faults
        if nap.strikes_s is not None
    )


def _alone() -> Iterator[Combination]:
    for provider in ALL:
        yield from (
            Combination(provider, (single_fault,)) for single_fault in SINGLE_FAULTS if provider in single_fault.where
        )


def _pairs() -> Iterator[Combination]:
    """Take one pair of every two groups, the clouds and the members of each group by turns."""
    turns = {group: cycle(group) for group in GROUPS}
    clouds = cycle(BOTH)
    for first, second in combinations(GROUPS, 2):
        tries = len(first) * len(second) * len(BOTH)
        for _ in range(tries):
            pair, cloud = (next(turns[first]), next(turns[second])), next(clouds)
            if sensible(pair) and all(cloud in fault.where for fault in pair):
                yield Combination(cloud, pair)
                break


def _three(names: str) -> tuple[SingleFault, ...]:
    return tuple(NAMED[name] for name in names.split())


SINGLES = tuple(_alone())
COMBINATIONS = (
    *_pairs(),
    *(Combination(cloud, _three(names)) for names, cloud in product(TRIPLES, BOTH)),
    *(Combination(LAMBDA, _three(names)) for names in TRIPLES_AT_LAMBDA),
    *(Combination(AWS, _three(names)) for names in TRIPLES_ON_EC2),
)
