# The entry point of the build. `make help` lists the targets.
BUILD    ?= build
PREFIX   ?= /usr/local
JOBS     ?= $(shell nproc 2>/dev/null || echo 2)
GENERATOR ?= Ninja
# PACKAGES=no installs nothing and assumes that the required packages are installed.
PACKAGES ?= yes

# A variable, because a comma would end an argument of call.
sanitizers = address,undefined
configure = cmake -S . -B $(1) -G $(GENERATOR) --log-level=WARNING $(2) >/dev/null

.PHONY: all help python-deb packages twin twin-packages twin-demo bench-packages optional-packages web-packages verify-packages wasm wasm-packages demo test test-all bench install sanitize verify \
        torture calibrate documents fuzz places format clean

all: packages
	@$(call configure,$(BUILD))
	@cmake --build $(BUILD) -j $(JOBS) --target oleodyn liboleodyn oleodyn_shared oleodyn_core manual

help:
	@echo "make            build the program build/oleodyn and the library"
	@echo "make demo       observe a hydraulic four-bar from three sensors and write a report"
	@echo "make test       build everything and run all tests, a part of them also with sanitizers (ctest -L sanitized)"
	@echo "make test-all   install the packages of all optional parts and run all tests; fails if a test is skipped because a package is missing"
	@echo "make bench      build and run the benchmarks; with AGAINST=COMMIT the ratios to that commit,"
	@echo "                with WHAT=instructions without times, with LIMIT=1.03 as a check of instructions"
	@echo "                OD_BENCH_SECONDS=0.5 make bench: quick but less accurate, at most 0.5 s for each figure"
	@echo "make wasm       build the engine of pages that compute (simulate --report --interactive); needs clang and wasi-libc"
	@echo "make twin       build the program of 'oleodyn twin'; needs SQLite"
	@echo "make twin-demo  a broker, a simulated machine whose valve wears, and a twin with alarm and page; KEEP=1 keeps the page open"
	@echo "make install    install under PREFIX ($(PREFIX))"
	@echo "make python-deb build the Debian package python3-oleodyn"
	@echo "make sanitize   run all tests with the address and undefined-behavior sanitizers"
	@echo "make verify     both compilers and their sanitizers, thread sanitizer, valgrind, clang-tidy, cppcheck, mutants (hours)"
	@echo "                STAGES=mutants MUTANTS=100 SEED=1: 100 random faults in the core, which tests must find"
	@echo "make torture    every write, read and allocation fails once, every signal arrives, every file is truncated: a table (half an hour)"
	@echo "make calibrate  1000 random machines: reported errors compared with true errors (SEEDS=1001:2000)"
	@echo "make documents  run the commands of docs/documents.yaml and write docs/documents.md (at most an hour)"
	@echo "make fuzz       libFuzzer on every fuzz target, FUZZ_SECONDS=200 each"
	@echo "make places     a value of another kind at every place of every file, with the sanitizers (an hour)"
	@echo "make format     format the sources (needs clang-format)"
	@echo "make clean      remove the build folders"

packages:
ifneq ($(PACKAGES),no)
	@scripts/install-packages scripts/packages.txt
endif

twin-packages:
ifneq ($(PACKAGES),no)
	@scripts/install-packages scripts/packages-twin.txt
endif

# The twin is beside the helper programs, where the program finds it.
twin: all twin-packages
	@$(call configure,$(BUILD))
	@cmake --build $(BUILD) -j $(JOBS) --target oleodyn-twin

# SPEED=6: six times faster than the machine. KEEP=1: the page stays open until Ctrl-C.
twin-demo: twin
ifneq ($(PACKAGES),no)
	@scripts/install-packages scripts/packages-twin-demo.txt
endif
	@KEEP=$(KEEP) scripts/twin-demo $(BUILD)

bench-packages:
ifneq ($(PACKAGES),no)
	@scripts/install-packages scripts/packages-bench.txt
endif

optional-packages:
ifneq ($(PACKAGES),no)
	@scripts/install-packages scripts/packages-optional.txt
endif

web-packages:
ifneq ($(PACKAGES),no)
	@npm ci --prefix web --silent --no-fund --no-audit
endif

verify-packages:
ifneq ($(PACKAGES),no)
	@scripts/install-packages scripts/packages-verify.txt
