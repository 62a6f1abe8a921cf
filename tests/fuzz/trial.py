"""One input given to the real command in a process of its own, which is forked from this one and has limits."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import pickle
import resource
import selectors
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

SECONDS = 10
"""Most that a command may compute. The slowest on a good file takes 3 s here and 5 s on a slower machine; what does not
end takes far longer."""
PATIENCE_S = 120
"""Limit of clock time, for waiting without computing: other processes may use the processor most of the time."""
MEGABYTES = 500
CODES = (0, 2, 3)
ALARMS = (
    "cannot be read in the ledger, and may run.", "the benchmark ended with '", "the benchmark measured nothing.",
)  # fmt: skip
"""Words beside exit code 4: a launch that a spoilt ledger hides may run unseen; a result says that its run failed, or
measured nothing."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
"""Audit events of which every path must lie in the trial's folder."""
WRITTEN = ("ledger",)
"""Readers of files that the planner keeps itself, and writes again."""
SHOWN = 4_000
"""Characters of what was printed that are kept."""


@dataclass(frozen=True)
class Trial:
    """A command, and the files that it is given; `place` holds what was spoilt."""

    index: int
    reader: str
    place: str
    content: bytes
    command: tuple[str, ...]
    also: dict[str, bytes] = field(default_factory=dict)

    def files(self) -> dict[str, bytes]:
        """Return what the command finds, by name."""
        return {**self.also, self.place: self.content}

    def lay(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


@dataclass(frozen=True)
class TrialOutcome:
    """Outcome of a trial; `fault` is None where the command did as it must."""

    trial: Trial
    fault: str | None
    detail: str = ""
    code: int | None = None
    seconds: float = 0.0
    megabytes: float = 0.0
    """The largest resident memory above what the process was forked with."""


@dataclass
class _Running:
    outcome: TrialOutcome
    pid: int
    folder: Path
    began: float
    said: bytearray = field(default_factory=bytearray)


def outcomes(trials: Iterable[Trial], *, scratch: Path, workers: int = 2) -> Iterator[TrialOutcome]:
    """Run trials, some at a time, each in an empty folder below `scratch`; the order is that of their ends."""
    gc.collect()
    gc.freeze()  # so that a child's collector copies no pages
    selector = selectors.DefaultSelector()
    running: dict[int, _Running] = {}
    waiting = iter(trials)
    more = True
    while more or running:
        while more and len(running) < workers:
            trial = next(waiting, None)
            if trial is None:
                more = False
            else:
                descriptor, process = _start(trial, scratch)
                running[descriptor] = process
                selector.register(descriptor, selectors.EVENT_READ)
        for key, _ in selector.select(timeout=0.2) if running else ():
            data = os.read(key.fd, 1 << 16)
            running[key.fd].said += data
            if not data:
                selector.unregister(key.fd)
                os.close(key.fd)
                yield _end(running.pop(key.fd))
        for process in running.values():
            if time.monotonic() - process.began > PATIENCE_S:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)


def _start(trial: Trial, scratch: Path) -> tuple[int, _Running]:
    folder = scratch / f"{os.getpid()}-{trial.index}"
    folder.mkdir()
    trial.lay(folder)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _child(trial, folder, writing)
    os.close(writing)
    return reading, _Running(TrialOutcome(trial, None), pid, folder, time.monotonic())


def _end(process: _Running) -> TrialOutcome:
    _, status, usage = os.wait4(process.pid, 0)
    seconds = usage.ru_utime + usage.ru_stime
    shutil.rmtree(process.folder, ignore_errors=True)
    outcome = replace(process.outcome, seconds=seconds)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        late = {"SIGXCPU": f"over {SECONDS} s of the processor", "SIGKILL": f"over {PATIENCE_S} s"}
        return replace(outcome, fault=late.get(name, f"died of {name}"), detail=name)
    if not process.said:
        return replace(outcome, fault="said nothing", detail=f"exit {os.WEXITSTATUS(status)}")
    code, fault, detail, before_kb = pickle.loads(bytes(process.said))
    megabytes = max(0, usage.ru_maxrss - before_kb) / 1000
    if fault is None and megabytes > MEGABYTES:
        fault = f"over {MEGABYTES} MB"
    return replace(outcome, code=code, fault=fault, detail=detail, megabytes=megabytes)


