/* SPDX-License-Identifier: MIT */
/* Tests how servers and clients of vfio-user come and go: refused, killed, stopped, one after the other, several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/vfio.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ppu/channel.h"
#include "ppu/macros.h"
#include "ppu/mailbox.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/transport.h"
#include "tests/remote/client.h"
#include "tests/remote/served.h"

#define WAIT_NS (30 * NS_PER_S)
#define SECRET 0x5ec2e7u

static struct served served;

static int start_two(void **state)
{
    static const char *const small[] = { "--ppu", "vram-size=64M", "--ppu", "vram-size=64M", NULL };

    (void)state;
    return served_start(&served, 2, small) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    served_stop(&served);
    return 0;
}

static struct ppu_device *open_ppu(uint32_t index)
{
    struct ppu_transport *transport = NULL;
    struct ppu_device *device = NULL;
    struct ppu_error error;

    if (served_transport(&served, index, &transport, &error) != PPU_OK ||
        ppu_device_open(transport, NULL, &device, &error) != PPU_OK) {
        fail_msg("%s: %s", ppu_error_name(error.code), error.text);
    }
    return device;
}

/* A program that runs on the device. */
struct running {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
    struct ppu_memory *memory;
};

static void load(struct running *run, struct ppu_device *device, const char *file)
{
    struct ppu_error error;

    run->device = device;
    assert_int_equal(ppu_context_create(device, &run->context), PPU_OK);
    assert_int_equal(ppu_channel_create(run->context, NULL, &run->channel), PPU_OK);
    assert_int_equal(ppu_stream_create(run->channel, &run->stream), PPU_OK);
    assert_int_equal(ppu_program_load_file(run->context, file, &run->program, &error), PPU_OK);
    assert_int_equal(ppu_memory_create(run->context, PPU_MEMORY_VRAM, 65536, &run->memory), PPU_OK);
}

static void launch(struct running *run, const char *name, uint32_t ctas)
{
    const struct ppu_kernel *kernel = NULL;
    const uint64_t va = ppu_memory_va(run->memory, run->context).va;
    const uint64_t params[] = { va, va + 64 };
    const struct ppu_launch what = { .grid = { ctas }, .cta = { 32 }, .params = params, .param_bytes = sizeof(params) };

    assert_int_equal(ppu_kernel_find(run->program, name, &kernel), PPU_OK);
    assert_int_equal(ppu_stream_launch(run->stream, kernel, &what, NULL), PPU_OK);
}

static void unload(struct running *run)
{
    ppu_channel_destroy(run->channel);
    ppu_stream_destroy(run->stream);
    ppu_program_unload(run->program);
    ppu_memory_free(run->memory);
    ppu_context_destroy(run->context);
}

static void run_counter(struct ppu_device *device, uint32_t ctas)
{
    struct running run;

    load(&run, device, "build/kernels/counter.ppu");
    launch(&run, "counter", ctas);
    assert_int_equal(ppu_stream_wait(run.stream, WAIT_NS), PPU_OK);
    assert_int_equal(*(uint32_t *)ppu_memory_host(run.memory), 32 * ctas);
    unload(&run);
}

static void nobody_there(void **state)
{
    struct ppu_transport *transport = NULL;
    struct ppu_error error;
    char longer[200];

    (void)state;
    assert_int_equal(ppu_vfio_user_transport("/nonexistent/ppu", &transport, &error), PPU_ERR_TRANSPORT);
    assert_string_equal(error.text, "open the PPU at /nonexistent/ppu: No such file or directory; ppu-run --vfio-user "
                                    "makes such a socket");
    assert_null(transport);
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(ppu_vfio_user_transport(longer, &transport, &error), PPU_ERR_TRANSPORT);
    assert_non_null(strstr(error.text, "File name too long"));
}

/* Two clients in one server, each with a PPU; a third has none. */
static void several_clients(void **state)
{
    struct ppu_device *first = open_ppu(0), *second = open_ppu(1);
    struct ppu_transport *transport = NULL;
    struct ppu_error error;

    (void)state;
    assert_int_equal(ppu_vfio_user_transport(served.path[0], &transport, &error), PPU_ERR_BUSY);
    assert_non_null(strstr(error.text, "another client has it"));
    run_counter(first, 10);
    run_counter(second, 20);
    ppu_device_close(first);
    run_counter(second, 30);
    first = open_ppu(0);
    run_counter(first, 40);
    ppu_device_close(first);
    ppu_device_close(second);
}

