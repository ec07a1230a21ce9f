# Everything happens inside this folder: .venv holds Python's and Node's packages, node_modules the CDK CLI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
export PYTHONPATH := $(CURDIR)
export JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION := true
# Container images often forbid Python to keep what it has compiled; each of a run's hundreds of processes would compile
# the project anew.
unexport PYTHONDONTWRITEBYTECODE
ARGS ?=

.PHONY: demo test test-end-to-end test-rooms test-and-soak-end-to-end test-pythons soak check format bench agent agent-lock agent-check layers clean

# What nodes run: Ubuntu 24.04 has Python 3.12; Amazon Linux 2023 offers 3.11, 3.12 and 3.13 beside its own 3.9.
AGENT_PYTHONS := 3.11 3.12 3.13
AGENT_ARCHIVE := dist/neuron-fleet-agent.zip
# $(call agent-wheels,FOLDER,REQUIREMENTS): wheels for every one of them, whatever this machine is.
agent-wheels = rm -rf $(1) && for version in $(AGENT_PYTHONS); do \
	$(BIN)/pip download --quiet --disable-pip-version-check --only-binary :all: --platform manylinux2014_x86_64 \
		--implementation cp --python-version $$version --dest $(1) $(2) || exit 1; done

$(VENV)/local: requirements.txt requirements-synth.txt requirements-local.txt constraints.txt distributions.py \
		fleet/pyproject.toml workload/pyproject.toml agents/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old: Python 3.11 or newer is needed; say which one with PYTHON=python3.x"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements.txt \
		-r requirements-synth.txt -r requirements-local.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable . --editable ./fleet \
		--editable ./workload --editable ./agents
	touch $@

$(VENV)/dev: $(VENV)/local requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt
	touch $@

# Node has certificates of its own: behind a proxy that signs with the machine's, as pip's are, it would trust nobody.
node_modules/.installed: $(VENV)/local package.json
	@NODE_USE_SYSTEM_CA=1 $(BIN)/npm install --silent || \
		{ echo "the CDK command line could not be installed: npm needs its registry, or a copied node_modules"; exit 1; }
	touch $@

demo: $(VENV)/local node_modules/.installed
	$(BIN)/python -m cli local demo $(ARGS)

# The end-to-end tests wait for most of their time, so they run beside all others. A file's tests stay on one worker:
# they share what it deployed or synthesized.
SPREAD := --dist loadfile --no-loadscope-reorder
test: $(VENV)/dev node_modules/.installed
ifeq ($(ARGS),)
	$(MAKE) --no-print-directory --jobs 2 --output-sync=target test-end-to-end test-rooms
else
	$(BIN)/python -m pytest $(ARGS)
endif

test-end-to-end:
	$(BIN)/python -m pytest tests/browser tests/e2e -n 3 $(SPREAD) --durations=10

test-rooms:
	$(BIN)/python -m pytest --ignore tests/browser --ignore tests/e2e -n 2 $(SPREAD) --durations=10

# The long tests, which `make test` leaves out: each marked soak, of which some wait: tests/conftest.py shares them out.
soak: $(VENV)/dev node_modules/.installed
	$(BIN)/python -m pytest --soak -n 3 --dist loadscope --no-loadscope-reorder --durations=5 $(ARGS)

# All that waits for most of its time, one part after the other.
test-and-soak-end-to-end:
	$(MAKE) --no-print-directory test-end-to-end
	$(MAKE) --no-print-directory soak
	$(MAKE) --no-print-directory agent-check

# Quick tests on the oldest and the newest Python, and on the oldest of training containers: docs/pythons.md.
test-pythons: $(VENV)/dev
	$(BIN)/python -m checks.interpreters

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m checks.floors

format: $(VENV)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/dev node_modules/.installed
	$(BIN)/python -m bench

agent: $(VENV)/local
	$(call agent-wheels,build/agent-wheels,--require-hashes --no-deps -r agents/requirements.lock -r agents/packaging/installer.lock)
	$(BIN)/python -m stacks.agent_archive build build/agent-wheels $(AGENT_ARCHIVE)

# What Lambda functions need beside their own code, for Python 3.14 on Graviton whatever this machine is.
layers: $(VENV)/local
	rm -rf build/layer dist/duckdb-layer
	$(BIN)/pip download --quiet --disable-pip-version-check --only-binary :all: --no-deps --require-hashes \
		--platform manylinux_2_28_aarch64 --implementation cp --python-version 3.14 --abi abi3 \
		--dest build/layer -r lambdas/cost_report/requirements.lock
	for wheel in build/layer/*.whl; do $(BIN)/python -m zipfile -e $$wheel dist/duckdb-layer/python || exit 1; done

# Installs it for real into a folder, without a network.
agent-check: $(VENV)/dev
	AGENT_ARCHIVE=$(AGENT_ARCHIVE) $(BIN)/python -m pytest tests/e2e/test_built_agent.py

agent-lock: $(VENV)/local
	$(call agent-wheels,build/agent-lock,-c constraints.txt -r agents/requirements.txt)
	$(BIN)/python -m stacks.agent_archive lock build/agent-lock agents/requirements.lock

clean:
	rm -rf $(VENV) node_modules cdk.out .local build dist
