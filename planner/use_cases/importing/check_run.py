"""Compares a log, a result or a stored run with its expected speed, and names likely causes of slowness."""

from __future__ import annotations

from collections.abc import Sequence

from planner.adapters.bundled_tables import read_upgrades
from planner.audit.hardware_fixes import hardware_fixes, payback_hours
from planner.model.answer.run_check import HardwareFix, RunCandidate, RunCause, RunCheckDocument, RunVerdict
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.evidence.run_rates import has_rollouts, training_passes
from planner.model.plan.plan import FlopsConvention
from planner.model.quantity import Basis, FormulaUsed, Quantity, Unit
from planner.quantity.formula import named
from planner.quantity.formula_text import as_name, printed
from planner.quantity.recorded_number import recording
from planner.speed.diagnosis.causes import CauseCode
from planner.speed.diagnosis.diagnose import Diagnosis, FoundCause, diagnose, gain_range
from planner.speed.diagnosis.run_setup import Expectation, RunSetup, runs_beside, setup_of
from planner.speed.throughput.mfu import mfu_of_run
from planner.speed.throughput.prediction_notes import SMALLEST_SHARE, part_names
from planner.use_cases.answer_ids import document_id
from planner.use_cases.audited_records import audit_record

WORDS = {
    CauseCode.FP32: ("products in fp32", "set bf16 (HF: --bf16, Lightning: precision=bf16-mixed)",
                     "grep -i 'bf16\\|precision\\|dtype' CONFIG; one short run with it"),
    CauseCode.PADDING: ("padding is computed and counted", "pack samples, or group them by length",
                        "planner runs import LOG --packed, of a short run with packing on"),
    CauseCode.SMALL_BATCH: ("micro-batch too small", "micro-batch {batch}{step}",
                            "planner memory {workload} --on {accelerator} --gpus {gpus} --micro-batch {batch}"),
    CauseCode.DATA_WAIT: ("waiting for data", "more loader workers, prefetching, data tokenized beforehand",
                          "py-spy dump --pid PID (is the main thread in the DataLoader?)"),
    CauseCode.SLOW_RANK: ("one accelerator slower than the others", "cool it, free it, or replace it",
                          "nvidia-smi --query-gpu=index,clocks.sm,temperature.gpu,clocks_throttle_reasons.active "
                          "--format=csv -l 1"),
    CauseCode.LOGITS: ("logits and loss without a fused kernel", "a fused or chunked cross-entropy (Liger, cut-CE)",
                       "planner memory {workload} --on {accelerator} --gpus {gpus} --loss fused"),
    CauseCode.LINK: ("the link between accelerators", "accumulate more micro-batches, which is free; {parts}",
                     "nvidia-smi topo -p2p r"),
    CauseCode.RECOMPUTATION: ("activations are recomputed", "recomputation {recompute}",
                              "planner memory {workload} --on {accelerator} --gpus {gpus} --checkpointing {recompute}"),
    CauseCode.HOST: ("the host launches kernels too slowly", "torch.compile, CUDA graphs, a larger micro-batch",
                     "nvidia-smi dmon -s u -c 20 (far below 100 % while training)"),
    CauseCode.UNFUSED: ("eager kernels (not compiled or fused)", "torch.compile, Liger or TransformerEngine",
                        "one short run with torch.compile"),
}  # fmt: skip
"""Description, fix and cheapest test of each cause."""
CANDIDATES = (
    ("spill", "the device's memory spills into the host's",
     "nvidia-smi dmon -s mt (memory full, PCIe busy all the time)"),
    ("dead_link", "one link between accelerators nearly dead, or traffic over the wrong network",
     "NCCL_DEBUG=INFO on ten steps; all_reduce_perf -b 64M -e 64M of nccl-tests"),
    ("cpu_fallback", "a part of the step runs on the CPU", "py-spy top --pid PID; torch.profiler on three steps"),
    ("swap", "the host swaps, or the data come over a slow network", "vmstat 1 (si, so, wa); iostat -x 1"),
)  # fmt: skip
"""Rare causes that slow a run by larger factors than the usual ones: code, description, cheapest test."""
BETWEEN_CARDS = ("dead_link",)
HELD_BACK = 1.25
"""Gain of a cause from which a run within its range counts as held back."""


