/* SPDX-License-Identifier: MIT */
/*
 * Declares libppu, the user-mode driver of the PPU.
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
 *   workq     a queue of work that threads fill (C1)
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
#include "ppu/sanitizer.h"
#include "ppu/sem.h"
#include "ppu/task.h"
#include "ppu/taskq.h"
#include "ppu/trace.h"
#include "ppu/why.h"
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
struct ppu_workq;
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

/* Describes an error in full. */
struct ppu_error {
    enum ppu_err code;
    struct ppu_error_record record;  /* what the firmware reported; record.code is 0 when it reported nothing */
    char text[PPU_ERROR_TEXT_BYTES]; /* a sentence: what, who, where */
};

/* Return the name of a code, as in ppu_error.def, and its sentence; never NULL. */
const char *ppu_error_name(enum ppu_err code);
const char *ppu_error_text(enum ppu_err code);
/* Return the name of a fault code as in fault.def ("?" when there is none), and libppu's error for it. */
const char *ppu_fault_name(uint32_t fault);
enum ppu_err ppu_fault_error(uint32_t fault);

/* ---- machine: QEMU as a child process, for programs that run beside it ---- */

struct ppu_machine_options {
    const char *launcher;   /* path of ppu-run; NULL: environment PPU_RUN, else the one built with libppu */
    uint32_t ppus;          /* 0: one */
    const char *const *ppu; /* properties of each PPU, "sms=8,slots=16"; NULL: defaults */
    uint64_t vram_bytes;    /* of each PPU, a power of two; 0: 512 MiB */
    uint64_t ram_bytes;     /* system memory; 0: 256 MiB */
    bool test_hooks;
    const char *const *launcher_args; /* more arguments for ppu-run, NULL at the end; NULL: none */
};

/*
 * Starts a machine without a guest. The machine ends with this process, however that ends, and with the thread that
 * made this call. Otherwise ppu_machine_stop() ends it after its devices were closed. `error` may be NULL.
 */
enum ppu_err ppu_machine_start(const struct ppu_machine_options *options, struct ppu_machine **out,
                               struct ppu_error *error);
void ppu_machine_stop(struct ppu_machine *machine);
/* Makes a transport to PPU number `index` (A8), for ppu_device_open(). */
enum ppu_err ppu_machine_transport(struct ppu_machine *machine, uint32_t index, struct ppu_transport **out,
                                   struct ppu_error *error);

/* ---- vfio: a PPU of this Linux machine ---- */

/* Returns true when there is one, whether it can be opened or not. */
bool ppu_vfio_present(void);
/*
 * Makes a transport to the PPU at a PCI address, "0000:00:01.0", or to the first free one when `address` is NULL. The
 * PPU must be bound to vfio-pci. Errors: NO_DEVICE; BUSY: another process has it, and the sentence says which;
 * TRANSPORT: the sentence says what is wrong and, where the user can help, what to do. `error` may be NULL.
 */
enum ppu_err ppu_vfio_transport(const char *address, struct ppu_transport **out, struct ppu_error *error);

/*
 * Without a driver and without an IOMMU, as root: interrupts are looked for, system memory is huge pages
 * (/proc/sys/vm/nr_hugepages), and the PPU reaches all memory of the machine. NULL: the first PPU without a driver.
 */
enum ppu_err ppu_pci_transport(const char *address, struct ppu_transport **out, struct ppu_error *error);
/* ---- vfio-user: a PPU of a machine that runs already ---- */

/*
 * Makes a transport to the PPU that `ppu-run --vfio-user PATH` serves. This process has it to itself until the device
 * is closed. Errors: BUSY: another client has it; TRANSPORT: the sentence says what is wrong. `error` may be NULL.
 */
enum ppu_err ppu_vfio_user_transport(const char *path, struct ppu_transport **out, struct ppu_error *error);

/* ---- device ---- */

struct ppu_device_options {
    const char *firmware; /* image file; NULL: environment PPU_FIRMWARE, else the one built with libppu */
    uint64_t timeout_ns;  /* bound of every wait that has none of its own; 0: 10 s */
};

