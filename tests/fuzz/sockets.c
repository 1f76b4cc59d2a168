/* SPDX-License-Identifier: MIT */
/*
 * Surface: what libppu reads of a QEMU that lies: qtest answers, configuration space, registers, memory and vectors.
 *
 * libppu's native transport is set up, a device opened and used, with this file in QEMU's place: it answers as a QEMU
 * with a PPU would, and again and again as the input says. Answers are other numbers, cut, doubled, endless, or no
 * answers; they come in pieces of any length. Between two answers, words of what both sides share change. Each call
 * must return within a bound, whatever happens; when the socket has closed, nothing more is waited for. The sanitizers
 * see what is read and written, and what is not given back.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>

#include "ppu.h"
#include "ppu/admin.h"
#include "ppu/boot.h"
#include "ppu/channel.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "runtime/memory.h"
#include "runtime/native/machine.h"
#include "tests/fuzz/input.h"
#include "tests/joined/joined_image.h"

#define VRAM_BYTES (16u * PPU_MIB)
#define RAM_BYTES (2u * PPU_MIB)
#define CONFIG_BASE 0x4010000000ull /* as runtime/native/pci.c has them */
#define CONFIG_SLOT 2u
#define CONFIG_BYTES 0x8000u
#define INFO_AT 0x100000u
#define QUEUE_AT 0x101000u
#define ERRORS_AT 0x104000u
#define TRACE_AT 0x110000u
#define TABLES_AT 0x200000u
#define TABLES_BYTES 0x100000u
#define HEAP_AT 0x300000u
#define TIMEOUT_NS (5 * 1000000ull)
#define MOST_CALLS 400000u /* of what this file stands for, in one call of libppu */
#define MOST_ACTIONS 24u
#define REPLY_BYTES 32768u
#define LINE_BYTES 8192u

static struct ppu_machine machine;
static char firmware[32];

/* QEMU, and what it is asked. */
static struct {
    struct fuzz_input in;
    bool plays; /* libppu talks to this file */
    bool gone;
    uint32_t calls;
    uint64_t now_ns;
    uint32_t config[16];
    uint32_t vector_pending;
    uint32_t boot_status;
    uint32_t mcu_state;
    uint32_t reply_head; /* requests that were answered */
    char line[LINE_BYTES];
    uint32_t line_fill;
    char reply[REPLY_BYTES];
    uint32_t reply_fill, reply_at;
} q;

/* ---- what an honest one says ---- */

static void write_info(void)
{
    const struct ppu_fw_info info = {
        .head = { PPU_FW_INFO_VERSION, sizeof(info) },
        .abi_major = PPU_ABI_MAJOR,
        .abi_minor = PPU_ABI_MINOR,
        .prot_base = INFO_AT,
        .prot_limit = HEAP_AT,
        .admin_queue = QUEUE_AT,
        .error_ring = ERRORS_AT,
        .fw_trace = TRACE_AT,
        .dev_trace = TRACE_AT,
        .pt_base = TABLES_AT,
        .pt_bytes = TABLES_BYTES,
        .heap_base = HEAP_AT,
        .streams = 32,
        .tasks = 1024,
    };

    memcpy(machine.ppu[0].transport.vram + INFO_AT, &info, sizeof(info));
}

static uint32_t honest_reg(uint32_t offset)
{
    switch (offset) {
    case PPU_REG_MAGIC:
        return PPU_MAGIC;
    case PPU_REG_ABI_VERSION:
        return PPU_ABI_MAJOR << 16 | PPU_ABI_MINOR;
    case PPU_REG_ISA:
        return PPU_ISA_VERSION;
    case PPU_REG_VRAM_SIZE_LO:
        return VRAM_BYTES;
    case PPU_REG_CHANNELS:
    case PPU_REG_CONTEXTS:
    case PPU_REG_SLOTS:
        return 16;
    case PPU_REG_MCU_STATE:
        return q.mcu_state;
    case PPU_REG_BOOT_STATUS:
        return q.boot_status;
    case PPU_REG_FW_INFO:
        return INFO_AT;
    case PPU_REG_TIME_LO:
        return (uint32_t)q.now_ns;
    case PPU_REG_TIME_HI:
        return (uint32_t)(q.now_ns >> 32);
    default:
        return 0;
    }
}

