# Needs Python 3.11 or newer (with pip and venv) and make; all Python packages go into .venv.
#
#   make demo    install, then co-cluster a small real data set and explain the result
#   make bench   install, then time this library against its rivals
#   make test    formatting, lint, types, import rules, tests and the lines that they miss, exactly
#                what CI runs; as root on Debian it also installs Chromium by apt, unless you say
#                make test BROWSER=no
#   make docs    the site, in docs/_build/html: every example run, every link checked
#   make slow    the tests that take longer, random examples of the others, and frozen results
#                under the BLAS kernels of other processors
#   make lowest  the tests with the lowest versions of all packages, in .venv-lowest (Python 3.11)
#   make dist    wheel and sdist, and what is in them
#   make chaos   the tests that kill workers and processes in the middle of a fit
#   make clean   remove .venv and every cache
#
# The stamp files make a second run start at once, without asking the network for anything.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
WORKERS ?= 2
BROWSER ?= yes

# Data sets that may not be passed on are read from here; tests that need them skip without it.
ifndef NEOCC_DATA
ifneq ($(wildcard ../shared/data/.),)
export NEOCC_DATA := $(abspath ../shared/data)
endif
endif

.DEFAULT_GOAL := help
.PHONY: help demo bench test lint slow lowest chaos docs dist clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/.installed
	@$(BIN)/neocc demo

bench: $(VENV)/.installed
	@$(BIN)/python -m benchmarks

test: lint
ifneq ($(BROWSER),no)
	@sh tests/browser/setup.sh
endif
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m slipcover --json --out .coverage.json --fail-under 0 \
	  -m pytest -n $(WORKERS) $(if $(filter no,$(BROWSER)),--ignore=tests/browser)
	$(BIN)/python -m slipcover --merge .coverage.json --out coverage.xml --xml

lint: $(VENV)/.installed-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m slow
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) -m hypothesis --hypothesis-profile=random
	for core in Haswell SkylakeX Nehalem; do \
	  OPENBLAS_CORETYPE=$$core $(BIN)/python -m pytest -q -n $(WORKERS) tests/golden || exit 1; \
	done

# Examples in docstrings show what newest versions print. Old packages call what newer ones, which
# they bring along, deprecate: no fault of ours.
lowest: .venv-lowest/.installed
	OPENBLAS_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -n $(WORKERS) -W ignore::DeprecationWarning \
	  --ignore=tests/browser tests

chaos: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m chaos

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python -m docs.check_site docs/_build/html

dist: $(VENV)/.installed-test
	@$(PIP) install -qq --editable '.[release]'
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m pytest -q -m slow tests/release

clean:
	rm -rf docs/_build docs/api docs/gallery docs/sg_execution_times.rst
	rm -rf $(VENV) .venv-lowest build dist .coverage.json coverage.xml .hypothesis
	rm -rf .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
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
	@$(PIP) install -qq --editable '.[cli,plot]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml $(VENV)/.created
	@echo 'Installing neocc and its test tools into $(VENV) (once; a minute or so)'
	@$(PIP) install -qq --editable '.[test]'
	@touch $(VENV)/.installed $@

.venv-lowest/.installed: pyproject.toml tests/lowest.py
	@rm -rf .venv-lowest
	@$(PYTHON) -m venv .venv-lowest
	@$(PYTHON) tests/lowest.py > .venv-lowest/lowest.txt
	@.venv-lowest/bin/python -m pip --disable-pip-version-check install -qq \
	  --constraint .venv-lowest/lowest.txt --editable '.[test]'
	@touch $@

$(VENV)/.installed-docs: pyproject.toml docs/data-requirements.txt $(VENV)/.created
	@echo 'Installing neocc and what the site needs into $(VENV) (once; a minute or so)'
	@$(PIP) install -qq --editable '.[docs]'
	@$(PIP) install -qq --no-deps -r docs/data-requirements.txt
	@touch $(VENV)/.installed $@
