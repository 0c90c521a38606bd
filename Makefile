# make        the environment, every run, table, figure and page of scale `laptop`, and where the report is
# make report the same report from what came with the project: nothing is trained
# make test   lint, and all tests: units, contracts, equivalence, pages in a browser, whole workflows at scale `smoke`
# make check  lint and the fast tests, in a minute and a half
# make docs   the pages of docs/ as a site that needs no network: site/index.html

PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
.PHONY: all report test check lint docs clean

all: .venv/installed
	snakemake

report: .venv/installed
	snakemake --config train=nothing

test: lint
	python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

check: lint
	python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder -m "not slow"

lint: .venv/installed
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	snakemake --lint
	python -m compileall -q models workflow tests benchmarks

docs: .venv/docs
	python -m sphinx -q --fail-on-warning --keep-going -d .venv/doctrees docs site
	@echo site/index.html

.venv/docs: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt '.[docs]'
	touch $@

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, '$(PYTHON)' is $$($(PYTHON) --version 2>&1): make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt .
	touch $@

clean:
	rm -rf .venv .snakemake logs site reports/*/ reports/index.html $(filter-out results/precomputed/ results/README.md,$(wildcard results/*/))
