"""Lists the currency codes of ISO 4217 with the smallest amount of each.

Source: ISO 4217, list one as published on 2026-01-01 by SIX, which keeps the standard's tables. Funds and units of
account (CLF, XDR), metals (XAU) and test codes (XTS) are left out, because bills do not use them.
"""

from __future__ import annotations

import difflib

TWO_DIGITS = """
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK
DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD
KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP
PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH
USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG
"""
NO_DIGITS = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
THREE_DIGITS = "BHD IQD JOD KWD LYD OMR TND"
MINOR_DIGITS: dict[str, int] = (
    dict.fromkeys(TWO_DIGITS.split(), 2) | dict.fromkeys(NO_DIGITS.split(), 0) | dict.fromkeys(THREE_DIGITS.split(), 3)
)
"""Decimal digits of each currency's smallest amount: a won has none, a dollar two, a Kuwaiti dinar three."""

OTHER_NAMES = {
    "WON": "KRW", "YEN": "JPY", "EURO": "EUR", "RMB": "CNY", "CNH": "CNY", "YUAN": "CNY", "POUND": "GBP", "UKP": "GBP",
    "RUPEE": "INR", "FRANC": "CHF", "NTD": "TWD", "NIS": "ILS", "BGN": "EUR", "HRK": "EUR", "DEM": "EUR", "FRF": "EUR",
    "ITL": "EUR", "ESP": "EUR", "NLG": "EUR", "ANG": "XCG", "SLL": "SLE", "ZWL": "ZWG", "CUC": "CUP", "RUR": "RUB",
    "KRO": "KRW", "DOLLAR": "USD",
}  # fmt: skip
"""Code of today for common names of currencies and for withdrawn codes."""


def known_code(code: str) -> str:
    """Return the code if ISO 4217 lists it. Raises ValueError that suggests the nearest codes otherwise."""
    if code in MINOR_DIGITS:
        return code
    asked = code.strip().upper()
    meant = OTHER_NAMES.get(asked)
    near = [asked] if asked in MINOR_DIGITS else [meant] if meant else _nearest(asked)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(f"'{code[:20]}' is not a currency code of ISO 4217: three capital letters, e.g. EUR{hint}")


def minor_digits(code: str) -> int:
    """Return the decimal digits of the currency's smallest amount."""
    return MINOR_DIGITS[code]


def _nearest(asked: str) -> list[str]:
    return difflib.get_close_matches(asked, MINOR_DIGITS, n=3, cutoff=0.6)
