# `make up` runs Memory Center; `make test` runs all checks and tests.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
RUN := .venv/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check -qq install --require-hashes

# Let Python store compiled modules, so that each process doesn't compile them again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: up test check audit types style demo bench train screenshots integrations clients install-check lock
.DEFAULT_GOAL := up

up: .venv/run.stamp  ## databases, web, worker and beat, until Ctrl-C
	@exec $(RUN) manage.py serve

test: check  ## the gate: all checks and tests that a change must pass
	@chromium=$$(tests/browser/chromium.sh) && \
	MEMCENTER_CHROMIUM=$$chromium $(RUN) -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

check: .venv/dev.stamp  ## the gate without tests: types, style, Django's checks
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types style

types:
	.venv/bin/mypy .

style:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports
	.venv/bin/bandit --quiet --configfile pyproject.toml --recursive $(PACKAGES) manage.py
	$(RUN) manage.py check
	$(RUN) manage.py makemigrations --check --dry-run

audit: .venv/lock.stamp  ## known vulnerabilities of the required packages; needs the network
	@.venv/lock/bin/python -m pip --disable-pip-version-check --quiet install pip-audit
	.venv/lock/bin/pip-audit --require-hashes --disable-pip -r requirements.txt

PACKAGES := memcenter foundation ops conversations memories

demo: .venv/run.stamp  ## fill the instance with an example person, in Chinese and English
	$(RUN) manage.py demo

bench: .venv/run.stamp  ## measure the figures of docs/benchmarks.md
	$(RUN) -m bench

# Keep freed memory for the next large tensors instead of returning it to the kernel. This halves
# the time.
train: export MALLOC_MMAP_MAX_ := 0
train: export MALLOC_TRIM_THRESHOLD_ := 17179869184
train: export MALLOC_TOP_PAD_ := 268435456
train: .venv-train/stamp .venv/run.stamp  ## train the reader with the rows of training/data; resumes after an interruption
	.venv-train/bin/python -m training $(TRAIN)

screenshots: .venv/dev.stamp  ## pictures of every page in both themes, in .screenshots, and those of the README
	@chromium=$$(tests/browser/chromium.sh) && \
	MEMCENTER_CHROMIUM=$$chromium $(RUN) -m tests.browser.screenshots

integrations: .venv/dev.stamp  ## test each integration with its real packages, in .cache; needs the network and Node.js
	$(RUN) -m integrations

clients: .venv/dev.stamp .cache/clients/stamp  ## generate the clients, and test the TypeScript client; needs Node 20
	$(RUN) -m clients

install-check: .venv/dev.stamp  ## test the wheel with each installed Python, in an empty home; needs the network
	$(RUN) -m tests.deploy.install_check

lock: .venv/lock.stamp  ## write requirements*.txt from requirements*.in
	.venv/lock/bin/uv pip compile --quiet $(LOCKING) requirements.in -o requirements.txt
	.venv/lock/bin/uv pip compile --quiet $(LOCKING) --override requirements-dev.override \
	requirements-dev.in -o requirements-dev.txt
	for one in $(INTEGRATIONS); do .venv/lock/bin/uv pip compile --quiet --no-annotate $(LOCKING) \
	integrations/$$one/requirements.in -o integrations/$$one/requirements.txt || exit 1; done
	.venv/lock/bin/uv pip compile --quiet --no-annotate $(LOCKING) --no-generate-hashes \
	$(OPEN_WEBUI_LACKS:%=--no-emit-package %) \
	integrations/open_webui/requirements.in -o integrations/open_webui/requirements.txt
	sed --in-place --regexp-extended '/^(nvidia|cuda)-/d' integrations/open_webui/requirements.txt
	cd integrations/vercel_ai && npm install --package-lock-only --omit-lockfile-registry-resolved

INTEGRATIONS := langchain llamaindex mcp openai_agents pydantic_ai
# Open WebUI needs these packages of several gigabytes only for its own models, which the test
# doesn't use.
OPEN_WEBUI_LACKS := torch triton transformers sentence-transformers
LOCKING := --generate-hashes --no-emit-index-url --no-header --python-version 3.11

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Memory Center needs Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	echo "Python can't make virtual environments here: install python3-venv." >&2; exit 1; }

.venv/run.stamp: requirements.txt | .venv/bin/python
	@echo "Installing what Memory Center needs into .venv ..."
	@$(PIP) --requirement requirements.txt
	@touch $@

.venv/dev.stamp: requirements-dev.txt .venv/run.stamp
	@$(PIP) --no-deps --requirement requirements-dev.txt
	@touch $@

.venv-train/stamp: training/requirements.txt
	@$(PYTHON) -m venv .venv-train
	@.venv-train/bin/python -m pip --disable-pip-version-check -qq install --requirement $<
	@touch $@

.cache/clients/stamp: clients/requirements.txt
	@$(PYTHON) -m venv .cache/clients/venv
	@.cache/clients/venv/bin/python -m pip --disable-pip-version-check -qq install --requirement $<
	@touch $@

.venv/lock.stamp: | .venv/bin/python
	@$(PYTHON) -m venv .venv/lock && .venv/lock/bin/python -m pip --quiet install uv
	@touch $@
