/* SPDX-License-Identifier: MIT */
#include "runtime/firmware.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/error.h"
#include "runtime/file.h"
#include "runtime/machine_clock.h"

/* The MCU raises no interrupt while it comes up; its state is looked at in this rhythm. */
#define BRING_UP_INTERVAL_NS (200 * NS_PER_US)

static uint32_t reg_read(struct ppu_transport *transport, uint32_t offset)
{
    return transport->ops->reg_read(transport, offset);
}

/* CRC of IEEE 802.3, continued from `crc` (0 to begin). */
static uint32_t crc32_add(uint32_t crc, const uint8_t *bytes, size_t count)
{
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1u));
        }
    }
    return ~crc;
}

static uint32_t image_crc(const uint8_t *image, size_t bytes)
{
    static const uint8_t zero[4];
    const size_t field = PPU_IMAGE_HEADER_OFFSET + offsetof(struct ppu_image_header, crc32);

    uint32_t crc = crc32_add(0, image, field);
    crc = crc32_add(crc, zero, sizeof(zero));
    return crc32_add(crc, image + field + sizeof(zero), bytes - field - sizeof(zero));
}

/* Says what helps when the image is not what it should be. */
#define OTHER_FIRMWARE "; 'make firmware' builds one, the package ppu-qemu has one, PPU_FIRMWARE names another"

enum ppu_err firmware_check(const char *name, const void *image, size_t bytes, struct ppu_error *error)
{
    struct ppu_image_header header;

    if (bytes < PPU_IMAGE_HEADER_OFFSET + sizeof(header)) {
        return error_set(error, PPU_ERR_BAD_IMAGE,
                         "load the firmware %s: it is truncated: %zu bytes, no header" OTHER_FIRMWARE, name, bytes);
    }
    memcpy(&header, (const uint8_t *)image + PPU_IMAGE_HEADER_OFFSET, sizeof(header));
    if (header.magic != PPU_IMAGE_MAGIC) {
        return error_set(error, PPU_ERR_BAD_IMAGE,
                         "load the firmware %s: it is no image of it: magic 0x%08" PRIx32
                         " instead of 0x%08x" OTHER_FIRMWARE,
                         name, header.magic, PPU_IMAGE_MAGIC);
    }
    if (header.head.version != PPU_IMAGE_VERSION || header.head.size_bytes != sizeof(header)) {
        return error_set(
            error, PPU_ERR_BAD_ABI,
            "load the firmware %s: its header has version %u and size %u, not this library's" OTHER_FIRMWARE, name,
            header.head.version, header.head.size_bytes);
    }
    if (header.abi_major != PPU_ABI_MAJOR) {
        return error_set(error, PPU_ERR_BAD_ABI,
                         "load the firmware %s: it speaks ABI %u.%u, this library %u.%u" OTHER_FIRMWARE, name,
                         header.abi_major, header.abi_minor, PPU_ABI_MAJOR, PPU_ABI_MINOR);
    }
    if (header.image_bytes != bytes || bytes > PPU_MCU_ITCM_BYTES) {
        return error_set(error, PPU_ERR_BAD_IMAGE,
                         "load the firmware %s: it is truncated or too long: %zu bytes of %" PRIu32 OTHER_FIRMWARE,
                         name, bytes, header.image_bytes);
    }
    uint32_t crc = image_crc(image, bytes);
    if (crc != header.crc32) {
        return error_set(error, PPU_ERR_BAD_IMAGE,
                         "load the firmware %s: it is corrupt: CRC 0x%08" PRIx32
                         " instead of 0x%08" PRIx32 OTHER_FIRMWARE,
                         name, crc, header.crc32);
    }
    return PPU_OK;
}

enum ppu_err firmware_hold(struct ppu_transport *transport, uint64_t timeout_ns, struct ppu_error *error)
{
    struct machine_clock clock;
    uint64_t deadline_ns = deadline_after(timeout_ns);

