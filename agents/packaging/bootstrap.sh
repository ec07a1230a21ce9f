#!/bin/sh
# Installs and starts the node agent. Run as root from the unpacked archive; does only what is not yet as it should be.
# Works on Ubuntu 24.04 and Amazon Linux 2023, without a network where the archive holds wheels.
#
#   bootstrap.sh --config FILE [--root DIR]
#
# FILE is the agent's configuration; DIR stands for / in a test or an image. A new version lies beside the old one and
# takes its place by one rename; when it does not start, the old one is put back.
# Exit 1: may work the next time. Exit 2: wrong arguments. Exit 3: this version or configuration will not work.
set -eu
umask 022

usage() { echo "usage: $0 --config FILE [--root DIR]" >&2; exit 2; }
say() { echo "neuron-fleet bootstrap: $1"; }
fail() { say "$1" >&2; exit "${2:-1}"; }

config=""
root=""
while [ $# -gt 0 ]; do
    case "$1" in
        --config) [ $# -ge 2 ] || usage; config=$2; shift 2 ;;
        --root) [ $# -ge 2 ] || usage; root=$2; shift 2 ;;
        *) usage ;;
    esac
done
[ -n "$config" ] || usage
[ -r "$config" ] || fail "$config cannot be read"

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
source=$(CDPATH='' cd -- "$here/../.." && pwd)
folder=$root/opt/neuron-fleet
unit=neuron-fleet-agent.service
unit_file=$root/etc/systemd/system/$unit
rules_file=$root/etc/udev/rules.d/90-neuron-fleet.rules
config_file=$root/etc/neuron-fleet/agent.json

digest=$(sed -n 's/.*"content": "\([0-9a-f]\{64\}\)".*/\1/p' "$source/manifest.json" 2>/dev/null) || true
[ -n "$digest" ] || fail "$source is not an unpacked archive of the agent: it has no manifest" 3
version=$(printf %.16s "$digest")
new=$folder/versions/$version

install -d -m 0755 "$folder/versions" "$folder/bin" "$(dirname "$config_file")" "$(dirname "$unit_file")" \
    "$(dirname "$rules_file")" "$root/usr/local/bin"
# Two installations at once, as of a boot and an operator, take turns.
exec 9>"$folder/.lock"
flock --wait 600 9 || fail "another installation has run for ten minutes"

