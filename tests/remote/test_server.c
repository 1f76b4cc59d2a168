/* SPDX-License-Identifier: MIT */
/* Tests the server of vfio-user with right clients, hostile ones, and such that go away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "qemu-device/remote/server.h"
#include "tests/remote/client.h"

#define REGS_BYTES 8192u
#define REGS 0u
#define DOORBELLS 2u
#define MEMORY 4u

/* A function whose registers are memory. */
struct toy {
    struct remote_server *server;
    int client; /* our end of the socket */
    uint8_t regs[REGS_BYTES];
    uint32_t resets;
    uint32_t complaints;
    int memory;
    struct client_reply reply;
};

static bool toy_read(void *opaque, uint32_t region, uint64_t offset, void *buf, uint32_t bytes)
{
    struct toy *toy = opaque;

    assert_true(region == REGS && offset + bytes <= REGS_BYTES);
    memcpy(buf, toy->regs + offset, bytes);
    return bytes != 3; /* of all sizes the function does not take this one */
}

static bool toy_write(void *opaque, uint32_t region, uint64_t offset, const void *buf, uint32_t bytes)
{
    struct toy *toy = opaque;

    assert_true(region == REGS && offset + bytes <= REGS_BYTES);
    memcpy(toy->regs + offset, buf, bytes);
    return bytes != 3;
}

static void toy_reset(void *opaque)
{
    ((struct toy *)opaque)->resets++;
}

static void toy_complain(void *opaque, const char *sentence)
{
    assert_non_null(sentence);
    ((struct toy *)opaque)->complaints++;
}

static void attach(struct toy *toy)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    toy->client = pair[0];
    remote_server_attach(toy->server, pair[1]);
}

static int set_up(void **state)
{
    static const struct remote_ops ops = { toy_read, toy_write, toy_reset, toy_complain };
    struct toy *toy = calloc(1, sizeof(*toy));

    assert_non_null(toy);
    toy->server = remote_server_new(&ops, toy);
    toy->memory = memfd_create("vram", MFD_CLOEXEC);
    assert_int_equal(ftruncate(toy->memory, 65536), 0);
    const struct remote_region regs = { .bytes = REGS_BYTES, .fd = -1 };
    const struct remote_region doorbells = {
        .bytes = 65536, .fd = toy->memory, .file_offset = 4096, .map_offset = 8192, .map_bytes = 4096
    };
    const struct remote_region memory = { .bytes = 65536, .fd = toy->memory, .map_bytes = 65536 };
    remote_server_set_region(toy->server, REGS, &regs);
    remote_server_set_region(toy->server, DOORBELLS, &doorbells);
    remote_server_set_region(toy->server, MEMORY, &memory);
    attach(toy);
    *state = toy;
    return 0;
}

static int tear_down(void **state)
{
    struct toy *toy = *state;

    remote_server_free(toy->server);
    close(toy->client);
    close(toy->memory);
    free(toy);
    return 0;
}

/* Sends a request, lets the server answer it, and returns the error of the reply. */
static uint32_t ask_with(struct toy *toy, uint16_t command, const void *body, size_t bytes, const int *fds,
                         size_t count)
{
    client_send(toy->client, command, 0, body, bytes, fds, count);
    assert_true(remote_server_serve(toy->server));
    assert_true(client_receive(toy->client, &toy->reply) > 0);
    assert_int_equal(toy->reply.header.command, command);
    assert_int_equal(toy->reply.header.flags & PPU_VFU_TYPE, PPU_VFU_REPLY);
    return toy->reply.header.flags & PPU_VFU_ERROR ? toy->reply.header.error : 0;
}

static uint32_t ask(struct toy *toy, uint16_t command, const void *body, size_t bytes)
{
    return ask_with(toy, command, body, bytes, NULL, 0);
}

static void say_version(struct toy *toy)
{
    uint8_t body[128];

    assert_int_equal(ask(toy, PPU_VFU_VERSION, body, client_version(body)), 0);
}

