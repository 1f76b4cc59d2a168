/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/stepped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <sanitizer/common_interface_defs.h>

#include "firmware/hal.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "tests/fuzz/input.h"
#include "tests/joined/host.h"
#include "tests/joined/joined_image.h"

#define NEVER UINT64_MAX
#define STACK_BYTES (1024u * 1024u)
#define ACCESS_NS 50u                /* virtual time of an access by the firmware */
#define MOST_ACCESSES (4u * 1000000) /* of the firmware before it sleeps again */
#define SETUP_STEPS 100000u
#define VRAM_BYTES (32ull * PPU_MIB)
#define SYSTEM_BYTES (1ull * PPU_MIB)

/* Bounds of what the firmware writes, from the linker. */
extern uint8_t __start_fw_dma[], __stop_fw_dma[];
extern uint8_t __start_fw_state[], __stop_fw_state[];

/* What an input changes of the machine beside its memories, the core and the firmware. */
struct changing {
    uint64_t now_ns;
    uint64_t deadline_ns; /* of the core's timer */
    uint32_t irq_level;
    uint32_t vectors;
    bool kick;
    bool mcu_wanted;
    bool mcu_runs;
    bool silent; /* whatever the MCU is to do, the firmware does nothing */
    uint32_t request_tail;
    uint32_t reply_head;
    uint8_t dtcm[PPU_MCU_DTCM_BYTES];
};

/* Memory whose contents can be remembered: a private mapping of a file that has them. */
struct arena {
    uint8_t *base;
    uint64_t bytes;
    int file;
    bool cleared; /* some of it is zeros instead */
};

static struct {
    struct ppu_transport transport;
    struct core *core;
    struct arena vram;
    struct arena system;
    struct joined_bus bus;
    char image[32];
    struct changing changing;

    /* The firmware's stack, and who is on which. */
    ucontext_t outside;
    ucontext_t inside;
    void *stack;
    const void *outside_stack;
    size_t outside_bytes;
    void *outside_fake;
    void *inside_fake;
    uint32_t accesses; /* since it was last entered */
    bool in_between;
    void (*between)(void *opaque);
    void *opaque;

    /* What was remembered. */
    struct changing kept;
    uint8_t *kept_core;
    size_t kept_core_bytes;
    uint8_t *kept_state;
    uint8_t *kept_dma; /* more than the MCU has: pointers are longer here */
} m;

/* ---- memories ---- */

/* At `at`, or where there is room for it. */
static uint8_t *map(uint8_t *at, uint64_t bytes, int file)
{
    const int flags = MAP_PRIVATE | (at ? MAP_FIXED : 0) | (file < 0 ? MAP_ANONYMOUS : 0);
    void *memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, file, 0);

    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

static void arena_open(struct arena *arena, const char *name, uint64_t bytes)
{
    arena->bytes = bytes;
    arena->file = memfd_create(name, MFD_CLOEXEC);
    if (arena->file < 0 || ftruncate(arena->file, (off_t)bytes) != 0) {
        abort();
    }
    arena->base = map(NULL, bytes, arena->file);
}

/* Whatever was written since, it is what was remembered. */
static void arena_restore(struct arena *arena)
{
    if (arena->cleared) {
        map(arena->base, arena->bytes, arena->file);
        arena->cleared = false;
    }
    madvise(arena->base, arena->bytes, MADV_DONTNEED);
}

static void arena_remember(struct arena *arena)
{
    static const uint8_t zeros[PPU_PAGE_64K];

    for (uint64_t at = 0; at < arena->bytes; at += sizeof(zeros)) {
        if (memcmp(arena->base + at, zeros, sizeof(zeros)) != 0 &&
            pwrite(arena->file, arena->base + at, sizeof(zeros), (off_t)at) != (ssize_t)sizeof(zeros)) {
            abort();
        }
    }
    arena_restore(arena);
}

/* ---- what the core asks of its host ---- */

static void call_between(void)
{
    if (m.between && !m.in_between) {
        m.in_between = true;
        m.between(m.opaque);
        m.in_between = false;
    }
}

static bool ops_dma_read(void *opaque, uint64_t bus, void *buf, uint32_t len_bytes)
{
    (void)opaque;
    call_between();
    return joined_bus_read(&m.bus, bus, buf, len_bytes);
}