/* As the firmware: numbers that were asked for are small, and sometimes not. */
static void answer_requests(void)
{
    struct ppu_admin_queue *queue = (void *)(machine.ppu[0].transport.vram + QUEUE_AT);

    while (q.reply_head != queue->request_tail && q.reply_head - queue->request_tail > ~(2u * PPU_ADMIN_ENTRIES)) {
        struct ppu_admin_msg reply = queue->request[q.reply_head % PPU_ADMIN_ENTRIES];
        const uint8_t how = fuzz_u8(&q.in);

        reply.status = how < 200 ? 0 : how;
        reply.arg[0] = how >= 128 && how < 200 ? fuzz_u32(&q.in) : how % 16u;
        reply.arg[1] = how >= 160 ? how : 0;
        queue->reply[q.reply_head % PPU_ADMIN_ENTRIES] = reply;
        q.reply_head++;
        queue->request_head = queue->reply_tail = q.reply_head;
        q.vector_pending |= 1u << PPU_VECTOR_ADMIN;
    }
}

static void write_reg(uint32_t offset, uint32_t value)
{
    switch (offset) {
    case PPU_REG_DEVICE_RESET:
        q.mcu_state = PPU_MCU_HELD;
        q.boot_status = 0;
        break;
    case PPU_REG_MCU_CONTROL:
        q.mcu_state = value & 1u ? PPU_MCU_RUNNING : PPU_MCU_HELD;
        q.boot_status = value & 1u ? PPU_BOOT_READY : 0;
        write_info();
        break;
    case PPU_REG_ADMIN_DOORBELL:
        answer_requests();
        break;
    default:
        break;
    }
}

/* Sizes are asked for by ones. */
static uint32_t read_config(uint32_t offset)
{
    static const uint32_t masks[16] = { [4] = 0xffe00000u, [6] = 0xffff0000u, [7] = ~0u, [8] = 0xff000000u, [9] = ~0u };
    static const uint32_t types[16] = { [6] = 4, [8] = 12 };
    const uint32_t word = offset / 4 % 16u;

    return offset == 0 ? PPU_PCI_DEVICE << 16 | PPU_PCI_VENDOR : (q.config[word] & masks[word]) | types[word];
}

static uint32_t read_word(uint64_t address)
{
    const uint64_t config = CONFIG_BASE + CONFIG_SLOT * CONFIG_BYTES, bar = machine.ppu[0].function.bar[PPU_BAR_REGS];

    if (address >= config && address < config + CONFIG_BYTES) {
        return read_config((uint32_t)(address - config));
    }
    return bar != 0 && address - bar < PPU_REG_SPACE ? honest_reg((uint32_t)(address - bar)) : ~0u;
}

static void write_word(uint64_t address, uint32_t value)
{
    const uint64_t config = CONFIG_BASE + CONFIG_SLOT * CONFIG_BYTES, bar = machine.ppu[0].function.bar[PPU_BAR_REGS];

    if (address >= config && address < config + CONFIG_BYTES) {
        q.config[(address - config) / 4 % 16u] = value;
    } else if (bar != 0 && address - bar < PPU_REG_SPACE) {
        write_reg((uint32_t)(address - bar), value);
    }
}

/* ---- what one that lies does ---- */

static uint32_t other_word(uint32_t present)
{
    switch (fuzz_u8(&q.in) % 6) {
    case 0:
        return present ^ 1u << fuzz_u8(&q.in) % 32;
    case 1:
        return present + (fuzz_u8(&q.in) & 1 ? 1u : ~0u);
    case 2:
        return fuzz_u8(&q.in);
    case 3:
        return ~(uint32_t)fuzz_u8(&q.in);
    case 4:
        return fuzz_u16(&q.in) * 64u;
    default:
        return fuzz_u32(&q.in);
    }
}

/* A word of what both sides share. */
static void scribble(void)
{
    static const uint32_t offsets[] = { INFO_AT, QUEUE_AT, ERRORS_AT, TRACE_AT, TABLES_AT, HEAP_AT };
    const uint8_t which = fuzz_u8(&q.in);
    uint8_t *const vram = machine.ppu[0].transport.vram, *const ram = machine.ram;
    const uint32_t at = (which & 0x40u ? fuzz_u16(&q.in) : fuzz_u8(&q.in)) * 4u;
    uint8_t *const target = which & 0x80u ? ram + at : vram + offsets[which % PPU_ARRAY_SIZE(offsets)] + at;
    uint32_t word = 0;

    memcpy(&word, target, sizeof(word));
    word = other_word(word);
    memcpy(target, &word, sizeof(word));
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    q.reply_fill += (uint32_t)vsnprintf(q.reply + q.reply_fill, LINE_BYTES, format, arguments);
    va_end(arguments);
}

