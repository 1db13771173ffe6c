# Each target sets itself up: a virtual environment in .venv, and system packages where it may.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Kernels are the modules _NAME.py whose first line speaks to Cython, as setup.py finds them.
KERNELS := $(shell grep -l -m1 '^\# cython:' src/deltableu/*/_*.py src/deltableu/*/*/_*.py)
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python
TORCH := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
# What differs from the demo where the judge is trained meanwhile.
NEURAL := 'title="The demo experiment, with a judge trained meanwhile"' \
	'judge={epochs=40, patience=10, hidden=64, embedding=64}' \
	'score.triplets="first"' 'validate.triplets="first"' 'report.triplets="first"'

.PHONY: demo demo-neural docs experiment test check bench test-long lower-bounds reproduce simulate clean

# The second time, only what has changed is done again.
demo: $(VENV)/demo.stamp
	@$(BIN)/deltableu experiment run examples/demo.toml --output out/demo
	@$(BIN)/deltableu experiment show examples/demo.toml --output out/demo
	@rm -rf out/campaign && $(BIN)/deltableu rate new out/campaign --study out/demo/study --what references --per-item 2 --raters 2
	@echo
	@echo "People rate these references on a page that $(BIN)/deltableu rate serve out/campaign starts."
	@echo "The report: $(CURDIR)/out/demo/report.html"

# The same with a judge that is trained on the demo's logs meanwhile.
demo-neural: $(VENV)/neural.stamp
	@$(BIN)/deltableu experiment run examples/demo.toml --output out/demo-neural --set $(NEURAL)
	@$(BIN)/deltableu experiment show examples/demo.toml --output out/demo-neural --set $(NEURAL)
	@echo "The report: $(CURDIR)/out/demo-neural/report.html"

# The study of upsilon-BLEU on dialogue logs: make experiment LOGS=FILE
LOGS ?= $(wildcard ../shared/data/dialogue_logs/self_dialogue.tsv.gz)
experiment: $(VENV)/neural.stamp
	@test -n "$(LOGS)" || { echo "name dialogue logs: make experiment LOGS=FILE"; exit 2; }
	@$(BIN)/deltableu experiment run examples/upsilon-bleu.toml --output out/experiment --set 'logs.files="$(abspath $(LOGS))"'
	@$(BIN)/deltableu experiment show examples/upsilon-bleu.toml --output out/experiment --set 'logs.files="$(abspath $(LOGS))"'
	@echo "The report: $(CURDIR)/out/experiment/report.html"

# Two processes have two cores: threads of BLAS and torch would only wait for each other, busily.
# A test that hangs says where after five minutes. Who has nothing left to do takes over tests.
test: check $(VENV)/browser.stamp
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --timeout 300 -m "not long"

check: $(VENV)/dev.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

# The site in out/site, from docs/, the docstrings and the command line; nothing in it is fetched from
# elsewhere. MkDocs speaks of its next version unless it is asked not to.
docs: $(VENV)/docs.stamp
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(BIN)/python -m mkdocs build --strict
	@echo "The site: $(CURDIR)/out/site/index.html"
	@echo "Its search needs a server: $(BIN)/python -m http.server --directory out/site"

test-long: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -m long

# The oldest releases that pyproject.toml admits, in an environment of their own; and once more without
# the encoder, which needs newer ones. What is left out takes newer ones for its comparison.
LOWEST := out/lowest
LOWEST_TESTS := tests/io tests/score/test_golden.py tests/stats tests/text/test_tokenizers.py \
	$(addprefix tests/cli/test_,completion.py doctor.py process.py score_study.py terminal.py validate.py vocabulary.py) \
	tests/report/test_page.py tests/report/test_plots.py tests/mine/test_engines.py tests/mine/test_tls.py \
	tests/rate/server/test_rating.py tests/rate/server/test_organiser.py tests/judges/test_llm_rater.py \
	-k 'not scipys and not backend_of_the_caller'
lower-bounds: $(BIN)/uv
	@for extras in standard cluster,ja,llm,parquet,report,web; do \
	  echo "installing the oldest releases for [$$extras] ..." && \
	  $(BIN)/uv venv --quiet --clear --python '>=3.11,<3.12' $(LOWEST) && \
	  $(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --refresh-package deltableu \
	    --resolution lowest-direct ".[$$extras]" && \
	  $(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python hypothesis pytest pytest-timeout pytest-xdist && \
	  $(LOWEST)/bin/python -m pytest -q -n 2 --timeout 300 -m "not long" -p no:cacheprovider \
	    --override-ini filterwarnings= $(LOWEST_TESTS) || exit 1; \
	done

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
	@$(TORCH)
	@touch $@ $(VENV)/demo.stamp $(VENV)/neural.stamp

$(VENV)/docs.stamp: $(VENV)/demo.stamp
	@echo "installing what builds the site ..."
	@$(INSTALL) --editable '.[docs]'
	@touch $@

$(VENV)/neural.stamp: $(VENV)/demo.stamp constraints.txt
	@echo "installing torch ..."
	@$(INSTALL) safetensors sentencepiece
	@$(TORCH)
	@touch $@

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
