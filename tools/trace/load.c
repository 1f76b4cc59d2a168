/* SPDX-License-Identifier: MIT */
#include "tools/trace/load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trace/message.h"

static void warn(const struct timeline *timeline, const char *path)
{
    if (timeline->truncated) {
        message_print("read %s: the record was cut off; what there is of it is shown", path);
    }
    if (timeline->lost > 0) {
        message_print("read %s: %llu of %llu records are missing; they were overwritten before they were read", path,
                      (unsigned long long)timeline->lost,
                      (unsigned long long)timeline->lost + (unsigned long long)timeline->records);
    }
    for (uint32_t i = 0; i < timeline->devices; i++) {
        if (timeline->device[i].clock.contradicts && timeline->records > 0) {
            message_print("read %s: the clock of PPU %u did not run with that of the host (time was counted in "
                          "instructions, or the machine was paused); its records are not in line with the program's",
                          path, i);
        }
    }
}

/* The bytes of a record, or an end with a sentence. */
static void *map_record(int fd, const char *path, size_t *size)
{
    struct stat status;

    if (fstat(fd, &status) != 0) {
        message_fail("read %s: %s", path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode) || status.st_size == 0) {
        message_fail("read %s: it is %s, and no record of ppu-trace", path,
                     S_ISREG(status.st_mode) ? "empty" : "no regular file");
    }
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        message_fail("read %s: %s", path, strerror(errno));
    }
    *size = (size_t)status.st_size;
    return bytes;
}

void load_profile_file(struct profile *profile, int fd, const char *path)
{
    size_t size;
    void *bytes = map_record(fd, path, &size);
    const char *why = profile_read(profile, bytes, size);

    munmap(bytes, size);
    if (why) {
        message_fail("read %s: %s", path, why);
    }
}

void load_stacks_file(struct stacks *stacks, int fd, const char *path)
{
    size_t size;
    void *bytes = map_record(fd, path, &size);
    const char *why = stacks_read(stacks, bytes, size);

    munmap(bytes, size);
    if (why) {
        message_fail("read %s: %s", path, why);
    }
}

void load_timeline_file(struct timeline *timeline, int fd, const char *path)
{
    size_t size;
    void *bytes = map_record(fd, path, &size);
    const char *why = timeline_read(timeline, bytes, size);

    munmap(bytes, size);
    if (why) {
        message_fail("read %s: %s", path, why);
    }
    warn(timeline, path);
}

int load_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        message_fail("read %s: %s", path, strerror(errno));
    }
    return fd;
}

void load_timeline(struct timeline *timeline, const char *path)
{
    int fd = load_open(path);

    load_timeline_file(timeline, fd, path);
    close(fd);
}
