/* SPDX-License-Identifier: MIT */
/*
 * Surface: what a client of vfio-user sends: messages, in pieces, with descriptors; what it does to its memory
 * meanwhile.
 *
 * An input is a list of actions of a client: messages of every command with fields that are right, nearly right or
 * anything, pieces of messages, descriptors of every kind of file, files that shrink, replies that are not taken, an
 * end. In between the function accesses the client's memory and raises vectors.
 *
 * A second table of the mappings, a plain list, says which accesses must succeed, and what they must find. No access
 * may reach a region outside of its bounds, and after the client's end nothing of it may be left: no descriptor, no
 * mapping. The sanitizers see the rest.
 */
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
#include "ppu/vfio_user.h"
#include "qemu-device/remote/server.h"
#include "tests/fuzz/input.h"

#define PAGE 4096u
#define FILE_PAGES 8u
#define REGS_BYTES 4096u
#define VRAM_BYTES 65536u
#define MOST_ACTIONS 200u
#define MOST_KNOWN 256u
#define BUS_PAGES 64u /* mappings lie where they meet each other */

enum file { SEALED, OPEN, READ_ONLY, EVENT, PIPE, FILES };

/* What the server must know. */
struct known {
    uint64_t bus, bytes, offset;
    bool readable, writable;
    int file; /* SEALED; -1: none; others are not followed */
};

static struct {
    struct fuzz_input in;
    struct remote_server *server;
    int client;
    int file[FILES];
    int pipe_end;
    uint8_t *sealed; /* mapped by this file, too */
    struct known known[MOST_KNOWN];
    uint32_t count;
    bool follows; /* `known` is exact: all messages were whole, and their replies were taken */
    uint8_t regs[REGS_BYTES];
} f;

/* ---- the function ---- */

static void check_access(uint32_t region, uint64_t offset, uint32_t bytes)
{
    const uint64_t size = region == 0 ? REGS_BYTES : region == 4 ? VRAM_BYTES : 0;

    if (bytes == 0 || bytes > PPU_VFU_MAX_TRANSFER || offset > size || bytes > size - offset) {
        fuzz_found("region %u: %u bytes at 0x%llx", region, bytes, (unsigned long long)offset);
    }
}

static bool function_read(void *opaque, uint32_t region, uint64_t offset, void *buf, uint32_t bytes)
{
    (void)opaque;
    check_access(region, offset, bytes);
    memset(buf, (int)offset, bytes);
    return offset % 8 != 4;
}

static bool function_write(void *opaque, uint32_t region, uint64_t offset, const void *buf, uint32_t bytes)
{
    (void)opaque;
    check_access(region, offset, bytes);
    memcpy(f.regs, buf, PPU_MIN(bytes, REGS_BYTES));
    return offset % 8 != 4;
}

static void function_reset(void *opaque)
{
    (void)opaque;
}

static void function_complain(void *opaque, const char *sentence)
{
    (void)opaque;
    (void)sentence;
}

/* ---- set-up ---- */

