"""Draws the form: training, machines, offers, limits."""

from __future__ import annotations

from datetime import date
from typing import Any

import streamlit as st

from planner.adapters.documents import parse_model
from planner.model.currency import MINOR_DIGITS
from planner.model.network.training_method import TrainingMethod
from planner.model.network.workload import Precision
from planner.model.plan.campaign_limits import MOST_RUNS
from planner.model.plan.find_filters import Terms
from planner.present.page.words import Words
from planner.ui.ask import question
from planner.ui.ask.form import KRW_PER_USD, MOST_MACHINES, Form, MachineRow, Start, WeightsChoice
from planner.ui.ask.question import FORM_FIX, StampedCatalog
from planner.ui.parts import Inputs
from planner.ui.state import replace_form, version

USUAL_CURRENCIES = ("USD", "KRW", "EUR", "JPY", "GBP", "CNY", "INR")
ANY = "any"
NEXT = "next"
"""Choice of the next token as objective."""


def ask(form: Form, known: StampedCatalog, words: Words, *, today: date) -> Form:
    """Draw the form, and return it as filled in. Raises InputError for a wrong value."""
    inputs = Inputs(version())
    given: dict[str, Any] = {}
    if form.start is not Start.PLAN:
        with st.container(border=True):
            st.markdown(f"**{words('What you train')}**")
            given |= _training(form, inputs, known, words)
        with st.container(border=True):
            st.markdown(f"**{words('Machines you have, or would buy')}**")
            given["machines"] = _machines(form, inputs, known, words)
        with st.container(border=True):
            st.markdown(f"**{words('Offers')}**")
            given |= _offers(form, inputs, known, words)
    with st.container(border=True):
        st.markdown(f"**{words('Limits')}**")
        given |= _limits(form, inputs, words, today=today)
    kept = form.model_dump()
    return parse_model(Form, kept | given, where=words("the form"), fix=words(FORM_FIX))


def limits_of(form: Form, inputs: Inputs, words: Words, *, today: date) -> Form:
    """Draw only the limits, and return the form with them. Raises InputError for a wrong value."""
    given = _limits(form, inputs, words, today=today)
    return parse_model(Form, form.model_dump() | given, where=words("the form"), fix=words(FORM_FIX))


def _training(form: Form, inputs: Inputs, known: StampedCatalog, words: Words) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if form.config is None:
        networks = question.networks(known)
        known_names = networks if form.model in networks else {form.model: form.model} | networks
        given["model"] = inputs.choose(words("Model"), "model", form.model, known_names)
    else:
        st.text(words("Model: {name}, from its file", name=form.model))
        st.button(
            words("Choose by name instead"), on_click=replace_form, args=({"config": None, "model": "llama3-8b"},)
        )
    methods = {
        WeightsChoice.LORA.value: "LoRA",
        WeightsChoice.QLORA.value: "QLoRA",
        WeightsChoice.FULL.value: words("all weights"),
    }
    given["method"] = inputs.side_by_side(words("Method"), "method", form.method.value, methods)
    amounts = {"data": words("conversations"), "samples": words("samples"), "tokens": words("tokens")}
    given["amount"] = inputs.side_by_side(words("Data as"), "amount", form.amount, amounts)
    if given["amount"] == "tokens":
        millions = inputs.number(words("Million tokens in all"), "tokens", form.tokens / 1e6, step=100.0)
        given["tokens"] = 1e6 * (millions or 0)
    else:
        columns = st.columns([1.4, 1.25, 0.95] if given["amount"] == "data" else 2, gap="small")
        with columns[0]:
            given["samples"] = inputs.whole(words("How many"), "samples", form.samples, most=10**12)
        if given["amount"] == "data":
            with columns[1]:
                given["mean"] = inputs.whole(words("Mean tokens"), "mean", form.mean, most=10**7)
        with columns[-1]:
            given["epochs"] = inputs.number(words("Epochs"), "epochs", form.epochs, step=1.0)
    given |= _objective(form, inputs, words, has_lengths=given["amount"] == "data")
    with st.expander(words("Precision, sequence length, config.json")):
        precisions = {ANY: words("usual"), **{kind.value: kind.value for kind in Precision}}
        precision = inputs.choose(
            words("Precision"), "precision", form.precision.value if form.precision else ANY, precisions
        )
        given["precision"] = None if precision == ANY else precision
        given["seq_len"] = inputs.whole(
            words("Tokens of a sequence"), "seq_len", form.seq_len, most=10**7, placeholder=words("by the data")
        )
        st.file_uploader(words("The model's config.json"), type=["json"], key="config_file")
    return given


