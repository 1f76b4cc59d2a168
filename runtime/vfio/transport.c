/* SPDX-License-Identifier: MIT */
/*
 * Reaches a PPU of this Linux machine through vfio-pci: its registers and doorbells are mapped, interrupts come as
 * eventfds, system memory is ours and is mapped for the device's DMA. The kernel resets the function when it is opened
 * and when it is closed, also by our death.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/error.h"
#include "runtime/range.h"
#include "runtime/transport.h"
#include "runtime/vfio/function.h"
#include "runtime/vfio/mapped_function.h"
#include "runtime/vfio/region.h"

#define CONTAINER_PATH "/dev/vfio/vfio"
#define SYSFS "/sys"
#define PROC "/proc"
#define ALL_VECTORS (~0u)
#define LOOK_NS NS_PER_S /* between looks at whether the device is there */

struct vfio_ppu {
    struct mapped_function mapped;
    struct vfio_function function;
    int container;
    int iommu_group;
    int device;
    uint32_t vectors;
    struct pollfd event[PPU_MAX_VECTORS]; /* eventfd of each vector */
    struct range_pool bus_memory;         /* guarded by mapped.lock */
};

static struct vfio_ppu *ppu_of(struct ppu_transport *transport)
{
    return PPU_CONTAINER_OF(transport, struct vfio_ppu, mapped.transport);
}

/* ---- system memory ---- */

static bool take_bus_range(struct vfio_ppu *ppu, uint64_t bytes, uint64_t *bus)
{
    pthread_mutex_lock(&ppu->mapped.lock);
    bool taken = range_take(&ppu->bus_memory, bytes, bytes >= PPU_PAGE_2M ? PPU_PAGE_2M : PPU_PAGE_64K, bus);
    pthread_mutex_unlock(&ppu->mapped.lock);
    return taken;
}

static void give_bus_range(struct vfio_ppu *ppu, uint64_t bus)
{
    pthread_mutex_lock(&ppu->mapped.lock);
    range_give(&ppu->bus_memory, bus);
    pthread_mutex_unlock(&ppu->mapped.lock);
}

static bool map_for_device(struct vfio_ppu *ppu, void *host, uint64_t bus, uint64_t bytes)
{
    struct vfio_iommu_type1_dma_map map = {
        .argsz = sizeof(map),
        .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
        .vaddr = (uintptr_t)host,
        .iova = bus,
        .size = bytes,
    };

    return ioctl(ppu->container, VFIO_IOMMU_MAP_DMA, &map) == 0;
}

/* NULL: there is none. */
static void *aligned_mapping(uint64_t bytes)
{
    const uint64_t reserved = bytes + PPU_PAGE_2M;
    uint8_t *at = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED) {
        return NULL;
    }
    const uint64_t before = ppu_align_up64((uintptr_t)at, PPU_PAGE_2M) - (uintptr_t)at;
    if (before > 0) {
        munmap(at, before);
    }
    munmap(at + before + bytes, PPU_PAGE_2M - before);
    return at + before;
}

/*
 * In huge pages where the kernel has some: an IOMMU maps each by one entry, and a virtual one tells its machine of each
 * entry. A child of this process does not have it: a fork would give this process copies of pages that the device goes
 * on using.
 */
static void *anonymous_memory(uint64_t bytes)
{
    void *host = aligned_mapping(bytes);

    if (host) {
        madvise(host, bytes, MADV_HUGEPAGE);
        madvise(host, bytes, MADV_DONTFORK);
    }
    return host;
}

static enum ppu_err vfio_system_alloc(struct ppu_transport *transport, uint64_t bytes, struct ppu_system_memory *memory)
{
    struct vfio_ppu *ppu = ppu_of(transport);
    uint64_t bus = 0;