static void by_name(void **state)
{
    struct ppu_device *device = NULL;
    struct ppu_error error;
    char name[64];

    (void)state;
    snprintf(name, sizeof(name), "vfio-user:%s", served.path[1]);
    setenv("PPU_DEVICE", name, 1);
    assert_int_equal(ppu_open(&device, &error), PPU_OK);
    unsetenv("PPU_DEVICE");
    run_counter(device, 5);
    ppu_device_close(device);
}

/* A client keeps the VRAM that it has mapped, but sees nothing of what the next one has there. */
static void kept_vram(void **state)
{
    struct ppu_transport *transport = NULL;
    struct ppu_error error;
    const size_t at = 8u << 20;

    (void)state;
    assert_int_equal(served_transport(&served, 0, &transport, &error), PPU_OK);
    volatile uint32_t *kept = mremap(transport->vram + at, 0, 4096, MREMAP_MAYMOVE);
    assert_ptr_not_equal((void *)(uintptr_t)kept, MAP_FAILED);
    *kept = SECRET;
    assert_int_equal(*(uint32_t *)(void *)(transport->vram + at), SECRET);
    transport->ops->close(transport);
    assert_int_equal(served_transport(&served, 0, &transport, &error), PPU_OK);
    assert_int_equal(*(uint32_t *)(void *)(transport->vram + at), 0);
    *(volatile uint32_t *)(void *)(transport->vram + at) = 77;
    assert_int_equal(*kept, SECRET);
    transport->ops->close(transport);
    munmap((void *)(uintptr_t)kept, 4096);
}

/* ---- interrupts ---- */

/* What libppu has mapped of that name. */
static void *mapped(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    void *at = NULL;

    assert_non_null(maps);
    while (!at && fgets(line, sizeof(line), maps)) {
        at = strstr(line, name) ? (void *)(uintptr_t)strtoull(line, NULL, 16) : NULL;
    }
    fclose(maps);
    assert_non_null(at);
    return at;
}

/* Of all eventfds of this process: how often they were signalled since they were read. */
static uint64_t signals(void)
{
    uint64_t sum = 0;

    for (int fd = 0; fd < 1024; fd++) {
        char path[64], line[128];
        unsigned long long count;
        snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
        FILE *info = fopen(path, "r");
        while (info && fgets(line, sizeof(line), info)) {
            sum += sscanf(line, "eventfd-count: %llx", &count) == 1 ? count : 0;
        }
        if (info) {
            fclose(info);
        }
    }
    return sum;
}

/* A block of nothing but its event. */
static struct ppu_event submit_nothing(struct ppu_channel *channel)
{
    struct ppu_block *block = NULL;
    struct ppu_event event;

    assert_int_equal(ppu_block_begin(channel, &block), PPU_OK);
    assert_int_equal(ppu_block_submit(block, &event), PPU_OK);
    return event;
}

/* Signals that came for a block, when its vector is in the mailbox. */
static uint64_t signals_of_block(struct ppu_channel *channel, struct ppu_mailbox *mailbox, bool looks)
{
    const uint64_t deadline_ns = deadline_after(WAIT_NS), before = signals();

    ppu_mailbox_look(&mailbox->client_looks, looks);
    struct ppu_event event = submit_nothing(channel);
    while (__atomic_load_n(&mailbox->vectors, __ATOMIC_SEQ_CST) == 0) {
        assert_true(deadline_left(deadline_ns) > 0);
        sleep_ns(NS_PER_MS);
    }
    do { /* the server signals after it has written into the mailbox */
        sleep_ns(20 * NS_PER_MS);
    } while (!looks && signals() == before && deadline_left(deadline_ns) > 0);
    const uint64_t came = signals() - before;
    ppu_mailbox_look(&mailbox->client_looks, false);
    assert_int_equal(ppu_event_wait(&event, WAIT_NS), PPU_OK);
    return came;
}

