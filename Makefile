# SPDX-License-Identifier: Apache-2.0
# The two commands a newcomer needs are `make demo` and `make test`; `make help` lists the rest.
# Each installs what is missing (scripts/setup), builds with a CMake preset, runs.

PREFIX ?= /usr/local
DEMO_DIR ?= milieu-demo
FUZZ_SECONDS ?= 20
TORTURE_MINUTES ?= 10
SOAK_MINUTES ?= 60
JOBS ?= $(shell nproc)
MILIEU := build/release/bin/milieu
CONFIGURE = cmake --preset $(1) -Wno-dev
BUILD = cmake --build --preset $(1) --parallel $(JOBS)
# Debian's Python looks for packages of the system in dist-packages, for those of a user (PREFIX=~/.local)
# or a virtual environment in site-packages.
PYTHON_PLACE = lib/python$(shell /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')/$(if $(filter /usr /usr/local,$(PREFIX)),dist-packages,site-packages)
CTEST = ctest --preset $(1) --parallel $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help setup build python wheel demo test test-all check-all deb packages abi docs-site asan tsan tidy coverage fuzz torture soak bench install format docs clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: ## install the packages that a build needs
	@scripts/setup build

build: setup ## build the release program: build/release/bin/milieu
	@$(call CONFIGURE,release) -DMILIEU_BUILD_TESTS=OFF >/dev/null
	@$(call BUILD,release)

demo: build ## five questions that a context answers, with a page to look at
	@scripts/setup demo || echo "demo: without dataset-fashion-mnist all images are drawn"
	@$(MILIEU) demo --out $(DEMO_DIR)
	@echo "(milieu is $(MILIEU) until it is installed by make install)"

test: ## build everything and run all tests but the slow ones
	@scripts/setup test
	@$(call CONFIGURE,release) -DMILIEU_BUILD_TESTS=ON >/dev/null
	@$(call BUILD,release)
	@$(call CTEST,release)

test-all: ## the same with the slow tests
	@scripts/setup test
	@$(call CONFIGURE,release) -DMILIEU_BUILD_TESTS=ON >/dev/null
	@$(call BUILD,release)
	@$(call CTEST,release-all)

check-all: ## everything: slow tests, clang-tidy, sanitizers, fuzzers, faults, coverage; continues where it stopped
	@scripts/setup check
	@scripts/check_all

asan tsan: ## tests under AddressSanitizer + UBSan, or ThreadSanitizer
	@scripts/setup check
	@$(call CONFIGURE,$@) >/dev/null
	@$(call BUILD,$@)
	@$(call CTEST,$@)

tidy: ## clang-tidy on every source
	@scripts/setup check
	@$(call CONFIGURE,tidy) >/dev/null
	@$(call BUILD,tidy)

fuzz: ## each reader's fuzzer for FUZZ_SECONDS
	@scripts/setup check
	@$(call CONFIGURE,fuzz) >/dev/null
	@$(call BUILD,fuzz)
	@scripts/fuzz $(FUZZ_SECONDS)

coverage: ## line coverage of src/milieu and apps, as text and build/coverage/coverage.html
	@scripts/setup check
	@$(call CONFIGURE,coverage) >/dev/null
	@$(call BUILD,coverage)
	@find build/coverage -name '*.gcda' -delete
	@$(call CTEST,coverage)
	@scripts/coverage

torture: build ## a fault campaign of TORTURE_MINUTES against the program, with a table at the end
	@scripts/setup test
	@MILIEU_PROGRAM=$(MILIEU) TORTURE_MINUTES=$(TORTURE_MINUTES) tests/torture/torture.py

soak: build ## the explorer under mixed load for SOAK_MINUTES
	@scripts/setup test
	@MILIEU_PROGRAM=$(MILIEU) tests/torture/soak.py --minutes $(SOAK_MINUTES)

bench: build ## compare speed and memory with scikit-learn and faiss
	@scripts/setup bench
	@$(call CONFIGURE,bench) >/dev/null
	@$(call BUILD,bench) --target milieu_benches
	@bench/run

python: ## build the Python package: PYTHONPATH=build/python
	@scripts/setup python
	@$(call CONFIGURE,release) >/dev/null
	@$(call BUILD,release) --target milieu_python

wheel: python ## make a wheel of the Python package in build/wheel, without a network
	@mkdir -p build/wheel
	@cd packaging/python && MILIEU_PYTHON_DIR=$(CURDIR)/build/python /usr/bin/python3 -B -c \
	  "import milieu_build; print('build/wheel/' + milieu_build.build_wheel('$(CURDIR)/build/wheel'))"

deb: ## Debian packages in build/package/deb: milieu, libmilieu0, libmilieu-dev, python3-milieu, milieu-mpi
	@scripts/setup package
	@packaging/debian/build $(JOBS)

packages: deb ## the packages used in an empty Debian, completion in real shells, manual pages, licences
	@packaging/check

abi: ## libmilieu.so against the binary interface that was promised (docs/versioning.md)
	@scripts/setup package
	@packaging/abi check

docs-site: build python ## the documentation site in build/site, its links and pages checked
	@scripts/setup package
	@packaging/site/make build/site
	@packaging/site/check build/site

install: build python ## install program, library, headers, completion, Python package under PREFIX (default /usr/local)
	@cmake -DMILIEU_PYTHON_INSTALL_DIR:STRING=$(PYTHON_PLACE) build/release >/dev/null
	@cmake --install build/release --prefix $(PREFIX)

format: ## clang-format every source
	@scripts/format

docs: build python ## refresh the option tables in docs/ and the estimators of the Python package
	@scripts/update_docs
	@scripts/update_python

clean: ## remove build/ and the demo's folder
	@rm -rf build $(DEMO_DIR)
