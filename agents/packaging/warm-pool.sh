#!/bin/sh
# On a node that its Auto Scaling group may keep stopped: has it ready, lets the group stop it, and comes back when the
# group wants it to serve. The bootstrap runs this before it starts the agent, so that a node that waits is none of the
# fleet's. User data runs at the first boot only, and this at every one: as a part of neuron-fleet-install.
#
#   warm-pool.sh PARAMETER RUN
#
# PARAMETER is the name of an SSM parameter: the group, its lifecycle hook and the endpoint's image. RUN is the agent's
# run directory, which is empty after a boot. Whatever cannot be had, the node serves without it: exit 0.
# EC2 Auto Scaling user guide, "Retrieve the target lifecycle state" and "Use lifecycle hooks with a warm pool".
set -eu
umask 022

[ $# -eq 2 ] || { echo "usage: $0 PARAMETER RUN" >&2; exit 2; }
parameter=$1
answered=$2/lifecycle
metadata=http://169.254.169.254/latest

say() { echo "neuron-fleet warm pool: $1"; }

ask() {
    token=$(curl -sf -m 5 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/api/token") &&
        curl -sf -m 5 -H "X-aws-ec2-metadata-token: $token" "$metadata/meta-data/$1"
}

# What the group makes of this node next; empty while the metadata service does not say.
target() { ask autoscaling/target-lifecycle-state || true; }

log_in() {
    case ${image%%/*} in *.dkr.ecr.*) ;; *) return 0 ;; esac
    region=${image#*.dkr.ecr.}
    aws ecr get-login-password --region "${region%%.*}" |
        docker login --username AWS --password-stdin "${image%%/*}" >/dev/null 2>&1
}

# ECS finds the layers there, and fetches what a newer version has beyond them.
pull() {
    systemctl start docker.service && log_in && timeout 1200 docker pull --quiet "$image" >/dev/null
}

# With a folder for the registry's password that goes again: the disk is kept.
prepare() {
    DOCKER_CONFIG=$(mktemp -d)
    export DOCKER_CONFIG
    trap 'rm -rf "$DOCKER_CONFIG"' EXIT
    trap 'exit 1' HUP INT TERM
    pull || say "$image cannot be fetched: ECS fetches it" >&2
    rm -rf "$DOCKER_CONFIG"
    sync
}

# Lets the node go on to $1. The group may be a moment behind the boot; where it waits for nothing, as after a reboot, it
# says the same.
answer() {
    [ -n "$image" ] && [ -n "$instance" ] || return 0
    [ "$(cat "$answered" 2>/dev/null)" != "$1" ] || return 0
    for _ in 1 2 3 4 5 6; do
        if timeout 60 aws autoscaling complete-lifecycle-action --auto-scaling-group-name "$group" \
            --lifecycle-hook-name "$hook" --instance-id "$instance" --lifecycle-action-result CONTINUE 2>/dev/null; then
            install -d -m 0755 "$(dirname "$answered")"
            echo "$1" >"$answered"
            return 0
        fi
        sleep 5
    done
    say "the group waits for nothing, or cannot be told to go on; it does so by itself within half an hour" >&2
}

# The metadata service knows of it some time after the boot.
waited=0
state=$(target)
while [ -z "$state" ] && [ "$waited" -lt 120 ]; do
    sleep 5
    waited=$((waited + 5))
    state=$(target)
done
if [ -z "$state" ]; then
    say "the metadata service does not know what the node is meant for: it serves" >&2
    exit 0
fi

place=$(timeout 120 aws ssm get-parameter --name "$parameter" --query Parameter.Value --output text \
    --cli-connect-timeout 10 --cli-read-timeout 30) || place=""
read -r group hook image rest <<EOF
$place
EOF
if [ -z "$image" ] || [ -n "$rest" ]; then
    say "the parameter $parameter cannot be read: the group goes on by itself within half an hour" >&2
    image=""
fi
instance=$(ask instance-id) || instance=""

case $state in
Warmed:*)
    [ -z "$image" ] || prepare
    say "ready to be stopped"
    answer "$state"
    ;;
*)
    answer "$state"
    exit 0
    ;;
esac

# EC2 stops the node here. One that is wanted before that serves without another boot.
while :; do
    state=$(target)
    case $state in "" | Warmed:*) sleep 5 ;; *) break ;; esac
done
say "wanted: $state"
answer "$state"
