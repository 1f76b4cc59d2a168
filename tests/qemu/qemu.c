/* SPDX-License-Identifier: MIT */
#include "tests/qemu/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/qemu/fw/probe.h"

#define LINE_MAX_BYTES (1u << 20)
#define ARGS_MAX 64u
#define LOAD_CHUNK 1024u /* bytes in one qtest command */
#define PATIENCE_MS 20000

#define ECAM 0x4010000000ull
#define WINDOW_32 0x10000000ull
#define WINDOW_64 0x8000000000ull
#define PCI_BAR0 0x10u
#define PCI_CAP_FIRST 0x34u
#define COMMAND_MEM 2u
#define COMMAND_BUS 4u

/* A socket and what was read from it beyond the last line. */
struct wire {
    int fd;
    char *buf;
    size_t len;  /* bytes in buf */
    size_t used; /* of them given out as the last line */
};

struct qemu {
    pid_t pid;
    bool ended;
    int status;
    struct wire qtest;
    struct wire qmp;
};

/* ---- lines ---- */

static struct wire wire_open(int fd)
{
    struct wire wire = { .fd = fd, .buf = malloc(LINE_MAX_BYTES) };

    assert_non_null(wire.buf);
    return wire;
}

static void wire_close(struct wire *wire)
{
    close(wire->fd);
    free(wire->buf);
}

static void wire_send(struct wire *wire, const char *text, size_t len)
{
    while (len != 0) {
        ssize_t sent = send(wire->fd, text, len, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            fail_msg("QEMU does not listen any more (%s)", strerror(errno));
        }
        text += sent;
        len -= (size_t)sent;
    }
}

static void wire_fill(struct wire *wire)
{
    struct pollfd ready = { .fd = wire->fd, .events = POLLIN };

    assert_true(wire->len < LINE_MAX_BYTES);
    if (poll(&ready, 1, PATIENCE_MS) == 0) {
        fail_msg("QEMU has not answered within %d ms", PATIENCE_MS);
    }
    ssize_t got = recv(wire->fd, wire->buf + wire->len, LINE_MAX_BYTES - wire->len, 0);
    if (got <= 0) {
        fail_msg("QEMU has gone");
    }
    wire->len += (size_t)got;
}

/* The next line, without its end; valid until the next call. */
static char *wire_line(struct wire *wire)
{
    char *end;

    memmove(wire->buf, wire->buf + wire->used, wire->len - wire->used);
    wire->len -= wire->used;
    wire->used = 0;
    while (!(end = memchr(wire->buf, '\n', wire->len))) {
        wire_fill(wire);
    }
    *end = '\0';
    wire->used = (size_t)(end - wire->buf) + 1;
    return wire->buf;
}

/* ---- life ---- */

void sleep_ms(unsigned ms)
{
    struct timespec wait = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

    while (nanosleep(&wait, &wait) != 0 && errno == EINTR) {
    }
}

static const char *launcher(void)
{
    const char *path = getenv("PPU_RUN");

    return path ? path : "tools/ppu-run";
}

static void keep_open(int fd)
{
    fcntl(fd, F_SETFD, 0);
}

static void fill_argv(char **argv, const char *const *first, const char *const *rest)
{
    size_t count = 0;

    argv[count++] = (char *)launcher();
    for (; *first; first++) {
        argv[count++] = (char *)*first;
    }
    for (; *rest; rest++) {
        assert_true(count < ARGS_MAX - 1);
        argv[count++] = (char *)*rest;
    }
    argv[count] = NULL;
}

static void handshake(struct qemu *qemu)
{
    assert_non_null(strstr(wire_line(&qemu->qmp), "QMP"));
    assert_non_null(strstr(qemu_qmp(qemu, "{\"execute\": \"qmp_capabilities\"}"), "return"));
}

struct qemu *qemu_start(const char *const *args)
{
    struct qemu *qemu = calloc(1, sizeof(*qemu));
    int qtest[2], qmp[2];
    char qtest_spec[16], qmp_spec[16];
    char *argv[ARGS_MAX];

    assert_non_null(qemu);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, qtest), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, qmp), 0);
    snprintf(qtest_spec, sizeof(qtest_spec), "fd:%d", qtest[1]);
    snprintf(qmp_spec, sizeof(qmp_spec), "fd:%d", qmp[1]);
    fill_argv(argv, (const char *[]){ "--qtest", qtest_spec, "--qmp", qmp_spec, NULL }, args);
    qemu->pid = fork();
    assert_true(qemu->pid >= 0);
    if (qemu->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        keep_open(qtest[1]);
        keep_open(qmp[1]);
        execv(argv[0], argv);
        _exit(127);
    }
    close(qtest[1]);
    close(qmp[1]);
    qemu->qtest = wire_open(qtest[0]);
    qemu->qmp = wire_open(qmp[0]);
    handshake(qemu);
    return qemu;
}

