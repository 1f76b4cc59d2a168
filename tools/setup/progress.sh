# SPDX-License-Identifier: MIT
# Prints one line a step, with the time it took, for scripts that take a while and source this.
# A log has these lines, too: a set-up in CI takes many minutes, and whoever reads its log sees how far it came. So a
# line is begun and ended, and never rewritten or coloured, on a terminal or off it. That a command of a few seconds
# shows its progress on a terminal only (tools/progress) is the rule for commands that users start all day.
# shellcheck shell=bash

# step TEXT COMMAND...: COMMAND's output is shown only when it fails; its exit status is passed on.
# COMMAND runs in a subshell that ends at its first error. Call step as a statement of its own, not before || or &&,
# which would switch that off. Progress goes to standard error, so that a script's standard output stays its result.
step() {
    local text=$1 start=$SECONDS log status
    shift
    log=$(mktemp)
    printf '  SETUP    %s ... ' "$text" >&2
    set +e
    (set -e; "$@") >"$log" 2>&1
    status=$?
    set -e
    if [ "$status" = 0 ]; then
        printf '%d s\n' "$((SECONDS - start))" >&2
    else
        printf 'failed after %d s\n' "$((SECONDS - start))" >&2
        tail -n 40 "$log" >&2
    fi
    rm -f "$log"
    return "$status"
}

# fail LINE...: what is wrong, and what to do
fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

# Downloads and compiled objects that every checkout of this user may use again.
PPU_CACHE=${PPU_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ppu}