/* Says where a function is on PCI. */
struct ppu_pci_address {
    uint32_t domain, bus, device, function;
};

/* Holds what the identity registers and the firmware report (A1). */
struct ppu_device_info {
    uint32_t abi_major, abi_minor, isa_version, features, instance;
    uint64_t vram_bytes;
    uint32_t channels, contexts, slots, gpcs, sms, sm_warps, sm_ctas, sm_vregs, sm_shared, vectors;
    uint32_t streams; /* of a context, at most */
    uint32_t tasks;
    uint32_t mode_vregs; /* threshold that the device has for compilers (D9): register MODE_VREGS when it was opened */
    uint8_t build_id[20];
    struct ppu_pci_address pci; /* in its machine: this one, or that of a native device */
};

/*
 * Resets the PPU, loads and starts its firmware, and shakes hands. The transport belongs to the device from now on,
 * also after a failure. `options` and `error` may be NULL.
 */
enum ppu_err ppu_device_open(struct ppu_transport *transport, const struct ppu_device_options *options,
                             struct ppu_device **out, struct ppu_error *error);
/*
 * Opens a PPU by default rules. The environment variable PPU_DEVICE says which: "vfio" is the first of this machine
 * that is free, "vfio:ADDRESS" the one at an address, "native" one in a machine of its own. Without the variable it is
 * vfio when there is one, else native.
 */
enum ppu_err ppu_open(struct ppu_device **out, struct ppu_error *error);

/* Names the files that are used where the environment names none; NULL: the defaults. */
struct ppu_open_options {
    const char *launcher; /* PPU_RUN */
    const char *firmware; /* PPU_FIRMWARE */
};

/* Does ppu_open() for a library that does not know where its program was started. `options`, `error` may be NULL. */
enum ppu_err ppu_open_with(const struct ppu_open_options *options, struct ppu_device **out, struct ppu_error *error);
/* Ends everything that runs and holds the MCU. Objects of the device must have been destroyed. */
void ppu_device_close(struct ppu_device *device);

const struct ppu_device_info *ppu_device_info(const struct ppu_device *device);
/* Returns the bytes of VRAM that can be allocated while none are. */
uint64_t ppu_device_heap_bytes(const struct ppu_device *device);
/*
 * Tells whether ppu_memory_map_at() can give memory in VRAM its host address: that is aligned to pages of the PPU, and
 * lies below the windows of shared and local memory.
 */
bool ppu_device_shares_addresses(const struct ppu_device *device);
/* Reads one value (key.def). `object` is a channel or context number, 0 where the key has none. */
enum ppu_err ppu_device_query(struct ppu_device *device, enum ppu_key key, uint32_t object, uint64_t *value);
/*
 * Sets a policy of the scheduler or of the SMs, for the whole device (policy.def); ppu_device_query() with
 * PPU_KEY_POLICY reads it. PPU_ERR_BAD_ARG: there is none, or it cannot have this value (A4, A5, D8, D9, E7).
 */
enum ppu_err ppu_device_policy(struct ppu_device *device, enum ppu_policy policy, uint32_t value);
/*
 * Sets how much of a shared resource (resource.def) a context may have, from 1 to all. At first it may have all.
 * ppu_device_query() with PPU_KEY_CONTEXT_HELD or PPU_KEY_CONTEXT_QUOTA, and PPU_RESOURCE_OBJECT(), reads it.
 */
enum ppu_err ppu_context_quota(struct ppu_context *context, enum ppu_resource resource, uint32_t most);
/* Copies the latest error that the device reported; its code is PPU_OK when there was none. */
void ppu_device_error(struct ppu_device *device, struct ppu_error *error);
/* Counts the errors reported since the device was opened. */
uint64_t ppu_device_error_count(struct ppu_device *device);
/* Reads the virtual clock of the device in ns. */
uint64_t ppu_device_time_ns(struct ppu_device *device);

/* ---- trace ---- */

/* Names the flight recorders (trace.h) by who writes them, and so by which records are in them. */
enum ppu_trace_source {
    PPU_TRACE_OF_FIRMWARE = 0,
    PPU_TRACE_OF_DEVICE = 1,
};

