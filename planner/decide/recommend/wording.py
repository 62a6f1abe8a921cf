"""Write options, durations, dollars and chances for sentences."""

from __future__ import annotations

import math

from planner.text.number_text import percent_text

TWICE = 2.0
"""Ratio from which on it is written as a factor, not as a percentage."""


def duration_text(hours: float) -> str:
    """Write hours as a person would: minutes, hours or days."""
    return " ".join(duration_parts(hours))


def duration_parts(hours: float) -> tuple[str, str]:
    """Return the number and the unit of `duration_text`."""
    if hours < 1:
        return f"{hours * 60:.3g}", "minutes"
    return (f"{hours:.3g}", "hours") if hours < 48 else (f"{hours / 24:,.4g}", "days")


def usd_text(usd: float) -> str:
    """Write dollars with cents below 100."""
    return f"{usd:,.2f} USD" if usd < 100 else f"{usd:,.0f} USD"


def short_duration(hours: float) -> str:
    """Write minutes or hours with two digits, rounded up, for a sentence: 25 minutes, 3.4 hours, 31 hours."""
    number, unit = short_duration_parts(hours)
    return "a minute" if unit == "minute" else f"{number} {unit}"


def short_duration_parts(hours: float) -> tuple[str, str]:
    """Return the number and the unit of `short_duration`: minute, minutes or hours."""
    if hours < 1:
        minutes = math.ceil(hours * 60)
        return ("1", "minute") if minutes <= 1 else (f"{minutes}", "minutes")
    tenths = math.ceil(hours * 10 - 1e-9) / 10
    return (f"{tenths:.1f}" if hours < 10 else f"{math.ceil(hours - 1e-9)}"), "hours"


def short_usd(usd: float) -> str:
    """Write dollars with two or three digits, for a sentence: 4,600 USD; cents below 10."""
    return f"{short_amount(usd)} USD"


def short_amount(amount: float) -> str:
    """Write an amount of money with three digits; cents below 10, and 0 as it is."""
    if amount == 0:
        return "0"
    return f"{amount:.2f}" if abs(amount) < 10 else f"{float(f'{amount:.3g}'):,.0f}"


def up_to_amount(amount: float) -> str:
    """Write an amount of money with three digits, never below what it is; cents below 10."""
    if amount < 10:
        return f"{math.ceil(amount * 100 - 1e-9) / 100:.2f}"
    return f"{three_digits_up(amount):,.0f}"


def three_digits_up(amount: float) -> float:
    """Round a positive amount up to three digits, or to a whole one."""
    step = 10.0 ** max(0, math.floor(math.log10(amount)) - 2)
    return math.ceil(amount / step - 1e-9) * step


def confidence_text(confidence: float) -> str:
    """Write a confidence as a person says it: 4 in 5 sure; other shares in percent."""
    for whole in (2, 3, 4, 5, 10, 20):
        if math.isclose(confidence * whole, whole - 1):
            return f"{whole - 1} in {whole} sure"
    return f"{100 * confidence:.3g} % sure"


def ratio_text(ratio: float) -> str:
    """Write how one cost compares with another, as a ratio: 12 % cheaper, 63 % dearer, 2.1 times the cost."""
    percent = round(100 * abs(ratio - 1))
    if percent == 0:
        return "at the same cost"
    if ratio < 1:
        return f"{percent} % cheaper"
    return f"{percent} % dearer" if ratio < TWICE else f"{float(f'{ratio:.2g}'):,g} times the cost"


def share_text(share: float) -> str:
    """Write a share in percent with two digits: 28 %, 4.3 %."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.2g} %"


def shares_apart(share: float, other: float) -> tuple[str, str]:
    """Write two shares with as many digits, up to four, as tell them apart; alike if that takes more."""
    if share_text(share) != share_text(other):
        return share_text(share), share_text(other)
    for digits in (3, 4):
        written, beside = (f"{100 * each:.{digits}g} %" for each in (share, other))
        if written != beside:
            return written, beside
    return share_text(share), share_text(other)


def with_reason(name: str, reason: str) -> str:
    """Write what speaks against a machine, in short: `Server does not fit its rack`, `Server: it stands at our-lab`."""
    short = reason.split(":", maxsplit=1)[0]
    return f"{name}: {short}" if short.startswith(("it ", "its ")) else f"{name} {short}"


def kept_and_asked(chance: float, confidence: float) -> tuple[str, str]:
    """Write a chance that is too low, and the one that the plan asks for; they never read alike."""
    kept, asked = percent_text(chance), percent_text(confidence)
    return f"with a chance of {f'just under {asked}' if kept == asked else kept}", f"you asked for {asked}"