/* What follows OK, or what comes in its place. */
static void answer(const char *honest)
{
    const uint8_t how = fuzz_ended(&q.in) ? 0 : fuzz_u8(&q.in);

    if (q.reply_fill > REPLY_BYTES - 2 * LINE_BYTES) {
        q.gone = true;
        return;
    }
    switch (how) {
    case 255:
        q.gone = true;
        break;
    case 254:
        say("OK\n");
        break;
    case 253:
        say("FAIL unknown command\n");
        break;
    case 252: /* less than is meant */
        say("OK%.*s\n", (int)fuzz_u8(&q.in), honest);
        break;
    case 251: /* a line without an end */
        memset(q.reply + q.reply_fill, 'x', LINE_BYTES);
        q.reply_fill += LINE_BYTES;
        break;
    case 250:
        say("OK%s\nOK 0x%x\n", honest, fuzz_u8(&q.in));
        break;
    case 249:
        q.reply[q.reply_fill++] = (char)fuzz_u8(&q.in);
        say("OK%s\n", honest);
        break;
    case 248:
        say("IRQ raise 0\n");
        break;
    default:
        say("OK%s\n", honest);
        break;
    }
    if (how >= 200 && how < 240) {
        scribble();
    }
}

static void answer_number(uint32_t value)
{
    char text[32];
    const uint8_t how = fuzz_ended(&q.in) ? 0 : fuzz_u8(&q.in);

    snprintf(text, sizeof(text), " 0x%016x", how < 230 ? value : other_word(value));
    answer(text);
}

static void answer_bytes(uint32_t count)
{
    char text[LINE_BYTES / 2] = " 0x";

    count = count < LINE_BYTES / 8 ? count : LINE_BYTES / 8;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(text + 3 + 2 * (size_t)i, 3, "%02x", fuzz_u8(&q.in));
    }
    answer(text);
}

static void serve(const char *line)
{
    unsigned long long address = 0;
    unsigned int value = 0;

    if (sscanf(line, "readl 0x%llx", &address) == 1) {
        answer_number(read_word(address));
    } else if (sscanf(line, "writel 0x%llx 0x%x", &address, &value) == 2) {
        write_word(address, value);
        answer("");
    } else if (sscanf(line, "read 0x%llx 0x%x", &address, &value) == 2) {
        answer_bytes(value);
    } else if (sscanf(line, "write 0x%llx 0x%x", &address, &value) == 2) {
        answer("");
    } else {
        fuzz_found("QEMU is asked '%s'", line);
    }
}

/* The firmware reports an error. */
static void report(void)
{
    struct ppu_error_ring *ring = (void *)(machine.ppu[0].transport.vram + ERRORS_AT);
    struct ppu_error_record *record = &ring->entry[ring->tail % PPU_ERROR_RING_ENTRIES];

    fuzz_bytes(&q.in, record, sizeof(*record));
    record->channel = fuzz_u8(&q.in) & 1u ? record->channel % 16u : record->channel;
    ring->tail++;
    ring->lost += fuzz_u8(&q.in) % 4 == 0;
    q.vector_pending |= 1u << PPU_VECTOR_ERROR;
}

/* ---- in the place of the system's functions ---- */

static void count_call(void)
{
    q.now_ns += 1000;
    if (++q.calls > MOST_CALLS) {
        fuzz_found("libppu does not come to an end");
    }
}

/* The linker leads calls to the first of each pair, and __real_ to what is named so elsewhere. */
ssize_t __wrap_send(int fd, const void *bytes, size_t count, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t count, int flags);
int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __real_nanosleep(const struct timespec *time, struct timespec *left);

/* A call that was interrupted, or did less than was wanted. */
static size_t cut(size_t count)
{
    const uint8_t how = fuzz_ended(&q.in) ? 0 : fuzz_u8(&q.in);

    return how < 240 ? count : how < 248 ? 0 : count % (how - 240u) + 1 < count ? count % (how - 240u) + 1 : count;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t count, int flags)
{
    const char *const text = bytes;
    const size_t done = fd == machine.qtest.fd ? cut(count) : count;

    (void)flags;
    count_call();
    if (q.gone) {
        errno = EPIPE;
        return -1;
    }
    if (done == 0) {
        errno = EINTR;
        return -1;
    }
    for (size_t i = 0; i < done && fd == machine.qtest.fd; i++) {
        q.line[q.line_fill++ % LINE_BYTES] = text[i];
        if (text[i] == '\n') {
            q.line[(q.line_fill - 1) % LINE_BYTES] = 0;
            q.line_fill = 0;
            serve(q.line);
        }
    }
    return (ssize_t)done;
}

