# SPDX-License-Identifier: MIT
# libppu: the user-mode driver. Transports that need nothing but the C library are part of it.
PPU_RUNTIME_CFLAGS := -D_GNU_SOURCE -Iruntime/include
PPU_RUNTIME_SOURCES := $(addprefix runtime/,error.c range.c mapping.c file.c interrupt.c look.c machine_clock.c admin.c firmware.c device.c device_state.c counts.c nest.c nest_heap.c \
	trace.c recorder.c profile.c pagetable.c context.c memory.c channel.c block.c event.c why.c program.c stream.c fence.c tmdq.c launch.c sanitizer.c workq.c taskq.c \
	native/qtest.c native/pci.c native/process.c native/mailbox.c native/transport.c native/environment.c native/machine.c \
	vfio/function.c vfio/chain.c vfio/region.c vfio/mapped_function.c vfio/transport.c pci/huge_memory.c pci/transport.c \
	vfio_user/connection.c vfio_user/transport.c state/view.c state/why.c open.c)
$(eval $(call ppu_lib,ppu,$(PPU_RUNTIME_SOURCES),$(PPU_RUNTIME_CFLAGS)))
