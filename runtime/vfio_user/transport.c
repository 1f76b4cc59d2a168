/* SPDX-License-Identifier: MIT */
/*
 * Reaches a PPU in another process by vfio-user: registers by messages, writes without waiting; doorbells by the
 * mailbox, with a message while the device does not look; VRAM mapped; interrupts as eventfds. System memory is one
 * file of ours, as large as the memory of this computer and without pages at first, which the server maps once.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/channel.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/mailbox.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/error.h"
#include "runtime/look.h"
#include "runtime/mapping.h"
#include "runtime/range.h"
#include "runtime/transport.h"
#include "runtime/vfio_user/connection.h"

#define ALL_VECTORS (~0u)
#define BUS_BASE PPU_PAGE_2M /* 0 stays free, so that a pointer that was forgotten faults */
#define LEAST_MEMORY_BYTES (64ull * PPU_MIB)

struct remote_ppu {
    struct ppu_transport transport;
    struct connection connection;
    struct pollfd event[PPU_MAX_VECTORS + 1]; /* eventfd of each vector; the last is the connection */
    int memory_fd;
    uint8_t *memory; /* system memory */
    uint64_t memory_bytes;
    pthread_mutex_t lock; /* of bus_memory */
    struct range_pool bus_memory;
    struct ppu_mailbox *mailbox; /* NULL: the server has none */
    uint64_t mailbox_bytes;
    struct ppu_poll poll; /* of whoever waits */
    bool unsettled;       /* something was written by a message that the server may not have read; any thread */
};

static struct remote_ppu *ppu_of(struct ppu_transport *transport)
{
    return PPU_CONTAINER_OF(transport, struct remote_ppu, transport);
}

/* ---- regions ---- */

/* All ones when the server has gone. */
static void read_region(struct remote_ppu *ppu, uint32_t region, uint64_t offset, void *buf, uint32_t bytes)
{
    struct ppu_vfu_access access = { offset, region, bytes };
    __atomic_store_n(&ppu->unsettled, false, __ATOMIC_SEQ_CST);
    const struct request request = {
        .command = PPU_VFU_REGION_READ,
        .body = &access,
        .body_bytes = sizeof(access),
        .reply = &access,
        .reply_bytes = sizeof(access),
        .reply_data = buf,
        .reply_data_bytes = bytes,
    };

    if (connection_ask(&ppu->connection, &request) != 0 || access.bytes != bytes) {
        memset(buf, 0xff, bytes);
    }
}

static void write_region(struct remote_ppu *ppu, uint32_t region, uint64_t offset, const void *buf, uint32_t bytes)
{
    const struct ppu_vfu_access access = { offset, region, bytes };
    const struct request request = {
        .command = PPU_VFU_REGION_WRITE,
        .body = &access,
        .body_bytes = sizeof(access),
        .data = buf,
        .data_bytes = bytes,
    };

    connection_post(&ppu->connection, &request);
}

/* Messages are read in the order in which they were sent, but a doorbell in the mailbox may be seen before them. */
static void write_and_remember(struct remote_ppu *ppu, uint32_t region, uint64_t offset, const void *buf,
                               uint32_t bytes)
{
    write_region(ppu, region, offset, buf, bytes);
    __atomic_store_n(&ppu->unsettled, true, __ATOMIC_SEQ_CST);
}

static uint32_t remote_reg_read(struct ppu_transport *transport, uint32_t offset)
{
    uint32_t value = 0;

    read_region(ppu_of(transport), PPU_BAR_REGS, offset, &value, sizeof(value));
    return value;
}

static void remote_reg_write(struct ppu_transport *transport, uint32_t offset, uint32_t value)
{
    write_and_remember(ppu_of(transport), PPU_BAR_REGS, offset, &value, sizeof(value));
}

static uint32_t remote_doorbell_read(struct ppu_transport *transport, uint64_t offset)
{
    uint32_t value = 0;

    read_region(ppu_of(transport), PPU_BAR_DOORBELLS, offset, &value, sizeof(value));
    return value;
}