    if (!take_bus_range(ppu, bytes, &bus)) {
        return PPU_ERR_NO_MEMORY;
    }
    void *host = anonymous_memory(bytes);
    if (!host) {
        give_bus_range(ppu, bus);
        return PPU_ERR_NO_MEMORY;
    }
    if (!map_for_device(ppu, host, bus, bytes)) {
        munmap(host, bytes);
        give_bus_range(ppu, bus);
        return PPU_ERR_NO_MEMORY;
    }
    memory->host = host;
    memory->bus.bus = bus;
    memory->bytes = bytes;
    return PPU_OK;
}

/* False: the device may still reach it, so neither memory nor address may be used for anything else. */
static bool unmap_for_device(struct vfio_ppu *ppu, const struct ppu_system_memory *memory)
{
    struct vfio_iommu_type1_dma_unmap unmap = {
        .argsz = sizeof(unmap),
        .iova = memory->bus.bus,
        .size = memory->bytes,
    };

    return ioctl(ppu->container, VFIO_IOMMU_UNMAP_DMA, &unmap) == 0;
}

static void vfio_system_free(struct ppu_transport *transport, const struct ppu_system_memory *memory)
{
    if (unmap_for_device(ppu_of(transport), memory)) {
        munmap(memory->host, memory->bytes);
        give_bus_range(ppu_of(transport), memory->bus.bus);
    }
}

/* The kernel maps the window that this process has mapped for the other function. */
static enum ppu_err vfio_peer_map(struct ppu_transport *transport, struct ppu_transport *peer, uint64_t offset,
                                  uint64_t bytes, struct ppu_system_memory *memory)
{
    struct vfio_ppu *ppu = ppu_of(transport);
    uint64_t bus = 0;

    if (peer->ops != transport->ops) {
        return PPU_ERR_NO_RESOURCE;
    }
    if (!take_bus_range(ppu, bytes, &bus)) {
        return PPU_ERR_NO_MEMORY;
    }
    if (!map_for_device(ppu, peer->vram + offset, bus, bytes)) {
        give_bus_range(ppu, bus);
        return PPU_ERR_NO_RESOURCE;
    }
    *memory = (struct ppu_system_memory){ .host = peer->vram + offset, .bus = { bus }, .bytes = bytes };
    return PPU_OK;
}

static void vfio_peer_unmap(struct ppu_transport *transport, const struct ppu_system_memory *memory)
{
    if (unmap_for_device(ppu_of(transport), memory)) {
        give_bus_range(ppu_of(transport), memory->bus.bus);
    }
}

/* ---- interrupts ---- */

/* False: no vector came in that time. */
static bool event_comes(struct vfio_ppu *ppu, uint64_t timeout_ns)
{
    const struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / NS_PER_S),
                                      .tv_nsec = (long)(timeout_ns % NS_PER_S) };

    return ppoll(ppu->event, ppu->vectors, &timeout, NULL) > 0;
}

static bool has_gone(struct vfio_ppu *ppu)
{
    return vfio_region_read32(&ppu->mapped.regs, PPU_REG_MAGIC) != PPU_MAGIC;
}

/* A device that has gone, with the process that served it, raises nothing: it is looked for now and then. */
static uint32_t vfio_wait(struct ppu_transport *transport, uint64_t timeout_ns)
{
    struct vfio_ppu *ppu = ppu_of(transport);
    const uint64_t deadline_ns = deadline_after(timeout_ns);
    uint32_t vectors = 0;

    while (!event_comes(ppu, PPU_MIN(deadline_left(deadline_ns), LOOK_NS))) {
        if (has_gone(ppu)) {
            return ALL_VECTORS;
        }
        if (deadline_left(deadline_ns) == 0) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < ppu->vectors; i++) {
        uint64_t count;
        if ((ppu->event[i].revents & POLLIN) != 0 && read(ppu->event[i].fd, &count, sizeof(count)) > 0) {
            vectors |= 1u << i;
        } else if (ppu->event[i].revents != 0) {
            vectors = ALL_VECTORS;
        }
    }
    return vectors;
}

static bool make_events(struct vfio_ppu *ppu)
{
    for (uint32_t i = 0; i < ppu->vectors; i++) {
        ppu->event[i].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ppu->event[i].events = POLLIN;
        if (ppu->event[i].fd < 0) {
            return false;
        }
    }
    return true;
}

