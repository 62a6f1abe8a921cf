"""Lines as trainers, launchers and libraries print them, drawn from a seed; none of them holds a secret."""

# ruff: noqa: E501
from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator

Draw = random.Random
MODELS = (
    "meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-72B", "mistralai/Mixtral-8x7B-v0.1", "google/gemma-2-27b-it",
    "deepseek-ai/DeepSeek-V3", "EleutherAI/pythia-1.4b-deduped", "microsoft/Phi-3.5-MoE-instruct", "bigscience/bloom-7b1",
)  # fmt: skip
METRICS = ("loss", "grad_norm", "learning_rate", "eval_loss", "entropy", "kl", "reward", "mean_token_accuracy")


def _hex(draw: Draw, length: int) -> str:
    return f"{draw.getrandbits(4 * length):0{length}x}"


def _uuid(draw: Draw) -> str:
    return str(uuid.UUID(int=draw.getrandbits(128)))


def _word(draw: Draw, length: int) -> str:
    return "".join(draw.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=length))


def _time(draw: Draw) -> str:
    return f"2026-11-{draw.randint(1, 30):02d} {draw.randint(0, 23):02d}:{draw.randint(0, 59):02d}:{draw.randint(0, 59):02d}"


def _run(draw: Draw) -> str:
    return f"202611{draw.randint(1, 30):02d}-{draw.randint(0, 235959):06d}-{_hex(draw, 6)}"


