"""Bash scripts of a node: start the job, look, stop it, list what runs. Pure text.

The folder of a run on a node is `<folder>/results/<run id>/`. Files of one rank alone are in `job-<rank>/` there,
because nodes may share a home: `job.sh`, `phase`, `exit`, `started`.
launcher/backends/run_processes.py finds the processes of a run.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from planner.launcher.backends.run_processes import ADOPTING, FIND, KEEP_TOGETHER

BUSY = 75
STOP_GRACE_S = 45
"""Seconds that a stopped run may take, more than the 30 s in which torchrun lets its ranks write their results."""


def job(*, setup: str, run: str, variables: Mapping[str, str], folder: str, rank: int) -> str:
    """Return job.sh: set-up, then the job. Both write their outcome down for later readers.

    Only one benchmark runs on a node at a time, because a second one would make the machine look slow.
    """
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(variables.items()))
    return f"""\
{exports}export PLANNER_NODE_DIR={home(folder)} PLANNER_RESULTS_DIR={home(folder)}/results
here=$PLANNER_RESULTS_DIR/$PLANNER_RUN_ID/job-{rank}
say() {{ printf '%s\\n' "$2" > "$here/$1.part" && mv "$here/$1.part" "$here/$1"; }}
{KEEP_TOGETHER}exec 8>"$PLANNER_NODE_DIR/busy-$(uname -n).lock"
if ! flock -n 8; then
  echo "Another benchmark runs on this machine; two would measure each other."
  say phase refused; say exit {BUSY}; exit {BUSY}
fi
export SKYPILOT_NUM_GPUS_PER_NODE=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
say phase setting_up
if ! bash -c {shlex.quote(setup)}; then
  say phase setup_failed; say exit 1; exit 1
fi
say phase running
code=0
bash -c {shlex.quote(run)} || code=$?
end_what_is_left
say phase over; say exit "$code"
"""


def start(*, job_text: str, folder: str, run_id: str, rank: int, nonce: str = "") -> str:
    """Return the script that starts the job once, in its own session, unaffected by a lost connection.

    `nonce` is left in the job's folder. Another machine under the same name does not have it.
    """
    return f"""\
set -eu
{ADOPTING}folder={home(folder)}; run="$folder/results/"{shlex.quote(run_id)}; here=$run/job-{rank}
mkdir -p "$here" "$run/node-{rank}"
mkdir "$here/started" 2>/dev/null || {{ echo "started already"; exit 0; }}
printf '%s\\n' {shlex.quote(nonce)} > "$here/nonce"
cat > "$here/job.sh" <<'PLANNER_END_OF_JOB'
{job_text}PLANNER_END_OF_JOB
PLANNER_RUN_ID={shlex.quote(run_id)} setsid nohup ${{before[@]+"${{before[@]}}"}} bash "$here/job.sh" \\
  > "$run/node-{rank}/job.log" 2>&1 < /dev/null &
# Until it has said its first word it cannot be told from a job that is gone, nor be found and ended.
for _ in $(seq 100); do [ -f "$here/phase" ] && break; sleep 0.1; done
echo "started $!"
"""


def look(*, folder: str, run_id: str, rank: int) -> str:
    """Return the script that prints `key=value` lines: job, phase, exit, alive, and rank 0's last steps."""
    return f"""\
{find(folder=folder, run_id=run_id)}
here=$run/job-{rank}
[ -d "$here/started" ] && echo job=started
# Processes first: where none is left, what the job wrote last is there to be read.
echo "alive=$(pids_of | wc -l)"
echo "phase=$(cat "$here/phase" 2>/dev/null)"
echo "exit=$(cat "$here/exit" 2>/dev/null)"
steps=$(ls -1t "$run"/start-*/result.json.steps.jsonl 2>/dev/null | head -n1)
[ -z "$steps" ] || tail -n2 "$steps" | sed 's/^/step=/'
"""


def stop(*, folder: str, run_id: str) -> str:
    """Return the script that ends the run's processes: TERM first, so that ranks write their results, then KILL."""
    return f"""\
{find(folder=folder, run_id=run_id)}
for number in TERM KILL; do
  pids=$(pids_of)
  [ -n "$pids" ] || {{ forget_group; exit 0; }}
  kill -s $number $pids 2>/dev/null
  for _ in $(seq {STOP_GRACE_S * 5}); do
    [ -n "$(pids_of)" ] || {{ forget_group; exit 0; }}
    sleep 0.2
  done
done
exit 1
"""


def identity() -> str:
    """Return the script that prints the machine's installation id (nothing if it has none) and the user's id.

    A user does not see other users' processes, so what another user started looks gone.
    """
    return "cat /etc/machine-id 2>/dev/null && id -u || :\n"


def marks(*, folder: str, run_id: str, rank: int) -> str:
    """Return the script that prints the marks of this machine, one `key=value` a line (witness.py)."""
    nonce = f"{home(folder)}/results/{shlex.quote(run_id)}/job-{rank}/nonce"
    return f"""\
echo "installation=$(cat /etc/machine-id 2>/dev/null)"
echo "user=$(id -u)"
echo "boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
echo "processes=$(readlink /proc/self/ns/pid 2>/dev/null)"
echo "nonce=$(cat {nonce} 2>/dev/null)"
"""


def times(*, folder: str, run_id: str) -> str:
    """Return the script that prints the current time and rank 0's start time, in seconds since 1970."""
    started = f"{home(folder)}/results/{shlex.quote(run_id)}/job-0/started"
    return f"date +%s && stat -c %Y {started}\n"


def count(*, folder: str, run_id: str) -> str:
    """Return the script that prints the process ids of the run, and `gpu=ID` for processes on a GPU that may belong to
    it.
    """
    return f"{find(folder=folder, run_id=run_id)}\npids_of\ngpu_pids\n"


def find(*, folder: str, run_id: str) -> str:
    """Return the shell functions that find the processes of a run."""
    return f"id={shlex.quote(run_id)} run={home(folder)}/results/{shlex.quote(run_id)}\n{FIND}"


def running_ids() -> str:
    """Return the script that prints the id of every run that has processes here."""
    return "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | sed -n 's/^PLANNER_RUN_ID=//p' | sort -u\n"


def home(folder: str) -> str:
    """Return the folder as bash reads it, with the home of the user who logs in."""
    return f"$HOME/{shlex.quote(folder[2:])}" if folder.startswith("~/") else shlex.quote(folder)
