"""Hugging Face's Trainer, and trainers built on it: TRL, axolotl, LLaMA-Factory, unsloth.

Reads `trainer_state.json`, `all_results.json`, `train_results.json`, the console's output and the model card. Steps
have times only in the console's progress bar. The files hold totals: planned samples / seconds of the last process
(`transformers.trainer_utils.speed_metrics`, called with the planned steps and samples).
"""

from __future__ import annotations

from dataclasses import replace

from planner.adapters.mapping_text import Json
from planner.adapters.trainer_logs.config_keys import AXOLOTL, statements_of, with_whole_batch
from planner.adapters.trainer_logs.csv_columns import RATES_ALONE
from planner.adapters.trainer_logs.hf_console import Console, read_console
from planner.adapters.trainer_logs.log_source import LogSource, base
from planner.adapters.trainer_logs.numbers_in_text import count, number, number_or_nan, positive
from planner.adapters.trainer_logs.progress_bar import bar_states, training_bar
from planner.adapters.trainer_logs.rollout_figures import objective_of_figures, rollouts_of
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.trainer_log import (
    ONLY_TOTALS,
    Facts,
    LogSpan,
    OtherWork,
    Total,
    TrainerLog,
    spans_between,
)

FORMAT, FRAMEWORK = "hf-trainer", "HF Trainer"
STATE, RESULTS = r"trainer_state.{0,60}\.json", r".{0,60}(?:all|train)_results.{0,60}\.json"
SAME_STEPS = 0.99
"""Ratio above which two counts of steps agree. Steps/s has three decimals."""
MOST_EVALUATION = 0.9
"""Largest share of evaluation in the seconds. A larger one comes from earlier processes."""
BAR_RESOLUTION_S = 0.5
"""Resolution of the time between two states of a progress bar, each the first of its second."""
SPARSE_S, FINE_S = 2.0, 200.0
"""Mean time between states of a bar shown only at logging; and the seconds of which one is under half a per cent."""
MOST_BESIDE_SHARE = 0.5
"""Largest share of spans left out because a checkpoint may fall in them. Above it, they are kept."""


def read(source: LogSource) -> list[TrainerLog]:
    """Return the trainings: one for each folder's results, or for each console's output."""
    logs = []
    states = [name for name in source.named(STATE) if "checkpoint-" not in name] or source.named(STATE)[-1:]
    results = source.named(RESULTS)
    consoles = {name: read_console(source.lines(name)) for name in source.consoles()}
    consoles_of_trainer = {name: console for name, console in consoles.items() if console.is_of_trainer}
    folders = sorted({_folder(name) for name in (*states, *results)})
    for folder in folders:
        folder_consoles = [name for name in consoles_of_trainer if _folder(name) == folder or len(folders) == 1]
        own = [name for name in (*states, *results) if _folder(name) == folder]
        state = _state(source, own)
        for name in folder_consoles or [""]:
            logs.append(
                _log(
                    source,
                    state,
                    consoles_of_trainer.get(name, Console()),
                    (*own, *([name] if folder_consoles else [])),
                )
            )
            consoles_of_trainer.pop(name, None)
    logs += [_log(source, {}, console, (name,)) for name, console in consoles_of_trainer.items()]
    return [log for log in logs if log.spans or log.total or log.untimed_steps]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _state(source: LogSource, names: list[str]) -> Json:
    """Join the files of one folder. The last entry that holds a total replaces the files of totals."""
    joined: Json = {}
    for name in sorted(names, key=lambda file_name: "trainer_state" in file_name):
        data = source.json(name)
        for entry in _history(data):
            if "train_runtime" in entry:
                joined |= entry
        joined |= data
    return joined


def _history(state: Json) -> list[Json]:
    entries = state.get("log_history")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _log(source: LogSource, state: Json, console: Console, files: tuple[str, ...]) -> TrainerLog:
    """Return a training. Without a console output `console` is empty."""
    said = Statements().add(console.facts, files[-1], console.at | {"planned_steps": console.at.get("planned", 1)})
    said = statements_of(source, files[0], said, passed_over=AXOLOTL if console.stamped else ())
    micro = said.first("micro_batch")
    state_file = next((name for name in files if base(name).startswith("trainer_state")), files[0])
    said.add(_facts_of_state(state, micro.value if micro else None), state_file)
    totals = state if "train_runtime" in state else console.totals
    facts = with_whole_batch(said.facts())
    if facts.global_batch is None:
        facts = replace(facts, global_batch=_batch_of_rates(totals))
    entries = _history(state)
    figures = {name for entry in entries for name in entry} | console.figures
    facts = replace(facts, objective=facts.objective or objective_of_figures(figures))
    losses = [number_or_nan(entry.get("loss")) for entry in entries if "loss" in entry] or console.losses
    counted = [(int(number(entry.get("step")) or 0), number(entry.get("num_tokens"))) for entry in entries]
    tokens = [(step, found) for step, found in counted if found] or console.tokens
    whole, of_whole = _total(totals, state, entries)
    spans, doubts = console_spans(console, state)
    doubts += [RATES_ALONE] if console.has_rates_alone else []
    total = _total_of_a_sparse_bar(spans, whole, state, console) if spans else whole
    if not spans:
        doubts = of_whole
        if total is None and console.notebook is not None and console.notebook.done:
            total, doubts = Total(float(console.notebook.done), console.notebook.elapsed_s), [ONLY_TOTALS]
    elif total is not None:
        spans = []
    if total is not None and tokens:
        total = replace(total, tokens=tokens[-1][1])
    elif len(tokens) > 1:
        spans = _with_tokens(spans, tokens)
    rollouts = rollouts_of(entries or console.rollouts)
    if rollouts is not None:
        facts = replace(facts, objective=facts.objective or "grpo")
    return TrainerLog(
        format=FORMAT,
        framework=FRAMEWORK,
        spans=tuple(spans),
        total=total,
        check=whole if spans else None,
        counts_lengths=bool(tokens),
        untimed_steps=None if spans or total else count(state.get("global_step")),
        used_lines=console.figure_lines - console.unread_lines,
        skipped_lines=console.unread_lines,
        contradictions=said.contradictions(),
        resolution_s=BAR_RESOLUTION_S if spans else 0.0,
        facts=replace(facts, padded=not tokens and facts.padded is not False),
        losses=tuple(losses),
        rollouts=rollouts,
        doubts=tuple(doubts),
        files=files,
    )