static void signals_nobody_who_looks(void **state)
{
    struct ppu_device *device = open_ppu(0);
    struct ppu_context *context = NULL;
    struct ppu_channel *channel = NULL;
    struct ppu_mailbox *mailbox = mapped("memfd:ppu-mailbox");

    (void)state;
    assert_int_equal(ppu_context_create(device, &context), PPU_OK);
    assert_int_equal(ppu_channel_create(context, NULL, &channel), PPU_OK);
    struct ppu_event first = submit_nothing(channel);
    assert_int_equal(ppu_event_wait(&first, WAIT_NS), PPU_OK);
    for (int turn = 0; turn < 3; turn++) {
        (void)ppu_mailbox_take(&mailbox->vectors);
        assert_int_equal(signals_of_block(channel, mailbox, true), 0);
        (void)ppu_mailbox_take(&mailbox->vectors);
        assert_int_not_equal(signals_of_block(channel, mailbox, false), 0);
    }
    ppu_channel_destroy(channel);
    ppu_context_destroy(context);
    ppu_device_close(device);
}

struct watch {
    const struct ppu_mailbox *mailbox;
    bool seen, end; /* atomic */
};

static void *watch_looks(void *opaque)
{
    struct watch *watch = opaque;

    while (!__atomic_load_n(&watch->end, __ATOMIC_SEQ_CST)) {
        if (ppu_mailbox_is_looked_at(&watch->mailbox->client_looks)) {
            __atomic_store_n(&watch->seen, true, __ATOMIC_SEQ_CST);
        }
    }
    return NULL;
}

/* Waits that are short let the next ones look. */
static void looks_before_it_sleeps(void **state)
{
    const uint64_t deadline_ns = deadline_after(2 * WAIT_NS);
    struct ppu_device *device = open_ppu(0);
    struct ppu_context *context = NULL;
    struct ppu_channel *channel = NULL;
    struct watch watch = { .mailbox = mapped("memfd:ppu-mailbox") };
    pthread_t watcher;

    (void)state;
    assert_int_equal(ppu_context_create(device, &context), PPU_OK);
    assert_int_equal(ppu_channel_create(context, NULL, &channel), PPU_OK);
    assert_int_equal(pthread_create(&watcher, NULL, watch_looks, &watch), 0);
    while (!__atomic_load_n(&watch.seen, __ATOMIC_SEQ_CST) && deadline_left(deadline_ns) > 0) {
        struct ppu_event event = submit_nothing(channel);
        assert_int_equal(ppu_event_wait(&event, WAIT_NS), PPU_OK);
    }
    __atomic_store_n(&watch.end, true, __ATOMIC_SEQ_CST);
    pthread_join(watcher, NULL);
    assert_true(watch.seen);
    ppu_channel_destroy(channel);
    ppu_context_destroy(context);
    ppu_device_close(device);
}

/* ---- the mailbox, by messages that libppu does not send ---- */

#define RUNG 3u

struct raw {
    int socket;
    struct ppu_mailbox *mailbox;
    struct client_reply reply;
};

static void raw_ask(struct raw *raw, uint16_t command, const void *body, size_t bytes)
{
    client_send(raw->socket, command, 0, body, bytes, NULL, 0);
    assert_true(client_receive(raw->socket, &raw->reply) >= sizeof(raw->reply.header));
    assert_int_equal(raw->reply.header.command, command);
    assert_int_equal(raw->reply.header.error, 0);
}

static void raw_open(struct raw *raw)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct vfio_region_info info = { .argsz = sizeof(info), .index = PPU_BAR_MAILBOX };
    uint8_t version[128];

    memcpy(address.sun_path, served.path[1], strlen(served.path[1]));
    raw->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(raw->socket, (const struct sockaddr *)&address, sizeof(address)), 0);
    raw_ask(raw, PPU_VFU_VERSION, version, client_version(version));
    raw_ask(raw, PPU_VFU_REGION_INFO, &info, sizeof(info));
    memcpy(&info, raw->reply.body, sizeof(info));
    assert_true(info.size >= sizeof(struct ppu_mailbox));
    assert_true((info.flags & VFIO_REGION_INFO_FLAG_MMAP) != 0);
    assert_true(raw->reply.fd >= 0);
    assert_int_equal(ftruncate(raw->reply.fd, 0), -1); /* the server, which maps it too, would die of it */
    raw->mailbox = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, raw->reply.fd, 0);
    assert_ptr_not_equal(raw->mailbox, MAP_FAILED);
    close(raw->reply.fd);
}

