# SPDX-License-Identifier: MIT OR GPL-2.0-only
# A thin front door; Meson does the work in build/.
BUILD  ?= build
PREFIX ?= /usr/local

SECONDS ?= 60

.PHONY: all everything arm64 kernel demo check check-quick check-asan check-long fuzz bench bench-kernel install uninstall clean deps

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) product

# The tests and the benchmarks, too.
everything: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

# The product for aarch64, into $(BUILD)-arm64.
arm64:
	@scripts/install-packages build arm64
	@scripts/build-arm64 $(BUILD)-arm64

# A directory that was configured before the tests' packages were there looks for them again.
CONFIGURE_AGAIN = if [ -f $(BUILD)/build.ninja ]; then meson configure --clearcache $(BUILD) && meson setup --reconfigure $(BUILD) >/dev/null; fi

# Debian's loader and pkg-config look into the folder of the architecture, of which Meson knows only if dpkg-dev is installed.
$(BUILD)/build.ninja:
	@scripts/install-packages --missing $(if $(findstring command=false,$(MESON_OPTIONS)),library,build)
	@multiarch=$$($(CC) -print-multiarch 2>/dev/null) ; meson setup $(BUILD) --prefix=$(PREFIX) $${multiarch:+--libdir=lib/$$multiarch} $(MESON_OPTIONS) >/dev/null

# burin.ko, for each kernel whose headers are installed, or only for RELEASE=.
kernel:
	@scripts/build-kernel $(BUILD) $(RELEASE)

# Lists what the build needs and the machine lacks, asks, and installs it. Without a terminal it does not ask.
deps:
	@scripts/install-packages --ask build faster

demo: deps
	@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)

check:
	@scripts/install-packages build faster check
	@$(CONFIGURE_AGAIN)
	@scripts/fetch-npm speedscope arrow duckdb hyparquet >/dev/null || true
	@scripts/fetch-arm64 >/dev/null || true
	@$(MAKE) --no-print-directory everything
	@tests/run $(BUILD)

# The tests of the parts, and of style: for the loop of writing and trying.
check-quick: everything
	@tests/run $(BUILD) --quick

# The tests of the parts once more, all built with AddressSanitizer and UBSan.
check-asan:
	@scripts/install-packages build faster check
	@test -f $(BUILD)-asan/build.ninja || meson setup $(BUILD)-asan -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
	@ninja -C $(BUILD)-asan
	@ASAN_OPTIONS=detect_leaks=0 tests/run $(BUILD)-asan --compiled

check-long:
	@scripts/install-packages build faster check deb
	@scripts/fetch-npm speedscope arrow duckdb hyparquet >/dev/null || true
	@scripts/fetch-arm64 >/dev/null || true
	@$(MAKE) --no-print-directory everything
	@tests/run $(BUILD) --long

# Each door of tests/fuzz for so many SECONDS; see tests/fuzz/fuzz.py.
fuzz:
	@scripts/install-packages build faster check
	@$(MAKE) --no-print-directory all
	@tests/fuzz/fuzz.py $(BUILD) --seconds $(SECONDS)

bench:
	@scripts/install-packages build bench
	@$(MAKE) --no-print-directory everything
	@bench/run $(BUILD)

# What the kernel's module costs, in instructions of a machine.
bench-kernel:
	@scripts/install-packages build check bench
	@$(MAKE) --no-print-directory everything
	@bench/module/run $(BUILD)

# The prefix is compiled in, so it is set before the product is made. Without PREFIX= it is that of the first configuration.
install: $(BUILD)/build.ninja
	@$(if $(filter file,$(origin PREFIX)),:,meson configure $(BUILD) --prefix=$(PREFIX))
	@$(MAKE) --no-print-directory all
	@DESTDIR="$(DESTDIR)" meson install -C $(BUILD) --quiet --no-rebuild
	@scripts/after-install $(BUILD) "$(DESTDIR)"

# What the last `make install` of this directory has installed.
uninstall:
	@test -f $(BUILD)/meson-logs/install-log.txt || { echo "uninstall: nothing was installed from $(BUILD)" >&2; exit 1; }
	@ninja -C $(BUILD) uninstall >/dev/null
	@rm $(BUILD)/meson-logs/install-log.txt

clean:
	@rm -rf $(BUILD)

# The Debian packages, in BUILD/deb.
.PHONY: deb
deb:
	@scripts/install-packages build faster deb
	@scripts/build-packages $(BUILD)/deb