def console_spans(console: Console, state: Json) -> tuple[list[LogSpan], list[str]]:
    """Return the spans of the training's bar. Evaluations are in the output, checkpoints at their interval."""
    total = count(state.get("max_steps")) or console.planned_steps
    bar = console.bar(total)
    other_work = [(bar[place - 1].done, OtherWork.EVALUATION) for place in console.evaluations_in(bar)]
    every = count(state.get("save_steps")) or 0
    if every and bar:
        saves = range(every, bar[-1].done + 1, every)
        if len(saves) <= MOST_BESIDE_SHARE * len(bar):
            other_work += [(step, OtherWork.CHECKPOINT) for step in saves]
    points = [(state.done, state.elapsed_s) for state in bar]
    return spans_between(points if len(points) > 1 else console.stamped, other_work=other_work)


def _total(totals: Json, state: Json, entries: list[Json]) -> tuple[Total | None, list[str]]:
    """Return steps and seconds of the last process, minus those of evaluation.

    Steps = steps/s x seconds. Before transformers 5 these are the planned steps of all processes. At most the completed
    steps count.
    """
    seconds, rate = positive(totals.get("train_runtime")), positive(totals.get("train_steps_per_second"))
    done = count(state.get("global_step"))
    if not seconds or not (rate or done):
        return None, []
    steps = rate * seconds if rate else float(done or 0)
    if done and steps > SAME_STEPS * done:
        steps = float(done)
    before = (done or steps) - steps
    own = [entry for entry in entries if (number(entry.get("step")) or 0.0) > before]
    evaluation = sum(positive(entry.get("eval_runtime")) or 0.0 for entry in own)
    return Total(steps, seconds - evaluation if evaluation < MOST_EVALUATION * seconds else seconds), [ONLY_TOTALS]


def _total_of_a_sparse_bar(spans: list[LogSpan], total: Total | None, state: Json, console: Console) -> Total | None:
    """Return the process's totals if they say more than its bar, whose whole seconds are coarse.

    After a jump tqdm shows the bar only at logging. The totals count if their steps are those of this process, as in
    transformers 5: at least those of its bar, and after a jump fewer than all planned ones.
    """
    bar = console.bar(count(state.get("max_steps")) or console.planned_steps)
    if not bar:
        return None
    seconds = sum(span.seconds for span in spans if span.other_work is None)
    planned = bar[0].total
    shown = console.own_steps(planned)
    if total is None or shown is None or seconds / len(spans) < SPARSE_S or seconds > FINE_S:
        return None
    resumed = shown < SAME_STEPS * planned
    if total.steps < shown or (resumed and total.steps >= SAME_STEPS * planned):
        return None
    return total


def _batch_of_rates(totals: Json) -> int | None:
    """Return samples of a step = samples/s / steps/s, if these have enough digits."""
    samples, steps = positive(totals.get("train_samples_per_second")), positive(totals.get("train_steps_per_second"))
    if not samples or not steps or steps < 0.05:
        return None
    found = samples / steps
    return round(found) if abs(found - round(found)) < 0.03 * found and found >= 1 else None


def _with_tokens(spans: list[LogSpan], counted: list[tuple[int, float]]) -> list[LogSpan]:
    """Add the mean tokens of a step, for a training that counts tokens without padding (TRL)."""
    (first, before), (last, after) = counted[0], counted[-1]
    if last <= first or after <= before:
        return spans
    return [replace(span, tokens=span.steps * (after - before) / (last - first)) for span in spans]


def _facts_of_state(state: Json, micro_batch: int | None) -> Facts:
    """Return the facts in trainer_state.json. Its batch may be that of several accelerators of one process."""
    planned = count(state.get("max_steps")) if "global_step" in state else None
    batch = count(state.get("train_batch_size"))
    of_several = micro_batch is not None and batch is not None and batch % micro_batch == 0
    return Facts(micro_batch=micro_batch if of_several else batch, planned_steps=planned)


def read_lone_bar(source: LogSource) -> list[TrainerLog]:
    """Read a tqdm progress bar without any hint of the trainer, in a file that the user named.

    Returns the training of the bar that was shown for longest. Folders give none, because every program draws bars.
    """
    return source.each_console(_lone_bar_log) if source.lone else []


def _lone_bar_log(source: LogSource, name: str) -> TrainerLog | None:
    states = [state for place, line in enumerate(source.lines(name)) for state in bar_states(line, place)]
    spans, doubts = spans_between([(state.done, state.elapsed_s) for state in training_bar(states, None)])
    if not spans:
        return None
    return TrainerLog(
        format="progress-bar", framework=None, spans=tuple(spans), resolution_s=BAR_RESOLUTION_S,
        facts=Facts(padded=True), doubts=tuple(doubts), files=(name,),
    )  # fmt: skip
