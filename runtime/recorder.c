/* SPDX-License-Identifier: MIT */
#include "runtime/recorder.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/recorder.h"
#include "runtime/deadline.h"
#include "runtime/device.h"
#include "runtime/profile.h"
#include "runtime/program.h"
#include "runtime/shared.h"

#define CLOCK_READS 4u
#define CLOCK_READS_WATCHED 32u /* when the tool is there that started the process */
#define TOOL_SAYS_MS 20000      /* a tool that has said nothing for so long is not there any more */

static struct {
    pthread_once_t once;
    struct ppu_recorder *file; /* NULL: there is none */
    int fd;
    int tool;             /* socket to the tool that started this process; -1: none */
    pthread_mutex_t lock; /* of names, devices and the socket */
} recorder = { .once = PTHREAD_ONCE_INIT, .fd = -1, .tool = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the tool that started this process ---- */

/* True: the tool has done what it was told. */
static bool await_tool(void)
{
    struct pollfd answer = { .fd = recorder.tool, .events = POLLIN };
    uint8_t said = PPU_RECORDER_WORKS;

    while (said == PPU_RECORDER_WORKS) {
        if (poll(&answer, 1, TOOL_SAYS_MS) != 1 || recv(recorder.tool, &said, 1, 0) != 1) {
            return false;
        }
    }
    return said == PPU_RECORDER_DONE;
}

static bool send_file(const struct ppu_recorder_message *message, int fd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
    struct iovec text = { (void *)(uintptr_t)message, sizeof(*message) };
    struct msghdr header = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
    };

    memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
    return sendmsg(recorder.tool, &header, MSG_NOSIGNAL) == (ssize_t)sizeof(*message) && await_tool();
}

/* A tool that does not answer is not asked again. */
static void tell_tool(enum ppu_recorder_message_kind kind, uint32_t device, int fd)
{
    const struct ppu_recorder_message message = { kind, device };

    if (recorder.tool >= 0 && fd >= 0 && !send_file(&message, fd)) {
        close(recorder.tool);
        recorder.tool = -1;
    }
}

