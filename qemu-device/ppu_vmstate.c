/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves and loads snapshots: the core's state is one byte string; VRAM and the MCU's memories travel as RAM, the MCU
 * itself as any CPU.
 */
#include "qemu/osdep.h"

#include "exec/ram_addr.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_device.h"
#include "migration/vmstate.h"
#include "qemu/error-report.h"
#include "qemu/units.h"

#include "ppu.h"

#define SAVED_BYTES_MAX (1 * GiB) /* no machine has that much state beside its memories */

static void memory_dirty(MemoryRegion *mr)
{
    cpu_physical_memory_set_dirty_range(memory_region_get_ram_addr(mr), memory_region_size(mr),
                                        1 << DIRTY_MEMORY_MIGRATION);
}

void ppu_vmstate_memory_dirty(PPUState *s)
{
    memory_dirty(s->vram);
    memory_dirty(&s->mcu.dtcm);
}

static void saved_drop(PPUState *s)
{
    g_clear_pointer(&s->saved, g_free);
    s->saved_bytes = 0;
}

static int vmstate_pre_save(void *opaque)
{
    PPUState *s = opaque;
    size_t bytes = 0;
    uint8_t *state = core_save(s->core, &bytes);

    if (!state || bytes > SAVED_BYTES_MAX) {
        error_report("ppu%u: no memory for its state", s->config.instance);
        free(state);
        return -ENOMEM;
    }
    saved_drop(s);
    s->saved = g_memdup2(state, bytes);
    s->saved_bytes = bytes;
    s->saved_instance = s->config.instance;
    free(state);
    return 0;
}

static int vmstate_post_save(void *opaque)
{
    saved_drop(opaque);
    return 0;
}

/*
 * A load that failed in the middle may have left some state. QEMU refuses a version above one that was loaded before.
 */
static int vmstate_pre_load(void *opaque)
{
    PPUState *s = opaque;

    saved_drop(s);
    PCI_DEVICE(s)->version_id = vmstate_pci_device.version_id;
    return 0;
}

/* The function has no interrupt pins. QEMU's next reset would end the process where a snapshot says that one is set. */
static bool has_no_pins(void *opaque, int version_id)
{
    PCIDevice *pci = PCI_DEVICE(opaque);
    const bool none = pci->irq_state == 0;

    pci->irq_state = 0;
    return none;
}

/* More than the state of this machine needs, before that much memory is asked for: files of SMs, warps and slots, token
 * queues, which lie in VRAM. */
static bool saved_bytes_usable(void *opaque, int version_id)
{
    PPUState *s = opaque;
    const struct core_config *config = &s->config;
    uint64_t sm_bytes = 4ull * config->sm_vregs + config->sm_shared + config->sm_warps * 8 * KiB + config->l1_bytes;
    uint64_t gpc_bytes = config->l15_bytes + config->gpc_tlb * 8ull + 1 * KiB;
    uint64_t most = 4 * MiB + config->sms * sm_bytes + config->gpcs * gpc_bytes + config->l2_bytes + config->vram_bytes;

    return s->saved_bytes <= MIN(SAVED_BYTES_MAX, most);
}

/* Its memories are the stream's, and belong to nobody without the state. */
static int refused(PPUState *s)
{
    saved_drop(s);
    core_reset(s->core);
    return -EINVAL;
}

/*
 * CPUs are told apart by the order in which they were made, memories by PCI address: a
 * machine with the same PPUs in another order would load half of each.
 */
static int vmstate_post_load(void *opaque, int version_id)
{
    PPUState *s = opaque;
    const char *wrong = NULL;

    if (s->saved_instance != s->config.instance) {
        error_report("ppu%u: the snapshot has PPU %u in this place: the PPUs must be given in the same order",
                     s->config.instance, s->saved_instance);
        return refused(s);
    }
    if (!core_load(s->core, s->saved, s->saved_bytes, &wrong)) {
        error_report("ppu%u: %s", s->config.instance, wrong);
        return refused(s);
    }
    saved_drop(s);
    ppu_mcu_loaded(s);
    return 0;
}

const VMStateDescription ppu_vmstate = {
    .name = TYPE_PPU,
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = vmstate_pre_save,
    .post_save = vmstate_post_save,
    .pre_load = vmstate_pre_load,
    .post_load = vmstate_post_load,
    .fields =
        (const VMStateField[]){
            VMSTATE_PCI_DEVICE(parent_obj, PPUState),
            VMSTATE_VALIDATE("interrupt pins, of which there are none", has_no_pins),
            VMSTATE_MSIX(parent_obj, PPUState),
            VMSTATE_UINT32(saved_instance, PPUState),
            VMSTATE_UINT32(saved_bytes, PPUState),
            VMSTATE_VALIDATE("size of the core's state", saved_bytes_usable),
            VMSTATE_VBUFFER_ALLOC_UINT32(saved, PPUState, 0, NULL, saved_bytes),
            VMSTATE_END_OF_LIST(),
        },
};
