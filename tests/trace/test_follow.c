/* SPDX-License-Identifier: MIT */
/* Tests the reader of one flight recorder against a writer that the test is, and against one that writes meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/trace/follow.h"

#define SIZE 16u
#define LATER_NS 1000000000u
#define WRITTEN 200000u

struct recorder {
    struct ppu_trace_ring ring;
    struct ppu_trace_record record[SIZE];
};

static void begin(struct recorder *recorder, uint32_t number)
{
    memset(recorder, 0, sizeof(*recorder));
    recorder->ring.head.version = PPU_TRACE_VERSION;
    recorder->ring.size = SIZE;
    recorder->ring.tail = number;
}

static void put_record(struct recorder *recorder, uint32_t number)
{
    struct ppu_trace_record *to = &recorder->record[number % SIZE];

    __atomic_store_n(&to->sequence, PPU_TRACE_TORN(number), __ATOMIC_RELAXED);
    __atomic_store_n(&to->id[0], number, __ATOMIC_RELEASE);
    __atomic_store_n(&to->id[1], ~number, __ATOMIC_RELEASE);
    __atomic_store_n(&to->sequence, number, __ATOMIC_RELEASE);
}

static void write_records(struct recorder *recorder, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = recorder->ring.tail;
        put_record(recorder, number);
        __atomic_store_n(&recorder->ring.tail, number + 1, __ATOMIC_RELEASE);
    }
}

static void all_come_in_order(void **state)
{
    struct recorder recorder;
    struct follow follow;
    struct ppu_trace_record out[SIZE];
    uint64_t lost = 1;

    (void)state;
    begin(&recorder, 0);
    follow_begin(&follow, &recorder.ring, SIZE, false);
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), 0);
    for (uint32_t round = 0; round < 5; round++) {
        write_records(&recorder, SIZE);
        assert_int_equal(follow_read(&follow, 0, out, 10, &lost), 10);
        assert_int_equal(lost, 0);
        assert_int_equal(follow_read(&follow, 0, out + 10, SIZE, &lost), SIZE - 10);
        assert_int_equal(lost, 0);
        for (uint32_t i = 0; i < SIZE; i++) {
            assert_int_equal(out[i].id[0], round * SIZE + i);
        }
    }
}

static void what_is_overwritten_is_counted(void **state)
{
    struct recorder recorder;
    struct follow follow;
    struct ppu_trace_record out[SIZE];
    uint64_t lost = 0;

    (void)state;
    begin(&recorder, UINT32_MAX - 20); /* numbers wrap around */
    follow_begin(&follow, &recorder.ring, SIZE, false);
    follow.next = recorder.ring.tail;
    write_records(&recorder, 3 * SIZE + 5);
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), SIZE);
    assert_int_equal(lost, 2 * SIZE + 5);
    assert_int_equal(out[SIZE - 1].id[0], recorder.ring.tail - 1);
}

/* A device that has run before: only what it has overwritten since it was opened is lost, at any number. */
static void what_was_before_is_not_lost(void **state)
{
    static const struct {
        uint32_t first, before, since; /* number of the first record; records before and after the opening */
        uint32_t found, lost;
    } rows[] = {
        { 0, 0, 5, 5, 0 },
        { 0, 40, 5, SIZE, 0 },
        { 0, 40, SIZE, SIZE, 0 },
        { 0, 40, SIZE + 3, SIZE, 3 },
        { 0, 3 * SIZE, 4 * SIZE, SIZE, 3 * SIZE },
        { UINT32_MAX - 2, 0, 5, 5, 0 },
        { UINT32_MAX - 2, 0, SIZE + 9, SIZE, 9 },
        { UINT32_MAX - 50, 40, 2 * SIZE, SIZE, SIZE },
    };

    (void)state;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        struct recorder recorder;
        struct follow follow;
        struct ppu_trace_record out[SIZE];
        uint64_t lost = 0;
        begin(&recorder, rows[i].first);
        write_records(&recorder, rows[i].before);
        uint32_t opened = recorder.ring.tail;
        write_records(&recorder, rows[i].since);
        follow_begin(&follow, &recorder.ring, SIZE, false);
        follow_from(&follow, opened);
        assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), rows[i].found);
        assert_int_equal(lost, rows[i].lost);
    }
}

/* The number is of the time before a reset: what there is since is taken. */
static void a_reset_after_the_opening(void **state)
{
    struct recorder recorder;
    struct follow follow;
    struct ppu_trace_record out[SIZE];
    uint64_t lost = 0;

    (void)state;
    begin(&recorder, 0);
    write_records(&recorder, 3);
    follow_begin(&follow, &recorder.ring, SIZE, false);
    follow_from(&follow, 1000);
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), 3);
    assert_int_equal(lost, 0);
}

/* A record that is written over while it is read is missing, and nothing waits for it. */
static void torn_records_are_counted(void **state)
{
    struct recorder recorder;
    struct follow follow;
    struct ppu_trace_record out[SIZE];
    uint64_t lost = 0;

    (void)state;
    begin(&recorder, 0);
    follow_begin(&follow, &recorder.ring, SIZE, false);
    write_records(&recorder, 4);
    recorder.record[1].sequence = PPU_TRACE_TORN(1 + SIZE);
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), 3);
    assert_int_equal(lost, 1);
}

