/* SPDX-License-Identifier: MIT */
/* Tests snapshots of the device and its MCU, loaded in the same and in a new process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/qemu/fw/probe.h"
#include "tests/qemu/qemu.h"

#define PPU_A "vram-size=32M,sm-threads=1"
#define PPU_B "vram-size=32M,sms=1,gpcs=1,sm-threads=1"
#define RAM_WORD (QEMU_RAM + 0x100000)

static char snapshot_file[64];

static int make_file_name(void **state)
{
    (void)state;
    snprintf(snapshot_file, sizeof(snapshot_file), "/tmp/ppu-snapshot-%d.qcow2", (int)getpid());
    unlink(snapshot_file);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(snapshot_file);
    return 0;
}

static struct qemu *start_one(struct ppu *ppu)
{
    const char *args[] = { "--ppu", PPU_A, "--snapshot", snapshot_file, NULL };
    struct qemu *qemu = qemu_start(args);

    *ppu = ppu_map(qemu, 0);
    probe_load(ppu);
    probe_start(ppu);
    return qemu;
}

/* The machine that was saved, in a new process; `ppu` keeps its addresses. */
static struct qemu *start_loaded(struct ppu *ppu)
{
    const char *args[] = { "--ppu", PPU_A, "--snapshot", snapshot_file, "--loadvm", "s", NULL };
    struct qemu *qemu = qemu_start(args);

    ppu->qemu = qemu;
    return qemu;
}

/* The monitor says nothing when it worked. */
static bool worked(const char *answer)
{
    return strncmp(answer, "{\"return\": \"\"}", 14) == 0;
}

static void monitor_quiet(struct qemu *qemu, const char *line)
{
    const char *answer = qemu_monitor(qemu, line);

    if (!worked(answer)) {
        fail_msg("%s: %s", line, answer);
    }
}

static uint32_t count(const struct ppu *ppu)
{
    return probe_field(ppu, offsetof(struct probe_mailbox, result[0]));
}

static uint32_t boots(const struct ppu *ppu)
{
    return probe_field(ppu, offsetof(struct probe_mailbox, boots));
}

/* The counter is in VRAM and in a register of the MCU: both must come back. */
static void counts_on(struct ppu *ppu, uint32_t at_least, uint32_t less_than)
{
    uint32_t first = count(ppu);

    assert_in_range(first, at_least, less_than - 1);
    while (count(ppu) == first) {
        sleep_ms(1);
    }
    assert_int_equal(boots(ppu), 1);
    ppu_vram_write(ppu, PROBE_MAILBOX, PROBE_IDLE);
    assert_int_equal(probe_do(ppu, PROBE_READ, PPU_MCU_REGS + PPU_REG_MAGIC, 0), PPU_MAGIC);
}

static void busy_same_process(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_one(&ppu);
    (void)state;

    probe_ask(&ppu, PROBE_COUNT, 0, 0);
    for (int round = 0; round < 5; round++) {
        qemu_qmp(qemu, "{\"execute\": \"stop\"}");
        uint32_t saved = count(&ppu);
        monitor_quiet(qemu, "savevm s");
        qemu_qmp(qemu, "{\"execute\": \"cont\"}");
        sleep_ms(20);
        qemu_qmp(qemu, "{\"execute\": \"stop\"}");
        assert_true(count(&ppu) > saved);
        monitor_quiet(qemu, "loadvm s");
        assert_int_equal(count(&ppu), saved);
        qemu_qmp(qemu, "{\"execute\": \"cont\"}");
    }
    qemu_stop(qemu);
}

static void busy_new_process(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_one(&ppu);
    (void)state;

    probe_ask(&ppu, PROBE_COUNT, 0, 0);
    sleep_ms(5);
    qemu_qmp(qemu, "{\"execute\": \"stop\"}");
    uint32_t saved = count(&ppu);
    monitor_quiet(qemu, "savevm s");
    qemu_stop(qemu);
    qemu = start_loaded(&ppu);
    counts_on(&ppu, saved, UINT32_MAX);
    qemu_stop(qemu);
}