static void version_comes_first(void **state)
{
    struct toy *toy = *state;
    const uint16_t later[2] = { PPU_VFU_MAJOR + 1, 0 };

    assert_int_equal(ask(toy, PPU_VFU_RESET, NULL, 0), EPROTO);
    assert_int_equal(toy->resets, 0);
    assert_int_equal(ask(toy, PPU_VFU_VERSION, later, sizeof(later)), EINVAL);
    assert_int_equal(ask(toy, PPU_VFU_VERSION, later, 1), EINVAL);
    say_version(toy);
    assert_non_null(strstr((char *)toy->reply.body + 4, "\"max_msg_fds\":16"));
    assert_int_equal(toy->reply.body[toy->reply.header.bytes - sizeof(toy->reply.header) - 1], 0);
    uint8_t body[128];
    assert_int_equal(ask(toy, PPU_VFU_VERSION, body, client_version(body)), EINVAL); /* not twice */
    assert_int_equal(ask(toy, PPU_VFU_RESET, NULL, 0), 0);
    assert_int_equal(toy->resets, 1);
    assert_int_equal(ask(toy, 99, NULL, 0), ENOTSUP);
    assert_int_equal(ask(toy, PPU_VFU_DMA_READ, NULL, 0), ENOTSUP);
}

static void describes_itself(void **state)
{
    struct toy *toy = *state;
    struct vfio_region_info info = { .argsz = 256, .index = MEMORY };
    uint32_t device[4] = { sizeof(device) };

    say_version(toy);
    assert_int_equal(ask(toy, PPU_VFU_DEVICE_INFO, device, sizeof(device)), 0);
    memcpy(device, toy->reply.body, sizeof(device));
    assert_int_equal(device[1], VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI);
    assert_int_equal(device[2], PPU_VFU_REGIONS);
    assert_int_equal(ask(toy, PPU_VFU_REGION_INFO, &info, sizeof(info)), 0);
    memcpy(&info, toy->reply.body, sizeof(info));
    assert_int_equal(info.size, 65536);
    assert_true((info.flags & VFIO_REGION_INFO_FLAG_MMAP) != 0);
    assert_true(toy->reply.fd >= 0);
    close(toy->reply.fd);
    info = (struct vfio_region_info){ .argsz = 256, .index = REGS };
    assert_int_equal(ask(toy, PPU_VFU_REGION_INFO, &info, sizeof(info)), 0);
    assert_int_equal(toy->reply.fd, -1);
    info.index = PPU_VFU_REGIONS;
    assert_int_equal(ask(toy, PPU_VFU_REGION_INFO, &info, sizeof(info)), EINVAL);
    struct vfio_irq_info irq = { .argsz = sizeof(irq), .index = VFIO_PCI_MSIX_IRQ_INDEX };
    assert_int_equal(ask(toy, PPU_VFU_IRQ_INFO, &irq, sizeof(irq)), 0);
    memcpy(&irq, toy->reply.body, sizeof(irq));
    assert_int_equal(irq.count, PPU_MAX_VECTORS);
}

/* Of a region that can be mapped in part the answer says which part, when the client has room for it. */
static void describes_parts(void **state)
{
    struct toy *toy = *state;
    struct vfio_region_info info = { .argsz = sizeof(info), .index = DOORBELLS };
    struct vfio_region_sparse_mmap_area area;

    say_version(toy);
    assert_int_equal(ask(toy, PPU_VFU_REGION_INFO, &info, sizeof(info)), 0);
    close(toy->reply.fd);
    memcpy(&info, toy->reply.body, sizeof(info));
    assert_true((info.flags & VFIO_REGION_INFO_FLAG_CAPS) != 0);
    assert_int_equal(info.cap_offset, 0);
    assert_true(info.argsz > sizeof(info));
    assert_int_equal(ask(toy, PPU_VFU_REGION_INFO, &info, sizeof(info)), 0);
    close(toy->reply.fd);
    memcpy(&info, toy->reply.body, sizeof(info));
    assert_int_equal(info.offset, 4096);
    assert_int_equal(info.cap_offset, sizeof(info));
    memcpy(&area, toy->reply.body + sizeof(info) + sizeof(struct vfio_region_info_cap_sparse_mmap), sizeof(area));
    assert_int_equal(area.offset, 8192);
    assert_int_equal(area.size, 4096);
}

struct access_with_data {
    struct ppu_vfu_access access;
    uint8_t data[64];
};

