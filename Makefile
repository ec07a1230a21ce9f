# Everything happens inside this folder: .venv holds Python's and Node's packages, node_modules the CDK CLI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
export PYTHONPATH := $(CURDIR)
export JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION := true
ARGS ?=

.PHONY: demo test check format bench synth clean

$(VENV)/local: requirements.txt requirements-local.txt constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old: Python 3.11 or newer is needed; say which one with PYTHON=python3.x"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-local.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

$(VENV)/dev: $(VENV)/local requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt
	touch $@

node_modules/.installed: $(VENV)/local package.json
	@$(BIN)/npm install --silent || \
		{ echo "the CDK command line could not be installed: npm needs its registry, or a copied node_modules"; exit 1; }
	touch $@

demo: $(VENV)/local node_modules/.installed
	$(BIN)/python -m cli local demo $(ARGS)

test: $(VENV)/dev node_modules/.installed
	$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/dev node_modules/.installed
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) node_modules cdk.out .local
