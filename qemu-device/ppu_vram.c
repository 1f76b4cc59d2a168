/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes VRAM: memory of QEMU's own, of a memory backend, or a file that a client of vfio-user maps.
 *
 * A client keeps the file that it has mapped for as long as it likes, so the next client gets another one.
 */
#include "qemu/osdep.h"

#include <sys/mman.h>

#include "migration/vmstate.h"
#include "qapi/error.h"

#include "ppu.h"

/* A client that could shrink the file would end this process. -1 with errno. */
static int make_file(uint64_t bytes)
{
    int fd = memfd_create("ppu-vram", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 &&
        (ftruncate(fd, bytes) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool init_shared(PPUState *s, Error **errp)
{
    uint64_t bytes = s->config.vram_bytes;
    int fd = make_file(bytes);
    void *memory = fd >= 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0) : MAP_FAILED;

    if (memory == MAP_FAILED) {
        error_setg_errno(errp, errno, "ppu: make VRAM that clients can map");
        return false;
    }
    s->vram_fd = fd;
    s->vram = &s->vram_own;
    memory_region_init_ram_ptr(s->vram, OBJECT(s), "ppu-vram", bytes, memory);
    vmstate_register_ram(s->vram, DEVICE(s));
    return true;
}

bool ppu_vram_init(PPUState *s, Error **errp)
{
    s->vram_fd = -1;
    if (s->vfio_user_path) {
        return init_shared(s, errp);
    }
    if (!s->vram_backend) {
        s->vram = &s->vram_own;
        return memory_region_init_ram(s->vram, OBJECT(s), "ppu-vram", s->config.vram_bytes, errp);
    }
    s->vram = host_memory_backend_get_memory(s->vram_backend);
    host_memory_backend_set_mapped(s->vram_backend, true);
    vmstate_register_ram(s->vram, DEVICE(s));
    return true;
}

/* In one step for all threads that use the memory: each finds the old file's contents, or zeros. */
bool ppu_vram_renew(PPUState *s)
{
    void *memory = memory_region_get_ram_ptr(s->vram);
    int fd = make_file(s->config.vram_bytes);

    if (fd < 0) {
        return false;
    }
    if (mmap(memory, s->config.vram_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) ==
        MAP_FAILED) {
        close(fd);
        return false;
    }
    close(s->vram_fd);
    s->vram_fd = fd;
    memory_region_set_dirty(s->vram, 0, s->config.vram_bytes);
    return true;
}

bool ppu_vram_discard(PPUState *s, uint64_t off, uint64_t len_bytes)
{
    RAMBlock *block = s->vram->ram_block;
    size_t page = qemu_ram_pagesize(block);

    if (off % page || len_bytes % page) {
        return false;
    }
    if (s->vram_fd >= 0) {
        return fallocate(s->vram_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off, len_bytes) == 0;
    }
    /* A file that is mapped privately would give its contents back. */
    if (qemu_ram_get_fd(block) >= 0 && !qemu_ram_is_shared(block)) {
        return false;
    }
    return ram_block_discard_range(block, off, len_bytes) == 0;
}

/* The file that is VRAM, whole and nothing else, and that shows all that is written there; -1: there is none. */
static int whole_file(PPUState *s)
{
    RAMBlock *block = s->vram->ram_block;
    int fd = s->vram_fd >= 0 ? s->vram_fd : qemu_ram_get_fd(block);
    struct stat stat;

    if (fd < 0 || (s->vram_fd < 0 && !qemu_ram_is_shared(block)) || fstat(fd, &stat) != 0 ||
        (uint64_t)stat.st_size != s->config.vram_bytes) {
        return -1;
    }
    return fd;
}

uint64_t ppu_vram_zeros(PPUState *s, uint64_t off)
{
    int fd = whole_file(s);

    if (fd < 0) {
        return 0;
    }
    off_t data = lseek(fd, off, SEEK_DATA);
    if (data >= 0) {
        return data - off;
    }
    return errno == ENXIO ? s->config.vram_bytes - off : 0; /* a hole to the end */
}
