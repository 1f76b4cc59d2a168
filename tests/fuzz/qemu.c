/* SPDX-License-Identifier: MIT */
/*
 * Surface: what QEMU makes of a hostile guest: configuration space, MSI-X, BARs with accesses of any width, the windows
 * onto the microcontroller's memories, resets; and of hostile clients at its sockets of qtest and of the mailbox.
 *
 * A QEMU runs beside this program, with two PPUs. An input is a list of accesses to the first one, to its mailbox, or
 * lines that are hardly requests of qtest. Each line must get one answer. After a function-level reset the first PPU
 * must have the configuration space that it has after each, and the second one must be as it was, unless the input had
 * a way to it: the first one's bus mastering, or a line with an address of its own.
 *
 * The QEMU that `make fuzz` runs counts where it comes by (qemu_coverage.c), in its device, its PCI bus and its qtest,
 * which the address sanitizer watches as well. The QEMU of `make test` does not: there what was asked for is counted.
 */
#include "tests/qemu/qemu.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ppu/channel.h"
#include "ppu/macros.h"
#include "ppu/mailbox.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/qemu_coverage.h"
#include "tests/qemu/fw/probe.h"

#define MOST_ACTIONS 48u
#define BATCH_LINES 8u /* of which the answers fit the sockets' buffers */
#define BATCH_BYTES 65536u
#define BLOCK_BYTES 4096u
#define VRAM_BYTES (16u * PPU_MIB)
#define SMALL_PPU "vram-size=16M,channels=5,contexts=3,sms=1,gpcs=1,sm-threads=0"
#define MAILBOX_BYTES 65536u
#define CONFIG_BYTES 4096u
#define PATIENCE_MS 10000
#define FIRMWARE_MS 5u

#define KEPT_OFFSET 0x700000u /* in the second PPU's VRAM */
#define KEPT_WORD 0x6b656570u
#define KEPT_RAM (QEMU_RAM + 0x100000u)

static const uint32_t registers[] = {
#define PPU_REG(name, offset, count, host, mcu, owner, reset, mask, doc) offset,
#include "ppu/regs.def"
#undef PPU_REG
};

static struct qemu *machine;
static struct ppu first, second;
static struct ppu_mailbox *mailbox;
static int notify;
static uint32_t msix, express; /* offsets of capabilities */
static uint8_t after_reset[CONFIG_BYTES];
static bool reached;  /* the input could reach what is not the first PPU's */
static bool firmware; /* the test firmware runs */

static uint8_t *counters; /* QEMU's, or those of what was asked for */
static bool counts_itself;

/* libFuzzer's interface for who counts: a counter for each branch, and where it is in the code. */
void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);

static void count_request(unsigned kind, uint64_t about)
{
    if (!counts_itself) {
        const uint64_t hash = (about * 64 + kind) * 0x9e3779b97f4a7c15ull;

        counters[hash >> 48] = 1;
    }
}

/* ---- lines to QEMU, several at once ---- */

static struct {
    char text[BATCH_BYTES];
    size_t len;
    unsigned lines;
} batch;

static void flush(void)
{
    qemu_say(machine, batch.text, batch.len);
    for (; batch.lines != 0; batch.lines--) {
        const char *answer = qemu_hear(machine);
        if (strncmp(answer, "OK", 2) != 0 && strncmp(answer, "FAIL ", 5) != 0 && strncmp(answer, "ERR ", 4) != 0) {
            fuzz_found("QEMU answers '%s'", answer);
        }
    }
    batch.len = 0;
}

static void add(const char *bytes, size_t len)
{
    if (batch.lines == BATCH_LINES || batch.len + len + 1 > sizeof(batch.text)) {
        flush();
    }
    memcpy(batch.text + batch.len, bytes, len);
    batch.text[batch.len + len] = '\n';
    batch.len += len + 1;
    batch.lines++;
}

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...)
{
    char text[2 * BLOCK_BYTES + 128];
    va_list args;

    va_start(args, format);
    const int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    add(text, (size_t)len);
}