static bool ops_dma_write(void *opaque, uint64_t bus, const void *buf, uint32_t len_bytes)
{
    (void)opaque;
    return joined_bus_write(&m.bus, bus, buf, len_bytes);
}

static void ops_mcu_irq(void *opaque, uint32_t line, bool level)
{
    (void)opaque;
    m.changing.irq_level = level ? m.changing.irq_level | 1u << line : m.changing.irq_level & ~(1u << line);
}

static void ops_mcu_run(void *opaque, bool run)
{
    (void)opaque;
    m.changing.mcu_wanted = run;
}

static void ops_raise_vector(void *opaque, uint32_t vector)
{
    (void)opaque;
    m.changing.vectors |= 1u << vector;
}

static void ops_function_reset(void *opaque)
{
    (void)opaque;
    core_reset(m.core);
}

static void ops_guest_error(void *opaque, const char *sentence)
{
    (void)opaque;
    joined_log_guest_error(sentence);
}

static void ops_timer_set(void *opaque, uint64_t deadline_ns)
{
    (void)opaque;
    m.changing.deadline_ns = deadline_ns;
}

static uint64_t ops_now_ns(void *opaque)
{
    (void)opaque;
    return m.changing.now_ns;
}

static void ops_kick(void *opaque)
{
    (void)opaque;
    m.changing.kick = true;
}

static void ops_vram_clear(void *opaque, uint64_t off, uint64_t len_bytes)
{
    (void)opaque;
    map(m.vram.base + off, len_bytes, -1);
    m.vram.cleared = true;
}

static const struct core_host_ops host_ops = {
    .vram_clear = ops_vram_clear,
    .vram_hide = joined_vram_hide,
    .dma_read = ops_dma_read,
    .dma_write = ops_dma_write,
    .mcu_irq = ops_mcu_irq,
    .mcu_run = ops_mcu_run,
    .raise_vector = ops_raise_vector,
    .function_reset = ops_function_reset,
    .mcu_mem = joined_mcu_mem,
    .log_char = joined_log_char,
    .guest_error = ops_guest_error,
    .timer_set = ops_timer_set,
    .now_ns = ops_now_ns,
    .kick = ops_kick,
};

/* ---- two stacks ---- */

/* How deep the stack was, of libFuzzer: a feature of an input. The firmware's lies wherever the kernel had room. */
extern __thread uintptr_t __sancov_lowest_stack;

/* From the target's stack to the firmware's, until it sleeps. */
static void enter_firmware(void)
{
    const uintptr_t lowest = __sancov_lowest_stack;

    m.accesses = 0;
    __sanitizer_start_switch_fiber(&m.outside_fake, m.stack, STACK_BYTES);
    swapcontext(&m.outside, &m.inside);
    __sanitizer_finish_switch_fiber(m.outside_fake, NULL, NULL);
    __sancov_lowest_stack = lowest;
}

static void leave_firmware(void)
{
    __sanitizer_start_switch_fiber(&m.inside_fake, m.outside_stack, m.outside_bytes);
    swapcontext(&m.inside, &m.outside);
    __sanitizer_finish_switch_fiber(m.inside_fake, &m.outside_stack, &m.outside_bytes);
}

static void firmware_entry(void)
{
    __sanitizer_finish_switch_fiber(NULL, &m.outside_stack, &m.outside_bytes);
    firmware_main();
    fuzz_found("the firmware has returned");
}

static void release_mcu(void)
{
    m.stack = map(NULL, STACK_BYTES, -1);
    if (getcontext(&m.inside) != 0) {
        abort();
    }
    m.inside.uc_stack.ss_sp = m.stack;
    m.inside.uc_stack.ss_size = STACK_BYTES;
    m.inside.uc_link = NULL;
    makecontext(&m.inside, firmware_entry, 0);
    m.changing.mcu_runs = true;
    core_mcu_state(m.core, PPU_MCU_RUNNING);
    enter_firmware();
}

/* ---- what the firmware asks of what it runs on ---- */

/* The firmware does something that others may see, or see change. */
static void access_begins(void)
{
    m.changing.now_ns += ACCESS_NS;
    if (++m.accesses > MOST_ACCESSES) {
        fuzz_found("the firmware does not come to rest");
    }
    call_between();
}