    machine_clock_init(&clock, transport);
    transport->ops->reg_write(transport, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
    while (reg_read(transport, PPU_REG_MCU_STATE) != PPU_MCU_HELD) {
        if (deadline_left(deadline_ns) == 0 && !machine_clock_put_off(&clock, timeout_ns, &deadline_ns)) {
            return error_set(error, PPU_ERR_DEVICE_LOST, "reset the device: its MCU is not held: state %" PRIu32,
                             reg_read(transport, PPU_REG_MCU_STATE));
        }
        sleep_ns(BRING_UP_INTERVAL_NS);
    }
    return PPU_OK;
}

enum ppu_err firmware_load(struct ppu_transport *transport, const char *path, struct ppu_error *error)
{
    void *image = NULL;
    size_t bytes = 0;

    enum ppu_err err = file_read("load the firmware", path, PPU_MCU_ITCM_BYTES, &image, &bytes, error);
    if (err != PPU_OK) {
        if (error) {
            const size_t len = strlen(error->text);
            snprintf(error->text + len, sizeof(error->text) - len, "%s", OTHER_FIRMWARE);
        }
        return err;
    }
    err = firmware_check(path, image, bytes, error);
    if (err == PPU_OK) {
        /* Whole words; file_read() has room for one byte more, an odd end is copied apart. */
        uint32_t whole = (uint32_t)bytes & ~3u;
        uint32_t last = 0;
        transport->ops->window_write(transport, PPU_BAR0_ITCM, image, whole);
        memcpy(&last, (const uint8_t *)image + whole, bytes - whole);
        if (bytes > whole) {
            transport->ops->window_write(transport, PPU_BAR0_ITCM + whole, &last, sizeof(last));
        }
    }
    free(image);
    return err;
}

static bool read_crash(struct ppu_transport *transport, struct ppu_crash_record *crash)
{
    const uint32_t offset = PPU_BAR0_DTCM + PPU_MCU_DTCM_BYTES - (uint32_t)sizeof(*crash);

    transport->ops->window_read(transport, offset, crash, sizeof(*crash));
    return crash->magic == PPU_CRASH_MAGIC;
}

bool firmware_stopped(struct ppu_transport *transport, struct ppu_error *error)
{
    struct ppu_crash_record crash;

    if (reg_read(transport, PPU_REG_MAGIC) != PPU_MAGIC) {
        error_fill(error, PPU_ERR_DEVICE_LOST, "run the firmware: the device does not answer any more");
        return true;
    }
    if (reg_read(transport, PPU_REG_BOOT_STATUS) == PPU_BOOT_CRASHED) {
        if (read_crash(transport, &crash)) {
            error_from_crash(error, &crash);
        } else {
            error_fill(error, PPU_ERR_DEVICE_LOST, "run the firmware: it stopped and left no record");
        }
        return true;
    }
    if (reg_read(transport, PPU_REG_MCU_STATE) == PPU_MCU_LOCKUP) {
        error_fill(error, PPU_ERR_DEVICE_LOST, "run the firmware: the MCU locked up, %" PRIu32 " times so far",
                   reg_read(transport, PPU_REG_MCU_LOCKUPS));
        return true;
    }
    uint32_t state = reg_read(transport, PPU_REG_MCU_STATE);
    if (state == PPU_MCU_HELD || state == PPU_MCU_CLEARING) {
        error_fill(error, PPU_ERR_DEVICE_LOST, "run the firmware: the MCU was put into reset");
        return true;
    }
    return false;
}

static enum ppu_err boot_error(struct ppu_transport *transport, uint32_t status, struct ppu_error *error)
{
    uint32_t detail = reg_read(transport, PPU_REG_BOOT_DETAIL);