/* The server has read what was written before. */
static void settle(struct ppu_transport *transport)
{
    if (__atomic_load_n(&ppu_of(transport)->unsettled, __ATOMIC_SEQ_CST)) {
        (void)remote_reg_read(transport, PPU_REG_MAGIC);
    }
}

/* A device that does not look is woken up by a ring without a value: later than the mailbox, it would be an old one. */
static void remote_doorbell_write(struct ppu_transport *transport, uint64_t offset, uint32_t value)
{
    struct remote_ppu *ppu = ppu_of(transport);
    const uint64_t channel = offset / PPU_DOORBELL_STRIDE;
    const uint32_t one = 1;

    if (!ppu->mailbox || channel >= PPU_MAX_CHANNELS || offset % PPU_DOORBELL_STRIDE != PPU_DB_PUT) {
        write_and_remember(ppu, PPU_BAR_DOORBELLS, offset, &value, sizeof(value));
        return;
    }
    settle(transport);
    if (!ppu_mailbox_ring(ppu->mailbox, (uint32_t)channel, value)) {
        write_region(ppu, PPU_BAR_DOORBELLS, offset - PPU_DB_PUT + PPU_DB_RING, &one, sizeof(one));
    }
}

static void remote_window_read(struct ppu_transport *transport, uint32_t offset, void *buf, uint32_t len_bytes)
{
    for (uint32_t done = 0, part; done < len_bytes; done += part) {
        part = PPU_MIN(len_bytes - done, PPU_VFU_MAX_TRANSFER);
        read_region(ppu_of(transport), PPU_BAR_REGS, offset + done, (char *)buf + done, part);
    }
}

static void remote_window_write(struct ppu_transport *transport, uint32_t offset, const void *buf, uint32_t len_bytes)
{
    for (uint32_t done = 0, part; done < len_bytes; done += part) {
        part = PPU_MIN(len_bytes - done, PPU_VFU_MAX_TRANSFER);
        write_and_remember(ppu_of(transport), PPU_BAR_REGS, offset + done, (const char *)buf + done, part);
    }
}

static void remote_set_bus_master(struct ppu_transport *transport, bool on)
{
    const uint16_t command = PCI_COMMAND_MEMORY | (on ? PCI_COMMAND_MASTER : 0);

    write_and_remember(ppu_of(transport), PPU_VFU_CONFIG_REGION, PCI_COMMAND, &command, sizeof(command));
}

/* ---- system memory ---- */

static enum ppu_err remote_system_alloc(struct ppu_transport *transport, uint64_t bytes,
                                        struct ppu_system_memory *memory)
{
    struct remote_ppu *ppu = ppu_of(transport);
    uint64_t bus = 0;

    pthread_mutex_lock(&ppu->lock);
    bool taken = range_take(&ppu->bus_memory, bytes, bytes >= PPU_PAGE_2M ? PPU_PAGE_2M : PPU_PAGE_64K, &bus);
    pthread_mutex_unlock(&ppu->lock);
    if (!taken) {
        return PPU_ERR_NO_MEMORY;
    }
    memory->host = ppu->memory + (bus - BUS_BASE);
    memory->bus.bus = bus;
    memory->bytes = bytes;
    return PPU_OK;
}

/* Its pages go back to the computer. */
static void remote_system_free(struct ppu_transport *transport, const struct ppu_system_memory *memory)
{
    struct remote_ppu *ppu = ppu_of(transport);

    fallocate(ppu->memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(memory->bus.bus - BUS_BASE),
              (off_t)memory->bytes);
    pthread_mutex_lock(&ppu->lock);
    range_give(&ppu->bus_memory, memory->bus.bus);
    pthread_mutex_unlock(&ppu->lock);
}

/* ---- interrupts ---- */

static uint32_t taken(struct remote_ppu *ppu)
{
    return ppu->mailbox ? ppu_mailbox_take(&ppu->mailbox->vectors) : 0;
}