def _objective(form: Form, inputs: Inputs, words: Words, *, has_lengths: bool) -> dict[str, Any]:
    """Ask for the training objective, and for the length of answers if they are compared."""
    learns = {NEXT: words("texts (pretraining, SFT)")} | {
        TrainingMethod.DPO.value: words("pairs of answers: {name}", name="DPO"),
        TrainingMethod.ORPO.value: words("pairs of answers: {name}", name="ORPO"),
        TrainingMethod.SIMPO.value: words("pairs of answers: {name}", name="SimPO"),
        TrainingMethod.KTO.value: words("judged answers: {name}", name="KTO"),
        TrainingMethod.REWARD.value: words("pairs of answers: a reward model"),
        TrainingMethod.GRPO.value: words("answers of its own: {name}", name="GRPO"),
        TrainingMethod.RLOO.value: words("answers of its own: {name}", name="RLOO"),
        TrainingMethod.PPO.value: words("answers of its own: {name}", name="PPO"),
    }
    chosen = form.learns.value if form.learns else NEXT
    objective = inputs.choose(
        words("Learns from"), "learns", chosen, learns | ({} if chosen in learns else {chosen: chosen})
    )
    if objective == NEXT or not has_lengths:
        return {"learns": None if objective == NEXT else objective, "completion": None}
    completion = inputs.whole(
        words("Tokens of an answer"), "completion", form.completion, most=10**7, placeholder=words("in the mean")
    )
    return {"learns": objective, "completion": completion}


def _machines(form: Form, inputs: Inputs, known: StampedCatalog, words: Words) -> list[dict[str, Any]]:
    listed = question.machines(known)
    rows = []
    for place, machine in enumerate(form.machines):
        row = _machine(place, machine, inputs, listed, words)
        rows.append(row if row["name"] in known.catalog.accelerators else row | {"count": 1})
    if len(form.machines) < MOST_MACHINES:
        st.button(words("Add a machine"), on_click=_add, key="add-machine")
    return rows


def _machine(place: int, machine: MachineRow, inputs: Inputs, listed: dict[str, str], words: Words) -> dict[str, Any]:
    wide, narrow = st.columns([3, 1.3], gap="small")
    n = place + 1
    with wide:
        options = listed if machine.name in listed else {machine.name: machine.name} | listed
        name = inputs.choose(words("Machine {n}", n=n), f"machine-name-{place}", machine.name, options)
    with narrow:
        count = inputs.whole(words("Count {n}", n=n), f"machine-count-{place}", machine.count, most=72) or 1
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        hold = inputs.side_by_side(
            words("Machine {n} is", n=n), f"machine-hold-{place}", "buy" if machine.buy else "have",
            {"have": words("have it"), "buy": words("to buy")}, label_visibility="collapsed", width="content",
        )  # fmt: skip
        st.button(words("Remove {n}", n=n), key=f"remove-{place}", type="tertiary", on_click=_remove, args=(place,))
    usd = None
    if hold == "buy":
        usd = inputs.number(
            words("Price of machine {n} (USD)", n=n), f"machine-usd-{place}", machine.usd, step=100.0,
            placeholder=words("as listed"),
        )  # fmt: skip
    return {"name": name, "count": count, "buy": hold == "buy", "usd": usd or None}


def _add() -> None:
    form: Form = st.session_state["form"]
    replace_form({"machines": (*form.machines, MachineRow(name="RTX-4090"))})


