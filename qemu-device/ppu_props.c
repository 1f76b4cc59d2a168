/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Defines the properties of the device, and checks them before one is made. */
#include "qemu/osdep.h"

#include <sched.h>

#include "hw/boards.h"
#include "hw/pci/pci_bus.h"
#include "hw/qdev-properties-system.h"
#include "hw/qdev-properties.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "system/cpu-timers.h"
#include "system/runstate.h"
#include "system/tcg.h"

#include "ppu.h"

#define SM_THREADS_BY_HOST UINT32_MAX /* sm-threads is not given */

#define COUNT(name, field) DEFINE_PROP_UNSIGNED_NODEFAULT(name, PPUState, config.field, qdev_prop_uint32, uint32_t)

/* Counts and sizes have the defaults of core_config_default(). */
static const Property ppu_properties[] = {
    DEFINE_PROP_UNSIGNED_NODEFAULT("vram-size", PPUState, config.vram_bytes, qdev_prop_size, uint64_t),
    COUNT("channels", channels),
    COUNT("contexts", contexts),
    COUNT("slots", slots),
    COUNT("gpcs", gpcs),
    COUNT("sms", sms),
    COUNT("sm-warps", sm_warps),
    COUNT("sm-ctas", sm_ctas),
    COUNT("sm-vregs", sm_vregs),
    COUNT("sm-shared", sm_shared),
    COUNT("sm-threads", sm_threads),
    COUNT("engine-level", engine_level),
    COUNT("engine-tier", engine_tier),
    DEFINE_PROP_INT32("engine-tier-socket", PPUState, config.engine_tier_socket, -1),
    DEFINE_PROP_BOOL("subvector", PPUState, config.subvector, true),
    DEFINE_PROP_BOOL("cache-model", PPUState, config.cache_model, false),
    COUNT("cache-line", cache_line),
    COUNT("l1-size", l1_bytes),
    COUNT("l1-ways", l1_ways),
    COUNT("l15-size", l15_bytes),
    COUNT("l15-ways", l15_ways),
    COUNT("l2-size", l2_bytes),
    COUNT("l2-ways", l2_ways),
    COUNT("gpc-tlb", gpc_tlb),
    COUNT("gpc-tlb-ways", gpc_tlb_ways),
    DEFINE_PROP_BOOL("test-hooks", PPUState, config.test_hooks, false),
    DEFINE_PROP_BOOL("autostart", PPUState, autostart, false),
    DEFINE_PROP_STRING("firmware", PPUState, firmware_path),
    DEFINE_PROP_LINK("vram-memdev", PPUState, vram_backend, TYPE_MEMORY_BACKEND, HostMemoryBackend *),
    DEFINE_PROP_LINK("mailbox-memdev", PPUState, mailbox_backend, TYPE_MEMORY_BACKEND, HostMemoryBackend *),
    DEFINE_PROP_STRING("vfio-user", PPUState, vfio_user_path),
    DEFINE_PROP_INT32("vfio-user-guard", PPUState, guard, -1),
    DEFINE_PROP_CHR("log", PPUState, log),
    DEFINE_PROP_CHR("notify", PPUState, notify),
    DEFINE_PROP_CHR("life", PPUState, life),
};

void ppu_props_class_init(ObjectClass *klass)
{
    device_class_set_props(DEVICE_CLASS(klass), ppu_properties);
}

/* vram_bytes stays 0, and sm_threads what no user can mean, until it is known whether the user gave them. */
void ppu_props_init(PPUState *s)
{
    core_config_default(&s->config);
    s->config.vram_bytes = 0;
    s->config.sm_threads = SM_THREADS_BY_HOST;
}

static uint64_t default_vram_bytes(void)
{
    struct core_config config;

    core_config_default(&config);
    return config.vram_bytes;
}

/* The size of VRAM is the property's, the memory backend's, or the default; the first two must agree. */
static bool vram_check(PPUState *s, Error **errp)
{
    if (!s->vram_backend) {
        s->config.vram_bytes = s->config.vram_bytes ?: default_vram_bytes();
        return true;
    }
    uint64_t backend_bytes = memory_region_size(host_memory_backend_get_memory(s->vram_backend));
    if (host_memory_backend_is_mapped(s->vram_backend)) {
        error_setg(errp, "ppu: vram-memdev is in use by something else");
        return false;
    }
    if (s->config.vram_bytes && s->config.vram_bytes != backend_bytes) {
        error_setg(errp, "ppu: vram-size is %" PRIu64 " bytes but vram-memdev has %" PRIu64, s->config.vram_bytes,
                   backend_bytes);
        return false;
    }
    s->config.vram_bytes = backend_bytes;
    return true;
}

