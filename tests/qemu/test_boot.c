/* SPDX-License-Identifier: MIT */
/*
 * Tests the real firmware on its core: good images start, bad ones say what is wrong with them, resets bring it back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ppu/boot.h"
#include "ppu/macros.h"
#include "tests/qemu/qemu.h"

#define ONE_PPU "vram-size=32M,sm-threads=1"
#define CRC_AT (PPU_IMAGE_HEADER_OFFSET + offsetof(struct ppu_image_header, crc32))
#define HEADER_AT(f) (PPU_IMAGE_HEADER_OFFSET + offsetof(struct ppu_image_header, f))

static const char *const images[] = { "build/firmware/picolibc/ppufw.bin", "build/firmware/newlib/ppufw.bin" };
static const char *const one_ppu[] = { "--ppu", ONE_PPU, NULL };

static uint8_t image[PPU_MCU_ITCM_BYTES + 4];

static uint32_t image_word(uint32_t offset)
{
    uint32_t value;

    memcpy(&value, image + offset, 4);
    return value;
}

static uint32_t crc32_of(const uint8_t *bytes, size_t len)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < len; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

static void stamp_crc(void)
{
    memset(image + CRC_AT, 0, 4);
    uint32_t crc = crc32_of(image, image_word(HEADER_AT(image_bytes)));
    memcpy(image + CRC_AT, &crc, 4);
}

static void load(const struct ppu *ppu, const char *path)
{
    ppu_load_image(ppu, image, qemu_read_file(path, image, sizeof(image)));
}

static void start(const struct ppu *ppu, uint32_t status)
{
    ppu_write(ppu, PPU_REG_MCU_CONTROL, 1);
    ppu_expect(ppu, PPU_REG_BOOT_STATUS, status);
}

static void hold(const struct ppu *ppu)
{
    ppu_write(ppu, PPU_REG_MCU_CONTROL, 0);
    ppu_expect(ppu, PPU_REG_MCU_STATE, PPU_MCU_HELD);
}

static void expect_ready(const struct ppu *ppu)
{
    ppu_expect(ppu, PPU_REG_BOOT_STATUS, PPU_BOOT_READY);
    assert_int_equal(ppu_read(ppu, PPU_REG_MCU_STATE), PPU_MCU_RUNNING);
    assert_int_equal(ppu_read(ppu, PPU_REG_DEVICE_ERROR), 0);
    uint64_t info = ppu_read(ppu, PPU_REG_FW_INFO);
    assert_int_equal(ppu_vram_read(ppu, info), PPU_FW_INFO_VERSION | sizeof(struct ppu_fw_info) << 16);
    assert_int_equal(ppu_vram_read(ppu, info + 4), PPU_ABI_MAJOR | PPU_ABI_MINOR << 16);
    assert_int_equal(ppu_vram_read(ppu, info + 8), image_word(HEADER_AT(build_id)));
}

static void good_images(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    struct ppu ppu = ppu_map(qemu, 0);
    (void)state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(images); i++) {
        load(&ppu, images[i]);
        start(&ppu, PPU_BOOT_READY);
        expect_ready(&ppu);
        hold(&ppu);
    }
    qemu_stop(qemu);
}

static void restarts(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    struct ppu ppu = ppu_map(qemu, 0);
    (void)state;

    load(&ppu, images[0]);
    for (int round = 0; round < 50; round++) {
        start(&ppu, PPU_BOOT_READY);
        hold(&ppu);
    }
    for (int round = 0; round < 20; round++) {
        start(&ppu, PPU_BOOT_READY);
        ppu_function_level_reset(&ppu);
        ppu = ppu_map(qemu, 0);
        ppu_expect(&ppu, PPU_REG_MCU_STATE, PPU_MCU_HELD);
        assert_int_equal(ppu_read(&ppu, PPU_REG_PROT_LIMIT), 0);
    }
    start(&ppu, PPU_BOOT_READY);
    expect_ready(&ppu);
    qemu_stop(qemu);
}

struct damage {
    const char *what;
    uint32_t offset; /* word to change */
    uint32_t flip;   /* bits to change in it */
    bool stamp;      /* with a CRC that fits */
    uint32_t status;
};

