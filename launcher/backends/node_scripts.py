"""Bash scripts of a node: start the job, find its processes, look, stop it, list what runs. Pure text.

The folder of a run on a node is `<folder>/results/<run id>/`. Files of one rank alone are in `job-<rank>/` there,
because nodes may share a home: `job.sh`, `phase`, `exit`, `started`.

A process belongs to a run if PLANNER_RUN_ID is in its environment. A daemon may clear that, leave its session and
outlive its parent. So the job is also put into a control group of its own where one may be made (version 2, else the
`pids` hierarchy of version 1), into a scope of systemd where the user's manager outlives a login, and into a session.
Its shell adopts orphaned processes (PR_SET_CHILD_SUBREAPER) if Python is available to request that. The file `traces`
in the job's folder records what was used, and in which boot. Nothing is found by a broad name.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

ADOPTING = r"""
before=()
if [ "$(loginctl show-user "$(id -un)" --property=Linger --value 2>/dev/null || :)" = yes ] \
  && systemd-run --user --scope --quiet true 2>/dev/null; then
  before+=(systemd-run --user --scope --quiet --collect)
fi
adopt='import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])'
if python3 -I -c 'import ctypes; ctypes.CDLL(None).prctl' 2>/dev/null; then
  before+=(python3 -I -c "$adopt")  # 36 is PR_SET_CHILD_SUBREAPER, which stays over the exec
fi
"""
"""Script that sets `before`, the command in front of the job's shell."""

KEEP_TOGETHER = r"""
own_group() {  # print a control group made for this run, after joining it; nothing where none may be made
  local version where path group
  for version in 2 1; do
    if [ $version = 2 ]; then
      where=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
      path=$(sed -n 's/^0:://p' /proc/self/cgroup)
    else
      where=$(awk '$3 == "cgroup" && $4 ~ /(^|,)pids(,|$)/ { print $2; exit }' /proc/self/mounts)
      path=$(sed -n 's/^[0-9]*:pids://p' /proc/self/cgroup)
    fi
    group="$where${path%/}/planner-$PLANNER_RUN_ID"
    if [ -n "$where" ] && mkdir -p "$group" && echo $$ > "$group/cgroup.procs"; then
      echo "$group"
      return
    fi
  done
} 2>/dev/null
stat_of() { local line; read -r line < "/proc/$1/stat" && echo "${line##*) }"; }
{
  cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown
  readlink /proc/self/ns/pid 2>/dev/null || echo unknown
  leader=$(stat_of $$ | cut -d ' ' -f 4)
  echo "$leader $(stat_of "$leader" | cut -d ' ' -f 20)"
  own_group
} > "$here/traces.part"
mv "$here/traces.part" "$here/traces"
end_what_is_left() {  # processes that the job left behind, which this shell has adopted
  local number left
  for number in TERM KILL; do
    cat /proc/[0-9]*/stat > "$here/stats" 2>/dev/null
    left=$(awk -v top=$$ '
      { pid = $1; sub(/^.*\) /, ""); split($0, f, " "); if (f[1] !~ /[ZX]/) parent[pid] = f[2] }
      END {
        mine[top] = 1
        do {
          more = 0
          for (p in parent) if (!(p in mine) && parent[p] in mine) { mine[p] = 1; more = 1; print p }
        } while (more)
      }' "$here/stats")
    kill -s $number $left 2>/dev/null || break
    sleep 1
  done
  rm -f "$here/stats"
}
"""
"""Part of the job's shell, which has `$here`, the job's folder. It joins the group and writes the traces."""

FIND = r"""
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo unknown)
space=$(readlink /proc/self/ns/pid 2>/dev/null || echo unknown)
traces() {  # print `leader PID BEGAN` and `group FOLDER` of this machine's jobs of the run, of this boot
  local file of_boot of_space leader group
  for file in "$run"/job-*/traces; do
    [ -f "$file" ] || continue
    { read -r of_boot; read -r of_space; read -r leader; read -r group; } < "$file"
    [ "$of_boot $of_space" = "$boot $space" ] || continue
    echo "leader $leader"
    [ -z "$group" ] || echo "group $group"
  done
}
marked() { grep -lzxF -- "PLANNER_RUN_ID=$id" /proc/[0-9]*/environ 2>/dev/null | sed 's#^/proc/##; s#/environ$##'; }
in_groups() {
  traces | sed -n 's/^group //p' | while read -r group; do
    find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null
  done
}
pids_of() {  # processes of the run: by environment, control group, session, and all that they started
  if ! command -v awk >/dev/null; then { marked; in_groups; } | sort -un; return; fi
  {
    { marked; in_groups; } | sed 's/^/seed /'
    traces | grep '^leader '
    echo stats
    cat /proc/[0-9]*/stat 2>/dev/null
  } | awk '
    $1 == "seed" && !stats { seed[$2] = 1; next }
    $1 == "leader" && !stats { began[$2] = $3; next }
    $1 == "stats" && !stats { stats = 1; next }
    $1 ~ /^[0-9]+$/ {
      pid = $1; sub(/^.*\) /, ""); split($0, f, " ")
      if (f[1] ~ /[ZX]/) next
      parent[pid] = f[2]; group[pid] = f[3]; session[pid] = f[4]; at[pid] = f[20]
    }
    END {
      for (p in parent) {
        if (p in seed) mine[p] = 1
        for (l in began)  # a leader whose number belongs to a later process now leads nothing of ours
          if ((session[p] == l || group[p] == l) && at[p] + 0 >= began[l] + 0 && (!(l in at) || at[l] == began[l]))
            mine[p] = 1
      }
      do {
        more = 0
        for (p in parent) if (!(p in mine) && parent[p] in mine) { mine[p] = 1; more = 1 }
      } while (more)
      for (p in mine) print p
    }'
}
gpu_pids() {  # processes on an accelerator that this user began after the job, outside of everything above
  local leader pid state began
  leader=$(traces | sed -n 's/^leader //p' | head -n 1)
  [ -n "$leader" ] || return 0
  nvidia-smi --query-compute-apps=pid --format=csv,noheader,nounits 2>/dev/null | while read -r pid; do
    case $pid in *[!0-9]* | '') continue ;; esac
    [ -O "/proc/$pid" ] && ! tr '\0' '\n' < "/proc/$pid/environ" 2>/dev/null | grep -q '^PLANNER_RUN_ID=' || continue
    read -r state began < <(sed 's/^.*) //' "/proc/$pid/stat" 2>/dev/null | cut -d ' ' -f 1,20)
    case $state in [ZX] | '') continue ;; esac
    [ "$began" -lt "${leader#* }" ] || echo "gpu=$pid"
  done
  return 0
}
forget_group() { traces | sed -n 's/^group //p' | while read -r group; do rmdir "$group" 2>/dev/null; done; return 0; }
"""
"""Functions that need `$id` and `$run`, the run and its folder here."""


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
    """Return the script that prints the marks of this machine, one `key=value` a line (node_reports.py)."""
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
