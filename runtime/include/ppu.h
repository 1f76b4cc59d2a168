/* SPDX-License-Identifier: MIT */
/*
 * libppu: the user-mode driver of the PPU.
 *
 *   device    one PPU with its firmware running
 *   context   an address space: sees only what is mapped into it (A9)
 *   memory    bytes in VRAM or in system memory, mapped into any number of contexts
 *   channel   a queue of command blocks, executed in order (A2)
 *   block     methods being collected for one entry of a channel's queue
 *   stream    tasks that run one after the other (B2)
 *   taskq     entries that a queue task runs a CTA for, as they arrive (A6)
 *   program   code in memory; kernel: one entry of it
 *   event     a point in a channel's work that one can wait for
 *   workqueue a queue of work that threads fill (C1)
 *
 * Every function that can fail returns an enum ppu_err; PPU_OK is 0. Nothing is global: all
 * state hangs on a device. Functions may be called from several threads at once, also on one
 * object, except that an object must not be used while or after it is destroyed, and that a
 * block belongs to one thread. Every wait has a bound. An object must be destroyed before
 * the one it was made from; a NULL object may be destroyed. *out is NULL after a failure.
 */
#ifndef PPU_H
#define PPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/admin.h"
#include "ppu/base.h"
#include "ppu/channel.h"
#include "ppu/fault.h"
#include "ppu/heap.h"
#include "ppu/image.h"
#include "ppu/limits.h"
#include "ppu/sem.h"
#include "ppu/task.h"
#include "ppu/taskq.h"
#include "ppu/trace.h"
#include "ppu/workq.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ppu_machine;
struct ppu_transport;
struct ppu_device;
struct ppu_context;
struct ppu_memory;
struct ppu_channel;
struct ppu_block;
struct ppu_workqueue;
struct ppu_stream;
struct ppu_taskq;
struct ppu_program;
struct ppu_kernel;

/* ---- errors ---- */

enum ppu_err {
    PPU_OK = 0,
#define PPU_ERR(name, value, text) PPU_ERR_##name = (value),
#include "ppu_error.def"
#undef PPU_ERR
};

#define PPU_ERROR_TEXT_BYTES 400u

/* An error told in full. */
struct ppu_error {
    enum ppu_err code;
    struct ppu_error_record record;  /* what the firmware said; record.code is 0 when it said nothing */
    char text[PPU_ERROR_TEXT_BYTES]; /* a sentence: what, who, where */
};

/* Name of a code as in ppu_error.def, and its sentence. Never NULL. */
const char *ppu_error_name(enum ppu_err code);
const char *ppu_error_text(enum ppu_err code);
/* Name of a fault code as in fault.def, "?" when there is none; and libppu's error for it. */
const char *ppu_fault_name(uint32_t fault);
enum ppu_err ppu_fault_error(uint32_t fault);

/* ---- machine: QEMU as a child process, for programs that run beside it ---- */

struct ppu_machine_options {
    const char *launcher;   /* path of ppu-run; NULL: environment PPU_RUN, else the one built with libppu */
    uint32_t ppus;          /* 0: one */
    const char *const *ppu; /* properties of each PPU, "sms=8,slots=16"; NULL: defaults */
    uint64_t vram_bytes;    /* of each PPU, a power of two; 0: 256 MiB */
    uint64_t ram_bytes;     /* system memory; 0: 256 MiB */
    bool test_hooks;
    const char *const *launcher_args; /* more arguments for ppu-run, NULL at the end; NULL: none */
};

/*
 * Starts a machine without a guest. It ends with this process, whatever way that
 * ends, and with the thread that made this call; or with ppu_machine_stop() after its devices were
 * closed. `error` may be NULL.
 */
enum ppu_err ppu_machine_start(const struct ppu_machine_options *options, struct ppu_machine **out,
                               struct ppu_error *error);
void ppu_machine_stop(struct ppu_machine *machine);
/* The way to PPU number `index` (A8), to be given to ppu_device_open(). */
enum ppu_err ppu_machine_transport(struct ppu_machine *machine, uint32_t index, struct ppu_transport **out,
                                   struct ppu_error *error);

