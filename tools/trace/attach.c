/* SPDX-License-Identifier: MIT */
#include "tools/trace/attach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppu/macros.h"

#define PATH_BYTES 64u
#define LINK_BYTES 64u

/* ---- files of a process ---- */

/* The name of an anonymous file; "": it is another. */
static void read_name(const char *path, char name[LINK_BYTES])
{
    static const char begin[] = "/memfd:";
    char link[LINK_BYTES];
    const ssize_t bytes = readlink(path, link, sizeof(link) - 1);

    link[bytes > 0 ? bytes : 0] = 0;
    snprintf(name, LINK_BYTES, "%s", strncmp(link, begin, sizeof(begin) - 1) == 0 ? link + sizeof(begin) - 1 : "");
}

static bool is_recorder(const char *path)
{
    char name[LINK_BYTES];

    read_name(path, name);
    return strncmp(name, PPU_RECORDER_FILE, sizeof(PPU_RECORDER_FILE) - 1) == 0;
}

int attach_open_recorder(uint32_t pid)
{
    char path[PATH_BYTES];
    int found = -1;

    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    DIR *folder = opendir(path);
    if (!folder) {
        return -1;
    }
    for (const struct dirent *entry; found < 0 && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, (unsigned)strtoul(entry->d_name, NULL, 10));
        if (is_recorder(path)) {
            found = open(path, O_RDWR | O_CLOEXEC);
        }
    }
    closedir(folder);
    return found;
}

static bool reads_told(const char *path, struct attach_told *told)
{
    char name[LINK_BYTES];

    read_name(path, name);
    if (sscanf(name, PPU_RECORDER_PROGRAM_FILE ":%" SCNu32 ":%" SCNu32, &told->device, &told->program) == 2) {
        told->kind = PPU_RECORDER_PROGRAM;
        return true;
    }
    told->kind = PPU_RECORDER_SOURCE;
    return sscanf(name, PPU_RECORDER_SOURCE_FILE ":%" SCNu32 ":%" SCNu32, &told->device, &told->program) == 2;
}

static int compare_told(const void *a, const void *b)
{
    const struct attach_told *x = a, *y = b;

    return x->program != y->program ? (x->program < y->program ? -1 : 1) : (int)x->kind - (int)y->kind;
}

uint32_t attach_list_told(uint32_t pid, struct attach_told *told, uint32_t most)
{
    char path[PATH_BYTES];
    uint32_t count = 0;

    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && count < most && (entry = readdir(folder));) {
        const int fd = (int)strtoul(entry->d_name, NULL, 10);
        snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
        if (entry->d_name[0] != '.' && reads_told(path, &told[count])) {
            told[count++].fd = fd;
        }
    }
    if (folder) {
        closedir(folder);
    }
    qsort(told, count, sizeof(*told), compare_told);
    return count;
}

int attach_open_file(uint32_t pid, int fd, int flags)
{
    char path[PATH_BYTES];

    if (fd < 0) {
        errno = ENOENT;
        return -1;
    }
    snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, fd);
    return open(path, flags | O_CLOEXEC);
}

/* ---- maps ---- */

static void *map_file(int fd, uint64_t bytes, int protection)
{
    struct stat status;
    void *memory = MAP_FAILED;

    if (fstat(fd, &status) != 0 || (uint64_t)status.st_size < bytes || bytes == 0) {
        errno = EINVAL;
    } else {
        memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
    }
    int reason = errno;
    close(fd);
    errno = reason;
    return memory == MAP_FAILED ? NULL : memory;
}

struct ppu_recorder *attach_map_recorder(int fd, const char **why)
{
    struct ppu_recorder *recorder = map_file(fd, sizeof(*recorder), PROT_READ | PROT_WRITE);

