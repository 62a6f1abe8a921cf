"""Colours and shapes that show the basis of a number on charts, pages and reports."""

from __future__ import annotations

from planner.model.quantity import Basis

BASIS_COLOUR = {
    Basis.MEASURED: "#009E73",
    Basis.QUOTED: "#0072B2",
    Basis.MODELLED: "#E69F00",
    Basis.ASSUMED: "#D55E00",
}
"""Okabe-Ito colours, which people with any kind of colour vision can distinguish."""

BASIS_SHAPE = {
    Basis.MEASURED: "circle",
    Basis.QUOTED: "square",
    Basis.MODELLED: "triangle-up",
    Basis.ASSUMED: "diamond",
}
"""Shapes as a second sign besides the colour, on charts and before words."""