static void accesses(void **state)
{
    struct toy *toy = *state;
    struct access_with_data ask_for = { { 16, REGS, 4 }, { 1, 2, 3, 4 } };

    say_version(toy);
    assert_int_equal(ask(toy, PPU_VFU_REGION_WRITE, &ask_for, sizeof(ask_for.access) + 4), 0);
    assert_memory_equal(toy->regs + 16, ask_for.data, 4);
    assert_int_equal(ask(toy, PPU_VFU_REGION_READ, &ask_for, sizeof(ask_for.access)), 0);
    assert_memory_equal(toy->reply.body + sizeof(ask_for.access), ask_for.data, 4);
    assert_int_equal(toy->reply.header.bytes, sizeof(struct ppu_vfu_header) + sizeof(ask_for.access) + 4);
    const struct ppu_vfu_access wrong[] = {
        { REGS_BYTES, REGS, 4 },
        { REGS_BYTES - 3, REGS, 4 },
        { UINT64_MAX, REGS, 4 },
        { 0, REGS, 0 },
        { 0, 1, 4 },
        { 0, 99, 4 },
        { 0, REGS, UINT32_MAX },
        { 0, MEMORY, 65537 },
    };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        ask_for.access = wrong[i];
        assert_int_equal(ask(toy, PPU_VFU_REGION_READ, &ask_for, sizeof(ask_for)), EINVAL);
        assert_int_equal(ask(toy, PPU_VFU_REGION_WRITE, &ask_for, sizeof(ask_for)), EINVAL);
    }
    ask_for.access = (struct ppu_vfu_access){ 0, REGS, 64 };
    assert_int_equal(ask(toy, PPU_VFU_REGION_WRITE, &ask_for, sizeof(ask_for) - 1), EINVAL); /* a byte is missing */
    assert_int_equal(ask(toy, PPU_VFU_REGION_READ, &ask_for, sizeof(ask_for.access) - 1), EINVAL);
    ask_for.access.bytes = 3;
    assert_int_equal(ask(toy, PPU_VFU_REGION_READ, &ask_for, sizeof(ask_for)), EIO);
    assert_int_equal(ask(toy, PPU_VFU_REGION_WRITE, &ask_for, sizeof(ask_for)), EIO);
}

/* A posted write has no reply, also when it fails; what comes behind it sees its effect. */
static void posted_writes(void **state)
{
    struct toy *toy = *state;
    struct access_with_data posted = { { 0, REGS, 4 }, { 9 } };

    say_version(toy);
    for (uint8_t i = 0; i < 100; i++) {
        posted.data[0] = i;
        posted.access.region = i % 2 == 0 ? REGS : 77;
        client_send(toy->client, PPU_VFU_REGION_WRITE, PPU_VFU_NO_REPLY, &posted, sizeof(posted.access) + 4, NULL, 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_true(remote_server_serve(toy->server));
    }
    posted.access.region = REGS;
    assert_int_equal(ask(toy, PPU_VFU_REGION_READ, &posted, sizeof(posted.access)), 0);
    assert_int_equal(toy->reply.body[sizeof(posted.access)], 98);
}

static void one_byte_at_a_time(void **state)
{
    struct toy *toy = *state;
    const struct ppu_vfu_access access = { 0, REGS, 4 };
    struct ppu_vfu_header header = { 7, PPU_VFU_REGION_READ, sizeof(header) + sizeof(access), 0, 0 };
    uint8_t bytes[sizeof(header) + sizeof(access)];

    say_version(toy);
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), &access, sizeof(access));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        assert_int_equal(send(toy->client, bytes + i, 1, 0), 1);
        assert_true(remote_server_serve(toy->server));
    }
    assert_true(client_receive(toy->client, &toy->reply) > 0);
    assert_int_equal(toy->reply.header.id, 7);
    assert_int_equal(toy->reply.header.flags, PPU_VFU_REPLY);
}