def check_run(run: RunRecord, catalog: Catalog) -> RunCheckDocument:
    """Compare a run with its expected speed. Of a run with rollouts, only the training passes are compared."""
    passes = training_passes(run)
    if passes is not None and has_rollouts(run):
        document = check_run(passes, catalog)
        sentence = f"Of its training passes alone: {document.sentence[0].lower()}{document.sentence[1:]}"
        return _with_rollouts(document, run, sentence)
    setup = None if has_rollouts(run) else setup_of(run, catalog)
    sample = None if setup is None else setup.training.sample
    own = () if setup is None else runs_beside(run, setup, catalog)
    with recording():
        found = diagnose(run, setup, catalog.calibration_for(sample), own=own)
    fixes: tuple[HardwareFix, ...] = ()
    if setup is not None and _verdict(run, found) is not RunVerdict.TOO_FAST:
        fixes = hardware_fixes(setup, read_upgrades(), catalog)
    names = part_names(sample)
    expected = None if found.expected is None else _quantity(found.expected)
    verdict = _verdict(run, found)
    assumed = setup.assumed if setup is not None else ()
    shares = found.expected.shares if found.expected else {}
    mfu = mfu_of_run(run, catalog.accelerators.get(run.hardware.accelerator))
    document = RunCheckDocument(
        run=run.id,
        workload=run.workload,
        accelerator=run.hardware.accelerator,
        accelerators=run.hardware.accelerators,
        verdict=verdict,
        sentence=_sentence(run, verdict, found),
        measured=run.throughput,
        expected=expected,
        share_of_peak=mfu.get(FlopsConvention.FULL_ATTENTION.value),
        causal_share_of_peak=mfu.get(FlopsConvention.CAUSAL.value),
        causes=tuple(_cause(cause, run, setup) for cause in found.causes),
        explained=found.explained if found.slowdown else None,
        unexplained=found.unexplained,
        candidates=_candidates(run, found),
        hardware_fixes=fixes,
        formulas=_formulas(found, fixes),
        parts={names[name]: round(share, 3) for name, share in shares.items() if share >= SMALLEST_SHARE},
        assumed=assumed,
        doubts=run.verdict,
        audit=audit_record(run, catalog),
    )
    if has_rollouts(run):
        sentence = "The log does not time its training passes apart from generation, so what to expect is not known."
        return _with_rollouts(document, run, sentence)
    return document.model_copy(update={"answer_id": document_id(document)})


def _with_rollouts(document: RunCheckDocument, run: RunRecord, sentence: str) -> RunCheckDocument:
    """Return the answer for a run with rollouts: the rate of whole steps, their phases, and the given sentence."""
    assert run.log is not None, "its rollouts stand in its log"
    update = {"sentence": sentence, "measured": run.throughput, "rollouts": run.log.rollouts, "answer_id": None}
    answer = document.model_copy(update=update)
    return answer.model_copy(update={"answer_id": document_id(answer)})


def _formulas(found: Diagnosis, fixes: Sequence[HardwareFix]) -> tuple[FormulaUsed, ...]:
    """Return the formulas of each cause's gain, its range and probability, and of the payback time of parts."""
    with recording():
        return printed(_recorded(found, fixes))