static bool reaped(struct qemu *qemu, int flags)
{
    if (!qemu->ended && waitpid(qemu->pid, &qemu->status, flags) == qemu->pid) {
        qemu->ended = true;
    }
    return qemu->ended;
}

void qemu_stop(struct qemu *qemu)
{
    if (!reaped(qemu, WNOHANG)) {
        kill(qemu->pid, SIGKILL);
        reaped(qemu, 0);
    }
    wire_close(&qemu->qtest);
    wire_close(&qemu->qmp);
    free(qemu);
}

int qemu_pid(const struct qemu *qemu)
{
    return qemu->pid;
}

bool qemu_alive(struct qemu *qemu)
{
    return !reaped(qemu, WNOHANG);
}

int qemu_wait_end(struct qemu *qemu)
{
    for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
        if (reaped(qemu, WNOHANG)) {
            return qemu->status;
        }
        sleep_ms(10);
    }
    fail_msg("QEMU has not ended");
    return -1;
}

static size_t read_all(int fd, char *buf, size_t size)
{
    size_t len = 0;
    ssize_t got;

    while (len < size && (got = read(fd, buf + len, size - len)) > 0) {
        len += (size_t)got;
    }
    return len;
}

char *qemu_run_to_end(const char *const *args, int *status)
{
    char *text = calloc(1, LINE_MAX_BYTES);
    char *argv[ARGS_MAX];
    int out[2];

    assert_non_null(text);
    assert_int_equal(pipe(out), 0);
    fill_argv(argv, (const char *[]){ NULL }, args);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(PATIENCE_MS / 1000);
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        close(out[1]);
        execv(argv[0], argv);
        _exit(127);
    }
    close(out[1]);
    read_all(out[0], text, LINE_MAX_BYTES - 1);
    close(out[0]);
    assert_int_equal(waitpid(pid, status, 0), pid);
    return text;
}

/* ---- protocols ---- */

static bool is_answer(const char *line)
{
    return strncmp(line, "{\"return\"", 9) == 0 || strncmp(line, "{\"error\"", 8) == 0;
}

const char *qemu_qmp(struct qemu *qemu, const char *command)
{
    const char *line;

    wire_send(&qemu->qmp, command, strlen(command));
    wire_send(&qemu->qmp, "\n", 1);
    do {
        line = wire_line(&qemu->qmp); /* events come between */
    } while (!is_answer(line));
    return line;
}

const char *qemu_monitor(struct qemu *qemu, const char *line)
{
    char command[512];

    snprintf(command, sizeof(command),
             "{\"execute\": \"human-monitor-command\", \"arguments\": {\"command-line\": \"%s\"}}", line);
    return qemu_qmp(qemu, command);
}

void qemu_say(struct qemu *qemu, const void *bytes, size_t len)
{
    wire_send(&qemu->qtest, bytes, len);
}

const char *qemu_hear(struct qemu *qemu)
{
    return wire_line(&qemu->qtest);
}