/* GP_PUT of the channel, as its doorbell page says. */
static uint32_t raw_put(struct raw *raw)
{
    const struct ppu_vfu_access access = { RUNG * PPU_DOORBELL_STRIDE + PPU_DB_PUT, PPU_BAR_DOORBELLS, 4 };
    uint32_t value = 0;

    raw_ask(raw, PPU_VFU_REGION_READ, &access, sizeof(access));
    memcpy(&value, raw->reply.body + sizeof(access), sizeof(value));
    return value;
}

/* Nobody looks, as no firmware runs: what is rung happens before the next access, and ends with a reset. */
static void mailbox_of_a_client(void **state)
{
    static struct raw raw;

    (void)state;
    raw_open(&raw);
    assert_false(ppu_mailbox_ring(raw.mailbox, RUNG, 9));
    assert_false(ppu_mailbox_ring(raw.mailbox, PPU_MAX_CHANNELS - 1, 10)); /* this PPU has fewer */
    assert_int_equal(raw_put(&raw), 9);
    assert_false(ppu_mailbox_is_rung(raw.mailbox));
    assert_false(ppu_mailbox_ring(raw.mailbox, RUNG, 11));
    raw_ask(&raw, PPU_VFU_RESET, NULL, 0);
    assert_false(ppu_mailbox_is_rung(raw.mailbox));
    assert_int_equal(raw_put(&raw), 0);
    munmap(raw.mailbox, sizeof(struct ppu_mailbox));
    close(raw.socket);
}

/* A client keeps the mailbox that it has mapped, but nobody looks there any more. */
static void kept_mailbox(void **state)
{
    static struct raw first, second;

    (void)state;
    raw_open(&first);
    assert_false(ppu_mailbox_ring(first.mailbox, RUNG, 12)); /* not taken before the client goes */
    close(first.socket);
    raw_open(&second);
    assert_false(ppu_mailbox_is_rung(second.mailbox));
    assert_false(ppu_mailbox_ring(first.mailbox, RUNG, 13));
    assert_int_equal(raw_put(&second), 0);
    assert_true(ppu_mailbox_is_rung(first.mailbox));
    munmap(first.mailbox, sizeof(struct ppu_mailbox));
    munmap(second.mailbox, sizeof(struct ppu_mailbox));
    close(second.socket);
}

/* Loops on the device until it is killed. */
static void be_killed(int ready)
{
    struct running run;

    load(&run, open_ppu(0), "build/kernels/fair.ppu");
    launch(&run, "endless", 4);
    (void)!write(ready, "", 1);
    pause();
}

static void killed_client(void **state)
{
    int ends[2];
    char byte;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            be_killed(ends[1]);
            _exit(1);
        }
        close(ends[1]);
        assert_int_equal(read(ends[0], &byte, 1), 1);
        close(ends[0]);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        struct ppu_device *device = open_ppu(0);
        run_counter(device, 3);
        ppu_device_close(device);
    }
}

/* A reply to a message, or to a command of QMP. */
static bool receive_until(int socket, const char *wanted, char *text, size_t bytes)
{
    size_t fill = 0;

    while (fill < bytes - 1) {
        ssize_t got = recv(socket, text + fill, bytes - 1 - fill, 0);
        if (got <= 0) {
            return false;
        }
        fill += (size_t)got;
        text[fill] = '\0';
        if (strstr(text, wanted)) {
            return true;
        }
    }
    return false;
}

