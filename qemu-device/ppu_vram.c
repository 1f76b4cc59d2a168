/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes VRAM: memory of QEMU's own, of a memory backend, or a file that a client of vfio-user maps. */
#include "qemu/osdep.h"

#include "migration/vmstate.h"
#include "qapi/error.h"

#include "ppu.h"

static bool init_shared(PPUState *s, Error **errp)
{
    uint64_t bytes = s->config.vram_bytes;
    void *memory = ppu_sealed_make("ppu-vram", bytes, &s->vram_fd);

    if (!memory) {
        error_setg_errno(errp, errno, "ppu: make VRAM that clients can map");
        return false;
    }
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

bool ppu_vram_renew(PPUState *s)
{
    if (!ppu_sealed_renew("ppu-vram", memory_region_get_ram_ptr(s->vram), s->config.vram_bytes, &s->vram_fd)) {
        return false;
    }
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
