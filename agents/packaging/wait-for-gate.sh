#!/bin/sh
# Keeps the ECS agent from starting, and so every job from this node, until the health gate has passed.
# A node whose agent cannot be installed gets no verdict; after ten minutes it joins without one: silence has its own
# alarm, and capacity must not depend on what measures it. A gate that is at work then, and may hold every core, gets
# the six minutes that its tools may take.
set -eu

verdict=${NEURON_FLEET_RUN:-/run/neuron-fleet}/gate
patience=${NEURON_FLEET_PATIENCE:-600}
waited=0
while [ ! -e "$verdict" ]; do
    longest=$patience
    [ ! -d "$verdict.outputs" ] || longest=$((patience + ${NEURON_FLEET_AT_WORK:-360}))
    if [ "$waited" -ge "$longest" ]; then
        echo "neuron-fleet: no verdict of the health gate after $waited s; the node joins without one"
        exit 0
    fi
    sleep 2
    waited=$((waited + 2))
done
if [ "$(cat "$verdict")" != passed ]; then
    echo "neuron-fleet: the health gate holds this node back: see fleet-agent status and $verdict.json" >&2
    exit 1
fi
