/* SPDX-License-Identifier: MIT */
/* Tests stops, resets under load, and the end of QEMU when its client has gone. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/qemu/fw/probe.h"
#include "tests/qemu/qemu.h"

#define FORMER 0x1fffff8u /* VRAM offset of what a former owner leaves */
#define ONE_PPU "vram-size=32M,sm-threads=1"

static const char *const one_ppu[] = { "--ppu", ONE_PPU, NULL };

static uint32_t count(const struct ppu *ppu)
{
    return probe_field(ppu, offsetof(struct probe_mailbox, result[0]));
}

static struct qemu *start_counting(struct ppu *ppu)
{
    struct qemu *qemu = qemu_start(one_ppu);

    *ppu = ppu_map(qemu, 0);
    probe_load(ppu);
    probe_start(ppu);
    probe_ask(ppu, PROBE_COUNT, 0, 0);
    return qemu;
}

static void expect_counting(const struct ppu *ppu)
{
    uint32_t before = count(ppu);

    for (int ms = 0; count(ppu) == before && ms < 5000; ms++) {
        sleep_ms(1);
    }
    assert_int_not_equal(count(ppu), before);
}

static void stop_and_go(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_counting(&ppu);
    (void)state;

    for (int round = 0; round < 20; round++) {
        expect_counting(&ppu);
        qemu_qmp(qemu, "{\"execute\": \"stop\"}");
        uint32_t before = count(&ppu);
        sleep_ms(2);
        assert_int_equal(count(&ppu), before);
        qemu_qmp(qemu, "{\"execute\": \"cont\"}");
    }
    qemu_stop(qemu);
}

/* Held and released while the machine is stopped: it happens all the same. */
static void control_while_stopped(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_counting(&ppu);
    (void)state;

    qemu_qmp(qemu, "{\"execute\": \"stop\"}");
    ppu_write(&ppu, PPU_REG_MCU_CONTROL, 0);
    assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_STATE), PPU_MCU_HELD);
    ppu_vram_write(&ppu, PROBE_MAILBOX, PROBE_IDLE);
    ppu_write(&ppu, PPU_REG_MCU_CONTROL, 1);
    assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_STATE), PPU_MCU_RUNNING);
    assert_int_equal(ppu_read(&ppu, PPU_REG_BOOT_STATUS), 0);
    qemu_qmp(qemu, "{\"execute\": \"cont\"}");
    ppu_expect(&ppu, PPU_REG_BOOT_STATUS, PROBE_STARTED);
    assert_int_equal(probe_do(&ppu, PROBE_READ, PPU_MCU_REGS + PPU_REG_MAGIC, 0), PPU_MAGIC);
    qemu_stop(qemu);
}

enum reset_kind {
    RESET_FUNCTION,
    RESET_SYSTEM,
    RESET_REGISTER,
};

static void wait_unmapped(struct qemu *qemu, const struct ppu *ppu)
{
    for (int ms = 0; qemu_read(qemu, ppu->config + 4) & 2 && ms < 5000; ms++) {
        sleep_ms(1);
    }
    assert_int_equal(qemu_read(qemu, ppu->config + 0x10), 0);
}