/* Everything of the function: registers, MSI-X, interrupts, windows. */
static void idle_new_process(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_one(&ppu);
    (void)state;

    qemu_write(qemu, RAM_WORD, 0);
    ppu_route_vector(&ppu, 7, RAM_WORD, 0xcafe);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_FW_INFO, 0x12345678);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 9);
    monitor_quiet(qemu, "savevm s");
    qemu_stop(qemu);

    qemu = start_loaded(&ppu);
    assert_int_equal(ppu_read(&ppu, PPU_REG_FW_INFO), 0x12345678);
    assert_int_equal(ppu_read(&ppu, PPU_REG_VECTOR_PENDING), 1u << 9);
    assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_STATE), PPU_MCU_RUNNING);
    ppu_write(&ppu, PPU_BAR0_DTCM + 0x8000, 0xbad);
    assert_int_not_equal(ppu_read(&ppu, PPU_BAR0_DTCM + 0x8000), 0xbad);
    probe_do(&ppu, PROBE_WRITE, PPU_MCU_REGS + PPU_REG_VECTOR_RAISE, 7);
    assert_int_equal(qemu_read(qemu, RAM_WORD), 0xcafe);
    probe_hold(&ppu);
    probe_start(&ppu);
    assert_int_equal(boots(&ppu), 2);
    qemu_stop(qemu);
}

static void held_stays_held(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_one(&ppu);
    (void)state;

    probe_hold(&ppu);
    ppu_write(&ppu, PPU_BAR0_DTCM + 0x8000, 0x600d);
    monitor_quiet(qemu, "savevm s");
    probe_start(&ppu);
    monitor_quiet(qemu, "loadvm s");
    assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_STATE), PPU_MCU_HELD);
    assert_int_equal(boots(&ppu), 1);
    assert_int_equal(ppu_read(&ppu, PPU_BAR0_DTCM + 0x8000), 0x600d);
    ppu_write(&ppu, PPU_BAR0_DTCM + 0x8000, 0x1234);
    assert_int_equal(ppu_read(&ppu, PPU_BAR0_DTCM + 0x8000), 0x1234);
    probe_start(&ppu);
    assert_int_equal(boots(&ppu), 2);
    qemu_stop(qemu);
}

static void locked_up_stays_locked_up(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_one(&ppu);
    (void)state;

    probe_ask(&ppu, PROBE_LOCK_UP, 0, 0);
    ppu_expect(&ppu, PPU_REG_MCU_STATE, PPU_MCU_LOCKUP);
    monitor_quiet(qemu, "savevm s");
    qemu_stop(qemu);
    qemu = start_loaded(&ppu);
    assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_STATE), PPU_MCU_LOCKUP);
    ppu_vram_write(&ppu, PROBE_MAILBOX, PROBE_IDLE);
    probe_hold(&ppu);
    probe_start(&ppu);
    qemu_stop(qemu);
}

static void wrong_machine_refused(void **state)
{
    static const struct {
        const char *first, *second, *words;
    } rows[] = {
        { "addr=2," PPU_A, "addr=1," PPU_A, "same order" },
        { PPU_B, PPU_A, "ppu0" },
        { "channels=32," PPU_A, PPU_A, "ppu0" },
    };
    const char *args[] = { "--ppu", PPU_A, "--ppu", PPU_A, "--snapshot", snapshot_file, NULL };
    struct qemu *qemu = qemu_start(args);
    (void)state;

    monitor_quiet(qemu, "savevm s");
    qemu_stop(qemu);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        const char *load[] = { "--ppu",    rows[i].first, "--ppu", rows[i].second, "--snapshot", snapshot_file,
                               "--loadvm", "s",           NULL };
        int status;
        char *text = qemu_run_to_end(load, &status);

        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || !strstr(text, rows[i].words)) {
            fail_msg("row %zu: status 0x%x, said: %s", i, (unsigned)status, text);
        }
        free(text);
    }
}

/* ---- somebody has written to the file ---- */

#define SECTION \
    "\x10"      \
    "0000:00:01.0/ppu"   /* QEMU's name of the device's part, and how long it is */
#define SECTION_END 0x7e /* with the section's number behind it, which also stands before the name */
#define NUMBER_BYTES 4u
#define BEGIN_BYTES 0x1400u /* configuration space and sizes are there */
#define DAMAGES 60u
#define FILE_BYTES (64u << 20)

static uint8_t *read_snapshot(size_t *bytes)
{
    uint8_t *const all = malloc(FILE_BYTES);
    FILE *file = fopen(snapshot_file, "re");

    assert_true(all && file);
    *bytes = fread(all, 1, FILE_BYTES, file);
    fclose(file);
    assert_in_range(*bytes, 1, FILE_BYTES - 1);
    return all;
}

