/* SPDX-License-Identifier: MIT */
#include "tests/joined/joined_image.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/boot.h"
#include "ppu/regs.h"

static uint32_t crc32_of(const uint8_t *bytes, size_t count)
{
    uint32_t crc = ~0u;

    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 1u) != 0 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
        }
    }
    return ~crc;
}

int joined_image_file(char *path, size_t size)
{
    uint8_t image[PPU_IMAGE_HEADER_OFFSET + sizeof(struct ppu_image_header)] = { 0 };
    struct ppu_image_header header = {
        .magic = PPU_IMAGE_MAGIC,
        .head = { PPU_IMAGE_VERSION, sizeof(header) },
        .abi_major = PPU_ABI_MAJOR,
        .abi_minor = PPU_ABI_MINOR,
        .image_bytes = sizeof(image),
    };

    memcpy(image + PPU_IMAGE_HEADER_OFFSET, &header, sizeof(header));
    header.crc32 = crc32_of(image, sizeof(image));
    memcpy(image + PPU_IMAGE_HEADER_OFFSET, &header, sizeof(header));
    int file = memfd_create("firmware", MFD_CLOEXEC);
    if (file < 0 || write(file, image, sizeof(image)) != (ssize_t)sizeof(image)) {
        return -1;
    }
    snprintf(path, size, "/proc/self/fd/%d", file);
    return file;
}
