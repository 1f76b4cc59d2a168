/* SPDX-License-Identifier: MIT */
#include "runtime/device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/paths.h"
#include "runtime/channel.h"
#include "runtime/counts.h"
#include "runtime/deadline.h"
#include "runtime/firmware.h"
#include "runtime/memory.h"
#include "runtime/privilege.h"
#include "runtime/profile.h"
#include "runtime/shared.h"

#define DEFAULT_TIMEOUT_NS (10 * NS_PER_S)

uint32_t device_reg_read(struct ppu_device *device, uint32_t offset)
{
    return device->transport->ops->reg_read(device->transport, offset);
}

void device_reg_write(struct ppu_device *device, uint32_t offset, uint32_t value)
{
    device->transport->ops->reg_write(device->transport, offset, value);
}

uint32_t device_new_correlation(struct ppu_device *device)
{
    uint32_t correlation = 0;

    while (correlation == 0) {
        correlation = __atomic_add_fetch(&device->next_correlation, 1, __ATOMIC_RELAXED);
    }
    return correlation;
}

/* ---- errors ---- */

static void record_error_locked(struct ppu_device *device, const struct ppu_error *error)
{
    device->error = *error;
    device->error_count++;
}

void device_record_error(struct ppu_device *device, const struct ppu_error *error)
{
    pthread_mutex_lock(&device->error_lock);
    record_error_locked(device, error);
    pthread_mutex_unlock(&device->error_lock);
}

static void take_record(struct ppu_device *device, const struct ppu_error_record *record)
{
    struct ppu_error error;

    error_from_record(&error, record);
    record_error_locked(device, &error);
    if (record->channel < PPU_MAX_CHANNELS && device->channel[record->channel]) {
        channel_set_fault(device->channel[record->channel], &error);
    }
}

/* With error_lock. */
static void read_error_ring(struct ppu_device *device)
{
    struct ppu_error_ring *ring = (void *)(device->transport->vram + device->firmware.error_ring);
    uint32_t tail = shared_load_acquire(&ring->tail); /* partner: the firmware's release */

    if (tail - device->error_head > PPU_ERROR_RING_ENTRIES) {
        return;
    }
    while (device->error_head != tail) {
        struct ppu_error_record record = ring->entry[device->error_head % PPU_ERROR_RING_ENTRIES];
        device->error_head++;
        take_record(device, &record);
    }
    shared_store_release(&ring->head, device->error_head); /* partner: the firmware's acquire */
    device->errors_lost = shared_load_acquire(&ring->lost);
}

void device_read_errors(struct ppu_device *device)
{
    pthread_mutex_lock(&device->error_lock);
    read_error_ring(device);
    pthread_mutex_unlock(&device->error_lock);
}

/* PPU_VECTOR_ERROR came. */
static void collect_errors(void *opaque)
{
    struct ppu_device *device = opaque;
    struct ppu_error error;
    bool stopped = firmware_stopped(device->transport, &error);

    pthread_mutex_lock(&device->error_lock);
    read_error_ring(device);
    if (stopped && !device->lost) {
        device->lost = true;
        record_error_locked(device, &error);
    }
    pthread_mutex_unlock(&device->error_lock);
}

static bool device_is_lost(struct ppu_device *device)
{
    pthread_mutex_lock(&device->error_lock);
    bool lost = device->lost;
    pthread_mutex_unlock(&device->error_lock);
    return lost;
}

struct machine_clock device_clock(struct ppu_device *device)
{
    return (struct machine_clock){ .transport = device->transport,
                                   .behind_ns = __atomic_load_n(&device->clock.behind_ns, __ATOMIC_RELAXED) };
}

bool device_puts_off(struct ppu_device *device, struct machine_clock *clock, uint64_t *deadline_ns)
{
    bool put_off = machine_clock_put_off(clock, device->timeout_ns, deadline_ns);

    __atomic_store_n(&device->clock.behind_ns, clock->behind_ns, __ATOMIC_RELAXED);
    return put_off;
}

enum ppu_err device_wait(struct ppu_device *device, uint32_t vectors, uint64_t mark, uint64_t deadline_ns)
{
    if (device_is_lost(device)) {
        return PPU_ERR_DEVICE_LOST;
    }
    if (interrupts_wait(&device->interrupts, vectors | 1u << PPU_VECTOR_ERROR, mark, deadline_ns)) {
        return device_is_lost(device) ? PPU_ERR_DEVICE_LOST : PPU_OK;
    }
    /* Nothing came: the interrupt of a crash may itself be what is missing. */
    collect_errors(device);
    return device_is_lost(device) ? PPU_ERR_DEVICE_LOST : PPU_ERR_TIMEOUT;
}

void ppu_device_error(struct ppu_device *device, struct ppu_error *error)
{
    pthread_mutex_lock(&device->error_lock);
    *error = device->error;
    pthread_mutex_unlock(&device->error_lock);
}