/* Before each access of the firmware to a shared word (firmware/shared.h). */
void stepped_shared(void);
void stepped_shared(void)
{
    access_begins();
}

uint32_t hal_read(uint32_t reg)
{
    access_begins();
    return core_reg_read(m.core, CORE_MCU, reg);
}

void hal_write(uint32_t reg, uint32_t value)
{
    access_begins();
    core_reg_write(m.core, CORE_MCU, reg, value);
}

void *hal_vram(ppu_vram_t vram)
{
    return m.vram.base + vram.off;
}

uint64_t hal_time(void)
{
    return m.changing.now_ns;
}

uint32_t hal_take_events(void)
{
    access_begins();
    uint32_t events = core_reg_read(m.core, CORE_MCU, PPU_REG_IRQ_PENDING);
    core_reg_write(m.core, CORE_MCU, PPU_REG_IRQ_PENDING, events);
    return events;
}

bool hal_wait(uint32_t *events)
{
    while (m.changing.irq_level == 0) {
        leave_firmware();
    }
    *events = hal_take_events();
    return true;
}

_Noreturn void hal_crash(const char *file, uint32_t line)
{
    fuzz_found("the firmware's assertion fails at %s:%u", file, (unsigned)line);
}

/* ---- steps ---- */

/* The MCU is to be released, or held. */
static void switch_mcu(void)
{
    if (m.changing.silent) {
        m.changing.mcu_runs = m.changing.mcu_wanted;
        core_mcu_state(m.core, m.changing.mcu_runs ? PPU_MCU_RUNNING : PPU_MCU_HELD);
    } else if (m.changing.mcu_wanted) {
        release_mcu();
    } else {
        fuzz_found("the machine has reset itself");
    }
}

/* What is to be done now, without time passing. False: nothing. */
static bool step_now(void)
{
    if (m.changing.mcu_wanted != m.changing.mcu_runs) {
        switch_mcu();
    } else if (m.changing.kick) {
        m.changing.kick = false;
        core_bottom_half(m.core);
    } else if (m.changing.mcu_runs && !m.changing.silent && m.changing.irq_level != 0) {
        enter_firmware();
    } else {
        return false;
    }
    return true;
}

/* Time passes, to what is due next. */
static bool step(void)
{
    struct changing *now = &m.changing;

    if (step_now()) {
        return true;
    }
    if (now->deadline_ns == NEVER) {
        return false;
    }
    now->now_ns = PPU_MAX(now->deadline_ns, now->now_ns);
    now->deadline_ns = NEVER;
    core_timer(m.core);
    return true;
}

bool stepped_run(uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        if (!step()) {
            return true;
        }
    }
    return false;
}

/* What libppu does during set-up takes effect before it returns. */
static void settle(void)
{
    uint32_t steps = 0;

    while (step_now()) {
        if (++steps > SETUP_STEPS) {
            fuzz_found("the machine does not come to rest while it is set up");
        }
    }
}

/* ---- libppu's way to it, for the set-up ---- */

static uint32_t transport_reg_read(struct ppu_transport *transport, uint32_t offset)
{
    (void)transport;
    settle();
    return core_reg_read(m.core, CORE_HOST, offset);
}

static void transport_reg_write(struct ppu_transport *transport, uint32_t offset, uint32_t value)
{
    (void)transport;
    stepped_reg_write(offset, value);
    settle();
}

static uint32_t transport_doorbell_read(struct ppu_transport *transport, uint64_t offset)
{
    (void)transport;
    return core_doorbell_read(m.core, offset);
}

static void transport_doorbell_write(struct ppu_transport *transport, uint64_t offset, uint32_t value)
{
    (void)transport;
    core_doorbell_write(m.core, offset, value);
    settle();
}

static void transport_window_read(struct ppu_transport *transport, uint32_t offset, void *buf, uint32_t len_bytes)
{
    (void)transport;
    (void)offset;
    memset(buf, 0, len_bytes);
}

static void transport_window_write(struct ppu_transport *transport, uint32_t offset, const void *buf,
                                   uint32_t len_bytes)
{
    (void)transport;
    (void)offset;
    (void)buf;
    (void)len_bytes;
}

