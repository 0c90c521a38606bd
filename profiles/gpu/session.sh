#!/usr/bin/env bash
# A short session on a GPU: what matters most comes first, and a session that is cut off leaves what it has made.
#
#   profiles/gpu/session.sh OUT [MINUTES]                        on a GPU; MINUTES is 14 unless given
#   SCALE=smoke DEVICE=cpu FIRST=top_k profiles/gpu/session.sh OUT   a rehearsal without one
#
# 1. the questions FIRST: those about Transformer-XL, whose records of scale small were withdrawn
# 2. benchmarks/gpu.py: OUT/gpu.csv
# 3. the other runs of the scale for which no record ships
#
# OUT/records.tar has the records and costs that were made; BIN is the folder of python and snakemake.
set -u
out=$(realpath -m "$1")
minutes=${2:-14}
scale=${SCALE:-small}
device=${DEVICE:-cuda}
bin=${BIN:-.venv/bin}
read -ra first <<<"${FIRST:-adaptive_vs_xl span_scaling top_k}"
export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH}
export TORCHINDUCTOR_COMPILE_THREADS=1 # each of the runs that share the GPU would start one for every core
mkdir -p "$out"
end=$((SECONDS + 60 * minutes))

# Weights and checkpoints stay behind. A pack that is cut off leaves the one before.
pack() {
  local new=$out/.records.$BASHPID
  find results/runs "results/$scale" -name '*.json' -print0 2>/dev/null |
    tar --null --files-from=- -cf "$new" 2>/dev/null && mv "$new" "$out/records.tar"
}

# Run a command for the time that is left, less what it takes to end and to pack.
within() {
  local log=$1 left=$((end - SECONDS - 30))
  shift
  [ $left -gt 0 ] || { echo "no time left for: $*"; return; }
  echo "[$SECONDS s] $*"
  timeout --signal=INT --kill-after=15 $left "$@" >"$out/$log" 2>&1
  echo "[$SECONDS s] status $?"
  pack
}

# Train the runs behind targets, then measure what these configurations cost.
runs() {
  local name=$1 stage
  shift
  for stage in train costs; do
    within "$name-$stage.log" "$bin/snakemake" --workflow-profile profiles/gpu --resources "gpu=${RUNS:-8}" \
      --config "scale=$scale" "device=$device" 'tasks=[char_lm,translation]' --until "$stage" -- "$@"
  done
}

# Runs share a GPU at the same time only through NVIDIA's multi-process service.
share() { [ "$device" != cuda ] || nvidia-cuda-mps-control -d; }
alone() { [ "$device" != cuda ] || echo quit | timeout 15 nvidia-cuda-mps-control; }

# a session may be killed at any moment
(while sleep 30; do pack; done) >/dev/null 2>&1 &
packer=$!
trap 'kill $packer' EXIT
share
runs first "${first[@]}"
alone
smoke=$([ "$device" = cuda ] || echo --smoke)
# shellcheck disable=SC2086
within benchmark.log "$bin/python" -m benchmarks.gpu --device "$device" --out "$out/gpu.csv" $smoke
share
runs others all
alone
echo "[$SECONDS s] $(tar -tf "$out/records.tar" 2>/dev/null | grep -c record.json) records in $out/records.tar"
