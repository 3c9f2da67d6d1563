# Two commands for a newcomer: `make demo` and `make test`. Both set up .venv once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test coverage lint format docs ci-full release fuzz locked bench ratios data chromium frontend clean
.DEFAULT_GOAL := demo

demo: $(READY)
	$(BIN)/graphheat demo

test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# The same tests, measured: the share of lines that they run, with what they start.
coverage: $(READY)
	rm -f .coverage .coverage.*
	OMP_NUM_THREADS=1 $(BIN)/coverage run -m pytest -n 2 --dist worksteal
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --fail-under=95

# The site, in docs/_build/html: nothing is fetched, a warning is an error, a dead link is one too.
docs: $(VENV)/.docs
	rm -rf docs/_build/html
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/python scripts/check_links.py docs/_build/html

# The wheel, tried: without torch, without numba, with the lowest versions and the newest, under other Pythons.
ci-full: $(READY)
	$(BIN)/python scripts/ci_jobs.py

release: $(READY)
	$(BIN)/python scripts/release.py $(VERSION)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini
	$(BIN)/lint-imports --no-logo

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Damaged files of every format, in children with limits; tests/hostile has a short run.
fuzz: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python tests/hostile/test_hostile_fuzz.py 10000

# The short ones, in under five minutes; benchmarks/ has the long ones.
bench: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/cold_start.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/train_step.py --rounds 3 --graphs cora,citeseer
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/apply.py --rounds 3 --graphs cora
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/kernel.py --rounds 2 --graphs cora,citeseer

# Our seconds in units of a peer's, beside those of earlier commits; keeps them in ratios.csv.
ratios: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/ratios.py

data: $(READY)
	$(BIN)/python scripts/make_datasets.py

# A browser for tests/browser (Debian, as root); without one those tests are skipped by name.
chromium:
	command -v chromium >/dev/null || \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; }

# The explorer's script and style, from frontend/ into the package (needs Node; what is built is
# committed, so that nothing else does).
frontend: $(READY)
	$(BIN)/python scripts/make_schema.py
	cd frontend && npm ci --ignore-scripts && npm run check && npm test && npm run build

# Done once; again only when the dependencies change.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,paper]'
	touch $@

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

# The same set-up, but only from files whose hashes are recorded; torch, whose builds differ between
# machines, by its version alone.
locked:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,paper]'
	touch $(READY)

clean:
	rm -rf $(VENV) build dist docs/_build docs/api docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