static bool connect_events(struct vfio_ppu *ppu)
{
    union {
        struct vfio_irq_set set;
        char bytes[sizeof(struct vfio_irq_set) + PPU_MAX_VECTORS * sizeof(int)];
    } irqs = { .set = {
                   .argsz = (uint32_t)(sizeof(struct vfio_irq_set) + ppu->vectors * sizeof(int)),
                   .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
                   .index = VFIO_PCI_MSIX_IRQ_INDEX,
                   .count = ppu->vectors,
               } };

    for (uint32_t i = 0; i < ppu->vectors; i++) {
        memcpy(irqs.set.data + i * sizeof(int), &ppu->event[i].fd, sizeof(int));
    }
    return ioctl(ppu->device, VFIO_DEVICE_SET_IRQS, &irqs.set) == 0;
}

static enum ppu_err open_interrupts(struct vfio_ppu *ppu, struct ppu_error *error)
{
    struct vfio_irq_info info = { .argsz = sizeof(info), .index = VFIO_PCI_MSIX_IRQ_INDEX };

    if (ioctl(ppu->device, VFIO_DEVICE_GET_IRQ_INFO, &info) != 0 || info.count == 0) {
        return error_set(error, PPU_ERR_TRANSPORT, "open PPU %s: it has no MSI-X interrupts", ppu->function.address);
    }
    ppu->vectors = PPU_MIN(info.count, PPU_MAX_VECTORS);
    if (!make_events(ppu) || !connect_events(ppu)) {
        return error_set(error, PPU_ERR_TRANSPORT, "open PPU %s: its interrupts cannot be connected: %s",
                         ppu->function.address, strerror(errno));
    }
    return PPU_OK;
}

/* ---- open and close ---- */