/* ---- vfio: a PPU of this Linux machine ---- */

/* True when there is one, whether it can be opened or not. */
bool ppu_vfio_present(void);
/*
 * The way to the PPU at a PCI address, "0000:00:01.0", or to the first that is free when `address` is NULL. It must be
 * bound to vfio-pci. NO_DEVICE; BUSY: another process has it, the sentence says which; TRANSPORT: the sentence says
 * what is wrong and, where the user can help it, what to do. `error` may be NULL.
 */
enum ppu_err ppu_vfio_transport(const char *address, struct ppu_transport **out, struct ppu_error *error);

/* ---- device ---- */

struct ppu_device_options {
    const char *firmware; /* image file; NULL: environment PPU_FIRMWARE, else the one built with libppu */
    uint64_t timeout_ns;  /* bound of every wait that has none of its own; 0: 10 s */
};

/* What the identity registers and the firmware say (A1). */
struct ppu_device_info {
    uint32_t abi_major, abi_minor, isa_version, features, instance;
    uint64_t vram_bytes;
    uint32_t channels, contexts, slots, gpcs, sms, sm_warps, sm_ctas, sm_vregs, sm_shared, vectors;
    uint32_t streams; /* TMDQs of a context */
    uint32_t tasks;
    uint32_t mode_vregs; /* threshold that the device has for compilers (D9): register MODE_VREGS when it was opened */
    uint8_t build_id[20];
};

/*
 * Resets the PPU, loads and starts its firmware, shakes hands. The transport
 * belongs to the device from now on, also after a failure. `options`, `error` may be NULL.
 */
enum ppu_err ppu_device_open(struct ppu_transport *transport, const struct ppu_device_options *options,
                             struct ppu_device **out, struct ppu_error *error);
/*
 * The shortest way. Environment PPU_DEVICE says which PPU: "vfio", the first of this machine that is free;
 * "vfio:ADDRESS"; "native", one in a machine of its own. Without it: vfio when there is one, else native.
 */
enum ppu_err ppu_open(struct ppu_device **out, struct ppu_error *error);

/* Files used where the environment names none; NULL: the defaults. */
struct ppu_open_options {
    const char *launcher; /* PPU_RUN */
    const char *firmware; /* PPU_FIRMWARE */
};

/* ppu_open() for a library, which cannot tell where its program was started. `options`, `error` may be NULL. */
enum ppu_err ppu_open_with(const struct ppu_open_options *options, struct ppu_device **out, struct ppu_error *error);
/* Ends everything that runs and holds the MCU. Objects of the device must have been destroyed. */
void ppu_device_close(struct ppu_device *device);

const struct ppu_device_info *ppu_device_info(const struct ppu_device *device);
/* Bytes of VRAM that can be allocated while none are. */
uint64_t ppu_device_heap_bytes(const struct ppu_device *device);
/* Largest power of two, at most 2 MiB, that memory in VRAM which is aligned to it has its host address aligned to. */
uint64_t ppu_device_vram_alignment(const struct ppu_device *device);
/* One value (key.def). `object`: channel or context number, 0 where the key has none. */
enum ppu_err ppu_device_query(struct ppu_device *device, enum ppu_key key, uint32_t object, uint64_t *value);
/* Sets a policy of the scheduler for the whole device (policy.def); ppu_device_query() with PPU_KEY_POLICY reads it. */
enum ppu_err ppu_device_policy(struct ppu_device *device, enum ppu_policy policy, uint32_t value);
/*
 * Sets how much of what is shared (resource.def) a context may have, 1 to the number there are; at first everything.
 * ppu_device_query() with PPU_KEY_CONTEXT_HELD or PPU_KEY_CONTEXT_QUOTA, and PPU_RESOURCE_OBJECT(), reads it.
 */
enum ppu_err ppu_context_quota(struct ppu_context *context, enum ppu_resource resource, uint32_t most);
/* The latest error that the device reported; code PPU_OK when there was none. */
void ppu_device_error(struct ppu_device *device, struct ppu_error *error);
/* Errors reported since the device was opened. */
uint64_t ppu_device_error_count(struct ppu_device *device);
/* Virtual clock of the device in ns. */
uint64_t ppu_device_time_ns(struct ppu_device *device);