static uint32_t processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Each processor that QEMU may use gets a thread that runs SMs, up to one an SM. Instructions that are counted (icount)
 * make time for one thread alone. */
static void threads_choose(PPUState *s)
{
    if (s->config.sm_threads == SM_THREADS_BY_HOST) {
        s->config.sm_threads = icount_enabled() ? 1 : MIN(processors(), s->config.sms);
    }
}

static bool config_check(PPUState *s, Error **errp)
{
    const char *wrong = core_config_check(&s->config);

    if (wrong) {
        error_setg(errp, "ppu: %s", wrong);
    }
    return !wrong;
}

/* The MCU is one more CPU: QEMU must know at its start, or it would abort when the thread of the MCU begins. */
static bool machine_check(const PPUState *s, Error **errp)
{
    const MachineState *machine = MACHINE(qdev_get_machine());
    unsigned cpus = 0;
    CPUState *cpu;

    if (!tcg_enabled()) {
        error_setg(errp, "ppu: its microcontroller needs QEMU's own translator (-accel tcg)");
        return false;
    }
    CPU_FOREACH(cpu)
    {
        cpus++;
    }
    if (cpus >= machine->smp.max_cpus) {
        error_setg(errp, "ppu: no CPU left for its microcontroller: use -smp N,maxcpus=M with M = N + number of PPUs");
        return false;
    }
    return true;
}

/* Each client gets VRAM of its own, and its doorbells and vectors go over its connection. */
static bool remote_check(const PPUState *s, Error **errp)
{
    if (s->vfio_user_path && (s->vram_backend || s->mailbox_backend)) {
        error_setg(errp, "ppu: vfio-user goes without vram-memdev and mailbox-memdev");
        return false;
    }
    return true;
}

static bool bus_check(PPUState *s, Error **errp)
{
    if (!pci_bus_is_express(pci_get_bus(PCI_DEVICE(s)))) {
        error_setg(errp, "ppu: attach the device: its bus is no PCI Express bus; say bus= with one, such as pcie.0");
        return false;
    }
    return true;
}

static bool firmware_read(PPUState *s, Error **errp)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *image = NULL;
    gsize bytes;

    if (!s->firmware_path) {
        if (s->autostart) {
            error_setg(errp, "ppu: autostart: there is no firmware to start; say firmware=, too");
        }
        return !s->autostart;
    }
    if (!g_file_get_contents(s->firmware_path, &image, &bytes, &error)) {
        error_setg(errp, "ppu: firmware: %s", error->message);
        return false;
    }
    if (bytes == 0 || bytes > PPU_MCU_ITCM_BYTES) {
        error_setg(errp, "ppu: firmware: '%s' has %zu bytes, an image has 1 to %u", s->firmware_path, (size_t)bytes,
                   PPU_MCU_ITCM_BYTES);
        return false;
    }
    s->firmware = (uint8_t *)g_steal_pointer(&image);
    s->firmware_bytes = bytes;
    return true;
}

static int life_can_read(void *opaque)
{
    return 64;
}

static void life_read(void *opaque, const uint8_t *bytes, int len)
{
}

static void life_event(void *opaque, QEMUChrEvent event)
{
    if (event == CHR_EVENT_CLOSED) {
        qemu_system_shutdown_request(SHUTDOWN_CAUSE_HOST_SIGNAL);
    }
}

bool ppu_props_check(PPUState *s, Error **errp)
{
    threads_choose(s);
    if (!vram_check(s, errp) || !config_check(s, errp) || !machine_check(s, errp) || !bus_check(s, errp) ||
        !remote_check(s, errp) || !firmware_read(s, errp)) {
        return false;
    }
    qemu_chr_fe_set_handlers(&s->life, life_can_read, life_read, life_event, NULL, s, NULL, true);
    return true;
}