static enum ppu_err transport_system_alloc(struct ppu_transport *transport, uint64_t bytes,
                                           struct ppu_system_memory *memory)
{
    (void)transport;
    return joined_bus_take(&m.bus, bytes, memory);
}

static void transport_system_free(struct ppu_transport *transport, const struct ppu_system_memory *memory)
{
    (void)transport;
    joined_bus_give(&m.bus, memory);
}

static uint32_t transport_wait(struct ppu_transport *transport, uint64_t timeout_ns)
{
    (void)transport;
    (void)timeout_ns;
    for (uint32_t i = 0; i < SETUP_STEPS && m.changing.vectors == 0; i++) {
        step();
    }
    return stepped_vectors();
}

static void transport_set_bus_master(struct ppu_transport *transport, bool on)
{
    (void)transport;
    m.bus.master = on;
}

static void transport_close(struct ppu_transport *transport)
{
    (void)transport;
}

static const struct ppu_transport_ops transport_ops = {
    .reg_read = transport_reg_read,
    .reg_write = transport_reg_write,
    .doorbell_read = transport_doorbell_read,
    .doorbell_write = transport_doorbell_write,
    .window_read = transport_window_read,
    .window_write = transport_window_write,
    .system_alloc = transport_system_alloc,
    .system_free = transport_system_free,
    .wait = transport_wait,
    .set_bus_master = transport_set_bus_master,
    .close = transport_close,
};

/* ---- life ---- */

void stepped_default(struct stepped_options *options)
{
    core_config_default(&options->config);
    options->config.vram_bytes = VRAM_BYTES;
    options->config.sm_threads = 0;
    options->config.sms = 1;
    options->config.gpcs = 1;
    options->config.slots = 4;
    options->system_bytes = SYSTEM_BYTES;
}

void stepped_start(const struct stepped_options *options)
{
    const char *why = core_config_check(&options->config);

    if (why) {
        fuzz_found("the machine cannot be: %s", why);
    }
    arena_open(&m.vram, "vram", options->config.vram_bytes);
    arena_open(&m.system, "system", options->system_bytes);
    m.changing.deadline_ns = NEVER;
    m.core = core_new(&options->config, m.vram.base, &host_ops, NULL);
    if (!m.core || !joined_bus_init(&m.bus, m.system.base, m.system.bytes) ||
        joined_image_file(m.image, sizeof(m.image)) < 0) {
        abort();
    }
    m.transport =
        (struct ppu_transport){ .ops = &transport_ops, .vram = m.vram.base, .vram_bytes = m.vram.bytes, .vram_fd = -1 };
    core_resume(m.core);
}

struct ppu_transport *stepped_transport(void)
{
    return &m.transport;
}

struct core *stepped_core(void)
{
    return m.core;
}

uint8_t *stepped_vram(void)
{
    return m.vram.base;
}

uint8_t *stepped_system(void)
{
    return m.system.base;
}

const char *stepped_firmware(void)
{
    return m.image;
}

uint64_t stepped_now(void)
{
    return m.changing.now_ns;
}

/* ---- remember and restore ---- */

/* The bytes between variables are the address sanitizer's; they are copied as well. */
__attribute__((no_sanitize("address"), noinline)) static void copy_state(uint64_t *to, const uint64_t *from,
                                                                         size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(*to); i++) {
        to[i] = from[i];
    }
}

static size_t state_bytes(void)
{
    return (size_t)((uintptr_t)__stop_fw_state - (uintptr_t)__start_fw_state) & ~(size_t)7;
}

static size_t dma_bytes(void)
{
    return (size_t)((uintptr_t)__stop_fw_dma - (uintptr_t)__start_fw_dma) & ~(size_t)7;
}

static struct ppu_admin_queue *admin_queue(void)
{
    struct ppu_fw_info info;

    memcpy(&info, m.vram.base + core_reg_read(m.core, CORE_HOST, PPU_REG_FW_INFO), sizeof(info));
    return (void *)(m.vram.base + info.admin_queue);
}