uint64_t ppu_device_error_count(struct ppu_device *device)
{
    collect_errors(device);
    pthread_mutex_lock(&device->error_lock);
    uint64_t count = device->error_count;
    pthread_mutex_unlock(&device->error_lock);
    return count;
}

/* ---- open and close ---- */

static enum ppu_err check_identity(struct ppu_transport *transport, struct ppu_error *error)
{
    uint32_t magic = transport->ops->reg_read(transport, PPU_REG_MAGIC);
    uint32_t abi = transport->ops->reg_read(transport, PPU_REG_ABI_VERSION);
    uint32_t isa = transport->ops->reg_read(transport, PPU_REG_ISA);

    if (magic != PPU_MAGIC) {
        return error_set(error, PPU_ERR_NO_DEVICE,
                         "open the device: its magic is 0x%08" PRIx32
                         " instead of 0x%08x, so it is no PPU or does not answer",
                         magic, PPU_MAGIC);
    }
    if (abi >> 16 != PPU_ABI_MAJOR) {
        return error_set(error, PPU_ERR_BAD_ABI,
                         "open the device: it speaks ABI %" PRIu32 ".%" PRIu32
                         ", this library %u.%u; build or install both from one release",
                         abi >> 16, abi & 0xffffu, PPU_ABI_MAJOR, PPU_ABI_MINOR);
    }
    if (isa != PPU_ISA_VERSION) {
        return error_set(error, PPU_ERR_BAD_ABI,
                         "open the device: it has instruction set %" PRIu32
                         ", this library knows %u; build or install both from one release",
                         isa, PPU_ISA_VERSION);
    }
    return PPU_OK;
}

static void read_info(struct ppu_device *device)
{
    struct ppu_device_info *info = &device->info;
    uint32_t abi = device_reg_read(device, PPU_REG_ABI_VERSION);

    info->abi_major = abi >> 16;
    info->abi_minor = abi & 0xffffu;
    info->isa_version = device_reg_read(device, PPU_REG_ISA);
    info->features = device_reg_read(device, PPU_REG_FEATURES);
    info->instance = device_reg_read(device, PPU_REG_INSTANCE);
    info->vram_bytes =
        (uint64_t)device_reg_read(device, PPU_REG_VRAM_SIZE_HI) << 32 | device_reg_read(device, PPU_REG_VRAM_SIZE_LO);
    info->channels = device_reg_read(device, PPU_REG_CHANNELS);
    info->contexts = device_reg_read(device, PPU_REG_CONTEXTS);
    info->slots = device_reg_read(device, PPU_REG_SLOTS);
    info->gpcs = device_reg_read(device, PPU_REG_GPCS);
    info->sms = device_reg_read(device, PPU_REG_SMS);
    info->sm_warps = device_reg_read(device, PPU_REG_SM_WARPS);
    info->sm_ctas = device_reg_read(device, PPU_REG_SM_CTAS);
    info->sm_vregs = device_reg_read(device, PPU_REG_SM_VREGS);
    info->sm_shared = device_reg_read(device, PPU_REG_SM_SHARED);
    info->vectors = device_reg_read(device, PPU_REG_VECTORS);
    info->mode_vregs = device_reg_read(device, PPU_REG_MODE_VREGS);
    info->streams = device->firmware.streams;
    info->tasks = device->firmware.tasks;
    info->pci = device->transport->pci;
    memcpy(info->build_id, device->firmware.build_id, sizeof(info->build_id));
}

static const char *firmware_path(const struct ppu_device_options *options)
{
    const char *path = options && options->firmware ? options->firmware : secure_getenv("PPU_FIRMWARE");

    return path ? path : PPU_PATH_FIRMWARE;
}

static enum ppu_err bring_up(struct ppu_device *device, const char *firmware, struct ppu_error *error)
{
    struct ppu_transport *transport = device->transport;

    if (!may_open(firmware)) {
        return error_set(error, PPU_ERR_BAD_ARG,
                         "open a device: %s: a program with raised privileges loads firmware that has an absolute path",
                         firmware);
    }
    enum ppu_err err = check_identity(transport, error);
    if (err == PPU_OK) {
        err = firmware_hold(transport, device->timeout_ns, error);
    }
    if (err == PPU_OK) {
        err = firmware_load(transport, firmware, error);
    }
    if (err == PPU_OK) {
        err = firmware_start(transport, device->timeout_ns, &device->firmware, error);
    }
    return err;
}

static enum ppu_err open_pools(struct ppu_device *device, struct ppu_error *error)
{
    const struct ppu_fw_info *firmware = &device->firmware;

    if (!range_pool_init(&device->heap, firmware->heap_base, ppu_device_heap_bytes(device)) ||
        !range_pool_init(&device->tables, firmware->pt_base, firmware->pt_bytes)) {
        return error_set(error, PPU_ERR_NO_MEMORY, "open the device: not enough memory for its allocators");
    }
    return PPU_OK;
}