static void incomplete_records_are_waited_for(void **state)
{
    struct recorder recorder;
    struct follow follow;
    struct ppu_trace_record out[SIZE];
    uint64_t lost = 0;

    (void)state;
    begin(&recorder, 0);
    follow_begin(&follow, &recorder.ring, SIZE, true);
    write_records(&recorder, 3);
    recorder.record[1].sequence = PPU_TRACE_TORN(1);
    assert_int_equal(follow_read(&follow, 5, out, SIZE, &lost), 1);
    assert_int_equal(follow_read(&follow, 6, out, SIZE, &lost), 0);
    assert_int_equal(lost, 0);
    put_record(&recorder, 1);
    assert_int_equal(follow_read(&follow, 7, out, SIZE, &lost), 2);
    assert_int_equal(out[0].id[0], 1);
    /* The first of a place: its number was never there. */
    recorder.ring.tail = 5;
    put_record(&recorder, 4);
    assert_int_equal(follow_read(&follow, 10, out, SIZE, &lost), 0);
    assert_int_equal(lost, 0);
    /* Its writer has died. */
    assert_int_equal(follow_read(&follow, LATER_NS, out, SIZE, &lost), 1);
    assert_int_equal(lost, 1);
    assert_int_equal(out[0].id[0], 4);
}

static void a_reset_begins_anew(void **state)
{
    struct recorder recorder;
    struct follow follow;
    struct ppu_trace_record out[SIZE];
    uint64_t lost = 0;

    (void)state;
    begin(&recorder, 0);
    follow_begin(&follow, &recorder.ring, SIZE, false);
    write_records(&recorder, 12);
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), 12);
    begin(&recorder, 0);
    write_records(&recorder, 2);
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), 2);
    assert_int_equal(lost, 0);
}

/* ---- meanwhile ---- */

static void *write_all(void *argument)
{
    write_records(argument, WRITTEN);
    return NULL;
}

static void read_while_it_is_written(void **state)
{
    static struct recorder recorder;
    struct follow follow;
    struct ppu_trace_record out[SIZE];
    uint64_t seen = 0, missing = 0;
    uint32_t last = UINT32_MAX;
    pthread_t writer;

    (void)state;
    begin(&recorder, 0);
    follow_begin(&follow, &recorder.ring, SIZE, false);
    assert_int_equal(pthread_create(&writer, NULL, write_all, &recorder), 0);
    while (follow.next != WRITTEN) {
        uint64_t lost = 0;
        uint32_t count = follow_read(&follow, 0, out, SIZE, &lost);
        missing += lost;
        seen += count;
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(out[i].id[1], ~out[i].id[0]);
            assert_true(last == UINT32_MAX || out[i].id[0] > last);
            last = out[i].id[0];
        }
    }
    pthread_join(writer, NULL);
    assert_int_equal(seen + missing, WRITTEN);
}

/* Memory of a device that has gone reads as ones, or as zeros: nothing is in there, and nothing was lost. */
static void a_device_that_has_gone_has_nothing(void **state)
{
    struct recorder recorder;
    struct follow follow;
    struct ppu_trace_record out[SIZE];
    uint64_t lost = 1;

    (void)state;
    begin(&recorder, 0);
    follow_begin(&follow, &recorder.ring, SIZE, false);
    write_records(&recorder, 3);
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), 3);
    memset(&recorder, 0xff, sizeof(recorder));
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), 0);
    assert_int_equal(lost, 0);
    memset(&recorder, 0, sizeof(recorder));
    assert_int_equal(follow_read(&follow, 0, out, SIZE, &lost), 0);
    assert_int_equal(lost, 0);
}

/* A look is late by two milliseconds when nothing happens, and at once when records come faster than they are read. */
static void pauses_follow_what_is_found(void **state)
{
    static const struct {
        uint32_t last_ms, found, pause_ms;
    } row[] = {
        { 0, 0, 1 },   { 1, 0, 2 },    { 2, 0, 2 },    { 2, 128, 2 },  { 2, 129, 1 },
        { 1, 129, 1 }, { 1, 1024, 1 }, { 2, 1025, 0 }, { 0, 1025, 0 }, { 2, UINT32_MAX, 0 },
    };

    (void)state;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(row); i++) {
        assert_int_equal(follow_pause_ms(row[i].last_ms, row[i].found), row[i].pause_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come_in_order),
        cmocka_unit_test(what_is_overwritten_is_counted),
        cmocka_unit_test(what_was_before_is_not_lost),
        cmocka_unit_test(a_reset_after_the_opening),
        cmocka_unit_test(torn_records_are_counted),
        cmocka_unit_test(incomplete_records_are_waited_for),
        cmocka_unit_test(a_reset_begins_anew),
        cmocka_unit_test(read_while_it_is_written),
        cmocka_unit_test(a_device_that_has_gone_has_nothing),
        cmocka_unit_test(pauses_follow_what_is_found),
    };

    return cmocka_run_group_tests_name("trace: follow a recorder", tests, NULL, NULL);
}
