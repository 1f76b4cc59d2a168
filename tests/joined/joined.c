/* SPDX-License-Identifier: MIT */
#include "tests/joined/joined_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "firmware/hal.h"
#include "ppu/mmu.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "runtime/deadline.h"
#include "tests/joined/joined_image.h"

#define NEVER UINT64_MAX
#define CLEARED_BY_HOST (1u << 20) /* bytes: fewer are sooner written than asked for */

/* ---- clock ---- */

uint64_t joined_now(struct joined *joined)
{
    /* paused and its time are written while nobody but the pausing thread and clock readers go on */
    if (__atomic_load_n(&joined->paused, __ATOMIC_ACQUIRE)) {
        return __atomic_load_n(&joined->paused_ns, __ATOMIC_RELAXED);
    }
    return clock_ns() - __atomic_load_n(&joined->started_ns, __ATOMIC_RELAXED);
}

/* ---- what the core asks of its host ---- */

static bool ops_dma_read(void *opaque, uint64_t bus, void *buf, uint32_t len_bytes)
{
    struct joined *joined = opaque;

    return joined_bus_read(&joined->bus, bus, buf, len_bytes);
}

static bool ops_dma_write(void *opaque, uint64_t bus, const void *buf, uint32_t len_bytes)
{
    struct joined *joined = opaque;

    return joined_bus_write(&joined->bus, bus, buf, len_bytes);
}

static void ops_mcu_irq(void *opaque, uint32_t line, bool level)
{
    struct joined *joined = opaque;

    joined->irq_level = level ? joined->irq_level | 1u << line : joined->irq_level & ~(1u << line);
    pthread_cond_broadcast(&joined->changed);
}

static void ops_mcu_run(void *opaque, bool run)
{
    struct joined *joined = opaque;

    /* Also while it is held: a hold between two releases must not get lost. */
    if ((joined->mcu_wanted % 2 == 1) != run) {
        joined->mcu_wanted++;
    }
    pthread_cond_broadcast(&joined->changed);
}

static void ops_raise_vector(void *opaque, uint32_t vector)
{
    struct joined *joined = opaque;

    pthread_mutex_lock(&joined->vector_lock);
    joined->vectors |= 1u << vector;
    pthread_cond_broadcast(&joined->vector_raised);
    pthread_mutex_unlock(&joined->vector_lock);
}

static void ops_function_reset(void *opaque)
{
    struct joined *joined = opaque;

    core_reset(joined->core);
}

static void ops_guest_error(void *opaque, const char *sentence)
{
    struct joined *joined = opaque;

    joined->guest_errors++;
    joined_log_guest_error(sentence);
}

static void kick(struct joined *joined)
{
    pthread_mutex_lock(&joined->kick_lock);
    joined->kick = true;
    pthread_cond_signal(&joined->kicked);
    pthread_mutex_unlock(&joined->kick_lock);
}

static void ops_kick(void *opaque)
{
    kick(opaque);
}

static void ops_timer_set(void *opaque, uint64_t deadline_ns)
{
    struct joined *joined = opaque;

    joined->deadline_ns = deadline_ns;
    kick(joined);
}

static uint64_t ops_now_ns(void *opaque)
{
    return joined_now(opaque);
}

