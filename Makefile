# deadheat: the commands a person types. Everything real is done by meson, ninja and the scripts
# called here; `make help` lists the targets.
#
#   BUILD=dir    where to build (default: build); BUILD/bin/deadheat is the program
#   CHECKED=1    with a BUILD of its own: build a tree in which every DH_ASSERT is asked
#   PREFIX, DESTDIR   as usual, for `make install`
#   TESTS=PATTERN     for `make check`: only the cases whose name matches
#   BENCH=FLAGS       for `make bench`: --quick, --rounds N, --write

BUILD ?= build
CHECKED ?=
PREFIX ?= /usr/local
DESTDIR ?=
TESTS ?=
BENCH ?=
CLANG ?= clang-19
CLANGXX ?= clang++-19

OBJ := $(BUILD)/obj
STAGE := $(abspath $(BUILD))

.PHONY: all help deps demo check install deb bench format lint clean
.NOTPARALLEL:

# The install step lays out BUILD/bin and BUILD/lib/deadheat exactly as an installation would: deadheat
# finds its parts relative to itself, so the tree can be used, copied and tested in place.
all: $(OBJ)/build.ninja
	@ninja -C $(OBJ) --quiet
	@meson install -C $(OBJ) --destdir "$(STAGE)" --quiet --only-changed --no-rebuild

$(OBJ)/build.ninja:
	@command -v meson >/dev/null && command -v $(CLANG) >/dev/null || \
	    { echo "make: meson or $(CLANG) is missing; scripts/install-deps installs what is needed" >&2; exit 1; }
	@mkdir -p $(BUILD)
	@CC=$(CLANG) CXX=$(CLANGXX) meson setup $(OBJ) . --prefix=/ $(if $(CHECKED),-Dchecked=true) >$(OBJ).log 2>&1 || \
	    { cat $(OBJ).log >&2; exit 1; }

help:
	@echo "make            build; the program is $(BUILD)/bin/deadheat"
	@echo "make demo       install what is missing, build, and show a race being found"
	@echo "make check      install what is missing, build, and run every test (TESTS=PATTERN for some)"
	@echo "make install    install below PREFIX ($(PREFIX)); DESTDIR is honoured"
	@echo "make deb        build packages for Debian from a clean copy of the tree, into $(BUILD)/deb"
	@echo "make bench      measure native, deadheat and ThreadSanitizer side by side, and the work with traces"
	@echo "make format     format all sources        make lint    warnings of clang-tidy, gcc, clang-format"
	@echo "make clean      remove $(BUILD)"

deps:
	@scripts/install-deps

demo: deps all
	@examples/demo/run "$(BUILD)"

check: deps all
	@BUILD="$(STAGE)" tests/run $(if $(TESTS),-k '$(TESTS)')

install: all
	meson install -C $(OBJ) --destdir "$$(realpath -m -- "$(if $(DESTDIR),$(DESTDIR)/)$(PREFIX)")" --quiet --no-rebuild

# The packages land beside the tree that they are built in, so that tree is a copy.
deb:
	rm -rf "$(STAGE)/deb"
	mkdir -p "$(STAGE)/deb/deadheat"
	tar -c --exclude=./.git --exclude='./build*' --exclude=./node_modules . | tar -x -C "$(STAGE)/deb/deadheat"
	cd "$(STAGE)/deb/deadheat" && env -u BUILD -u MAKEFLAGS dpkg-buildpackage -us -uc -b
	rm -rf "$(STAGE)/deb/deadheat"

bench: all
	@BUILD="$(STAGE)" bench/run $(BENCH)
	@BUILD="$(STAGE)" bench/growth $(BENCH)
	@BUILD="$(STAGE)" bench/real/run $(BENCH)
	@BUILD="$(STAGE)" bench/compile $(BENCH)
	@BUILD="$(STAGE)" bench/prune $(BENCH)
	@BUILD="$(STAGE)" bench/first-report $(BENCH)
	@BUILD="$(STAGE)" bench/traces $(BENCH)
	@BUILD="$(STAGE)" bench/scale $(BENCH)
	@BUILD="$(STAGE)" bench/history $(BENCH)
	@BUILD="$(STAGE)" bench/lardvm $(BENCH)
	@BUILD="$(STAGE)" bench/sample $(BENCH)
	@BUILD="$(STAGE)" bench/field $(BENCH)
	@BUILD="$(STAGE)" bench/asleep $(BENCH)
	@BUILD="$(STAGE)" bench/asleep --time $(BENCH)
	@BUILD="$(STAGE)" bench/chase $(BENCH)
	@BUILD="$(STAGE)" bench/steer $(BENCH)
	@BUILD="$(STAGE)" bench/caper $(BENCH)
	@BUILD="$(STAGE)" bench/caper --count $(BENCH)
	@BUILD="$(STAGE)" bench/pipeline $(BENCH)
	@BUILD="$(STAGE)" bench/filter $(BENCH)
	@BUILD="$(STAGE)" bench/crowd $(BENCH)
	@BUILD="$(STAGE)" bench/crowd --overhead $(BENCH)
	@BUILD="$(STAGE)" bench/hive $(BENCH)
	@BUILD="$(STAGE)" bench/summary

format:
	@scripts/format

lint: $(OBJ)/build.ninja
	@BUILD="$(STAGE)" scripts/lint

clean:
	rm -rf $(BUILD)