def _child(trial: Trial, folder: Path, writing: int) -> None:
    """Run the command, say what came of it, and leave; never returns."""
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outside: list[str] = []
    out, err = io.BytesIO(), io.BytesIO()
    try:
        os.chdir(folder)
        places = dict.fromkeys(("HOME", "TMPDIR", "XDG_STATE_HOME"), str(folder))
        os.environ.update(places, PLANNER_HOME="home", PLANNER_DEBUG="1", NO_COLOR="1")
        sys.stdin = io.StringIO()
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = _data_bytes() + MEGABYTES * 10**6
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        _watch(folder, outside)
        code, thrown = _run(trial.command, out, err)
        fault, detail = _judged(trial, code, thrown, out.getvalue(), err.getvalue())
        if outside:
            fault, detail = "wrote outside its folder", outside[0]
        changed = [name for name, content in trial.files().items() if (folder / name).read_bytes() != content]
        if changed and fault is None and trial.reader not in WRITTEN:
            fault, detail = "changed a file that it was given", changed[0]
        left = [path.name for path in folder.rglob("*.part")]
        if left and fault is None:
            fault, detail = "left a part file", left[0]
    except BaseException:  # noqa: BLE001  whatever it is, it is said
        code, fault, detail = 1, "the harness failed", traceback.format_exc()
    with os.fdopen(writing, "wb") as pipe:
        pickle.dump((code, fault, detail, before_kb), pipe)
    os._exit(0)


def _run(command: tuple[str, ...], out: IO[bytes], err: IO[bytes]) -> tuple[int, str]:
    """Call the command line as its entry point does; return its exit code, and the traceback of what it let through."""
    from planner.cli import main

    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace", write_through=True)
    try:
        main.main(list(command))
    except SystemExit as left:
        return (left.code if isinstance(left.code, int) else 1), ""
    except BaseException:  # noqa: BLE001  whatever it is, it is said
        return 1, traceback.format_exc()
    return 1, "the entry point came back"


def _judged(trial: Trial, code: int, thrown: str, out: bytes, err: bytes) -> tuple[str | None, str]:
    said = err.decode("utf-8", "replace")
    if thrown:
        lines = [line.strip() for line in thrown.splitlines()]
        places = [line for line in lines if line.startswith("File ") and ("/planner/" in line or "/launcher/" in line)]
        return f"{lines[-1].split(':')[0]} at {places[-1].split('/')[-1] if places else '?'}", thrown[-SHOWN:]
    if code not in CODES and not (code == 4 and any(words in said for words in ALARMS)):
        return f"exit code {code}", said[-SHOWN:]
    if "Traceback" in said or "Warning:" in said:
        return "a traceback or warning on stderr", said[-SHOWN:]
    if code == 2 and (said.count("Error: ") < 1 or len(said.strip().splitlines()) < 2):
        return "an error without words or without a way out", said[-SHOWN:]
    if len(said) > 20_000:
        return "an endless message", said[:SHOWN]
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in said):
        return "control characters in a message", repr(said[:SHOWN])
    if "--json" in trial.command and code in (0, 3):
        try:
            json.loads(out.decode("utf-8"), parse_constant=_no_constant)
        except ValueError as error:
            return "no JSON on stdout", f"{error}: {out[:SHOWN]!r}"
    return None, ""


def _no_constant(name: str) -> None:
    raise ValueError(f"holds {name}")


def _data_bytes() -> int:
    """Return what the kernel counts against RLIMIT_DATA already."""
    with Path("/proc/self/status").open(encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmData:")) * 1024


def _watch(folder: Path, outside: list[str]) -> None:
    """Note every change of a file outside the folder, and allow no connection."""
    root = os.path.realpath(folder)

    def is_within(name: Any) -> bool:
        if isinstance(name, int):
            return True
        path = os.path.realpath(os.fsdecode(name))
        return path in (os.devnull, root) or path.startswith(root + os.sep)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            name, mode, flags = arguments
            if flags & WRITING and name is not None and not is_within(name):
                outside.append(f"open {name} {mode} {flags:o}")
        elif event in CHANGES:
            names = [argument for argument in arguments if isinstance(argument, str | bytes)]
            outside.extend(f"{event} {name!r}" for name in names if not is_within(name))
        elif event == "socket.connect":
            raise ConnectionRefusedError(111, "no network here")

    sys.addaudithook(hook)