/* ---- trace ---- */

/* The flight recorders (trace.h): who writes them, and so which records are in them. */
enum ppu_trace_source {
    PPU_TRACE_OF_FIRMWARE = 0,
    PPU_TRACE_OF_DEVICE = 1,
};

/* Number of the next record that the recorder will get; records are numbered from 0, modulo 2^32. */
uint32_t ppu_trace_next(const struct ppu_device *device, enum ppu_trace_source source);
/*
 * Copies records from number *number on, at most `count`, in order, and sets *number to the one after the last copied.
 * Records that were overwritten before they could be read are left out. Returns how many were copied.
 */
uint32_t ppu_trace_read(const struct ppu_device *device, enum ppu_trace_source source, uint32_t *number,
                        struct ppu_trace_record *records, uint32_t count);

/* ---- context ---- */

/* An address space. It takes VRAM for what the SMs hold, 3.3 MiB on the default machine, so that its CTAs can be taken
 * off SMs for others (save.h). NO_VRAM, NO_RESOURCE. */
enum ppu_err ppu_context_create(struct ppu_device *device, struct ppu_context **out);
/*
 * Here and below: after an error of a ..._destroy() other than DEVICE_LOST the object is still there.
 *
 * Unmaps what is mapped. BUSY, and nothing happens, while it has channels.
 */
enum ppu_err ppu_context_destroy(struct ppu_context *context);
uint32_t ppu_context_id(const struct ppu_context *context);

/* Sizes of what is preallocated for threads that launch tasks (B3). Zeros are replaced by defaults. */
struct ppu_nest_options {
    uint32_t tasks; /* tasks launched by threads that can be pending at once, a power of two, 64 to 4,096; 0: 1,024 */
    uint32_t depth; /* of the deepest grid, at most 288; 0: 24 */
    uint32_t state_bytes; /* state of a CTA that may wait, at most; 0: 64 KiB */
    uint32_t ctas;        /* CTAs of such a task that can have begun at once, at most 64; 0: 1 */
    uint32_t waiting;     /* such tasks of one depth that can have begun at once, at most 32; 0: 1 */
    uint32_t heap_bytes;  /* VRAM that threads can take pieces of (heap.h), at most PPU_HEAP_MAX_BYTES; 0: none */
    ppu_va_t enqueue_va;  /* a struct ppu_enqueue (child.h) for compiled kernels that enqueue; 0: there is none */
};
/*
 * Makes threads of the context able to launch tasks and to wait for them; once, before the first such kernel is
 * launched. `options` may be NULL. It takes tasks * 1 KiB and heap_bytes of VRAM, and depth * waiting * ctas *
 * state_bytes of the memory that page tables share. NO_VRAM, BUSY (it is already), BAD_ARG.
 */
enum ppu_err ppu_context_nest(struct ppu_context *context, const struct ppu_nest_options *options);

/* ---- memory ---- */

enum ppu_memory_kind {
    PPU_MEMORY_VRAM = 0,
    PPU_MEMORY_SYSTEM = 1,
};

#define PPU_MAP_READ_ONLY (1u << 0)
#define PPU_MAP_NO_ATOMICS (1u << 1)

/* `bytes` of zeros, rounded up to 64 KiB. NO_VRAM, NO_MEMORY. */
enum ppu_err ppu_memory_alloc(struct ppu_device *device, enum ppu_memory_kind kind, uint64_t bytes,
                              struct ppu_memory **out);
/* Makes the memory visible to a context at *va. BUSY when it already is; NO_VRAM when no page table can be had. */
enum ppu_err ppu_memory_map(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t *va);
/*
 * The same at an address of the caller's choice, 64 KiB aligned, for instance the host's own: NO_RESOURCE when
 * something is there already. From 2 MiB on large pages are used where the address allows it.
 */
enum ppu_err ppu_memory_map_at(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t va);
/* Takes it away; returns when no SM can reach it through this context any more. */
enum ppu_err ppu_memory_unmap(struct ppu_memory *memory, struct ppu_context *context);
/*
 * Unmaps it everywhere and frees it. An error means that the memory is kept until the device is closed; it is not
 * the caller's any more.
 */
