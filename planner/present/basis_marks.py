"""Colour and shape of how a number is known, on charts, pages and reports."""

from __future__ import annotations

from planner.model.quantity import Basis

BASIS_COLOUR = {
    Basis.MEASURED: "#009E73",
    Basis.QUOTED: "#0072B2",
    Basis.MODELLED: "#E69F00",
    Basis.ASSUMED: "#D55E00",
}
"""Okabe-Ito colours: told apart with any kind of colour vision."""

BASIS_SHAPE = {
    Basis.MEASURED: "circle",
    Basis.QUOTED: "square",
    Basis.MODELLED: "triangle-up",
    Basis.ASSUMED: "diamond",
}
"""The second channel: the same shape on the chart and before the word."""
