/* SPDX-License-Identifier: MIT */
/*
 * Surface: firmware image files: the host's loader (runtime/firmware.c), and the start-up code's check (boot/image.c).
 *
 * The first byte says what is done to a good image of the input's bytes: its size, its CRC and its header are right, or
 * as the input has them. What the host's loader accepts must be what the start-up code starts.
 */
#include <stdlib.h>
#include <string.h>

#include "boot/image.h"
#include "ppu/regs.h"
#include "runtime/firmware.h"
#include "tests/fuzz/input.h"

#define MOST_BYTES (PPU_MCU_ITCM_BYTES + 16u)
#define HEADER_END (PPU_IMAGE_HEADER_OFFSET + (uint32_t)sizeof(struct ppu_image_header))

/* What is wanted of the image beside the input's bytes. */
enum { GOOD_MAGIC = 1, GOOD_SIZE = 2, GOOD_CRC = 4, GOOD_HEAD = 8, GOOD_ABI = 16, LONG = 32, SHORT = 64 };

/* By the definition, a bit at a time; the field itself counts as zeros. */
static uint32_t crc_of(const uint8_t *image, size_t bytes)
{
    const size_t field = PPU_IMAGE_HEADER_OFFSET + offsetof(struct ppu_image_header, crc32);
    uint32_t crc = ~0u;

    for (size_t i = 0; i < bytes; i++) {
        crc ^= i - field < 4 ? 0 : image[i];
        for (uint32_t bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1u ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

static void make_good(uint8_t *image, size_t bytes, uint8_t what)
{
    struct ppu_image_header header;

    if (bytes < HEADER_END) {
        return;
    }
    memcpy(&header, image + PPU_IMAGE_HEADER_OFFSET, sizeof(header));
    header.magic = what & GOOD_MAGIC ? PPU_IMAGE_MAGIC : header.magic;
    header.image_bytes = what & GOOD_SIZE ? (uint32_t)bytes : header.image_bytes;
    if (what & GOOD_HEAD) {
        header.head = (struct ppu_struct_header){ PPU_IMAGE_VERSION, sizeof(header) };
    }
    if (what & GOOD_ABI) {
        header.abi_major = PPU_ABI_MAJOR;
        header.abi_minor = PPU_ABI_MINOR;
    }
    memcpy(image + PPU_IMAGE_HEADER_OFFSET, &header, sizeof(header));
    header.crc32 = what & GOOD_CRC ? crc_of(image, bytes) : header.crc32;
    memcpy(image + PPU_IMAGE_HEADER_OFFSET, &header, sizeof(header));
}

/* What an accepted image must be, by docs/spec/firmware.md. */
static bool is_good(const uint8_t *image, size_t bytes)
{
    struct ppu_image_header header;

    if (bytes < HEADER_END || bytes > PPU_MCU_ITCM_BYTES) {
        return false;
    }
    memcpy(&header, image + PPU_IMAGE_HEADER_OFFSET, sizeof(header));
    return header.magic == PPU_IMAGE_MAGIC && header.head.version == PPU_IMAGE_VERSION &&
           header.head.size_bytes == sizeof(header) && header.image_bytes == bytes &&
           header.abi_major == PPU_ABI_MAJOR && header.crc32 == crc_of(image, bytes);
}

/* The start-up code knows how long its image was linked; the loader's size stands for it. */
static void must_start(const uint8_t *image, size_t bytes, bool accepted)
{
    struct ppu_image_header header;
    uint32_t detail = 0;

    if (bytes < HEADER_END || bytes > PPU_MCU_ITCM_BYTES) {
        return;
    }
    memcpy(&header, image + PPU_IMAGE_HEADER_OFFSET, sizeof(header));
    uint32_t abi = (uint32_t)PPU_ABI_MAJOR << 16 | PPU_ABI_MINOR;
    bool starts = image_check(image, (uint32_t)bytes, abi, &detail) == PPU_BOOT_STARTED;
    if (starts != (accepted && header.abi_minor <= PPU_ABI_MINOR)) {
        fuzz_found("an image that is %s %s", accepted ? "accepted" : "refused", starts ? "starts" : "does not start");
    }
}

/* Header first, so that short inputs reach what lies behind it; then how much of the image there is, and its bytes. */
static uint8_t *make_image(struct fuzz_input *input, uint8_t what, size_t *size)
{
    uint8_t *image = calloc(1, MOST_BYTES);

    fuzz_bytes(input, image + PPU_IMAGE_HEADER_OFFSET, sizeof(struct ppu_image_header));
    *size = what & SHORT  ? fuzz_below(input, HEADER_END)
            : what & LONG ? MOST_BYTES - fuzz_below(input, 32)
                          : HEADER_END + fuzz_below(input, 1024);
    fuzz_bytes(input, image, PPU_IMAGE_HEADER_OFFSET);
    fuzz_bytes(input, image + HEADER_END, (size_t)(input->end - input->at));
    make_good(image, *size, what);
    return image;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = fuzz_input(bytes, count);
    struct ppu_error error = { .code = PPU_OK };
    uint8_t what = fuzz_u8(&input);
    size_t size = 0;
    uint8_t *image = make_image(&input, what, &size);
    /* A buffer of its own size, so that a byte too many is seen. */
    uint8_t *exact = malloc(size);

    memcpy(exact, image, size);
    enum ppu_err err = firmware_check("image", exact, size, &error);
    if ((err == PPU_OK) != is_good(image, size)) {
        fuzz_found("an image of %zu bytes is %s: %s", size, err == PPU_OK ? "accepted" : "refused", error.text);
    }
    if (err != PPU_OK && (error.code != err || error.text[0] == 0)) {
        fuzz_found("an image is refused without a sentence");
    }
    must_start(exact, size, err == PPU_OK);
    free(exact);
    free(image);
    return 0;
}
