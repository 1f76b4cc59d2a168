/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements the PCI function: configuration space, BARs, resets (A1). */
#include "qemu/osdep.h"

#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pcie.h"
#include "hw/qdev-properties.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "qemu/module.h"
#include "qemu/units.h"
#include "system/runstate.h"

#include "ppu.h"
#include "trace.h"

#define PCI_CLASS_PROCESSING_ACCELERATOR 0x1200
#define PCIE_CAP_OFFSET 0x80
#define REGS_BYTES PPU_BAR0_MSIX_TABLE

/* ---- BARs ---- */

static uint64_t regs_read(void *opaque, hwaddr offset, unsigned size)
{
    PPUState *s = opaque;

    ppu_mailbox_serve(s);
    uint32_t value = core_reg_read(s->core, CORE_HOST, offset);
    trace_ppu_host_read(s->config.instance, offset, value);
    return value;
}

static void regs_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    PPUState *s = opaque;

    ppu_mailbox_serve(s);
    trace_ppu_host_write(s->config.instance, offset, value);
    core_reg_write(s->core, CORE_HOST, offset, value);
}

static const MemoryRegionOps regs_ops = {
    .read = regs_read,
    .write = regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

static uint64_t doorbells_read(void *opaque, hwaddr offset, unsigned size)
{
    PPUState *s = opaque;

    ppu_mailbox_serve(s);
    uint32_t value = core_doorbell_read(s->core, offset);
    trace_ppu_doorbell_read(s->config.instance, offset, value);
    return value;
}

static void doorbells_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    PPUState *s = opaque;

    ppu_mailbox_serve(s);
    trace_ppu_doorbell_write(s->config.instance, offset, value);
    core_doorbell_write(s->core, offset, value);
}

static const MemoryRegionOps doorbells_ops = {
    .read = doorbells_read,
    .write = doorbells_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/*
 * Lies over the windows onto the MCU's memories while it runs, so that the host may read but not write. (A read-only
 * alias would do for CPUs, not for other bus masters.)
 */
static uint64_t tcm_guard_read(void *opaque, hwaddr offset, unsigned size)
{
    PPUState *s = opaque;
    const bool itcm = offset < PPU_MCU_ITCM_BYTES;
    MemoryRegion *tcm = itcm ? &s->mcu.itcm : &s->mcu.dtcm;

    return ldn_le_p((uint8_t *)memory_region_get_ram_ptr(tcm) + offset - (itcm ? 0 : PPU_MCU_ITCM_BYTES), size);
}

static void tcm_guard_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
    PPUState *s = opaque;

    qemu_log_mask(LOG_GUEST_ERROR, "ppu%u: write to BAR0 + 0x%" HWADDR_PRIx " dropped, the MCU is not held\n",
                  s->config.instance, PPU_BAR0_ITCM + offset);
}

static const MemoryRegionOps tcm_guard_ops = {
    .read = tcm_guard_read,
    .write = tcm_guard_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

QEMU_BUILD_BUG_ON(PPU_BAR0_ITCM + PPU_MCU_ITCM_BYTES != PPU_BAR0_DTCM);

void ppu_pci_protect_tcm(PPUState *s, bool protect)
{
    memory_region_set_enabled(&s->tcm_guard, protect);
}

static bool msix_setup(PPUState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);

    if (msix_init(pci, PPU_MAX_VECTORS, &s->bar0, PPU_BAR_REGS, PPU_BAR0_MSIX_TABLE, &s->bar0, PPU_BAR_REGS,
                  PPU_BAR0_MSIX_PBA, 0, errp) < 0) {
        return false;
    }
    for (unsigned vector = 0; vector < PPU_MAX_VECTORS; vector++) {
        msix_vector_use(pci, vector);
    }
    return true;
}

static bool bars_init(PPUState *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);
    Object *owner = OBJECT(s);
    const uint8_t wide = PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64;
    uint64_t doorbell_bytes = pow2ceil((uint64_t)s->config.channels * PPU_DOORBELL_STRIDE);

    memory_region_init(&s->bar0, owner, "ppu-bar0", PPU_BAR0_SIZE);
    memory_region_init_io(&s->regs, owner, &regs_ops, s, "ppu-regs", REGS_BYTES);
    memory_region_init_alias(&s->itcm_window, owner, "ppu-itcm-window", &s->mcu.itcm, 0, PPU_MCU_ITCM_BYTES);
    memory_region_init_alias(&s->dtcm_window, owner, "ppu-dtcm-window", &s->mcu.dtcm, 0, PPU_MCU_DTCM_BYTES);
    memory_region_init_io(&s->doorbells, owner, &doorbells_ops, s, "ppu-doorbells", doorbell_bytes);
    memory_region_add_subregion(&s->bar0, 0, &s->regs);
    memory_region_add_subregion(&s->bar0, PPU_BAR0_ITCM, &s->itcm_window);
    memory_region_add_subregion(&s->bar0, PPU_BAR0_DTCM, &s->dtcm_window);
    memory_region_init_io(&s->tcm_guard, owner, &tcm_guard_ops, s, "ppu-tcm-guard",
                          PPU_MCU_ITCM_BYTES + PPU_MCU_DTCM_BYTES);
    memory_region_set_enabled(&s->tcm_guard, false);
    memory_region_add_subregion_overlap(&s->bar0, PPU_BAR0_ITCM, &s->tcm_guard, 1);
    if (!msix_setup(s, errp)) {
        return false;
    }
    pci_register_bar(pci, PPU_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->bar0);
    pci_register_bar(pci, PPU_BAR_DOORBELLS, wide, &s->doorbells);
    pci_register_bar(pci, PPU_BAR_VRAM, wide | PCI_BASE_ADDRESS_MEM_PREFETCH, s->vram);
    return true;
}

