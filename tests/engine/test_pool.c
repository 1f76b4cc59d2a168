/* SPDX-License-Identifier: MIT */
/* Tests which threads of the host take CTAs when SMs have had nothing to do. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "tests/engine/rig.h"

#include <time.h>

#define LAUNCHES 100u

/* ---- threads that look ---- */

static const char *const meeting = ".kernel meet\n"
                                   ".param 16\n"
                                   "ldp.b64 s0, [0]\n"
                                   "ldp.b64 s2, [8]\n" /* CTAs that have come when all of this grid have */
                                   "mov64 v2, s0\n"
                                   "mov v4, 1\n"
                                   "atomg.add.acq_rel.dev v5, [v2], v4\n"
                                   "again:\n"
                                   "ldg.b32 v6, [v2]\n"
                                   "isetp.ltu p0, v6, s2\n"
                                   "yield\n"
                                   "@p0 bra again\n"
                                   "exit\n";

/*
 * Each CTA fills an SM and waits for the others, so that each SM is needed. One thread has two of them; when it looks
 * for work, the other sleeps and has to be told.
 */
static void each_thread_takes_ctas(void **state)
{
    struct rig *rig = *state;
    const struct core_config *config = core_config_of(rig->board->core);

    rig_load_text(rig, meeting);
    struct ppu_tmd tmd = rig_tmd(rig, "meet");
    rig_shape(&tmd, config->sms, 1, 1, 1);
    tmd.shared_bytes = PPU_MAX_SHARED; /* more than half of an SM's */
    for (uint32_t i = 1; i <= LAUNCHES; i++) {
        const uint64_t params[2] = { DATA_VA, i * config->sms };

        rig_params(rig, 0, &tmd, params, sizeof(params));
        rig_run_done(rig, &tmd);
    }
    assert_int_equal(vram_read32(rig_data(rig, 0)), LAUNCHES * config->sms);
}

/* Grids of one CTA and of one for each SM, with pauses in which threads look, and in which they sleep. */
static void threads_look_and_sleep(void **state)
{
    struct rig *rig = *state;
    const struct core_config *config = core_config_of(rig->board->core);
    uint32_t come = 0;

    rig_load_text(rig, meeting);
    struct ppu_tmd tmd = rig_tmd(rig, "meet");
    tmd.shared_bytes = PPU_MAX_SHARED; /* more than half of an SM's */
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        const uint32_t ctas = i % 3 == 0 ? config->sms : 1;
        const struct timespec pause = { .tv_nsec = i % 7 * 60000 };

        come += ctas;
        const uint64_t params[2] = { DATA_VA, come };
        rig_shape(&tmd, ctas, 1, 1, 1);
        rig_params(rig, 0, &tmd, params, sizeof(params));
        nanosleep(&pause, NULL);
        rig_run_done(rig, &tmd);
    }
    assert_int_equal(vram_read32(rig_data(rig, 0)), come);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "a thread that looks for CTAs wakes the others for what it leaves [A8]", each_thread_takes_ctas,
          rig_setup_threads, rig_teardown, NULL },
        { "CTAs find a thread that looks, or that sleeps [A8]", threads_look_and_sleep, rig_setup_threads, rig_teardown,
          NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
