# SPDX-License-Identifier: MIT
#
# Installed use: `make install` (PREFIX, DESTDIR and the folders below) and `make deb`. This file knows which of our files are
# installed and where. Nothing installed looks for a checkout: the libraries are compiled with the places of the installation,
# and scripts get them when they are copied.

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/ppu
EXAMPLEDIR ?= $(DOCDIR)/examples
# OpenCL's loader looks only here.
VENDORDIR ?= /etc/OpenCL/vendors

# Installations with different places do not share what knows of them.
INSTALLED_KEY := $(subst /,-,$(PREFIX))
INSTALLED := $(BUILD)/installed$(INSTALLED_KEY)
INSTALLED_QEMU := $(LIBEXECDIR)/ppu/qemu-system-aarch64
INSTALLED_OPENCL := $(LIBDIR)/ppu
INSTALLED_DATA := $(DATADIR)/ppu

# ---- libraries ----

# Of these sources there are objects with the places of the installation; of all others, those that the checkout's OpenCL has.
PATHS := -DPPU_PATH_LAUNCHER='"$(BINDIR)/ppu-run"' -DPPU_PATH_FIRMWARE='"$(INSTALLED_DATA)/firmware/ppufw.bin"'
PATHS_RUNTIME := runtime/device.c runtime/native/machine.c
PATHS_OPENCL := opencl/submit/open_ppu.c
$(eval $(call ppu_compile,plain,ppu$(INSTALLED_KEY),$(PATHS_RUNTIME),$(PPU_RUNTIME_CFLAGS) -fPIC $(PATHS)))
$(eval $(call ppu_compile,plain,opencl$(INSTALLED_KEY),$(PATHS_OPENCL),$(OPENCL_CFLAGS) -fPIC $(PATHS)))
INSTALLED_RUNTIME_OBJECTS := $(call ppu_objects,plain,ppu$(INSTALLED_KEY),$(PATHS_RUNTIME)) \
	$(call ppu_objects,plain,opencl-shared-ppu,$(filter-out $(PATHS_RUNTIME),$(PPU_RUNTIME_SOURCES)))
INSTALLED_OPENCL_OBJECTS := $(call ppu_objects,plain,opencl$(INSTALLED_KEY),$(PATHS_OPENCL)) \
	$(call ppu_objects,plain,opencl-shared,$(filter-out $(PATHS_OPENCL),$(OPENCL_SOURCES))) $(INSTALLED_RUNTIME_OBJECTS)

LIBPPU_SONAME := libppu.so.$(firstword $(subst ., ,$(VERSION)))
$(INSTALLED)/libppu.so: $(INSTALLED_RUNTIME_OBJECTS) runtime/libppu.map include/ppu/version.h
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -g -o $@.$(pid) $(INSTALLED_RUNTIME_OBJECTS) -Wl,-soname=$(LIBPPU_SONAME) -Wl,--version-script=runtime/libppu.map -Wl,-z,relro,-z,now -Wl,--no-undefined -pthread
	$(Q)mv $@.$(pid) $@
# One object, in which only the names of ppu.h are seen.
$(INSTALLED)/libppu.a: $(INSTALLED_RUNTIME_OBJECTS)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)ld -r -o $(@:.a=.o) $^
	$(Q)objcopy --wildcard --keep-global-symbol='ppu_*' $(@:.a=.o)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(@:.a=.o)
$(INSTALLED)/libppu-opencl.so: $(INSTALLED_OPENCL_OBJECTS) opencl/export.map
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(OPENCL_LDFLAGS) -o $@.$(pid) $(INSTALLED_OPENCL_OBJECTS) -Wl,--version-script=opencl/export.map -Wl,-z,relro,-z,now -Wl,--no-undefined $(OPENCL_NEEDS) -pthread
	$(Q)mv $@.$(pid) $@

# ---- commands and their manual pages ----

# name of the command, and what a manual says it is
INSTALLED_PROGRAMS := ppu-as ppu-dis ppucc ppu-trace ppu-report ppu-prof ppu-top ppu-dbg ppu-dap
INSTALLED_SCRIPTS := ppu-run
PURPOSE_ppu-as := assembler for kernels of the PPU
PURPOSE_ppu-dis := disassembler for program images of the PPU
PURPOSE_ppu-trace := record what programs, firmware and devices of the PPU do
PURPOSE_ppu-top := show live what PPUs do
PURPOSE_ppu-dbg := debug kernels of the PPU
PURPOSE_ppu-dap := let an editor debug kernels of the PPU
PURPOSE_ppu-report := show a record of ppu-trace as a page or a picture
PURPOSE_ppu-prof := profile kernels of the PPU by source line and instruction
PURPOSE_ppucc := compiler from OpenCL C to program images of the PPU
PURPOSE_ppu-run := start a machine with PPUs in QEMU
INSTALLED_PAGES := $(patsubst %,$(INSTALLED)/man/%.1,$(INSTALLED_PROGRAMS) $(INSTALLED_SCRIPTS))