ssize_t __wrap_recv(int fd, void *bytes, size_t count, int flags)
{
    const uint32_t there = q.reply_fill - q.reply_at;
    size_t done = PPU_MIN(there, count);

    (void)flags;
    count_call();
    if (fd != machine.qtest.fd) { /* the notification socket, whose bytes say nothing */
        const uint8_t how = fuzz_u8(&q.in);
        errno = EAGAIN;
        return q.gone || how == 255 ? 0 : how < 128 ? 1 : -1;
    }
    if (done == 0) {
        return 0; /* who waits for more than what was asked for finds nobody */
    }
    done = cut(done);
    if (done == 0) {
        errno = EINTR;
        return -1;
    }
    memcpy(bytes, q.reply + q.reply_at, done);
    q.reply_at += (uint32_t)done;
    if (q.reply_at == q.reply_fill) {
        q.reply_at = q.reply_fill = 0;
    }
    return (ssize_t)done;
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    const uint8_t how = fuzz_ended(&q.in) ? 0 : fuzz_u8(&q.in);

    (void)fds, (void)count, (void)mask;
    count_call();
    if (how >= 192) {
        scribble();
    } else if (how >= 160) {
        report();
    }
    machine.ppu[0].mailbox.shared->vectors |= q.vector_pending | (how >= 128 ? 1u << how % 32u : 0);
    q.vector_pending = 0;
    if (how % 4 == 0) {
        return 1;
    }
    q.now_ns += (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec;
    return 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!q.plays) {
        return __real_clock_gettime(clock, time);
    }
    count_call();
    *time = (struct timespec){ (time_t)(q.now_ns / 1000000000u), (long)(q.now_ns % 1000000000u) };
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!q.plays) {
        return __real_nanosleep(time, left);
    }
    count_call();
    q.now_ns += (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
    return 0;
}

/* ---- what libppu is asked to do ---- */

static struct {
    struct ppu_device *device;
    struct ppu_context *context[2];
    struct ppu_memory *memory[4];
    struct ppu_channel *channel[2];
    struct ppu_taskq *taskq;
    struct ppu_workq *workq;
} made;

static void use_channel(struct ppu_channel *channel, uint8_t what)
{
    struct ppu_block *block = NULL;
    struct ppu_event event;
    struct ppu_error error;

    if (!channel) {
        return;
    }
    if (what & 0x40u) {
        (void)ppu_channel_error(channel, &error);
        (void)ppu_channel_reset(channel);
    }
    if (ppu_block_begin(channel, &block) == PPU_OK) {
        ppu_block_wait_idle(block);
        if (ppu_block_submit(block, &event) == PPU_OK) {
            (void)ppu_event_wait(&event, TIMEOUT_NS);
        }
    }
    if (made.taskq) {
        (void)ppu_taskq_push(made.taskq, channel, "task", 4);
    }
}

static void make_memory(uint8_t what)
{
    struct ppu_memory **const memory = &made.memory[what / 16u % 4u];
    struct ppu_context *const context = made.context[what / 64u % 2u];

    if (*memory) {
        (void)memory_end(*memory);
        *memory = NULL;
    } else if (context) {
        (void)ppu_memory_create(context, what & 0x40u ? PPU_MEMORY_SYSTEM : PPU_MEMORY_VRAM, 1u + fuzz_u16(&q.in) * 64u,
                                memory);
    }
}

static void ask_device(uint8_t what)
{
    struct ppu_trace_record records[8];
    struct ppu_error error;
    uint32_t number = fuzz_u8(&q.in);
    uint64_t value = 0;

    (void)ppu_device_query(made.device, (enum ppu_key)(what / 16u), what, &value);
    (void)ppu_device_time_ns(made.device);
    (void)ppu_device_error_count(made.device);
    ppu_device_error(made.device, &error);
    (void)ppu_trace_read(made.device, what & 0x10u ? PPU_TRACE_OF_DEVICE : PPU_TRACE_OF_FIRMWARE, &number, records, 8);
}