/* An event may be there for a vector that was taken long ago. */
static uint32_t sleep_for_vectors(struct remote_ppu *ppu, uint64_t timeout_ns)
{
    struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / NS_PER_S), .tv_nsec = (long)(timeout_ns % NS_PER_S) };
    uint32_t vectors = 0;

    if (ppoll(ppu->event, PPU_ARRAY_SIZE(ppu->event), &timeout, NULL) <= 0) {
        return 0;
    }
    for (uint32_t i = 0; i < PPU_MAX_VECTORS; i++) {
        uint64_t count;
        if (ppu->event[i].revents != 0 && read(ppu->event[i].fd, &count, sizeof(count)) > 0) {
            vectors |= 1u << i;
        }
    }
    return ppu->event[PPU_MAX_VECTORS].revents != 0 ? ALL_VECTORS : vectors;
}

/* The server signals no event for a vector that it raises while somebody looks for it in the mailbox. */
static uint32_t remote_wait(struct ppu_transport *transport, uint64_t timeout_ns)
{
    struct remote_ppu *ppu = ppu_of(transport);
    const uint64_t began_ns = clock_ns();

    if (connection_is_gone(&ppu->connection)) {
        return ALL_VECTORS;
    }
    uint32_t vectors = ppu->mailbox ? look_for_vectors(ppu->mailbox, &ppu->poll, began_ns, timeout_ns) : 0;
    vectors |= taken(ppu);
    if (vectors == 0) {
        const uint64_t looked_ns = clock_ns() - began_ns;
        vectors = sleep_for_vectors(ppu, timeout_ns > looked_ns ? timeout_ns - looked_ns : 0) | taken(ppu);
    }
    ppu_poll_end(&ppu->poll, clock_ns() - began_ns);
    return vectors;
}

/* ---- open and close ---- */

static void remote_ppu_free(struct remote_ppu *ppu)
{
    connection_close(&ppu->connection);
    if (ppu->transport.vram) {
        munmap(ppu->transport.vram, ppu->transport.vram_bytes);
    }
    if (ppu->transport.vram_fd >= 0) {
        close(ppu->transport.vram_fd);
    }
    if (ppu->mailbox) {
        munmap(ppu->mailbox, ppu->mailbox_bytes);
    }
    if (ppu->memory) {
        munmap(ppu->memory, ppu->memory_bytes);
    }
    if (ppu->memory_fd >= 0) {
        close(ppu->memory_fd);
    }
    for (uint32_t i = 0; i < PPU_MAX_VECTORS; i++) {
        if (ppu->event[i].fd >= 0) {
            close(ppu->event[i].fd);
        }
    }
    range_pool_fini(&ppu->bus_memory);
    pthread_mutex_destroy(&ppu->lock);
    pthread_mutex_destroy(&ppu->connection.lock);
    free(ppu);
}

static void remote_close(struct ppu_transport *transport)
{
    remote_ppu_free(ppu_of(transport));
}

static const struct ppu_transport_ops remote_ops = {
    .reg_read = remote_reg_read,
    .reg_write = remote_reg_write,
    .doorbell_read = remote_doorbell_read,
    .doorbell_write = remote_doorbell_write,
    .window_read = remote_window_read,
    .window_write = remote_window_write,
    .system_alloc = remote_system_alloc,
    .system_free = remote_system_free,
    .wait = remote_wait,
    .set_bus_master = remote_set_bus_master,
    .close = remote_close,
};

static struct remote_ppu *remote_ppu_new(void)
{
    struct remote_ppu *ppu = calloc(1, sizeof(*ppu));

    if (!ppu) {
        return NULL;
    }
    ppu->transport.ops = &remote_ops;
    ppu->connection.socket = -1;
    ppu->memory_fd = -1;
    ppu->transport.vram_fd = -1;
    for (uint32_t i = 0; i <= PPU_MAX_VECTORS; i++) {
        ppu->event[i].fd = -1;
    }
    pthread_mutex_init(&ppu->lock, NULL);
    pthread_mutex_init(&ppu->connection.lock, NULL);
    return ppu;
}

