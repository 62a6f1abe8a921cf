"""Parts of the hours: lines by hand, limiting storage, small defaults, convergence apart from speed."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from planner.cost.cloud.bill import LOST as BILLED_LOST
from planner.decide.campaign.campaign import campaign_option
from planner.decide.options.estimate_plan import estimate_options
from planner.duration.practice import half_range_90
from planner.duration.training_time import CHECKPOINTS, EVALUATION, LOST, RESTARTS, STALL, STATED, STEPS
from planner.errors import NotFoundError
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.training_time import TrainingTime
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
P4D = {"offer": "aws/p4d.24xlarge", "usd_per_hour": 24.0}
NO_SETUP = {"setup_hours": 0.0, "idle_tail_hours": 0.0, "failed_launch_fraction": 0.0}


def plan(option: dict[str, Any], *, hours: float = 10.0, batch: int = 10, **changes: Any) -> Plan:
    """Return a training whose steps take exactly `hours`, at `batch` samples a second."""
    step = {"batch": batch, "seconds": 1.0, "low_seconds": 1.0, "high_seconds": 1.0, "basis": "measured"}
    fields: dict[str, Any] = {
        "schema_version": 1,
        "name": "by hand",
        "workload": {"ref": "gpt-305m"},
        "work": {"samples": 3600.0 * hours * batch},
        "options": [option | {"step": step}],
        "assumptions": NO_SETUP,
    }
    return Plan.model_validate(fields | changes)


def estimate(asked: Plan) -> OptionEstimate:
    (found,) = estimate_options(asked, CATALOG).options
    return found.option


def time_of(asked: Plan) -> TrainingTime:
    found = estimate(asked).time
    assert found is not None
    return found


def hours(time: TrainingTime) -> dict[str, float]:
    return {line.what: line.hours.value for line in time.lines}


class TestTimesByHand:
    """10 h of steps on 8 GPUs; 800 GPU-hours a failure: 100 h apart; 36 GB written at 0.1 GB/s: 0.1 h."""

    ASKED = plan(
        P4D,
        data={
            "dataset_gb": 0.0,
            "checkpoint_gb": 36.0,
            "egress_gb": 0.0,
            "storage": {"read_gb_per_s": 1.0, "write_gb_per_s": 0.1},
        },
        goodput={
            "gpu_hours_per_failure": 800.0,
            "restart_hours": 0.5,
            "checkpoint_interval_hours": 1.0,
            "checkpoint_writing": "synchronous",
            "evaluation_fraction": 0.0,
        },
    )

    def test_the_lines(self) -> None:
        """See test_goodput: 1.111616 of wall for 1 of steps."""
        found = hours(time_of(self.ASKED))
        assert found[STEPS] == pytest.approx(10)
        assert found[CHECKPOINTS] == pytest.approx(1.0)
        assert found[RESTARTS["failure"]] == pytest.approx(0.055442, abs=1e-5)
        assert found[LOST["failure"]] == pytest.approx(0.060717, abs=1e-5)
        assert sum(found.values()) == pytest.approx(11.11616, abs=1e-5)

    def test_they_add_up_to_the_wall_clock(self) -> None:
        time = time_of(self.ASKED)
        assert time.wall_hours.value == pytest.approx(sum(hours(time).values()))
        assert time.goodput.value == pytest.approx(10 / 11.11616, abs=1e-6)
        assert time.interruptions is not None
        assert time.interruptions.value == pytest.approx(0.1111616, abs=1e-6)

    def test_the_optimum_stands_beside_the_chosen_interval(self) -> None:
        """sqrt(2 x 0.1 x 100) = 4.472; x (1 + sqrt(0.0005) / 3 + 0.0005 / 9) - 0.1 = 4.4057 h."""
        time = time_of(self.ASKED)
        assert time.checkpoint_interval_hours is not None
        assert time.checkpoint_interval_hours.value == 1.0
        assert time.optimal_interval_hours is not None
        assert time.optimal_interval_hours.value == pytest.approx(4.4057, abs=1e-4)
        assert any("would save" in note for note in estimate(self.ASKED).notes)

    def test_what_is_lost_is_billed_and_campaigns_wait_for_it(self) -> None:
        option = estimate(self.ASKED)
        assert option.bill is not None
        lines = {line.what: line.usd.value for line in option.bill.lines}
        assert lines["compute"] == 240.00
        assert lines[BILLED_LOST] == pytest.approx(1.11616 * 24, abs=0.01)
        (found,) = estimate_options(self.ASKED, CATALOG).options
        day = CATALOG.defaults.pue.as_of
        assert day is not None
        campaign = campaign_option(found, self.ASKED.campaign, CATALOG, today=day)
        assert campaign.campaign_hours is not None
        assert campaign.campaign_hours.value == pytest.approx(11.11616, abs=1e-5)

    def test_in_the_background_only_the_copy_stops_the_training(self) -> None:
        """Plain data parallelism: one GPU copies 36 GB at 10 GB/s, 3.6 s; ten times in 10 h."""
        given = self.ASKED.goodput.model_dump(exclude_none=True) | {"checkpoint_writing": "asynchronous"}
        asked = Plan.model_validate(self.ASKED.model_dump(exclude_none=True) | {"goodput": given})
        assert hours(time_of(asked))[CHECKPOINTS] == pytest.approx(10 * 3.6 / 3600)


def test_eight_rented_gpus_for_three_days_show_a_small_loss() -> None:
    option = estimate(plan(P4D, hours=72.0))
    assert option.bill is not None
    (lost,) = (line.usd.value for line in option.bill.lines if line.what == BILLED_LOST)
    assert 0 < lost < 0.002 * 72 * 24


def test_one_gpu_for_an_hour_loses_practically_nothing() -> None:
    time = time_of(plan({"offer": "lambda/gpu_1x_h100_sxm5"}, hours=1.0))
    assert time.goodput.value > 0.998


def test_no_range_says_that_less_than_nothing_is_lost() -> None:
    asked = plan(P4D | {"storage": "ebs-gp3-1000"}, batch=9_200, workload={"ref": "resnet50"})
    time = time_of(asked)
    assert time.goodput.high <= 1
    assert time.wall_hours.low >= 10


def test_small_losses_leave_a_measured_time_measured() -> None:
    time = time_of(plan(P4D))
    assert time.wall_hours.basis is Basis.MEASURED
    assert time.goodput.low < time.goodput.value


def test_a_thousand_gpus_with_long_intervals_are_told_of_a_better_one() -> None:
    asked = plan(P4D | {"nodes": 128}, hours=720.0, goodput={"checkpoint_interval_hours": 6.0})
    (note,) = (note for note in estimate(asked).notes if "would save" in note)
    assert "Young and Daly" in note


def test_only_spot_is_preempted() -> None:
    node_hours = {"goodput": {"node_hours_per_preemption": 100.0}}
    spot = hours(time_of(plan(P4D | {"price": "spot"}, **node_hours)))
    on_demand = hours(time_of(plan(P4D, **node_hours)))
    assert set(spot) - set(on_demand) == {LOST["preemption"], RESTARTS["preemption"]}
    assert spot[RESTARTS["preemption"]] == pytest.approx(0.1 * 0.25, rel=0.02)  # 10 h / 100 h, a quarter of an hour


def test_evaluation_takes_its_share_of_the_steps() -> None:
    found = hours(time_of(plan(P4D, goodput={"evaluation_fraction": 0.05})))
    assert found[EVALUATION] == pytest.approx(0.5)


def test_a_training_that_never_gets_on_has_no_time_and_says_why() -> None:
    asked = plan(P4D, goodput={"gpu_hours_per_failure": 0.1})
    option = estimate(asked)
    assert option.time is None
    assert option.training_hours is None
    assert option.wall_hours is None
    assert option.usd_total is None
    assert "would not get on" in (option.why_not or "")


def test_a_campaign_that_never_gets_on_keeps_no_deadline() -> None:
    asked = plan(P4D, goodput={"gpu_hours_per_failure": 0.1}, campaign={"deadline": "2030-01-01"})
    (found,) = estimate_options(asked, CATALOG).options
    campaign = campaign_option(found, asked.campaign, CATALOG, today=date(2026, 1, 1))
    assert (campaign.campaign_hours, campaign.finish, campaign.meets_deadline) == (None, None, None)


class TestStorage:
    """ResNet-50 at 20,000 images/s of 115,000 bytes needs 2.3 GB/s."""

    IMAGES: dict[str, Any] = {"workload": {"ref": "resnet50"}}  # noqa: RUF012

    def asked(self, option: dict[str, Any], **changes: Any) -> Plan:
        return plan(P4D | option, batch=20_000, **self.IMAGES, **changes)

    def test_slow_storage_limits_the_speed_and_is_named(self) -> None:
        asked = self.asked({"storage": "ebs-gp3-1000"})
        time = time_of(asked)
        assert hours(time)[STALL] == pytest.approx(10 * (2.3 / 1.049 - 1))
        assert "storage limits the speed" in time.limited_by[0]
        assert "ebs-gp3-1000" in time.limited_by[0]
        assert time.limited_by[0] in estimate(asked).notes
        assert time.wall_hours.basis is Basis.QUOTED

    def test_fast_storage_does_not(self) -> None:
        asked = self.asked({"storage": {"read_gb_per_s": 5.0, "write_gb_per_s": 5.0}})
        assert time_of(asked).limited_by == ()

    def test_by_default_there_is_a_drive_for_each_accelerator(self) -> None:
        """2.3 GB/s are little for eight drives of 3 GB/s, and too much for one whose images are 10 times as large."""
        eight = self.asked({})
        assert time_of(eight).limited_by == ()
        stated_plan = plan(
            P4D | {"accelerators": 1}, batch=20_000, **self.IMAGES, data={"dataset_gb": 1.15e6 * 20 * 36e3 / 1e6}
        )
        assert hours(time_of(stated_plan))[STALL] == pytest.approx(10 * (23 / 3 - 1))

    def test_every_node_brings_disks_of_its_own_and_a_server_is_shared(self) -> None:
        two = {"nodes": 2}
        own = hours(time_of(self.asked(two | {"storage": "ebs-gp3-1000"})))
        shared = hours(time_of(self.asked(two | {"storage": "nfs-10gbe"})))
        assert own[STALL] == pytest.approx(10 * (2.3 / 2.098 - 1))
        assert shared[STALL] == pytest.approx(10 * (2.3 / 1.1 - 1))

    @pytest.mark.parametrize(
        ("option", "data", "site_storage", "read"),
        [
            pytest.param("ebs-gp3", "s3", "nfs-1gbe", 0.131, id="the option first"),
            pytest.param(None, "s3", "nfs-1gbe", 0.11, id="then the site"),
            pytest.param(None, "s3", None, 1.4, id="then the plan"),
            pytest.param(None, None, None, 3.0, id="then the default"),
        ],
    )
    def test_which_storage_counts(
        self, option: str | None, data: str | None, site_storage: str | None, read: float
    ) -> None:
        site = CATALOG.sites["pc-rtx4090"].model_copy(update={"storage": site_storage})
        catalog = CATALOG.model_copy(update={"sites": CATALOG.sites | {"pc-rtx4090": site}})
        given: dict[str, Any] = {"site": "pc-rtx4090"} | ({"storage": option} if option else {})
        asked = plan(given, batch=100_000, **self.IMAGES, data={"storage": data} if data else {})
        (found,) = estimate_options(asked, catalog).options
        assert found.option.time is not None
        assert hours(found.option.time)[STALL] == pytest.approx(10 * (11.5 / read - 1))

    def test_bytes_of_a_sample_come_from_the_plan_s_data_set(self) -> None:
        """2,400 GB in 36,000,000 samples are 66,667 bytes; at 1,000 a second 0.0667 GB/s."""
        asked = plan(
            P4D | {"storage": {"read_gb_per_s": 0.05, "write_gb_per_s": 1.0}}, batch=1000, data={"dataset_gb": 2400.0}
        )
        assert hours(time_of(asked))[STALL] == pytest.approx(10 * (2400 / 36e6 * 1000 / 0.05 - 1))

    def test_an_unknown_kind_is_an_error_that_names_the_known_ones(self) -> None:
        with pytest.raises(NotFoundError, match="floppy"):
            estimate(self.asked({"storage": "floppy"}))

    def test_a_checkpoint_that_takes_longer_than_the_interval_limits_it(self) -> None:
        storage = {"read_gb_per_s": 1.0, "write_gb_per_s": 0.01}
        asked = plan(
            P4D | {"storage": storage}, data={"checkpoint_gb": 100.0}, goodput={"checkpoint_interval_hours": 1.0}
        )
        assert any("storage limits the checkpoints" in text for text in time_of(asked).limited_by)

    @pytest.mark.parametrize(
        ("strategy", "shown"),
        [pytest.param("fsdp2", "4 GB/s", id="shards: all"), pytest.param("ddp", "1 GB/s", id="one")],
    )
    def test_by_default_each_node_that_writes_writes_1_gb_per_s(self, strategy: str, shown: str) -> None:
        asked = plan(
            P4D | {"nodes": 4, "strategy": strategy}, data={"checkpoint_gb": 100.0},
            goodput={"checkpoint_interval_hours": 1.0},
        )  # fmt: skip
        [line] = [line for line in time_of(asked).lines if line.what == CHECKPOINTS]
        assert f"provider-storage writes {shown};" in line.hours.source


def test_what_cannot_be_counted_is_named() -> None:
    """The DGX Station's document names neither the network nor its samples."""
    asked = plan({"site": "dgx-station-v100"}, workload={"measured": "seed-000-dgx-station-v100"})
    assert {missing.what for missing in time_of(asked).uncounted} == {"input stalls", "checkpoints"}