static void reset(struct qemu *qemu, struct ppu *ppu, enum reset_kind kind)
{
    switch (kind) {
    case RESET_FUNCTION:
        ppu_function_level_reset(ppu);
        break;
    case RESET_SYSTEM:
        qemu_qmp(qemu, "{\"execute\": \"system_reset\"}");
        break;
    case RESET_REGISTER:
        ppu_write(ppu, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
        return;
    }
    wait_unmapped(qemu, ppu);
    *ppu = ppu_map(qemu, 0);
}

static void reset_under_load(enum reset_kind kind)
{
    struct ppu ppu;
    struct qemu *qemu = start_counting(&ppu);

    for (int round = 0; round < 10; round++) {
        expect_counting(&ppu);
        ppu_route_vector(&ppu, 4, QEMU_RAM, 1);
        ppu_vram_write(&ppu, FORMER, 0x5ec2e7);
        reset(qemu, &ppu, kind);
        ppu_expect(&ppu, PPU_REG_MCU_STATE, PPU_MCU_HELD);
        assert_int_equal(ppu_vram_read(&ppu, FORMER), 0);
        assert_int_equal(ppu_read(&ppu, PPU_REG_MCU_CONTROL), 0);
        assert_int_equal(ppu_read(&ppu, PPU_REG_BOOT_STATUS), 0);
        assert_int_equal(ppu_read(&ppu, PPU_REG_VECTOR_PENDING), 0);
        probe_load(&ppu);
        probe_start(&ppu);
        probe_ask(&ppu, PROBE_COUNT, 0, 0);
    }
    qemu_stop(qemu);
}

static void function_level_reset(void **state)
{
    (void)state;
    reset_under_load(RESET_FUNCTION);
}

static void system_reset(void **state)
{
    (void)state;
    reset_under_load(RESET_SYSTEM);
}

static void register_reset(void **state)
{
    (void)state;
    reset_under_load(RESET_REGISTER);
}

/* Resets without waiting, mixed with releases: the last word counts. */
static void reset_races(void **state)
{
    struct ppu ppu;
    struct qemu *qemu = start_counting(&ppu);
    (void)state;

    for (int round = 0; round < 200; round++) {
        ppu_write(&ppu, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
        ppu_write(&ppu, PPU_REG_MCU_CONTROL, 1);
        if (round % 3 == 0) {
            ppu_write(&ppu, PPU_REG_MCU_CONTROL, 0);
            ppu_write(&ppu, PPU_REG_MCU_CONTROL, 1);
        }
    }
    ppu_expect(&ppu, PPU_REG_BOOT_STATUS, PROBE_STARTED);
    ppu_write(&ppu, PPU_REG_MCU_CONTROL, 0);
    ppu_expect(&ppu, PPU_REG_MCU_STATE, PPU_MCU_HELD);
    qemu_stop(qemu);
}

static void autostart(void **state)
{
    char props[256];
    const char *args[] = { "--ppu", props, NULL };
    (void)state;

    snprintf(props, sizeof(props), "%s,autostart=on,firmware=%s", ONE_PPU, PROBE_IMAGE);
    struct qemu *qemu = qemu_start(args);
    struct ppu ppu = ppu_map(qemu, 0);
    ppu_expect(&ppu, PPU_REG_BOOT_STATUS, PROBE_STARTED);
    reset(qemu, &ppu, RESET_FUNCTION);
    ppu_expect(&ppu, PPU_REG_BOOT_STATUS, PROBE_STARTED);
    qemu_stop(qemu);
}

static struct qemu *start_with_life(int *ours)
{
    int life[2];
    char spec[16];
    const char *args[] = { "--ppu", ONE_PPU, "--life", spec, NULL };

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, life), 0);
    /* QEMU must not inherit our end, or it would keep itself alive. */
    *ours = fcntl(life[0], F_DUPFD_CLOEXEC, 0);
    close(life[0]);
    snprintf(spec, sizeof(spec), "fd:%d", life[1]);
    struct qemu *qemu = qemu_start(args);
    close(life[1]);
    return qemu;
}

static void ends_when_the_client_closes(void **state)
{
    int ours;
    struct qemu *qemu = start_with_life(&ours);
    (void)state;

    sleep_ms(50);
    assert_true(qemu_alive(qemu));
    close(ours);
    assert_true(WIFEXITED(qemu_wait_end(qemu)));
    qemu_stop(qemu);
}

static void ends_when_the_client_is_killed(void **state)
{
    int ours;
    struct qemu *qemu = start_with_life(&ours);
    pid_t client = fork();
    (void)state;

    assert_true(client >= 0);
    if (client == 0) {
        for (;;) {
            pause();
        }
    }
    close(ours);
    sleep_ms(50);
    assert_true(qemu_alive(qemu));
    kill(client, SIGKILL);
    assert_int_equal(waitpid(client, NULL, 0), client);
    assert_true(WIFEXITED(qemu_wait_end(qemu)));
    qemu_stop(qemu);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "stop and cont stop and continue a busy MCU", stop_and_go, NULL, NULL, NULL },
        { "the MCU is held and released in a stopped machine", control_while_stopped, NULL, NULL, NULL },
        { "function-level reset under load brings back a working PPU [A1]", function_level_reset, NULL, NULL, NULL },
        { "system reset under load brings back a working PPU", system_reset, NULL, NULL, NULL },
        { "DEVICE_RESET under load brings back a working PPU", register_reset, NULL, NULL, NULL },
        { "resets and releases in a row end as the last one says", reset_races, NULL, NULL, NULL },
        { "autostart starts the firmware after each reset", autostart, NULL, NULL, NULL },
        { "QEMU ends when its client closes the life line", ends_when_the_client_closes, NULL, NULL, NULL },
        { "QEMU ends when its client is killed", ends_when_the_client_is_killed, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