# The versions that the archive holds wheels for. $1: further modules that it must have.
find_python() {
    for candidate in python3.12 python3.11 python3.13; do
        if "$candidate" -c "import venv$1" 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

install_python() {
    if command -v dnf >/dev/null; then
        # Amazon Linux 2023's own python3 is 3.9, and the system's tools depend on it.
        timeout 600 dnf install --assumeyes --quiet python3.11 || fail "Python 3.11 cannot be installed with dnf"
    else
        # Shortly after boot the system updates itself.
        DEBIAN_FRONTEND=noninteractive timeout 600 sh -c 'apt-get update -qq &&
            apt-get -o DPkg::Lock::Timeout=300 install -y -qq python3.12 python3.12-venv' >/dev/null ||
            fail "Python 3.12 cannot be installed with apt-get"
    fi
}

# Whole is what was built to its end and is on the disk: one that was cut short may lack what is imported later.
works() { [ -e "$1/.whole" ] && imports "$1"; }
imports() { PYTHONPATH=$1 PYTHONSAFEPATH=1 "$1/venv/bin/python" -c 'import agents.main' >/dev/null 2>&1; }

install_packages() {
    if [ -d "$source/wheels" ]; then
        installer=$(echo "$source"/wheels/pip-*.whl)
        "$new/venv/bin/python" "$installer/pip" install --quiet --no-index --find-links "$source/wheels" \
            --require-hashes --no-compile -r "$source/wheels/requirements.lock"
    else
        timeout 900 "$new/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
            --require-hashes --no-compile -r "$source/agents/requirements.lock"
    fi
}

build_version() {
    # pip comes out of its wheel or, without wheels, out of Python, where Ubuntu has taken it out.
    if [ -d "$source/wheels" ]; then needs=""; pip=--without-pip; else needs=", ensurepip"; pip=""; fi
    python=$(find_python "$needs") || { install_python; python=$(find_python "$needs"); } ||
        fail "there is no Python 3.11, 3.12 or 3.13, also not after installing one"
    rm -rf "$new"
    install -d -m 0755 "$new"
    cp -R "$source/agents" "$source/fleet" "$source/workload" "$source/manifest.json" "$new/"
    # shellcheck disable=SC2086 # an option or nothing
    "$python" -m venv $pip "$new/venv" || fail "$python cannot make a virtual environment"
    install_packages || fail "the agent's packages cannot be installed"
    # The unit may not write here, so what is compiled now saves time at every start.
    "$new/venv/bin/python" -m compileall -q "$new/agents" "$new/fleet" "$new/workload" "$new/venv/lib" || true
    imports "$new" || { rm -rf "$new"; fail "the agent cannot be imported with $python" 3; }
    sync
    : >"$new/.whole"
}

check_config() {
    PYTHONPATH=$new PYTHONSAFEPATH=1 "$new/venv/bin/python" -c '
import sys
from pathlib import Path
from agents.config import ConfigError, read
try:
    read(Path(sys.argv[1]))
except ConfigError as error:
    sys.exit(str(error))
' "$1" || fail "the configuration is not used; what runs goes on as it is" 3
}

# Puts $1 where $2 is, by rename; true when that changed something.
replaced() {
    if cmp -s "$1" "$2"; then return 1; fi
    install -m 0644 "$1" "$2.new" && mv "$2.new" "$2"
}

switch_to() {
    ln -s "versions/$1" "$folder/current.new.$$" && mv -T "$folder/current.new.$$" "$folder/current"
}

write_command() {
    cat >"$folder/bin/fleet-agent.new" <<EOF
#!/bin/sh
PYTHONPATH=$folder/current PYTHONSAFEPATH=1 exec $folder/current/venv/bin/python -m agents.main "\$@"
EOF
    chmod 0755 "$folder/bin/fleet-agent.new"
    mv "$folder/bin/fleet-agent.new" "$folder/bin/fleet-agent"
    ln -sfn "$folder/bin/fleet-agent" "$root/usr/local/bin/fleet-agent"
}

# What is to run, or is installed: version, configuration and unit as one line.
state() { echo "$1 $(cat "$2" "$3" 2>/dev/null | sha256sum | cut -c1-64)"; }

# Keeps what runs now, to come back to; what an installation that was cut short has left is not that.
remember() {
    if [ "$(state "$previous" "$config_file" "$unit_file")" != "$(cat "$folder/applied" 2>/dev/null)" ]; then return; fi
    rm -rf "$folder/before"
    install -d -m 0700 "$folder/before"
    cp -p "$config_file" "$unit_file" "$folder/applied" "$folder/before/"
}

roll_back() {
    before=$(cut -d ' ' -f 1 "$folder/before/applied" 2>/dev/null) || true
    if [ -z "$before" ]; then
        fail "version $version does not start, and there is none before it: see journalctl -u $unit" 3
    fi
    cp -p "$folder/before/agent.json" "$config_file"
    cp -p "$folder/before/$unit" "$unit_file"
    switch_to "$before"
    systemctl daemon-reload
    systemctl restart "$unit" || fail "version $version does not start, nor does $before, which ran before" 3
    fail "version $version does not start with this configuration; $before runs again" 3
}

# What the node must show before it is given a job; its verdict is no matter of the installation's.
judge() {
    sh "$here/gate.sh" --agent "$folder/bin/fleet-agent" --config "$config_file" --run "$root/run/neuron-fleet" ||
        say "the health gate did not pass: see fleet-agent status" >&2
}

previous=$(readlink "$folder/current" 2>/dev/null | sed 's#^versions/##') || true
if ! works "$new"; then build_version; fi
check_config "$config"
# A node that is to wait stopped is all but ready now. It goes on when its group wants it to serve.
[ -z "${WARM_POOL_PARAMETER:-}" ] || sh "$here/warm-pool.sh" "$WARM_POOL_PARAMETER" "$root/run/neuron-fleet"

wanted=$(state "$version" "$config" "$here/$unit")
if [ "$(state "$previous" "$config_file" "$unit_file")" = "$wanted" ] &&
    [ "$(cat "$folder/applied" 2>/dev/null)" = "$wanted" ] && systemctl is-active --quiet "$unit"; then
    judge
    say "version $version runs; nothing to change"
    exit 0
fi
remember
replaced "$config" "$config_file" || true
if replaced "$here/90-neuron-fleet.rules" "$rules_file"; then udevadm control --reload || true; fi
if replaced "$here/$unit" "$unit_file"; then systemctl daemon-reload; fi
switch_to "$version"
write_command
systemctl enable --quiet "$unit"
# Waits until the agent says that it is ready, at most the unit's TimeoutStartSec.
systemctl restart "$unit" || roll_back
echo "$wanted" >"$folder/applied"
# What the next installation would come back to stays, also where somebody's own changes kept it from being replaced.
before=$(cut -d ' ' -f 1 "$folder/before/applied" 2>/dev/null) || true
for folder_of_old in "$folder"/versions/*; do
    case ${folder_of_old##*/} in "$version" | "$previous" | "$before") ;; *) rm -rf "$folder_of_old" ;; esac
done
judge
say "version $version runs"
