/* SPDX-License-Identifier: MIT */
/*
 * Tests a channel that another thread makes between the firmware's answer that the one before has ended and what
 * libppu does then.
 */
#include "tests/api/api.h"

#define PATIENCE_NS (10ull * 1000000000u)

/* Linked with --wrap: every request to the firmware comes here. */
enum ppu_err __real_admin_call(struct ppu_device *device, enum ppu_admin_op op, const uint32_t *args,
                               uint32_t arg_count, uint32_t *results, uint32_t result_count);
enum ppu_err __wrap_admin_call(struct ppu_device *device, enum ppu_admin_op op, const uint32_t *args,
                               uint32_t arg_count, uint32_t *results, uint32_t result_count);

static struct ppu_context *intruder_context; /* NULL: nobody is waiting for a channel to end */
static struct ppu_channel *intruder;

enum ppu_err __wrap_admin_call(struct ppu_device *device, enum ppu_admin_op op, const uint32_t *args,
                               uint32_t arg_count, uint32_t *results, uint32_t result_count)
{
    enum ppu_err err = __real_admin_call(device, op, args, arg_count, results, result_count);
    struct ppu_context *context = intruder_context;

    if (op == PPU_ADMIN_CHANNEL_DESTROY && context) {
        intruder_context = NULL;
        check(ppu_channel_create(context, NULL, &intruder));
    }
    return err;
}

/* A block with a method that is none. */
static void do_wrong(struct ppu_channel *channel)
{
    struct ppu_block *block = NULL;

    check(ppu_block_begin(channel, &block));
    ppu_block_method(block, 0xfff, NULL, 0);
    check(ppu_block_submit(block, NULL));
}

/* Ends `channel`; the one that is made meanwhile has its number. */
static struct ppu_channel *replace(struct api *api, struct ppu_channel *channel)
{
    uint32_t index = ppu_channel_index(channel);

    intruder = NULL;
    intruder_context = api->context;
    check(ppu_channel_destroy(channel));
    assert_non_null(intruder);
    assert_int_equal(ppu_channel_index(intruder), index);
    return intruder;
}

/* The lowest number that is free, so that the next one gets it again. */
static struct ppu_channel *new_channel(struct api *api)
{
    struct ppu_channel *channel = NULL;

    check(ppu_channel_create(api->context, NULL, &channel));
    return channel;
}

static void faults_reach_the_new(void **state)
{
    struct api *api = *state;
    struct ppu_channel *channel = replace(api, new_channel(api));
    struct ppu_error error = { .code = PPU_OK };
    struct ppu_event event;
    struct ppu_block *block = NULL;

    check(ppu_block_begin(channel, &block));
    ppu_block_method(block, 0xfff, NULL, 0);
    check(ppu_block_submit(block, &event));
    assert_int_not_equal(ppu_event_wait(&event, PATIENCE_NS), PPU_ERR_TIMEOUT);
    assert_int_not_equal(ppu_channel_error(channel, &error), PPU_OK);
    assert_int_equal(error.record.code, PPU_FAULT_METHOD_UNKNOWN);
    check(ppu_channel_destroy(channel));
}

static void faults_of_the_old_do_not(void **state)
{
    struct api *api = *state;
    struct ppu_channel *old = new_channel(api);

    do_wrong(old);
    struct ppu_channel *channel = replace(api, old);
    (void)ppu_device_error_count(api->device); /* reads what there is */
    check(ppu_channel_error(channel, NULL));
    check(api_finish(channel));
    check(ppu_channel_destroy(channel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("a channel made while another one ends is told its faults [A2]", faults_reach_the_new),
        api_test("a channel made while another one ends is not told the other one's [A2]", faults_of_the_old_do_not),
    };

    return cmocka_run_group_tests(tests, api_machine_setup, api_machine_teardown);
}
