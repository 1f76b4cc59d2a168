/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves doorbells and vectors through memory that a client shares (ppu/mailbox.h): a memory backend, or a BAR that a
 * client of vfio-user maps.
 */
#include "qemu/osdep.h"

#include "qapi/error.h"
#include "system/cpu-timers.h"

#include "ppu.h"

void ppu_mailbox_serve(PPUState *s)
{
    if (s->mailbox) {
        core_mailbox_serve(s->core, s->mailbox);
    }
}

void ppu_mailbox_say_quiet(PPUState *s, bool quiet)
{
    if (s->mailbox) {
        ppu_mailbox_quiet(s->mailbox, quiet);
    }
}

static int woken_can_read(void *opaque)
{
    return 256;
}

static void woken(void *opaque, const uint8_t *bytes, int len)
{
    ppu_mailbox_serve(opaque);
}

static uint64_t bar_bytes(void)
{
    return MAX(pow2ceil(sizeof(struct ppu_mailbox)), qemu_real_host_page_size());
}

/* The client's machine maps it like VRAM. Its interrupts are the MSI-X vectors, so nobody is woken up otherwise. */
static bool init_bar(PPUState *s, Error **errp)
{
    s->mailbox = ppu_sealed_make("ppu-mailbox", bar_bytes(), &s->mailbox_fd);
    if (!s->mailbox) {
        error_setg_errno(errp, errno, "ppu: make a mailbox that clients can map");
        return false;
    }
    memory_region_init_ram_ptr(&s->mailbox_bar, OBJECT(s), "ppu-mailbox", bar_bytes(), s->mailbox);
    pci_register_bar(PCI_DEVICE(s), PPU_BAR_MAILBOX, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->mailbox_bar);
    return true;
}

bool ppu_mailbox_renew(PPUState *s)
{
    return ppu_sealed_renew("ppu-mailbox", s->mailbox, bar_bytes(), &s->mailbox_fd);
}

bool ppu_mailbox_init(PPUState *s, Error **errp)
{
    if (s->vfio_user_path) {
        return init_bar(s, errp);
    }
    if (!s->mailbox_backend) {
        return true;
    }
    MemoryRegion *memory = host_memory_backend_get_memory(s->mailbox_backend);
    if (host_memory_backend_is_mapped(s->mailbox_backend)) {
        error_setg(
            errp,
            "ppu: map the mailbox: the memory backend of mailbox-memdev is in use by something else; name another");
        return false;
    }
    if (memory_region_size(memory) < sizeof(struct ppu_mailbox)) {
        error_setg(errp, "ppu: mailbox-memdev has %" PRIu64 " bytes, a mailbox has %zu", memory_region_size(memory),
                   sizeof(struct ppu_mailbox));
        return false;
    }
    if (!qemu_chr_fe_backend_connected(&s->notify)) {
        error_setg(errp, "ppu: mailbox-memdev needs notify");
        return false;
    }
    host_memory_backend_set_mapped(s->mailbox_backend, true);
    s->mailbox = memory_region_get_ram_ptr(memory);
    s->mailbox->counted = icount_enabled() != 0;
    ppu_mailbox_quiet(s->mailbox, true);
    qemu_chr_fe_set_handlers(&s->notify, woken_can_read, woken, NULL, NULL, s, NULL, true);
    return true;
}