/* Each step of opening returns 0 or a number of errno. */

static int agree_on_version(struct remote_ppu *ppu)
{
    static const char text[] = "{\"capabilities\":{\"max_msg_fds\":1,\"max_data_xfer_size\":1048576}}";
    struct ppu_vfu_version version = { PPU_VFU_MAJOR, PPU_VFU_MINOR };
    char theirs[4096];
    const struct request request = {
        .command = PPU_VFU_VERSION,
        .body = &version,
        .body_bytes = sizeof(version),
        .data = text,
        .data_bytes = sizeof(text),
        .reply = &version,
        .reply_bytes = sizeof(version),
        .reply_data = theirs,
        .reply_data_bytes = sizeof(theirs),
    };
    int error = connection_ask(&ppu->connection, &request);

    return error != 0 ? error : version.major == PPU_VFU_MAJOR ? 0 : EPROTO;
}

static int check_identity(struct remote_ppu *ppu)
{
    uint16_t id[2];

    read_region(ppu, PPU_VFU_CONFIG_REGION, PCI_VENDOR_ID, id, sizeof(id));
    return connection_is_gone(&ppu->connection)                 ? EPIPE
           : id[0] == PPU_PCI_VENDOR && id[1] == PPU_PCI_DEVICE ? 0
                                                                : ENODEV;
}