/* One qtest command; the words after OK. */
static const char *qtest(struct qemu *qemu, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *qtest(struct qemu *qemu, const char *format, ...)
{
    char command[2 * LOAD_CHUNK + 128];
    const char *line;
    va_list args;

    va_start(args, format);
    int len = vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    assert_true(len > 0 && (size_t)len < sizeof(command));
    wire_send(&qemu->qtest, command, (size_t)len);
    do {
        line = wire_line(&qemu->qtest);
    } while (strncmp(line, "IRQ", 3) == 0);
    if (strncmp(line, "OK", 2) != 0) {
        fail_msg("qtest: %s: %s", command, line);
    }
    return line[2] != '\0' ? line + 3 : line + 2;
}

uint32_t qemu_read(struct qemu *qemu, uint64_t address)
{
    return (uint32_t)strtoull(qtest(qemu, "readl 0x%" PRIx64 "\n", address), NULL, 16);
}

void qemu_write(struct qemu *qemu, uint64_t address, uint32_t value)
{
    qtest(qemu, "writel 0x%" PRIx64 " 0x%" PRIx32 "\n", address, value);
}

void qemu_write16(struct qemu *qemu, uint64_t address, uint16_t value)
{
    qtest(qemu, "writew 0x%" PRIx64 " 0x%x\n", address, value);
}

static void load_chunk(struct qemu *qemu, uint64_t address, const uint8_t *bytes, size_t len)
{
    char text[2 * LOAD_CHUNK + 1];

    for (size_t i = 0; i < len; i++) {
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
    qtest(qemu, "write 0x%" PRIx64 " 0x%zx 0x%s\n", address, len, text);
}

void qemu_load(struct qemu *qemu, uint64_t address, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;

    for (size_t at = 0; at < len; at += LOAD_CHUNK) {
        load_chunk(qemu, address + at, from + at, len - at < LOAD_CHUNK ? len - at : LOAD_CHUNK);
    }
}

size_t qemu_read_file(const char *path, void *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        fail_msg("%s: %s", path, strerror(errno));
        return 0;
    }
    memset(bytes, 0, size);
    size_t len = fread(bytes, 1, size, file);
    fclose(file);
    assert_true(len > 0 && len < size);
    return (len + 3) / 4 * 4;
}

/* ---- the PCI function ---- */

static uint64_t bar_probe(const struct ppu *ppu, unsigned bar, bool wide)
{
    uint64_t at = ppu->config + PCI_BAR0 + 4 * bar;

    qemu_write(ppu->qemu, at, UINT32_MAX);
    uint64_t mask = qemu_read(ppu->qemu, at) & ~0xfull;
    if (wide) {
        qemu_write(ppu->qemu, at + 4, UINT32_MAX);
        mask |= (uint64_t)qemu_read(ppu->qemu, at + 4) << 32;
    } else {
        mask |= 0xffffffffull << 32;
    }
    return ~mask + 1;
}

static void bar_map(struct ppu *ppu, unsigned bar, uint64_t *next)
{
    uint64_t at = ppu->config + PCI_BAR0 + 4 * bar;
    bool wide = qemu_read(ppu->qemu, at) & 4;

    ppu->bar_bytes[bar] = bar_probe(ppu, bar, wide);
    ppu->bar[bar] = ppu_align_up64(*next, ppu->bar_bytes[bar]);
    *next = ppu->bar[bar] + ppu->bar_bytes[bar];
    qemu_write(ppu->qemu, at, (uint32_t)ppu->bar[bar]);
    if (wide) {
        qemu_write(ppu->qemu, at + 4, (uint32_t)(ppu->bar[bar] >> 32));
    }
}

/* Until then VRAM leads nowhere, as drivers know. */
static void wait_until_cleared(const struct ppu *ppu)
{
    int ms = 0;

    while (ppu_read(ppu, PPU_REG_MCU_STATE) == PPU_MCU_CLEARING) {
        assert_true(ms++ < PATIENCE_MS);
        sleep_ms(1);
    }
}

struct ppu ppu_map(struct qemu *qemu, unsigned index)
{
    struct ppu ppu = { .qemu = qemu, .config = ECAM + ((uint64_t)(index + 1) << 15) };
    uint64_t next_32 = WINDOW_32 + (uint64_t)index * 2 * PPU_BAR0_SIZE;
    uint64_t next_64 = WINDOW_64 + ((uint64_t)index << 36);

    assert_int_equal(qemu_read(qemu, ppu.config), PPU_PCI_DEVICE << 16 | PPU_PCI_VENDOR);
    bar_map(&ppu, PPU_BAR_REGS, &next_32);
    bar_map(&ppu, PPU_BAR_DOORBELLS, &next_64);
    bar_map(&ppu, PPU_BAR_VRAM, &next_64);
    ppu_set_bus_master(&ppu, true);
    wait_until_cleared(&ppu);
    return ppu;
}

void ppu_set_bus_master(const struct ppu *ppu, bool on)
{
    qemu_write16(ppu->qemu, ppu->config + PCI_COMMAND, COMMAND_MEM | (on ? COMMAND_BUS : 0));
}

uint32_t ppu_read(const struct ppu *ppu, uint32_t offset)
{
    return qemu_read(ppu->qemu, ppu->bar[PPU_BAR_REGS] + offset);
}

void ppu_write(const struct ppu *ppu, uint32_t offset, uint32_t value)
{
    qemu_write(ppu->qemu, ppu->bar[PPU_BAR_REGS] + offset, value);
}

uint32_t ppu_vram_read(const struct ppu *ppu, uint64_t offset)
{
    return qemu_read(ppu->qemu, ppu->bar[PPU_BAR_VRAM] + offset);
}

void ppu_vram_write(const struct ppu *ppu, uint64_t offset, uint32_t value)
{
    qemu_write(ppu->qemu, ppu->bar[PPU_BAR_VRAM] + offset, value);
}

uint32_t ppu_capability(const struct ppu *ppu, uint8_t id)
{
    uint32_t at = qemu_read(ppu->qemu, ppu->config + PCI_CAP_FIRST) & 0xfc;

    for (int steps = 0; at != 0 && steps < 48; steps++) {
        uint32_t head = qemu_read(ppu->qemu, ppu->config + at);

        if ((head & 0xff) == id) {
            return at;
        }
        at = head >> 8 & 0xfc;
    }
    fail_msg("the function has no capability 0x%02x", id);
    return 0;
}

void ppu_function_level_reset(const struct ppu *ppu)
{
    uint64_t control = ppu->config + ppu_capability(ppu, PCI_CAP_EXP) + 8;

    qemu_write16(ppu->qemu, control, (uint16_t)qemu_read(ppu->qemu, control) | 1u << 15);
}

void ppu_route_vector(const struct ppu *ppu, uint32_t vector, uint64_t address, uint32_t data)
{
    uint64_t entry = ppu->bar[PPU_BAR_REGS] + PPU_BAR0_MSIX_TABLE + 16ull * vector;
    uint64_t control = ppu->config + ppu_capability(ppu, PCI_CAP_MSIX) + 2;

    qemu_write(ppu->qemu, entry, (uint32_t)address);
    qemu_write(ppu->qemu, entry + 4, (uint32_t)(address >> 32));
    qemu_write(ppu->qemu, entry + 8, data);
    qemu_write(ppu->qemu, entry + 12, 0);
    qemu_write16(ppu->qemu, control, 0x8000);
}

void ppu_load_image(const struct ppu *ppu, const void *image, size_t len)
{
    qemu_load(ppu->qemu, ppu->bar[PPU_BAR_REGS] + PPU_BAR0_ITCM, image, len);
}

void ppu_expect(const struct ppu *ppu, uint32_t offset, uint32_t value)
{
    uint32_t found = ppu_read(ppu, offset);

    for (int ms = 0; found != value && ms < PATIENCE_MS; ms++) {
        sleep_ms(1);
        found = ppu_read(ppu, offset);
    }
    if (found != value) {
        fail_msg("register 0x%x is 0x%x, expected 0x%x", offset, found, value);
    }
}

/* ---- the test firmware ---- */

static uint64_t mailbox(size_t field_offset)
{
    return PROBE_MAILBOX + field_offset;
}

void probe_load(const struct ppu *ppu)
{
    static uint8_t image[16 * 1024];

    ppu_load_image(ppu, image, qemu_read_file(PROBE_IMAGE, image, sizeof(image)));
    for (uint32_t offset = 0; offset < sizeof(struct probe_mailbox); offset += 4) {
        ppu_vram_write(ppu, PROBE_MAILBOX + offset, 0);
    }
}

void probe_start(const struct ppu *ppu)
{
    ppu_write(ppu, PPU_REG_MCU_CONTROL, 1);
    ppu_expect(ppu, PPU_REG_MCU_STATE, PPU_MCU_RUNNING);
    ppu_expect(ppu, PPU_REG_BOOT_STATUS, PROBE_STARTED);
}

void probe_hold(const struct ppu *ppu)
{
    ppu_write(ppu, PPU_REG_MCU_CONTROL, 0);
    ppu_expect(ppu, PPU_REG_MCU_STATE, PPU_MCU_HELD);
}

void probe_ask(const struct ppu *ppu, uint32_t op, uint32_t arg0, uint32_t arg1)
{
    ppu_vram_write(ppu, mailbox(offsetof(struct probe_mailbox, arg[0])), arg0);
    ppu_vram_write(ppu, mailbox(offsetof(struct probe_mailbox, arg[1])), arg1);
    ppu_vram_write(ppu, mailbox(offsetof(struct probe_mailbox, op)), op);
    ppu_write(ppu, PPU_REG_ADMIN_DOORBELL, 1);
}

uint32_t probe_field(const struct ppu *ppu, size_t field_offset)
{
    return ppu_vram_read(ppu, mailbox(field_offset));
}

uint32_t probe_wait(const struct ppu *ppu)
{
    for (int ms = 0; ms < PATIENCE_MS; ms++) {
        if (probe_field(ppu, offsetof(struct probe_mailbox, op)) == PROBE_IDLE) {
            return probe_field(ppu, offsetof(struct probe_mailbox, result[0]));
        }
        sleep_ms(1);
    }
    fail_msg("the test firmware does not answer");
    return 0;
}

uint32_t probe_do(const struct ppu *ppu, uint32_t op, uint32_t arg0, uint32_t arg1)
{
    probe_ask(ppu, op, arg0, arg1);
    return probe_wait(ppu);
}

uint32_t test_seed(void)
{
    const char *given = getenv("PPU_SEED");
    uint32_t seed = given ? (uint32_t)strtoul(given, NULL, 0) : (uint32_t)time(NULL);

    seed = seed != 0 ? seed : 1;
    printf("# PPU_SEED=%" PRIu32 "\n", seed);
    return seed;
}

uint32_t test_random(uint32_t *rng)
{
    *rng ^= *rng << 13;
    *rng ^= *rng >> 17;
    *rng ^= *rng << 5;
    return *rng;
}