/* Returns the number of the next record that the recorder will get; numbers begin at 0 and are modulo 2^32. */
uint32_t ppu_trace_next(const struct ppu_device *device, enum ppu_trace_source source);
/*
 * Copies records from number *number on, at most `count`, in order, and sets *number to the one after the last copied.
 * Records that were overwritten before they could be read are left out. Returns how many were copied.
 */
uint32_t ppu_trace_read(const struct ppu_device *device, enum ppu_trace_source source, uint32_t *number,
                        struct ppu_trace_record *records, uint32_t count);

/* ---- recorder of the program ---- */

/*
 * The library records what the program does while a tool wants it (recorder.h): submissions, launches and doorbells by
 * itself, anything else by these calls. A record has the time of CLOCK_MONOTONIC. True: a tool listens.
 */
bool ppu_record_wanted(void);
/* Returns the number of a name in the recorder; the same name has the same number. 0: there is no room for it. */
uint32_t ppu_record_name(const char *text);
/* Writes a record when a tool wants it. `type` and what the ids mean: trace.def, types of the program. */
void ppu_record(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1, uint32_t id2);
/* Returns the number of the device in records of the program. */
uint32_t ppu_device_recorded(const struct ppu_device *device);

/* ---- context ---- */

/*
 * Creates an address space. It takes VRAM for what the SMs hold, 3.3 MiB on the default machine, so that its CTAs can
 * be saved when others need the SMs (save.h). Errors: NO_VRAM, NO_RESOURCE.
 */
enum ppu_err ppu_context_create(struct ppu_device *device, struct ppu_context **out);
/*
 * Destroys a context and unmaps what is mapped. While it has channels, this returns BUSY and does nothing.
 *
 * Here and below, the object still exists after an error of a ..._destroy() other than DEVICE_LOST.
 */
enum ppu_err ppu_context_destroy(struct ppu_context *context);
uint32_t ppu_context_id(const struct ppu_context *context);

/* Sizes what is preallocated for threads that launch tasks (B3). Zeros are replaced by defaults. */
struct ppu_nest_options {
    uint32_t tasks; /* tasks launched by threads that can be pending at once, a power of two, 64 to 4,096; 0: 1,024 */
    uint32_t depth; /* of the deepest grid, at most 288; 0: 24 */
    uint32_t state_bytes; /* state of a CTA that may wait, at most, up to 16 MiB; 0: 64 KiB */
    uint32_t ctas;        /* CTAs of such a task that can have begun at once, at most 64; 0: 16 */
    uint32_t save_bytes;  /* VRAM for the states of all, at least depth * state_bytes; 0: depth * ctas * state_bytes,
                             but no more than a sixteenth of the device's, or twice the least */
    uint32_t heap_bytes;  /* VRAM that threads can take pieces of (heap.h), at most PPU_HEAP_MAX_BYTES; 0: none */
    ppu_va_t enqueue_va;  /* a struct ppu_enqueue (child.h) for compiled kernels that enqueue; 0: there is none */
};
/*
 * Lets threads of the context launch tasks and wait for them. It is called once, before the first such kernel is
 * launched. `options` may be NULL. It takes tasks * 1 KiB, 28 KiB, save_bytes and heap_bytes of VRAM. Each depth has
 * room for the state of one CTA; the rest is for whatever task begins next, as much as its CTAs need: with less left it
 * has fewer of them at once, with none it waits for another. Errors: NO_VRAM, NO_RESOURCE, BUSY (already done),
 * BAD_ARG.
 */
enum ppu_err ppu_context_nest(struct ppu_context *context, const struct ppu_nest_options *options);
/*
 * Joins free pieces of the heap that threads take from, so that those of small tasks serve large ones, when more than
 * half of it has been in pieces. The caller sees to it that no launch which may take from it is in flight.
 */
void ppu_context_join_heap(struct ppu_context *context);

/* ---- memory ---- */

