/* SPDX-License-Identifier: MIT */
#include "runtime/look.h"

#include <sched.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"

static uint32_t look_until(struct ppu_mailbox *shared, struct ppu_poll *poll, uint64_t now_ns, uint64_t until_ns)
{
    uint32_t vectors = 0;

    while ((vectors = ppu_mailbox_take(&shared->vectors)) == 0 && now_ns < until_ns) {
        uint64_t before_ns = now_ns;
        sched_yield();
        now_ns = clock_ns();
        if (now_ns - before_ns >= PPU_POLL_CROWDED_NS) {
            ppu_poll_crowded(poll, now_ns);
            break;
        }
    }
    return vectors;
}

uint32_t look_for_vectors(struct ppu_mailbox *shared, struct ppu_poll *poll, uint64_t now_ns, uint64_t timeout_ns)
{
    uint32_t window_ns = ppu_poll_begin(poll, now_ns);

    if (window_ns == 0) {
        return 0;
    }
    ppu_mailbox_look(&shared->client_looks, true);
    uint32_t vectors = look_until(shared, poll, now_ns, now_ns + PPU_MIN(window_ns, timeout_ns));
    ppu_mailbox_look(&shared->client_looks, false);
    return vectors;
}