void stepped_remember(void)
{
    settle();
    m.changing.vectors = 0;
    m.changing.request_tail = admin_queue()->request_tail;
    m.changing.reply_head = admin_queue()->reply_head;
    core_pause(m.core);
    m.kept_core = core_save(m.core, &m.kept_core_bytes);
    core_resume(m.core);
    settle();
    m.kept = m.changing;
    m.kept_state = malloc(state_bytes());
    m.kept_dma = malloc(dma_bytes());
    if (!m.kept_core || !m.kept_state || !m.kept_dma) {
        abort();
    }
    copy_state((void *)m.kept_state, (void *)__start_fw_state, state_bytes());
    copy_state((void *)m.kept_dma, (void *)__start_fw_dma, dma_bytes());
    arena_remember(&m.vram);
    arena_remember(&m.system);
}

void stepped_restore(void)
{
    const char *why = NULL;

    m.between = NULL;
    core_pause(m.core);
    if (!core_load(m.core, m.kept_core, m.kept_core_bytes, &why)) {
        fuzz_found("the state remembered cannot be loaded: %s", why);
    }
    core_resume(m.core);
    arena_restore(&m.vram);
    arena_restore(&m.system);
    m.bus.master = true;
    copy_state((void *)__start_fw_state, (void *)m.kept_state, state_bytes());
    copy_state((void *)__start_fw_dma, (void *)m.kept_dma, dma_bytes());
    m.changing = m.kept;
}

void stepped_between(void (*between)(void *opaque), void *opaque)
{
    m.between = between;
    m.opaque = opaque;
}

void stepped_silence(void)
{
    m.changing.silent = true;
}

void stepped_lock_up(void)
{
    if (m.changing.mcu_runs) {
        core_mcu_state(m.core, PPU_MCU_LOCKUP);
    }
}

void stepped_bus_master(bool on)
{
    m.bus.master = on;
}

uint32_t stepped_vectors(void)
{
    uint32_t vectors = m.changing.vectors;

    m.changing.vectors = 0;
    return vectors;
}

void stepped_reg_write(uint32_t reg, uint32_t value)
{
    core_reg_write(m.core, CORE_HOST, reg, value);
}

void stepped_doorbell(uint32_t channel, uint32_t offset, uint32_t value)
{
    core_doorbell_write(m.core, (uint64_t)channel * PPU_DOORBELL_STRIDE + offset, value);
}

/* ---- the admin queue, without libppu ---- */

uint8_t *stepped_admin_queue(void)
{
    return (uint8_t *)admin_queue();
}

bool stepped_request(const struct ppu_admin_msg *request)
{
    struct ppu_admin_queue *queue = admin_queue();

    if (m.changing.request_tail - __atomic_load_n(&queue->request_head, __ATOMIC_ACQUIRE) >= PPU_ADMIN_ENTRIES) {
        return false;
    }
    queue->request[m.changing.request_tail % PPU_ADMIN_ENTRIES] = *request;
    __atomic_store_n(&queue->request_tail, ++m.changing.request_tail, __ATOMIC_RELEASE);
    stepped_reg_write(PPU_REG_ADMIN_DOORBELL, 1);
    return true;
}

bool stepped_reply(struct ppu_admin_msg *reply)
{
    struct ppu_admin_queue *queue = admin_queue();

    if (__atomic_load_n(&queue->reply_tail, __ATOMIC_ACQUIRE) == m.changing.reply_head) {
        return false;
    }
    *reply = queue->reply[m.changing.reply_head % PPU_ADMIN_ENTRIES];
    __atomic_store_n(&queue->reply_head, ++m.changing.reply_head, __ATOMIC_RELEASE);
    return true;
}

struct ppu_admin_msg stepped_admin(uint16_t op, const uint32_t *args, uint32_t count, uint32_t steps)
{
    static uint32_t seq = 0x10000000u;
    struct ppu_admin_msg request = { .head = { PPU_ADMIN_VERSION, sizeof(request) }, .op = op };
    struct ppu_admin_msg reply;

    seq++;
    request.seq = seq;
    memcpy(request.arg, args, count * sizeof(*args));
    if (!stepped_request(&request)) {
        fuzz_found("there is no room for the admin request %u", op);
    }
    for (uint32_t i = 0; i < steps; i++) {
        while (stepped_reply(&reply)) {
            if (reply.seq == request.seq) {
                return reply;
            }
        }
        if (!step()) {
            break;
        }
    }
    if (stepped_reply(&reply) && reply.seq == request.seq) {
        return reply;
    }
    fuzz_found("the admin request %u is not answered", op);
}
