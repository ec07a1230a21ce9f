#!/bin/sh
# Fetches the agent and its configuration, and hands them to the bootstrap inside. Runs on a node as the unit
# neuron-fleet-install, at every boot and whenever an operator starts it; beside the boot, never in its way.
#
# From the environment: CODE_PARAMETER and CONFIG_PARAMETER, names of SSM parameters, and AWS_DEFAULT_REGION.
# Exit 1: may work the next time, and systemd tries again. Exit 3: will not.
set -eu
umask 022

root=${NEURON_FLEET_ROOT:-}
folder=$root/opt/neuron-fleet

say() { echo "neuron-fleet install: $1"; }
fail() { say "$1" >&2; exit "${2:-1}"; }

parameter() {
    timeout 120 aws ssm get-parameter --name "$1" --query Parameter.Value --output text \
        --cli-connect-timeout 10 --cli-read-timeout 30 || fail "the parameter $1 cannot be read"
}

# The Neuron images have the AWS CLI; the ECS-optimized ones come without it.
if ! command -v aws >/dev/null; then
    if command -v dnf >/dev/null; then
        timeout 300 dnf install --assumeyes --quiet awscli-2 || fail "the AWS CLI cannot be installed with dnf"
    else
        timeout 300 snap install aws-cli --classic || fail "the AWS CLI cannot be installed with snap"
    fi
fi

install -d -m 0755 "$folder"
incoming=$(mktemp -d "$folder/incoming.XXXXXX")
trap 'rm -rf "$incoming"' EXIT
trap 'exit 1' HUP INT TERM

# One parameter holds both, so that no node ever compares one archive with the checksum of another.
location=$(parameter "$CODE_PARAMETER")
url=${location% *}
checksum=${location##* }
printf '%s\n' "$location" | grep -Eqx 's3://[^ ]+ [0-9a-f]{64}' ||
    fail "the parameter $CODE_PARAMETER is not an S3 address and a SHA-256 checksum: $location" 3
timeout 600 aws s3 cp --only-show-errors "$url" "$incoming/agent.zip" || fail "$url cannot be fetched"
echo "$checksum  $incoming/agent.zip" | sha256sum --check --status ||
    fail "$url does not have the checksum $checksum; nothing of it was unpacked"
# Any Python 3 can unpack it, and cloud-init needs one.
python3 -m zipfile --extract "$incoming/agent.zip" "$incoming/agent" || fail "$url cannot be unpacked"
configuration=$(parameter "$CONFIG_PARAMETER")
printf '%s\n' "$configuration" >"$incoming/agent.json"

sh "$incoming/agent/agents/packaging/bootstrap.sh" --config "$incoming/agent.json" --root "$root"