/* Bytes of no capability are zeros for ever. QEMU would keep what is written there, for the next owner as well. */
static void config_reserve(PCIDevice *pci)
{
    for (uint32_t i = PCI_CONFIG_HEADER_SIZE; i < pci_config_size(pci); i++) {
        if (pci->used[i] == 0) {
            pci->wmask[i] = 0;
        }
    }
}

/* ---- life ---- */

static void vm_state_changed(void *opaque, bool running, RunState state)
{
    PPUState *s = opaque;

    if (running == s->running) {
        return;
    }
    s->running = running;
    if (running) {
        ppu_mcu_resumed(s);
        core_resume(s->core);
    } else {
        ppu_idle_stop(s);
        core_pause(s->core);
        ppu_vmstate_memory_dirty(s);
    }
}

/* The threads of the core must not take signals that are meant for QEMU's own. */
static bool core_init(PPUState *s, Error **errp)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->core = core_new(&s->config, memory_region_get_ram_ptr(s->vram), &ppu_host_ops, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!s->core) {
        error_setg(errp, "ppu: not enough memory on the host for a machine of this size");
    }
    return s->core;
}

static void ppu_realize(PCIDevice *pci, Error **errp)
{
    static uint32_t instances;
    PPUState *s = PPU(pci);

    if (instances == MAX_CLUSTERS) {
        error_setg(errp, "ppu: one machine has at most %u", MAX_CLUSTERS);
        return;
    }
    if (!ppu_props_check(s, errp)) {
        return;
    }
    s->config.instance = instances++;
    ppu_host_init(s);
    if (!ppu_vram_init(s, errp) || !ppu_mcu_memory_init(s, errp) || !core_init(s, errp) || !bars_init(s, errp) ||
        !ppu_mcu_realize(s, errp) || !ppu_mailbox_init(s, errp)) {
        return;
    }
    if (pcie_endpoint_cap_init(pci, PCIE_CAP_OFFSET) < 0) {
        error_setg(errp, "ppu: no room for the PCI Express capability");
        return;
    }
    pcie_cap_flr_init(pci);
    config_reserve(pci);
    if (!ppu_remote_init(s, errp)) {
        return;
    }
    qdev_add_vm_change_state_handler(DEVICE(s), vm_state_changed, s);
    ppu_host_watch(s);
}

static void ppu_config_write(PCIDevice *pci, uint32_t address, uint32_t value, int len)
{
    ppu_mailbox_serve(PPU(pci));
    pci_default_write_config(pci, address, value, len);
    pcie_cap_flr_write_config(pci, address, value, len);
}

static bool reset_by_function(PCIDevice *pci)
{
    return pci_get_word(pci->config + pci->exp.exp_cap + PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_BCR_FLR;
}

/* What a guest has written to the second word of control, which QEMU's reset leaves. */
static void config_reset(PCIDevice *pci)
{
    const uint32_t at = pci->exp.exp_cap + PCI_EXP_DEVCTL2;

    pci_word_test_and_clear_mask(pci->config + at, pci_get_word(pci->wmask + at));
}

static void ppu_reset_hold(Object *obj, ResetType type)
{
    PPUState *s = PPU(obj);

    trace_ppu_reset(s->config.instance, reset_by_function(PCI_DEVICE(s)) ? "function-level reset" : "system");
    ppu_mailbox_serve(s); /* what was rung before ends with all else */
    core_reset(s->core);
    config_reset(PCI_DEVICE(s));
}

static void ppu_reset_exit(Object *obj, ResetType type)
{
    PPUState *s = PPU(obj);

    if (s->autostart && type != RESET_TYPE_SNAPSHOT_LOAD) {
        core_reg_write(s->core, CORE_HOST, PPU_REG_MCU_CONTROL, 1);
    }
}

static char *ppu_state_get(Object *obj, Error **errp)
{
    PPUState *s = PPU(obj);
    g_autofree char *mcu = NULL;
    char *core;

    if (!DEVICE(s)->realized) {
        return g_strdup("not realized\n");
    }
    mcu = ppu_mcu_text(s);
    core = core_state_text(s->core);
    char *text = g_strconcat(mcu, core, NULL);
    free(core);
    return text;
}

static void ppu_instance_init(Object *obj)
{
    ppu_props_init(PPU(obj));
}

static void ppu_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *device = DEVICE_CLASS(klass);
    PCIDeviceClass *pci = PCI_DEVICE_CLASS(klass);
    ResettableClass *reset = RESETTABLE_CLASS(klass);

    pci->realize = ppu_realize;
    pci->config_write = ppu_config_write;
    pci->vendor_id = PPU_PCI_VENDOR;
    pci->device_id = PPU_PCI_DEVICE;
    pci->class_id = PCI_CLASS_PROCESSING_ACCELERATOR;
    reset->phases.hold = ppu_reset_hold;
    reset->phases.exit = ppu_reset_exit;
    device->vmsd = &ppu_vmstate;
    device->hotpluggable = false;
    device->desc = "Parallel processing unit";
    ppu_props_class_init(klass);
    object_class_property_add_str(klass, "state", ppu_state_get, NULL);
    object_class_property_set_description(klass, "state", "State of the device, for a person");
}

static const TypeInfo ppu_type = {
    .name = TYPE_PPU,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(PPUState),
    .instance_init = ppu_instance_init,
    .class_init = ppu_class_init,
    .interfaces = (InterfaceInfo[]){ { INTERFACE_PCIE_DEVICE }, {} },
};

static void ppu_register_types(void)
{
    type_register_static(&ppu_type);
}

type_init(ppu_register_types)
