# README's two commands are `make demo` and `make test`; both set up what they need in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# On a Pi: Debian's picamera2, which is nowhere else to be had, and what drives the pins.
PI := $(wildcard /usr/lib/python3/dist-packages/picamera2)
EXTRA := $(if $(PI),[pi])
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: install test-install demo test lint accuracy whole attack shared-test clean pictures

install: $(STAMP)

$(STAMP): pyproject.toml hatch_build.py $(wildcard vision/kernels/*.[ch])
	@test -x $(BIN)/python || $(PYTHON) -m venv $(if $(PI),--system-site-packages) $(VENV)
	@$(PIP) install -e ".$(EXTRA)" 2>&1 | { grep -v "is ignored: it is neither" || true; }
	@test -x $(BIN)/nilometer
	@touch $(STAMP)

$(VENV)/.installed-test: $(STAMP)
	@$(PIP) install -e ".[test]" 2>&1 | { grep -v "is ignored: it is neither" || true; }
	@$(BIN)/python -c "import pytest, hypothesis, xdist"
	@touch $@

test-install: $(VENV)/.installed-test
	@tests/browser-setup
	@tests/broker-setup

demo: install
	@$(BIN)/nilometer demo $(GAME)

test: test-install
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup

lint: test-install
	@$(BIN)/ruff check .

# Whole games of GAME (else of all four) before the simulated camera, from the set-up to the final score: minutes.
whole: test-install
	@for start in tests/companion/whole/$(GAME)*.play; do $(BIN)/python -m tests.companion.filmed $$start || exit 1; done

# The attacker's list against tables of its own, on this machine only: at most ten minutes. NAMES picks some.
attack: test-install
	@$(BIN)/python -m tests.attack $(NAMES)

# The docs' pictures: the simulated table, and the page in Chromium.
pictures: test-install
	@$(BIN)/python -m companion.pictures

# The whole shared photo set: not needed by `make test`.
accuracy: install
	@$(BIN)/nilometer accuracy $(or $(COPIES),../shared/photos)

clean:
	rm -rf $(VENV) .pytest_cache .hypothesis .ruff_cache
