# make       the environment, every run, table, figure and page of scale `laptop`, and where the report is
# make test  lint, format, unit, contract and equivalence tests, and the whole DAG at scale `smoke`

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
.PHONY: all test clean

all: .venv/installed
	snakemake
	@echo "the report: $(CURDIR)/reports/index.html"

test: .venv/installed
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	snakemake --lint
	python -m pytest -q

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, '$(PYTHON)' is $$($(PYTHON) --version 2>&1): make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt .
	touch $@

clean:
	rm -rf .venv .snakemake logs results/data results/runs results/measures results/tables results/figures \
	  results/plan.json results/runs.json results/claims.* results/bundle.zip reports/*.html reports/papers reports/ablations reports/runs reports/files