/* The word at an address, after all lines so far; ~0: the answer is none. */
static uint64_t ask(uint64_t address)
{
    char text[64];

    flush();
    const int len = snprintf(text, sizeof(text), "readl 0x%" PRIx64 "\n", address);
    qemu_say(machine, text, (size_t)len);
    const char *answer = qemu_hear(machine);
    return strncmp(answer, "OK 0x", 5) == 0 ? strtoull(answer + 3, NULL, 16) : ~0ull;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- what an input chooses ---- */

enum region { REGISTER, CONFIG, MSIX, WINDOW, DOORBELL, VRAM, ANYWHERE, REGIONS };

static uint64_t any_config_offset(struct fuzz_input *input)
{
    const uint8_t how = fuzz_u8(input);

    switch (how % 4) {
    case 0:
        return how / 4u; /* the header */
    case 1:
        return express + how / 4u % 0x3cu;
    case 2:
        return msix + how / 4u % 12u;
    default:
        return fuzz_u16(input) % CONFIG_BYTES;
    }
}

/* The ends of the windows and of what lies beside them more often than their middle. */
static uint64_t any_window_offset(struct fuzz_input *input)
{
    static const uint32_t ends[] = { PPU_BAR0_ITCM, PPU_BAR0_DTCM, PPU_BAR0_DTCM + 0x80000u, PPU_BAR0_SIZE };
    const uint8_t how = fuzz_u8(input);

    return how < 192 ? ends[how % 4] + how / 4u - 24u
                     : PPU_BAR0_ITCM + fuzz_u32(input) % (PPU_BAR0_SIZE - PPU_BAR0_ITCM);
}

static uint64_t any_address(struct fuzz_input *input, enum region region)
{
    const uint64_t bar0 = first.bar[PPU_BAR_REGS];
    const uint8_t odd = fuzz_u8(input);
    const uint32_t off = odd >= 224 ? odd % 8u : 0;

    switch (region) {
    case REGISTER:
        return bar0 + registers[fuzz_below(input, PPU_ARRAY_SIZE(registers))] + (odd < 64 ? odd / 8u * 4u : off);
    case CONFIG:
        reached = true; /* until the end: it may be the command register */
        return first.config + any_config_offset(input);
    case MSIX:
        return bar0 +
               (odd & 1u ? PPU_BAR0_MSIX_TABLE + fuzz_u16(input) % (16u * (PPU_MAX_VECTORS + 1)) & ~3u
                         : PPU_BAR0_MSIX_PBA + fuzz_u8(input) % 16u) +
               off;
    case WINDOW:
        return bar0 + any_window_offset(input);
    case DOORBELL:
        return first.bar[PPU_BAR_DOORBELLS] + (uint64_t)fuzz_u8(input) % 16u * PPU_DOORBELL_STRIDE +
               (odd & 1u ? PPU_DB_PUT + odd / 2u % 4u * 4u : fuzz_u16(input)) + off;
    case VRAM:
        return first.bar[PPU_BAR_VRAM] + (odd & 1u ? fuzz_u16(input) : VRAM_BYTES - fuzz_u8(input)) + off;
    default:
        return bar0 + fuzz_u32(input) % PPU_BAR0_SIZE;
    }
}

static uint64_t any_value(struct fuzz_input *input)
{
    const uint8_t how = fuzz_u8(input);

    switch (how % 4) {
    case 0:
        return how / 4u;
    case 1:
        return fuzz_u16(input);
    case 2:
        return how & 4u ? 1ull << how / 8u : ~0ull;
    default:
        return fuzz_u64(input);
    }
}

/* ---- accesses ---- */

static void access_one(struct fuzz_input *input)
{
    static const char widths[] = "bwlq";
    const uint8_t what = fuzz_u8(input);
    const enum region region = what / 8u % REGIONS;
    const uint64_t address = any_address(input, region);
    const char width = region == REGISTER && what >= 64 ? 'l' : widths[what % 4];

    count_request(what % 8u, address);
    if (what & 4u) {
        line("read%c 0x%" PRIx64, width, address);
    } else {
        line("write%c 0x%" PRIx64 " 0x%" PRIx64, width, address, any_value(input));
    }
}

static void access_block(struct fuzz_input *input)
{
    const uint8_t what = fuzz_u8(input);
    const uint64_t address = any_address(input, what % REGIONS);
    const uint32_t bytes = 1 + fuzz_u16(input) % (what & 0x80u ? BLOCK_BYTES : 32u);

    count_request(8 + what / 64u, address);
    switch (what / 32 % 4) {
    case 0:
        line("memset 0x%" PRIx64 " %" PRIu32 " %u", address, bytes, fuzz_u8(input));
        break;
    case 1:
        line("write 0x%" PRIx64 " %" PRIu32 " 0x%016" PRIx64, address, bytes, fuzz_u64(input));
        break;
    default:
        line("%s 0x%" PRIx64 " %" PRIu32, what & 32u ? "read" : "b64read", address, bytes);
        break;
    }
}

/* A line like a request: some words are wrong. */
static void access_raw(struct fuzz_input *input)
{
    static const char *const words[] = {
        "readl",   "writel", "read",     "write", "memset",    "b64read",          "b64write",    "endianness",
        "readb",   "writeq", "inl",      "outb",  "clock_set", "irq_intercept_in", "module_load", "set_irq_in",
        "0x10000", "0",      "/machine", "-1",    "4",         "0x10000000",       "0x3fffff",    "65536",
        "",        "0x",     "AQIDBA==", "0xzz",  "1e9",       "0x8000000000",     "99999999999", "0x40100000",
    };
    char text[256];
    size_t len = 0;

    reached = true;
    for (uint32_t left = fuzz_u8(input) % 6u; left != 0; left--) {
        const uint8_t which = fuzz_u8(input);
        if (which < 224) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", words[which % PPU_ARRAY_SIZE(words)]);
            count_request(16, which % 32u + len * 32);
        } else {
            const uint32_t bytes = which % 16u;
            fuzz_bytes(input, text + len, bytes);
            for (uint32_t i = 0; i < bytes; i++) {
                text[len + i] = text[len + i] == '\n' ? ' ' : text[len + i];
            }
            len += bytes;
        }
        text[len] = ' ';
        len += left > 1;
    }
    add(text, len);
}

