#!/bin/bash
# SPDX-License-Identifier: MIT
#
# level.sh LEVEL PROGRAM...: runs tests with the engine that is built for a level of the host's instruction set
# (engine-level of the device). What the host cannot run is skipped, and said; so is its best level, which the same
# programs have when nobody asks for a level.
set -euo pipefail
level=$1
shift
wanted=([1]='' [2]='sse4_2 popcnt' [3]='avx2 bmi2 fma' [4]='avx512f avx512bw avx512cd avx512dq avx512vl')

# missing LEVEL: the first flag that the host has not
missing() {
    local flag
    for flag in ${wanted[$1]}; do
        grep -qw "$flag" /proc/cpuinfo || { echo "$flag"; return; }
    done
}

skip() {
    printf '1..1\nok 1 - engine of level %s # SKIP %s\n' "$level" "$1"
    exit 0
}

flag=$(missing "$level")
[ -z "$flag" ] || skip "this host has no $flag"
best=4
while [ -n "$(missing "$best")" ]; do
    best=$((best - 1))
done
[ "$level" != "$best" ] || skip "the tests of these programs by themselves run it"

for program in "$@"; do
    PPU_ENGINE_LEVEL=$level "$program"
done