/* Maps a region that is one file. `*fd` may be open whatever is returned; -1: it is not. */
static int map_region(struct remote_ppu *ppu, uint32_t index, uint8_t **mapped, uint64_t *bytes, int *fd)
{
    struct vfio_region_info info = { .argsz = sizeof(info), .index = index };

    *fd = -1;
    const struct request request = {
        .command = PPU_VFU_REGION_INFO,
        .body = &info,
        .body_bytes = sizeof(info),
        .reply = &info,
        .reply_bytes = sizeof(info),
        .reply_fd = fd,
    };
    int error = connection_ask(&ppu->connection, &request);

    if (error == 0 &&
        (*fd < 0 || (info.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0 || info.offset != 0 || info.size == 0)) {
        error = ENOTSUP;
    }
    if (error == 0) {
        *mapped = mapping_of_device(*fd, info.size);
        *bytes = info.size;
        error = *mapped ? 0 : errno;
    }
    return error;
}

static int map_vram(struct remote_ppu *ppu)
{
    return map_region(ppu, PPU_BAR_VRAM, &ppu->transport.vram, &ppu->transport.vram_bytes, &ppu->transport.vram_fd);
}

/* A server without one, or with one that is too small, has its doorbells rung by messages. */
static int map_mailbox(struct remote_ppu *ppu)
{
    uint8_t *mapped = NULL;
    int fd = -1;
    const int error = map_region(ppu, PPU_BAR_MAILBOX, &mapped, &ppu->mailbox_bytes, &fd);

    if (fd >= 0) {
        close(fd);
    }
    if (mapped && ppu->mailbox_bytes < sizeof(struct ppu_mailbox)) {
        munmap(mapped, ppu->mailbox_bytes);
        mapped = NULL;
    }
    ppu->mailbox = (struct ppu_mailbox *)(void *)mapped;
    return error == ENOTSUP || error == EINVAL ? 0 : error;
}

static int connect_vectors(struct remote_ppu *ppu)
{
    int fds[PPU_MAX_VECTORS];
    int error = 0;

    for (uint32_t i = 0; i < PPU_MAX_VECTORS; i++) {
        fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ppu->event[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
        if (fds[i] < 0) {
            return errno;
        }
    }
    ppu->event[PPU_MAX_VECTORS] = (struct pollfd){ .fd = ppu->connection.socket, .events = POLLRDHUP };
    for (uint32_t first = 0; first < PPU_MAX_VECTORS && error == 0; first += PPU_VFU_MAX_FDS) {
        const struct vfio_irq_set set = {
            .argsz = sizeof(set),
            .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
            .index = VFIO_PCI_MSIX_IRQ_INDEX,
            .start = first,
            .count = PPU_VFU_MAX_FDS,
        };
        const struct request request = {
            .command = PPU_VFU_SET_IRQS,
            .body = &set,
            .body_bytes = sizeof(set),
            .fds = fds + first,
            .fd_count = PPU_VFU_MAX_FDS,
        };
        error = connection_ask(&ppu->connection, &request);
    }
    return error;
}

/* The file cannot shrink, which lets the server map it. Less than the computer has where so much cannot be mapped. */
static int make_memory(struct remote_ppu *ppu)
{
    const uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    ppu->memory_fd = memfd_create("ppu-ram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (ppu->memory_fd < 0) {
        return errno;
    }
    for (uint64_t most = physical; most >= LEAST_MEMORY_BYTES && !ppu->memory; most /= 2) {
        const uint64_t bytes = most / PPU_PAGE_2M * PPU_PAGE_2M;
        if (ftruncate(ppu->memory_fd, (off_t)bytes) == 0) {
            ppu->memory = mapping_of_file(ppu->memory_fd, bytes);
            ppu->memory_bytes = bytes;
        }
    }
    if (!ppu->memory || fcntl(ppu->memory_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
        return errno;
    }
    return range_pool_init(&ppu->bus_memory, BUS_BASE, ppu->memory_bytes) ? 0 : ENOMEM;
}

static int share_memory(struct remote_ppu *ppu)
{
    int error = make_memory(ppu);
    const struct ppu_vfu_dma_map map = {
        .argsz = sizeof(map),
        .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
        .bus = BUS_BASE,
        .bytes = ppu->memory_bytes,
    };
    const struct request request = {
        .command = PPU_VFU_DMA_MAP, .body = &map, .body_bytes = sizeof(map), .fds = &ppu->memory_fd, .fd_count = 1
    };

    return error != 0 ? error : connection_ask(&ppu->connection, &request);
}

static const struct {
    int (*take)(struct remote_ppu *ppu);
    const char *what;
} steps[] = {
    { agree_on_version, "agree on a version of vfio-user" },
    { check_identity, "ask who it is" },
    { map_vram, "map its VRAM" },
    { map_mailbox, "map its mailbox" },
    { connect_vectors, "connect its interrupts" },
    { share_memory, "share system memory" },
};

static enum ppu_err open_failed(const char *path, const char *what, int error, struct ppu_error *text)
{
    switch (error) {
    case EBUSY:
        return error_set(text, PPU_ERR_BUSY, "open the PPU at %s: another client has it", path);
    case ENODEV:
        return error_set(text, PPU_ERR_NO_DEVICE, "open the PPU at %s: the device there is no PPU", path);
    case ENOMEM:
        return error_set(text, PPU_ERR_NO_MEMORY, "open the PPU at %s: not enough memory", path);
    case EPIPE:
        return error_set(text, PPU_ERR_TRANSPORT, "open the PPU at %s: %s: the server has ended the connection", path,
                         what);
    default:
        return error_set(text, PPU_ERR_TRANSPORT, "open the PPU at %s: %s: %s", path, what, strerror(error));
    }
}

enum ppu_err ppu_vfio_user_transport(const char *path, struct ppu_transport **out, struct ppu_error *error)
{
    struct remote_ppu *ppu = remote_ppu_new();

    *out = NULL;
    if (!ppu) {
        return error_set(error, PPU_ERR_NO_MEMORY, "open a PPU: not enough memory");
    }
    if (!connection_open(&ppu->connection, path)) {
        enum ppu_err err =
            error_set(error, PPU_ERR_TRANSPORT, "open the PPU at %s: %s; ppu-run --vfio-user makes such a socket", path,
                      strerror(errno));
        remote_ppu_free(ppu);
        return err;
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(steps); i++) {
        int failed = steps[i].take(ppu);
        if (failed != 0) {
            enum ppu_err err = open_failed(path, steps[i].what, failed, error);
            remote_ppu_free(ppu);
            return err;
        }
    }
    *out = &ppu->transport;
    return PPU_OK;
}
