/* SPDX-License-Identifier: MIT */
/* Tests the debugger, which sees each microcontroller as a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/qemu/fw/probe.h"
#include "tests/qemu/qemu.h"

#define ONE_PPU "vram-size=32M,sm-threads=1"
#define TWICE(text) text, "--ppu", text

static char socket_path[64];

static int make_socket_path(void **state)
{
    (void)state;
    snprintf(socket_path, sizeof(socket_path), "/tmp/ppu-gdb-%d", (int)getpid());
    unlink(socket_path);
    return 0;
}

static int remove_socket(void **state)
{
    (void)state;
    unlink(socket_path);
    return 0;
}

static struct qemu *start_two(struct ppu ppu[2])
{
    const char *args[] = { "--ppu", TWICE(ONE_PPU), "--gdb", socket_path, NULL };
    struct qemu *qemu = qemu_start(args);

    for (unsigned i = 0; i < 2; i++) {
        ppu[i] = ppu_map(qemu, i);
        probe_load(&ppu[i]);
        probe_start(&ppu[i]);
    }
    return qemu;
}

/* Runs gdb with `commands`; its output is read from the pipe. */
static FILE *gdb(const char *commands)
{
    char line[1024];

    snprintf(line, sizeof(line),
             "timeout 30 gdb-multiarch -nx -batch -ex 'file %s' -ex 'target extended-remote %s' %s 2>&1 </dev/null",
             PROBE_ELF, socket_path, commands);
    FILE *output = popen(line, "r");
    assert_non_null(output);
    return output;
}

static void expect_words(FILE *output, const char *const *words)
{
    static char text[65536];
    size_t len = fread(text, 1, sizeof(text) - 1, output);

    text[len] = '\0';
    pclose(output);
    for (; *words; words++) {
        if (!strstr(text, *words)) {
            fail_msg("no '%s' in: %s", *words, text);
        }
    }
}

/* Inferior 1 is the first MCU, 2 the second, 3 the machine's own CPU. */
static void processes(void **state)
{
    static const char *const words[] = { "0x30555050",
                                         "0x40000050:\t0x00000001",
                                         "1.1  Thread 1.2 (cortex-m33",
                                         "2.1  Thread 2.3 (cortex-m33",
                                         "3.1  Thread 3.1 (max-arm-cpu",
                                         NULL };
    struct ppu ppu[2];
    struct qemu *qemu = start_two(ppu);
    (void)state;

    expect_words(gdb("-ex 'x/wx 0x40000000' -ex 'add-inferior' -ex 'inferior 2' -ex 'attach 2' -ex 'x/wx 0x40000050'"
                     " -ex 'info registers msp' -ex 'add-inferior' -ex 'inferior 3' -ex 'attach 3' -ex 'info threads'"),
                 words);
    assert_true(qemu_alive(qemu));
    qemu_stop(qemu);
}

/* gdb waits at the breakpoint for an interrupt, which comes from here. */
static void breakpoint(void **state)
{
    static const char *const words[] = { "Breakpoint 1, on_interrupt", "#1  <signal handler called>", NULL };
    struct ppu ppu[2];
    struct qemu *qemu = start_two(ppu);
    FILE *output = gdb("-ex 'break on_interrupt' -ex 'continue' -ex 'bt' -ex 'stepi' -ex 'delete' -ex 'detach'");
    (void)state;

    for (int i = 0; i < 40; i++) {
        sleep_ms(50);
        ppu_write(&ppu[0], PPU_REG_ADMIN_DOORBELL, 1);
    }
    expect_words(output, words);
    assert_int_equal(probe_do(&ppu[0], PROBE_READ, PPU_MCU_REGS + PPU_REG_INSTANCE, 0), 0);
    qemu_stop(qemu);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "gdb sees two microcontrollers and the host as processes [A8]", processes, make_socket_path, remove_socket,
          NULL },
        { "gdb stops the firmware at a breakpoint and lets it go on", breakpoint, make_socket_path, remove_socket,
          NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