enum ppu_memory_kind {
    PPU_MEMORY_VRAM = 0,
    PPU_MEMORY_SYSTEM = 1,
};

#define PPU_MAP_READ_ONLY (1u << 0)
#define PPU_MAP_NO_ATOMICS (1u << 1)

/* Allocates `bytes` of zeros, rounded up to 64 KiB. Errors: NO_VRAM, NO_MEMORY. */
enum ppu_err ppu_memory_alloc(struct ppu_device *device, enum ppu_memory_kind kind, uint64_t bytes,
                              struct ppu_memory **out);
/* Maps the memory into a context at *va. Errors: BUSY: it is already mapped; NO_VRAM: no page table is left. */
enum ppu_err ppu_memory_map(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t *va);
/*
 * Maps the memory at an address that the caller chooses, for instance the host's own. The address is 64 KiB aligned.
 * NO_RESOURCE: something is mapped there. From 2 MiB on, large pages are used where the address allows it.
 */
enum ppu_err ppu_memory_map_at(struct ppu_memory *memory, struct ppu_context *context, uint32_t flags, ppu_va_t va);
/* Unmaps the memory; returns when no SM can reach it through this context any more. */
enum ppu_err ppu_memory_unmap(struct ppu_memory *memory, struct ppu_context *context);
/*
 * Unmaps the memory everywhere and frees it. After an error the memory is kept until the device is closed, and the
 * caller does not own it any more.
 */
enum ppu_err ppu_memory_free(struct ppu_memory *memory);

/*
 * Makes VRAM of another device that this process has open, reachable for this one over the bus, without the host
 * between them. What comes out is memory of `device`, to be mapped there like system memory, and freed before `of` is.
 * NO_RESOURCE: there is no way between the two, as when they are in different machines.
 */
enum ppu_err ppu_memory_of_peer(struct ppu_device *device, const struct ppu_memory *of, struct ppu_memory **out);

/* Does ppu_memory_alloc() and ppu_memory_map(), writable, in one step. */
enum ppu_err ppu_memory_create(struct ppu_context *context, enum ppu_memory_kind kind, uint64_t bytes,
                               struct ppu_memory **out);

void *ppu_memory_host(const struct ppu_memory *memory); /* first byte, as this process sees it */
uint64_t ppu_memory_bytes(const struct ppu_memory *memory);
/* Returns the address in a context; va is 0 when the memory is not mapped there. */
ppu_va_t ppu_memory_va(const struct ppu_memory *memory, const struct ppu_context *context);
/* True when some memory is mapped at one of the bytes at least. */
bool ppu_context_maps(const struct ppu_context *context, ppu_va_t va, uint64_t bytes);

/* ---- channel ---- */

struct ppu_channel_options {
    uint32_t entries;            /* PPU_GP_MIN_ENTRIES to PPU_GP_MAX_ENTRIES, any number; 0: 256 (A2) */
    uint32_t priority;           /* highest priority of its tasks (A3) */
    enum ppu_memory_kind memory; /* where ring, command blocks and task descriptors lie (A11) */
};

/* Creates a channel. `options` may be NULL. */
enum ppu_err ppu_channel_create(struct ppu_context *context, const struct ppu_channel_options *options,
                                struct ppu_channel **out);
/* Ends the work of the channel and destroys it. */
enum ppu_err ppu_channel_destroy(struct ppu_channel *channel);
/* Ends the work of the channel, empties its queue and clears its fault. The channel can be used again. */
enum ppu_err ppu_channel_reset(struct ppu_channel *channel);
/* Copies the fault that stopped the channel, with the code PPU_OK when none did. Returns that code. */
enum ppu_err ppu_channel_error(struct ppu_channel *channel, struct ppu_error *error);
uint32_t ppu_channel_index(const struct ppu_channel *channel);
/* Makes the channel test the semaphore it is parked on again, after plain stores wrote it. */
void ppu_channel_ring(struct ppu_channel *channel);

/* ---- work queue ---- */