static const struct damage damages[] = {
    { "magic", HEADER_AT(magic), 1, true, PPU_BOOT_BAD_HEADER },
    { "header version", HEADER_AT(head), 2, true, PPU_BOOT_BAD_HEADER },
    { "header size", HEADER_AT(head), 4 << 16, true, PPU_BOOT_BAD_HEADER },
    { "image size", HEADER_AT(image_bytes), 0x1000, false, PPU_BOOT_BAD_HEADER },
    { "huge image size", HEADER_AT(image_bytes), 0x80000000u, false, PPU_BOOT_BAD_HEADER },
    { "CRC", HEADER_AT(crc32), 1, false, PPU_BOOT_BAD_CRC },
    { "code", 0x4000, 0x10, false, PPU_BOOT_BAD_CRC },
    { "build id", HEADER_AT(build_id), 1, false, PPU_BOOT_BAD_CRC },
    { "ABI major", HEADER_AT(abi_major), 2, true, PPU_BOOT_BAD_ABI },
    { "ABI minor", HEADER_AT(abi_major), 8 << 16, true, PPU_BOOT_BAD_ABI },
};

static void bad_images(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    struct ppu ppu = ppu_map(qemu, 0);
    (void)state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(damages); i++) {
        const struct damage *row = &damages[i];
        size_t len = qemu_read_file(images[0], image, sizeof(image));
        uint32_t word = image_word(row->offset) ^ row->flip;

        memcpy(image + row->offset, &word, 4);
        if (row->stamp) {
            stamp_crc();
        }
        ppu_load_image(&ppu, image, len);
        printf("# %s\n", row->what);
        start(&ppu, row->status);
        assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_STATE), PPU_MCU_RUNNING);
        hold(&ppu);
        load(&ppu, images[0]);
        start(&ppu, PPU_BOOT_READY);
        hold(&ppu);
    }
    qemu_stop(qemu);
}

/* What is missing is zeros. The first 4 KiB hold what checks the rest. */
static void truncated_image(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    struct ppu ppu = ppu_map(qemu, 0);
    size_t whole = qemu_read_file(images[0], image, sizeof(image));
    const size_t lengths[] = { 4096, whole / 8 * 4, whole - 16 };
    (void)state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(lengths); i++) {
        memset(image + lengths[i], 0, whole - lengths[i]);
        ppu_load_image(&ppu, image, whole);
        printf("# %zu of %zu bytes\n", lengths[i], whole);
        start(&ppu, PPU_BOOT_BAD_CRC);
        hold(&ppu);
        load(&ppu, images[0]);
    }
    qemu_stop(qemu);
}

/* A machine of one SM and one of everything else; the largest counts. */
static void machine_sizes(void **state)
{
    static const char *const sizes[] = {
        "vram-size=16M,channels=1,contexts=1,slots=1,gpcs=1,sms=1,sm-threads=1",
        "vram-size=256M,channels=1024,contexts=256,slots=64,gpcs=8,sms=64,sm-threads=1",
        "vram-size=4G,channels=64,sm-threads=1",
    };
    (void)state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(sizes); i++) {
        const char *args[] = { "--ppu", sizes[i], "--firmware", images[0], NULL };
        struct qemu *qemu = qemu_start(args);
        struct ppu ppu = ppu_map(qemu, 0);
        uint32_t status = PPU_BOOT_NONE;

        qemu_read_file(images[0], image, sizeof(image));
        ppu_write(&ppu, PPU_REG_MCU_CONTROL, 1);
        for (int ms = 0; status <= PPU_BOOT_STARTED && ms < 10000; ms++) {
            sleep_ms(1);
            status = ppu_read(&ppu, PPU_REG_BOOT_STATUS);
        }
        if (status == PPU_BOOT_READY) {
            expect_ready(&ppu);
        } else {
            printf("# %s: status 0x%x, detail 0x%x\n", sizes[i], status, ppu_read(&ppu, PPU_REG_BOOT_DETAIL));
            assert_int_equal(status, PPU_BOOT_BAD_DEVICE);
        }
        qemu_stop(qemu);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "the firmware starts, with either C library", good_images, NULL, NULL, NULL },
        { "the firmware starts again after holds and resets", restarts, NULL, NULL, NULL },
        { "a damaged image says what is wrong, and a good one starts after it", bad_images, NULL, NULL, NULL },
        { "a truncated image is refused", truncated_image, NULL, NULL, NULL },
        { "the firmware serves the smallest and the largest machine, or says why not [A1]", machine_sizes, NULL, NULL,
          NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
