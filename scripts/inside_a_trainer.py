"""Makes a network and times a trainer, inside the trainer's environment, for `trainer_logs.py`."""

from __future__ import annotations

import csv
import runpy
import sys
import time
from functools import wraps
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

WORDS = [
    "the", "model", "learns", "to", "train", "on", "one", "small", "machine", "while", "a", "clock", "counts", "every",
    "step", "that", "it", "takes",
]  # fmt: skip


def make_network(work: Path) -> None:
    """Write a Llama of two layers with its tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<s>", "</s>", "<pad>"]
    tokenizer.train_from_iterator([" ".join(WORDS)] * 3, trainers.WordLevelTrainer(special_tokens=special))
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    fast.chat_template = "{% for message in messages %}{{ message['content'] }}</s>{% endfor %}"
    fast.save_pretrained(work / "network")
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=128, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=3,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(work / "network")


def run_timed(out: Path, module: str, arguments: list[str]) -> None:
    """Run a trainer's module with a callback that times each step."""
    sys.modules["torchaudio"] = module_from_spec(ModuleSpec("torchaudio", None))  # LLaMA-Factory imports it for sound
    from transformers import Trainer as HfTrainer
    from transformers import TrainerCallback

    ends: list[tuple[int, float]] = []

    class Timer(TrainerCallback):
        def on_step_end(self, _args: Any, state: Any, _control: Any, **_others: Any) -> None:
            ends.append((state.global_step, time.perf_counter()))

    plain = HfTrainer.__init__

    @wraps(plain)  # ms-swift asks for the names of its arguments
    def timed(self: Any, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        self.add_callback(Timer())

    HfTrainer.__init__ = timed
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        with out.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["step", "seconds"])
            for (_, before), (step, after) in pairwise(ends):
                rows.writerow([step, f"{after - before:.6f}"])


if __name__ == "__main__":
    if sys.argv[1] == "network":
        make_network(Path(sys.argv[2]))
    else:
        run_timed(Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
