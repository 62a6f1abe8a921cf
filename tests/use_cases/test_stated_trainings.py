"""`ask FILE` and `memory FILE`: settings of a trainer's files count unless the options state others."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from planner.adapters.stored_prices.price_filter import NOTHING
from planner.errors import InputError, NotModelledError
from planner.model.network.adapters import FrozenFormat
from planner.model.network.trainer_memory import Loss, Optimizer
from planner.model.network.training_method import TrainingMethod
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Training
from planner.network.flops import parameters as network_parameters
from planner.scenario.training_setup import TrainingSetup
from planner.use_cases import catalogs, find
from planner.use_cases.asking.ask import plan_of_question
from planner.use_cases.asking.question import MissingAnswerError, TrainingQuestion
from planner.use_cases.cluster_names import cluster_named
from planner.use_cases.memory import MemoryRequest, estimate_memory
from planner.use_cases.networks import find_architecture
from planner.use_cases.strategies import find_strategies
from tests.adapters.training_files.test_scripts import CASES as SCRIPTS
from tests.adapters.training_files.test_training_files import CASES

CATALOG = catalogs.open_catalog(None, wanted=NOTHING)
TODAY = date(2026, 11, 26)


def file_of(case: str, folder: Path) -> str:
    """Write the file of a case and return its path."""
    name, text, _ = CASES[case]
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_plan_has_what_an_axolotl_file_states(tmp_path):
    question = TrainingQuestion(
        workload=file_of("axolotl", tmp_path), data="10000x700", own=("2xRTX-4090",), on=("p4d",)
    )
    plan = plan_of_question(question, CATALOG, today=TODAY).plan
    training = plan.training
    assert plan.workload.ref == "llama3-8b"
    assert plan.workload.seq_len == 4096
    assert plan.work.epochs == 3.0
    assert (training.micro_batch, training.global_batch) == (2, 2 * 4 * 2)  # x accumulation x cards
    assert (training.precision, training.strategy) == (Precision.BF16, Strategy.ZERO2)
    assert (training.checkpointing, training.optimizer) == (Checkpointing.FULL, Optimizer.PAGED_ADAMW_8BIT)
    assert training.packing is True
    assert training.adapters is not None
    assert (training.adapters.rank, training.adapters.frozen) == (32, FrozenFormat.NF4)
    assert len(training.adapters.targets) == 7


def test_options_win_over_the_file(tmp_path):
    path = file_of("axolotl", tmp_path)
    question = TrainingQuestion(
        workload=path, data="10000x700", epochs=1.0, seq_len=1024, own=("RTX-4090",), on=("p4d",)
    )
    plan = plan_of_question(question, CATALOG, today=TODAY).plan
    assert (plan.work.epochs, plan.workload.seq_len, plan.training.strategy) == (1.0, 1024, Strategy.DDP)


def test_a_site_has_all_of_its_cards(tmp_path):
    """The site has two: 2 samples x 4 passes x 2 cards."""
    question = TrainingQuestion(
        workload=file_of("axolotl", tmp_path), data="10000x700", own=("a100-80gb-x2",), find=False
    )
    training = plan_of_question(question, CATALOG, today=TODAY).plan.training
    assert (training.global_batch, training.strategy) == (16, Strategy.ZERO2)


def test_a_search_has_the_training_of_the_file(tmp_path):
    asked = {"tokens": 1e8, "seq_len": None, "adapters": lambda network: network.adapters}
    path, filters = file_of("axolotl", tmp_path), FindFilters(gpus=(2,))
    training = find.plan_of(path, CATALOG, filters, training=Training(micro_batch=1), **asked).training
    assert (training.micro_batch, training.global_batch) == (1, 16)  # the option's; that of the file on two cards
    assert (training.precision, training.strategy, training.checkpointing) == (
        Precision.BF16, Strategy.ZERO2, Checkpointing.FULL,
    )  # fmt: skip
    assert (training.optimizer, training.packing) == (Optimizer.PAGED_ADAMW_8BIT, True)
    assert training.framework == "HF Trainer"


def test_strategies_have_the_batch_of_the_file(tmp_path):
    network = find_architecture(file_of("axolotl", tmp_path), CATALOG)
    cluster = cluster_named("8xA100-80GB-SXM", CATALOG)
    asked = TrainingSetup(workload="a file", adapters=network.adapters)
    ways = find_strategies(network, "8xA100-80GB-SXM", cluster, asked, CATALOG)["ways"]
    assert {way["micro_batch"] * way["accumulation"] * 8 // way["tensor"] for way in ways} == {2 * 4 * 8}


def test_memory_is_that_of_the_strategy_and_the_accelerators_that_the_files_state(tmp_path):
    document = estimate_memory(MemoryRequest(workload=file_of("Slurm", tmp_path), on="A100-80GB-SXM"), CATALOG)
    named = MemoryRequest(
        workload="mistral-7b-v0.1", on="A100-80GB-SXM", gpus=32, strategy=Strategy.ZERO3, micro_batch=2, seq_len=2048
    )
    plain = estimate_memory(named, CATALOG)
    assert (document.accelerators, document.strategy) == (plain.accelerators, plain.strategy)
    assert document.states_gib.value == pytest.approx(plain.states_gib.value)


def test_files_that_do_not_say_what_is_trained_ask_for_it(tmp_path):
    with pytest.raises(InputError, match="does not say which network is trained"):
        estimate_memory(MemoryRequest(workload=file_of("DeepSpeed", tmp_path), on="H100-SXM"), CATALOG)


def test_all_that_is_missing_is_asked_for_at_once(tmp_path):
    question = TrainingQuestion(workload=file_of("accelerate, FSDP", tmp_path), on=("p5",))
    with pytest.raises(InputError, match="which network is trained, nor how much") as error:
        plan_of_question(question, CATALOG, today=TODAY)
    assert error.value.fix.endswith("planner ask train.yaml,config.yaml --data 50000x700")


def test_several_files_are_named_with_commas(tmp_path):
    both = f"{file_of('LLaMA-Factory', tmp_path)},{file_of('accelerate, FSDP', tmp_path)}"
    question = TrainingQuestion(workload=both, data="10000x700", own=("4x4xA100-80GB-SXM",), on=("p4d",))
    training = plan_of_question(question, CATALOG, today=TODAY).plan.training
    assert (training.strategy, training.global_batch) == (Strategy.ZERO2, 1 * 8 * 16)


def test_memory_refuses_layers_that_are_divided(tmp_path):
    with pytest.raises(InputError, match="tensor parallel 2"):
        estimate_memory(MemoryRequest(workload=file_of("Megatron-LM", tmp_path), on="H100-SXM"), CATALOG)


def test_the_method_of_a_file_is_that_of_its_training(tmp_path):
    path = file_of("LLaMA-Factory, preferences", tmp_path)
    asked = plan_of_question(TrainingQuestion(workload=path, data="1000x500", on=("p5",)), CATALOG, today=TODAY)
    assert asked.plan.training.method is TrainingMethod.KTO
    assert find_architecture(path, CATALOG).objective.method is TrainingMethod.KTO


def test_completions_that_are_generated_have_lengths(tmp_path):
    """A trainer's command says no mean length of answers, so the question asks for it."""
    path = file_of("a command of TRL for rewards", tmp_path)
    with pytest.raises(MissingAnswerError, match="how long its completions are") as error:
        plan_of_question(TrainingQuestion(workload=path, data="1000x300", on=("p5",)), CATALOG, today=TODAY)
    assert "--completion" in error.value.fix