enum ppu_err ppu_memory_free(struct ppu_memory *memory);

/* ppu_memory_alloc() and ppu_memory_map(), writable, in one step. */
enum ppu_err ppu_memory_create(struct ppu_context *context, enum ppu_memory_kind kind, uint64_t bytes,
                               struct ppu_memory **out);

void *ppu_memory_host(const struct ppu_memory *memory); /* first byte, as this process sees it */
uint64_t ppu_memory_bytes(const struct ppu_memory *memory);
/* Address in a context; va 0 when it is not mapped there. */
ppu_va_t ppu_memory_va(const struct ppu_memory *memory, const struct ppu_context *context);

/* ---- channel ---- */

struct ppu_channel_options {
    uint32_t entries;            /* PPU_GP_MIN_ENTRIES to PPU_GP_MAX_ENTRIES, any number; 0: 256 (A2) */
    uint32_t priority;           /* highest priority of its tasks (A3) */
    enum ppu_memory_kind memory; /* where ring, command blocks and task descriptors lie (A11) */
};

/* `options` may be NULL. */
enum ppu_err ppu_channel_create(struct ppu_context *context, const struct ppu_channel_options *options,
                                struct ppu_channel **out);
/* Ends what runs of it. */
enum ppu_err ppu_channel_destroy(struct ppu_channel *channel);
/* Ends what runs of it, empties the queue and clears its fault: the channel can be used again. */
enum ppu_err ppu_channel_reset(struct ppu_channel *channel);
/* The fault that stopped the channel; code PPU_OK when none did. Returns that code. */
enum ppu_err ppu_channel_error(struct ppu_channel *channel, struct ppu_error *error);
uint32_t ppu_channel_index(const struct ppu_channel *channel);
/* Makes the channel test again the semaphore it is parked on: after it was written by plain stores. */
void ppu_channel_ring(struct ppu_channel *channel);

/* ---- work queue ---- */

struct ppu_workqueue_options {
    uint32_t entries;     /* PPU_WORKQ_MIN_ENTRIES to PPU_WORKQ_MAX_ENTRIES, any number; 0: 1,024 */
    uint32_t block_bytes; /* of each entry's command block, a multiple of 64, 128 to 4,096; 0: 512 */
    uint32_t priority;    /* at most; tasks launched from it are capped by it */
    uint32_t first;       /* counter of the entry that GP_GET begins at (C1), below ppu_workq_period() */
};

/*
 * A queue that kernels launched by `channel` can put work into (C1 to C9). Its rounds are begun and waited for by
 * blocks of that channel, which must outlive it. `options` may be NULL. BAD_ARG, NO_VRAM, NO_RESOURCE.
 */
enum ppu_err ppu_workqueue_create(struct ppu_channel *channel, const struct ppu_workqueue_options *options,
                                  struct ppu_workqueue **out);
/* Ends what runs of it. */
enum ppu_err ppu_workqueue_destroy(struct ppu_workqueue *queue);
/* Ends what runs of it and clears its fault: the queue is empty, at its first round. A channel that waits for it fails.
 */
enum ppu_err ppu_workqueue_reset(struct ppu_workqueue *queue);
/* The fault that stopped it; code PPU_OK when none did. Returns that code. */
enum ppu_err ppu_workqueue_error(struct ppu_workqueue *queue, struct ppu_error *error);
struct ppu_sem;
/*
 * Sleeps until a thread's block has released `sem` to `value` or beyond, as two's-complement difference. The block
 * raises an interrupt behind the release (C6), which is what wakes. The queue's error when it faulted, TIMEOUT,
 * DEVICE_LOST.
 */
enum ppu_err ppu_workqueue_wait(struct ppu_workqueue *queue, const struct ppu_sem *sem, uint32_t value,
                                uint64_t timeout_ns);