/* ---- what else a guest does ---- */

static void reset_function(void)
{
    line("writew 0x%" PRIx64 " 0x8000", first.config + express + 8);
    firmware = false;
}

/* The registers as ppu_map() has written them; memory is off meanwhile, so that QEMU maps it once. */
static void map_again(bool bus_master)
{
    line("writew 0x%" PRIx64 " 0", first.config + PCI_COMMAND);
    for (unsigned bar = 0; bar < 6; bar++) {
        if (first.bar[bar] != 0) {
            line("writel 0x%" PRIx64 " 0x%x", first.config + 0x10 + 4u * bar, (unsigned)first.bar[bar]);
            if (bar != PPU_BAR_REGS) {
                line("writel 0x%" PRIx64 " 0x%x", first.config + 0x14 + 4u * bar, (unsigned)(first.bar[bar] >> 32));
            }
        }
    }
    line("writew 0x%" PRIx64 " %d", first.config + PCI_COMMAND, bus_master ? 6 : 2);
    reached |= bus_master;
}

static void route_vector(struct fuzz_input *input)
{
    const uint32_t vector = fuzz_u8(input) % PPU_MAX_VECTORS;
    const uint64_t entry = first.bar[PPU_BAR_REGS] + PPU_BAR0_MSIX_TABLE + 16ull * vector;

    count_request(17, vector);
    reached = true;
    line("writeq 0x%" PRIx64 " 0x%" PRIx64, entry, (uint64_t)QEMU_RAM + fuzz_u16(input) * 4u);
    line("writeq 0x%" PRIx64 " 0x%x", entry + 8, fuzz_u8(input));
    line("writew 0x%" PRIx64 " 0x%x", first.config + msix + 2, fuzz_u8(input) & 1u ? 0x8000 : 0xc000);
}