def test_a_stated_goodput_stands_in_for_all_lines() -> None:
    time = time_of(plan(P4D, assumptions=NO_SETUP | {"goodput_fraction": 0.8}))
    assert hours(time) == {STEPS: pytest.approx(10), STATED: pytest.approx(2.5)}
    assert time.wall_hours.value == pytest.approx(12.5)


def test_two_ways_to_say_what_is_lost_contradict_each_other() -> None:
    with pytest.raises(ValidationError, match="keep one"):
        plan(P4D, assumptions={"goodput_fraction": 0.8}, goodput={"restart_hours": 1.0})


def test_a_plan_with_a_stated_goodput_can_be_written_and_read_again() -> None:
    """Change a limit as the app does when its form changes."""
    stated = plan(P4D, assumptions={"goodput_fraction": 0.8})
    assert Plan.model_validate(stated.model_dump()) == stated


class TestConvergence:
    @pytest.mark.parametrize(
        ("spread", "runs", "half"),
        [
            pytest.param(0.21, 10, 0.1122, id="BERT: 1.645 x 0.21 / 3.078"),
            pytest.param(0.002, 5, 0.00141, id="ResNet: 1.645 x 0.002 / 2.326"),
        ],
    )
    def test_half_of_the_range_by_hand(self, spread: float, runs: int, half: float) -> None:
        assert half_range_90(spread_fraction=spread, runs=runs) == pytest.approx(half, abs=5e-5)

    def test_it_stands_beside_the_speed_and_moves_nothing(self) -> None:
        work = {"samples": 360_000.0}
        fixed, target = plan(P4D, work=work), plan(P4D, work=work | {"target": "mlperf-bert"})
        with_target = time_of(target).convergence
        assert time_of(fixed).convergence is None
        assert with_target is not None
        assert with_target.training_hours.low == pytest.approx(10 * (1 - 0.1122), abs=1e-3)
        first, other = estimate(fixed), estimate(target)
        assert (first.training_hours, first.throughput, first.usd_total) == (
            other.training_hours, other.throughput, other.usd_total
        )  # fmt: skip

    def test_it_is_of_the_steps_alone_where_the_plan_states_its_goodput(self) -> None:
        """10 h at a goodput of 80 % are 12.5 h, of which 10 h train."""
        work = {"samples": 360_000.0, "target": "mlperf-bert"}
        time = time_of(plan(P4D, work=work, assumptions=NO_SETUP | {"goodput_fraction": 0.8}))
        assert time.wall_hours.value == pytest.approx(12.5)
        assert time.convergence is not None
        assert time.convergence.training_hours.value == pytest.approx(10)

    def test_an_unknown_target_names_the_known_ones(self) -> None:
        with pytest.raises(NotFoundError, match="mlperf-bret"):
            estimate(plan(P4D, work={"samples": 1e6, "target": "mlperf-bret"}))


