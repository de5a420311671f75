# make demo: set everything up and open the page.   make test: set everything up and run the tests.
# make test-slow: the long tests; make test-unsteady: those that do not pass every time yet.
# make models CORPUS="--corpus wiki.txt.xz=0.7 --corpus novels.txt.xz=0.3" MINUTES=60: train the bundled models anew.
# Another Python: make demo PYTHON=python3.12.      Fewer or more test workers: make test WORKERS=4.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --retries 10 --timeout 60 --disable-pip-version-check -c constraints.txt
PINS := pyproject.toml constraints.txt

.PHONY: demo test test-slow test-unsteady lint bench models clean

demo: $(VENV)/installed-demo
	$(BIN)/python app.py

# First what needs no browser, in parallel: one thread per worker, as two workers with two threads each are slower than
# with one on two cores; --dist loadfile keeps the tests of one file, and so its models, in one process. These are not
# run again when they fail; only to have the plugin that does so costs 40 ms a test beside xdist. Then the tests in a
# browser, each worker with a page and a browser of its own; one that had to be run again says why.
PYTEST = OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false GRADIO_ANALYTICS_ENABLED=False $(BIN)/python -m pytest --durations 10
ONCE = -p no:rerunfailures
AGAIN = --reruns 2 --rerun-show-tracebacks
PARALLEL = -n $(WORKERS) --dist loadfile
test: $(VENV)/installed-dev
	sh .ci/browser $(BIN)/python
	$(PYTEST) $(ONCE) $(PARALLEL) --ignore tests/browser -m "not slow and not unsteady"
	$(PYTEST) $(AGAIN) $(PARALLEL) tests/browser -m "not slow and not unsteady"

test-slow: $(VENV)/installed-slow
	sh .ci/browser $(BIN)/python
	$(PYTEST) $(ONCE) --ignore tests/browser -m "slow and not unsteady"
	$(PYTEST) $(AGAIN) tests/browser -m "slow and not unsteady"

test-unsteady: $(VENV)/installed-dev
	sh .ci/browser $(BIN)/python
	$(PYTEST) -m unsteady

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .

bench: $(VENV)/installed-dev
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/first_answers.py
	$(BIN)/python benchmarks/crowd.py
	$(BIN)/python benchmarks/load.py
	$(BIN)/python benchmarks/anything_sent.py
	$(BIN)/python benchmarks/heavy_questions.py
	$(BIN)/python benchmarks/unread_answers.py
	$(BIN)/python benchmarks/slow_clients.py
	$(BIN)/python benchmarks/fill_blanks.py
	$(BIN)/python benchmarks/span_filling.py
	$(BIN)/python benchmarks/generation.py
	$(BIN)/python benchmarks/first_token.py
	$(BIN)/python benchmarks/writers.py
	$(BIN)/python benchmarks/blimp.py
	$(BIN)/python benchmarks/attention.py
	$(BIN)/python benchmarks/attention_cost.py
	$(BIN)/python benchmarks/heads.py
	$(BIN)/python benchmarks/neighbours_page.py
	$(BIN)/python benchmarks/anisotropy_page.py
	$(BIN)/python benchmarks/corpus_jobs.py
	$(BIN)/python benchmarks/registry_memory.py
	$(BIN)/python benchmarks/fine_tuning_jobs.py
	$(BIN)/python benchmarks/fine_tuning.py
	$(BIN)/python benchmarks/own_tasks.py

# Each goes on from its last checkpoint if it was stopped. These are as eight and nine minutes on an H100 made them, all
# at once; on a CPU, BATCH=4096 MINI_BATCH=1024: a new model needs many steps more than it needs large ones.
MINUTES ?= 60
BATCH ?= 16384
MINI_BATCH ?= 8192
RUNS ?= runs
PRETRAIN = $(BIN)/explorer pretrain --minutes $(MINUTES) --batch-tokens $(BATCH) $(CORPUS)
PRETRAIN_MINI = $(BIN)/explorer pretrain --minutes $(MINUTES) --batch-tokens $(MINI_BATCH) $(CORPUS) --start nothing \
    --lengths 32,64,128,256 --short-first 0.25
models: $(VENV)/installed-dev
	$(PRETRAIN) masked --folder $(RUNS)/minilm-masked --lengths 32,64,128 --unlikelihood 1
	$(PRETRAIN) causal --folder $(RUNS)/minilm-causal --lengths 128 --learning-rate 8e-4 --head-learning-rate 2e-3
	$(PRETRAIN) span --start "MiniLM (masked)" --folder $(RUNS)/minilm-span --lengths 30,62,126 --share 0.3 --mean-span 2 \
	    --learning-rate 8e-4 --head-learning-rate 2e-3 --bits 4
	$(PRETRAIN_MINI) masked --folder $(RUNS)/bert-mini --learning-rate 1e-3 --share 0.3 --unlikelihood 0
	$(PRETRAIN_MINI) causal --folder $(RUNS)/gpt-mini --learning-rate 2e-3
	$(PRETRAIN_MINI) span --folder $(RUNS)/t5-mini --learning-rate 1.5e-3 --head-learning-rate 1.5e-2 --share 0.3 --mean-span 2
	$(PRETRAIN_MINI) bilm --folder $(RUNS)/elmo-mini --learning-rate 2e-3
	$(PRETRAIN_MINI) replaced --folder $(RUNS)/electra-mini --learning-rate 1e-3 --share 0.3

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

$(VENV)/installed-slow: $(VENV)/installed-dev
	$(PIP) -e ".[offline,dev,ray]"
	@touch $@
