#!/usr/bin/env bash
# Runs the benchmark on this node, as often as asked for, and keeps what it leaves. Started under `timeout`, which asks
# the whole group to stop: the ranks write what they have, and this script waits for them. A signal to this script alone
# (TERM, HUP, INT) is passed on; when it is killed, what it started ends by itself (workloads/ranks/stop.py).
#
# SkyPilot sets SKYPILOT_NODE_IPS, SKYPILOT_NODE_RANK, SKYPILOT_NUM_NODES and SKYPILOT_NUM_GPUS_PER_NODE; another
# launcher sets the same. Node 0 writes the results: $PLANNER_RESULTS_DIR/$PLANNER_RUN_ID/start-<n>/result.json.
#
# PLANNER_RUN_ID       name of the folder of results
# PLANNER_SPEC         spec.json, the document itself
# PLANNER_PROBES       what to try beside, on one node alone: `search --start B [--most M] [--share G]` for a micro-batch before
#                      the first start, `double [--share G]` after it                    [none]
# PLANNER_STARTS       fresh starts                                             [1]
# PLANNER_DEVICES      processes on each node                                   [its GPUs, or 1]
# PLANNER_PORT         of node 0, where nodes meet; every start takes the next  [8008]
# PLANNER_PUSH_TO      s3://bucket/prefix: steps and results go there meanwhile [none]
# PLANNER_NODE_DIR     where workloads/ lies                                    [~/planner]
# PLANNER_RESULTS_DIR  where results go                                         [~/planner-results]
set -u
place=${PLANNER_NODE_DIR:-$HOME/planner}
out=${PLANNER_RESULTS_DIR:-$HOME/planner-results}/$PLANNER_RUN_ID
rank=$SKYPILOT_NODE_RANK nodes=$SKYPILOT_NUM_NODES
python=$(cat "$place/python") || { echo "No $place/python: the set-up has not run." >&2; exit 1; }
mkdir -p "$out" && cd "$place" || exit 1
export PYTHONPATH=$place${PYTHONPATH:+:$PYTHONPATH}

devices=${PLANNER_DEVICES:-$SKYPILOT_NUM_GPUS_PER_NODE}
[ "$devices" -ge 1 ] || devices=1
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$(($(nproc) / devices > 0 ? $(nproc) / devices : 1))}
if [ "$nodes" -eq 1 ]; then
  main=127.0.0.1 own=127.0.0.1 # whatever this host is called
  [ ! -d /sys/class/net/lo ] || export GLOO_SOCKET_IFNAME=${GLOO_SOCKET_IFNAME:-lo}
else
  main=$(printf '%s\n' "$SKYPILOT_NODE_IPS" | head -n1)
  own=$(printf '%s\n' "$SKYPILOT_NODE_IPS" | sed -n "$((rank + 1))p")
fi

stopped=0 child=
trap 'stopped=1; [ -z "$child" ] || kill -s TERM "$child" 2>/dev/null' TERM HUP INT
export WORKLOADS_PARENT=$$
run() { # in the background: bash looks at signals only while it waits
  local result
  "$@" &
  child=$!
  [ "$stopped" -eq 0 ] || kill -s TERM "$child"
  while :; do
    wait "$child" && result=0 || result=$?
    kill -0 "$child" 2>/dev/null || break # it is still there: a signal ended the waiting
  done
  child=
  return "$result"
}
pusher=
if [ -n "${PLANNER_PUSH_TO:-}" ]; then
  "$python" -m workloads.push --folder "$out" --to "$PLANNER_PUSH_TO/$PLANNER_RUN_ID/node-$rank" --every 60 &
  pusher=$!
fi

probe() { # $PLANNER_PROBES, with the spec of this run; its words are few, and each is one
  # shellcheck disable=SC2086
  run "$python" -m workloads.micro_batch_main $PLANNER_PROBES --spec "$out/spec.json" --folder "$out" --devices "$devices"
}
probes=${PLANNER_PROBES:-}
[ "$nodes" -eq 1 ] || probes=
if [ -n "$probes" ]; then printf '%s\n' "$PLANNER_SPEC" >"$out/spec.json"; fi

code=0
case "$probes" in search*) probe && PLANNER_SPEC=$(cat "$out/spec.json") || { code=$?; stopped=1; } ;; esac
for start in $(seq 1 "${PLANNER_STARTS:-1}"); do
  [ "$stopped" -eq 0 ] || break
  folder=$out/start-$start
  mkdir -p "$folder"
  spec=$folder/spec.json
  [ "$rank" -eq 0 ] || spec=$folder/spec.node$rank.json # nodes may share a home
  printf '%s\n' "$PLANNER_SPEC" >"$spec"
  [ "$start" -eq 1 ] || sed -i 's/"calibrate": *true/"calibrate": false/' "$spec" # the machine stays the same
  port=$((${PLANNER_PORT:-8008} + start - 1))
  [ "$nodes" -gt 1 ] || port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  run "$python" -m workloads.node --nodes "$nodes" --node-rank "$rank" --main-address "$main" --main-port "$port" \
    --local-address "$own" --devices "$devices" --spec "$spec" --out "$folder/result.json" || code=$?
  case "$start$probes" in 1double*) [ "$stopped" -ne 0 ] || probe || echo "The doubled batch was not tried." >&2 ;; esac
done

if [ -n "$pusher" ]; then
  kill "$pusher" 2>/dev/null # it pushes once more and ends
  wait "$pusher" || echo "PLANNER-PUSH-FAILED: the results are on the node alone." >&2
fi
[ "$stopped" -eq 0 ] || [ "$code" -ne 0 ] || code=143 # stopped between two starts
exit "$code"
