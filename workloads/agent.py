"""torchrun that ends when its starter is gone: `python -m workloads.agent` takes torchrun's arguments.

Plain torchrun would continue, and its ranks would keep their devices busy.
"""

from __future__ import annotations

import os
import sys

from .ranks.stop import TORCHRUN_GRACE_S, environment_of_child, follow_parent


def main() -> None:
    """Run torchrun in this process. Its ranks follow it in turn."""
    follow_parent()
    os.environ.update(environment_of_child({}))
    # torchrun kills ranks that do not stop, after 30 s unless told (a torch that does not know the variable: 30 s).
    os.environ.setdefault("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", str(TORCHRUN_GRACE_S))

    from torch.distributed.run import main as torchrun  # takes seconds: only once this process follows its starter

    torchrun(sys.argv[1:])


if __name__ == "__main__":
    main()
