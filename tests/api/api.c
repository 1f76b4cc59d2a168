/* SPDX-License-Identifier: MIT */
#include "tests/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/deadline.h"
#include "runtime/program.h"
#include "runtime/shared.h"

#define MAX_PROGRAMS 16
#define MAX_MEMORIES 64

/* What a test made and need not destroy itself. */
static struct {
    struct ppu_program *program[MAX_PROGRAMS];
    uint32_t programs;
    struct ppu_memory *memory[MAX_MEMORIES];
    uint32_t memories;
} made;

struct machine_config api_machine;
static struct ppu_transport *machine_transport;
static struct ppu_device *checked_device;

void api_check(enum ppu_err err, const char *expression, const char *file, int line)
{
    if (err == PPU_OK) {
        return;
    }
    struct ppu_error error = { .code = PPU_OK };
    if (checked_device) {
        ppu_device_error(checked_device, &error);
    }
    print_error("%s: %s (%s); the device's last error: %s\n", expression, ppu_error_name(err), ppu_error_text(err),
                error.code != PPU_OK ? error.text : "none");
    _fail(file, line);
}

/* ---- fixture ---- */

int api_machine_setup(void **state)
{
    (void)state;
    setvbuf(stdout, NULL, _IOLBF, 0);
    machine_transport = machine_start(&api_machine);
    return 0;
}

int api_machine_teardown(void **state)
{
    (void)state;
    machine_stop();
    return 0;
}

struct api *api_open(struct ppu_transport *transport, uint64_t timeout_ns)
{
    struct api *api = calloc(1, sizeof(*api));
    const struct ppu_device_options options = { .firmware = machine_firmware(), .timeout_ns = timeout_ns };
    struct ppu_error error;

    assert_non_null(api);
    api->transport = transport;
    if (ppu_device_open(transport, &options, &api->device, &error) != PPU_OK) {
        fail_msg("the device cannot be opened: %s: %s", ppu_error_name(error.code), error.text);
    }
    checked_device = api->device;
    check(ppu_context_create(api->device, &api->context));
    check(ppu_channel_create(api->context, NULL, &api->channel));
    check(ppu_stream_create(api->channel, &api->stream));
    return api;
}

void api_close(struct api *api)
{
    ppu_channel_destroy(api->channel);
    ppu_stream_destroy(api->stream);
    while (made.programs > 0) {
        ppu_program_unload(made.program[--made.programs]);
    }
    while (made.memories > 0) {
        ppu_memory_free(made.memory[--made.memories]);
    }
    ppu_context_destroy(api->context);
    ppu_device_close(api->device);
    checked_device = NULL;
    free(api);
}

int api_setup(void **state)
{
    *state = api_open(machine_transport, LONG_NS);
    return 0;
}

int api_teardown(void **state)
{
    api_close(*state);
    return 0;
}

/* ---- helpers ---- */

struct ppu_memory *api_memory(struct api *api, enum ppu_memory_kind kind, uint64_t bytes)
{
    struct ppu_memory *memory = NULL;

    assert_true(made.memories < MAX_MEMORIES);
    check(ppu_memory_create(api->context, kind, bytes, &memory));
    made.memory[made.memories++] = memory;
    return memory;
}

uint64_t api_va(struct api *api, const struct ppu_memory *memory)
{
    return ppu_memory_va(memory, api->context).va;
}

const struct ppu_kernel *api_kernel(struct api *api, struct ppu_context *context, const char *file, const char *name)
{
    const char *folder = getenv("PPU_KERNELS");
    const struct ppu_kernel *kernel = NULL;
    struct ppu_program *program = NULL;
    struct ppu_error error;
    char path[256];

    (void)api;
    assert_true(made.programs < MAX_PROGRAMS);
    snprintf(path, sizeof(path), "%s/%s.ppu", folder ? folder : "build/kernels", file);
    if (ppu_program_load_file(context, path, &program, &error) != PPU_OK) {
        fail_msg("%s", error.text);
    }
    made.program[made.programs++] = program;
    check(ppu_kernel_find(program, name, &kernel));
    return kernel;
}

void api_forget_programs(uint32_t count)
{
    for (; count > 0 && made.programs > 0; count--) {
        check(ppu_program_unload(made.program[--made.programs]));
    }
}

enum ppu_err api_run(struct api *api, const struct ppu_kernel *kernel, uint32_t grid, uint32_t cta, const void *params,
                     uint32_t param_bytes)
{
    const struct ppu_launch launch = {
        .grid = { grid, 1, 1 },
        .cta = { cta, 1, 1 },
        .params = params,
        .param_bytes = param_bytes,
    };
    struct ppu_event event;

    enum ppu_err err = ppu_stream_launch(api->stream, kernel, &launch, &event);
    return err == PPU_OK ? ppu_event_wait(&event, LONG_NS) : err;
}

enum ppu_err api_finish(struct ppu_channel *channel)
{
    struct ppu_block *block = NULL;
    struct ppu_event event;
    enum ppu_err err = ppu_block_begin(channel, &block);

    if (err == PPU_OK) {
        err = ppu_block_submit(block, &event);
    }
    return err == PPU_OK ? ppu_event_wait(&event, LONG_NS) : err;
}

enum ppu_err api_wait_fault(struct ppu_channel *channel, struct ppu_error *error)
{
    const struct ppu_event never = {
        .channel = channel,
        .value = channel->fence_value + 0x40000000u,
        .epoch = __atomic_load_n(&channel->epoch, __ATOMIC_RELAXED),
        .fence = channel->fence,
    };
    enum ppu_err err = ppu_event_wait(&never, LONG_NS);

    ppu_channel_error(channel, error);
    return err;
}

uint32_t api_word(const struct ppu_memory *memory, uint64_t offset)
{
    return shared_load_acquire((const uint32_t *)(const void *)((const uint8_t *)ppu_memory_host(memory) + offset));
}

void api_set_word(struct ppu_memory *memory, uint64_t offset, uint32_t value)
{
    shared_store_release((uint32_t *)(void *)((uint8_t *)ppu_memory_host(memory) + offset), value);
}

bool api_wait_word(const struct ppu_memory *memory, uint64_t offset, uint32_t value)
{
    uint64_t deadline_ns = deadline_after(LONG_NS);

    while (api_word(memory, offset) != value) {
        if (deadline_left(deadline_ns) == 0) {
            return false;
        }
        sleep_ns(100 * NS_PER_US);
    }
    return true;
}

uint64_t api_query(struct api *api, enum ppu_key key, uint32_t object)
{
    uint64_t value = 0;

    check(ppu_device_query(api->device, key, object, &value));
    return value;
}

uint32_t api_rounds(uint32_t usual)
{
    const char *factor = getenv("PPU_LONG");

    return factor ? usual * (uint32_t)strtoul(factor, NULL, 0) : usual;
}

uint64_t api_seed(void)
{
    const char *text = getenv("PPU_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

    print_message("# PPU_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* splitmix64 */
uint32_t api_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)(z >> 32);
}

/* cmocka's own signal handlers would hide what the sanitizer has to say. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2";
}
