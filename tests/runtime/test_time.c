/* SPDX-License-Identifier: MIT */
/* Tests the device's clock, read in two halves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ppu/regs.h"
#include "runtime/device.h"
#include "runtime/transport.h"

#define MOST_READS 100u

static uint32_t reads;
static const uint32_t *high; /* what the high half is, read by read; NULL: never the same */

static uint32_t reg_read(struct ppu_transport *transport, uint32_t offset)
{
    (void)transport;
    assert_true(++reads < MOST_READS);
    if (offset == PPU_REG_TIME_LO) {
        return 5;
    }
    return high ? *high++ : reads;
}

static struct ppu_device *device_with_clock(const uint32_t *halves)
{
    static const struct ppu_transport_ops ops = { .reg_read = reg_read };
    static struct ppu_transport transport = { .ops = &ops };
    static struct ppu_device device = { .transport = &transport };

    reads = 0;
    high = halves;
    return &device;
}

static void both_halves_agree(void **state)
{
    const uint32_t same[] = { 7, 7 }, later[] = { 7, 8, 8 };

    (void)state;
    assert_true(ppu_device_time_ns(device_with_clock(same)) == (7ull << 32 | 5));
    assert_true(ppu_device_time_ns(device_with_clock(later)) == (8ull << 32 | 5));
}

/* No device is so, but what is in its place may be. */
static void no_clock_is_waited_for(void **state)
{
    (void)state;
    (void)ppu_device_time_ns(device_with_clock(NULL));
    assert_true(reads > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "both halves are of one moment", both_halves_agree, NULL, NULL, NULL },
        { "a clock that is never the same is not read for ever", no_clock_is_waited_for, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("runtime: time", tests, NULL, NULL);
}