/* A client that asks and does not take the answers: the server keeps one, and reads no more until that has gone. */
static void full_socket(void **state)
{
    struct toy *toy = *state;
    const struct ppu_vfu_access access = { 0, REGS, REGS_BYTES };
    uint32_t asked = 0, answered = 0;

    say_version(toy);
    while (!remote_server_wants_room(toy->server)) {
        client_send(toy->client, PPU_VFU_REGION_READ, 0, &access, sizeof(access), NULL, 0);
        asked++;
        assert_true(remote_server_serve(toy->server));
        assert_true(asked < 10000);
    }
    client_send(toy->client, PPU_VFU_REGION_READ, 0, &access, sizeof(access), NULL, 0);
    asked++;
    for (; answered < asked; answered++) {
        assert_true(client_receive(toy->client, &toy->reply) > 0);
        assert_int_equal(toy->reply.header.bytes, sizeof(toy->reply.header) + sizeof(access) + REGS_BYTES);
        assert_true(remote_server_serve(toy->server));
    }
    assert_false(remote_server_wants_room(toy->server));
}

static void no_messages(void **state)
{
    struct toy *toy = *state;
    const struct ppu_vfu_header wrong[] = {
        { 1, PPU_VFU_RESET, 0, 0, 0 },
        { 1, PPU_VFU_RESET, sizeof(wrong[0]) - 1, 0, 0 },
        { 1, PPU_VFU_RESET, UINT32_MAX, 0, 0 },
        { 1, PPU_VFU_REGION_WRITE, sizeof(wrong[0]) + PPU_VFU_BODY_BYTES + 1, 0, 0 },
        { 1, PPU_VFU_RESET, sizeof(wrong[0]), PPU_VFU_REPLY, 0 },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        assert_int_equal(send(toy->client, &wrong[i], sizeof(wrong[i]), 0), sizeof(wrong[i]));
        assert_false(remote_server_serve(toy->server));
        assert_int_equal(toy->complaints, i + 1);
        remote_server_detach(toy->server);
        close(toy->client);
        attach(toy);
    }
}

static uint32_t map_memory(struct toy *toy, uint64_t bus, uint64_t bytes, int fd)
{
    const struct ppu_vfu_dma_map map = { sizeof(map), VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE, 0, bus, bytes };

    return ask_with(toy, PPU_VFU_DMA_MAP, &map, sizeof(map), &fd, fd >= 0 ? 1 : 0);
}

static void maps_memory(void **state)
{
    struct toy *toy = *state;
    struct ppu_vfu_dma_unmap unmap = { sizeof(unmap), 0, 0x10000, 4096 };
    uint32_t word = 0x1234, mappings, files;
    int both[2] = { toy->memory, toy->memory };

    say_version(toy);
    assert_int_equal(map_memory(toy, 0x10000, 4096, toy->memory), 0);
    assert_int_equal(map_memory(toy, 0x20000, 4096, toy->memory), 0);
    assert_int_equal(map_memory(toy, 0x30000, 4096, -1), 0);
    assert_int_equal(map_memory(toy, 0x20000, 4096, toy->memory), EEXIST);
    assert_int_equal(map_memory(toy, 0x40000, 0, toy->memory), EINVAL);
    assert_int_equal(map_memory(toy, UINT64_MAX, 2, toy->memory), EINVAL);
    const struct ppu_vfu_dma_map twice = { sizeof(twice), 0, 0, 0x50000, 4096 };
    assert_int_equal(ask_with(toy, PPU_VFU_DMA_MAP, &twice, sizeof(twice), both, 2), EINVAL);
    assert_true(remote_server_dma_write(toy->server, 0x20004, &word, sizeof(word)));
    word = 0;
    assert_true(remote_server_dma_read(toy->server, 0x10004, &word, sizeof(word))); /* the same page */
    assert_int_equal(word, 0x1234);
    assert_false(remote_server_dma_read(toy->server, 0x30000, &word, sizeof(word)));
    assert_int_equal(ask(toy, PPU_VFU_DMA_UNMAP, &unmap, sizeof(unmap)), 0);
    assert_false(remote_server_dma_read(toy->server, 0x10004, &word, sizeof(word)));
    assert_int_equal(ask(toy, PPU_VFU_DMA_UNMAP, &unmap, sizeof(unmap) - 1), EINVAL);
    unmap.bytes = 0;
    assert_int_equal(ask(toy, PPU_VFU_DMA_UNMAP, &unmap, sizeof(unmap)), EINVAL);
    unmap = (struct ppu_vfu_dma_unmap){ sizeof(unmap), VFIO_DMA_UNMAP_FLAG_ALL, 0, 0 };
    assert_int_equal(ask(toy, PPU_VFU_DMA_UNMAP, &unmap, sizeof(unmap)), 0);
    remote_server_counts(toy->server, &mappings, &files);
    assert_int_equal(mappings, 0);
    assert_int_equal(files, 0);
}

