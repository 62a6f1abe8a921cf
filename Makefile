# The three commands a person needs: make demo, make test, make app. The environment is .venv in this folder.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo test test-slow test-e2e fuzz app check format schemas golden cli-docs pages plain-questions document-tables lock licences calibrate practice benchmark accuracy-peers clean help

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { command -v $$p; break; }; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-input --constraint constraints.txt
E2E := build/e2e/skypilot-runtime
PEERS := build/accuracy-peers
LOCKER := build/lock
DEMO := planner-data/demo.yaml

help:
	@echo "make demo   measure this machine, compare it with owned and cloud machines, write report.html (no account, no GPU)"
	@echo "make test   format, lint, types, import layers, the fast tests; CI runs make test-slow after it"
	@echo "make app    open the app on this machine"

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11 or newer with venv is needed (Debian: apt-get install python3 python3-venv), or name one: make PYTHON=..." >&2; exit 2; fi
	@echo "== Making the environment .venv with $(PYTHON)"
	$(PYTHON) -m venv .venv

.venv/installed-demo: pyproject.toml constraints.txt | $(BIN)/python
	@echo "== Installing the planner with the app and the benchmark (one to three minutes)"
	$(PIP) --editable '.[app,bench]'
	@touch $@

# LOCKED=1: the very files of the lock, each checked by its hash; else what fits together.
.venv/installed-all: pyproject.toml constraints.txt | $(BIN)/python
	@echo "== Installing the planner with all extras (two to four minutes)"
ifdef LOCKED
	$(BIN)/python -m pip install --disable-pip-version-check --no-input --require-hashes --requirement locks/ci.txt
	$(BIN)/python -m pip install --disable-pip-version-check --no-input --no-deps --no-build-isolation --editable .
else
	$(PIP) --editable '.[app,bench,mcp,prices,launch,dev]'
endif
	@touch $@ .venv/installed-demo

demo: .venv/installed-demo
	@echo "== 1 of 3: measuring this machine (cpu-smoke, 2 processes)"
	@$(BIN)/planner bench cpu-smoke --gpus 2 --quick
	@echo "== 2 of 3: writing the report of the demo's plan"
	@mkdir -p planner-data
	@$(BIN)/planner init $(DEMO) --measured latest --force
	@$(BIN)/planner report $(DEMO) --out report.html
	@echo "Open report.html in a browser. Open the app with: make app. The plan is $(DEMO)"
	@echo "== 3 of 3: comparing this machine with owned and rented ones"
	@$(BIN)/planner compare $(DEMO) --format table

test: .venv/installed-all
	@scripts/system-packages
	@$(MAKE) --no-print-directory check

# COVERAGE=1, as in CI: `make test` and then `make test-slow` add up what they run of the code, and test-slow judges it.
COV = $(if $(COVERAGE),--cov --cov-report=)

check: .venv/installed-all
	@echo "== format";  $(BIN)/ruff format --check .
	@echo "== lint";    $(BIN)/ruff check .
	@echo "== types";   $(BIN)/mypy
	@echo "== layers";  $(BIN)/lint-imports
	@echo "== declared"; $(BIN)/deptry .
	@echo "== tests";   $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not browser" $(COV)

test-slow: .venv/installed-all
	@scripts/system-packages
	@echo "== the slow tests and the browser's (three at once on two cores, because many of them wait for a silent peer)"
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "slow or browser" $(if $(COVERAGE),$(COV) --cov-append)
ifdef COVERAGE
	@mkdir -p build
	$(BIN)/python -m coverage json -q -o build/coverage.json
	@$(BIN)/python scripts/coverage_by_room.py build/coverage.json
endif

$(E2E)/installed: tests/e2e/requirements.txt | $(BIN)/python
	@echo "== Making the fake node's environment (two minutes, once)"
	$(BIN)/python -m venv $(E2E)
	$(E2E)/bin/python -m pip install --disable-pip-version-check --no-input --quiet --requirement tests/e2e/requirements.txt
	@touch $@

test-e2e: .venv/installed-all $(E2E)/installed
	@scripts/system-packages
	$(BIN)/python -m pytest -n 0 tests/e2e/launch_through_sky.py

N ?= 50000
SEED ?= $(shell date +%Y%m%d)
fuzz: .venv/installed-all
	$(BIN)/python scripts/fuzz.py --count $(N) --seed $(SEED)

app: .venv/installed-demo
	@$(BIN)/planner ui

format: .venv/installed-all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schemas: .venv/installed-all
	$(BIN)/planner schema plan > catalogs/schemas/plan.schema.json
	$(BIN)/planner schema run > catalogs/schemas/run.schema.json
	$(BIN)/planner schema probe > catalogs/schemas/probe.schema.json
	$(BIN)/planner schema site > catalogs/schemas/site.schema.json
	$(BIN)/planner schema tariff > catalogs/schemas/tariff.schema.json

golden: .venv/installed-all
	$(BIN)/python -m pytest --update-golden -q tests/cli tests/present
	$(BIN)/python -m pytest --update-golden -q -n 0 tests/docs/test_readme.py tests/launcher/faults/test_table.py
	git diff --stat tests/golden README.md

cli-docs: .venv/installed-all
	$(BIN)/python -m scripts.cli_reference

pages: .venv/installed-all
	$(BIN)/python -m scripts.page_messages
	$(BIN)/python -m scripts.page_pictures

plain-questions: .venv/installed-all
	$(BIN)/python -m scripts.plain_questions

document-tables: .venv/installed-all
	$(BIN)/python -m scripts.document_tables

$(LOCKER)/installed: | $(BIN)/python
	$(BIN)/python -m venv $(LOCKER)
	$(LOCKER)/bin/python -m pip install --disable-pip-version-check --no-input --quiet uv==0.13.9
	@touch $@

lock: .venv/installed-all $(LOCKER)/installed
	PATH="$(CURDIR)/$(LOCKER)/bin:$$PATH" $(BIN)/python -m scripts.lock_dependencies
	$(BIN)/python -m scripts.licences

licences: .venv/installed-all
	$(BIN)/python -m scripts.licences

calibrate: .venv/installed-all
	OPENBLAS_NUM_THREADS=1 $(BIN)/python scripts/calibrate.py

practice: .venv/installed-all
	$(BIN)/python scripts/fit_practice.py

benchmark: .venv/installed-all
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/prices.py
	$(BIN)/python -m benchmarks.find_speed
	$(BIN)/python -m benchmarks.simulation_speed
	$(BIN)/python benchmarks/planning_speed.py
	$(BIN)/python -m benchmarks.app_speed

$(PEERS)/installed: | $(BIN)/python
	@echo "== Making the environment of llm-analysis, which needs an old transformers (a minute, once)"
	$(BIN)/python -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --disable-pip-version-check --no-input --quiet llm-analysis==0.2.2
	@touch $@

accuracy-peers: .venv/installed-all $(PEERS)/installed
	$(BIN)/python benchmarks/text_accuracy.py --peers-alone --write source family scale
	$(BIN)/python benchmarks/planning_speed.py

clean:
	rm -rf .venv build dist report.html test-results
