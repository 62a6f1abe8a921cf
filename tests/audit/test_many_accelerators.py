"""Claims of trainings on very many accelerators."""

from __future__ import annotations

import pytest

from planner.model.evidence.claims import MOST_ACCELERATORS, TrainingClaim

CLAIM = {"id": "a", "kind": "training", "parameters": 7e9, "accelerator": "H100"}


def test_a_training_on_more_accelerators_than_were_ever_built_is_refused():
    most = TrainingClaim.model_validate(CLAIM | {"accelerators": MOST_ACCELERATORS})
    assert most.accelerators == MOST_ACCELERATORS
    with pytest.raises(ValueError, match=r"accelerators\n.*less than or equal to 1000000000"):
        TrainingClaim.model_validate(CLAIM | {"accelerators": MOST_ACCELERATORS + 1})
