/* SPDX-License-Identifier: MIT */
/* Tests through the library who moves the token queues of warps (E7), and the policies that SMs obey. */
#include "tests/api/api.h"

#include "ppu/macros.h"

#define CTAS 6u
#define THREADS 100u
#define YIELDS 200u

struct exchange_params {
    uint64_t out;
    uint32_t yields, zero;
};

static void run_exchange(struct api *api, struct ppu_memory *memory)
{
    const struct ppu_kernel *kernel = api_kernel(api, api->context, "exchange", "exchange");
    const struct exchange_params params = { .out = api_va(api, memory), .yields = YIELDS };

    for (uint32_t i = 0; i < CTAS * THREADS; i++) {
        api_set_word(memory, 4 * i, 0);
    }
    check(api_run(api, kernel, CTAS, THREADS, &params, sizeof(params)));
    for (uint32_t i = 0; i < CTAS * THREADS; i++) {
        assert_int_equal(api_word(memory, 4 * i), YIELDS);
    }
}

static void either_recentres(void **state)
{
    struct api *api = *state;
    struct ppu_memory *memory = api_memory(api, PPU_MEMORY_VRAM, CTAS * THREADS * 4);

    run_exchange(api, memory);
    assert_int_equal(api_query(api, PPU_KEY_RECENTRED, 0), 0);
    check(ppu_device_policy(api->device, PPU_POLICY_TOKEN_HANDLER, 1));
    run_exchange(api, memory);
    const uint64_t moved = api_query(api, PPU_KEY_RECENTRED, 0);
    /* Each yield of a half is one at the queue's end, or the one before it was. */
    assert_true(moved >= CTAS * (THREADS / 32) * YIELDS / 2);
    check(ppu_device_policy(api->device, PPU_POLICY_TOKEN_HANDLER, 0));
    run_exchange(api, memory);
    assert_int_equal(api_query(api, PPU_KEY_RECENTRED, 0), moved);
}

/* What the device obeys is set, read and refused as what the firmware obeys. */
static void policies_of_sms(void **state)
{
    static const struct {
        enum ppu_policy policy;
        uint32_t first, good, bad;
    } rows[] = {
        { PPU_POLICY_TOKEN_HANDLER, 0, 1, 2 },       { PPU_POLICY_YIELD_CHANCE, 256, 1, 0x80000000u },
        { PPU_POLICY_MODE_THRESHOLD, 512, 0, 1026 }, { PPU_POLICY_MODE_WINDOW, 256, 1, 513 },
        { PPU_POLICY_MODE_HYSTERESIS, 64, 1, 1025 }, { PPU_POLICY_MODE_VREGS, 64, 10, 257 },
    };
    struct api *api = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        assert_int_equal(api_query(api, PPU_KEY_POLICY, rows[i].policy), rows[i].first);
        check(ppu_device_policy(api->device, rows[i].policy, rows[i].good));
        assert_int_equal(ppu_device_policy(api->device, rows[i].policy, rows[i].bad), PPU_ERR_BAD_ARG);
        assert_int_equal(api_query(api, PPU_KEY_POLICY, rows[i].policy), rows[i].good);
        check(ppu_device_policy(api->device, rows[i].policy, rows[i].first));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        api_test("the SM or the firmware recentres token queues, with the same result [E7]", either_recentres),
        api_test("what SMs obey is set as policies are [D8, D9, E6, E7]", policies_of_sms),
    };

    return cmocka_run_group_tests_name("api: recentre", tests, api_machine_setup, api_machine_teardown);
}
