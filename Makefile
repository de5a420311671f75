# make demo: set everything up and open the page.   make test: set everything up and run every test.
# Another Python: make demo PYTHON=python3.12.      Fewer or more test workers: make test WORKERS=4.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
PINS := pyproject.toml constraints.txt

.PHONY: demo test lint bench clean

demo: $(VENV)/installed-demo
	$(BIN)/python app.py

# One thread per worker: two test workers with two threads each are slower than with one on two cores.
# --dist loadfile keeps the tests of one file, and so its page and its models, in one process.
test: $(VENV)/installed-dev
	sh .ci/browser $(BIN)/python
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false GRADIO_ANALYTICS_ENABLED=False \
	    $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .

bench: $(VENV)/installed-dev
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/fill_blanks.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache build *.egg-info
	find app.py explorer tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps say which version of the pins is installed; an install that was cut short leaves none.
$(VENV)/installed-demo: $(PINS)
	sh .ci/venv $(PYTHON) $(VENV)
	$(PIP) -e ".[offline]"
	@touch $@

$(VENV)/installed-dev: $(PINS)
	sh .ci/venv $(PYTHON) $(VENV)
	$(PIP) -e ".[offline,dev]"
	@touch $@ $(VENV)/installed-demo
