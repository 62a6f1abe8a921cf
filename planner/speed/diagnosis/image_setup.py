"""A measured run of an image network in the physics' terms; its samples are images, and wait on the device already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.run import RunRecord
from planner.speed.diagnosis.run_setup import Expectation, RunSetup, described
from planner.speed.physics.planned_image_config import planned_image_config

if TYPE_CHECKING:
    from planner.speed.physics.image_config_arrays import Described

ORDER = "order of its channels in memory (the faster one)"


@dataclass(frozen=True)
class ImageSetup(RunSetup):
    """What was trained and how, of an image network."""

    @property
    def channels_last(self) -> bool:
        """Whether the colours of a pixel lie beside each other in memory."""
        return self.training.channels_last is not False

    def config(self) -> dict[str, float] | None:
        """Return the physics' numbers; None where they cannot be computed."""
        found = self._described()
        return None if found is None else dict(found.facts)

    def _described(self) -> Described | None:
        found = planned_image_config(
            self.training,
            self.cluster,
            micro_batch=self.micro_batch,
            micro_batches=self.accumulation,
            channels_last=self.channels_last,
        )
        return found._replace(facts={**found.facts, **self.overrides}) if isinstance(found, tuple) else None


def image_setup_of(run: RunRecord, catalog: Catalog) -> ImageSetup | None:
    """Describe a run; None where it is no image network on an accelerator that the physics knows."""
    accelerator, network = catalog.accelerators.get(run.hardware.accelerator), run.architecture
    if accelerator is None or network is None or network.sample != "image":
        return None
    is_convolution = network.is_convolutional
    setup = described(ImageSetup, run, catalog, accelerator, network, seq_len=0)
    if run.channels_last is None and is_convolution:
        setup = setup.changed(assumed=(*setup.assumed, ORDER))
    return setup.changed(channels_last=is_convolution if run.channels_last is None else run.channels_last)


def image_expectations(setups: list[ImageSetup], calibration: Calibration) -> list[Expectation | None]:
    """Return what the estimator of images expects of each, from published evidence alone."""
    from planner.speed.estimator.image_estimator import estimate_images
    from planner.speed.estimator.text_estimator import fitted
    from planner.speed.physics.image_config_arrays import gather
    from planner.speed.physics.image_step import image_step

    known = [(place, one) for place, setup in enumerate(setups) if (one := setup._described()) is not None]
    found: list[Expectation | None] = [None] * len(setups)
    if not known:
        return found
    rows = gather([one for _, one in known])
    answer = estimate_images(rows, [setups[place].labels for place, _ in known], calibration)
    shares = image_step(rows, fitted(calibration).constants).shares
    for number, (place, _) in enumerate(known):
        devices = setups[place].devices
        rates = (answer.tokens_per_s_per_gpu, answer.low_90, answer.high_90)
        value, low, high = (float(rate[number]) * devices for rate in rates)
        found[place] = Expectation(value, low, high, {name: float(share[number]) for name, share in shares.items()})
    return found
