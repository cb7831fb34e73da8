# Needs Python 3.11 or newer (with pip and venv) and make; everything else goes into .venv.
#
#   make demo    install, then co-cluster a small real data set and explain the result
#   make bench   install, then time this library against its rivals
#   make test    formatting, lint, types, import rules and tests, exactly what CI runs
#   make slow    the tests that take longer
#   make chaos   the tests that kill workers and processes in the middle of a fit
#   make clean   remove .venv and every cache
#
# The stamp files make a second run start at once, without asking the network for anything.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
WORKERS ?= 2

# Data sets that may not be passed on are read from here; tests that need them skip without it.
ifndef NEOCC_DATA
ifneq ($(wildcard ../shared/data/.),)
export NEOCC_DATA := $(abspath ../shared/data)
endif
endif

.DEFAULT_GOAL := help
.PHONY: help demo bench test lint slow chaos clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/.installed
	@$(BIN)/neocc demo

bench: $(VENV)/.installed
	@$(BIN)/python -m benchmarks

test: lint
	@sh tests/browser/setup.sh
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m slow

chaos: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m chaos

clean:
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'neocc needs Python 3.11 or newer. Name one: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'This Python cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.created
	@echo 'Installing neocc and what it needs into $(VENV) (once; a minute or so)'
	@$(PIP) install -qq --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml $(VENV)/.created
	@echo 'Installing neocc and its test tools into $(VENV) (once; a minute or so)'
	@$(PIP) install -qq --editable '.[test]'
	@touch $(VENV)/.installed $@