    switch (status) {
    case PPU_BOOT_BAD_HEADER:
        return error_set(error, PPU_ERR_BAD_IMAGE,
                         "start the firmware: its start-up code found a bad image header: 0x%08" PRIx32, detail);
    case PPU_BOOT_BAD_CRC:
        return error_set(error, PPU_ERR_BAD_IMAGE,
                         "start the firmware: its start-up code computed CRC 0x%08" PRIx32 ", not the header's",
                         detail);
    case PPU_BOOT_BAD_ABI:
        return error_set(error, PPU_ERR_BAD_ABI,
                         "start the firmware: it cannot serve a device of ABI 0x%08" PRIx32 OTHER_FIRMWARE, detail);
    case PPU_BOOT_BAD_DEVICE:
        return error_set(
            error, PPU_ERR_BAD_ABI,
            "start the firmware: it cannot serve what the device says in register 0x%04" PRIx32 OTHER_FIRMWARE, detail);
    default:
        return error_set(error, PPU_ERR_DEVICE_LOST,
                         "start the firmware: it reports boot status 0x%" PRIx32 ", detail 0x%" PRIx32, status, detail);
    }
}

static enum ppu_err wait_ready(struct ppu_transport *transport, uint64_t timeout_ns, struct ppu_error *error)
{
    struct machine_clock clock;
    uint64_t deadline_ns = deadline_after(timeout_ns);

    machine_clock_init(&clock, transport);
    for (;;) {
        uint32_t status = reg_read(transport, PPU_REG_BOOT_STATUS);
        if (status == PPU_BOOT_READY) {
            return PPU_OK;
        }
        if (status >= PPU_BOOT_BAD_HEADER && status != PPU_BOOT_CRASHED) {
            return boot_error(transport, status, error);
        }
        uint32_t state = reg_read(transport, PPU_REG_MCU_STATE);
        if ((status == PPU_BOOT_CRASHED || state == PPU_MCU_LOCKUP) && firmware_stopped(transport, error)) {
            return PPU_ERR_DEVICE_LOST;
        }
        if (deadline_left(deadline_ns) == 0 && !machine_clock_put_off(&clock, timeout_ns, &deadline_ns)) {
            return error_set(error, PPU_ERR_TIMEOUT,
                             "start the firmware: it is not ready in time: boot status %" PRIu32 ", MCU state %" PRIu32,
                             status, state);
        }
        sleep_ns(BRING_UP_INTERVAL_NS);
    }
}

static bool in_vram(const struct ppu_transport *transport, uint64_t offset, uint64_t bytes)
{
    return offset <= transport->vram_bytes && bytes <= transport->vram_bytes - offset;
}

/* The firmware is trusted to do its work, its numbers are still checked before they become pointers. */
static bool info_is_usable(const struct ppu_transport *transport, const struct ppu_fw_info *info)
{
    return info->head.version == PPU_FW_INFO_VERSION && info->head.size_bytes == sizeof(*info) &&
           info->abi_major == PPU_ABI_MAJOR && info->admin_queue % 64 == 0 && info->error_ring % 64 == 0 &&
           in_vram(transport, info->admin_queue, sizeof(struct ppu_admin_queue)) &&
           in_vram(transport, info->error_ring, sizeof(struct ppu_error_ring)) &&
           in_vram(transport, info->pt_base, info->pt_bytes) && in_vram(transport, info->heap_base, 0) &&
           info->streams > 0;
}

enum ppu_err firmware_start(struct ppu_transport *transport, uint64_t timeout_ns, struct ppu_fw_info *info,
                            struct ppu_error *error)
{
    transport->ops->reg_write(transport, PPU_REG_MCU_CONTROL, 1);
    enum ppu_err err = wait_ready(transport, timeout_ns, error);
    if (err != PPU_OK) {
        return err;
    }
    uint32_t offset = reg_read(transport, PPU_REG_FW_INFO);
    if (!in_vram(transport, offset, sizeof(*info))) {
        return error_set(error, PPU_ERR_BAD_ABI, "start the firmware: its information lies beyond VRAM: 0x%08" PRIx32,
                         offset);
    }
    memcpy(info, transport->vram + offset, sizeof(*info));
    if (!info_is_usable(transport, info)) {
        return error_set(error, PPU_ERR_BAD_ABI,
                         "start the firmware: its information is of another version: ABI %u.%u" OTHER_FIRMWARE,
                         info->abi_major, info->abi_minor);
    }
    return PPU_OK;
}
