#!/usr/bin/env bash
# Prepares a node for the benchmark: an environment with a torch that runs on its card. Safe to run again, and by two
# nodes that share a home at once. Writes the interpreter to take into $PLANNER_NODE_DIR/python.
#
# One pin serves sm_70 (V100) to sm_120 (Blackwell): torch 2.10 was the last whose default wheel (CUDA 12.8) has Volta;
# older cards (sm_60) take 2.7.1, whose default wheel is CUDA 12.6. Source: PyTorch's RELEASE.md, support matrix.
#
# It needs python3 (3.10 or newer) with venv, or uv on PATH or in ~/.local/bin, as on SkyPilot's own machines.
#
# PLANNER_NODE_DIR   where workloads/ lies and the environment goes          [~/planner]
# PLANNER_PYTHON     an interpreter that has torch: nothing is installed      [none]
# PLANNER_IMAGE      set: the image's python3 is taken where it has torch     [none]
# PLANNER_TORCH      another version of torch                                 [by the card]
# PLANNER_DEEPSPEED  set: DeepSpeed too                                       [none]
# PLANNER_TORCHAO    set: torchao too, for float8                             [none]
# PLANNER_PUSH_TO    set: boto3 too                                           [none]
set -eu
place=${PLANNER_NODE_DIR:-$HOME/planner}
mkdir -p "$place"
exec 9>"$place/setup.lock"
flock 9

use() {
  printf '%s\n' "$1" >"$place/python.part.$$"
  mv "$place/python.part.$$" "$place/python"
  echo "Benchmark with $("$1" -c 'import sys, torch; print(sys.executable, "torch", torch.__version__)')"
  exit 0
}

if [ -n "${PLANNER_PYTHON:-}" ]; then
  "$PLANNER_PYTHON" -c 'import torch' || { echo "PLANNER_PYTHON=$PLANNER_PYTHON cannot import torch." >&2; exit 1; }
  use "$PLANNER_PYTHON"
fi
if [ -n "${PLANNER_IMAGE:-}" ] && python3 -c 'import torch' 2>/dev/null; then
  use "$(command -v python3)"
fi

capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -n | head -n1 || true)
torch=${PLANNER_TORCH:-2.10.0}
case "$capability" in [0-6].*) torch=${PLANNER_TORCH:-2.7.1} ;; esac
pins="torch==$torch numpy==2.2.6 nvidia-ml-py==13.580.82"
[ -z "${PLANNER_DEEPSPEED:-}" ] || pins="$pins deepspeed==0.19.8"
[ -z "${PLANNER_TORCHAO:-}" ] || pins="$pins torchao==0.16.0"
[ -z "${PLANNER_PUSH_TO:-}" ] || pins="$pins boto3==1.40.0"

new_environment() {
  if python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' && python3 -m venv "$1"; then return; fi
  uv=$(command -v uv || echo "$HOME/.local/bin/uv")
  [ -x "$uv" ] || { echo "No python3 (3.10 or newer) with venv here, and no uv: apt-get install python3-venv" >&2; exit 1; }
  "$uv" venv --quiet --seed --clear --python '>=3.10' "$1"
}

environment=$place/venv
if [ "$(cat "$environment/pins" 2>/dev/null)" != "$pins" ]; then
  rm -f "$environment/pins"
  new_environment "$environment"
  # shellcheck disable=SC2086  # one word each
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-input $pins
  printf '%s' "$pins" >"$environment/pins"
fi
use "$environment/bin/python"
