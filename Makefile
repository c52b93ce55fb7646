# Every target sets up what it needs in .venv, from the lock files in requirements/.
# The machine needs Python 3.11 or later with pip and venv, make and git.

PYTHON ?= $(firstword $(foreach name,python3.11 python3,$(shell $(name) -c \
    'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
# The locks are complete, so nothing is resolved.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
WORKERS ?= 2

# Without this, pyright asks for its newest version at every run.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: help demo test test-tools test-nojit check format golden bench docs lock clean

help:
	@echo "make demo        the main job of rankopt on data that it makes itself"
	@echo "make test        all tests and the examples in docstrings, README and docs"
	@echo "make test-tools  tests against the other libraries themselves, which it installs"
	@echo "make check       lint, format, types, layers"
	@echo "make format      bring the sources into the format that check asks for"
	@echo "make test-nojit  the tests of the kernels, run as plain Python"
	@echo "make golden      run the other tools again that tests/golden is made with"
	@echo "make bench       speed against other tools, one process each; results as JSON"
	@echo "make docs        the documentation, in build/docs"
	@echo "make lock        new pins in requirements/, from the ranges in pyproject.toml"
	@echo "make clean       remove the environment, builds and caches"

demo: $(VENV)/base.stamp
	$(BIN)/rankopt demo

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

test-tools: $(VENV)/dev.stamp $(VENV)/oracles.stamp
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests/ensembles tests/data/test_trec.py tests/baselines/test_public.py

test-nojit: $(VENV)/dev.stamp
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(WORKERS) tests/contracts tests/kernels

check: $(VENV)/dev.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/layers.py
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

golden: $(VENV)/oracles.stamp
	$(BIN)/python benchmarks/golden.py
	$(BIN)/python benchmarks/golden_ensembles.py

bench: $(VENV)/oracles.stamp
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs build/docs
	@echo "build/docs/index.html"

$(VENV)/base.stamp: requirements/base.txt pyproject.toml
	$(if $(PYTHON),,$(error no Python 3.11 or later found; say which one with `make PYTHON=...`))
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --requirement requirements/base.txt
	$(INSTALL) --no-build-isolation --editable .
	@touch $@

$(VENV)/%.stamp: requirements/%.txt $(VENV)/base.stamp
	$(INSTALL) --requirement $<
	@touch $@

# The lock files name versions and nothing of the machine that made them. Those of the groups hold
# what comes on top of the package's own dependencies, whose pins they share.
LOCK := build/lock
PIP_COMPILE = CUSTOM_COMPILE_COMMAND='make lock' ../$(LOCK)/bin/pip-compile --quiet --upgrade --strip-extras --no-annotate \
    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options
GROUP = ../$(LOCK)/bin/python -m dependency_groups --pyproject-file ../pyproject.toml

lock:
	$(PYTHON) -m venv $(LOCK)
	$(LOCK)/bin/python -m pip install --quiet --upgrade pip pip-tools dependency-groups
	cd requirements && $(PIP_COMPILE) --build-deps-for editable --output-file base.txt ../pyproject.toml
	cd requirements && $(GROUP) dev | $(PIP_COMPILE) --constraint base.txt --output-file dev.txt -
	cd requirements && $(GROUP) docs | $(PIP_COMPILE) --constraint base.txt --constraint dev.txt --output-file docs.txt -
	cd requirements && $(GROUP) oracles | $(PIP_COMPILE) --constraint base.txt --constraint dev.txt --output-file oracles.txt -

clean:
	rm -rf $(VENV) build .hypothesis .pytest_cache .ruff_cache
	find src tests -name __pycache__ -prune -exec rm -rf {} +