/* ---- the test firmware, which does what the input wants ---- */

static uint64_t in_probe(size_t field)
{
    return first.bar[PPU_BAR_VRAM] + PROBE_MAILBOX + field;
}

static bool comes_to(uint64_t address, uint32_t value)
{
    for (const uint64_t until = now_ms() + FIRMWARE_MS; now_ms() < until;) {
        if (ask(address) == value) {
            return true;
        }
    }
    return false;
}

static void start_firmware(void)
{
    static uint8_t image[16 * 1024];
    static size_t len;
    const uint64_t bar0 = first.bar[PPU_BAR_REGS];

    if (len == 0) {
        len = qemu_read_file(PROBE_IMAGE, image, sizeof(image));
    }
    flush();
    line("writel 0x%" PRIx64 " 0", bar0 + PPU_REG_MCU_CONTROL);
    line("memset 0x%" PRIx64 " %zu 0", in_probe(0), sizeof(struct probe_mailbox));
    flush();
    qemu_load(machine, bar0 + PPU_BAR0_ITCM, image, len);
    line("writel 0x%" PRIx64 " 1", bar0 + PPU_REG_MCU_CONTROL);
    firmware = comes_to(bar0 + PPU_REG_BOOT_STATUS, PROBE_STARTED);
}

static uint32_t any_mcu_address(struct fuzz_input *input)
{
    static const uint32_t bases[] = { PPU_MCU_ITCM, PPU_MCU_DTCM, PPU_MCU_REGS, PPU_MCU_VRAM, PPU_MCU_WINDOW };
    const uint8_t how = fuzz_u8(input);

    switch (how % 4) {
    case 0:
        return PPU_MCU_REGS + registers[fuzz_below(input, PPU_ARRAY_SIZE(registers))];
    case 1:
        return bases[how / 4u % PPU_ARRAY_SIZE(bases)] + fuzz_u16(input) * 4u;
    case 2:
        return 0xe000e000u + fuzz_u16(input) % 0x1000u; /* the core's own */
    default:
        return fuzz_u32(input);
    }
}

static void use_firmware(struct fuzz_input *input)
{
    const uint8_t what = fuzz_u8(input);
    const uint32_t op = what < 224 ? PROBE_READ + what % 2u : what < 240 ? PROBE_LOCK_UP + what % 2u : PROBE_STORM;
    const uint32_t address = any_mcu_address(input);

    count_request(18, (uint64_t)op << 32 | address);
    reached = true; /* it has bus masters of its own */
    if (!firmware) {
        start_firmware();
    }
    line("writel 0x%" PRIx64 " 0x%" PRIx32, in_probe(offsetof(struct probe_mailbox, arg[0])),
         op == PROBE_STORM ? what % 16u : address);
    line("writel 0x%" PRIx64 " 0x%" PRIx32, in_probe(offsetof(struct probe_mailbox, arg[1])),
         (uint32_t)any_value(input));
    line("writel 0x%" PRIx64 " 0x%" PRIx32, in_probe(0), op);
    line("writel 0x%" PRIx64 " 1", first.bar[PPU_BAR_REGS] + PPU_REG_ADMIN_DOORBELL);
    firmware = firmware && comes_to(in_probe(0), PROBE_IDLE);
}

/* ---- who shares the mailbox ---- */

