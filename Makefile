# Each target sets itself up: a virtual environment in .venv, and system packages where it may.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Kernels are the modules _NAME.py whose first line speaks to Cython, as setup.py finds them.
KERNELS := $(shell grep -l -m1 '^\# cython:' src/deltableu/*/_*.py src/deltableu/*/*/_*.py)
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python

.PHONY: demo test check bench test-long reproduce simulate clean

demo: $(VENV)/demo.stamp
	@mkdir -p out
	@$(BIN)/deltableu check examples/demo
	@$(BIN)/deltableu report examples/demo --title "The demo study" --sweep settings,threshold,unit-size,order --output out/demo.html
	@$(BIN)/deltableu explain examples/demo --system phrase-smt --against human --worst 3 --html out/explain.html
	@echo
	@echo "How the systems of the demo study do (its ratings are simulated):"
	@$(BIN)/deltableu score examples/demo --metrics delta-bleu-2,bleu-2,delta-chrf++,chrf++ --ci
	@echo
	@echo "Which differences to believe:"
	@$(BIN)/deltableu compare examples/demo --metrics delta-bleu-2 --resample items,raters --tables systems
	@echo
	@echo "Which metrics agree with the (simulated) people, output by output:"
	@$(BIN)/deltableu validate examples/demo --levels pooled --tables agreement --methods pearson,kendall-b
	@echo
	@echo "How far the (simulated) raters agree:"
	@$(BIN)/deltableu rate agree examples/demo --targets outputs
	@echo
	@echo "A campaign in which people would rate the references (deltableu rate demo serves one):"
	@rm -rf out/campaign && $(BIN)/deltableu rate new out/campaign --study examples/demo --what references --per-item 2 --raters 2
	@echo
	@echo "More references for each item, mined from (invented) dialogue logs; two of the items:"
	@$(BIN)/deltableu mine examples/demo --logs examples/logs --top 5 --output out/mined --replace
	@$(BIN)/python examples/show_mined.py out/mined d03 d66
	@echo
	@echo "Why the worst system scores as it does: $(CURDIR)/out/explain.html"
	@echo "The report: $(CURDIR)/out/demo.html"

# Two processes have two cores: threads of BLAS and torch would only wait for each other, busily.
# A test that hangs says where after five minutes.
test: check $(VENV)/browser.stamp
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --timeout 300 -m "not long"

check: $(VENV)/dev.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

test-long: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -m long

bench: $(VENV)/dev.stamp
	@$(BIN)/python -m bench

reproduce: $(VENV)/dev.stamp
	@$(BIN)/python -m reproduce

simulate: $(VENV)/dev.stamp
	@$(BIN)/python -m simulations

clean:
	rm -rf $(VENV) build out src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src -name '*.so' -delete

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit("deltableu needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

$(VENV)/demo.stamp: $(BIN)/uv pyproject.toml setup.py $(KERNELS)
	@echo "installing ..."
	@$(INSTALL) --editable '.[standard]'
	@touch $@

# torch comes by pip: uv would fetch gigabytes for graphics cards.
$(VENV)/dev.stamp: $(BIN)/uv pyproject.toml setup.py constraints.txt $(KERNELS)
	@echo "installing with the development extras ..."
	@$(INSTALL) --editable '.[dev]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	@touch $@ $(VENV)/demo.stamp

# Tests of pages drive the system's Chromium, and tests of the rating server a PostgreSQL of their
# own; without these they are skipped and say so.
$(VENV)/browser.stamp: $(VENV)/dev.stamp
	@if ! command -v chromium >/dev/null || ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || ! command -v strace >/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing chromium, postgresql and strace ..."; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
	      chromium fonts-noto-core fonts-noto-cjk postgresql strace >/dev/null || echo "they could not be installed"; \
	  else echo "chromium, postgresql or strace is not installed: some tests will be skipped"; fi; \
	fi
	@touch $@