struct ppu_workq_options {
    uint32_t entries;     /* PPU_WORKQ_MIN_ENTRIES to PPU_WORKQ_MAX_ENTRIES, any number; 0: 1,024 */
    uint32_t block_bytes; /* of each entry's command block, a multiple of 64, 128 to 4,096; 0: 512 */
    uint32_t priority;    /* at most; tasks launched from it are capped by it */
    uint32_t first;       /* counter of the entry that GP_GET begins at (C1), below ppu_workq_period() */
};

/*
 * Creates a queue that kernels launched by `channel` can put work into (C1 to C9). Blocks of that channel begin its
 * rounds and wait for them. The channel must outlive the queue. `options` may be NULL. Errors: BAD_ARG, NO_VRAM,
 * NO_RESOURCE.
 */
enum ppu_err ppu_workq_create(struct ppu_channel *channel, const struct ppu_workq_options *options,
                              struct ppu_workq **out);
/* Ends the work of the queue and destroys it. */
enum ppu_err ppu_workq_destroy(struct ppu_workq *queue);
/* Ends the work of the queue, empties it and clears its fault. A channel that waits for it fails. */
enum ppu_err ppu_workq_reset(struct ppu_workq *queue);
/* Copies the fault that stopped the queue, with the code PPU_OK when none did. Returns that code. */
enum ppu_err ppu_workq_error(struct ppu_workq *queue, struct ppu_error *error);
struct ppu_sem;
/*
 * Sleeps until a thread's block has released `sem` to `value` or beyond, by two's-complement difference. The block must
 * raise an interrupt after the release (C6), which wakes the caller. Errors: the queue's when it faulted, TIMEOUT,
 * DEVICE_LOST.
 */
enum ppu_err ppu_workq_wait(struct ppu_workq *queue, const struct ppu_sem *sem, uint32_t value, uint64_t timeout_ns);
/* Return the queue's address for kernels (C7), and its address in this process. */
ppu_va_t ppu_workq_va(const struct ppu_workq *queue);
struct ppu_workq_head *ppu_workq_shared(const struct ppu_workq *queue);
/* Returns the number of the queue's channel. */
uint32_t ppu_workq_channel(const struct ppu_workq *queue);

/* ---- event ---- */

/* Names a point in the work of a channel or of a stream. An event is a value: it may be copied, and need not be
 * destroyed. */
struct ppu_event {
    struct ppu_channel *channel;
    uint32_t value;
    uint32_t epoch;              /* resets of the channel so far */
    const struct ppu_sem *fence; /* counts up to the value; a channel's or a stream's */
    ppu_va_t fence_va;           /* in the channel's context */
};

/*
 * Sleeps until the work before the event is done. Errors: the channel's when it faulted before; CANCELLED: the channel
 * has been reset since; TIMEOUT: the work goes on; DEVICE_LOST.
 */
enum ppu_err ppu_event_wait(const struct ppu_event *event, uint64_t timeout_ns);
bool ppu_event_done(const struct ppu_event *event);
/*
 * Says in a sentence how far the work before the event is, and returns what ppu_event_wait() would without waiting. Of
 * TIMEOUT the sentence says what the channel waits for, and why its oldest task does not run. `error` may be NULL.
 */
enum ppu_err ppu_event_error(const struct ppu_event *event, struct ppu_error *error);

/* ---- why ---- */

/*
 * Say why a task does not run, or what a channel waits for (why.def), as of now. `task` is a handle, as the flight
 * recorders and ppu-top name it. Errors: DEVICE_LOST; INTERNAL: the firmware does not show its state.
 */
enum ppu_err ppu_task_why(struct ppu_device *device, uint32_t task, struct ppu_why *why);
enum ppu_err ppu_channel_why(struct ppu_channel *channel, struct ppu_why *why);

/* ---- program, kernel ---- */

/*
 * Copies a program image (ppu/image.h) to VRAM and maps it read-only. `image` is not kept. BAD_IMAGE and BAD_ABI come
 * with a sentence in *error, which may be NULL.
 */
enum ppu_err ppu_program_load(struct ppu_context *context, const void *image, size_t bytes, struct ppu_program **out,
                              struct ppu_error *error);