/* A reset clears gigabytes, which the host has mostly never given: pages that are taken back are zeros. */
static void ops_vram_clear(void *opaque, uint64_t off, uint64_t len_bytes)
{
    const struct joined *joined = opaque;

    if (len_bytes < CLEARED_BY_HOST ||
        fallocate(joined->vram_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off, (off_t)len_bytes) != 0) {
        vram_fill(joined->vram + off, 0, len_bytes);
    }
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

/* ---- service thread: bottom halves and the timer ---- */

/* Sleeps until the next kick, or `timeout_ns`; takes the kick. */
static void wait_kick(struct joined *joined, uint64_t timeout_ns)
{
    uint64_t deadline_ns = deadline_after(timeout_ns);
    struct timespec until = { (time_t)(deadline_ns / NS_PER_S), (long)(deadline_ns % NS_PER_S) };

    pthread_mutex_lock(&joined->kick_lock);
    while (!joined->kick && deadline_left(deadline_ns) > 0) {
        if (deadline_ns == UINT64_MAX) {
            pthread_cond_wait(&joined->kicked, &joined->kick_lock);
        } else {
            pthread_cond_timedwait(&joined->kicked, &joined->kick_lock, &until);
        }
    }
    joined->kick = false;
    pthread_mutex_unlock(&joined->kick_lock);
}

/* With the host lock. */
static void run_due(struct joined *joined)
{
    core_bottom_half(joined->core);
    if (joined->deadline_ns <= joined_now(joined)) {
        joined->deadline_ns = NEVER;
        core_timer(joined->core);
    }
}

static void *service_main(void *opaque)
{
    struct joined *joined = opaque;

    pthread_mutex_lock(&joined->lock);
    while (!joined->ending) {
        uint64_t left_ns = NEVER;
        if (!joined->paused) {
            run_due(joined);
            uint64_t now_ns = joined_now(joined);
            left_ns = joined->deadline_ns == NEVER ? NEVER : 0;
            if (joined->deadline_ns > now_ns && left_ns == 0) {
                left_ns = joined->deadline_ns - now_ns;
            }
        }
        pthread_mutex_unlock(&joined->lock);
        wait_kick(joined, left_ns);
        pthread_mutex_lock(&joined->lock);
    }
    pthread_mutex_unlock(&joined->lock);
    return NULL;
}

/* ---- MCU thread ---- */

/* With the host lock: waits until the MCU is to run, or the machine ends. */
static bool wait_release(struct joined *joined)
{
    while (!joined->ending && joined->mcu_wanted % 2 == 0) {
        pthread_cond_wait(&joined->changed, &joined->lock);
    }
    return !joined->ending;
}

/* With the host lock: what ran has ended; waits until somebody holds it. */
static void wait_hold(struct joined *joined)
{
    while (!joined->ending && joined->mcu_wanted == joined->mcu_now) {
        pthread_cond_wait(&joined->changed, &joined->lock);
    }
}

static void *mcu_main(void *opaque)
{
    struct joined *joined = opaque;

    pthread_mutex_lock(&joined->lock);
    while (wait_release(joined)) {
        joined->mcu_now = joined->mcu_wanted;
        core_mcu_state(joined->core, PPU_MCU_RUNNING);
        pthread_mutex_unlock(&joined->lock);
        if (setjmp(joined->mcu_exit) == 0) {
            firmware_main();
        }
        pthread_mutex_lock(&joined->lock);
        wait_hold(joined);
        core_mcu_state(joined->core, PPU_MCU_HELD);
    }
    pthread_mutex_unlock(&joined->lock);
    return NULL;
}

const char *joined_firmware(const struct joined *joined)
{
    return joined->firmware_path;
}

/* ---- life ---- */

void joined_default(struct joined_options *options)
{
    core_config_default(&options->config);
    options->config.vram_bytes = 128ull * PPU_MIB;
    options->config.sm_threads = 2;
    options->config.test_hooks = true;
    options->system_bytes = 32ull * PPU_MIB;
}

static void *map_anonymous(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* As in a machine of its own: tools beside the process can map it. */
static void *map_file(uint64_t bytes, int *fd)
{
    *fd = memfd_create("ppu-vram", MFD_CLOEXEC);
    void *memory = *fd >= 0 && ftruncate(*fd, (off_t)bytes) == 0
                       ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0)
                       : MAP_FAILED;

    return memory == MAP_FAILED ? NULL : memory;
}

static void init_locks(struct joined *joined)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&joined->lock, NULL);
    pthread_cond_init(&joined->changed, &monotonic);
    pthread_mutex_init(&joined->kick_lock, NULL);
    pthread_cond_init(&joined->kicked, &monotonic);
    pthread_mutex_init(&joined->vector_lock, NULL);
    pthread_cond_init(&joined->vector_raised, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static bool make_parts(struct joined *joined, const struct joined_options *options)
{
    uint8_t *system = map_anonymous(options->system_bytes);

    joined->vram = map_file(options->config.vram_bytes, &joined->vram_fd);
    return joined->vram && system && joined_bus_init(&joined->bus, system, options->system_bytes) &&
           (joined->firmware_fd = joined_image_file(joined->firmware_path, sizeof(joined->firmware_path))) >= 0 &&
           (joined->core = core_new(&options->config, joined->vram, &host_ops, joined));
}

static void free_parts(struct joined *joined)
{
    core_free(joined->core);
    joined_bus_fini(&joined->bus);
    close(joined->firmware_fd);
    close(joined->vram_fd);
    if (joined->vram) {
        munmap(joined->vram, joined->config.vram_bytes);
    }
    if (joined->bus.memory) {
        munmap(joined->bus.memory, joined->bus.bytes);
    }
    free(joined);
}

static void *start_thread(pthread_t *thread, void *(*entry)(void *), struct joined *joined)
{
    if (pthread_create(thread, NULL, entry, joined) != 0) {
        abort();
    }
    return thread;
}

struct joined *joined_start(const struct joined_options *options, const char **why)
{
    *why = core_config_check(&options->config);
    if (*why) {
        return NULL;
    }
    struct joined *joined = calloc(1, sizeof(*joined));
    if (!joined) {
        *why = "no memory";
        return NULL;
    }
    joined->config = options->config;
    joined->deadline_ns = NEVER;
    joined->started_ns = clock_ns();
    joined->firmware_fd = -1;
    init_locks(joined);
    if (!make_parts(joined, options)) {
        free_parts(joined);
        *why = "no memory for the parts of a machine";
        return NULL;
    }
    joined_transport_init(joined);
    hal_attach(joined);
    pthread_mutex_lock(&joined->lock);
    core_resume(joined->core);
    pthread_mutex_unlock(&joined->lock);
    start_thread(&joined->service_thread, service_main, joined);
    start_thread(&joined->mcu_thread, mcu_main, joined);
    return joined;
}

void joined_stop(struct joined *joined)
{
    if (!joined) {
        return;
    }
    pthread_mutex_lock(&joined->lock);
    joined->ending = true;
    joined->mcu_wanted += 2 - joined->mcu_wanted % 2;
    pthread_cond_broadcast(&joined->changed);
    pthread_mutex_unlock(&joined->lock);
    kick(joined);
    pthread_join(joined->mcu_thread, NULL);
    pthread_join(joined->service_thread, NULL);
    free_parts(joined);
}

struct ppu_transport *joined_transport(struct joined *joined)
{
    return &joined->transport;
}

/* ---- what tests do to it ---- */

void joined_pause(struct joined *joined)
{
    pthread_mutex_lock(&joined->lock);
    core_pause(joined->core);
    __atomic_store_n(&joined->paused_ns, joined_now(joined), __ATOMIC_RELAXED);
    __atomic_store_n(&joined->paused, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&joined->lock);
}

void joined_resume(struct joined *joined)
{
    pthread_mutex_lock(&joined->lock);
    __atomic_store_n(&joined->started_ns, clock_ns() - joined->paused_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&joined->paused, false, __ATOMIC_RELEASE);
    core_resume(joined->core);
    pthread_cond_broadcast(&joined->changed);
    pthread_mutex_unlock(&joined->lock);
    kick(joined);
}

bool joined_reload(struct joined *joined, const char **why)
{
    size_t bytes = 0;

    pthread_mutex_lock(&joined->lock);
    uint8_t *state = core_save(joined->core, &bytes);
    bool loaded = state && core_load(joined->core, state, bytes, why);
    pthread_mutex_unlock(&joined->lock);
    if (!state) {
        *why = "nothing was saved";
    }
    free(state);
    return loaded;
}

static void order(struct joined *joined, enum mcu_order what)
{
    pthread_mutex_lock(&joined->lock);
    joined->order = what;
    pthread_cond_broadcast(&joined->changed);
    pthread_mutex_unlock(&joined->lock);
}

void joined_crash(struct joined *joined)
{
    order(joined, MCU_CRASH);
}

void joined_lock_up(struct joined *joined)
{
    order(joined, MCU_LOCK_UP);
}

uint32_t joined_guest_errors(struct joined *joined)
{
    pthread_mutex_lock(&joined->lock);
    uint32_t errors = joined->guest_errors;
    pthread_mutex_unlock(&joined->lock);
    return errors;
}