@pytest.mark.parametrize(
    ("case", "parameters"),
    [
        # Llama 2 7B: its sizes are the script's, its vocabulary that of the tokenizer
        ("Megatron's arguments in arrays", 6_738_415_616),
        ("Megatron's mixture of experts", 46_702_792_704),  # Mixtral 8x7B
    ],
)
def test_megatrons_sizes_are_the_network(tmp_path, case, parameters):
    files, _ = SCRIPTS[case]
    path = tmp_path / "run.sh"
    path.write_text(files["run.sh"], encoding="utf-8")
    assert network_parameters(find_architecture(str(path), CATALOG).architecture) == parameters


def test_the_steps_that_a_file_states_are_the_work(tmp_path):
    question = TrainingQuestion(workload=file_of("torchtitan", tmp_path), own=("16xH100-SXM",), on=("p5",))
    asked = plan_of_question(question, CATALOG, today=TODAY)
    assert asked.plan.work.steps == 1000
    assert any("1,000 steps that the files state" in assumption for assumption in asked.assumed)


def test_a_length_that_no_file_states_is_assumed_in_words(tmp_path):
    question = TrainingQuestion(
        workload=file_of("DeepSpeed's launcher", tmp_path), data="1000x300", own=("4xRTX-4090",), on=("p4d",)
    )
    asked = plan_of_question(question, CATALOG, today=TODAY)
    assert asked.plan.workload.seq_len == 1024  # of samples of 300 tokens the first double of 512 that holds two
    assert any("--seq-len" in assumption for assumption in asked.assumed)


def test_a_card_without_bf16_is_not_assumed_to_have_it():
    question = TrainingQuestion(workload="llama-3.2-1b", data="1000x500", own=("2xT4",), on=("p4d",))
    asked = plan_of_question(question, CATALOG, today=TODAY)
    assert asked.plan.training.precision is Precision.FP16
    assert any("no bf16" in assumption for assumption in asked.assumed)
    assert estimate_memory(MemoryRequest(workload="llama-3.2-1b", on="V100-SXM2-16GB"), CATALOG).precision is (
        Precision.FP16
    )


@pytest.mark.parametrize(
    ("own", "message", "nearest"),
    [
        ("1xMac-Studio", "Apple's chips are not modelled", "Leave --own out"),
        ("1xM3-Ultra", "Apple's chips are not modelled", "Leave --own out"),
        ("mac studio", "Apple's chips are not modelled", "Leave --own out"),
        ("8xTPU-v5e", "the power of TPU-v5e is not published", "--on gcp/tpu-v5litepod-8"),
        ("8x TPU v5e", "the power of TPU-v5e is not published", "--on gcp/tpu-v5litepod-8"),
    ],
)
def test_machines_that_are_not_modelled_are_refused_with_what_is_nearest(own, message, nearest):
    question = TrainingQuestion(workload="llama-3.2-1b", data="1000x500", own=(own,), on=("p4d",))
    with pytest.raises(NotModelledError, match=message) as error:
        plan_of_question(question, CATALOG, today=TODAY)
    assert nearest in error.value.fix


@pytest.mark.parametrize("on", ["TPU-v5e", "gcp/tpu-v5litepod-8", "aws/trn2.48xlarge"])
def test_memory_on_a_chip_for_xla_asks_for_a_trainer_on_it(on):
    request = MemoryRequest(workload="llama-3.2-1b", on=on)
    with pytest.raises(NotModelledError, match="without XLA") as error:
        estimate_memory(request, CATALOG)
    assert "--framework jax" in error.value.fix
    assert estimate_memory(request.model_copy(update={"framework": "jax"}), CATALOG).trainer.loss is Loss.COMPILED
