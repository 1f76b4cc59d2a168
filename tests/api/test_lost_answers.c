/* SPDX-License-Identifier: MIT */
/* Tests each request to the firmware whose answer is lost: what was made can be given back, and nothing is lost. */
#include "tests/api/api.h"

#include "ppu/macros.h"
#include "ppu/mmu.h"

#define MOST 100u /* requests of one round */
#define LARGE (2ull * PPU_PAGE_2M)
#define FAULTS "build/kernels/faults.ppu"

/* Linked with --wrap: every request to the firmware comes here. */
enum ppu_err __real_admin_call(struct ppu_device *device, enum ppu_admin_op op, const uint32_t *args,
                               uint32_t arg_count, uint32_t *results, uint32_t result_count);
enum ppu_err __wrap_admin_call(struct ppu_device *device, enum ppu_admin_op op, const uint32_t *args,
                               uint32_t arg_count, uint32_t *results, uint32_t result_count);

enum loss {
    LOST_REQUEST, /* one never arrives */
    LOST_DEVICE,  /* nothing is answered from then on */
};

static enum loss loss;
static uint32_t countdown; /* requests until it happens; 0: never */
static bool happened;

static bool happens(void)
{
    bool now = countdown == 1;

    countdown -= countdown > 0;
    happened |= now;
    return now || (happened && loss == LOST_DEVICE);
}

enum ppu_err __wrap_admin_call(struct ppu_device *device, enum ppu_admin_op op, const uint32_t *args,
                               uint32_t arg_count, uint32_t *results, uint32_t result_count)
{
    if (happens()) {
        return loss == LOST_DEVICE ? PPU_ERR_DEVICE_LOST : PPU_ERR_TIMEOUT;
    }
    return __real_admin_call(device, op, args, arg_count, results, result_count);
}

/* One of each; NULL: it could not be made. */
struct objects {
    struct ppu_context *context;
    struct ppu_memory *small, *large, *system, *shared;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_taskq *taskq;
    struct ppu_workq *workq;
    struct ppu_program *program;
};

static void make(struct api *api, struct objects *o)
{
    const struct ppu_taskq_options taskq = { .entries = 64 };
    const struct ppu_nest_options nest = { .tasks = 64, .depth = 2, .heap_bytes = PPU_PAGE_64K };
    ppu_va_t va;

    if (ppu_context_create(api->device, &o->context) != PPU_OK) {
        return;
    }
    (void)ppu_memory_create(o->context, PPU_MEMORY_VRAM, PPU_PAGE_64K, &o->small);
    (void)ppu_memory_create(o->context, PPU_MEMORY_VRAM, LARGE, &o->large);
    (void)ppu_memory_create(o->context, PPU_MEMORY_SYSTEM, LARGE, &o->system);
    if (ppu_memory_alloc(api->device, PPU_MEMORY_VRAM, LARGE + PPU_PAGE_64K, &o->shared) == PPU_OK) {
        (void)ppu_memory_map(o->shared, o->context, 0, &va);
        (void)ppu_memory_map(o->shared, api->context, 0, &va);
    }
    (void)ppu_context_nest(o->context, &nest);
    (void)ppu_program_load_file(o->context, FAULTS, &o->program, NULL);
    if (ppu_channel_create(o->context, NULL, &o->channel) == PPU_OK) {
        (void)ppu_stream_create(o->channel, &o->stream);
        (void)ppu_workq_create(o->channel, NULL, &o->workq);
    }
    (void)ppu_taskq_create(o->context, &taskq, &o->taskq);
}

/* An error leaves the object, and it can be ended again, unless the device is lost. */
static bool again(enum ppu_err err)
{
    return err != PPU_OK && err != PPU_ERR_DEVICE_LOST;
}

static void end_queues(struct objects *o)
{
    if (again(ppu_workq_destroy(o->workq))) {
        (void)ppu_workq_destroy(o->workq);
    }
    if (o->taskq) {
        (void)ppu_taskq_reopen(o->taskq);
    }
    if (again(ppu_taskq_destroy(o->taskq))) {
        (void)ppu_taskq_destroy(o->taskq);
    }
}

/* What is left of a mapping that nobody has confirmed the end of is ended by free. */
static void end_memory(struct objects *o)
{
    struct ppu_memory *const all[] = { o->small, o->large, o->system, o->shared };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(all); i++) {
        if (all[i]) {
            (void)ppu_memory_unmap(all[i], o->context);
            (void)ppu_memory_free(all[i]);
        }
    }
}

static void end(struct objects *o)
{
    end_queues(o);
    (void)ppu_stream_destroy(o->stream);
    (void)ppu_program_unload(o->program);
    end_memory(o);
    if (again(ppu_channel_destroy(o->channel))) {
        (void)ppu_channel_destroy(o->channel);
    }
    if (again(ppu_context_destroy(o->context))) {
        (void)ppu_context_destroy(o->context);
    }
}

/* Returns false when there are fewer than n requests. */
static bool round_with(struct ppu_transport *transport, enum loss kind, uint32_t n)
{
    struct api *api = api_open(transport, LONG_NS);
    struct objects objects = { .context = NULL };

    loss = kind;
    happened = false;
    countdown = n;
    make(api, &objects);
    end(&objects);
    bool reached = happened;
    countdown = 0;
    happened = false;
    if (kind == LOST_REQUEST) {
        check(api_finish(api->channel));
    }
    api_close(api);
    return reached;
}

static void each_request_may_be_lost(struct api **state, enum loss kind)
{
    struct ppu_transport *transport = (*state)->transport;
    uint32_t n = 1;

    api_close(*state);
    while (n < MOST && round_with(transport, kind, n)) {
        n++;
    }
    print_message("# %u requests\n", n - 1);
    assert_in_range(n, 15, MOST - 1);
    *state = api_open(transport, LONG_NS);
}

static void requests_get_lost(void **state)
{
    each_request_may_be_lost((struct api **)state, LOST_REQUEST);
}

static void devices_get_lost(void **state)
{
    each_request_may_be_lost((struct api **)state, LOST_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("the n-th request is not answered, and all that was made can be ended [A9]", requests_get_lost),
        api_test("the device is lost at the n-th request, and all that was made can be ended [A9]", devices_get_lost),
    };

    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