static void make_files(void)
{
    int ends[2];

    f.file[SEALED] = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    f.file[OPEN] = memfd_create("open", MFD_CLOEXEC);
    f.file[EVENT] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (ftruncate(f.file[SEALED], FILE_PAGES * PAGE) != 0 || fcntl(f.file[SEALED], F_ADD_SEALS, F_SEAL_SHRINK) != 0 ||
        pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        abort();
    }
    f.file[READ_ONLY] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    f.file[PIPE] = ends[1];
    f.pipe_end = ends[0];
    f.sealed = mmap(NULL, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f.file[SEALED], 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const struct remote_ops ops = { function_read, function_write, function_reset, function_complain };

    (void)argc;
    (void)argv;
    make_files();
    f.server = remote_server_new(&ops, NULL);
    const struct remote_region regs = { .bytes = REGS_BYTES, .fd = -1 };
    const struct remote_region vram = { .bytes = VRAM_BYTES, .fd = f.file[SEALED], .map_bytes = VRAM_BYTES };
    remote_server_set_region(f.server, 0, &regs);
    remote_server_set_region(f.server, 4, &vram);
    return 0;
}

/* ---- messages ---- */

static uint32_t odd_u32(uint32_t right)
{
    const uint8_t how = fuzz_u8(&f.in);

    return how < 200 ? right : how < 220 ? right + (uint32_t)(how % 3) - 1 : how < 240 ? how : fuzz_u32(&f.in);
}

static uint64_t odd_u64(uint64_t right)
{
    const uint8_t how = fuzz_u8(&f.in);

    return how < 220 ? right : how < 240 ? right + (uint64_t)(how % 3) - 1 : fuzz_u64(&f.in);
}

static size_t map_body(struct ppu_vfu_dma_map *map)
{
    map->argsz = sizeof(*map);
    map->flags = odd_u32(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE);
    map->bus = odd_u64((uint64_t)fuzz_below(&f.in, BUS_PAGES) * PAGE);
    map->bytes = odd_u64((uint64_t)(1 + fuzz_below(&f.in, 4)) * PAGE);
    map->offset = odd_u64((uint64_t)fuzz_below(&f.in, FILE_PAGES) * PAGE);
    return sizeof(*map);
}

static size_t unmap_body(struct ppu_vfu_dma_unmap *unmap)
{
    unmap->argsz = sizeof(*unmap);
    unmap->flags = fuzz_below(&f.in, 16) == 0 ? VFIO_DMA_UNMAP_FLAG_ALL : 0;
    unmap->bus = unmap->flags != 0 ? 0 : odd_u64((uint64_t)fuzz_below(&f.in, BUS_PAGES) * PAGE);
    unmap->bytes = unmap->flags != 0 ? 0 : odd_u64((uint64_t)(1 + fuzz_below(&f.in, 16)) * PAGE);
    return sizeof(*unmap);
}

static size_t irqs_body(struct vfio_irq_set *set)
{
    static const uint32_t flags[] = {
        VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
        VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_MASK,       VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK,
        VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_MASK,       VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER,
    };
    set->argsz = sizeof(*set);
    set->flags = odd_u32(flags[fuzz_below(&f.in, PPU_ARRAY_SIZE(flags))]);
    set->index = odd_u32(VFIO_PCI_MSIX_IRQ_INDEX);
    set->start = odd_u32(fuzz_below(&f.in, PPU_MAX_VECTORS));
    set->count = odd_u32(fuzz_below(&f.in, 4));
    return sizeof(*set) + fuzz_below(&f.in, 8);
}

static size_t access_body(struct ppu_vfu_access *access)
{
    access->region = odd_u32(fuzz_below(&f.in, 2) * 4);
    access->offset = odd_u64(fuzz_below(&f.in, REGS_BYTES / 4) * 4);
    access->bytes = odd_u32(4u << fuzz_below(&f.in, 14));
    return sizeof(*access) + PPU_MIN(access->bytes, 2u * PAGE);
}

static size_t info_body(uint32_t *words)
{
    words[0] = odd_u32(fuzz_below(&f.in, 2) ? 32 : 256);
    words[2] = odd_u32(fuzz_below(&f.in, PPU_VFU_REGIONS));
    return 32;
}

static size_t version_body(uint8_t *body)
{
    static const char text[] = "{\"capabilities\":{}}";

    memcpy(body, &(struct ppu_vfu_version){ (uint16_t)odd_u32(PPU_VFU_MAJOR), PPU_VFU_MINOR }, 4);
    memcpy(body + 4, text, sizeof(text));
    return 4 + sizeof(text);
}

/* The bytes of a body for the command. */
static size_t make_body(uint16_t command, void *body)
{
    switch (command) {
    case PPU_VFU_VERSION:
        return version_body(body);
    case PPU_VFU_DMA_MAP:
        return map_body(body);
    case PPU_VFU_DMA_UNMAP:
        return unmap_body(body);
    case PPU_VFU_SET_IRQS:
        return irqs_body(body);
    case PPU_VFU_REGION_READ:
    case PPU_VFU_REGION_WRITE:
        return access_body(body);
    default:
        return info_body(body);
    }
}

static void send_bytes(const void *bytes, size_t count, const int *fds, size_t fd_count)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(32 * sizeof(int))];
    } control = {
        .head = { .cmsg_len = CMSG_LEN(fd_count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
    };
    struct iovec part = { (void *)(uintptr_t)bytes, count };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

    if (fd_count != 0) {
        memcpy(CMSG_DATA(&control.head), fds, fd_count * sizeof(int));
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
    }
    if (sendmsg(f.client, &message, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)count) {
        f.follows = false;
    }
}

/* ---- the second table ---- */

static bool overlaps(const struct known *known, uint64_t bus, uint64_t bytes)
{
    return bus - known->bus < known->bytes || known->bus - bus < bytes;
}

/* The server has taken a mapping. */
static void note_map(const struct ppu_vfu_dma_map *map, int file)
{
    for (uint32_t i = 0; i < f.count; i++) {
        if (overlaps(&f.known[i], map->bus, map->bytes)) {
            fuzz_found("a mapping at 0x%llx was taken over another", (unsigned long long)map->bus);
        }
    }
    if (file == SEALED && (map->offset > FILE_PAGES * PAGE || map->bytes > FILE_PAGES * PAGE - map->offset)) {
        fuzz_found("a mapping behind the end of its file was taken");
    }
    if (f.count == MOST_KNOWN) {
        f.follows = false;
        return;
    }
    f.known[f.count++] = (struct known){ map->bus,
                                         map->bytes,
                                         map->offset,
                                         (map->flags & VFIO_DMA_MAP_FLAG_READ) != 0,
                                         (map->flags & VFIO_DMA_MAP_FLAG_WRITE) != 0,
                                         file };
}

static void note_unmap(const struct ppu_vfu_dma_unmap *unmap)
{
    for (uint32_t i = 0; i < f.count;) {
        const struct known *known = &f.known[i];
        if (unmap->flags != 0 || (known->bus >= unmap->bus && known->bus - unmap->bus < unmap->bytes)) {
            f.known[i] = f.known[--f.count];
        } else {
            i++;
        }
    }
}

static const struct known *known_at(uint64_t bus)
{
    for (uint32_t i = 0; i < f.count; i++) {
        if (bus - f.known[i].bus < f.known[i].bytes) {
            return &f.known[i];
        }
    }
    return NULL;
}

/* ---- actions ---- */

/* The reply to the only message that is on its way; -1: none came. */
static int take_reply(uint16_t command)
{
    static uint8_t body[PPU_VFU_BODY_BYTES];
    struct ppu_vfu_header header;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = { &header, sizeof(header) };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
    };

    if (recvmsg(f.client, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(header)) {
        return -1;
    }
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (first) {
        int fd;
        memcpy(&fd, CMSG_DATA(first), sizeof(fd));
        close(fd);
    }
    if (header.command != command || (header.flags & PPU_VFU_TYPE) != PPU_VFU_REPLY || header.bytes < sizeof(header) ||
        header.bytes - sizeof(header) > PPU_VFU_BODY_BYTES) {
        fuzz_found("command %u: a reply of command %u with %u bytes", command, header.command, header.bytes);
    }
    const size_t bytes = header.bytes - sizeof(header);
    if (bytes != 0 && recv(f.client, body, bytes, MSG_DONTWAIT) != (ssize_t)bytes) {
        return -1;
    }
    return (header.flags & PPU_VFU_ERROR) != 0 ? (int)header.error : 0;
}

/* A whole message that the server answers at once. False: it has ended the connection. */
static bool ask(uint16_t command)
{
    static _Alignas(8) uint8_t message[sizeof(struct ppu_vfu_header) + 4 * PAGE];
    uint8_t *const body = message + sizeof(struct ppu_vfu_header);

    memset(message, 0, 512);
    const size_t bytes = sizeof(struct ppu_vfu_header) + make_body(command, body);
    const int file =
        fuzz_below(&f.in, 8) != 0 ? command == PPU_VFU_SET_IRQS ? EVENT : SEALED : (int)fuzz_below(&f.in, FILES);
    const uint32_t fd_count = command == PPU_VFU_SET_IRQS ? fuzz_below(&f.in, 4) : fuzz_below(&f.in, 8) != 0;
    int fds[4] = { f.file[file], f.file[file], f.file[file], f.file[file] };
    const struct ppu_vfu_header header = { 1, command, (uint32_t)bytes, 0, 0 };
    memcpy(message, &header, sizeof(header));
    send_bytes(message, bytes, fds, fd_count);
    if (!remote_server_serve(f.server)) {
        return false;
    }
    const int error = f.follows ? take_reply(command) : -1;
    f.follows = f.follows && error >= 0;
    if (error == 0 && command == PPU_VFU_DMA_MAP) {
        note_map((const void *)body, fd_count == 0 ? -1 : file);
    }
    if (error == 0 && command == PPU_VFU_DMA_UNMAP) {
        note_unmap((const void *)body);
    }
    return true;
}

/* Any bytes, of which some may be the beginning of a message. */
static bool send_piece(void)
{
    uint8_t bytes[64];
    const uint32_t count = 1 + fuzz_below(&f.in, sizeof(bytes));
    const uint32_t fd_count = fuzz_below(&f.in, 16) == 0 ? fuzz_below(&f.in, 32) : 0;
    int fds[32];

    for (uint32_t i = 0; i < fd_count; i++) {
        fds[i] = f.file[fuzz_below(&f.in, FILES)];
    }
    fuzz_bytes(&f.in, bytes, count);
    send_bytes(bytes, count, fds, fd_count);
    f.follows = false;
    return remote_server_serve(f.server);
}

/* A word of the client's memory, by the function. */
static void access_memory(void)
{
    const uint64_t bus = odd_u64((uint64_t)fuzz_below(&f.in, BUS_PAGES * PAGE / 4) * 4);
    const bool write = fuzz_u8(&f.in) & 1u;
    uint8_t byte = 0x5a;
    const bool done =
        write ? remote_server_dma_write(f.server, bus, &byte, 1) : remote_server_dma_read(f.server, bus, &byte, 1);
    const struct known *known = known_at(bus);

    if (!f.follows || (known && known->file > SEALED)) {
        return;
    }
    if (done != (known && known->file == SEALED && (write ? known->writable : known->readable))) {
        fuzz_found("an access at 0x%llx %s", (unsigned long long)bus, done ? "succeeded" : "failed");
    }
    if (done && f.sealed[known->offset + (bus - known->bus)] != byte) {
        fuzz_found("an access at 0x%llx went elsewhere", (unsigned long long)bus);
    }
}

static void use_much_memory(void)
{
    uint8_t bytes[3 * PAGE];
    const uint64_t bus = (uint64_t)fuzz_below(&f.in, BUS_PAGES * PAGE);

    if (fuzz_u8(&f.in) & 1u) {
        memset(bytes, 1, sizeof(bytes));
        (void)remote_server_dma_write(f.server, bus, bytes, 1 + fuzz_below(&f.in, sizeof(bytes)));
    } else {
        (void)remote_server_dma_read(f.server, bus, bytes, 1 + fuzz_below(&f.in, sizeof(bytes)));
    }
}

/* False: the connection has ended. */
static bool act(void)
{
    uint8_t junk[4096];

    switch (fuzz_below(&f.in, 16)) {
    case 0:
        return send_piece();
    case 1:
        return ftruncate(f.file[OPEN], fuzz_below(&f.in, FILE_PAGES) * PAGE) == 0;
    case 2:
        remote_server_raise(f.server, fuzz_u8(&f.in) % (PPU_MAX_VECTORS + 1));
        return true;
    case 3:
    case 4:
        access_memory();
        return true;
    case 5:
        use_much_memory();
        return true;
    case 6:
        f.follows = false; /* replies are taken, or stay where they are */
        return recv(f.client, junk, fuzz_u8(&f.in) % 2 * sizeof(junk), MSG_DONTWAIT) >= -1 &&
               remote_server_serve(f.server);
    case 7:
        return ask((uint16_t)odd_u32(PPU_VFU_RESET));
    case 8:
    case 9:
    case 10:
        return ask(PPU_VFU_DMA_MAP);
    case 11:
        return ask(PPU_VFU_DMA_UNMAP);
    case 12:
        return ask(PPU_VFU_SET_IRQS);
    default:
        return ask((uint16_t)(1 + fuzz_below(&f.in, PPU_VFU_RESET)));
    }
}

/* ---- an input ---- */

static uint32_t open_descriptors(void)
{
    uint32_t count = 0;

    for (int fd = 0; fd < 128; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void attach(void)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        abort();
    }
    f.client = pair[0];
    remote_server_attach(f.server, pair[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const uint32_t before = open_descriptors();
    uint32_t mappings, files;

    f.in = fuzz_input(bytes, count);
    f.count = 0;
    f.follows = true;
    attach();
    bool goes_on = ask(PPU_VFU_VERSION);
    for (uint32_t i = 0; i < MOST_ACTIONS && goes_on && !fuzz_ended(&f.in); i++) {
        goes_on = act();
    }
    close(f.client);
    remote_server_detach(f.server);
    remote_server_counts(f.server, &mappings, &files);
    if (mappings != 0 || files != 0) {
        fuzz_found("%u mappings and %u files are left", mappings, files);
    }
    if (open_descriptors() != before) {
        fuzz_found("descriptors are left");
    }
    memset(f.sealed, 0, FILE_PAGES * PAGE);
    if (ftruncate(f.file[OPEN], 0) != 0) {
        abort();
    }
    return 0;
}
