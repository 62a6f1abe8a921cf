"""Good files to spoil, and what must stand beside them."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from planner.adapters.workspace import catalogs_dir, examples_dir
from planner.cli.main import run
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.target import parse_target
from tests.launcher.launches import launch_of

ROWS = 25
"""Rows of a table that is spoilt."""
OLD_LOCK = Path(__file__).parents[1] / "cli" / "locks" / "old_locks" / "station.lock.json.gz"
RUN_ID = "20261121-120000-1a2b3c"


@dataclass(frozen=True)
class Good:
    """A file as it should be, and what must stand beside it."""

    content: bytes
    also: dict[str, bytes] = field(default_factory=dict)


def goods(contents: list[bytes], *, plan: bytes = b"", record: bytes = b"") -> tuple[Good, ...]:
    also = {name: content for name, content in (("plan.yaml", plan), ("record.json", record)) if content}
    return tuple(Good(content, also) for content in contents)


def as_json(texts: list[bytes]) -> list[bytes]:
    return [json.dumps(yaml.safe_load(text), indent=1, default=str).encode() for text in texts]


def tables(name: str) -> list[bytes]:
    """Return the beginnings of the bundled tables below a folder, or of one."""
    path = catalogs_dir() / name
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path.with_suffix(".csv")]
    return [b"".join(file.read_bytes().splitlines(keepends=True)[: ROWS + 1]) for file in files]


def sites() -> tuple[Good, ...]:
    return tuple(
        Good(path.read_bytes(), {"plan.yaml": OF_SITE % path.stem.encode()})
        for path in sorted((catalogs_dir() / "sites").glob("*.yaml"))
    )


def locks() -> tuple[Good, ...]:
    """Return a lock of an earlier planner and one of today."""
    plan = OLD_LOCK.with_name("station.yaml").read_bytes()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLANNER_HOME", str(Path(folder, "home")))
        path = Path(folder, "plan.yaml")
        path.write_bytes(TEXT_PLAN)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            assert run(["estimate", str(path), "--freeze"]) == 0
        new = path.with_name("plan.lock.json").read_bytes()
    return (Good(gzip.decompress(OLD_LOCK.read_bytes()), {"plan.yaml": plan}), Good(new, {"plan.yaml": TEXT_PLAN}))


def ledgers() -> tuple[Good, ...]:
    """Return a ledger with one launch that was planned."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ledger.sqlite")
        target = parse_target("aws/p4d.24xlarge", instance_types=["aws/p4d.24xlarge"], hosts=())
        Ledger(path).plan([launch_of(target, run_id=RUN_ID)])
        return (Good(path.read_bytes()),)


TEXT_PLAN = b"""schema_version: 1
name: llama
workload: {ref: llama3-8b}
work: {tokens: 1.0e9}
campaign: {runs: 2, budget_usd: 20000, start: 2026-12-01, deadline: 2027-06-30}
options:
  - {offer: aws/p5.48xlarge, region: us-east-1, price: on_demand}
  - {offer: aws/p4d.24xlarge, region: us-east-1, price: spot}
  - {site: own-8xh200}
"""
FOUND = b"""schema_version: 1
name: found
workload: {ref: gpt-305m}
work: {tokens: 1.0e9}
campaign: {budget_usd: 500}
find: {accelerators: [H100-SXM, A100-80GB-SXM], providers: [aws, lambda], most_usd_per_hour: 200}
options: []
"""
HOSTED = b"""schema_version: 1
name: hosted
workload: {ref: qwen3-8b}
work: {tokens: 1.0e8}
training: {adapters: {kind: lora, rank: 16}}
options:
  - {offer: together/lora, price: on_demand}
  - {offer: aws/p5.48xlarge, region: us-east-1, price: on_demand}
"""
OF_CONFIG = b"""schema_version: 1
name: of a config
workload: {config: model/config.json}
work: {tokens: 1.0e9}
options:
  - {offer: aws/p5.48xlarge, region: us-east-1, price: on_demand}
  - {site: h200-x2}
"""
OF_SITE = b"""schema_version: 1
name: of a site
workload: {ref: gpt-305m}
work: {tokens: 1.0e9}
campaign: {runs: 20, runs_per_year: 12, start: 2026-12-01, deadline: 2027-06-30}
options:
  - {site: %s, step: {batch: 8, seconds: 1.0, basis: measured}}
  - {offer: aws/p5.48xlarge, region: us-east-1, price: on_demand}
"""
HOSTS = b"""schema_version: 1
hosts:
  a: {address: 10.0.0.1, port: 22, user: me, usd_per_hour: 6, accelerator: RTX-4090, accelerators: 2}
  b: {address: 10.0.0.2}
"""
BOOK = b"""schema_version: 1
as_of: 2026-11-01
discounts:
  - {name: edp, provider: aws, discount_fraction: 0.13, source: contract}
  - {name: more, kind: spot, discount_fraction: 0.05, after: [edp], valid_until: 2027-12-31, source: letter}
quotes:
  - {name: ours, item: aws/p5.48xlarge, kind: on_demand, usd_per_hour: 40, source: quote of 2026-10-01}
commitments:
  - {name: bought, item: aws/p4d.24xlarge, nodes: 1, usd_per_hour: 12, valid_until: 2027-06-30, source: contract}
credits:
  - {name: startup, provider: aws, usd: 5000, expires: 2027-06-30, source: letter of 2026-10-01}
"""
CONFIGS = [
    json.dumps(config, indent=1).encode()
    for config in (
        {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 128, "hidden_size": 4096,
         "intermediate_size": 12288, "max_position_embeddings": 40960, "num_attention_heads": 32,
         "num_hidden_layers": 36, "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_theta": 1000000,
         "tie_word_embeddings": False, "vocab_size": 151936},
        {"architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "hidden_size": 4096,
         "intermediate_size": 14336, "max_position_embeddings": 32768, "num_attention_heads": 32,
         "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
         "tie_word_embeddings": False, "vocab_size": 32000, "sliding_window": None},
        {"architectures": ["BertForMaskedLM"], "model_type": "bert", "hidden_size": 768, "intermediate_size": 3072,
         "max_position_embeddings": 512, "num_attention_heads": 12, "num_hidden_layers": 12, "type_vocab_size": 2,
         "vocab_size": 30522},
        {"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 768, "image_size": 224,
         "intermediate_size": 3072, "num_attention_heads": 12, "num_channels": 3, "num_hidden_layers": 12,
         "patch_size": 16, "num_labels": 1000},
        {"architectures": ["ResNetForImageClassification"], "model_type": "resnet", "depths": [3, 4, 6, 3],
         "embedding_size": 64, "hidden_sizes": [256, 512, 1024, 2048], "layer_type": "bottleneck", "num_channels": 3},
    )
]  # fmt: skip


def claims() -> list[bytes]:
    """Return statements of documents, as `planner audit --claim` reads them."""
    return [path.read_bytes() for path in sorted((examples_dir() / "claims").glob("*.yaml"))]


def trainer_logs(names: str) -> list[bytes]:
    """Return logs of trainers; DeepSpeed's own says another batch than the others."""
    logs = Path(__file__).parents[1] / "adapters" / "trainer_logs" / "logs"
    return [path.read_bytes() for path in sorted(logs.rglob(names)) if path.parent.name != "deepspeed"]
