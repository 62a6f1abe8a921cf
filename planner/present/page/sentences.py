"""Translates sentences that the planner wrote in English.

Each sentence is matched against the forms below, and its values are inserted into the form's translation. Values that
are phrases are translated the same way. A sentence without a matching form stays English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.own_or_rent import Horizons
from planner.present.page.words import Words

SENTENCES = (
    "Keep {name}: {done}, {cost}, {sure}.", "Keep {name}: {done}, {cost}.",
    "Rent {name}: {done}, {cost}, {sure}.", "Rent {name}: {done}, {cost}.",
    "Buy {name}: {done}, {cost}, {sure}.", "Buy {name}: {done}, {cost}.",
    "Use {name}: {done}, {cost}, {sure}.", "Use {name}: {done}, {cost}.",
    "Mix {n} options: {done}, {cost}, {sure}.", "Mix {n} options: {done}, {cost}.", "{name}: {n} trainings; {others}.",
    "Alone: {name}, {done}, {cost}.", "Alone and cheaper: {name}, {done}, {cost}.", "No option alone keeps the limits.",
    "But the measurement of {name} is doubtful: planner explain says why.",
    "The price of {name} is out of date: run planner prices refresh first.",
    "The price of {name} is out of date: ask for a quote first.",
    "The prices of {n} options are out of date: run planner prices refresh first.",
    "The prices of {n} options are out of date: ask for a quote first.",
    "The prices of {n} options are out of date: run planner prices refresh, and ask for a quote of the others first.",
    "But its measurement is doubtful: planner explain says why.",
    "Firm and measured: {name}, {done}, {cost}.", "Firm: {name}, {done}, {cost}.", "Measured: {name}, {done}, {cost}.",
    "Cheaper, and already yours: {name}, {done}, {cost}.", "Its speed is {known}.",
    "Without dividing the network: {name}, {done}, {cost}.",
    "Your trainer must split the model ({what}), as {others} does: try a step first.",
    "Your trainer must split the model ({what}): try a step first.",
    "Sooner and cheaper: {name}, {done}, {cost}.", "Sooner, as spot and cheaper: {name}, {done}, {cost}.",
    "Sooner: {name}, {done}, {cost}.", "Sooner, as spot: {name}, {done}, {cost}.",
    "It may be taken away at any time, and no firm option can be recommended beside it.",
    "This exact setup was not measured: {known}.", "This exact setup was not measured.",
    "The cheapest to buy, {name}, is {usd} at once.",
    "Buying misses the limits: {name}, the cheapest, is {usd} at once.",
    "No price is known of {n} options: run planner prices refresh, or state your own.",
    "No price is known of {n} option: run planner prices refresh, or state your own.",
    "Its price is {n} days old: run planner prices refresh first.",
    "Its term may end before the work: more hours are counted on demand, or as another term.",
    "Its price is {n} days old: ask for a quote first.",
    "The price of {name} is {n} days old: run planner prices refresh first.",
    "The price of {name} is {n} days old: ask for a quote first.", "Ask for a quote, then compare again.",
    "Whether the model fits its memory was not checked: try one step first.",
    "It fits its memory with {chance}: try a step first.",
    "{usd} are due at once, ready on {day}; {left} of it would be left then.", "{usd} are due at once, ready on {day}.",
    "{usd} are due at once; {left} of it would be left then.", "{usd} are due at once.",
    "It must be bought for a term longer than the work, {usd} in all.",
    "Its whole window is paid, {usd} in all.",
    "A block of 1 day, {usd} in all, is paid whether it is used or not.",
    "A block of {n} days, {usd} in all, is paid whether it is used or not.",
    "{n} blocks of up to 1 day, {usd} in all, are paid whether they are used or not.",
    "{n} blocks of up to {days} days, {usd} in all, are paid whether they are used or not.",
    "It can likely be had from {day} on.",
    "That the service trains this network with this method is the plan's word.",
    "The start {day} lies in the past.", "It is ready on {day}.",
    "Nothing fits: of no option are both time and cost known.", "The table says what is missing of each.",
    "Nothing fits: the deadline {day} has passed.",
    "Nothing fits: no option lies where the plan allows it.", "Nothing fits: no option can take the work.",
    "Nothing fits yet: the price of {name} is {n} days old.", "Run planner prices refresh, then compare again.",
    "Nothing fits: {name} may be taken away within its {n} days.",
    "Add a firm price of it to the plan: on demand, a block or a commitment.",
    "Best chance: {name} {kept} with a chance of {chance}; you asked for {asked}.",
    "Best chance: {name} {kept} with a chance of {chance}.",
    "Best chance: mixing {n} options keeps the limits with a chance of {chance}; you asked for {asked}.",
    "What runs when: planner campaign.",
    "Nothing fits: the training is larger than the memory of every option.",
    "{n} nodes fit: {what}.", "{n} accelerators fit: {what}.",
    "Measure first: {name} {kept} with a chance of {chance}; you asked for {asked}.",
    "Measure first: {name} {kept} with a chance of {chance}.",
    "Measure first: the run that {name} rests on cannot be true as stated.",
    "A short run of the benchmark there would settle it ({command}).",
    "A 20-minute run there, at most {usd}, would settle it ({command}).",
    "Nothing fits: the nearest, {name}, is done by {day}, after {deadline}, it costs up to {usd} of {budget}.",
    "Nothing fits: the nearest, {name}, is done by {day}, after {deadline}.",
    "Nothing fits: the nearest, {name}, costs up to {usd} of {budget}.",
    "To be {sure}, it needs time until {day} and {usd}.", "To be {sure}, it needs time until {day}.",
    "To be {sure}, it needs {usd}.",
    "{name} is cheaper above {rate} {code} a USD; today {today}.",
    "{name} is cheaper below {rate} {code} a USD; today {today}.",
    "Rent {name}: {usd} a year for {n} trainings; keeping ours costs {own} USD.",
    "Buy {name}: {usd} a year for {n} trainings; keeping ours costs {own} USD.",
    "Over years, owning {name} costs less than renting {other} above {share} busy (this work: {now}).",
    "If {name} is any faster than estimated, no option keeps the limits.",
    "If {name} is any slower than estimated, no option keeps the limits.",
    "If {name} is over {times} times as fast as estimated, no option keeps the limits.",
    "If {name} is under {times} times as fast as estimated, no option keeps the limits.",
    "If {name} is any faster than estimated, {then} wins.", "If {name} is any slower than estimated, {then} wins.",
    "If {name} is over {times} times as fast as estimated, {then} wins.",
    "If {name} is under {times} times as fast as estimated, {then} wins.",
    "If {name} costs above {rate} USD an hour (now {today}), no option keeps the limits.",
    "If {name} costs below {rate} USD an hour (now {today}), no option keeps the limits.",
    "If {name} costs above {rate} USD an hour (now {today}), {then} wins.",
    "If {name} costs below {rate} USD an hour (now {today}), {then} wins.",
    "No option keeps the limits from {n} trainings (now {today}).",
    "No option keeps the limits up to {n} trainings (now {today}).",
    "No option keeps the limits above {rate} {unit} (now {today}).",
    "No option keeps the limits below {rate} {unit} (now {today}).",
    "{name} wins from {n} trainings (now {today}).", "{name} wins up to {n} trainings (now {today}).",
    "{name} wins above {rate} {unit} (now {today}).", "{name} wins below {rate} {unit} (now {today}).",
    "{condition}, no plan keeps the limits.",
    "{condition}, {name} does all trainings.",
    "{condition}, {name} takes its place.",
    "{condition}, it drops out.",
    "{condition}, {name} joins and {other} drops out.",
    "{condition}, {name} joins and {other} drop out.",
    "{condition}, {name} join and {other} drops out.",
    "{condition}, {name} join and {other} drop out.",
    "{condition}, {name} joins.",
    "{condition}, {name} join.",
    "{condition}, {name} drops out.",
    "{condition}, {name} drop out.",
    "Measure {name} with one 20-minute run, {cost}: it decides between {one} and {other}.",
    "Measure {name} with one 20-minute run, {cost}: it settles whether that keeps the limits.",
    "Measure {name} with one 20-minute run, {cost}.",
    "Probe {name} for two minutes, {cost}: it decides between {one} and {other}.",
    "Probe {name} for two minutes, {cost}.",
    "Keep {name}: {usd} a year{work}{end}.",
    "Rent {name}: {usd} a year{work}{end}.",
    "Buy {name}: {usd} a year{work}{end}.",
    "Lease {name}: {usd} a year{work}{end}.",
    "Use {name}: {usd} a year{work}{end}.",
    "{name}: {usd} a year, but it may be taken away.",
    "The cheapest rent, {name}, costs {usd} a year and may be taken away.",
    "Keeping ours costs less than renting {other} from {n} trainings a year, {share} busy; these fill {fill}.",
    "Keeping ours costs less than renting {other} from {n} trainings a year, {share} busy.",
    "Keeping ours costs less than renting {other} from {n} trainings a year.",
    "Keeping ours costs less than renting {other} from {share} busy on; taken as {fill} busy.",
    "Keeping ours costs less than renting {other} from {share} busy on.",
    "It takes {usd} at once; buying costs less than renting {other} from {n} trainings a year, {share} busy.",
    "It takes {usd} at once; buying costs less than renting {other} from {n} trainings a year.",
    "It takes {usd} at once.",
    "Buying takes {usd} at once and {name} commits {own}, both over the plan's budget.",
    "Buying takes {usd} at once, over the plan's budget.", "{name} commits {usd}, over the plan's budget.",
    "This campaign, {limits}: {deed}.", "This campaign: {deed}.",
    "A year of such work: {deed}, {n} % sure to cost less than {other}.",
    "A year of such work: {deed}; {other} costs less in {n} of 100 cases, and {m} are asked for.",
    "A year of such work: {deed}; {other} costs less with {n} %, but takes {usd} at once, over the plan's budget.",
    "A year of such work: {deed}; {other} costs less with {n} %, but commits {usd}, over the plan's budget.",
    "A year of such work: {deed}; {other} costs less, but by under {n} %.",
    "A year of such work: {deed}.", "A year of such work: {deed} for {usd}.",
    "{name} costs less than {other} from {n} trainings a year, of which the plan has {m}, but commits {usd}, over the "
    "plan's budget.",
    "{name} costs less than {other} from {n} trainings a year, of which the plan has {m}.",
    "{name} costs less than {other} from 1 training a year, of which the plan has {m}.",
    "{name} never costs less a year than {other}.",
    "{name} likely costs {usd}: {ahead} is cheaper only if the work takes over {times} times as long as estimated: "
    "measure first.",
    "A year at {share} busy: {deed}, {n} % sure to cost less than {other}.",
    "A year at {share} busy: {deed}; {other} costs less in {n} of 100 cases, and {m} are asked for.",
    "A year at {share} busy: {deed}; {other} costs less with {n} %, but takes {usd} at once, over the plan's budget.",
    "A year at {share} busy: {deed}; {other} costs less, but by under {n} %.",
    "A year at {share} busy: {deed}.",
    "the exchange rate, {rate} {code} a USD, is {n} days old: write today's under currency in the plan.",
    "if {name} is sold out: {other}, {done}, {cost}.",
    "s spot: may be taken away.", "* price out of date: planner prices refresh.",
    "* price out of date: ask for a quote.",
    "* price out of date: planner prices refresh, and ask for a quote of the others.", "+ not in the bill: {what}.",
    "~ at an assumed rate in the bill: {what}.", "a Arm processor: x86 images do not run.",
    "c after credits: the bill is {usd}.", "c after credits: the bills are {usd}.",
    "? ask whether they have that many.",
    "n network between nodes assumed: {rate} Gbit/s of each; set yours with --network.",
    "l fits only with a loss in chunks, as Liger's: --loss chunked.", "d the trainer must split the model: {what}.",
    "w needs {what}: the trainer must be ported to it.",
)  # fmt: skip
"""Forms of headlines, of turning points and of the marks below a table.