    *why = NULL;
    if (!recorder) {
        *why = errno == EINVAL ? "it is too short" : strerror(errno);
        return NULL;
    }
    /* Partner: the program's release, when the rest is there. */
    if (__atomic_load_n(&recorder->magic, __ATOMIC_ACQUIRE) != PPU_RECORDER_MAGIC) {
        *why = "it has no recorder in it";
    } else if (recorder->head.version != PPU_RECORDER_VERSION || recorder->ring.head.version != PPU_TRACE_VERSION) {
        *why = "its recorder has another version; program and tool belong to different releases";
    }
    if (*why) {
        attach_unmap_recorder(recorder);
        return NULL;
    }
    return recorder;
}

void attach_unmap_recorder(struct ppu_recorder *recorder)
{
    if (recorder) {
        munmap(recorder, sizeof(*recorder));
    }
}

const uint8_t *attach_map_vram(int fd, uint64_t bytes)
{
    return map_file(fd, bytes, PROT_READ);
}

void attach_unmap_vram(const uint8_t *vram, uint64_t bytes)
{
    if (vram) {
        munmap((void *)(uintptr_t)vram, bytes);
    }
}

#define ASKED_ALIGN (64u * PPU_KIB) /* no page is larger */

static void *map_asked(int fd, uint32_t offset)
{
    uint32_t skip = offset % ASKED_ALIGN;
    uint8_t *memory = mmap(NULL, ASKED_ALIGN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset - skip);

    return memory == MAP_FAILED ? NULL : memory + skip;
}

static void unmap_asked(void *asked, uint32_t offset)
{
    if (asked) {
        munmap((uint8_t *)asked - offset % ASKED_ALIGN, ASKED_ALIGN);
    }
}

struct ppu_state *attach_map_asked(uint32_t pid, int fd, uint32_t state_area)
{
    int file = attach_open_file(pid, fd, O_RDWR);

    if (file < 0) {
        return NULL;
    }
    struct ppu_state *asked = map_asked(file, state_area);
    int reason = errno;
    close(file);
    errno = reason;
    return asked;
}

void attach_unmap_asked(struct ppu_state *asked, uint32_t state_area)
{
    unmap_asked(asked, state_area);
}

struct ppu_trace_ring *attach_map_warps(int fd, uint32_t dev_trace)
{
    return map_asked(fd, dev_trace);
}

void attach_unmap_warps(struct ppu_trace_ring *ring, uint32_t dev_trace)
{
    unmap_asked(ring, dev_trace);
}

void attach_want(struct ppu_recorder *recorder, uint64_t until_ns)
{
    __atomic_store_n(&recorder->wanted_until_ns, until_ns, __ATOMIC_RELAXED);
}

/* ---- what is in them ---- */

const char *attach_name(const struct ppu_recorder *recorder, uint32_t name, uint32_t *bytes)
{
    uint32_t used = __atomic_load_n(&recorder->names_used, __ATOMIC_ACQUIRE); /* partner: the program's release */

    used = PPU_MIN(used, PPU_RECORDER_NAME_BYTES);
    if (name == 0 || name % sizeof(uint32_t) != 0 || name >= used || used - name < sizeof(struct ppu_recorder_name)) {
        return NULL;
    }
    const struct ppu_recorder_name *head = (const void *)(recorder->names + name);
    uint32_t length = __atomic_load_n(&head->bytes, __ATOMIC_RELAXED);
    if (length > PPU_RECORDER_LONGEST_NAME || length > used - name - sizeof(*head)) {
        return NULL;
    }
    *bytes = length;
    return head->text;
}

bool attach_ring(const uint8_t *vram, uint64_t bytes, uint32_t offset, const struct ppu_trace_ring **ring,
                 uint32_t *size)
{
    if (offset == 0 || offset % sizeof(**ring) != 0 || bytes < sizeof(**ring) || offset > bytes - sizeof(**ring)) {
        return false;
    }
    const struct ppu_trace_ring *found = (const void *)(vram + offset);
    *size = __atomic_load_n(&found->size, __ATOMIC_ACQUIRE);
    uint64_t room = (bytes - offset - sizeof(*found)) / sizeof(struct ppu_trace_record);
    *ring = found;
    return found->head.version == PPU_TRACE_VERSION && PPU_IS_POWER_OF_TWO(*size) && *size <= room;
}
