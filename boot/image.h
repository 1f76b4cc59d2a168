/* SPDX-License-Identifier: MIT */
/* Declares the bounds that linker/firmware.ld exports, and what the files of boot/ ask of each other. */
#ifndef BOOT_IMAGE_H
#define BOOT_IMAGE_H

#include <stdint.h>

#include "ppu/boot.h"

extern char __code_end[], __image_end[];
extern char __stack_limit[], __stack_top[], __crash_stack_top[];
extern char __data_start[], __data_end[], __data_load[];
extern char __bss_start[], __bss_end[];
extern char __dtcm_start[], __dtcm_end[];
extern struct ppu_crash_record __crash_record;

extern const struct ppu_image_header image_header;

/* Vector 1: checks the image, makes the C environment and runs the firmware. */
_Noreturn void start(void);

/*
 * Checks header, CRC and ABI of an image that was linked to have so many bytes, for a device of that ABI_VERSION: enum
 * ppu_boot_status STARTED when good; else *detail is what was found.
 */
uint32_t image_check(const volatile uint8_t *image, uint32_t image_bytes, uint32_t device_abi, uint32_t *detail);

/* Memory protection as docs/spec/firmware.md says. */
void mpu_enable(void);

/* Vectors of faults and of everything that never comes. */
void crash_entry(void);

#endif