static void act(void)
{
    const struct ppu_taskq_options taskq = { 16, 16 };
    const struct ppu_workq_options workq = { .entries = 8, .block_bytes = 256 };
    const uint8_t what = fuzz_u8(&q.in);
    const uint32_t n = what / 16u % 2u;

    q.calls = 0;
    switch (what % 8) {
    case 0:
        if (!made.context[n]) {
            (void)ppu_context_create(made.device, &made.context[n]);
        }
        break;
    case 1:
        make_memory(what);
        break;
    case 2:
        if (!made.channel[n] && made.context[0]) {
            (void)ppu_channel_create(made.context[0], NULL, &made.channel[n]);
        }
        break;
    case 3:
        if (!made.taskq && made.context[0]) {
            (void)ppu_taskq_create(made.context[0], &taskq, &made.taskq);
        }
        break;
    case 4:
        if (!made.workq && made.channel[n]) {
            (void)ppu_workq_create(made.channel[n], &workq, &made.workq);
        }
        break;
    case 5:
        ask_device(what);
        break;
    default:
        use_channel(made.channel[n], what);
        break;
    }
}

/* False: the device keeps it, because it says no and has not gone. */
static bool given_back(enum ppu_err err)
{
    q.calls = 0;
    return err == PPU_OK || err == PPU_ERR_DEVICE_LOST;
}

static bool give_back(void)
{
    if (made.workq && given_back(ppu_workq_destroy(made.workq))) {
        made.workq = NULL;
    }
    if (made.taskq && given_back(ppu_taskq_destroy(made.taskq))) {
        made.taskq = NULL;
    }
    for (uint32_t i = 0; i < 2 && !made.workq; i++) {
        if (made.channel[i] && given_back(ppu_channel_destroy(made.channel[i]))) {
            made.channel[i] = NULL;
        }
    }
    for (uint32_t i = 0; i < 4; i++) {
        if (made.memory[i]) {
            (void)memory_end(made.memory[i]);
            made.memory[i] = NULL;
        }
    }
    if (made.workq || made.taskq || made.channel[0] || made.channel[1]) {
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (made.context[i] && given_back(ppu_context_destroy(made.context[i]))) {
            made.context[i] = NULL;
        }
    }
    return !made.context[0] && !made.context[1];
}

/* ---- an input ---- */

static void *map(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct native_ppu *ppu = &machine.ppu[0];

    (void)argc;
    (void)argv;
    machine.ram = map(RAM_BYTES);
    machine.ram_bytes = RAM_BYTES;
    machine.ppus = 1;
    ppu->machine = &machine;
    ppu->transport.vram = map(VRAM_BYTES);
    ppu->transport.vram_bytes = VRAM_BYTES;
    ppu->transport.vram_fd = -1;
    ppu->mailbox.shared = calloc(1, sizeof(*ppu->mailbox.shared));
    pthread_mutex_init(&machine.lock, NULL);
    native_transport_init(ppu);
    if (joined_image_file(firmware, sizeof(firmware)) < 0 || !ppu->mailbox.shared) {
        abort();
    }
    return 0;
}

static void machine_again(const uint8_t *bytes, size_t count)
{
    struct native_ppu *ppu = &machine.ppu[0];

    memset(&q, 0, sizeof(q));
    memset(&made, 0, sizeof(made));
    q.in = fuzz_input(bytes, count);
    q.plays = true;
    madvise(machine.ram, RAM_BYTES, MADV_DONTNEED);
    madvise(ppu->transport.vram, VRAM_BYTES, MADV_DONTNEED);
    memset(ppu->mailbox.shared, 0, sizeof(*ppu->mailbox.shared));
    qtest_init(&machine.qtest, 1000); /* numbers that are no descriptors */
    ppu->mailbox.notify = 1001;
    memset(&ppu->mailbox.poll, 0, sizeof(ppu->mailbox.poll));
    memset(&ppu->function, 0, sizeof(ppu->function));
    if (!range_pool_init(&machine.bus_memory, MACHINE_RAM_BASE, RAM_BYTES)) {
        abort();
    }
}

static void play(void)
{
    const struct ppu_device_options options = { .firmware = firmware, .timeout_ns = TIMEOUT_NS };
    struct ppu_error error;

    if (ppu_device_open(&machine.ppu[0].transport, &options, &made.device, &error) != PPU_OK) {
        return;
    }
    for (uint32_t i = 0; i < MOST_ACTIONS && !fuzz_ended(&q.in); i++) {
        act();
    }
    if (!give_back()) {
        q.gone = true;
        if (!give_back()) {
            fuzz_found("an object cannot be given back, and the device has gone");
        }
    }
    q.calls = 0;
    ppu_device_close(made.device);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    machine_again(bytes, count);
    pci_windows_init(&machine.windows);
    if (pci_find(&machine.qtest, 0, &machine.ppu[0].function)) {
        pci_assign(&machine.qtest, &machine.windows, &machine.ppu[0].function);
        q.calls = 0;
        play();
    }
    range_pool_fini(&machine.bus_memory);
    q.plays = false;
    return 0;
}
