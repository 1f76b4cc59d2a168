/* SPDX-License-Identifier: MIT */
/*
 * Tests how doorbells of a function with a mailbox are rung, on files in place of its BARs: in the mailbox, and in the
 * doorbell page when nobody looks there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/channel.h"
#include "ppu/macros.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/vfio/mapped_function.h"

#define PAGES 4u
#define DOORBELL_BYTES (PAGES * PPU_DOORBELL_STRIDE)
#define CHANNEL 2u
#define RINGS 20000u
#define PATIENCE_NS (60 * NS_PER_S)

struct bars {
    struct mapped_function function;
    int doorbell_file, box_file;
};

static int file_of(uint64_t bytes)
{
    int fd = memfd_create("bar", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    return fd;
}

static void make(struct bars *bars, uint64_t box_bytes)
{
    *bars = (struct bars){ .doorbell_file = file_of(DOORBELL_BYTES), .box_file = file_of(box_bytes) };
    assert_true(vfio_region_open_file(&bars->function.doorbells, bars->doorbell_file));
    assert_true(vfio_region_open_file(&bars->function.box, bars->box_file));
    mapped_function_use_mailbox(&bars->function);
}

static void drop(struct bars *bars)
{
    vfio_region_close(&bars->function.box);
    vfio_region_close(&bars->function.doorbells);
    close(bars->box_file);
    close(bars->doorbell_file);
}

/* Skips the test where the processor rings no mailbox in a BAR. */
static void make_with_mailbox(struct bars *bars)
{
    make(bars, 32 * PPU_KIB);
    if (!bars->function.mailbox) {
        drop(bars);
        skip();
    }
}

static void ring(struct bars *bars, uint32_t channel, uint32_t put)
{
    mapped_function_doorbell_write(&bars->function.transport, channel * PPU_DOORBELL_STRIDE + PPU_DB_PUT, put);
}

static uint32_t page_word(struct bars *bars, uint32_t channel, uint32_t offset)
{
    return vfio_region_read32(&bars->function.doorbells, channel * PPU_DOORBELL_STRIDE + offset);
}

static void looked_at(void **state)
{
    struct bars bars;

    (void)state;
    make_with_mailbox(&bars);
    struct ppu_mailbox *mailbox = bars.function.mailbox;
    ppu_mailbox_look(&mailbox->device_looks, true);
    ring(&bars, CHANNEL, 77);
    assert_true(ppu_mailbox_is_rung(mailbox));
    assert_int_equal(ppu_mailbox_take(&mailbox->words[0]), 1);
    assert_int_equal(ppu_mailbox_take(&mailbox->rung[0]), 1u << CHANNEL);
    assert_int_equal(ppu_mailbox_put(mailbox, CHANNEL), 77);
    assert_int_equal(page_word(&bars, CHANNEL, PPU_DB_PUT), 0);
    assert_int_equal(page_word(&bars, CHANNEL, PPU_DB_RING), 0);
    drop(&bars);
}

/* GP_PUT goes by the mailbox all the same: written to the page, it could come later than one that is newer. */
static void not_looked_at(void **state)
{
    struct bars bars;

    (void)state;
    make_with_mailbox(&bars);
    ring(&bars, CHANNEL, 78);
    assert_int_equal(ppu_mailbox_take(&bars.function.mailbox->rung[0]), 1u << CHANNEL);
    assert_int_equal(ppu_mailbox_put(bars.function.mailbox, CHANNEL), 78);
    assert_int_equal(page_word(&bars, CHANNEL, PPU_DB_PUT), 0);
    assert_int_equal(page_word(&bars, CHANNEL, PPU_DB_RING), 1);
    drop(&bars);
}

/* Other registers of a page, and the page of a channel that no PPU has. */
static void goes_to_the_page(void **state)
{
    struct bars bars;

    (void)state;
    make_with_mailbox(&bars);
    ppu_mailbox_look(&bars.function.mailbox->device_looks, true);
    mapped_function_doorbell_write(&bars.function.transport, PPU_DOORBELL_STRIDE + PPU_DB_RING, 5);
    assert_int_equal(page_word(&bars, 1, PPU_DB_RING), 5);
    ring(&bars, PPU_MAX_CHANNELS, 6);
    assert_false(ppu_mailbox_is_rung(bars.function.mailbox));
    drop(&bars);
}

static void without_mailbox(void **state)
{
    struct bars bars;

    (void)state;
    make(&bars, 4096); /* smaller than one */
    assert_null(bars.function.mailbox);
    ring(&bars, CHANNEL, 79);
    assert_int_equal(page_word(&bars, CHANNEL, PPU_DB_PUT), 79);
    drop(&bars);
}

/* ---- a device that looks now and then, and otherwise waits for the doorbell page ---- */

struct device {
    struct bars *bars;
    uint32_t seen; /* the last GP_PUT */
    bool backwards;
};

static void take(struct device *device)
{
    struct ppu_mailbox *mailbox = device->bars->function.mailbox;

    if (ppu_mailbox_take(&mailbox->words[0]) != 0 && ppu_mailbox_take(&mailbox->rung[0]) != 0) {
        const uint32_t put = ppu_mailbox_put(mailbox, CHANNEL);
        device->backwards |= put < device->seen;
        device->seen = put;
    }
}

/* As the device does: a word of the page that is written is a message, which the device gets once. */
static bool is_told(struct device *device)
{
    uint32_t *word =
        (uint32_t *)(void *)(device->bars->function.doorbells.mapped[0] + CHANNEL * PPU_DOORBELL_STRIDE + PPU_DB_RING);

    return __atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST) != 0;
}

static void *run_device(void *opaque)
{
    struct device *device = opaque;
    struct ppu_mailbox *mailbox = device->bars->function.mailbox;
    const uint64_t deadline_ns = deadline_after(PATIENCE_NS);

    for (uint32_t turn = 0; device->seen < RINGS && deadline_left(deadline_ns) != 0; turn++) {
        ppu_mailbox_look(&mailbox->device_looks, true);
        for (uint32_t i = 0; i < turn % 16; i++) {
            take(device);
        }
        ppu_mailbox_look(&mailbox->device_looks, false);
        take(device);
        while (device->seen < RINGS && !is_told(device) && deadline_left(deadline_ns) != 0) {
            sched_yield();
        }
        take(device);
    }
    return NULL;
}

/* None is lost: the device, told or looking, comes to see the last one. */
static void none_is_lost(void **state)
{
    struct bars bars;
    struct device device = { .bars = &bars };
    pthread_t thread;

    (void)state;
    make_with_mailbox(&bars);
    assert_int_equal(pthread_create(&thread, NULL, run_device, &device), 0);
    for (uint32_t put = 1; put <= RINGS; put++) {
        ring(&bars, CHANNEL, put);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(device.seen, RINGS);
    assert_false(device.backwards);
    drop(&bars);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looked_at),       cmocka_unit_test(not_looked_at), cmocka_unit_test(goes_to_the_page),
        cmocka_unit_test(without_mailbox), cmocka_unit_test(none_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