static uint32_t set_irqs(struct toy *toy, uint32_t flags, uint32_t start, uint32_t count, const int *fds,
                         size_t fd_count)
{
    const struct vfio_irq_set set = { sizeof(set), flags, VFIO_PCI_MSIX_IRQ_INDEX, start, count };

    return ask_with(toy, PPU_VFU_SET_IRQS, &set, sizeof(set), fds, fd_count);
}

static uint64_t raised(int event)
{
    uint64_t count = 0;

    return read(event, &count, sizeof(count)) == (ssize_t)sizeof(count) ? count : 0;
}

#define CONNECT (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define MASK (VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK)
#define UNMASK (VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK)
#define TRIGGER (VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER)

static void raises_vectors(void **state)
{
    struct toy *toy = *state;
    int events[2] = { eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };

    say_version(toy);
    assert_int_equal(set_irqs(toy, CONNECT, 30, 2, events, 2), 0);
    remote_server_raise(toy->server, 31);
    remote_server_raise(toy->server, 31);
    remote_server_raise(toy->server, 5); /* nobody waits for it */
    remote_server_raise(toy->server, PPU_MAX_VECTORS);
    assert_int_equal(raised(events[1]), 2);
    assert_int_equal(raised(events[0]), 0);
    assert_int_equal(set_irqs(toy, MASK, 31, 1, NULL, 0), 0);
    remote_server_raise(toy->server, 31);
    assert_int_equal(raised(events[1]), 0);
    assert_int_equal(set_irqs(toy, UNMASK, 30, 2, NULL, 0), 0);
    assert_int_equal(raised(events[1]), 1);
    assert_int_equal(raised(events[0]), 0);
    assert_int_equal(set_irqs(toy, TRIGGER, 30, 1, NULL, 0), 0);
    assert_int_equal(raised(events[0]), 1);
    assert_int_equal(set_irqs(toy, CONNECT, 30, 1, NULL, 0), 0); /* without a descriptor: no longer */
    remote_server_raise(toy->server, 30);
    assert_int_equal(raised(events[0]), 0);
    assert_int_equal(set_irqs(toy, TRIGGER, 0, 0, NULL, 0), 0); /* none at all */
    remote_server_raise(toy->server, 31);
    assert_int_equal(raised(events[1]), 0);
    close(events[0]);
    close(events[1]);
}

/* A counter that is full would make a writer wait. */
static void full_counter(void **state)
{
    struct toy *toy = *state;
    const uint64_t most = UINT64_MAX - 1;
    int event = eventfd(0, EFD_CLOEXEC);

    say_version(toy);
    assert_int_equal(set_irqs(toy, CONNECT, 0, 1, &event, 1), 0);
    assert_int_equal(write(event, &most, sizeof(most)), sizeof(most));
    assert_int_equal(fcntl(event, F_SETFL, O_RDWR), 0);
    remote_server_raise(toy->server, 0);
    assert_int_equal(raised(event), most);
    close(event);
}

