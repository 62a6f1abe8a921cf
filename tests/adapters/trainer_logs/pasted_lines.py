"""Lines of many trainers and releases, as people paste them; written from each trainer's form of logging."""

from __future__ import annotations

HF = "{'loss': '2.5', 'grad_norm': '0.3', 'epoch': '0.1'}\n"
UNSLOTH = """\
==((====))==  Unsloth 2025.6.4: Fast Qwen3 patching. Transformers: 4.52.4.
   \\\\   /|    NVIDIA L4. Num GPUs = 1. Max memory: 22.045 GB. Platform: Linux.
==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1
   \\\\   /|    Num examples = 2,500 | Num Epochs = 1 | Total steps = 312
O^O/ \\_/ \\    Batch size per device = 2 | Gradient accumulation steps = 8
"""
LLM_C = """\
| device                | NVIDIA A100-SXM4-80GB                              |
| precision             | BF16                                               |
| micro batch size B    | 4                                                  |
| sequence length T     | 1024                                               |
| total batch size      | 524288                                             |
| num_processes         | 8                                                  |
"""
NANOCHAT = """\
GPU: NVIDIA H100 80GB HBM3 | Peak FLOPS (BF16): 9.89e+14
Tokens / micro-batch / rank: 32 x 2048 = 65,536
Total batch size 524,288 => gradient accumulation steps: 1
"""


def clock(seconds: int, *, hours: bool = False) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if hours or minutes >= 60 else f"{minutes:02d}:{rest:02d}"


def bar(done: int, seconds: int, total: int = 900) -> str:
    return f"{100 * done // total:3d}%|###8      | {done}/{total} [{clock(seconds)}<1:00:00,  4.02s/it]"


def lines(pattern: str, count: int = 20, first: int = 1, **more: object) -> str:
    """Return lines with {n} = first, first + 1, ..., and the seconds of a minute {s}, two more a line."""
    numbers = range(first, first + count)
    return "".join(pattern.format(n=n, s=2 * (n - first), m=0, **more) + "\n" for n in numbers)


def swift(n: int) -> str:
    seconds = 3500 + 88 * n
    elapsed = f"{seconds // 3600}h {seconds // 60 % 60}m {seconds % 60}s"
    return (
        f"{{'loss': 0.2, 'memory(GiB)': 63.16, 'train_speed(iter/s)': 0.0112, 'global_step/max_steps': '{n}/176', "
        f"'percentage': '44.32%', 'elapsed_time': '{elapsed}', 'remaining_time': '2h 24m 21s'}}\n"
    )


TITAN = "[titan] 2026-05-18 16:04:{s:02d},338 - root - INFO - "
MEGATRON = (
    "iteration {n:8d}/  250000 | consumed samples:       205824 | elapsed time per iteration (ms): 2500.0 | "
    "learning rate: 1.507E-05 | global batch size:   128 | lm loss: 2.37E+00 | number of nan iterations:   0 |"
)
DEEPSPEED = "[2022-12-20 08:26:{s:02d},101] [INFO] [timer.py:197:stop] 0/{n}, "
LITGPT = "Epoch 1 | iter {n} step {step} | loss train: 1.062, val: n/a | iter time: {ms} ms{end}\n"
NEMO = (
    "Training epoch 0, iteration {n}/149 | lr: 3e-05 | consumed_samples: {n}00 | global_batch_size: 100 | "
    "global_step: {n} | reduced_train_loss: 1.233 | train_step_timing in s: 1.25"
)
FAIRSEQ = "loss=8.1, ppl=132.4, wps=48000, ups=0.5, wpb=96000.4, bsz=300, num_updates={n}, lr=0.0001, wall={s}"
LLM_C_STEP = (
    "step {n:4d}/74 | loss 3.208939 (+nanz)| norm 1.48 (+nanz)| lr 3.00e-04 | 44.57 ms | 9.2% bf16 MFU | 91886 tok/s"
)