static void close_file(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static void vfio_ppu_free(struct vfio_ppu *ppu)
{
    if (ppu->mapped.transport.vram) {
        munmap(ppu->mapped.transport.vram, ppu->mapped.transport.vram_bytes);
    }
    close_file(ppu->mapped.transport.vram_fd);
    vfio_region_close(&ppu->mapped.box);
    vfio_region_close(&ppu->mapped.doorbells);
    vfio_region_close(&ppu->mapped.regs);
    for (uint32_t i = 0; i < PPU_MAX_VECTORS; i++) {
        close_file(ppu->event[i].fd);
    }
    /* The last of these ends the device's DMA and resets it; memory still mapped for it is let go by the kernel. */
    close_file(ppu->device);
    close_file(ppu->iommu_group);
    close_file(ppu->container);
    range_pool_fini(&ppu->bus_memory);
    pthread_mutex_destroy(&ppu->mapped.lock);
    free(ppu);
}

static void vfio_close(struct ppu_transport *transport)
{
    vfio_ppu_free(ppu_of(transport));
}

static const struct ppu_transport_ops vfio_ops = {
    .reg_read = mapped_function_reg_read,
    .reg_write = mapped_function_reg_write,
    .doorbell_read = mapped_function_doorbell_read,
    .doorbell_write = mapped_function_doorbell_write,
    .window_read = mapped_function_window_read,
    .window_write = mapped_function_window_write,
    .system_alloc = vfio_system_alloc,
    .system_free = vfio_system_free,
    .peer_map = vfio_peer_map,
    .peer_unmap = vfio_peer_unmap,
    .wait = vfio_wait,
    .set_bus_master = mapped_function_set_bus_master,
    .close = vfio_close,
};

static struct vfio_ppu *vfio_ppu_new(const struct vfio_function *function)
{
    struct vfio_ppu *ppu = calloc(1, sizeof(*ppu));

    if (!ppu) {
        return NULL;
    }
    ppu->mapped.transport.ops = &vfio_ops;
    ppu->mapped.transport.vram_fd = -1;
    ppu->function = *function;
    ppu->mapped.transport.pci = vfio_function_address(function);
    ppu->container = ppu->iommu_group = ppu->device = -1;
    for (uint32_t i = 0; i < PPU_MAX_VECTORS; i++) {
        ppu->event[i].fd = -1;
    }
    if (pthread_mutex_init(&ppu->mapped.lock, NULL) != 0) {
        free(ppu);
        return NULL;
    }
    return ppu;
}

static enum ppu_err group_refused(const struct vfio_function *function, const char *path, struct ppu_error *error)
{
    struct vfio_holder holder;

    if (errno != EBUSY) {
        return error_set(
            error, PPU_ERR_TRANSPORT, "open PPU %s: open %s: %s%s", function->address, path, strerror(errno),
            errno == EACCES || errno == EPERM ? "; give yourself the right to read and write that file" : "");
    }
    if (!vfio_find_holder(PROC, path, &holder)) {
        return error_set(error, PPU_ERR_BUSY, "open PPU %s: another process, which cannot be looked at, uses it",
                         function->address);
    }
    return error_set(error, PPU_ERR_BUSY, "open PPU %s: it is in use by %sprocess %ld (%s)", function->address,
                     holder.pid == getpid() ? "this " : "", (long)holder.pid, holder.name);
}

static enum ppu_err open_group(struct vfio_ppu *ppu, struct ppu_error *error)
{
    struct vfio_group_status status = { .argsz = sizeof(status) };
    char path[32];

    snprintf(path, sizeof(path), "/dev/vfio/%d", ppu->function.iommu_group);
    ppu->iommu_group = open(path, O_RDWR | O_CLOEXEC);
    if (ppu->iommu_group < 0) {
        return group_refused(&ppu->function, path, error);
    }
    if (ioctl(ppu->iommu_group, VFIO_GROUP_GET_STATUS, &status) != 0 || (status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0) {
        return error_set(
            error, PPU_ERR_TRANSPORT,
            "open PPU %s: it shares IOMMU group %d with a function that another driver has; bind that one to vfio-pci too",
            ppu->function.address, ppu->function.iommu_group);
    }
    return PPU_OK;
}

static enum ppu_err open_container(struct vfio_ppu *ppu, struct ppu_error *error)
{
    ppu->container = open(CONTAINER_PATH, O_RDWR | O_CLOEXEC);
    if (ppu->container < 0) {
        return error_set(error, PPU_ERR_TRANSPORT,
                         "open PPU %s: open " CONTAINER_PATH
                         ": %s; is the module vfio loaded, and may you read and write that file?",
                         ppu->function.address, strerror(errno));
    }
    if (ioctl(ppu->container, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
        ioctl(ppu->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 1) {
        return error_set(error, PPU_ERR_TRANSPORT,
                         "open PPU %s: this kernel's vfio has another version, or no IOMMU of type 1",
                         ppu->function.address);
    }
    if (ioctl(ppu->iommu_group, VFIO_GROUP_SET_CONTAINER, &ppu->container) != 0 ||
        ioctl(ppu->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) != 0) {
        return error_set(error, PPU_ERR_TRANSPORT, "open PPU %s: the IOMMU does not take it: %s", ppu->function.address,
                         strerror(errno));
    }
    return PPU_OK;
}

/* The kernel's answer with its chain; to be freed; NULL: none. */
static struct vfio_iommu_type1_info *iommu_info(int container)
{
    struct vfio_iommu_type1_info head = { .argsz = sizeof(head) };

    if (ioctl(container, VFIO_IOMMU_GET_INFO, &head) != 0 || head.argsz < sizeof(head)) {
        return NULL;
    }
    struct vfio_iommu_type1_info *info = calloc(1, head.argsz);
    if (info) {
        info->argsz = head.argsz;
        if (ioctl(container, VFIO_IOMMU_GET_INFO, info) == 0 && info->argsz <= head.argsz) {
            return info;
        }
    }
    free(info);
    return NULL;
}

static enum ppu_err open_bus_memory(struct vfio_ppu *ppu, struct ppu_error *error)
{
    struct vfio_iommu_type1_info *info = iommu_info(ppu->container);
    struct vfio_area range;
    bool known = info && vfio_bus_range(info, &range);

    free(info);
    if (!known) {
        return error_set(error, PPU_ERR_TRANSPORT, "open PPU %s: the IOMMU does not say which addresses it may use",
                         ppu->function.address);
    }
    if (!range_pool_init(&ppu->bus_memory, range.offset, range.bytes)) {
        return error_set(error, PPU_ERR_NO_MEMORY, "open a PPU: not enough memory");
    }
    return PPU_OK;
}

static enum ppu_err open_regions(struct vfio_ppu *ppu, struct ppu_error *error)
{
    ppu->device = ioctl(ppu->iommu_group, VFIO_GROUP_GET_DEVICE_FD, ppu->function.address);
    if (ppu->device < 0 || fcntl(ppu->device, F_SETFD, FD_CLOEXEC) != 0 ||
        !vfio_region_open(&ppu->mapped.config, ppu->device, VFIO_PCI_CONFIG_REGION_INDEX) ||
        !vfio_region_open(&ppu->mapped.regs, ppu->device, PPU_BAR_REGS) ||
        !vfio_region_open(&ppu->mapped.doorbells, ppu->device, PPU_BAR_DOORBELLS)) {
        return error_set(error, PPU_ERR_TRANSPORT, "open PPU %s: %s", ppu->function.address, strerror(errno));
    }
    if (vfio_region_open(&ppu->mapped.box, ppu->device, PPU_BAR_MAILBOX)) {
        mapped_function_use_mailbox(&ppu->mapped);
    }
    return PPU_OK;
}

/*
 * VRAM comes from sysfs, because vfio maps it as device memory: on Arm, unaligned accesses
 * there and the instruction that clears memory are faults, and programs copy to and from VRAM by memcpy.
 */
static enum ppu_err open_vram(struct vfio_ppu *ppu, struct ppu_error *error)
{
    char path[sizeof(SYSFS) + 64];
    struct stat status;
    void *mapped = MAP_FAILED;

    snprintf(path, sizeof(path), SYSFS "/bus/pci/devices/%s/resource%d_wc", ppu->function.address, PPU_BAR_VRAM);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    int reason = errno;
    ppu->mapped.transport.vram_fd = fd;
    if (mapped == MAP_FAILED) {
        return error_set(error, PPU_ERR_TRANSPORT, "open PPU %s: map its VRAM from %s: %s", ppu->function.address, path,
                         strerror(reason));
    }
    madvise(mapped, (size_t)status.st_size, MADV_DONTFORK); /* as registers and doorbells (region.c) */
    ppu->mapped.transport.vram = mapped;
    ppu->mapped.transport.vram_bytes = (uint64_t)status.st_size;
    return PPU_OK;
}

static enum ppu_err open_all(struct vfio_ppu *ppu, struct ppu_error *error)
{
    static enum ppu_err (*const steps[])(struct vfio_ppu *, struct ppu_error *) = {
        open_group, open_container, open_bus_memory, open_regions, open_vram, open_interrupts,
    };
    enum ppu_err err = vfio_function_check(&ppu->function, error);

    for (size_t i = 0; err == PPU_OK && i < PPU_ARRAY_SIZE(steps); i++) {
        err = steps[i](ppu, error);
    }
    return err;
}

static enum ppu_err open_function(const struct vfio_function *function, struct ppu_transport **transport,
                                  struct ppu_error *error)
{
    struct vfio_ppu *ppu = vfio_ppu_new(function);

    if (!ppu) {
        return error_set(error, PPU_ERR_NO_MEMORY, "open a PPU: not enough memory");
    }
    enum ppu_err err = open_all(ppu, error);
    if (err != PPU_OK) {
        vfio_ppu_free(ppu);
        return err;
    }
    *transport = &ppu->mapped.transport;
    return PPU_OK;
}

enum ppu_err ppu_vfio_transport(const char *address, struct ppu_transport **out, struct ppu_error *error)
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

bool ppu_vfio_present(void)
{
    struct vfio_function function;

    return vfio_functions(SYSFS, &function, 1) == 1;
}