endif

wasm-packages:
ifneq ($(PACKAGES),no)
	@scripts/install-packages scripts/packages-wasm.txt
endif

# The engine is beside the helper programs, where the program finds it.
wasm: packages wasm-packages
	@$(call configure,build-wasm,--no-warn-unused-cli -DCMAKE_TOOLCHAIN_FILE=scripts/wasm.cmake -DCMAKE_BUILD_TYPE=MinSizeRel -DOD_ENGINE=ON)
	@cmake --build build-wasm -j $(JOBS) --target oleodyn-engine
	@mkdir -p $(BUILD)/libexec/oleodyn
	@cp build-wasm/oleodyn-engine.wasm $(BUILD)/libexec/oleodyn/

demo: all
	@scripts/demo $(BUILD)

# Warnings are errors here. The setting stays in the build folder, so that switching between `make` and `make test`
# does not compile everything again each time.
test: packages
	@$(call configure,$(BUILD),-DOD_WERROR=ON)
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure --no-label-summary -j2

# Parts of the build that are off by default.
optional_parts = -DOD_MPI=ON
test-all: packages optional-packages web-packages
	@$(call configure,build-all,-DOD_WERROR=ON $(optional_parts))
	@cmake --build build-all -j $(JOBS)
	@$(MAKE) --no-print-directory wasm BUILD=build-all PACKAGES=no
	@scripts/test-all build-all -j2

sanitize: packages
	@$(call configure,build-sanitize,-DOD_SANITIZE=$(sanitizers) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1)
	@cmake --build build-sanitize -j $(JOBS)
	@ctest --test-dir build-sanitize --output-on-failure --no-label-summary -j2

verify: packages verify-packages
	@JOBS=$(JOBS) GENERATOR=$(GENERATOR) MUTANTS=$(MUTANTS) SEED=$(SEED) scripts/verify $(STAGES)

torture: packages
	@$(call configure,$(BUILD))
	@cmake --build $(BUILD) -j $(JOBS) --target torture
	@OD_TORTURE=1 JOBS=$(JOBS) $(BUILD)/tests/torture $(KINDS)

# Seeds up to 1000 are for development; those from 1001 on are held out.
SEEDS ?= 1001:2000
calibrate: packages
	@$(call configure,$(BUILD))
	@cmake --build $(BUILD) -j $(JOBS) --target calibration
	@$(BUILD)/tests/calibration --seeds $(SEEDS) --threads $(JOBS) --check

# All tables, figures and equations of the documents that oleodyn reproduces. The test `documents` is the short form.
documents: packages
ifneq ($(PACKAGES),no)
	@scripts/install-packages scripts/packages-documents.txt
endif
	@$(call configure,$(BUILD))
	@cmake --build $(BUILD) -j $(JOBS) --target $$(scripts/documents --targets)
	@scripts/documents --build $(BUILD)

fuzz: packages verify-packages
	@JOBS=$(JOBS) GENERATOR=$(GENERATOR) scripts/fuzz $(TARGETS)

places: packages
	@$(call configure,build-sanitize,-DOD_SANITIZE=$(sanitizers) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1)
	@cmake --build build-sanitize -j $(JOBS) --target places
	@OD_TORTURE=1 ctest --test-dir build-sanitize -R fuzz.places --timeout 36000 --verbose

# AGAINST=COMMIT: prints the ratios to that commit instead; WHAT=instructions: without times, for a busy computer;
# LIMIT=1.03: fails if a ratio of instructions is larger.
bench: packages bench-packages
ifdef AGAINST
	@JOBS=$(JOBS) LIMIT=$(LIMIT) scripts/bench-against $(AGAINST) $(WHAT)
else
	@$(call configure,$(BUILD),-DOD_BENCH=ON)
	@cmake --build $(BUILD) -j $(JOBS) --target oleodyn bench
endif

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

python-deb: packages
	@$(call configure,$(BUILD))
	@cmake --build $(BUILD) -j $(JOBS) --target oleodyn_shared oleodyn core_copy
	@scripts/python-deb $(BUILD)

format:
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs -r clang-format -i

clean:
	@rm -rf $(BUILD) build-all build-sanitize build-verify build-fuzz build-bench build-wasm