CASES = [
    # name, text, format, seconds of a step, tokens/s as the log has them, facts
    ("axolotl: a bar a line", "\n\n".join(f" {bar(280 + n, 1500 + 4 * n)}" for n in range(15)) + "\n" + HF,
     "hf-trainer", 4.0, None, {"padded": True}),
    ("carriage returns as a viewer shows them", "".join(f"^M {bar(n, 4 * n)}^M     ^M{HF}" for n in range(15)),
     "hf-trainer", 4.0, None, {}),
    ("a bar over an hour", "".join(f"{bar(n, 3500 + 30 * n)}\n{HF}" for n in range(15)), "hf-trainer", 30.0, None, {}),
    ("ms-swift's figures", "".join(swift(n) for n in range(1, 15)), "hf-trainer", 88.0, None, {}),
    ("ms-swift's bar", "".join(f"Train: {bar(n, 7 * n)}\n" for n in range(15)) + HF, "hf-trainer", 7.0, None, {}),
    ("tokens in each line of figures",
     "".join(f"{bar(n, 2 * n)}\n{{'loss': '14.8', 'num_input_tokens_seen': 286019, 'train_runtime': '110.7'}}\n"
             for n in range(15)), "hf-trainer", 2.0, None, {}),
    ("unsloth", UNSLOTH + "".join(f"{bar(10 * n, 120 * n, 312)}{n}, 2.5521\n" for n in range(15)),
     "hf-trainer", 12.0, None, {"accelerator": "NVIDIA L4", "micro_batch": 2, "accumulation": 8}),
    ("nothing but a bar", "\r".join(bar(n, 3 * n) for n in range(40)), "progress-bar", 3.0, None, {"padded": True}),
    ("diffusers", "\r".join(f"Steps: {bar(n, 3 * n)[:-1]}, lr=1e-5, step_loss=0.12]" for n in range(40)),
     "progress-bar", 3.0, None, {}),
    ("torchtune's bar", "\r".join(f"1|{n}|Loss: 1.23: {bar(n, 3 * n)}" for n in range(40)),
     "progress-bar", 3.0, None, {}),
    ("torchtitan, a rank", lines("[rank0]:" + TITAN + "step: {n}  loss:  3.24405  grad_norm:  0.8319  memory:  9.46GiB"
     "(64.99%)  tps: 7,282  tflops: 0.52  mfu: 0.17%"), "torchtitan", 2.0, 7282.0, {"strategy": "fsdp2"}),
    ("torchtitan, colours without their escape", lines(TITAN + "[31mstep: {n}  [32mloss:  6.1384  [33mmemory: 49.66GiB"
     "(52.28%)  [34mtps: 5,856  [36mtflops: 339.16  [35mmfu: 34.29%[39m"), "torchtitan", 2.0, 5856.0, {}),
    ("torchtitan of 2024, ranks out of order", "".join(
        f"[rank{rank}]:2024-04-01 17:54:{2 * n + rank:02d},734 - root - INFO - step: {n:2d}  loss: 10.9746  memory:  "
        "9.53GiB(10.03%)  wps: 1,228  mfu: 0.02%\n" for n in range(1, 20) for rank in (1, 0)),
     "torchtitan", 2.0, 1228.0, {}),
    ("Megatron-LM with TFLOP/s", lines(" [2024-04-06 03:02:{s:02d}] " + MEGATRON.replace(
        "| learning", "| throughput per GPU (TFLOP/s/GPU): 243.6 | learning")), "megatron", 2.5, None,
     {"global_batch": 128}),
    ("Megatron-LM without, behind torchrun", lines("[default7]: " + MEGATRON), "megatron", 2.5, None,
     {"global_batch": 128}),
    ("GPT-NeoX", lines(" samples/sec: 2.721 | iteration {n:8d}/   55000 | elapsed time per iteration (ms): 11761.2 | "
     "learning rate: 2.424E-09 | lm_loss: 1.1E+01 |"), "megatron", 11.7612, None, {"global_batch": 32}),
    ("Megatron-DeepSpeed", lines(MEGATRON.replace("global batch size:   128 | ", "")
     + " samples per second: 51.2 | TFLOPs: 78 |"),
     "megatron", 2.5, None, {"global_batch": 128}),
    ("nanotron", lines("10/17/2025 16:31:{s:02d} [INFO|DP=0|PP=0|TP=0]: iteration: {n} / 378950 | "
     "consumed_tokens: 85.8G | "
     "elapsed_time_per_iteration_ms: 11.5K | tokens_per_sec: 22.8K | global_batch_size: 64 | lm_loss: 2.38 | "
     "lr: 1e-05"),
     "megatron", 11.5, None, {"global_batch": 64}),
    ("DeepSpeed behind a launcher", lines("stdout: " + DEEPSPEED + "RunningAvgSamplesPerSec=158.3, "
     "CurrSamplesPerSec=159.6"),
     "deepspeed", 2.0, None, {}),
    ("DeepSpeed 0.5, with the optimizer's steps", "".join(
        f"[2022-03-11 02:{n:02d}:00,985] [INFO] [logging.py:69:log_dist] [Rank 0] step={10 * n}, skipped=2, "
     f"lr=[5e-05]\n"
        f"[2022-03-11 02:{n:02d}:00,986] [INFO] [timer.py:189:stop] 0/{40 * n}, SamplesPerSec=83.48, "
     f"MemAllocated=0.26GB\n"
        for n in range(1, 15)), "deepspeed", 6.0, None, {}),
    ("DeepSpeed of 2020", lines("[INFO 2020-06-08 05:26:{s:02d}] 0/{n}, SamplesPerSec=13.19"),
     "deepspeed", 2.0, None, {}),
    ("nanoGPT of 2023", lines("iter {n}: loss 4.0863, time 561.94ms"), "nanogpt", 0.56194, None, {}),
    ("llm.c", LLM_C + lines(LLM_C_STEP), "llm.c", 0.04457, 524288 / 0.04457,
     {"accelerator": "NVIDIA A100-SXM4-80GB", "precision": "bf16", "micro_batch": 4, "seq_len": 1024, "devices": 8,
      "global_batch": 512}),
    ("llm.c, its smoothed rate alone", lines(LLM_C_STEP), "llm.c", 0.04457, 4096 / 0.04457, {}),
    ("llm.c in Python", lines("step {n:4d}/50 | train loss 5.27 | norm 30.4 | lr 1.0e-04 | (92.37 ms | 2771 tok/s)"),
     "llm.c", 0.09237, 256 / 0.09237, {}),
    ("llm.c of spring 2024", lines("step {n}/74: train loss 4.36 (acc 4.36) (12.66 ms, 323463 tok/s)"),
     "llm.c", 0.01266, 323463.0, {}),
    ("nanochat", NANOCHAT + lines("step {n:05d}/21400 (0.47%) | loss: 5.51 | grad norm: 0.45 | lrm: 1.00 | dt: "
     "500.00ms | "
     "tok/sec: 1,048,576 | mfu: 47.83 | total time: 0.10m"), "nanochat", 0.5, 1_048_576.0,
     {"micro_batch": 32, "seq_len": 2048, "accumulation": 1, "global_batch": 256, "accelerator": "NVIDIA H100 "
     "80GB HBM3"}),
    ("build-nanogpt", lines("step {n:5d} | loss: 6.10 | lr 1.0284e-05 | norm: 2.1932 | dt: 338.52ms | tok/sec: "
     "1548750.21"),
     "nanochat", 0.33852, 1_548_750.21, {}),
    ("build-nanogpt, an early state", lines("step {n}, loss: 10.935, dt: 1000.50ms, tok/sec: 16375.8"),
     "nanochat", 1.0005, 16375.8, {}),
    # 115 steps of 0.25 s are in the first span: the clock begins after ten
    ("modded-nanogpt", "step:0/1480 val_loss:7.71 train_time:0ms step_avg:nanms\n" + "".join(
        f"step:{125 * n}/1480 val_loss:4.37 train_time:{28750 + 31250 * (n - 1)}ms step_avg:250.00ms\n"
     for n in range(1, 9)),
     "modded-nanogpt", 0.25, None, {}),
    ("modded-nanogpt, its clock set to 0", "".join(
        f"step:{n}/1480 train_time:{9000 * n if n <= 10 else 200 * (n - 10)}ms step_avg:200.00ms\n"
     for n in range(1, 60)),
     "modded-nanogpt", 0.2, None, {}),
    ("a loop of one's own", lines("{n}0 | loss 6.6875 | lr 3.000000e-04 | 13808.97ms"), "loop", 13.80897, None, {}),
    ("MaxText", lines("completed step: {n}, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, "
     "total_weights: 196608, loss: 10.374"), "maxtext", 5.667, 8672.758, {}),
    ("prime", lines("17:45:{s:02d} [INFO] [Rank 0] step: {n}, loss: 10.8607, tokens_per_second: 628145.53, mfu: 50.78"),
     "prime", None, 628145.53, {}),
    ("NeMo Automodel", lines("2026-08-10 15:55:{s:02d} | INFO | root | step {n} | epoch 0 | loss 0.6974 | "
     "grad_norm 1.5 | "
     "lr 1.00e-05 | mem 24.90 GiB | tps 11278.56(1409.82/gpu) | num_label_tokens 21541"),
     "automodel", None, 11278.56, {}),
    ("LitGPT, every pass", "".join(
        LITGPT.format(n=n, step=n // 4, ms=180 if n % 4 == 0 else 120, end="" if n % 4 else " (step)")
        for n in range(1, 60)), "litgpt", 0.54, None, {"accumulation": 4}),
    ("LitGPT, fine-tuning", "".join(LITGPT.format(n=n, step=n, ms=529.46, end=" (step)") for n in range(961, 980)),
     "litgpt", 0.52946, None, {"accumulation": 1}),
    ("lit-gpt of 2023", "".join(f"iter {n} step {(n + 1) // 2}: loss 10.8259, iter time: {200 if n % 2 else 220}.00ms"
     + ("" if n % 2 else " (optimizer.step)") + "\n" for n in range(1, 40)), "litgpt", 0.42, None, {"accumulation": 2}),
    ("NeMo 2", lines(NEMO), "nemo", 1.25, None, {"global_batch": 100}),
    ("NeMo 1, the time of a step in its bar",
     lines("Epoch 0: :   1%|          | {n}/77225 [00:{s:02d}<78:01:48, v_num=, "
     "reduced_train_loss=3.090, global_step={n}.0, consumed_samples={n}00.0, train_step_timing in s=4.210]"),
     "nemo", 4.21, None, {"global_batch": 100}),
    ("NeMo 1, its bar alone", lines("Epoch 0: :   1%|          | {n}/77225 [00:{s:02d}<878:01:48, 41.36s/it, "
     "loss=3.1, v_num=, "
     "reduced_train_loss=3.090, global_step={n}.0, consumed_samples=1.63e+6]"), "nemo", 2.0, None, {}),
    ("Lightning", lines("Epoch 0:  22%|##2       | {n}/600 [00:{s:02d}<01:02,  2.01s/it, loss=10.049, v_num=193315]"),
     "lightning", 2.0, None, {}),
    ("Lightning with rich", lines("Epoch 0/9 \u2501\u2501\u2501\u2578\u2501\u2501 {n}/600 0:00:{s:02d} \u2022 "
     "0:01:02 2.01s/it v_num: 0"),
     "lightning", 2.0, None, {}),
    ("fairseq", lines("2020-10-06 11:18:09 | INFO | train_inner | epoch 001:    {n} / 1000 " + FAIRSEQ),
     "fairseq", 2.0, 48000.2, {}),
    ("fairseq's JSON", lines(
        '{{"epoch": 27, "update": 26.2, "loss": "8.2", "wps": "1195.4", "ups": "1.62", "wpb": "2000", "bsz": "46.4", '
        '"num_updates": "{n}", "lr": "0.0001", "train_wall": "61", "wall": "{s}"}}'), "fairseq", 2.0, 1000.0, {}),
    ("fairseq's bar", lines("| epoch 001:   0%| | {n}/11265 [01:55<9:15:41,  2.97s/it, " + FAIRSEQ),
     "fairseq", 2.0, 48000.2, {}),
    ("fairseq of 2018", lines("| epoch 010  {n}000 / 8223 loss=1.27 (1.50), wps=1000, wpb=500, bsz=32, "
     "lr=0.001, gnorm=2.14"),
     "fairseq", None, 1000.0, {}),
    ("llm-foundry", lines("[batch={n}/48000]:\n         Train time/batch: 365\n         Train loss/train/total: "
     "10.3750\n"
     "\t Train throughput/batches_per_sec: 0.1\n\t Train throughput/samples_per_sec: 25.6\n"
     "\t Train throughput/tokens_per_sec: 104857.6"), "composer", 10.0, 104857.6, {"global_batch": 256}),
]  # fmt: skip
