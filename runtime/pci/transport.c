/* SPDX-License-Identifier: MIT */
/*
 * Reaches a PPU of this Linux machine without a driver and without an IOMMU, as root: sysfs maps its registers,
 * doorbells and VRAM, system memory is huge pages, and interrupts are looked for. The device then reaches all memory of
 * the machine; that a kernel reaches its own alone, its page tables say.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/error.h"
#include "runtime/pci/huge_memory.h"
#include "runtime/transport.h"
#include "runtime/vfio/function.h"
#include "runtime/vfio/mapped_function.h"
#include "runtime/vfio/region.h"

#define SYSFS "/sys"
/* A look may cost a read of a register, which may be a message to another process: first often, then seldom. */
#define LOOK_MIN_NS (20 * NS_PER_US)
#define LOOK_MAX_NS (1 * NS_PER_MS)
#define ALL_VECTORS (~0u)
#define ALIVE_NS \
    (1 * NS_PER_S) /* how often a mailbox, which tells nothing of it, is asked whether its device is there */

enum file { FILE_CONFIG, FILE_REGS, FILE_DOORBELLS, FILE_VRAM, FILE_BOX, FILES };

struct pci_ppu {
    struct mapped_function mapped;
    struct vfio_function function;
    int file[FILES];
    struct huge_memory memory;
};

static struct pci_ppu *pci_ppu_of(struct ppu_transport *transport)
{
    return PPU_CONTAINER_OF(transport, struct pci_ppu, mapped.transport);
}

/* ---- system memory ---- */

static enum ppu_err pci_system_alloc(struct ppu_transport *transport, uint64_t bytes, struct ppu_system_memory *memory)
{
    return huge_memory_take(&pci_ppu_of(transport)->memory, bytes, memory);
}

static void pci_system_free(struct ppu_transport *transport, const struct ppu_system_memory *memory)
{
    huge_memory_give(&pci_ppu_of(transport)->memory, memory);
}

/* ---- interrupts ---- */

/* A device that has gone has all ones there: all vectors. */
static uint32_t look_at_register(struct ppu_transport *transport)
{
    const uint32_t vectors = mapped_function_reg_read(transport, PPU_REG_VECTOR_PENDING);

    if (vectors != 0) {
        mapped_function_reg_write(transport, PPU_REG_VECTOR_PENDING, vectors);
    }
    return vectors;
}

/* `asked_ns` is when the device was last found to be there. */
static uint32_t look_in_mailbox(struct pci_ppu *ppu, uint64_t *asked_ns)
{
    const uint32_t vectors = ppu_mailbox_take(&ppu->mapped.mailbox->vectors);
    const uint64_t now_ns = clock_ns();

    if (vectors != 0 || now_ns - *asked_ns < ALIVE_NS) {
        return vectors;
    }
    *asked_ns = now_ns;
    return mapped_function_reg_read(&ppu->mapped.transport, PPU_REG_MAGIC) == PPU_MAGIC ? 0 : ALL_VECTORS;
}

static uint32_t pci_wait(struct ppu_transport *transport, uint64_t timeout_ns)
{
    struct pci_ppu *ppu = pci_ppu_of(transport);
    const uint64_t deadline_ns = deadline_after(timeout_ns);
    uint64_t asked_ns = clock_ns();

    for (uint64_t step_ns = LOOK_MIN_NS;; step_ns = PPU_MIN(step_ns * 2, LOOK_MAX_NS)) {
        const uint32_t vectors = ppu->mapped.mailbox ? look_in_mailbox(ppu, &asked_ns) : look_at_register(transport);
        const uint64_t left_ns = deadline_left(deadline_ns);
        if (vectors != 0 || left_ns == 0) {
            return vectors;
        }
        sleep_ns(PPU_MIN(step_ns, left_ns));
    }
}

/* ---- open and close ---- */

