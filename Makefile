# make          set up, bring everything up to date, build the site
# make test     every test; what needs a corpus or a browser that is not here is left out, by name
# make serve    read the book with live reload, both languages
# make check    format, lint, types, spelling in both languages (mends formatting, reports the rest)
# make bench    how fast the pieces are
# make attack   the book under attack: every number, claim, function, fault; counted in build/attack
# make lock     resolve pyproject.toml anew into requirements.lock, and its hashes beside it

PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export NO_MKDOCS_2_WARNING := 1
READY := .venv/requirements.lock
# Styles, script and drawings; never a measurement, so that a stale record does not keep one from reading or testing.
ASSETS := snakemake --cores all --quiet all -- build/web/assets/book.css && python -m figures draw --stale

.PHONY: all test attack serve check bench lock
all: $(READY)
	@snakemake --cores all
	@echo "The book is in build/site; read it with: make serve (or: .venv/bin/python -m http.server -d build/site)"

# Setting up is done again only when the lock changes: its copy inside .venv is the sign that all of it arrived.
$(READY): requirements.lock
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11, 5) or sys.exit("make: Python 3.11.5 or newer is needed; name one with: make PYTHON=python3.12")'
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	@cp requirements.lock $@

test: $(READY)
	-@$(ASSETS)
	@python -m pytest --numprocesses auto --dist loadgroup --no-loadscope-reorder -m "not attack"

attack: $(READY)
	-@$(ASSETS)
	@python -m tests.attack

serve: $(READY)
	-@$(ASSETS)
	@mkdocs serve

check: $(READY)
	@ruff format
	@ruff check --fix
	@pyright
	@pyright --project tools/pyright-tests.json
	@snakefmt Snakefile
	@codespell
	@python -m tools.spelling

bench: $(READY)
	@python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/requirements.lock
	@python -m pytest benchmarks --override-ini 'python_files=bench_*.py' --benchmark-only --benchmark-columns=median
	@python -m benchmarks.profile

lock:
	@rm -rf build/lock && $(PYTHON) -m venv build/lock
	@build/lock/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' > build/lock/in.txt
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check --requirement build/lock/in.txt
	@build/lock/bin/python -m pip freeze --all | grep -v '^pip==' | sed 's/+.*//' | LC_ALL=C sort -f > build/lock/out.txt
	@{ head -n 1 requirements.lock; cat build/lock/out.txt; } > build/lock/new.txt && mv build/lock/new.txt requirements.lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	@build/lock/bin/uv pip compile requirements.lock --no-config --no-deps --generate-hashes --universal --python-version 3.11.5 \
	  --native-tls --no-annotate --no-header --no-emit-index-url --quiet --output-file build/lock/hashes.txt
	@{ head -n 1 requirements.hashes.lock; cat build/lock/hashes.txt; } > build/lock/new.txt && mv build/lock/new.txt requirements.hashes.lock
	@rm -rf build/lock
