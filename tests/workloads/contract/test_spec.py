import subprocess
import sys

import pytest

from planner.workloads.contract.spec import SpecError
from planner.workloads.contract.spec_reader import from_json, read, to_json

LORA = {"rank": 4, "alpha": 8.0, "targets": ["query", "value"]}


def changed(document, path, value):
    *sections, key = path.split(".")
    target = document
    for section in sections:
        target = target[section]
    target[key] = value
    return document


def test_a_spec_survives_the_round_trip(spec_document):
    spec = from_json(spec_document())
    assert from_json(to_json(spec)) == spec


def test_a_spec_with_every_option_survives_the_round_trip(spec_document):
    document = spec_document(checkpointing="selective", compile=True, loss_chunks=4, method="lora")
    document["lora"] = {**LORA, "frozen": "16bit"}
    document.update(
        precision="bf16", calibrate=True, peer_timeout_s=5.0, mode="tuned", note="a cut", channels_last=False
    )
    document["busy_device"] = "allow"
    document.update(probe={"folder": "/tokens"}, attention="trial", fused_loss=False, cuda_graphs=True)
    document["data"] = {"path": "/tokens", "dtype": "uint32"}
    document["architecture"].update(kind="decoder", vectors=1000)
    assert to_json(from_json(document)) == document


def test_a_spec_of_before_the_options_means_what_it_meant(spec_document):
    spec = from_json(spec_document())
    assert (spec.checkpointing, spec.compile, spec.loss_chunks, spec.method) == ("none", False, 1, "full")
    assert spec.lora is None
    assert (spec.calibrate, spec.peer_timeout_s) == (False, 300.0)


def test_an_adapter_beside_a_map_that_is_not_there_is_refused(spec_document):
    with pytest.raises(SpecError, match="'gate' is in no gelu mlp"):
        from_json(spec_document(method="lora", lora={**LORA, "targets": ["gate"]}))


def test_frozen_weights_of_16_bit_do_not_go_with_fp32_products(spec_document):
    with pytest.raises(SpecError, match=r"frozen: 16bit does not go with precision fp32\. Write null"):
        from_json(spec_document(method="lora", precision="fp32", lora={**LORA, "frozen": "16bit"}))


def test_whole_numbers_are_welcome_where_seconds_are_expected(spec_document):
    assert from_json(changed(spec_document(), "window.max_s", 60)).window.max_s == 60.0


def test_the_global_batch_counts_every_device_and_every_accumulated_pass(spec_document):
    assert from_json(spec_document(micro_batch=4, grad_accumulation=3)).global_batch(8) == 96


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        pytest.param("schema_version", 2, "schema_version: 2 is newer than 1", id="newer schema"),
        pytest.param("schema_version", "1", "schema_version: '1' is not a version", id="version as text"),
        pytest.param("kind", "result", "kind: 'result' is not 'spec'", id="a result instead of a spec"),
        pytest.param("micro_bach", 4, "micro_bach: is not a known key", id="misspelt key"),
        pytest.param("window.minutes", 1, "window: minutes: is not a known key", id="unknown key in a section"),
        pytest.param("architecture", 3, "architecture: 3 is not an object", id="section is a number"),
        pytest.param("micro_batch", "4", "micro_batch: '4' is not a whole number", id="number as text"),
        pytest.param("micro_batch", True, "micro_batch: True is not a whole number", id="truth value as number"),
        pytest.param("micro_batch", 4.0, "micro_batch: 4.0 is not a whole number", id="fraction as count"),
        pytest.param("micro_batch", 0, "micro_batch: 0 is out of range", id="nothing in the batch"),
        pytest.param("seed", -1, "seed: -1 is out of range", id="negative seed"),
        pytest.param("window.max_s", float("nan"), "window: max_s: nan is not a number", id="not a number"),
        pytest.param("architecture.bias", 0, "architecture: bias: 0 is not a truth value", id="number as truth value"),
        pytest.param("strategy", "fsdp9", "strategy: 'fsdp9' is not known here. Choose one of: ddp", id="strategy"),
        pytest.param("checkpointing", "some", "checkpointing: 'some' is not known here", id="checkpointing"),
        pytest.param("compile", 1, "compile: 1 is not a truth value", id="number as compile"),
        pytest.param("loss_chunks", 0, "loss_chunks: 0 is out of range", id="no chunks"),
        pytest.param("loss_chunks", 513, "loss_chunks: 513 is more than micro_batch x seq_len", id="empty chunks"),
        pytest.param("method", "lora", "lora: does not go with method 'lora'. Please give rank", id="LoRA of nothing"),
        pytest.param("lora", LORA, "lora: does not go with method 'full'", id="LoRA that would not be used"),
        pytest.param("lora", {**LORA, "rank": 0}, "lora: rank: 0 is out of range", id="rank"),
        pytest.param("lora", {**LORA, "targets": []}, "lora: targets: [] is not a list of texts", id="no targets"),
        pytest.param("lora", {**LORA, "targets": ["head"]}, "lora: targets: 'head' is not known here", id="target"),
        pytest.param("lora", {**LORA, "alhpa": 1}, "lora: alhpa: is not a known key", id="misspelt key of LoRA"),
        pytest.param("data", {"path": "/x", "dtype": "int8"}, "data: dtype: 'int8' is not known here", id="dtype"),
        pytest.param("data", {"path": "/x"}, "data: dtype: is missing", id="data without dtype"),
        pytest.param("data", "/x", "data: '/x' is not an object", id="data as text"),
        pytest.param("busy_device", "maybe", "'maybe' is not known here. Choose one of: refuse, allow", id="busy"),
        pytest.param("mode", "best", "mode: 'best' is not known here. Choose one of: matched, tuned", id="mode"),
        pytest.param("note", "", "note: '' is not a text", id="an empty note"),
        pytest.param("precision", "fp8", "precision: 'fp8' is not known here", id="precision"),
        pytest.param("workload", "", "workload: '' is not a text", id="no name"),
        pytest.param("architecture.kv_heads", 3, "kv_heads: 3 does not divide heads 4", id="uneven groups"),
        pytest.param("seq_len", 256, "seq_len: 256 is longer than architecture.max_positions 128", id="too long"),
        pytest.param("window.max_s", 0.1, "window: max_s: 0.1 is below min_s", id="window inside out"),
        pytest.param("window.min_warmup_s", 9.0, "max_warmup_s: 2.0 is below min_warmup_s 9.0", id="warm-up"),
    ],
)
def test_a_wrong_spec_is_refused_and_says_where(spec_document, path, value, says):
    with pytest.raises(SpecError) as refused:
        from_json(changed(spec_document(), path, value))
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_key_has_no_silent_default(spec_document):
    document = spec_document()
    del document["window"]["min_s"]
    with pytest.raises(SpecError, match=r"window: min_s: is missing"):
        from_json(document)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("{", "is not JSON", id="broken"),
        pytest.param("[]", "is not a JSON object", id="a list"),
        pytest.param(None, "cannot be read", id="no file"),
    ],
)
def test_a_file_that_is_no_spec_is_named(tmp_path, text, says):
    path = tmp_path / "spec.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SpecError, match=f"spec.json: {says}"):
        read(path)


def test_reading_a_spec_needs_no_torch():
    modules = "workloads.contract.spec, workloads.contract.result, workloads.measure.window"
    program = f"import sys, {modules}; raise SystemExit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