static bool write_word(const struct vfio_function *function, const char *name, const char *word)
{
    char path[sizeof(SYSFS) + 64];

    snprintf(path, sizeof(path), SYSFS "/bus/pci/devices/%s/%s", function->address, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, word, strlen(word)) == (ssize_t)strlen(word);
    int reason = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = reason;
    return written;
}

static void pci_ppu_free(struct pci_ppu *ppu)
{
    if (ppu->mapped.regs.areas != 0) {
        mapped_function_set_bus_master(&ppu->mapped.transport, false);
        (void)write_word(&ppu->function, "reset", "1");
    }
    if (ppu->mapped.transport.vram) {
        munmap(ppu->mapped.transport.vram, ppu->mapped.transport.vram_bytes);
    }
    vfio_region_close(&ppu->mapped.box);
    vfio_region_close(&ppu->mapped.doorbells);
    vfio_region_close(&ppu->mapped.regs);
    for (uint32_t i = 0; i < FILES; i++) {
        if (ppu->file[i] >= 0) {
            close(ppu->file[i]);
        }
    }
    huge_memory_fini(&ppu->memory);
    pthread_mutex_destroy(&ppu->mapped.lock);
    free(ppu);
}

static void pci_close(struct ppu_transport *transport)
{
    pci_ppu_free(pci_ppu_of(transport));
}

static const struct ppu_transport_ops pci_ops = {
    .reg_read = mapped_function_reg_read,
    .reg_write = mapped_function_reg_write,
    .doorbell_read = mapped_function_doorbell_read,
    .doorbell_write = mapped_function_doorbell_write,
    .window_read = mapped_function_window_read,
    .window_write = mapped_function_window_write,
    .system_alloc = pci_system_alloc,
    .system_free = pci_system_free,
    .wait = pci_wait,
    .set_bus_master = mapped_function_set_bus_master,
    .close = pci_close,
};

static struct pci_ppu *pci_ppu_new(const struct vfio_function *function)
{
    struct pci_ppu *ppu = calloc(1, sizeof(*ppu));

    if (!ppu) {
        return NULL;
    }
    ppu->mapped.transport.ops = &pci_ops;
    ppu->mapped.transport.vram_fd = -1;
    ppu->mapped.transport.pci = vfio_function_address(function);
    ppu->function = *function;
    for (uint32_t i = 0; i < FILES; i++) {
        ppu->file[i] = -1;
    }
    pthread_mutex_init(&ppu->mapped.lock, NULL);
    return ppu;
}

/* Each step of opening returns 0 or a number of errno. */

static int open_files(struct pci_ppu *ppu)
{
    static const char *const names[FILES] = {
        [FILE_CONFIG] = "config",     [FILE_REGS] = "resource0", [FILE_DOORBELLS] = "resource2",
        [FILE_VRAM] = "resource4_wc", [FILE_BOX] = "resource1",
    };
    char path[sizeof(SYSFS) + 64];

    for (uint32_t i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), SYSFS "/bus/pci/devices/%s/%s", ppu->function.address, names[i]);
        ppu->file[i] = open(path, O_RDWR | O_CLOEXEC);
        if (ppu->file[i] < 0 && i != FILE_BOX) { /* a PPU of this machine's own QEMU has no mailbox */
            return errno;
        }
    }
    return 0;
}

/* Another process has it locked, for as long as that lives. */
static int lock_function(struct pci_ppu *ppu)
{
    return flock(ppu->file[FILE_REGS], LOCK_EX | LOCK_NB) == 0 ? 0 : errno == EWOULDBLOCK ? EBUSY : errno;
}

/* What a process that was killed left running ends here. */
static int reset_function(struct pci_ppu *ppu)
{
    return write_word(&ppu->function, "enable", "1") && write_word(&ppu->function, "reset", "1") ? 0 : errno;
}

static int map_registers(struct pci_ppu *ppu)
{
    return vfio_region_open_file(&ppu->mapped.config, ppu->file[FILE_CONFIG]) &&
                   vfio_region_open_file(&ppu->mapped.regs, ppu->file[FILE_REGS]) &&
                   vfio_region_open_file(&ppu->mapped.doorbells, ppu->file[FILE_DOORBELLS]) &&
                   ppu->mapped.regs.areas != 0 && ppu->mapped.doorbells.areas != 0
               ? 0
               : errno;
}

