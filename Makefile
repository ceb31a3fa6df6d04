# make demo and make test work on a fresh machine that has Python >= 3.11 and make.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
INSTALLED_DOCS := .venv/installed-docs
# Two threads each would fight for two cores; with CI set, drawn examples are the same every time.
SETTINGS := CI=1 OMP_NUM_THREADS=1
SPREAD := -n 2 --dist worksteal
PYTEST := $(SETTINGS) $(BIN)/python -m pytest $(SPREAD)
# In about ten minutes on two cores: 20,000 fits, and 3,000 command lines.
FUZZ_EXAMPLES ?= 20000
NOT_NUMERICAL := paper app report plot cli reading datasets test_benchmarks.py test_readme.py test_rivals.py \
	test_speed_of_start.py rows/test_distributed.py
# What has caught something before: pages in a browser, Dask, fits without numba, examples of the guides; and, with other
# kernels, what chooses and what must not depend on rounding.
CI_LONG := app report laws rows test_without_numba.py test_readme.py test_real_tables.py
CI_KERNELS := laws selection solvers cells/test_missing.py test_reweighting.py
PLAIN := oracles solvers/test_kernels.py solvers/test_path.py simulate/test_gibbs.py test_on_support.py
OTHER_KERNELS = OPENBLAS_CORETYPE=$$($(BIN)/python tests/other_kernels.py)

.PHONY: help demo test test-ci test-long test-kernels test-plain test-oldest test-newest test-mutations fuzz lint docs
.PHONY: bench clean

help:
	@echo "make demo   simulate rain with bad rows, learn the classic and the robust graph, write a report to open"
	@echo "make test   ruff, mypy, the layers of imports, and the tests, in a few minutes"
	@echo "make test-ci  what CI runs beside these: pages in a browser, Dask, no numba, linear algebra that rounds otherwise"
	@echo "make test-long  all that takes long: benchmarks and experiments in small, gallery, guides, pages, Dask, R, sweeps"
	@echo "make test-kernels  the numerical tests again, with linear algebra as it rounds on another processor"
	@echo "make test-plain  the compiled functions as plain Python, without numba"
	@echo "make test-oldest  the tests on Python 3.11 with the lowest versions that are promised"
	@echo "make test-newest  the tests on the newest Python there is, with the newest versions"
	@echo "make test-mutations  deliberate defects in a copy of the source, each of which a test must notice"
	@echo "make fuzz   about ten minutes of hostile data, options and files, none of which may break anything"
	@echo "make docs   the site, with gallery, guides and reference, into docs/_build"
	@echo "make bench  speed, memory and accuracy tables, beside other programs"
	@echo "make clean  remove the virtual environment and caches"

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		(echo "robscore needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(INSTALLED)
	@$(BIN)/robscore demo --out demo

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(PYTEST) -m "not long"

test-ci: $(INSTALLED)
	$(PYTEST) -m long $(CI_LONG:%=tests/%)
	$(OTHER_KERNELS) $(PYTEST) -m "not long" $(CI_KERNELS:%=tests/%)

test-long: $(INSTALLED)
	$(PYTEST) -m long tests

test-kernels: $(INSTALLED)
	$(OTHER_KERNELS) $(PYTEST) -m "not long" $(NOT_NUMERICAL:%=--ignore=tests/%)

test-plain: $(INSTALLED)
	$(PYTEST) tests/test_without_numba.py
	PYTHONPATH=tests/hidden $(PYTEST) -m "not long" $(PLAIN:%=tests/%)

test-oldest test-newest: test-%: $(INSTALLED)
	$(SETTINGS) $(BIN)/python tests/environments.py $* $(SPREAD)

test-mutations: $(INSTALLED)
	$(BIN)/python tests/mutations.py

fuzz: $(INSTALLED)
	ROBSCORE_FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(SPREAD) -m fuzz

$(INSTALLED_DOCS): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

# Made anew, so that no page outlives its name; a warning or a link that leads nowhere is an error.
docs: $(INSTALLED_DOCS)
	rm -rf docs/_build docs/site/generated docs/examples
	$(SETTINGS) $(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/.doctrees docs docs/_build
	@echo "open docs/_build/index.html"

# Rivals that cannot be installed are skipped, with the reason in the tables.
bench: $(INSTALLED)
	-@$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv .venv-oldest .venv-newest .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/_build docs/site/generated docs/examples
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