static void write_snapshot(size_t at, const uint8_t *bytes, size_t count)
{
    FILE *file = fopen(snapshot_file, "r+e");

    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Where the device's part is, behind its name. */
static size_t find_section(const uint8_t *all, size_t bytes, size_t *section_bytes)
{
    const uint8_t *const name = memmem(all, bytes, SECTION, strlen(SECTION));
    uint8_t end[1 + NUMBER_BYTES] = { SECTION_END };

    assert_non_null(name);
    memcpy(end + 1, name - NUMBER_BYTES, NUMBER_BYTES);
    const uint8_t *const at = name + strlen(SECTION);
    const uint8_t *const behind = memmem(at, bytes - (size_t)(at - all), end, sizeof(end));
    assert_non_null(behind);
    *section_bytes = (size_t)(behind - at);
    assert_true(*section_bytes > BEGIN_BYTES);
    return (size_t)(at - all);
}

/* Bytes of the device's part, half of them where its sizes are, are others. */
static void damage(uint8_t *section, size_t bytes, uint32_t *rng)
{
    const uint32_t times = 1 + test_random(rng) % 32;

    for (uint32_t i = 0; i < times; i++) {
        const size_t most = test_random(rng) % 2 != 0 ? bytes : BEGIN_BYTES;
        section[test_random(rng) % most] ^= (uint8_t)(1u << test_random(rng) % 8);
    }
}

/* What QEMU has for every PCI function: a version, below which none was loaded later, and a pin that is set, at which
 * the next reset ended the process. */
static const struct {
    size_t at;
    uint8_t value;
} lies[] = { { 11, 0 }, { 12 + 0x1000 + 3, 1 } };

/* The monitor says that it is loaded, or what is wrong with it. QEMU lives, and loads what is right. */
static void damaged_snapshots(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_one(&ppu);
    uint32_t rng = test_seed(), refused = 0;
    size_t bytes, section_bytes;
    (void)state;

    probe_ask(&ppu, PROBE_COUNT, 0, 0);
    qemu_qmp(qemu, "{\"execute\": \"stop\"}");
    const uint32_t saved = count(&ppu);
    monitor_quiet(qemu, "savevm s");
    uint8_t *const all = read_snapshot(&bytes);
    const size_t at = find_section(all, bytes, &section_bytes);
    uint8_t *const section = malloc(section_bytes);
    assert_non_null(section);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(lies) + DAMAGES; i++) {
        memcpy(section, all + at, section_bytes);
        if (i < PPU_ARRAY_SIZE(lies)) {
            assert_int_not_equal(section[lies[i].at], lies[i].value);
            section[lies[i].at] = lies[i].value;
        } else {
            damage(section, section_bytes, &rng);
        }
        write_snapshot(at, section, section_bytes);
        refused += !worked(qemu_monitor(qemu, "loadvm s"));
        /* QEMU's flash does not stand a second load before the machine has run. */
        qemu_qmp(qemu, "{\"execute\": \"cont\"}");
        qemu_qmp(qemu, "{\"execute\": \"stop\"}");
        assert_true(qemu_alive(qemu));
    }
    printf("# %u were refused\n", refused);
    assert_int_not_equal(refused, 0);
    write_snapshot(at, all + at, section_bytes);
    free(section);
    free(all);
    monitor_quiet(qemu, "loadvm s");
    qemu_qmp(qemu, "{\"execute\": \"cont\"}");
    counts_on(&ppu, saved, UINT32_MAX);
    qemu_stop(qemu);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "a busy MCU goes back and goes on in the same process", busy_same_process, make_file_name, remove_file,
          NULL },
        { "a busy MCU goes on in a new process", busy_new_process, make_file_name, remove_file, NULL },
        { "the function is whole in a new process", idle_new_process, make_file_name, remove_file, NULL },
        { "a held MCU is held after the load", held_stays_held, make_file_name, remove_file, NULL },
        { "a locked-up MCU can be started after the load", locked_up_stays_locked_up, make_file_name, remove_file,
          NULL },
        { "another machine's snapshot is refused [A1, A8]", wrong_machine_refused, make_file_name, remove_file, NULL },
        { "a snapshot with bytes that are others is refused or loaded, and QEMU lives", damaged_snapshots,
          make_file_name, remove_file, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