/* Its address, for kernels (C7), and the same as this process sees it. */
ppu_va_t ppu_workqueue_va(const struct ppu_workqueue *queue);
struct ppu_workq *ppu_workqueue_shared(const struct ppu_workqueue *queue);
/* Number of its channel. */
uint32_t ppu_workqueue_channel(const struct ppu_workqueue *queue);

/* ---- event ---- */

/* A value: copy it freely; nothing to destroy. */
struct ppu_event {
    struct ppu_channel *channel;
    uint32_t value;
    uint32_t epoch; /* resets of the channel so far */
};

/*
 * Sleeps until the work before the event is done. The channel's error when it
 * faulted before, CANCELLED when the channel has been reset since, TIMEOUT (the work goes on), DEVICE_LOST.
 */
enum ppu_err ppu_event_wait(const struct ppu_event *event, uint64_t timeout_ns);
bool ppu_event_done(const struct ppu_event *event);

/* ---- program, kernel ---- */

/*
 * Copies a program image (ppu/image.h) to VRAM and maps it read-only. BAD_IMAGE,
 * BAD_ABI with a sentence in *error, which may be NULL. `image` is not kept.
 */
enum ppu_err ppu_program_load(struct ppu_context *context, const void *image, size_t bytes, struct ppu_program **out,
                              struct ppu_error *error);
enum ppu_err ppu_program_load_file(struct ppu_context *context, const char *path, struct ppu_program **out,
                                   struct ppu_error *error);
/*
 * Nothing of it may run. It is gone afterwards; an error means that its memory is kept, as by ppu_memory_free().
 */
enum ppu_err ppu_program_unload(struct ppu_program *program);
/* Where its code begins in its context; what is constant lies behind it. */
ppu_va_t ppu_program_code_va(const struct ppu_program *program);
/* Kernel of that name; it lives as long as the program. NOT_FOUND. */
enum ppu_err ppu_kernel_find(struct ppu_program *program, const char *name, const struct ppu_kernel **out);
struct ppu_launch;
struct ppu_tmd;
/* The task descriptor of a launch by a thread (B14), for the caller to put where threads can read it. The parameters
 * are given by the thread. BAD_ARG, also for kernels with local memory. */
enum ppu_err ppu_kernel_describe(const struct ppu_kernel *kernel, const struct ppu_launch *launch, struct ppu_tmd *out);

/* ---- launch ---- */

/* grid CTAs of cta threads; a zero in y or z counts as one. A cta of zeros: what the kernel was made for. */
struct ppu_launch {
    uint32_t grid[3];
    uint32_t cta[3];
    const void *params; /* laid out as a C structure: natural alignment; the library writes `facts` behind */
    uint32_t param_bytes;
    uint32_t shared_bytes;         /* a CTA, beside what the kernel declares */
    uint32_t priority;             /* capped by the channel's */
    uint64_t watchdog_ns;          /* 0: the device's */
    bool coresident;               /* all CTAs run at the same time and may wait for each other, or BAD_TMD */
    struct ppu_launch_facts facts; /* what a compiled kernel may ask; code_va is filled in, a work_dim of 0 too */
    const struct ppu_taskq *taskq; /* a CTA for each entry of it, and `grid` is not used; NULL: a grid (A6) */
    uint64_t addresses; /* bit n: 8 bytes at 8 n of the parameters are an address; what the kernel declares is added */
    uint32_t mode;      /* enum ppu_tmd_mode: of segments that leave it open (D6) */
    uint32_t miss_rate; /* PPU_MISS_*: what the warps are known to miss in the first-level cache (D8) */
};

/* ---- task queue ---- */

struct ppu_taskq_options {
    uint32_t entries;    /* a power of two, PPU_QUEUE_MIN_ENTRIES to PPU_QUEUE_MAX_ENTRIES; 0: 256 */
    uint32_t data_bytes; /* of an entry, rounded up to 16; at most PPU_QUEUE_MAX_ENTRY_BYTES - 16 */
};

/*
 * A circular queue in VRAM that host and threads feed while one queue task takes from it (queue.h). The task ends when
 * the queue is closed and every entry has been taken. NO_VRAM, NO_RESOURCE, BAD_ARG.
 */
enum ppu_err ppu_taskq_create(struct ppu_context *context, const struct ppu_taskq_options *options,
                              struct ppu_taskq **out);
