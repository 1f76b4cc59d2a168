/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes memory that a client of vfio-user maps, too.
 *
 * A client keeps the file that it has mapped for as long as it likes, so the next client gets another one.
 */
#include "qemu/osdep.h"

#include <sys/mman.h>

#include "ppu.h"

/* A client that could shrink the file would end this process. -1 with errno. */
static int make_file(const char *name, uint64_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 &&
        (ftruncate(fd, bytes) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

void *ppu_sealed_make(const char *name, uint64_t bytes, int *fd)
{
    *fd = make_file(name, bytes);
    void *memory =
        *fd >= 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0) : MAP_FAILED;

    return memory != MAP_FAILED ? memory : NULL;
}

bool ppu_sealed_renew(const char *name, void *memory, uint64_t bytes, int *fd)
{
    int made = make_file(name, bytes);

    if (made < 0) {
        return false;
    }
    if (mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, made, 0) == MAP_FAILED) {
        close(made);
        return false;
    }
    close(*fd);
    *fd = made;
    return true;
}
