"""The tools: each calls the use case of the command with the same name. None writes, launches or fetches anything."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from planner import clock
from planner.adapters.answer_store import answers_dir, kept_answer
from planner.adapters.documents import parse_model
from planner.adapters.stored_prices.price_filter import NOTHING
from planner.adapters.workspace import catalogs_dir, examples_dir, workspace_dir
from planner.errors import InputError
from planner.mcp_server import answer_rows
from planner.mcp_server import tool_inputs as given
from planner.mcp_server.tool_answer import ToolAnswer, guarded, inside
from planner.mcp_server.tool_inputs import StatedSettings, with_training_arguments
from planner.model.answer.documents import ComparisonDocument
from planner.model.network.workload import Checkpointing, Strategy
from planner.model.plan.find_filters import FindFilters, Terms
from planner.model.plan.plan import Plan
from planner.model.prices.offer import PriceKind
from planner.present.columns.registry import asked_columns
from planner.use_cases import answer_ids, catalogs, find, networks, plans, prices
from planner.use_cases.asking.ask import answer_of, plan_of_question
from planner.use_cases.asking.question import TrainingQuestion
from planner.use_cases.asking.stated_files import run_of_log
from planner.use_cases.explain import explain
from planner.use_cases.importing.check_run import check_run
from planner.use_cases.importing.imported_runs import run_named
from planner.use_cases.importing.run_facts import Stated
from planner.use_cases.memory import MemoryRequest, estimate_memory
from planner.use_cases.plans import DatedPlan, dated
from planner.use_cases.trained_adapters import AdapterChoice, Trained


@dataclass(frozen=True)
class PlannerTools:
    """Tools for one folder (the working directory) and one workspace."""

    folder: Path
    home: str | None = None

    @property
    def readable(self) -> tuple[Path, ...]:
        """Return the folders from which files may be read: the folder, workspace, run store and the planner's own."""
        runs = os.environ.get("PLANNER_RUNS")
        named = (Path(runs),) if runs and "://" not in runs else ()  # set by the user who started the server
        return (self.folder, workspace_dir(self.home), *named, catalogs_dir(), examples_dir(), answers_dir())

    @guarded
    @with_training_arguments
    def ask(
        self,
        workload: given.Workload,
        data: given.Data = None,
        tokens: Annotated[
            given.Amount | None, Field(description="Tokens of the training, instead of data.", examples=[1e9])
        ] = None,
        epochs: Annotated[given.Amount | None, Field(description="Times over the data; default: 1.")] = None,
        seq_len: given.SeqLen = None,
        own: given.OwnMachines = [],  # noqa: B006  never changed; the schema shows it
        on: given.Offers = [],  # noqa: B006
        budget: given.Budget = None,
        by: given.Day = None,
        runs: Annotated[given.Count | None, Field(description="Trainings; default: 1.")] = None,
        log: Annotated[
            given.Word | None, Field(description="Trainer's log in the folder, written on the first of own.")
        ] = None,
        *,
        stated: StatedSettings,
    ) -> ToolAnswer:
        """Answer in one call: which machines should train this, how long does it take, what does it cost, how sure.

        Use it for "how long, how many GPUs, what does it cost" about a training that is described in words. Do not
        use it where a plan file exists (compare), to learn only whether it fits (memory) or only what a machine costs
        (prices). Say the limits (budget, by) where the user has them: the answer then keeps them.
        """
        catalog = catalogs.audited(catalogs.open_catalog(self.home))
        question = TrainingQuestion(
            workload=inside(workload), data=data, tokens=tokens, epochs=epochs, seq_len=seq_len,
            training=stated.training,
            objective=stated.adapters.objective(),
            adapters=stated.adapters.adapters, own=tuple(own), on=tuple(on), budget=budget, by=by, runs=runs,
        )  # fmt: skip
        if log is not None:
            question = replace(question, log=run_of_log(Path(inside(log)), question, catalog))
        asked = plan_of_question(question, catalog, today=clock.today())
        document, answered = answer_of(asked, catalog, now=clock.now())
        return self._compared(answered, document)

    @guarded
    def compare(self, plan: given.PlanFile) -> ToolAnswer:
        """Rank the options of a plan file and recommend one, with the reason against each other option.

        Use it where the folder holds a plan (planner init or ask wrote it) or after the user changed one. Do not use it
        for a question in words (ask), or to look for machines that the plan does not name (find).
        """
        read = plans.read_plan(Path(inside(plan)))
        catalog = catalogs.catalog_for(read, self.home)
        answered = dated(read, now=clock.now())
        listed = plans.with_found_options(answered.plan, catalog, today=answered.today)
        document = plans.compare(listed, catalog, today=answered.today)
        return self._compared(answered._replace(plan=listed), document, plan_words=plan)

    @guarded
    @with_training_arguments
    def find(
        self,
        workload: given.Workload,
        tokens: Annotated[
            given.Amount | None, Field(description="Tokens of the training; default: 1e9.", examples=[35e6])
        ] = None,
        seq_len: given.SeqLen = None,
        accelerator: Annotated[given.Names, Field(description="Only these.", examples=[["H100"]])] = [],  # noqa: B006
        gpus: Annotated[
            list[given.Count], Field(max_length=given.MOST_NAMES, description="Accelerators of one training.")
        ] = [],  # noqa: B006
        provider: Annotated[given.Names, Field(description="Only these.", examples=[["lambda"]])] = [],  # noqa: B006
        region: Annotated[given.Names, Field(description="Only these.", examples=[["us-east-1"]])] = [],  # noqa: B006
        terms: Annotated[Terms | None, Field(description="firm: is never taken away; spot: cheaper.")] = None,
        max_usd_per_hour: Annotated[given.Amount | None, Field(description="Of all nodes, at the list price.")] = None,
        available: Annotated[bool, Field(description="Only what its source says is to be had.")] = False,
        *,
        stated: StatedSettings,
    ) -> ToolAnswer:
        """Look through all machines that are offered, and compare the best dozen for a training.

        Use it for "which machine should I rent", with filters. workload may be a plan file, whose limits count then.
        Do not use it where the user names the machines (ask with own or on), or asks for prices alone (prices).
        """
        filters = {
            "accelerator": accelerator, "gpus": gpus, "provider": provider, "region": region, "terms": terms,
            "max_usd_per_hour": max_usd_per_hour, "available": available,
        }  # fmt: skip
        wanted = parse_model(FindFilters, {k: v for k, v in filters.items() if v}, where="find")
        found = find.find_machines(
            inside(workload), wanted, tokens=tokens, seq_len=seq_len,
            training=stated.training,
            objective=stated.adapters.objective(),
            adapters=None if stated.adapters == AdapterChoice() else stated.adapters.adapters,
            home=self.home, now=clock.now(),
        )  # fmt: skip
        return self._compared(found.answered, found.document)

    @guarded
    def memory(
        self,
        workload: given.Workload,
        on: Annotated[given.Word, Field(description="Accelerators.", examples=["H100-SXM", "8xRTX-5090"])],
        gpus: Annotated[given.Count | None, Field(description="Of one training; default: as on says.")] = None,
        strategy: Annotated[
            Strategy | None, Field(description="How it is spread; default: the file's, else ddp.", examples=["fsdp2"])
        ] = None,
        tensor: Annotated[given.Count, Field(description="Tensor-parallel slices of each layer.")] = 1,
        pipeline: Annotated[given.Count, Field(description="Pipeline stages.")] = 1,
        context: Annotated[given.Count, Field(description="Parts of a sequence (context parallelism).")] = 1,
        micro_batch: Annotated[given.Count | None, Field(description="Samples on each accelerator.")] = None,
        seq_len: given.SeqLen = None,
        precision: given.NumberFormat = None,
        checkpointing: Annotated[
            Checkpointing | None, Field(description="Activations to recompute; default: as few as fit.")
        ] = None,
        framework: given.Framework = None,
        loss: given.LossWay = None,
        kernels: given.KernelWay = None,
        optimizer: given.AnyOptimizer = None,
        weights: given.Weights = None,
        offload: given.Offloaded = None,
        attention: given.AttentionWay = None,
        method: given.Method = None,
        lora_rank: given.LoraRank = None,
        lora_targets: given.LoraTargets = None,
    ) -> ToolAnswer:
        """Say whether a training fits into an accelerator's memory, with which chance, and what would make it fit.

        Use it for "does it fit", "which batch fits" and out-of-memory errors of a training. Do not use it for serving
        (inference), for the host's memory, or for time and money (ask).
        """
        catalog = catalogs.open_catalog(self.home, wanted=NOTHING)
        choice = AdapterChoice(method=method, lora_rank=lora_rank, lora_targets=lora_targets)
        adapters = choice.adapters(networks.find_architecture(inside(workload), catalog))
        asked = {
            "workload": workload, "on": on, "gpus": gpus, "strategy": strategy, "tensor": tensor,
            "pipeline": pipeline, "context": context, "micro_batch": micro_batch, "seq_len": seq_len,
            "precision": precision, "checkpointing": checkpointing, "adapters": adapters, "framework": framework,
            "loss": loss, "kernels": kernels, "optimizer": optimizer, "weights": weights, "offload": offload,
            "attention": attention, "objective": choice.objective(),
            "method": "full" if method is Trained.FULL else None,
        }  # fmt: skip
        document = estimate_memory(parse_model(MemoryRequest, asked, where="memory"), catalog)
        answer_ids.keep(document, today=clock.today())
        return answer_rows.memory_answer(document)

    @guarded
    def check_run(
        self,
        run: given.RunName,
        workload: Annotated[
            given.Word | None, Field(description="Where the log does not say it.", examples=["llama3-8b"])
        ] = None,
        accelerator: Annotated[given.Word | None, Field(description="The same.", examples=["RTX-3090"])] = None,
        gpus: Annotated[given.Count | None, Field(description="Accelerators of the whole training.")] = None,
        nodes: given.Count | None = None,
        seq_len: given.SeqLen = None,
        global_batch: Annotated[given.Count | None, Field(description="Samples of one optimizer step.")] = None,
        micro_batch: Annotated[given.Count | None, Field(description="Samples of one pass on one device.")] = None,
        precision: given.NumberFormat = None,
        strategy: Strategy | None = None,
        checkpointing: Checkpointing | None = None,
        packed: Annotated[bool, Field(description="Every sample is full: no padding.")] = False,
    ) -> ToolAnswer:
        """Say whether a run is as fast as it should be, what may hold it back, and the cheapest test of each cause.

        Use it for "is this speed normal", "why is my training slow", with a log or result in the folder. State what
        the log does not say; the error names it. Do not use it to plan a training (ask), or without any measurement.
        """
        catalog = catalogs.audited(catalogs.open_catalog(self.home, wanted=NOTHING))
        stated = Stated(
            workload=None if workload is None else inside(workload), accelerator=accelerator, gpus=gpus, nodes=nodes,
            seq_len=seq_len, global_batch=global_batch, micro_batch=micro_batch, precision=precision,
            strategy=strategy, checkpointing=checkpointing, packed=packed,
        )  # fmt: skip
        document = check_run(run_named(inside(run), stated, catalog), catalog)
        answer_ids.keep(document, today=clock.today())
        return answer_rows.run_check_answer(document)

    @guarded
    def prices(
        self,
        accelerator: Annotated[given.Word | None, Field(description="H100: all H100s.", examples=["H100"])] = None,
        provider: Annotated[given.Word | None, Field(examples=["aws"])] = None,
        region: Annotated[given.Word | None, Field(examples=["us-east-1"])] = None,
        kind: Annotated[PriceKind | None, Field(description="How it is bought.", examples=["on_demand"])] = None,
    ) -> ToolAnswer:
        """List known prices of machines, the lowest per accelerator-hour first, with date and age.

        Use it for "what does an H100 cost per hour". Do not use it for the cost of a training (ask): hours differ
        between machines. Prices are as of their date; nothing is fetched.
        """
        return answer_rows.prices_answer(
            prices.show(
                home=self.home, now=clock.now(), accelerator=accelerator, provider=provider, region=region, kind=kind
            )
        )

    @guarded
    def explain(
        self,
        answer_id: given.AnswerId,
        option: Annotated[
            given.Word | None, Field(description="Row or id of one option: why its numbers are so.", examples=["1"])
        ] = None,
        from_row: Annotated[int, Field(ge=1, le=10_000, description="Without option: the table from this row.")] = 1,
        columns: Annotated[
            given.Names, Field(description="Without option: more columns of it.", examples=[["energy_kwh", "co2"]])
        ] = [],  # noqa: B006
    ) -> ToolAnswer:
        """Say more of an earlier answer: why an option's numbers are so, or more rows or columns of its table.

        Use it when the user asks why, doubts a number, or needs more than eight rows. Do not use it before ask, compare
        or find has given an id, nor to change the question: ask anew then.
        """
        kept = kept_answer(answer_id)
        if option is None:
            return answer_rows.kept_rows(kept, from_row, asked_columns(",".join(columns)))
        if kept.plan is None:
            raise InputError(f"answer {answer_id} has no options.", fix="Leave option out.")
        plan = parse_model(Plan, {"schema_version": 1, **kept.plan}, where=f"answer {answer_id}")
        catalog = catalogs.catalog_for(plan, self.home)
        return answer_rows.explained_answer(
            explain(plan, catalog, option=option, today=kept.answered_on), answer_id=answer_id
        )

    def _compared(
        self, answered: DatedPlan, document: ComparisonDocument, *, plan_words: str | None = None
    ) -> ToolAnswer:
        plan, today, assumed = answered
        kept = answer_ids.keep(document, today=today, plan=plan, assumed=assumed, plan_words=plan_words)
        return answer_rows.comparison_answer(document, assumed=assumed, go_on=kept)
