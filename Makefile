# `make run` and `make test` need only make and Python 3.11+; both set everything up.
# WORKERS=1        how many tests run at a time; twice as many as there are processors otherwise
# KB=some/folder   use your own pages instead of the sample handbook
# PYTHON=python3.12   choose the interpreter
# TIMES=10         how often `make explore` draws examples
# PEERS=.peers        where `make bench-peers` keeps the peers' environments

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?=
KB ?=
WORKERS ?= auto
PEERS ?= .peers
DATA ?=
TIMES ?= 10

PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: setup run test test-series test-all explore check format docs openapi bench bench-peers clean

setup: $(VENV)/.ready-dev

$(VENV)/.ready: pyproject.toml deploy/setup.sh
	PYTHON="$(PYTHON)" sh deploy/setup.sh $(VENV)
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	PYTHON="$(PYTHON)" sh deploy/setup.sh $(VENV) dev
	@touch $@

run: $(VENV)/.ready
	$(BIN)/footnote playground $(if $(KB),"$(KB)",--sample)

test: $(VENV)/.ready-dev
	$(PYTEST) -m "not series"

test-series: $(VENV)/.ready-dev
	$(PYTEST) -m series

test-all: test test-series

# Not in CI: the tests of properties with examples that no run has seen before, as often as TIMES says.
explore: $(VENV)/.ready-dev
	for time in $$(seq $(TIMES)); do $(PYTEST) -m hypothesis --hypothesis-profile=default || exit 1; done

check: $(VENV)/.ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.ready-dev
	$(BIN)/footnote settings --markdown > docs/settings.md
	$(BIN)/zensical build --strict --clean

openapi: $(VENV)/.ready-dev
	$(BIN)/footnote openapi > docs/openapi.json

bench: $(VENV)/.ready-dev
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench.indexing
	$(BIN)/python -m tests.bench.threads
	$(BIN)/python -m tests.bench.sharing
	$(BIN)/python -m tests.bench.freezing

# Not in `make bench`, nor in CI: installs four other libraries, each in an environment of its own. DATA="DIR DIR": other data sets than the sample.
bench-peers: $(VENV)/.ready-dev
	$(BIN)/python -m tests.bench_peers --environments $(PEERS) $(DATA)

clean:
	rm -rf $(VENV) $(PEERS) build dist *.egg-info