static int map_mailbox(struct pci_ppu *ppu)
{
    if (ppu->file[FILE_BOX] >= 0 && vfio_region_open_file(&ppu->mapped.box, ppu->file[FILE_BOX])) {
        mapped_function_use_mailbox(&ppu->mapped);
    }
    return 0;
}

static int map_vram(struct pci_ppu *ppu)
{
    struct stat status;

    if (fstat(ppu->file[FILE_VRAM], &status) != 0) {
        return errno;
    }
    void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, ppu->file[FILE_VRAM], 0);
    if (mapped == MAP_FAILED) {
        return errno;
    }
    madvise(mapped, (size_t)status.st_size, MADV_DONTFORK); /* as registers and doorbells */
    ppu->mapped.transport.vram = mapped;
    ppu->mapped.transport.vram_bytes = (uint64_t)status.st_size;
    ppu->mapped.transport.vram_fd = ppu->file[FILE_VRAM];
    return 0;
}

static int make_memory(struct pci_ppu *ppu)
{
    return huge_memory_init(&ppu->memory);
}

static const struct {
    int (*take)(struct pci_ppu *ppu);
    const char *what;
} steps[] = {
    { open_files, "open its files in sysfs" },
    { lock_function, "lock it" },
    { reset_function, "reset it" },
    { map_registers, "map its registers" },
    { map_mailbox, "map its mailbox" },
    { map_vram, "map its VRAM" },
    { make_memory, "make addresses for huge pages" },
};

static enum ppu_err open_failed(const struct vfio_function *function, const char *what, int reason,
                                struct ppu_error *error)
{
    switch (reason) {
    case EBUSY:
        return error_set(error, PPU_ERR_BUSY, "open PPU %s: it is in use", function->address);
    case EACCES:
    case EPERM:
        return error_set(error, PPU_ERR_TRANSPORT,
                         "open PPU %s: %s: %s; without an IOMMU the device reaches all memory, so only root may",
                         function->address, what, strerror(reason));
    default:
        return error_set(error, PPU_ERR_TRANSPORT, "open PPU %s: %s: %s", function->address, what, strerror(reason));
    }
}

static enum ppu_err open_function(const struct vfio_function *function, struct ppu_transport **transport,
                                  struct ppu_error *error)
{
    if (function->driver[0] != '\0') {
        return error_set(error, PPU_ERR_TRANSPORT,
                         "open PPU %s: it has %s as its driver, and is opened here without one; PPU_DEVICE=vfio opens "
                         "it through vfio-pci",
                         function->address, function->driver);
    }
    struct pci_ppu *ppu = pci_ppu_new(function);
    if (!ppu) {
        return error_set(error, PPU_ERR_NO_MEMORY, "open a PPU: not enough memory");
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(steps); i++) {
        int reason = steps[i].take(ppu);
        if (reason != 0) {
            pci_ppu_free(ppu);
            return open_failed(function, steps[i].what, reason, error);
        }
    }
    *transport = &ppu->mapped.transport;
    return PPU_OK;
}

enum ppu_err ppu_pci_transport(const char *address, struct ppu_transport **out, struct ppu_error *error)
{
    struct vfio_function functions[VFIO_MAX_FUNCTIONS];
    size_t count = vfio_functions(SYSFS, functions, VFIO_MAX_FUNCTIONS);
    enum ppu_err err = PPU_ERR_NO_DEVICE;

    *out = NULL;
    for (size_t i = 0; i < count && err != PPU_OK; i++) {
        if (!address || strcmp(address, functions[i].address) == 0) {
            err = open_function(&functions[i], out, error);
        }
    }
    if (err == PPU_ERR_NO_DEVICE) {
        error_fill(error, err, "open a PPU: this machine's PCI bus has none%s%s", address ? " at " : "",
                   address ? address : "");
    }
    return err;
}
