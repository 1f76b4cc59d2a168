#!/bin/bash
# SPDX-License-Identifier: MIT
#
# level.sh LEVEL PROGRAM...: runs tests with the engine that is built for a level of the host's instruction set
# (engine-level of the device); what the host cannot run is skipped, and said.
set -euo pipefail
level=$1
shift
wanted=([1]='' [2]='sse4_2 popcnt' [3]='avx2 bmi2 fma' [4]='avx512f avx512bw avx512cd avx512dq avx512vl')
for flag in ${wanted[level]}; do
    if ! grep -qw "$flag" /proc/cpuinfo; then
        printf '1..1\nok 1 - engine of level %s # SKIP this host has no %s\n' "$level" "$flag"
        exit 0
    fi
done
for program in "$@"; do
    PPU_ENGINE_LEVEL=$level "$program"
done