enum ppu_err ppu_program_load_file(struct ppu_context *context, const char *path, struct ppu_program **out,
                                   struct ppu_error *error);
/* Unloads a program of which nothing runs. After an error its memory is kept, as by ppu_memory_free(). */
enum ppu_err ppu_program_unload(struct ppu_program *program);
/* Tells a tool that profiles the program the text that it was made of (ppu-prof). It is not kept. */
void ppu_program_source(const struct ppu_program *program, const char *text, size_t bytes);
/* Returns where the program's code begins in its context; constant data follows the code. */
ppu_va_t ppu_program_code_va(const struct ppu_program *program);
/* Finds the kernel of that name, which lives as long as the program. NOT_FOUND: there is none. */
enum ppu_err ppu_kernel_find(struct ppu_program *program, const char *name, const struct ppu_kernel **out);
struct ppu_launch;
struct ppu_tmd;
/*
 * Makes the task descriptor of a launch by a thread (B14). The caller puts it where threads can read it; the thread
 * gives the parameters. BAD_ARG, also for kernels with local memory.
 */
enum ppu_err ppu_kernel_describe(const struct ppu_kernel *kernel, const struct ppu_launch *launch, struct ppu_tmd *out);
/*
 * Returns how many CTAs of a launch the SMs hold at once when nothing else runs, as warps, registers and shared memory
 * let (D4). CTAs of a kernel that may share registers share them when the launch's mode says so, and have their own
 * otherwise. 0: not one, or there is no such launch.
 */
uint32_t ppu_kernel_resident(const struct ppu_kernel *kernel, const struct ppu_launch *launch);

/* ---- launch ---- */

/* The threads whose children a thread of the launch waits for (B3). */
enum ppu_launch_group {
    PPU_LAUNCH_GROUP_KERNEL =
        0, /* as the kernel says: those of the grid, or of the CTA where it is compiled OpenCL C */
    PPU_LAUNCH_GROUP_GRID = 1,
    PPU_LAUNCH_GROUP_CTA = 2, /* the kernel must be one that may wait, or BAD_ARG */
};

/* Describes a launch of `grid` CTAs of `cta` threads. A zero in y or z counts as one. A cta of zeros: the kernel's. */
struct ppu_launch {
    uint32_t grid[3];
    uint32_t cta[3];
    uint32_t edge[3];   /* threads of the last CTA in x, y, z, at most cta, or BAD_TMD; 0: as many as cta */
    const void *params; /* laid out as a C structure: natural alignment; the library writes `implicit` behind */
    uint32_t param_bytes;
    uint32_t shared_bytes;             /* a CTA, beside what the kernel declares */
    uint32_t priority;                 /* capped by the channel's */
    uint64_t watchdog_ns;              /* time limit, at most an hour; 0: as PPU_WATCHDOG_MS says, else none */
    bool head;                         /* before those of its priority that wait for a slot (A4) */
    bool coresident;                   /* all CTAs run at the same time and may wait for each other, or BAD_TMD */
    struct ppu_implicit_args implicit; /* what a compiled kernel may ask; code_va is filled in, a work_dim of 0 too */
    const struct ppu_taskq *taskq;     /* a CTA for each entry of it, and `grid` is not used; NULL: a grid (A6) */
    uint64_t arguments_va; /* of the block of arguments of a kernel that has one (image.h); the launch reads it until it
                            * has ended; BAD_ARG when it is not PPU_BLOCK_ALIGN-aligned; else 0 */
    uint64_t addresses; /* bit n: 8 bytes at 8 n of the parameters are an address; what the kernel declares is added */
    uint32_t group;     /* enum ppu_launch_group */
    uint32_t mode;      /* enum ppu_tmd_mode: of segments that leave it open (D6) */
    uint32_t miss_rate; /* PPU_MISS_*: what the warps are known to miss in the first-level cache (D8) */
};

/* ---- kernels that check themselves ---- */

