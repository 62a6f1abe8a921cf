"""Every file that a command reads: good ones to spoil, where they stand, and the commands that read them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from planner.adapters.workspace import catalogs_dir, examples_dir
from tests.fuzz.good_files import (
    BOOK,
    CONFIGS,
    FOUND,
    HOSTED,
    HOSTS,
    OF_CONFIG,
    OF_SITE,
    RUN_ID,
    TEXT_PLAN,
    Good,
    as_json,
    claims,
    goods,
    ledgers,
    locks,
    sites,
    tables,
    trainer_logs,
)
from tests.fuzz.spoil import made_documents, spoilt
from tests.fuzz.trial import Trial
from tests.launcher.conftest import good_result

CHUNK = 500
"""Inputs between two visits to hypothesis; a tenth of them are its documents."""
MADE = 10


@dataclass(frozen=True)
class Reader:
    """One kind of file."""

    name: str
    form: str
    place: str
    commands: tuple[str, ...]
    goods: tuple[Good, ...]
    weight: int = 2


TYPED = (
    *(
        f"ask gpt-305m --seq-len 512 {options} --json"
        for options in (
            "--data={typed} --own 2xRTX-3090",
            "--tokens={typed} --own 2xRTX-3090",
            "--data 1000x512 --own={typed}",
            "--data 1000x512 --own 2xRTX-3090 --budget={typed}",
            "--data 1000x512 --own 2xRTX-3090 --by={typed}",
            "--data 1000x512 --own 2xRTX-3090 --runs={typed}",
            "--data 1000x512 --own 2xRTX-3090 --epochs={typed}",
            "--data 1000x512 --on={typed}",
        )
    ),
    "find gpt-305m --gpus={typed} --provider lambda --json",
    "find gpt-305m --max-usd-per-hour={typed} --provider lambda --json",
    "memory gpt-305m --on={typed} --json",
    "memory gpt-305m --on H100-SXM --gpus={typed} --json",
    "memory llama3-8b --on H100-SXM --method lora --lora-targets={typed} --json",
    "memory {typed} --on H100-SXM --json",
    "strategies gpt-305m --on={typed} --json",
    "launch cpu-smoke --on={typed} --dry-run --json",
    "launch cpu-smoke --on aws/p4d.24xlarge --usd-per-hour={typed} --dry-run --json",
    "launch cpu-smoke --on aws/p4d.24xlarge --max-minutes={typed} --dry-run --json",
    "launch cpu-smoke --on aws/p4d.24xlarge --deadline={typed} --dry-run --json",
    "launch cpu-smoke --on aws/p4d.24xlarge --gpus={typed} --dry-run --json",
    "runs show {typed}",
    "prices history {typed} --json",
    "prices show --accelerator={typed} --json",
)
"""Commands with an option that a person types."""
TYPED_TEXTS = [
    b"1", b"8", b"50000x700", b"50B", b"300.5", b"2027-06-30", b"3w", b"2xRTX-3090", b"4x8xH100-SXM", b"query,value",
    b"aws/p5.48xlarge", b"llama3-8b", b"2026-12-01T18:00", b"H100:8",
]  # fmt: skip
OBJECTIVES = ("time", "front")
OF_A_LOG = "--workload gpt-305m --accelerator A100-80GB-SXM --gpus 8 --seq-len 512 --global-batch 8"
"""Facts that its log does not state."""


@cache
def readers() -> list[Reader]:
    """Return the table."""
    plans = [path.read_bytes() for path in sorted(examples_dir().glob("*.yaml"))] + [FOUND, HOSTED]
    networks = [path.read_bytes() for path in sorted((catalogs_dir() / "workloads").glob("[glmqrv]*.yaml"))]
    runs = [
        path.read_bytes().replace(b'"id": "', b'"id": "own-', 1)
        for path in sorted((catalogs_dir() / "runs").glob("*.json"))
    ]
    result = json.dumps(good_result(step_seconds=[0.1] * 20, steps=20)).encode()
    exported = json.dumps({"schema_version": 1, "kind": "runs", "runs": [json.loads(run) for run in runs[:2]]}).encode()
    asked = ("estimate", "compare", "campaign", "own-or-rent", "report", "explain", "find --provider lambda")
    plan_commands = tuple(f"{verb} {{}}" for verb in asked)
    slower_commands = (
        "recommend {}",
        "recommend {} --json",
        *(f"campaign {{}} --objective {objective}" for objective in OBJECTIVES),
    )
    network_commands = (
        "memory {} --on H100-SXM --gpus 8 --json",
        "memory {} --on RTX-4090",
        "strategies {} --on aws/p5.48xlarge --json",
        "find {} --gpus 8 --firm --json",
        "launch {} --on aws/p4d.24xlarge --dry-run --json",
        "task {} --on aws/p4d.24xlarge",
        "memory {} --on A100-80GB-SXM --method lora --json",
        "strategies {} --on rtx3090-x10 --nodes 2",
    )
    stored = ("runs list --json", "runs list", "runs show latest", "compare plan.yaml --json", "runs export")
    reading_tables = ("compare plan.yaml --json", "doctor --json", "strategies gpt-305m --on aws/p5.48xlarge --json")
    return [
        Reader(
            "plan",
            "yaml",
            "plan.yaml",
            (
                *plan_commands,
                *(f"{plan_command} --json" for plan_command in plan_commands if "report" not in plan_command),
                *slower_commands,
            ),
            goods(plans),
            10,
        ),
        Reader("plan as JSON", "json", "plan.json", plan_commands, goods(as_json(plans)), 3),
        Reader("workload", "yaml", "network.yaml", network_commands, goods(networks), 4),
        Reader(
            "config.json",
            "json",
            "model/config.json",
            (*network_commands, "compare plan.yaml --json"),
            goods(CONFIGS, plan=OF_CONFIG),
            6,
        ),
        Reader(
            "own workload",
            "yaml",
            "home/workloads/mine.yaml",
            ("memory gpt-305m --on H100-SXM", *reading_tables),
            goods(networks, plan=TEXT_PLAN),
        ),
        Reader(
            "site",
            "yaml",
            "home/sites/mine.yaml",
            (
                "estimate plan.yaml --json",
                "compare plan.yaml",
                "own-or-rent plan.yaml --json",
                "explain plan.yaml --json",
            ),
            sites(),
            5,
        ),
        *(
            Reader(
                "tariff",
                "yaml",
                "home/tariffs/mine.yaml",
                (f"own-or-rent plan.yaml --tariff {path.stem} --json",),
                goods([path.read_bytes()], plan=OF_SITE % b"own-8xh200"),
                1,
            )
            for path in sorted((catalogs_dir() / "tariffs").glob("*.yaml"))
        ),
        Reader(
            "defaults",
            "yaml",
            "home/defaults.yaml",
            ("compare plan.yaml --json", "find gpt-305m --provider lambda --gpus 8 --json"),
            goods([(catalogs_dir() / "defaults.yaml").read_bytes()], plan=TEXT_PLAN),
            2,
        ),
        Reader(
            "settings",
            "yaml",
            "home/settings.yaml",
            ("runs list --json", "runs add record.json"),
            goods([b"runs: team\n", b"runs: ./a/b\n"], record=runs[0]),
            1,
        ),
        Reader(
            "hosts",
            "yaml",
            "home/hosts.yaml",
            ("launch cpu-smoke --on host/a --dry-run --json", "launch cpu-smoke --on host/a+b --dry-run"),
            goods([HOSTS]),
            2,
        ),
        Reader(
            "budget",
            "yaml",
            "home/budget.yaml",
            ("launch cpu-smoke --on aws/p4d.24xlarge --dry-run --json",),
            goods([b"schema_version: 1\ntotal_usd: 200\n"]),
            1,
        ),
        Reader(
            "price book",
            "yaml",
            "home/price_book.yaml",
            (
                "compare plan.yaml --with-price-book --json",
                "prices check home/price_book.yaml",
                "prices show --with-price-book --json",
            ),
            goods([BOOK], plan=TEXT_PLAN),
            3,
        ),
        Reader("run record", "json", "record.json", ("runs add record.json",), goods(runs), 3),
        Reader(
            "result.json",
            "json",
            "result.json",
            ("runs add result.json", "runs add result.json --target aws/p5en.48xlarge"),
            goods([result]),
            3,
        ),
        Reader("exported runs", "json", "runs.json", ("runs add runs.json",), goods([exported]), 1),
        Reader("stored run", "json", "home/runs/mine.json", stored, goods(runs, plan=TEXT_PLAN), 4),
        Reader(
            "own prices",
            "csv",
            "home/prices/mine.csv",
            (
                "prices show --json",
                "prices check home/prices/mine.csv",
                "compare plan.yaml --json",
                "prices show --accelerator H100",
            ),
            goods(tables("prices"), plan=TEXT_PLAN),
            4,
        ),
        Reader(
            "price history",
            "csv",
            "home/prices/observations/aws.csv",
            ("prices history aws/p4d.24xlarge --json", "compare plan.yaml --json"),
            goods(tables("prices/aws"), plan=TEXT_PLAN),
            2,
        ),
        Reader(
            "measurements",
            "csv",
            "mine.csv",
            ("evidence check mine.csv --json", "evidence add mine.csv"),
            goods(tables("evidence")),
            6,
        ),
        Reader("claims", "yaml", "claims.yaml", ("audit --claim {} --json", "audit --claim {}"), goods(claims()), 4),
        Reader(
            "audited measurements", "csv", "mine.csv", ("audit --measurements {} --json",), goods(tables("evidence"))
        ),
        Reader(
            "trainer's console",
            "text",
            "run.log",
            (
                *(f"{verb} {{}} {OF_A_LOG} --json" for verb in ("runs import", "check-run")),
                "ask gpt-305m --log {} --own 8xA100-80GB-SXM --data 1000x512 --seq-len 512 --json",
            ),
            goods(trainer_logs("*.log")),
            4,
        ),
        Reader(
            "trainer's state",
            "json",
            "trainer_state.json",
            (f"runs import . {OF_A_LOG} --json",),
            goods(trainer_logs("trainer_state.json")),
        ),
        Reader(
            "trainer's table",
            "csv",
            "metrics.csv",
            (f"runs import {{}} {OF_A_LOG} --json",),
            goods(trainer_logs("*.csv")),
        ),
        Reader(
            "own measurements",
            "csv",
            "home/evidence/mine.csv",
            ("evidence list --json", "evidence list", "explain plan.yaml --json"),
            goods(tables("evidence"), plan=TEXT_PLAN),
            2,
        ),
        *(
            Reader(name, "csv", f"home/{name}.csv", reading_tables, goods(tables(name), plan=TEXT_PLAN))
            for name in ("hardware/nodes", "hardware/accelerators", "providers", "storage", "convergence", "services")
        ),
        Reader(
            "lock",
            "json",
            "plan.lock.json",
            (
                "compare plan.yaml --locked --json",
                "estimate plan.yaml --locked",
                "watch .",
                "diff plan.lock.json plan.lock.json --json",
            ),
            locks(),
            2,
        ),
        Reader("typed", "typed", "typed.txt", TYPED, goods(TYPED_TEXTS), 12),
        Reader(
            "ledger",
            "bytes",
            "home/ledger.sqlite",
            (
                "launches list --json",
                f"launches show {RUN_ID} --json",
                "launches bill --json",
                "launch cpu-smoke --on aws/p4d.24xlarge --dry-run --json",
            ),
            ledgers(),
            1,
        ),
    ]


def trials(seed: str, begin: int, end: int, *, only: str = "") -> Iterator[Trial]:
    """Return the inputs of a seed from one number to another, the same each time; `only`: a word in readers' names."""
    table = [reader for reader in readers() if only in reader.name]
    keys = {reader.name: _keys(reader.goods) for reader in table if reader.form in ("yaml", "json")}
    every = {
        reader.form: [good.content for other in table if other.form == reader.form for good in other.goods]
        for reader in table
    }
    for number in range(begin, end):
        rng = random.Random(f"{seed}:{number}")
        reader = rng.choices(table, [entry.weight for entry in table])[0]
        good = rng.choice(reader.goods)
        if reader.name in keys and rng.random() < 1 / MADE:
            made = _made(seed, number // CHUNK, reader.name, tuple(keys[reader.name]))
            content = _written(rng.choice(made), reader.form, good.content, rng)
        else:
            content = spoilt(good.content, reader.form, rng, every[reader.form])
        command = _words(rng.choice(reader.commands), reader, content)
        yield Trial(number, reader.name, reader.place, content, command, good.also)


def _words(command: str, reader: Reader, content: bytes) -> tuple[str, ...]:
    """Return the words of a command; `{}` is the file, `{typed}` what it holds, typed by a person."""
    typed = content.decode("utf-8", "surrogateescape").replace("\0", "")  # of which no process can be given one
    return tuple(word.replace("{}", reader.place).replace("{typed}", typed) for word in command.split())


@cache
def _made(seed: str, chunk: int, reader: str, keys: tuple[str, ...]) -> list[Any]:
    return made_documents(keys, random.Random(f"{seed}:{chunk}:{reader}").randrange(10**9), 12)


def _written(document: Any, form: str, good: bytes, rng: random.Random) -> bytes:
    """Write a document that hypothesis made, now and then inside a good one."""
    if rng.random() < 0.5:
        whole = json.loads(good) if form == "json" else yaml.safe_load(good)
        document = {**whole, **{key: value for key, value in document.items() if key in whole}}
    if form == "json" or rng.random() < 0.3:
        return json.dumps(document, default=str).encode("utf-8", "surrogatepass")
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False).encode("utf-8", "surrogatepass")


def _keys(found: tuple[Good, ...]) -> list[str]:
    names = {name.decode() for good in found for name in re.findall(rb'"?\b([a-z_]{2,40})\b"?:', good.content)}
    return sorted(names)[:150]
