#!/bin/sh
# Installs and starts the node agent. Run as root from the unpacked agent folder, at every boot: it does again only
# what is not as it should be. Works on Ubuntu 24.04 and Amazon Linux 2023.
#
#   agents/packaging/bootstrap.sh --config-parameter NAME --region R
#
# NAME is the SSM parameter that holds the agent's configuration. A folder `wheels` beside `agents` makes the
# installation independent of the network.
set -eu

usage() {
    echo "usage: $0 --config-parameter NAME --region R" >&2
    exit 2
}

parameter=""
region=""
while [ $# -gt 0 ]; do
    case "$1" in
        --config-parameter) [ $# -ge 2 ] || usage; parameter=$2; shift 2 ;;
        --region) [ $# -ge 2 ] || usage; region=$2; shift 2 ;;
        *) usage ;;
    esac
done
[ -n "$parameter" ] && [ -n "$region" ] || usage

source=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
target=/opt/neuron-fleet
venv=$target/venv

# A Python of 3.11 or newer that can make virtual environments.
find_python() {
    for candidate in python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

install_python() {
    if command -v dnf >/dev/null; then
        # Amazon Linux 2023's own python3 is 3.9, and the system's tools depend on it.
        dnf install -y -q python3.11 python3.11-pip
    else
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3 python3-venv
    fi
}

python=$(find_python) || { install_python; python=$(find_python); }

install -d -m 0755 "$target" /etc/neuron-fleet
# A new copy beside the old one, then a switch: a boot that is cut short leaves the old agent whole.
rm -rf "$target/agent.new"
install -d -m 0755 "$target/agent.new"
cp -R "$source/agents" "$source/fleet" "$target/agent.new/"
rm -rf "$target/agent.old"
[ ! -d "$target/agent" ] || mv "$target/agent" "$target/agent.old"
mv "$target/agent.new" "$target/agent"
rm -rf "$target/agent.old"

requirements=$target/agent/agents/requirements.txt
if ! cmp -s "$requirements" "$venv/installed.txt"; then
    "$python" -m venv --clear "$venv"
    if [ -d "$source/wheels" ]; then
        "$venv/bin/pip" install --quiet --no-index --find-links "$source/wheels" -r "$requirements"
    else
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    fi
    cp "$requirements" "$venv/installed.txt"
fi

# The configuration is written under another name and checked before it takes the place of one that works.
new_config=/etc/neuron-fleet/agent.json.new
"$venv/bin/python" -c '
import sys
import boto3
client = boto3.client("ssm", region_name=sys.argv[2])
sys.stdout.write(client.get_parameter(Name=sys.argv[1])["Parameter"]["Value"])
' "$parameter" "$region" >"$new_config"
(cd "$target/agent" && "$venv/bin/python" -c '
import sys
from pathlib import Path
from agents.config import ConfigError, read
try:
    read(Path(sys.argv[1]))
except ConfigError as error:
    sys.exit(str(error))
' "$new_config")
chmod 0644 "$new_config"
mv "$new_config" /etc/neuron-fleet/agent.json

install -m 0644 "$target/agent/agents/packaging/neuron-fleet-agent.service" /etc/systemd/system/neuron-fleet-agent.service
systemctl daemon-reload
systemctl enable --quiet neuron-fleet-agent.service
systemctl restart neuron-fleet-agent.service
