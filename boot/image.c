/* SPDX-License-Identifier: MIT */
#include "boot/image.h"

#include "ppu/regs.h"

/* Size, CRC and build id are stamped by boot/mkimage. */
__attribute__((section(".header"), used)) const struct ppu_image_header image_header = {
    .magic = PPU_IMAGE_MAGIC,
    .head = { PPU_IMAGE_VERSION, sizeof(struct ppu_image_header) },
    .abi_major = PPU_ABI_MAJOR,
    .abi_minor = PPU_ABI_MINOR,
};

#define CRC_POLYNOMIAL 0xedb88320u

static uint32_t crc_nibble(uint32_t crc)
{
    for (int bit = 0; bit < 4; bit++) {
        crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
    }
    return crc;
}

/* IEEE 802.3, of the image with the field that holds it as zero. Runs before data is initialised. */
static uint32_t image_crc(const volatile uint8_t *image, uint32_t image_bytes)
{
    const uint32_t field = PPU_IMAGE_HEADER_OFFSET + offsetof(struct ppu_image_header, crc32);
    uint32_t table[16];
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = crc_nibble(i);
    }
    uint32_t crc = UINT32_MAX;
    for (uint32_t i = 0; i < image_bytes; i++) {
        crc ^= i - field < 4 ? 0 : image[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

uint32_t image_check(const volatile uint8_t *image, uint32_t image_bytes, uint32_t device_abi, uint32_t *detail)
{
    const volatile struct ppu_image_header *header =
        (const volatile struct ppu_image_header *)(image + PPU_IMAGE_HEADER_OFFSET);
    if (header->magic != PPU_IMAGE_MAGIC) {
        *detail = header->magic;
        return PPU_BOOT_BAD_HEADER;
    }
    if (header->head.version != PPU_IMAGE_VERSION || header->head.size_bytes != sizeof(*header) ||
        header->image_bytes != image_bytes) {
        *detail = header->head.version;
        return PPU_BOOT_BAD_HEADER;
    }
    uint32_t crc = image_crc(image, image_bytes);
    if (crc != header->crc32) {
        *detail = crc;
        return PPU_BOOT_BAD_CRC;
    }
    if (device_abi >> 16 != header->abi_major || (device_abi & 0xffff) < header->abi_minor) {
        *detail = device_abi;
        return PPU_BOOT_BAD_ABI;
    }
    return PPU_BOOT_STARTED;
}