static void wrong_vectors(void **state)
{
    struct toy *toy = *state;
    int ends[2], event = eventfd(0, EFD_CLOEXEC);
    const struct vfio_irq_set bools = { sizeof(bools), VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_MASK,
                                        VFIO_PCI_MSIX_IRQ_INDEX, 0, PPU_MAX_VECTORS };
    const struct vfio_irq_set line = { sizeof(line), CONNECT, VFIO_PCI_INTX_IRQ_INDEX, 0, 1 };

    assert_int_equal(pipe(ends), 0);
    say_version(toy);
    assert_int_equal(set_irqs(toy, CONNECT, 0, 1, &ends[1], 1), EBADF);
    assert_int_equal(set_irqs(toy, CONNECT, 0, 2, &event, 1), EINVAL);
    assert_int_equal(set_irqs(toy, CONNECT, PPU_MAX_VECTORS, 1, &event, 1), EINVAL);
    assert_int_equal(set_irqs(toy, CONNECT, UINT32_MAX, 2, &event, 1), EINVAL);
    assert_int_equal(set_irqs(toy, MASK, 1, PPU_MAX_VECTORS, NULL, 0), EINVAL);
    assert_int_equal(set_irqs(toy, 0, 0, 1, NULL, 0), EINVAL);
    assert_int_equal(set_irqs(toy, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_MASK, 0, 1, &event, 1), EINVAL);
    assert_int_equal(ask(toy, PPU_VFU_SET_IRQS, &bools, sizeof(bools)), EINVAL); /* the bytes are missing */
    assert_int_equal(ask(toy, PPU_VFU_SET_IRQS, &line, sizeof(line)), EINVAL);
    close(ends[0]);
    close(ends[1]);
    close(event);
}

/* Descriptors that open files have in this process: nothing that a client sends may stay. */
static uint32_t open_descriptors(void)
{
    uint32_t count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void closes_descriptors(void **state)
{
    struct toy *toy = *state;
    int many[2 * PPU_VFU_MAX_FDS];
    const uint32_t before = open_descriptors();

    say_version(toy);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(many); i++) {
        many[i] = toy->memory;
    }
    assert_int_equal(ask_with(toy, PPU_VFU_RESET, NULL, 0, many, PPU_VFU_MAX_FDS), 0);
    assert_int_equal(open_descriptors(), before);
    client_send(toy->client, PPU_VFU_RESET, 0, NULL, 0, many, PPU_ARRAY_SIZE(many));
    assert_false(remote_server_serve(toy->server));
    remote_server_detach(toy->server);
    assert_int_equal(open_descriptors(), before - 1); /* the server's end */
}

/* The next client finds nothing of the one before it, of which half a message is left. */
static void next_client(void **state)
{
    struct toy *toy = *state;
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    uint32_t word, mappings, files;

    say_version(toy);
    assert_int_equal(map_memory(toy, 0x10000, 4096, toy->memory), 0);
    assert_int_equal(set_irqs(toy, CONNECT, 3, 1, &event, 1), 0);
    assert_int_equal(send(toy->client, "half", 4, 0), 4);
    assert_true(remote_server_serve(toy->server));
    close(toy->client);
    assert_false(remote_server_serve(toy->server));
    remote_server_detach(toy->server);
    assert_false(remote_server_is_attached(toy->server));
    attach(toy);
    assert_int_equal(ask(toy, PPU_VFU_RESET, NULL, 0), EPROTO);
    say_version(toy);
    remote_server_raise(toy->server, 3);
    assert_int_equal(raised(event), 0);
    assert_false(remote_server_dma_read(toy->server, 0x10000, &word, sizeof(word)));
    remote_server_counts(toy->server, &mappings, &files);
    assert_int_equal(mappings, 0);
    close(event);
}

static void second_client(void **state)
{
    struct toy *toy = *state;
    uint8_t body[128];
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_false(remote_server_refuse(pair[1])); /* it has said nothing yet */
    const size_t bytes = client_version(body);
    client_send(pair[0], PPU_VFU_VERSION, 0, body, bytes, NULL, 0);
    assert_false(remote_server_refuse(pair[1]));
    assert_int_equal(client_receive(pair[0], &toy->reply), sizeof(toy->reply.header));
    assert_int_equal(toy->reply.header.command, PPU_VFU_VERSION);
    assert_int_equal(toy->reply.header.error, EBUSY);
    close(pair[0]);
    assert_true(remote_server_refuse(pair[1]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(version_comes_first), TEST(describes_itself),   TEST(describes_parts), TEST(accesses),
        TEST(posted_writes),       TEST(one_byte_at_a_time), TEST(full_socket),     TEST(no_messages),
        TEST(maps_memory),         TEST(raises_vectors),     TEST(full_counter),    TEST(wrong_vectors),
        TEST(closes_descriptors),  TEST(next_client),        TEST(second_client),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