class TestWorkOfTraining:
    """36,000,000 samples of 512 tokens, or images; a step takes 1,000 of them, or 36,000 steps."""

    TRAINING = {"training": {"global_batch": 1000}}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("workload", "work"),
        [
            pytest.param("gpt-305m", {"samples": 36e6}, id="samples of text"),
            pytest.param("gpt-305m", {"tokens": 36e6 * 512}, id="tokens"),
            pytest.param("gpt-305m", {"samples_per_epoch": 12e6, "epochs": 3.0}, id="epochs of text"),
            pytest.param("gpt-305m", {"steps": 36_000.0}, id="steps on text"),
            pytest.param("resnet50", {"samples": 36e6}, id="images"),
            pytest.param("resnet50", {"samples_per_epoch": 12e6, "epochs": 3.0}, id="epochs of images"),
            pytest.param("resnet50", {"steps": 36_000.0}, id="steps on images"),
        ],
    )
    def test_every_way_to_say_it_is_the_same_work(self, workload: str, work: dict[str, float]) -> None:
        asked = plan(
            P4D,
            batch=1000,
            workload={"ref": workload, **({"seq_len": 512} if workload == "gpt-305m" else {})},
            work=work,
            **self.TRAINING,
        )
        assert hours(time_of(asked))[STEPS] == pytest.approx(10)
        assert time_of(asked).optimizer_steps == pytest.approx(36_000)

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            pytest.param({"work": {"steps": 100.0}}, "needs training.global_batch", id="steps of an unknown size"),
            pytest.param({"work": {"steps": 100.0, "samples": 5.0}}, "has samples and steps", id="two amounts"),
            pytest.param(
                {"work": {"steps": 100.0, "epochs": 2.0}}, "steps is the whole training", id="epochs of steps"
            ),
        ],
    )
    def test_what_does_not_say_it_is_refused(self, changes: dict[str, Any], told: str) -> None:
        with pytest.raises(ValidationError, match=told):
            plan(P4D, **changes)