/* Where the source does something, as far as the image says. Texts are cut, and have no control characters. */
struct ppu_sanitizer_site {
    char check[16];  /* a word of sanitizer.def */
    char action[48]; /* "load", "store" ..., or the name of a built-in function */
    uint32_t bytes;  /* of the access; 0: it varies; of an argument: enum ppu_sanitizer_number */
    char file[200];
    uint32_t line, column; /* 0: not known */
    char kernel[200];
    char object[200]; /* "argument 0", "local variable 'tile'" ..., or what is wrong with an argument */
};

/* What a kernel compiled with -fsanitize= found: a record of its printf buffer (docs/spec/sanitizers.md). */
struct ppu_sanitizer_report {
    struct ppu_sanitizer_site site;
    uint64_t address;      /* virtual; of shared and local memory an offset; of an argument the first number */
    uint64_t base;         /* of the object, or of the range that nothing may reach, or the second number */
    uint64_t object_bytes; /* of the same */
    uint64_t value;        /* bits that were to be stored; 0 also where they are not known */
    uint64_t global_id[3];
    uint32_t local_id[3], work_group[3];
    bool other_launch; /* the other side is of another launch; not in a record */
    bool has_other;    /* there are two sides, and this is the other one: */
    struct ppu_sanitizer_site other;
    uint32_t other_local_id[3], other_work_group[3];
};

/* True for the format of a report, which is never printed as it stands. */
bool ppu_sanitizer_is_report(const char *format);
/*
 * Reads a record: the number of its format and the `count` words behind it. False: it is no report, or malformed. The
 * image and the words may hold anything.
 */
bool ppu_sanitizer_read(const struct ppu_program_view *view, uint32_t format, const uint32_t *words, uint32_t count,
                        struct ppu_sanitizer_report *report);

/* ---- task queue ---- */

struct ppu_taskq_options {
    uint32_t entries;    /* a power of two, PPU_TASKQ_MIN_ENTRIES to PPU_TASKQ_MAX_ENTRIES; 0: 256 */
    uint32_t data_bytes; /* of an entry, rounded up to 16; at most PPU_TASKQ_MAX_ENTRY_BYTES - 16 */
};

/*
 * Creates a circular queue in VRAM that host and threads feed while one queue task takes from it (ppu/taskq.h). The
 * task ends when the queue is closed and every entry has been taken. Errors: NO_VRAM, NO_RESOURCE, BAD_ARG.
 */
enum ppu_err ppu_taskq_create(struct ppu_context *context, const struct ppu_taskq_options *options,
                              struct ppu_taskq **out);
/* Destroys the queue. While a task takes from it, this returns BUSY and does nothing. */
enum ppu_err ppu_taskq_destroy(struct ppu_taskq *queue);
/*
 * Empties the queue and opens it again, for another task. Nobody may append meanwhile: what had a cell is lost. A task
 * whose launch has not begun yet takes from the queue as it is afterwards. BUSY: a task takes from it.
 */
enum ppu_err ppu_taskq_reopen(struct ppu_taskq *queue);
/* Returns the queue's address for kernels that feed it or take from it. */
ppu_va_t ppu_taskq_va(const struct ppu_taskq *queue);
/*
 * Appends an entry, from any thread. When the queue's task must be notified, `channel` does it. That is a channel of
 * the same context, which executes the method before anything that waits for that task. Errors: BUSY: the queue is
 * full, or others have taken every cell that this call tried to take; CLOSED.
 */
enum ppu_err ppu_taskq_push(struct ppu_taskq *queue, struct ppu_channel *channel, const void *data, uint32_t bytes);
/* Closes the queue: no entry can be appended any more. */
enum ppu_err ppu_taskq_close(struct ppu_taskq *queue, struct ppu_channel *channel);

/* ---- block ---- */

/*
 * Begins a command block for the channel. Methods are added in order. The first error is kept, and ppu_block_submit()
 * returns it. Error: NO_MEMORY.
 */
enum ppu_err ppu_block_begin(struct ppu_channel *channel, struct ppu_block **out);
/* Returns the id that traces, faults and errors of this block repeat; never 0. */
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
 * (C2). The block belongs to the queue's channel and has at most one such method; otherwise BAD_ARG.
 */