static void use_mailbox(struct fuzz_input *input)
{
    uint32_t *const words = (uint32_t *)mailbox;
    const uint8_t wakes = fuzz_u8(input);

    for (uint32_t left = wakes % 8u; left != 0; left--) {
        const uint32_t word = fuzz_u8(input) % 200u;
        words[word] = fuzz_u8(input) & 1u ? fuzz_u32(input) : ~0u;
        count_request(19, word);
    }
    if (wakes & 8u) {
        uint8_t bytes[600] = { 0 };
        (void)!send(notify, bytes, wakes & 16u ? sizeof(bytes) : 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    while (recv(notify, (uint8_t[256]){ 0 }, 256, MSG_DONTWAIT) > 0) {
    }
}

static void use_monitor(uint8_t what)
{
    static const char *const commands[] = { "stop", "cont", "system_reset", "query-status" };
    char text[64];

    flush();
    snprintf(text, sizeof(text), "{\"execute\": \"%s\"}", commands[what % 4]);
    count_request(20, what % 4);
    qemu_qmp(machine, text);
    if (what % 4 == 2) {
        reached = true; /* the other PPU is reset as well */
        firmware = false;
    }
}

static void act(struct fuzz_input *input)
{
    const uint8_t what = fuzz_u8(input);

    switch (what % 16) {
    case 7:
        access_block(input);
        break;
    case 8:
        access_raw(input);
        break;
    case 9:
        reset_function();
        map_again(what & 16u);
        break;
    case 10:
        map_again(what & 16u);
        break;
    case 11:
        route_vector(input);
        break;
    case 12:
    case 13:
        use_firmware(input);
        break;
    case 14:
        use_mailbox(input);
        break;
    case 15:
        if (what >= 192) {
            use_monitor(what / 16u);
        }
        break;
    default:
        access_one(input);
        break;
    }
}

/* ---- what must hold ---- */

static void read_config(uint8_t *bytes)
{
    char text[64];

    flush();
    const int len = snprintf(text, sizeof(text), "read 0x%" PRIx64 " %u\n", first.config, CONFIG_BYTES);
    qemu_say(machine, text, (size_t)len);
    const char *answer = qemu_hear(machine);
    if (strlen(answer) != 5 + 2 * CONFIG_BYTES) {
        fuzz_found("configuration space is read as '%.100s'", answer);
    }
    for (unsigned i = 0; i < CONFIG_BYTES; i++) {
        const char digits[] = { answer[5 + 2 * i], answer[6 + 2 * i], '\0' };
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

static void keep_second(void)
{
    qemu_write(machine, second.bar[PPU_BAR_VRAM] + KEPT_OFFSET, KEPT_WORD);
    qemu_write(machine, KEPT_RAM, KEPT_WORD);
}

static void check_second(void)
{
    if (qemu_read(machine, second.bar[PPU_BAR_VRAM] + KEPT_OFFSET) != KEPT_WORD ||
        qemu_read(machine, second.bar[PPU_BAR_REGS] + PPU_REG_MAGIC) != PPU_MAGIC) {
        fuzz_found("the other PPU has changed");
    }
    if (qemu_read(machine, KEPT_RAM) != KEPT_WORD) {
        fuzz_found("the machine's memory has changed");
    }
}

/* The input may have moved or reset the other PPU. */
static void renew(void)
{
    if (qemu_read(machine, second.bar[PPU_BAR_REGS] + PPU_REG_MAGIC) != PPU_MAGIC ||
        qemu_read(machine, second.bar[PPU_BAR_REGS] + PPU_REG_MCU_STATE) != PPU_MCU_HELD) {
        ppu_function_level_reset(&second);
        second = ppu_map(machine, 1);
    }
    keep_second();
}

static void settle(void)
{
    uint8_t config[CONFIG_BYTES];

    flush();
    qemu_qmp(machine, "{\"execute\": \"cont\"}");
    reset_function();
    read_config(config);
    for (unsigned i = 0; i < CONFIG_BYTES; i++) {
        if (config[i] != after_reset[i]) {
            fuzz_found("after a reset configuration space has 0x%02x at 0x%03x, and not 0x%02x", config[i], i,
                       after_reset[i]);
        }
    }
    if (reached) {
        renew();
    } else {
        check_second();
    }
}

static void begin(void)
{
    reached = firmware = false;
    memset(mailbox, 0, sizeof(*mailbox));
    map_again(false);
    for (const uint64_t until = now_ms() + PATIENCE_MS;
         ask(first.bar[PPU_BAR_REGS] + PPU_REG_MCU_STATE) == PPU_MCU_CLEARING;) {
        if (now_ms() > until) {
            fuzz_found("after a reset VRAM is not cleared within %d ms", PATIENCE_MS);
        }
    }
    memset(counters, 0, QEMU_COUNTERS);
}

/* ---- the machine ---- */

static int shared_memory(const char *name, size_t bytes, void **at)
{
    const int fd = memfd_create(name, 0);

    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
        fuzz_found("memory for '%s' cannot be made", name);
    }
    *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*at == MAP_FAILED) {
        fuzz_found("memory for '%s' cannot be mapped", name);
    }
    return fd;
}

/* libFuzzer takes the counters of another process for its own; instead of addresses in this one they have numbers. */
static void count(void)
{
    static uintptr_t numbers[2 * QEMU_COUNTERS];

    for (unsigned i = 0; i < QEMU_COUNTERS; i++) {
        numbers[2 * i] = i + 1;
    }
    __sanitizer_cov_8bit_counters_init(counters, counters + QEMU_COUNTERS);
    __sanitizer_cov_pcs_init(numbers, numbers + PPU_ARRAY_SIZE(numbers));
}

/* Makes the mailbox's file with a name for QEMU to open. */
static void make_mailbox(char *name)
{
    const int fd = mkstemp(name);

    if (fd < 0 || ftruncate(fd, MAILBOX_BYTES) != 0) {
        fuzz_found("the mailbox cannot be made");
    }
    mailbox = mmap(NULL, MAILBOX_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
}

static void start_machine(void)
{
    static char name[] = "/tmp/ppu-fuzz-mailbox-XXXXXX", notify_end[16];
    const char *const args[] = { "--ppu", SMALL_PPU,  "--mailbox-file",
                                 name,    "--notify", notify_end,
                                 "--ppu", SMALL_PPU,  counts_itself ? "--unconfined" : NULL,
                                 NULL };
    int ends[2];

    make_mailbox(name);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        fuzz_found("the socket for notifications cannot be made");
    }
    snprintf(notify_end, sizeof(notify_end), "fd:%d", ends[1]);
    notify = ends[0];
    machine = qemu_start(args);
    close(ends[1]);
    unlink(name);
}

static void share_counters(void)
{
    static char number[16];

    snprintf(number, sizeof(number), "%d", shared_memory("counters", QEMU_COUNTERS, (void **)&counters));
    setenv(QEMU_COUNTERS_FD, number, 1);
    /* QEMU switches stacks. This program has read its own options. */
    setenv("ASAN_OPTIONS", "detect_stack_use_after_return=0:detect_leaks=0", 1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *counted = getenv("PPU_FUZZ_QEMU");
    (void)argc;
    (void)argv;

    if (counted) {
        setenv("PPU_QEMU", counted, 1);
        counts_itself = true;
    }
    share_counters();
    start_machine();
    first = ppu_map(machine, 0);
    second = ppu_map(machine, 1);
    msix = ppu_capability(&first, PCI_CAP_MSIX);
    express = ppu_capability(&first, PCI_CAP_EXP);
    reset_function();
    read_config(after_reset);
    keep_second();
    count();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count_bytes)
{
    struct fuzz_input input = fuzz_input(bytes, count_bytes);

    begin();
    for (uint32_t i = 0; i < MOST_ACTIONS && !fuzz_ended(&input); i++) {
        act(&input);
    }
    settle();
    return 0;
}