def _recorded(found: Diagnosis, fixes: Sequence[HardwareFix]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for cause in found.causes:
        code = cause.rule.code
        numbers[f"gain_of_{code}"] = gain = named(f"gain_of_{code}", cause.gain, "")
        for name, end in zip((f"gain_of_{code}_from", f"gain_of_{code}_to"), gain_range(gain), strict=True):
            numbers[name] = named(name, end, "")
        numbers[f"probability_of_{code}"] = named(f"probability_of_{code}", cause.probability, "")
    if found.slowdown:
        numbers |= {"slowdown": found.slowdown, "explained": found.explained}
        if found.unexplained is not None:
            numbers["unexplained"] = found.unexplained
    for fix in fixes:
        if fix.usd_per_hour is not None:
            name = f"payback_hours_of_{as_name(fix.part)}"
            numbers[name] = named(name, payback_hours(usd=fix.usd, usd_per_hour=fix.usd_per_hour, gain=fix.gain), "h")
    return numbers


def _verdict(run: RunRecord, found: Diagnosis) -> RunVerdict:
    if found.expected is None:
        return RunVerdict.NOT_KNOWN
    if run.throughput.value < found.expected.low:
        return RunVerdict.SLOW
    return RunVerdict.TOO_FAST if run.throughput.value > found.expected.high else RunVerdict.NORMAL


def _sentence(run: RunRecord, verdict: RunVerdict, found: Diagnosis) -> str:
    first = f" First: {WORDS[found.causes[0].rule.code][0]}." if found.causes else ""
    if found.expected is None:
        return f"What to expect of this run is not known.{first}"
    ratio = run.throughput.value / found.expected.value
    if verdict is RunVerdict.NORMAL:
        sure = [cause for cause in found.causes[:1] if (cause.stated or cause.proven) and cause.gain >= HELD_BACK]
        faster = f" It could be faster.{first}" if sure else ""
        return f"Normal: {ratio:.2f} times what is expected of these settings.{faster}"
    if verdict is RunVerdict.SLOW and found.unexplained is not None:
        none = "None of these explains it" if found.causes else "No usual cause explains it"
        return (
            f"Slow: {ratio:.2g} times what is expected of these settings. {none}: x{found.explained:.3g} of "
            f"x{1 / ratio:.3g}."
        )
    if verdict is RunVerdict.SLOW:
        return f"Slow: {ratio:.2f} times what is expected of these settings.{first}"
    padded = run.log is not None and run.log.padded
    shorter = f" Its samples may be shorter than {run.seq_len:,} tokens." if padded and run.seq_len else ""
    return f"Too fast: {ratio:.2f} times what is expected; check batch, sequence length and accelerators.{shorter}"


def _candidates(run: RunRecord, found: Diagnosis) -> tuple[RunCandidate, ...]:
    """Return rare causes for a slowdown that the usual causes do not explain."""
    if found.unexplained is None:
        return ()
    several = run.hardware.accelerators > 1
    return tuple(
        RunCandidate(code=code, text=text, test=test)
        for code, text, test in CANDIDATES
        if several or code not in BETWEEN_CARDS
    )


def _quantity(expected: Expectation) -> Quantity:
    return Quantity(
        value=expected.value, low=expected.low, high=expected.high, unit=Unit.SAMPLES_PER_S, basis=Basis.MODELLED,
        source="the estimator, as for a plan of the same training",
    )  # fmt: skip


def _may_have_nvlink(setup: RunSetup | None) -> bool:
    return setup is None or setup.accelerator.link_gb_per_s is not None


def _more_a_step(setup: RunSetup, mended: RunSetup) -> str:
    """Write that a larger micro-batch raises the samples of a step; empty if less accumulation keeps them."""
    factor = mended.micro_batch * mended.accumulation / (setup.micro_batch * setup.accumulation)
    return f", which makes a step {factor:g} times as many samples" if factor != 1 else ""


def _cause(found: FoundCause, run: RunRecord, setup: RunSetup | None) -> RunCause:
    code = found.rule.code
    mended = found.rule.mended(setup) if setup is not None and found.stated else None
    words = {
        "workload": run.workload, "accelerator": run.hardware.accelerator, "gpus": run.hardware.accelerators,
        "batch": mended.micro_batch if mended else "LARGER",
        "step": _more_a_step(setup, mended) if setup is not None and mended is not None else "",
        "parts": "or a faster link" if _may_have_nvlink(setup) else "NVLink does not exist for it",
        "recompute": mended.checkpointing.value if mended else "none",
    }  # fmt: skip
    text, fix, test = (part.format_map(words) for part in WORDS[code])
    if found.proven:
        evidence = "the run itself shows it"
    elif found.stated:
        evidence = "a setting of the run"
    else:
        evidence = f"unseen; {found.probability:.0%} likely by how well it explains the rate"
    low, high = gain_range(found.gain)
    return RunCause(
        code=code.value,
        text=text,
        evidence=evidence,
        proven=found.proven,
        probability=found.probability,
        gain=found.gain,
        gain_low=low,
        gain_high=high,
        free=found.rule.free,
        fix=fix,
        test=test,
    )