$(INSTALLED)/man/%.1: packaging/manual packaging/man/%.inc include/ppu/version.h
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)packaging/manual '$(VERSION)' '$(PURPOSE_$*)' $(filter %.inc,$^) $(filter-out packaging/% include/%,$^) >$@.$(pid)
	$(Q)mv $@.$(pid) $@
$(patsubst %,$(INSTALLED)/man/%.1,$(INSTALLED_PROGRAMS)): $(INSTALLED)/man/%.1: $(BUILD)/plain/tools/%
$(patsubst %,$(INSTALLED)/man/%.1,$(INSTALLED_SCRIPTS)): $(INSTALLED)/man/%.1: tools/%

# ---- what goes where ----

EXAMPLE_FILES := examples/libppu/saxpy.c examples/libppu/pieces.c tests/kernels/saxpy.s examples/libppu/bfs.c examples/libppu/bfs.s examples/libppu/limits.c examples/libppu/limits.s examples/opencl/quicksort.c examples/opencl/squares.c examples/opencl/nested.c examples/opencl/entries.c examples/opencl/levels.c examples/opencl/variants.c examples/opencl/waves.c examples/opencl/locks.c
INSTALL_READY := $(QEMU) $(TIER_MODULE) $(MCU_MODULE) $(BUILD)/plain/tools/ppu-confine $(BUILD)/plain/tools/ppu-translator firmware $(INSTALLED_PAGES) $(patsubst %,$(BUILD)/plain/tools/%,$(INSTALLED_PROGRAMS)) \
	$(addprefix $(INSTALLED)/,libppu.so libppu.a libppu-opencl.so) $(OPENCL_COMPILER) $(OPENCL_FOREIGN) $(OPENCL_FORKSERVER)

# Not exported: a make that is called for packages has places of its own.
INSTALL_PLACES := DESTDIR PREFIX BINDIR LIBDIR LIBEXECDIR INCLUDEDIR DATADIR MANDIR DOCDIR EXAMPLEDIR VENDORDIR \
	INSTALLED_QEMU INSTALLED_OPENCL INSTALLED_DATA LIBPPU_SONAME VERSION
INSTALL_PART := $(foreach p,$(INSTALL_PLACES),$(p)='$($(p))') packaging/install
.PHONY: install uninstall
install: $(INSTALL_READY) ## install everything below PREFIX (default /usr/local; DESTDIR, BINDIR, LIBDIR ... as usual)
	$(Q)$(INSTALL_PART) programs $(addprefix $(BUILD)/plain/tools/,$(INSTALLED_PROGRAMS))
	$(Q)$(INSTALL_PART) scripts $(addprefix tools/,$(INSTALLED_SCRIPTS))
	$(Q)$(INSTALL_PART) pages $(INSTALLED_PAGES)
	$(Q)$(INSTALL_PART) machine $(QEMU) $(BUILD)/plain/tools/ppu-confine $(BUILD)/firmware/picolibc $(TIER_MODULE) $(MCU_MODULE) $(BUILD)/plain/tools/ppu-translator
	$(Q)$(INSTALL_PART) library $(INSTALLED)/libppu.so $(INSTALLED)/libppu.a
	$(Q)$(INSTALL_PART) opencl $(INSTALLED)/libppu-opencl.so $(OPENCL_COMPILER) $(OPENCL_FOREIGN) $(OPENCL_FORKSERVER)
	$(Q)$(INSTALL_PART) data
	$(Q)$(INSTALL_PART) examples $(EXAMPLE_FILES)
	$(Q)$(INSTALL_PART) documents
uninstall: ## remove what `make install` with the same PREFIX, DESTDIR ... has installed
	$(Q)$(INSTALL_PART) remove

# ---- Debian packages ----

DEB_LIBDIR := /usr/lib/$(shell dpkg-architecture -q DEB_HOST_MULTIARCH 2>/dev/null)
.PHONY: deb
deb: | $(INSTALL_READY) ## make Debian packages in build/deb
	$(Q)rm -rf $(BUILD)/package/tree
	$(Q)$(MAKE) install DESTDIR=$(abspath $(BUILD))/package/tree PREFIX=/usr LIBDIR=$(DEB_LIBDIR) \
		DOCDIR=/usr/share/doc/ppu-doc EXAMPLEDIR=/usr/share/doc/ppu-examples/examples
	$(Q)VERSION='$(VERSION)' packaging/deb $(BUILD)/package $(BUILD)/deb