static int qmp_open(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char text[4096];
    int qmp = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    const struct timeval patience = { .tv_sec = 20 };
    assert_int_equal(setsockopt(qmp, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    memcpy(address.sun_path, served.qmp, strlen(served.qmp));
    assert_int_equal(connect(qmp, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_true(receive_until(qmp, "\"QMP\"", text, sizeof(text)));
    static const char greeting[] = "{\"execute\":\"qmp_capabilities\"}\n";
    assert_int_equal(send(qmp, greeting, strlen(greeting), 0), strlen(greeting));
    assert_true(receive_until(qmp, "\"return\"", text, sizeof(text)));
    return qmp;
}

static void qmp_tell(int qmp, const char *command, const char *wanted)
{
    char text[4096] = "", line[256];
    int bytes = snprintf(line, sizeof(line), "{\"execute\":%s}\n", command);

    assert_int_equal(send(qmp, line, (size_t)bytes, 0), bytes);
    if (!receive_until(qmp, wanted, text, sizeof(text))) {
        fail_msg("%s: %s", command, text);
    }
}

/* A snapshot of the server alone would lack the client's half. */
static void refused_snapshot(void **state)
{
    static const char migrate[] = "\"migrate\",\"arguments\":{\"uri\":\"file:/nonexistent/state\"}";
    struct ppu_device *device = open_ppu(0);
    int qmp = qmp_open();

    (void)state;
    qmp_tell(qmp, migrate, "a client of vfio-user has it");
    ppu_device_close(device);
    qmp_tell(qmp, migrate, "Could not create"); /* nothing but the file is wrong now */
    close(qmp);
}

/* While the server stands still nothing is lost and nothing fails; it goes on where it was. */
static void stopped_server(void **state)
{
    struct ppu_device *device = open_ppu(0);
    struct running run;
    int qmp = qmp_open();

    (void)state;
    load(&run, device, "build/kernels/counter.ppu");
    qmp_tell(qmp, "\"stop\"", "\"return\"");
    launch(&run, "counter", 7);
    assert_int_equal(ppu_stream_wait(run.stream, 100 * NS_PER_MS), PPU_ERR_TIMEOUT);
    qmp_tell(qmp, "\"cont\"", "\"return\"");
    assert_int_equal(ppu_stream_wait(run.stream, WAIT_NS), PPU_OK);
    assert_int_equal(*(uint32_t *)ppu_memory_host(run.memory), 32 * 7);
    unload(&run);
    ppu_device_close(device);
    close(qmp);
}

/* ---- a machine that stands still for longer than libppu would wait ---- */

#define OWN_LIMIT_NS (300 * NS_PER_MS)
#define STANDS_STILL_NS (5 * OWN_LIMIT_NS)

struct opening {
    struct ppu_transport *transport;
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_error error;
};

static void *open_in_thread(void *opaque)
{
    struct opening *opening = opaque;
    const struct ppu_device_options options = { .timeout_ns = OWN_LIMIT_NS };

    (void)ppu_device_open(opening->transport, &options, &opening->device, &opening->error);
    return NULL;
}

static void *make_context(void *opaque)
{
    struct opening *opening = opaque;

    opening->error.code = ppu_context_create(opening->device, &opening->context);
    return NULL;
}

/* Runs it while the machine stands still, and lets the machine go on. */
static void across_a_standstill(int qmp, void *(*run)(void *), struct opening *opening)
{
    pthread_t thread;

    qmp_tell(qmp, "\"stop\"", "\"return\"");
    assert_int_equal(pthread_create(&thread, NULL, run, opening), 0);
    sleep_ns(STANDS_STILL_NS);
    qmp_tell(qmp, "\"cont\"", "\"return\"");
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (opening->error.code != PPU_OK) {
        fail_msg("%s: %s", ppu_error_name(opening->error.code), opening->error.text);
    }
}

static void limits_of_a_machine_that_stands_still(void **state)
{
    struct opening opening = { 0 };
    struct running run;
    struct ppu_event event;
    struct ppu_error error;
    int qmp = qmp_open();

    (void)state;
    assert_int_equal(served_transport(&served, 0, &opening.transport, &error), PPU_OK);
    across_a_standstill(qmp, open_in_thread, &opening);
    across_a_standstill(qmp, make_context, &opening);
    assert_int_equal(ppu_context_destroy(opening.context), PPU_OK);
    load(&run, opening.device, "build/kernels/counter.ppu");
    qmp_tell(qmp, "\"stop\"", "\"return\"");
    struct ppu_block *block = NULL;
    assert_int_equal(ppu_block_begin(run.channel, &block), PPU_OK);
    assert_int_equal(ppu_block_submit(block, &event), PPU_OK);
    assert_int_equal(ppu_event_error(&event, &error), PPU_ERR_TIMEOUT);
    assert_string_equal(error.text,
                        "wait for an event: time is over; the PPU's machine stands still: a debugger or its "
                        "monitor has stopped it");
    qmp_tell(qmp, "\"cont\"", "\"return\"");
    assert_int_equal(ppu_event_wait(&event, WAIT_NS), PPU_OK);
    unload(&run);
    ppu_device_close(opening.device);
    close(qmp);
}

/* ---- full sockets ---- */

#define CONNECTIONS 200u
#define WRITES 40000u

/* A crowd that says nothing takes nothing from the client. */
static void crowd_at_the_door(void **state)
{
    static int crowd[CONNECTIONS];
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct ppu_device *device = open_ppu(0);
    uint32_t connected = 0;

    (void)state;
    memcpy(address.sun_path, served.path[0], strlen(served.path[0]));
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        crowd[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(crowd[i] >= 0);
        connected += connect(crowd[i], (const struct sockaddr *)&address, sizeof(address)) == 0;
    }
    assert_true(connected > 0);
    run_counter(device, 10);
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        close(crowd[i]);
    }
    ppu_device_close(device);
    device = open_ppu(0);
    run_counter(device, 20);
    ppu_device_close(device);
}

static void *write_much(void *opaque)
{
    struct ppu_transport *transport = opaque;

    for (uint32_t i = 0; i < WRITES; i++) {
        transport->ops->reg_write(transport, PPU_REG_MAGIC, i);
    }
    return NULL;
}

/* A server that does not read, for a time: writes wait for room, and none is lost or fails. */
static void full_socket(void **state)
{
    struct ppu_transport *transport = NULL;
    struct ppu_error error;
    struct timespec soon;
    pthread_t thread;

    (void)state;
    assert_int_equal(served_transport(&served, 0, &transport, &error), PPU_OK);
    assert_int_equal(kill(served.process.pid, SIGSTOP), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_much, transport), 0);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec++;
    int early = pthread_timedjoin_np(thread, NULL, &soon);
    assert_int_equal(kill(served.process.pid, SIGCONT), 0);
    assert_int_equal(early, ETIMEDOUT);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(transport->ops->reg_read(transport, PPU_REG_MAGIC), PPU_MAGIC);
    transport->ops->close(transport);
}

/* It dies while a kernel runs: all that the client has in flight ends with an error, and soon. */
static void killed_server(void **state)
{
    struct ppu_device *device = open_ppu(0);
    struct running run;
    struct ppu_error error;

    (void)state;
    load(&run, device, "build/kernels/fair.ppu");
    launch(&run, "endless", 4);
    kill(served.process.pid, SIGKILL);
    uint64_t began_ns = clock_ns();
    assert_int_equal(ppu_stream_wait(run.stream, WAIT_NS), PPU_ERR_DEVICE_LOST);
    assert_true(clock_ns() - began_ns < 10 * NS_PER_S);
    ppu_device_error(device, &error);
    assert_int_equal(error.code, PPU_ERR_DEVICE_LOST);
    unload(&run);
    ppu_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(several_clients),
        cmocka_unit_test(by_name),
        cmocka_unit_test(kept_vram),
        cmocka_unit_test(signals_nobody_who_looks),
        cmocka_unit_test(looks_before_it_sleeps),
        cmocka_unit_test(kept_mailbox),
        cmocka_unit_test(mailbox_of_a_client),
        cmocka_unit_test(killed_client),
        cmocka_unit_test(refused_snapshot),
        cmocka_unit_test(stopped_server),
        cmocka_unit_test(limits_of_a_machine_that_stands_still),
        cmocka_unit_test(crowd_at_the_door),
        cmocka_unit_test(full_socket),
        cmocka_unit_test(killed_server),
    };

    return cmocka_run_group_tests(tests, start_two, stop);
}