void ppu_block_round(struct ppu_block *block, struct ppu_workq *queue);
/* Notifies the queue's task that entries may have been published. */
void ppu_block_feed(struct ppu_block *block, const struct ppu_taskq *queue);
/*
 * What is added from here to ppu_block_commands_end() is a task of the stream (B15): copies, fills, semaphore
 * operations, interrupts, launches into that stream, in any number. They are executed one after the other when the
 * stream has come to them, and the stream goes on when the last has ended. The channel does not wait for them. Each
 * launch but the first begins another task of the stream, and so does what a task with a launch has no room for.
 * Anything else in between is BAD_ARG.
 */
void ppu_block_commands(struct ppu_block *block, struct ppu_stream *stream);
void ppu_block_commands_end(struct ppu_block *block);
/* Only among commands. The address and `bytes` are multiples of 4. */
void ppu_block_fill(struct ppu_block *block, ppu_va_t dst, uint32_t word, uint64_t bytes);
/* Adds any method with its data words. */
void ppu_block_method(struct ppu_block *block, uint32_t method, const uint32_t *words, uint32_t count);
/*
 * Queues the block and frees it, also when it fails. With `event`, it adds a wait for idle, a release and an interrupt,
 * which make up the event. While the queue is full, it waits for the device's timeout at most. TIMEOUT: nothing was
 * queued.
 */
enum ppu_err ppu_block_submit(struct ppu_block *block, struct ppu_event *event);
void ppu_block_cancel(struct ppu_block *block);

/* ---- stream ---- */

/*
 * Creates a stream, which has a TMDQ for itself (B2): what is launched into others holds it up nowhere. A context has
 * as many as memory allows, 65,535 at most. Errors: NO_MEMORY, NO_VRAM, NO_RESOURCE.
 */
enum ppu_err ppu_stream_create(struct ppu_channel *channel, struct ppu_stream **out);
/* Destroys a stream whose tasks have ended. The stream is gone afterwards, also after an error about its memory. */
enum ppu_err ppu_stream_destroy(struct ppu_stream *stream);
uint32_t ppu_stream_index(const struct ppu_stream *stream);
/*
 * Each of these is a task of the stream (B15): it is done after all that the stream was given before, and before all
 * that follows there. Neither the channel nor another stream waits for it. `event` may be NULL; it is the stream's: the
 * work before it is what the stream was given. Errors: NO_MEMORY, NO_VRAM, BAD_ARG, TIMEOUT as ppu_block_submit().
 */
enum ppu_err ppu_stream_launch(struct ppu_stream *stream, const struct ppu_kernel *kernel,
                               const struct ppu_launch *launch, struct ppu_event *event);
enum ppu_err ppu_stream_copy(struct ppu_stream *stream, ppu_va_t dst, ppu_va_t src, uint64_t bytes,
                             struct ppu_event *event);
enum ppu_err ppu_stream_fill(struct ppu_stream *stream, ppu_va_t dst, uint32_t word, uint64_t bytes,
                             struct ppu_event *event);
/* The stream goes on when the semaphore's payload passes. */
enum ppu_err ppu_stream_acquire(struct ppu_stream *stream, ppu_va_t sem, uint32_t value, enum ppu_sem_compare compare);
enum ppu_err ppu_stream_release(struct ppu_stream *stream, ppu_va_t sem, uint32_t value, bool with_time);
/* An event of what the stream was given so far. */
enum ppu_err ppu_stream_event(struct ppu_stream *stream, struct ppu_event *event);
/*
 * Lets the stream go on when the work before the event, which is of the same context, is done. Neither the channel nor
 * another stream waits for it. When the event's channel ends it by a fault or a reset, the stream stands there until
 * its own channel is reset. Errors: as above; BAD_ARG: the event is of another context; of an event that will never
 * happen those of ppu_event_wait().
 */
enum ppu_err ppu_stream_wait_event(struct ppu_stream *stream, const struct ppu_event *event);
/* Waits for all that the stream was given so far, at most `timeout_ns`. */
enum ppu_err ppu_stream_wait(struct ppu_stream *stream, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