def _remove(place: int) -> None:
    form: Form = st.session_state["form"]
    replace_form({"machines": tuple(machine for at, machine in enumerate(form.machines) if at != place)})


def _offers(form: Form, inputs: Inputs, known: StampedCatalog, words: Words) -> dict[str, Any]:
    listed = question.offers(known)
    chosen = [offer if offer in listed else f"{offer}:on_demand" for offer in form.offers]
    options = {offer: offer for offer in chosen if offer not in listed} | listed
    key = inputs.key("find", form.find)
    given: dict[str, Any] = {"find": st.toggle(words("Find them for me"), key=key)}
    given["offers"] = inputs.several(
        words("Offers to compare"), "offers", chosen, options, placeholder=words("Type a provider or a card")
    )
    if given["find"] or given["offers"]:
        terms = {ANY: words("firm or spot"), Terms.FIRM.value: words("firm"), Terms.SPOT.value: words("spot")}
        kind = inputs.side_by_side(words("Terms"), "terms", form.terms.value if form.terms else ANY, terms)
        given["terms"] = None if kind == ANY else kind
        regions = {region: region for region in (*question.regions(known), *form.regions)}
        given["regions"] = inputs.several(
            words("Regions"), "regions", form.regions, regions, placeholder=words("anywhere")
        )
    if form.start is Start.OFFERS:
        given |= _our_terms(form, inputs, known, words)
    return given


def _our_terms(form: Form, inputs: Inputs, known: StampedCatalog, words: Words) -> dict[str, Any]:
    listed = question.providers(known)
    provider = inputs.choose(words("Our terms with"), "provider", form.provider or "aws", listed)
    left, right = st.columns(2, gap="small")
    with left:
        discount = inputs.number(words("Discount (%)"), "discount", form.discount, step=1.0, max_value=99.0)
    with right:
        credit = inputs.number(words("Credits left (USD)"), "credits", form.credits, step=1000.0)
    return {"provider": provider, "discount": discount or 0.0, "credits": credit or 0.0}


def _limits(form: Form, inputs: Inputs, words: Words, *, today: date) -> dict[str, Any]:
    given: dict[str, Any] = {}
    left, right = st.columns(2, gap="small")
    with left:
        given["runs"] = inputs.whole(words("Trainings"), "runs", form.runs, most=max(MOST_RUNS, form.runs))
    with right:
        days = (today, form.deadline or today)
        first, last = date(min(days).year - 1, 1, 1), date(max(days).year + 20, 12, 31)
        given["deadline"] = inputs.day(words("Deadline"), "deadline", form.deadline, min_value=first, max_value=last)
    code = form.currency
    if form.start is not Start.PLAN:
        codes = {currency: currency for currency in dict.fromkeys((*USUAL_CURRENCIES, *sorted(MINOR_DIGITS)))}
        with left:
            code = given["currency"] = inputs.choose(words("Currency"), "currency", form.currency, codes)
        if code != "USD":
            with right:
                rate = KRW_PER_USD if code == "KRW" else None
                given["per_usd"] = inputs.number(
                    words("{code} for a US dollar", code=code), f"rate-{code}", form.per_usd or rate, step=1.0
                )
    with left:
        given["budget"] = inputs.number(
            words("Budget ({code})", code=code), "budget", form.budget, step=100.0, placeholder=words("no budget")
        )
    with right:
        given["kwh"] = inputs.number(
            words("A kWh ({code})", code=code), "kwh", form.kwh, step=0.01, placeholder=words("usual"), format="%.4g"
        )
    levels = {0.5: "1 / 2", 0.8: "4 / 5", 0.9: "9 / 10", 0.95: "19 / 20"}
    if form.confidence not in levels:
        levels[form.confidence] = f"{form.confidence:.0%}"
    texts = {str(level): text for level, text in levels.items()}
    sure = inputs.side_by_side(words("How sure it must be"), "confidence", str(form.confidence), texts)
    given["confidence"] = float(sure)
    return given