static void find_tool(void)
{
    const char *path = secure_getenv("PPU_TRACE");
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (!path || strlen(path) >= sizeof(address.sun_path)) {
        return;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    recorder.tool = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (recorder.tool >= 0 && connect(recorder.tool, (const void *)&address, sizeof(address)) != 0) {
        close(recorder.tool);
        recorder.tool = -1;
    }
    tell_tool(PPU_RECORDER_HELLO, 0, recorder.fd);
}

/* ---- the file ---- */

static void fill_file(struct ppu_recorder *file)
{
    file->head = (struct ppu_struct_header){ PPU_RECORDER_VERSION, PPU_RECORDER_HEAD_BYTES };
    file->pid = (uint32_t)getpid();
    file->names_used = sizeof(struct ppu_recorder_name);
    file->ring.head = (struct ppu_struct_header){ PPU_TRACE_VERSION, sizeof(struct ppu_trace_record) };
    file->ring.size = PPU_RECORDER_RECORDS;
    shared_store_release(&file->magic, PPU_RECORDER_MAGIC); /* partner: the tool that finds the file in /proc */
}

static void make_recorder(void)
{
    int fd = memfd_create(PPU_RECORDER_FILE, MFD_CLOEXEC);
    void *file = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(struct ppu_recorder)) == 0) {
        file = mmap(NULL, sizeof(struct ppu_recorder), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (file == MAP_FAILED) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    fill_file(file);
    recorder.fd = fd;
    recorder.file = file;
    find_tool();
}

static struct ppu_recorder *file_of_process(void)
{
    pthread_once(&recorder.once, make_recorder);
    return recorder.file;
}

/* ---- records ---- */

bool ppu_record_wanted(void)
{
    const struct ppu_recorder *file = file_of_process();
    /* Partner: the tool's store, of which only the value counts. */
    uint64_t until_ns = file ? __atomic_load_n(&file->wanted_until_ns, __ATOMIC_RELAXED) : 0;

    return until_ns != 0 && clock_ns() < until_ns;
}

static void put_record(struct ppu_recorder *file, const struct ppu_trace_record *record)
{
    uint32_t number = __atomic_fetch_add(&file->ring.tail, 1, __ATOMIC_RELAXED);
    struct ppu_trace_record *to = &file->record[number % PPU_RECORDER_RECORDS];
    uint32_t words[sizeof(*record) / sizeof(uint32_t)];

    memcpy(words, record, sizeof(words));
    __atomic_store_n(&to->sequence, PPU_TRACE_TORN(number), __ATOMIC_RELAXED);
    /* A reader that sees a new word sees the torn sequence too, hence each store is a release. */
    for (uint32_t i = 0; i < offsetof(struct ppu_trace_record, sequence) / sizeof(words[0]); i++) {
        shared_store_release(&((uint32_t *)(void *)to)[i], words[i]);
    }
    shared_store_release(&to->sequence, number); /* partner: the reader's first look at it */
}

void ppu_record(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1, uint32_t id2)
{
    struct ppu_recorder *file = file_of_process();

    if (file && ppu_record_wanted()) {
        const struct ppu_trace_record record = {
            .version = PPU_TRACE_VERSION,
            .size_bytes = sizeof(record),
            .type = (uint16_t)type,
            .correlation = correlation,
            .time_ns = clock_ns(),
            .id = { id0, id1, id2 },
        };
        put_record(file, &record);
    }
}

/* ---- names ---- */

static uint32_t bucket_of(const char *text, uint32_t bytes)
{
    uint32_t hash = 2166136261u;

    for (uint32_t i = 0; i < bytes; i++) {
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    }
    return hash % PPU_RECORDER_BUCKETS;
}

/* With the lock. 0: no name of the bucket is this one. */
static uint32_t find_name(const struct ppu_recorder *file, uint32_t bucket, const char *text, uint32_t bytes)
{
    for (uint32_t at = file->bucket[bucket]; at != 0;) {
        const struct ppu_recorder_name *name = (const void *)(file->names + at);
        if (name->bytes == bytes && memcmp(name->text, text, bytes) == 0) {
            return at;
        }
        at = name->next;
    }
    return 0;
}

/* With the lock. 0: the area is full. */
static uint32_t add_name(struct ppu_recorder *file, uint32_t bucket, const char *text, uint32_t bytes)
{
    uint32_t at = file->names_used;
    uint32_t used = at + ppu_align_up((uint32_t)sizeof(struct ppu_recorder_name) + bytes + 1, 4u);

    if (used > PPU_RECORDER_NAME_BYTES) {
        return 0;
    }
    struct ppu_recorder_name *name = (void *)(file->names + at);
    name->next = file->bucket[bucket];
    name->bytes = bytes;
    memcpy(name->text, text, bytes);
    name->text[bytes] = 0;
    file->bucket[bucket] = at;
    shared_store_release(&file->names_used, used); /* partner: a tool that reads a name that a record has */
    return at;
}

uint32_t ppu_record_name(const char *text)
{
    struct ppu_recorder *file = file_of_process();

    if (!file) {
        return 0;
    }
    uint32_t bytes = (uint32_t)strnlen(text, PPU_RECORDER_LONGEST_NAME);
    uint32_t bucket = bucket_of(text, bytes);
    pthread_mutex_lock(&recorder.lock);
    uint32_t name = find_name(file, bucket, text, bytes);
    name = name != 0 ? name : add_name(file, bucket, text, bytes);
    pthread_mutex_unlock(&recorder.lock);
    return name;
}

/* ---- kernels ---- */

uint32_t recorder_add_kernel(const struct ppu_program *program, const struct ppu_kernel_entry *entry)
{
    struct ppu_recorder *file = file_of_process();
    uint32_t name = ppu_record_name(program->view.text + entry->name);
    uint32_t device = program->context->device->recorded;

    if (file && device != RECORDER_NONE) {
        uint32_t number = __atomic_add_fetch(&file->kernels_used, 1, __ATOMIC_RELAXED);
        struct ppu_recorder_kernel *kernel = &file->kernel[(number - 1) % PPU_RECORDER_KERNELS];
        /* A tool that sees a new word sees that the entry is incomplete, hence each store is a release. */
        shared_store_release(&kernel->number, 0);
        shared_store_release(&kernel->device, device);
        shared_store_release(&kernel->context, program->context->id);
        shared_store_release(&kernel->name, name);
        shared_store_release64(&kernel->code, program->code_va.va + entry->entry);
        shared_store_release(&kernel->entry, entry->entry);
        shared_store_release(&kernel->code_bytes, program->view.header->code_bytes);
        shared_store_release(&kernel->number, number); /* partner: the tool's look at it */
    }
    return name;
}

/* ---- devices ---- */

/*
 * The bounds of the difference of the clocks: one register of the device's clock is read between two readings of the
 * host's. Its high half is the same before and after, or the reading is not used.
 */
static void compare_clocks(struct ppu_device *device, struct ppu_recorder_device *entry)
{
    uint32_t high = device_reg_read(device, PPU_REG_TIME_HI);

    uint32_t reads = recorder.tool >= 0 ? CLOCK_READS_WATCHED : CLOCK_READS;

    for (uint32_t i = 0; i < reads; i++) {
        int64_t before_ns = (int64_t)clock_ns();
        uint32_t low = device_reg_read(device, PPU_REG_TIME_LO);
        int64_t after_ns = (int64_t)clock_ns();
        uint32_t again = device_reg_read(device, PPU_REG_TIME_HI);
        if (again == high && high != UINT32_MAX) { /* all ones: the device has gone */
            int64_t device_ns = (int64_t)((uint64_t)high << 32 | low);
            entry->clock_low_ns = PPU_MAX(entry->clock_low_ns, before_ns - device_ns);
            entry->clock_high_ns = PPU_MIN(entry->clock_high_ns, after_ns - device_ns);
        }
        high = again;
    }
}

static void describe_device(struct ppu_device *device, struct ppu_recorder_device *entry)
{
    const struct ppu_device_info *info = &device->info;
    const struct ppu_fw_info *firmware = &device->firmware;

    *entry = (struct ppu_recorder_device){
        .generation = entry->generation + 1,
        .vram_fd = device->transport->vram_fd,
        .instance = info->instance,
        .vram_bytes = device->transport->vram_bytes,
        .fw_trace = firmware->fw_trace,
        .state_area = firmware->state,
        .dev_trace = firmware->dev_trace,
        .fw_trace_from = ppu_trace_next(device, PPU_TRACE_OF_FIRMWARE),
        .dev_trace_from = ppu_trace_next(device, PPU_TRACE_OF_DEVICE),
        .tmds = firmware->tmds,
        .tmd_stride = firmware->tmd_stride,
        .sms = info->sms,
        .slots = info->slots,
        .sm_ctas = info->sm_ctas,
        .sm_warps = info->sm_warps,
        .sm_vregs = info->sm_vregs,
        .sm_shared = info->sm_shared,
        .channels = info->channels,
        .contexts = info->contexts,
        .clock_low_ns = INT64_MIN,
        .clock_high_ns = INT64_MAX,
    };
    compare_clocks(device, entry);
    profile_begin(device);
    entry->profile_page = device->profile.page;
    entry->profile_entries = device->profile.entries;
}

/* With the lock. */
static uint32_t free_entry(const struct ppu_recorder *file)
{
    for (uint32_t i = 0; i < PPU_RECORDER_DEVICES; i++) {
        if (file->device[i].state != PPU_RECORDER_OPEN) {
            return i;
        }
    }
    return RECORDER_NONE;
}

uint32_t recorder_add_device(struct ppu_device *device)
{
    struct ppu_recorder *file = file_of_process();

    if (!file) {
        return RECORDER_NONE;
    }
    pthread_mutex_lock(&recorder.lock);
    uint32_t i = free_entry(file);
    if (i != RECORDER_NONE) {
        describe_device(device, &file->device[i]);
        shared_store_release(&file->device[i].state, PPU_RECORDER_OPEN); /* partner: the tool's look at the state */
        tell_tool(PPU_RECORDER_DEVICE, i, device->transport->vram_fd);
    }
    pthread_mutex_unlock(&recorder.lock);
    return i;
}

bool recorder_watched(void)
{
    return recorder.tool >= 0;
}

uint32_t recorder_profile_wanted(uint32_t *entries)
{
    *entries = recorder.tool >= 0 ? recorder.file->profile_entries : 0;
    return recorder.tool >= 0 ? recorder.file->profile_period : 0;
}

void recorder_send(enum ppu_recorder_message_kind kind, uint32_t entry, int fd)
{
    pthread_mutex_lock(&recorder.lock);
    tell_tool(kind, entry, fd);
    pthread_mutex_unlock(&recorder.lock);
    close(fd);
}

void recorder_remove_device(struct ppu_device *device)
{
    uint32_t number = device->recorded;

    if (number != RECORDER_NONE) {
        struct ppu_recorder_device *entry = &recorder.file->device[number];
        pthread_mutex_lock(&recorder.lock);
        compare_clocks(device, entry);
        entry->fw_trace_to = ppu_trace_next(device, PPU_TRACE_OF_FIRMWARE);
        entry->dev_trace_to = ppu_trace_next(device, PPU_TRACE_OF_DEVICE);
        tell_tool(PPU_RECORDER_CLOSES, number, recorder.fd);
        shared_store_release(&entry->state, PPU_RECORDER_CLOSED);
        pthread_mutex_unlock(&recorder.lock);
    }
}