/* BUSY, and nothing happens, while a task takes from it. */
enum ppu_err ppu_taskq_destroy(struct ppu_taskq *queue);
/* Address for kernels that feed it or take from it. */
ppu_va_t ppu_taskq_va(const struct ppu_taskq *queue);
/*
 * Appends an entry, from any thread. When the queue's task has to be told, `channel` does it: one of the same context,
 * which executes the method before anything that waits for that task. BUSY: the queue is full, or others have taken
 * every place that this call tried to take. CLOSED.
 */
enum ppu_err ppu_taskq_push(struct ppu_taskq *queue, struct ppu_channel *channel, const void *data, uint32_t bytes);
/* No entry can be appended any more. */
enum ppu_err ppu_taskq_close(struct ppu_taskq *queue, struct ppu_channel *channel);

/* ---- block ---- */

/*
 * Begins a command block for the channel. Methods are added in order; the first
 * error sticks and ppu_block_submit() returns it. NO_MEMORY.
 */
enum ppu_err ppu_block_begin(struct ppu_channel *channel, struct ppu_block **out);
/* Id that traces, faults and errors of this block repeat; never 0. */
uint32_t ppu_block_correlation(const struct ppu_block *block);
void ppu_block_launch(struct ppu_block *block, struct ppu_stream *stream, const struct ppu_kernel *kernel,
                      const struct ppu_launch *launch);
/* Launches a task descriptor that lies in memory of the context. `stream` as in method.def. */
void ppu_block_launch_tmd(struct ppu_block *block, ppu_va_t tmd, uint32_t stream);
void ppu_block_copy(struct ppu_block *block, ppu_va_t dst, ppu_va_t src, uint64_t bytes);
void ppu_block_acquire(struct ppu_block *block, ppu_va_t sem, uint32_t value, enum ppu_sem_compare compare);
void ppu_block_release(struct ppu_block *block, ppu_va_t sem, uint32_t value, bool with_time);
void ppu_block_wait_idle(struct ppu_block *block);
void ppu_block_interrupt(struct ppu_block *block);
/*
 * Lets the queue's next round begin when all that the channel was given before has ended, and waits for the round's end
 * (C2). The block is of the queue's channel, and has one such method at most: else BAD_ARG.
 */
void ppu_block_round(struct ppu_block *block, struct ppu_workqueue *queue);
/* Tells the queue's task that entries may have been published. */
void ppu_block_feed(struct ppu_block *block, const struct ppu_taskq *queue);
/* Any method with its data words. */
void ppu_block_method(struct ppu_block *block, uint32_t method, const uint32_t *words, uint32_t count);
/*
 * Queues the block and ends it, also when it fails. With `event`, a wait for idle, a
 * release and an interrupt are added to which the event belongs. A full queue is waited for,
 * for the device's timeout at most: then TIMEOUT, and nothing was queued.
 */
enum ppu_err ppu_block_submit(struct ppu_block *block, struct ppu_event *event);
void ppu_block_cancel(struct ppu_block *block);

/* ---- stream ---- */

/* Streams are free on the CPU; more than the context's TMDQs share them, which keeps the order of each (B3). */
enum ppu_err ppu_stream_create(struct ppu_channel *channel, struct ppu_stream **out);
/* Its tasks must have ended. It is gone afterwards, whatever is told of its memory. */
enum ppu_err ppu_stream_destroy(struct ppu_stream *stream);
uint32_t ppu_stream_index(const struct ppu_stream *stream);
/* One block with one launch. `event` may be NULL. */
enum ppu_err ppu_stream_launch(struct ppu_stream *stream, const struct ppu_kernel *kernel,
                               const struct ppu_launch *launch, struct ppu_event *event);
/* A copy after all that the channel was given before, and before all that follows. */
enum ppu_err ppu_stream_copy(struct ppu_stream *stream, ppu_va_t dst, ppu_va_t src, uint64_t bytes,
                             struct ppu_event *event);
/* Waits for all that the stream's channel was given so far. */
enum ppu_err ppu_stream_wait(struct ppu_stream *stream, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