A longer form precedes a shorter one that would match the same sentence.
"""
PHRASES = (
    "done in {n} minutes", "done in a minute", "done in {n} hours", "done by {day}",
    "at most {usd} of electricity", "at most {usd} in all", "at most {usd}", "all of it paid by credits",
    "nothing to pay", "{k} in {n} sure", "{n} % sure", "if its measurement is right",
    "estimated from {n} published runs, {m} on {card}", "estimated from {n} published runs, none on {card}",
    "estimated from {n} published runs and your probe", "estimated from {n} published runs and another probe",
    "{n} million {code}", "about {n} USD", "under 1 USD", "measured (bundled run {run})",
    "measured (your run {run})", "measured by you (step)", "assumed by the plan (step)",
    "scaled from the run measured on {n}x {card}", "scaled from your run on {n}x {card}",
    "scaled from a run of another network there", "scaled from your run of another network there",
    "share of the peak (the plan's mfu)",
    "If {name} costs above {rate} USD an hour (now {today})",
    "If {name} costs below {rate} USD an hour (now {today})",
    "If {name} is over {times} times as fast as estimated",
    "If {name} is under {times} times as fast as estimated",
    "With a deadline {n} day later",
    "With a deadline {n} days later",
    "With a deadline {n} day earlier",
    "With a deadline {n} days earlier",
    "keep {name}, which does {k} of {m} trainings", "buy {name}, which does {k} of {m} trainings",
    "no option keeps the limits", "no option can be recommended",
    "keep {name}", "rent {name}", "buy {name}", "use {name}", "mix {n} options",
    "by {day} for {usd}", "by {day}", "for {usd}",
    "keeping ours",
    "buying", "leasing ours",
    " for {n} trainings",
    " for 1 training",
    " at {share} busy",
    "; keeping ours costs {own}",
    "; the plan names nothing firm to rent",
    "; {name} at {usd} costs less in {n} of 100 cases, and {m} are asked for",
    "; {name} at {usd} costs less, but by under {n} %",
    "; {name} costs {usd}",
    "keeps the deadline", "stays in the budget", "keeps both limits", "the term", "the block", "the grant", "the lease",
    ", {usd} less than renting {other}",
    ", {usd} less than renting",
    "USD a kWh", "preemptions an hour", "{code} a USD",
)  # fmt: skip
ANYTHING = r".{1,160}?"
VALUES = {
    "work": r"|(?: for [\d,.]+ trainings?| at [\d.]+ % busy)",
    "end": r"|; keeping .{1,80}?|; the plan names nothing firm to rent|; .{1,160}? costs .{1,60}?|, .{1,160}?",
    "kept": r"keeps the deadline|stays in the budget|keeps both limits",
    "ahead": r"the (?:term|block|grant|lease)",
    "own": r"[\d,.]+(?:(?: million)? [A-Z]{3})?",
    "condition": r"If .{1,160}?(?:as estimated|\(now [\d,.]+\))|With a deadline \d+ days? \w+",
    "done": r"done .{1,60}?|time not known",
    "cost": r"at most .{1,80}?|all of it paid by credits|nothing to pay|about [\d,.]+ USD|under 1 USD",
    "sure": r"\d+ in \d+ sure|[\d.]+ % sure|if its measurement is right",
    "deed": r"(?:keep|rent|buy|use|mix) .{1,160}?|no option .{1,40}?",
    "limits": r"by [-\d]{10}(?: for .{1,40}?)?|for .{1,40}?",
    "day": r"\d{4}-\d{2}-\d{2}",
    "deadline": r"\d{4}-\d{2}-\d{2}",
    "usd": r"[\d,.]+(?: million)? [A-Z]{3}(?: \([^)]{1,60}\))?(?: and [\d,.]+(?: million)? [A-Z]{3})*",
    "k": r"[\d,.]+",
    "m": r"[\d,.]+",
    "n": r"[\d,.]+",
    "rate": r"[\d,.]+",
    "today": r"[\d,.]+",
    "times": r"[\d,.]+",
    "unit": r"USD a kWh|preemptions an hour|[A-Z]{3} a USD",
}
"""Patterns of values by name. Other values match any text, as short as possible, because names contain commas."""
PLACE = re.compile(r"\{(\w+)\}")


def translated(sentence: str, words: Words) -> str:
    """Translate a sentence. Return it unchanged if it has no known form."""
    return sentence if words.language == "en" else _by_form(sentence, words, SENTENCES) or sentence


def horizons_text(both: Horizons, words: Words) -> str:
    """Translate the sentences about this campaign and about a year of such work."""
    return f"{translated(both.campaign, words)} {translated(both.year, words)}"


def notes_text(document: ComparisonDocument, words: Words) -> list[str]:
    """Return the notes on all options, translated if they have a known form."""
    both = document.horizons
    if both is None:
        return [_note(note, words) for note in document.notes]
    horizons_note = both.text.removesuffix(".")
    return [horizons_text(both, words) if note == horizons_note else _note(note, words) for note in document.notes]


def _note(note: str, words: Words) -> str:
    """Translate a note, which may be a sentence of the headline without its full stop."""
    said = translated(note, words)
    return said if said != note else translated(f"{note}.", words).removesuffix(".")


def phrase(text: str, words: Words) -> str:
    """Translate a phrase. Return it unchanged if it has no known form."""
    return text if words.language == "en" else _by_form(text, words, PHRASES) or text


def _by_form(text: str, words: Words, forms: Sequence[str]) -> str | None:
    for form in forms:
        found = _pattern(form).fullmatch(text)
        if found is not None:
            values = {name: _by_form(value, words, PHRASES) or value for name, value in found.groupdict().items()}
            return words(form).format(**values)
    return None


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern of a form."""
    parts = PLACE.split(form)
    texts = [
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>{VALUES.get(part, ANYTHING)})"
        for place, part in enumerate(parts)
    ]
    return re.compile("".join(texts))
