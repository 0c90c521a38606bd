# make        install, run scale `laptop`, and print the path of the report
# make report build the reports of scales `laptop` and `overnight` from the records that ship with the project; no training
# make audit  train three shipped records again, drawn by today's date, and compare them bit by bit
# make gpu    check the GPU, run scale `small` on it, and write one archive: results/small/bundle.zip
# make test   lint and the fast tests, in about eight minutes
# make test-all  the long ones too: pages in a browser, complete workflows at scale `smoke`, other compilers
# make lock   write constraints.txt, environment.yml and lock.txt from the dependencies in pyproject.toml
# make docs   build docs/ as an offline site: site/index.html
# make LOCK=1 like make, with every package except torch verified by its hash in lock.txt; see CONTRIBUTING.md

PYTHON ?= python3
BIN := .venv/bin
# a pip.conf may set `user = true`, which a virtual environment refuses
export PIP_USER := 0
.PHONY: all report report-laptop report-overnight audit gpu test test-all lint docs lock clean

all: .venv/installed
	$(BIN)/snakemake

report: .venv/installed
	$(MAKE) --no-print-directory --jobs=2 --keep-going report-laptop report-overnight

# at the same time: each has steps that use one core
report-laptop report-overnight: report-%: .venv/installed
	$(BIN)/snakemake --config train=nothing scale=$*

audit: .venv/installed
	$(BIN)/snakemake audit

# to rehearse it without a GPU: make gpu SCALE=smoke DEVICE=cpu
gpu: SCALE := small
gpu: DEVICE := cuda
# parsing needs a sample of the Wall Street Journal that cannot be downloaded: TASKS=null if data_dir contains it
gpu: TASKS := [char_lm,translation,captioning,symbols]
gpu:
	@test $(DEVICE) = cpu || nvidia-smi -L 2>/dev/null | grep -q '^GPU' || \
	  { echo "make gpu: no GPU found: nvidia-smi lists none"; exit 1; }
	$(MAKE) .venv/installed
	$(BIN)/python -m workflow.cli.doctor --device $(DEVICE)
	$(BIN)/snakemake --workflow-profile profiles/gpu --config scale=$(SCALE) device=$(DEVICE) 'tasks=$(TASKS)' -- all bundle
	@echo results/$(SCALE)/bundle.zip

# a worker that crashes ends the tests with the name of the one that it ran; with a new worker in its place they would never end
PYTEST := $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder --max-worker-restart=0

test: lint
	$(PYTEST) -m "not slow"

test-all: test
	$(PYTEST) -m slow

lint: .venv/installed-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/python -m compileall -q models workflow tests benchmarks

docs: .venv/docs
	$(BIN)/python -m sphinx -q --fail-on-warning --keep-going -d .venv/doctrees docs site
	@echo site/index.html

.venv/docs: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt '.[docs]'
	touch $@

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is required, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1); try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(if $(LOCK),$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement lock.txt)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt .
	touch $@

.venv/installed-for-tests: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt '.[test]'
	touch $@

lock: .venv/installed-for-tests
	$(BIN)/python -m pip install --quiet pip-tools
	mkdir -p build
	$(BIN)/python -m workflow.cli.lock build

clean:
	rm -rf .venv .snakemake logs site reports/*/ reports/index.html $(filter-out results/precomputed/ results/README.md,$(wildcard results/*/))
