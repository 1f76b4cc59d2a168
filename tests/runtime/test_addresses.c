/* SPDX-License-Identifier: MIT */
/* Tests where memory in VRAM can have its host address on the PPU, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ppu.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "runtime/device.h"
#include "runtime/transport.h"

#define VRAM_BYTES (256u * PPU_MIB)

static bool shares_at(uint64_t host)
{
    struct ppu_transport transport = { .vram = (void *)(uintptr_t)host, .vram_bytes = VRAM_BYTES };
    const struct ppu_device device = { .transport = &transport };

    return ppu_device_shares_addresses(&device);
}

static void aligned_and_below_the_windows(void **state)
{
    (void)state;
    assert_true(shares_at(0x7f0000000000));
    assert_true(shares_at(PPU_SHARED_WINDOW - VRAM_BYTES));
    assert_false(shares_at(0x7f0000001000));
    assert_false(shares_at(PPU_SHARED_WINDOW - VRAM_BYTES + PPU_PAGE_64K));
    assert_false(shares_at(0xffff7f800000)); /* where Linux on arm64 puts it */
    assert_false(shares_at(UINT64_MAX - VRAM_BYTES / 2 + 1 - PPU_PAGE_64K));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "aligned to 64 KiB, and below the windows of shared and local memory", aligned_and_below_the_windows, NULL,
          NULL, NULL },
    };

    return cmocka_run_group_tests_name("runtime: addresses", tests, NULL, NULL);
}
