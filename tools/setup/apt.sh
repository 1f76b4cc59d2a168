# SPDX-License-Identifier: MIT
# Wraps apt, sourced after progress.sh: it gets a set-up of its own, so that other suites and architectures can be
# fetched from while the machine's own configuration stays untouched. The caller sets apt_dir, where sources and
# indices are kept, and writes $apt_dir/ppu.sources.
# shellcheck shell=bash
: "${apt_dir:?}"

# used by the callers' sources files
# shellcheck disable=SC2034
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

apt_options() {
    printf '%s\n' -q -o Dir::Etc::SourceList="$apt_dir/ppu.sources" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$apt_dir/lists" -o Dir::Cache="$apt_dir/cache" -o Acquire::Languages=none \
        -o Acquire::Retries=3 -o APT::Sandbox::User=root
}

debian_release() {
    (. /etc/os-release && echo "${VERSION_CODENAME:-}")
}

# the mirror this machine takes its own release from; nothing when there is none. It needs no index, which images of
# containers have removed.
mirror_uri() {
    apt-get update --print-uris |
        awk -v index_of="dists/$(debian_release)/main/" '!found && (at = index($1, index_of)) { print substr($1, 2, at - 2); found = 1 }'
}
