# make        the environment, every run, table, figure and page of scale `laptop`, and where the report is
# make report the reports of scales `laptop` and `overnight` from what came with the project: nothing is trained
# make audit  three records that came with the project, drawn by today's date, trained here and compared to the bit
# make gpu    what one GPU can do, then scale `small` on it, and all of it in one archive: results/small/bundle.zip
# make test   lint, and all tests: units, contracts, equivalence, pages in a browser, whole workflows at scale `smoke`
# make check  lint and the fast tests, in a minute and a half
# make docs   the pages of docs/ as a site that needs no network: site/index.html
# make LOCK=1 the same as make, and every package but torch is checked against its hash in lock.txt; see CONTRIBUTING.md

PYTHON ?= python3
BIN := .venv/bin
# a pip.conf may ask for the user's own folder, which an environment refuses
export PIP_USER := 0
.PHONY: all report audit gpu test check lint docs lock clean

all: .venv/installed
	$(BIN)/snakemake

report: .venv/installed
	$(BIN)/snakemake --config train=nothing
	$(BIN)/snakemake --config train=nothing scale=overnight

audit: .venv/installed
	$(BIN)/snakemake audit

# its rehearsal where there is no GPU: make gpu SCALE=smoke DEVICE=cpu
gpu: SCALE := small
gpu: DEVICE := cuda
# parsing reads a sample of the Wall Street Journal that has no address: TASKS=null where data_dir holds it
gpu: TASKS := [char_lm,translation,captioning]
gpu:
	@test $(DEVICE) = cpu || nvidia-smi -L 2>/dev/null | grep -q '^GPU' || \
	  { echo "make gpu: no GPU is seen here, for nvidia-smi lists none"; exit 1; }
	$(MAKE) .venv/installed
	$(BIN)/python -m workflow.cli.doctor --device $(DEVICE)
	$(BIN)/snakemake --workflow-profile profiles/gpu --config scale=$(SCALE) device=$(DEVICE) 'tasks=$(TASKS)' -- all bundle
	@echo results/$(SCALE)/bundle.zip

test: lint
	$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

check: lint
	$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder -m "not slow"

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
	  { echo "Python 3.11 or newer is needed, '$(PYTHON)' is $$($(PYTHON) --version 2>&1): make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(if $(LOCK),$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement lock.txt)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt .
	touch $@

.venv/installed-for-tests: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt '.[test]'
	touch $@

# torch has a build for each kind of machine, each with an index and a hash of its own, so that it is pinned by version alone
lock: .venv/installed-for-tests
	$(BIN)/python -m pip install --quiet pip-tools
	CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --extra test \
	  --unsafe-package torch --constraint constraints.txt --no-emit-index-url --no-emit-find-links \
	  --no-emit-trusted-host --output-file lock.txt pyproject.toml

clean:
	rm -rf .venv .snakemake logs site reports/*/ reports/index.html $(filter-out results/precomputed/ results/README.md,$(wildcard results/*/))
