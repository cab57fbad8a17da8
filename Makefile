# SPDX-License-Identifier: MIT OR GPL-2.0-only
# A thin front door; Meson does the work in build/.
BUILD  ?= build
PREFIX ?= /usr/local

.PHONY: all demo check check-long bench install clean deps

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja: | deps
	@meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null

deps:
	@scripts/install-packages build

demo: all
	@scripts/demo $(BUILD)

check:
	@scripts/install-packages build check
	@scripts/fetch-speedscope >/dev/null || true
	@$(MAKE) --no-print-directory all
	@tests/run $(BUILD)

check-long:
	@scripts/install-packages build check
	@scripts/fetch-speedscope >/dev/null || true
	@$(MAKE) --no-print-directory all
	@tests/run $(BUILD) --long

bench:
	@scripts/install-packages build bench
	@$(MAKE) --no-print-directory all
	@bench/run $(BUILD)

install: all
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@DESTDIR="$(DESTDIR)" meson install -C $(BUILD) --quiet

clean:
	@rm -rf $(BUILD)