/* The environment may limit the time of every task. */
static enum ppu_err limit_tasks(struct ppu_device *device, struct ppu_error *error)
{
    const char *text = secure_getenv("PPU_WATCHDOG_MS");
    char *end = NULL;

    if (!text) {
        return PPU_OK;
    }
    unsigned long limit_ms = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || limit_ms > PPU_MAX_LIMIT_MS) {
        return error_set(error, PPU_ERR_BAD_ARG, "open a device: PPU_WATCHDOG_MS=%s: ms from 0 (no limit) to %u", text,
                         PPU_MAX_LIMIT_MS);
    }
    enum ppu_err err = ppu_device_policy(device, PPU_POLICY_LIMIT_MS, (uint32_t)limit_ms);
    return err == PPU_OK ? PPU_OK : error_set(error, err, "open a device: %s", ppu_error_text(err));
}

static struct ppu_device *device_new(struct ppu_transport *transport, const struct ppu_device_options *options)
{
    struct ppu_device *device = calloc(1, sizeof(*device));

    if (!device) {
        return NULL;
    }
    device->transport = transport;
    device->recorded = RECORDER_NONE;
    device->timeout_ns = options && options->timeout_ns != 0 ? options->timeout_ns : DEFAULT_TIMEOUT_NS;
    pthread_mutex_init(&device->memory_lock, NULL);
    pthread_mutex_init(&device->error_lock, NULL);
    interrupts_init(&device->interrupts, transport, collect_errors, device);
    return device;
}

static void device_free(struct ppu_device *device)
{
    range_pool_fini(&device->tables);
    range_pool_fini(&device->heap);
    interrupts_fini(&device->interrupts);
    pthread_mutex_destroy(&device->error_lock);
    pthread_mutex_destroy(&device->memory_lock);
    device->transport->ops->close(device->transport);
    free(device);
}

enum ppu_err ppu_device_open(struct ppu_transport *transport, const struct ppu_device_options *options,
                             struct ppu_device **out, struct ppu_error *error)
{
    struct ppu_device *device = device_new(transport, options);

    *out = NULL;
    if (!device) {
        transport->ops->close(transport);
        return error_set(error, PPU_ERR_NO_MEMORY, "open the device: not enough memory");
    }
    transport->ops->set_bus_master(transport, true);
    enum ppu_err err = bring_up(device, firmware_path(options), error);
    if (err == PPU_OK) {
        err = open_pools(device, error);
    }
    if (err != PPU_OK) {
        device_free(device);
        return err;
    }
    machine_clock_init(&device->clock, transport);
    admin_init(&device->admin, (void *)(transport->vram + device->firmware.admin_queue));
    read_info(device);
    err = limit_tasks(device, error);
    if (err != PPU_OK) {
        ppu_device_close(device);
        return err;
    }
    device->recorded = recorder_add_device(device);
    counts_begin(device);
    *out = device;
    return error_set(error, PPU_OK, "%s", ppu_error_text(PPU_OK));
}

void ppu_device_close(struct ppu_device *device)
{
    if (!device) {
        return;
    }
    counts_end(device);
    /* Holding the MCU clears VRAM: the profile and the flight recorders are read before. */
    profile_end(device);
    recorder_remove_device(device);
    firmware_hold(device->transport, device->timeout_ns, NULL);
    memory_free_kept(device);
    admin_fini(&device->admin);
    device_free(device);
}

/* ---- what it tells ---- */

uint64_t ppu_device_heap_bytes(const struct ppu_device *device)
{
    return (device->transport->vram_bytes - device->firmware.heap_base) & ~(uint64_t)(PPU_PAGE_64K - 1);
}

bool ppu_device_shares_addresses(const struct ppu_device *device)
{
    const uint64_t at = (uintptr_t)device->transport->vram;

    return at % PPU_PAGE_64K == 0 && at < PPU_SHARED_WINDOW && device->transport->vram_bytes <= PPU_SHARED_WINDOW - at;
}

const struct ppu_device_info *ppu_device_info(const struct ppu_device *device)
{
    return &device->info;
}

enum ppu_err ppu_device_policy(struct ppu_device *device, enum ppu_policy policy, uint32_t value)
{
    const uint32_t args[] = { policy, value };

    return admin_call(device, PPU_ADMIN_POLICY, args, 2, NULL, 0);
}

enum ppu_err ppu_device_query(struct ppu_device *device, enum ppu_key key, uint32_t object, uint64_t *value)
{
    const uint32_t args[] = { (uint32_t)key, object };
    uint32_t results[2] = { 0, 0 };
    enum ppu_err err = admin_call(device, PPU_ADMIN_QUERY, args, 2, results, 2);

    *value = (uint64_t)results[1] << 32 | results[0];
    return err;
}

uint32_t ppu_device_recorded(const struct ppu_device *device)
{
    return device->recorded;
}

uint64_t ppu_device_time_ns(struct ppu_device *device)
{
    return machine_clock_time_ns(device->transport);
}
