#!/bin/sh
# Runs the tools that the health gate looks at, each with a time limit, and then the gate; once in a boot, because a
# collective needs every core and a job may hold them later.
#
#   gate.sh --agent COMMAND --config FILE --run DIR
#
# COMMAND is fleet-agent, FILE its configuration, DIR its run directory, where the verdict is left.
# Exit 0: passed, or judged before in this boot. Exit 1: failed. Exit 2: no verdict.
set -eu
umask 022

usage() { echo "usage: $0 --agent COMMAND --config FILE --run DIR" >&2; exit 2; }
agent="" config="" run=""
while [ $# -ge 2 ]; do
    case "$1" in
        --agent) agent=$2 ;;
        --config) config=$2 ;;
        --run) run=$2 ;;
        *) usage ;;
    esac
    shift 2
done
[ -n "$agent" ] && [ -n "$config" ] && [ -n "$run" ] && [ $# -eq 0 ] || usage
[ ! -e "$run/gate" ] || exit 0
ranks=$("$agent" gate --config "$config" --ranks) || exit 2

outputs=$run/gate.outputs
rm -rf "$outputs"
install -d -m 0755 "$outputs"
PATH=$PATH:/opt/aws/neuron/bin:/opt/amazon/efa/bin

# The status comes last and by rename: a tool that was cut off with its node has none.
try() {
    name=$1 seconds=$2
    shift 2
    command -v "$name" >/dev/null || return 0
    status=0
    timeout --kill-after=5 "$seconds" "$name" "$@" >"$outputs/$name.out" 2>&1 </dev/null || status=$?
    echo "$status" >"$outputs/$name.status.new"
    mv "$outputs/$name.status.new" "$outputs/$name.status"
}

# A node whose verdict comes late has joined, and one whose fleet does not require it joins at once: a collective over
# every core and a job would then make each other fail.
jobs_wait() {
    systemctl cat ecs.service 2>/dev/null | grep -q wait-for-gate.sh && ! systemctl is-active --quiet ecs.service
}

# The driver may still be looking for its devices.
command -v udevadm >/dev/null && timeout 60 udevadm settle || true
try neuron-ls 30 --json-output
try fi_info 30 -p efa
if command -v nccom-test >/dev/null && jobs_wait; then try nccom-test 180 -r "$ranks" allr; fi
exec "$agent" gate --config "$config" --outputs "$outputs"