LINES: tuple[Callable[[Draw], str], ...] = (
    lambda d: f"{{'{d.choice(METRICS)}': {d.random():.4f}, 'grad_norm': {d.random():.8f}, 'learning_rate': {d.random():.3e}}}",
    lambda d: f"{_time(d)} INFO trainer step {d.randint(1, 90000)}/90000 | loss {d.random():.4f} | tokens/s {d.randint(900, 99999)}",
    lambda d: f"step={d.randint(1, 9000)} token_throughput={d.random() * 1e5:.1f} tokens_per_sec={d.randint(1, 99999)} tokens_seen={d.randint(1, 10**11)}",
    lambda d: f"total_tokens={d.randint(1, 10**10)} token={d.randint(1, 9999)} max_tokens=4096 num_input_tokens_seen: {d.randint(1, 10**10)}",
    lambda d: f"forward_pass={d.random():.5f}s backward_pass={d.random():.5f}s optimizer={d.random():.5f}s",
    lambda d: f"forward pass: {d.random() * 900:.2f} ms, backward pass: {d.random() * 900:.2f} ms",
    lambda d: f"Saving model checkpoint to /mnt/out/{d.choice(MODELS).split('/')[1]}-sft/checkpoint-{d.randint(1, 9000)}",
    lambda d: f"Loading weights from /home/me/.cache/huggingface/hub/models--{d.choice(MODELS).replace('/', '--')}/snapshots/{_hex(d, 40)}/model.safetensors",
    lambda d: f"loading file tokenizer.json from cache at /data/hub/models--{d.choice(MODELS).replace('/', '--')}/blobs/{_hex(d, 64)}",
    lambda d: f"Some weights of LlamaForCausalLM were not initialized from revision {_hex(d, 40)}: ['lm_head.weight']",
    lambda d: f'"eos_token": "<|end_of_text|>", "pad_token": "[PAD]", "bos_token": "<s>", "pad_token_id": {d.randint(1, 200000)}',
    lambda d: f"eos_token=</s> unk_token=<unk> image_token_id={d.randint(1, 200000)} tokenizer_class=PreTrainedTokenizerFast",
    lambda d: f"hub_token=<HUB_TOKEN>, hub_private_repo=None, push_to_hub_token=<PUSH_TO_HUB_TOKEN>, seed={d.randint(1, 9999)},",
    lambda d: f"use_auth_token=False, token=None, api_key=None, password=None, run_name={_word(d, 8)}",
    lambda d: f"wandb: View run {_word(d, 8)} at: https://wandb.ai/team/llm-{d.randint(1, 99)}/runs/{_word(d, 8)}",
    lambda d: f"wandb: Run data is saved locally in /workspace/wandb/run-20261126_{d.randint(0, 235959):06d}-{_word(d, 8)}",
    lambda d: f"wandb: \x1b[33mWARNING\x1b[0m Step {d.randint(1, 9999)} < {d.randint(1, 9999)}; dropping entry: {{'loss': {d.random():.6f}}}",
    lambda d: f"node-{d.randint(0, 9)}:{d.randint(100, 9999)}:{d.randint(100, 9999)} [{d.randint(0, 7)}] NCCL INFO Channel 0{d.randint(0, 9)}/16 : 0[0] -> 1[1] via P2P/CUMEM comm 0x{_hex(d, 12)}",
    lambda d: f"NCCL INFO comm 0x{_hex(d, 12)} rank {d.randint(0, 63)} nranks 64 cudaDev 0 busId {_hex(d, 5)} commId 0x{_hex(d, 16)} - Init COMPLETE",
    lambda d: f"[rank{d.randint(0, 7)}]:[W{d.randint(100, 1130)} 17:01:0{d.randint(0, 9)}.{d.randint(0, 999999)} ProcessGroupNCCL.cpp:1250] Warning: key store:{d.randint(0, 9)}",
    lambda d: f" {d.randint(0, 99)}%|####      | {d.randint(1, 9999)}/20000 [01:{d.randint(0, 59):02d}<45:{d.randint(0, 59):02d}, {d.random() * 9:.2f}it/s]",
    lambda d: f"Epoch {d.randint(1, 9)}: {d.randint(0, 99)}%|#### | {d.randint(1, 99)}/200 [00:12<00:34, v_num={_word(d, 4)}, train_loss={d.random():.3f}]",
    lambda d: f"sha256:{_hex(d, 64)}: Pulling fs layer",
    lambda d: f"Status: Downloaded newer image for registry.example:5000/team/trainer@sha256:{_hex(d, 64)}",
    lambda d: f"{_hex(d, 12)}: Pull complete, Digest: sha256:{_hex(d, 12)}...",
    lambda d: f"HEAD is now at {_hex(d, 7)} Fix the loss of packed sequences; commit {_hex(d, 40)}",
    lambda d: f"git_commit={_hex(d, 40)} git_branch=main run_id={_hex(d, 32)} experiment_id={d.randint(1, 10**18)}",
    lambda d: f"mlflow: Run {_hex(d, 32)} at http://mlflow.internal:5000/#/experiments/{d.randint(1, 999)}/runs/{_hex(d, 32)}",
    lambda d: f"ClearML Task: created new task id={_hex(d, 32)}; results page: https://app.clear.ml/projects/{_hex(d, 32)}/experiments",
    lambda d: f"(RayTrainWorker pid={d.randint(1, 99999)}, ip=10.0.{d.randint(0, 255)}.{d.randint(0, 255)}) Setting up process group for: env:// [rank=0, world_size=8]",
    lambda d: f"Started a local Ray instance. session_dir=/home/me/ray/session_2026-11-26_17-01-{d.randint(10, 59)}_{d.randint(100000, 999999)}_{d.randint(1, 9999)}",
    lambda d: f"ObjectRef({_hex(d, 56)}) actor_id={_hex(d, 32)} job_id=0{d.randint(1000000, 9999999)}",
    lambda d: f"pod/trainer-{_hex(d, 10)}-{_word(d, 5)} 1/1 Running 0 {d.randint(1, 59)}m uid={_uuid(d)}",
    lambda d: f"job {_uuid(d)} on i-{_hex(d, 17)} (p5.48xlarge) in subnet-{_hex(d, 17)} sg-{_hex(d, 17)} ami-{_hex(d, 17)}",
    lambda d: f"GPU-{_uuid(d)} | NVIDIA H100 80GB HBM3 | {d.randint(30, 80)}C | {d.randint(100, 700)}W / 700W | {d.randint(1, 81559)}MiB / 81559MiB",
    lambda d: f"|   {d.randint(0, 7)}   N/A  N/A   {d.randint(1000, 99999)}      C   /opt/conda/bin/python3.11     {d.randint(100, 80000)}MiB |",
    lambda d: f"Reusing dataset parquet (/home/me/.cache/huggingface/datasets/parquet/default-{_hex(d, 16)}/0.0.0/{_hex(d, 64)}/cache-{_hex(d, 16)}.arrow)",
    lambda d: f"torchrun --nnodes=2 --rdzv_id={_word(d, 10)} --rdzv_endpoint=10.0.0.{d.randint(1, 255)}:29500 train.py --config conf/llama3_8b.yaml",
    lambda d: f"copy: s3://training-{_word(d, 6)}/runs/{_run(d)}/step-{d.randint(0, 99999):08d}/model-0000{d.randint(1, 4)}-of-00004.safetensors",
    lambda d: f"PLANNER-DONE run={_run(d)} rank={d.randint(0, 7)} exit=0",
    lambda d: f"missing keys: ['model.layers.{d.randint(0, 79)}.self_attn.q_proj.weight'], unexpected_keys=[], sort_key=length_{d.randint(1, 99)}",
    lambda d: f"metric_key='eval_loss' text_key=\"text\" image_key=\"image_{d.randint(0, 9)}\" key: loss/{d.choice(METRICS)}/rank{d.randint(0, 7)}",
    lambda d: f"Warning: Permanently added '10.0.0.{d.randint(1, 255)}' (ED25519) to the list of known hosts.",
    lambda d: f"debug1: Server host key: ssh-ed25519 SHA256:{_word(d, 20)}{_word(d, 23).upper()}",
    lambda d: f"Collecting torch==2.{d.randint(1, 9)}.{d.randint(0, 3)} (from -r requirements.txt) --hash=sha256:{_hex(d, 64)}",
    lambda d: f"Successfully installed accelerate-1.{d.randint(0, 9)}.0 flash-attn-2.{d.randint(0, 9)}.post1 tokenizers-0.{d.randint(10, 30)}.0 secretstorage-3.3.3 PyJWT-2.9.0",
    lambda d: f'File "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/linear.py", line {d.randint(1, 999)}, in forward',
    lambda d: f"    token = kwargs.pop('token', None)  # {_hex(d, 7)}",
    lambda d: f"    raise ValueError(f'tokenizer {d.choice(MODELS)} has no pad token: {{tokenizer.pad_token}}')",
    lambda d: f"linear_probe: {d.random():.4f} linear: Linear(in_features={d.randint(1, 9999)}, out_features={d.randint(1, 99999)}, bias=False)",
    lambda d: f"travis/discord/linear/sentry integrations are off; dropbox: none; kaggle: dataset titanic-v{d.randint(1, 9)}",
    lambda d: f"Downloading https://files.example/packages/{_hex(d, 2)}/{_hex(d, 2)}/{_hex(d, 60)}/torch-2.5.1-cp311-none-manylinux1_x86_64.whl",
    lambda d: f"Resuming from https://huggingface.co/{d.choice(MODELS)}/resolve/{_hex(d, 40)}/config.json",
    lambda d: f"mail sent to ops+{_word(d, 5)}@lab.example: run {_run(d)} ended; clone git@github.com:team/repo-{d.randint(1, 9)}.git",
    lambda d: f"auth: disabled, session: {d.randint(1, 9999)}, signature: forward(self, x{d.randint(0, 9)}, mask), cookie policy: none",
    lambda d: f"slurmstepd: error: *** STEP {d.randint(10**6, 10**7)}.0 ON gpu-{d.randint(100, 999)} CANCELLED AT 2026-11-26T17:0{d.randint(0, 9)}:00 ***",
    lambda d: f"optimizer=AdamW(betas=(0.9, 0.95), eps=1e-0{d.randint(5, 9)}) scheduler=WSD(warmup={d.randint(1, 9999)}) dtype=torch.bfloat16",
    lambda d: f"validation passed: {d.randint(1, 99)}/99 checks, authored by team-{_word(d, 4)}, designed for keyed access, tokenized {d.randint(1, 99)} shards",
    lambda d: f"checkpoint hash md5:{_hex(d, 32)} size={d.randint(1, 10**11)} etag=\"{_hex(d, 32)}-{d.randint(1, 99)}\"",
    lambda d: f"Tensor parallel weights layer_{d.randint(0, 79)} mean {d.uniform(-1, 1):.6e} std {d.random():.6e} absmax {d.random() * 9:.6e}",
    lambda d: f"secret sharing off; access key rotation not needed; the token budget is {d.randint(1, 99)}T tokens; api key: not set",
    lambda d: f"AzureML run {_word(d, 8)}_{d.randint(10**9, 10**10)}_{_hex(d, 8)} in workspace ws-{_word(d, 6)}, tracking uri azureml://eastus.api.azureml.ms",
    lambda d: f"$ pip install -U git+https://github.com/team/repo-{d.randint(1, 9)} -U tokenizers=={d.randint(1, 9)}.0",
    lambda d: f"undefined symbol: _ZNSt{d.randint(10, 20)}basic_istreamIwSt11char_traitsIwEE6ignoreEv@GLIBCXX_3.4.{d.randint(1, 30)} FUNC:_ZNSi6ignoreEl@GLIBCXX_3.4",
    lambda d: f"Keywords: rbac, auth,authz,authorization,access control,permission v{d.randint(1, 99)}; see `pathspec.patterns.gitignore.spec.GitIgnoreSpecPattern{d.randint(1, 9)}`",
    lambda d: f"    twitter = OAuth1Session(client, {d.randint(1, 9)}); patience=PatternPatience2xScheduler path2checkpoint.best.model.v{d.randint(1, 9)}",
    lambda d: f"gs://bucket-{_word(d, 5)}/data/tokenized/shard_{d.randint(0, 99999):05d}-of-99999.bin (crc32c={_word(d, 6)}==)",
)  # fmt: skip


def ordinary_lines(count: int, seed: int) -> Iterator[str]:
    """Yield that number of lines, each kind as often as the others."""
    draw = random.Random(seed)
    for number in range(count):
        yield LINES[number % len(LINES)](draw)
