/* SPDX-License-Identifier: MIT */
/*
 * Defines the firmware image, the hand-shake at start-up and the crash record.
 *
 * The image is the contents of ITCM from address 0: vector table, then at
 * PPU_IMAGE_HEADER_OFFSET this header. The host loads it through BAR0 (or the device
 * itself, property `firmware=`), and releases the MCU. The start-up code checks the
 * header and the CRC, then the firmware fills in ppu_fw_info and sets BOOT_STATUS to READY.
 */
#ifndef PPU_BOOT_H
#define PPU_BOOT_H

#include "ppu/base.h"

#define PPU_IMAGE_MAGIC 0x57465050u /* "PPFW" */
#define PPU_IMAGE_VERSION 1u
#define PPU_IMAGE_HEADER_OFFSET 0x100u
#define PPU_BUILD_ID_BYTES 20u

struct ppu_image_header {
    uint32_t magic;
    struct ppu_struct_header head; /* PPU_IMAGE_VERSION, sizeof(struct ppu_image_header) */
    uint16_t abi_major;
    uint16_t abi_minor;
    uint32_t image_bytes; /* whole image, vectors and header included */
    uint32_t crc32;       /* IEEE 802.3, of the whole image with this field zero */
    uint8_t build_id[PPU_BUILD_ID_BYTES];
    uint32_t reserved[6];
};
PPU_ASSERT_SIZE(struct ppu_image_header, 64);
PPU_ASSERT_OFFSET(struct ppu_image_header, crc32, 16);

/* BOOT_STATUS */
enum ppu_boot_status {
    PPU_BOOT_NONE = 0,
    PPU_BOOT_STARTED = 1, /* start-up code runs */
    PPU_BOOT_READY = 2,
    PPU_BOOT_BAD_HEADER = 0x80, /* detail: the magic or version found */
    PPU_BOOT_BAD_CRC = 0x81,    /* detail: the CRC computed */
    PPU_BOOT_BAD_ABI = 0x82,    /* detail: the device's ABI_VERSION */
    PPU_BOOT_BAD_DEVICE = 0x83, /* detail: offset of the identity register it cannot serve */
    PPU_BOOT_CRASHED = 0x84,    /* detail: address of the crash record in DTCM */
};

/* Tells the driver of the running firmware; lies in VRAM at FW_INFO. All places are VRAM offsets. */
#define PPU_FW_INFO_VERSION 1u
struct ppu_fw_info {
    struct ppu_struct_header head;
    uint16_t abi_major;
    uint16_t abi_minor;
    uint8_t build_id[PPU_BUILD_ID_BYTES];
    uint32_t prot_base;
    uint32_t prot_limit;
    uint32_t admin_queue; /* struct ppu_admin_queue */
    uint32_t error_ring;  /* struct ppu_error_ring */
    uint32_t fw_trace;    /* struct ppu_trace_ring, written by the firmware */
    uint32_t dev_trace;   /* struct ppu_trace_ring, written by the device */
    uint32_t log;         /* struct ppu_log_ring */
    uint32_t pt_base;     /* pool for page tables, for the driver to hand out */
    uint32_t pt_bytes;
    uint32_t heap_base; /* VRAM for the driver to hand out: from here to the end */
    uint32_t streams;   /* of a context, at most */
    uint32_t tasks;     /* task records */
    uint32_t tmds;      /* struct ppu_tmd of each task record, tmd_stride bytes apart */
    uint32_t tmd_stride;
    uint32_t state; /* struct ppu_state */
    uint32_t reserved[10];
};
PPU_ASSERT_SIZE(struct ppu_fw_info, 128);

/* Text log of the firmware: the last bytes of an endless text. tail runs freely. */
#define PPU_LOG_BYTES (64u * PPU_KIB)
struct ppu_log_ring {
    uint32_t tail; /* firmware */
    uint32_t reserved[15];
    char text[PPU_LOG_BYTES];
};

/* Crash record: at the very end of DTCM, read by the host through BAR0. */
#define PPU_CRASH_MAGIC 0x48535243u /* "CRSH" */
#define PPU_CRASH_STACK_WORDS 32u
#define PPU_CRASH_FILE_BYTES 48u
struct ppu_crash_record {
    uint32_t magic;
    struct ppu_struct_header head;
    uint32_t line;                   /* failed assertion, else 0 */
    char file[PPU_CRASH_FILE_BYTES]; /* failed assertion, else the name of the exception */
    uint32_t r[16];                  /* r13 is the stack pointer at the fault */
    uint32_t xpsr;
    uint32_t exc_return;
    uint32_t cfsr; /* fault status registers of the core */
    uint32_t hfsr;
    uint32_t mmfar;
    uint32_t bfar;
    uint32_t reserved[7];
    uint32_t stack[PPU_CRASH_STACK_WORDS];
};
PPU_ASSERT_SIZE(struct ppu_crash_record, 304);

#endif
