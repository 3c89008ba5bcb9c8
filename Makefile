# The front door: `make help` lists the targets.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Tests wait for what they have started a third of their time.
WORKERS ?= $(shell expr \( $(JOBS) \* 3 + 1 \) / 2)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

bin := $(VENV)/bin
core := $(shell find cpp \( -path '*/test' -o -path cpp/bench -o -path cpp/fuzz \) -prune -o -print) \
  $(wildcard src/contend/schedules/*.[ch])
c_sources := src/contend/lab/emulation src/contend/preloaded src/contend/schedules src/contend/tracer src/contend/tuned tests/conformance tests/tracer tests/tuned bench
cxx_sources = $(shell find cpp src -name '*.cpp' -o -name '*.hpp') $(shell find $(c_sources) -name '*.[ch]')

.DEFAULT_GOAL := help
.PHONY: help build demo test pytest conformance campaign evidence sanitize fuzz bench lint format pages docs man installed wheel clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

build: $(VENV)/.installed ## compile the core and install the package into .venv

$(VENV)/.tools: pyproject.toml tools/check_machine.sh
	@PYTHON="$(PYTHON)" tools/check_machine.sh
	$(PYTHON) -m venv $(VENV)
	$(bin)/python tools/build_requirements.py | xargs $(bin)/python -m pip install --quiet
	@touch $@

# Without isolation, so that the compiled core is kept between builds and only what changed is
# compiled again.
$(VENV)/.installed: $(VENV)/.tools CMakeLists.txt $(core)
	PATH="$(abspath $(bin)):$$PATH" CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(bin)/python -m pip install \
	  --quiet --no-build-isolation --config-settings build-dir=build/dev --editable '.[dev]'
	$(bin)/python -m nanobind.stubgen -q -m contend._core -o src/contend/_core.pyi
	@touch $@

demo: build ## show, check and simulate a small real fabric
	PATH="$(abspath $(bin)):$$PATH" sh demo/demo.sh

test: build ## run all tests: Python, then the core's under sanitizers
	@$(MAKE) --no-print-directory pytest
	@$(MAKE) --no-print-directory sanitize

# Threads that wait for others sleep: beside other tests they would take the processors from them.
pytest: export OMP_WAIT_POLICY = passive
pytest: build ## run the tests in Python
	$(bin)/python -m pytest -q -n $(WORKERS) -m 'not alone'
	$(bin)/python -m pytest -q -m alone

evidence: build ## interrupt measured studies and verifications too, and larger inputs; takes minutes
	CONTEND_EVIDENCE=1 $(bin)/python -m pytest -q tests/lab/session tests/campaign/test_large_inputs.py \
	  tests/congestion/test_ideal_rounds.py

conformance: build ## run MPI programs of every kind bare, recorded, with the drop-in library and both
	PYTHONPATH=tests $(bin)/python -m conformance

campaign: build ## mutate inputs of every kind, then kill at random moments (TRIALS=100), as root; takes hours
	cd tests && PYTHONPATH=. ../$(bin)/python -m campaign
	$(bin)/python tests/campaign/kills.py --trials $(or $(TRIALS),100)

sanitize: build ## run the core's C++ tests under address and undefined-behaviour sanitizers
	@CMAKE="$(bin)/cmake" JOBS=$(JOBS) tools/test_core.sh

fuzz: build ## fuzz every parser for a moment and show that a planted fault is found
	PATH="$(abspath $(bin)):$$PATH" cpp/fuzz/check_fuzzers.sh

bench: build ## build and run all benchmarks
	@CMAKE="$(bin)/cmake" PYTHON="$(bin)/python" JOBS=$(JOBS) tools/bench.sh

lint: build ## check style, types, layers and formatting
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy
	$(bin)/lint-imports
	@echo "$(bin)/clang-format --dry-run --Werror ..."; $(bin)/clang-format --dry-run --Werror $(cxx_sources)

format: build ## format Python and C++
	$(bin)/ruff check --fix --select I .
	$(bin)/ruff format .
	$(bin)/clang-format -i $(cxx_sources)

pages: build ## write the pages of options, lists and JSON keys, and count the lines of rooms
	$(bin)/python tools/json_page.py
	$(bin)/python tools/reference_pages.py
	$(bin)/python tools/sizes.py --lower

$(VENV)/.docs: $(VENV)/.installed
	$(bin)/python -m pip install --quiet --no-build-isolation --config-settings build-dir=build/dev \
	  --editable '.[dev,docs]'
	@touch $@

docs: $(VENV)/.docs ## build the user guide in build/docs
	$(bin)/sphinx-build --quiet --fail-on-warning --keep-going docs build/docs
	@echo "open build/docs/index.html"

man: $(VENV)/.docs ## build pages of man in build/man
	$(bin)/sphinx-build --quiet --fail-on-warning --keep-going -b man -d build/man-read docs build/man

installed: build ## show that an ordinary `pip install` works, without a compiler too
	PYTHON="$(PYTHON)" tools/check_install.sh

wheel: man ## build wheels that need no compiler, of PYTHONS="python3.11 python3.12", in dist
	@PYTHONS="$(or $(PYTHONS),$(PYTHON))" JOBS=$(JOBS) tools/wheel.sh

clean: ## remove what was built, .venv included
	rm -rf build dist .pytest_cache $(VENV) src/contend/_core.pyi
