/* SPDX-License-Identifier: MIT */
/*
 * Takes the user on a tour of the PPU: finds it, brings it up, gives it work, checks every result, and says what
 * happened on the way. docs/demo.md explains each line. The exit status is 0 when every check passed.
 *
 * usage: demo [KERNELS [FILE [PICTURE]]]   the image of the demo's kernels; a file whose bytes are counted; where a
 * picture is written to, else it is not kept
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "demo/clock.h"
#include "demo/commands.h"
#include "demo/inventory.h"
#include "demo/lanes.h"
#include "demo/latency.h"
#include "demo/mandelbrot.h"
#include "demo/parts.h"
#include "demo/queued.h"
#include "demo/report.h"
#include "demo/sharing.h"
#include "demo/user.h"
#include "demo/work.h"

#define KERNELS "build/demo/kernels.ppu"
#define COUNTED_FILE "/bin/busybox"

static struct ppu_device *bring_up(void)
{
    struct ppu_device *device = NULL;
    struct ppu_error error;

    report_section("Bring-up");
    double before_ms = clock_ms();
    if (ppu_open(&device, &error) != PPU_OK) {
        need(error.code, error.text);
    }
    const struct ppu_device_info *info = ppu_device_info(device);
    report_line("firmware", "build %02x%02x%02x%02x, loaded, started and answering after %.0f ms", info->build_id[0],
                info->build_id[1], info->build_id[2], info->build_id[3], clock_ms() - before_ms);
    report_line("versions", "interface %" PRIu32 ".%" PRIu32 ", instruction set %" PRIu32, info->abi_major,
                info->abi_minor, info->isa_version);
    report_line("PPU", "%" PRIu32 " SMs in %" PRIu32 " GPCs, %" PRIu32 " task slots, %" PRIu64 " MiB VRAM", info->sms,
                info->gpcs, info->slots, info->vram_bytes / PPU_MIB);
    report_line("each SM", "%" PRIu32 " warps, %" PRIu32 " CTAs, %s registers, %" PRIu32 " KiB shared memory",
                info->sm_warps, info->sm_ctas, grouped(info->sm_vregs).text, info->sm_shared / PPU_KIB);
    report_line("for programs", "%" PRIu32 " channels, %" PRIu32 " address spaces, %" PRIu32 " streams in each",
                info->channels, info->contexts, info->streams);
    return device;
}

static void show_counter(struct ppu_device *device, enum ppu_key key, const char *label)
{
    uint64_t value = 0;

    need(ppu_device_query(device, key, 0, &value), label);
    report_line(label, "%9s", grouped(value).text);
}

static void show_latency(struct report *report, const struct user *user)
{
    struct ppu_memory *counter = user_memory(user, PPU_MEMORY_VRAM, sizeof(uint32_t));
    struct latency latency;
    enum ppu_err err = latency_measure(user, user_va(user, counter), &latency);

    if (err != PPU_OK) {
        report_check(report, false, "launches of one thread", "%s", user_reason(user, err));
    } else {
        report_line("doorbell to interrupt", "%9.0f us    median of %u launches of one thread; 99 %% below %.0f us",
                    latency_quantile(latency.irq_us, 0.5), LATENCY_ROUNDS, latency_quantile(latency.irq_us, 0.99));
        report_line("submit to wake-up", "%9.0f us    the same launches, as their process sees them",
                    latency_quantile(latency.wake_us, 0.5));
    }
    need(ppu_memory_free(counter), "memory given back");
}

static void show_way(struct report *report, struct ppu_device *device, const struct user *user)
{
    report_section("On the way");
    show_latency(report, user);
    show_counter(device, PPU_KEY_DOORBELLS, "doorbells");
    show_counter(device, PPU_KEY_BLOCKS, "command blocks");
    show_counter(device, PPU_KEY_LAUNCHES, "launches");
    show_counter(device, PPU_KEY_COPIES, "copies");
    show_counter(device, PPU_KEY_INTERRUPTS, "interrupts");
    show_counter(device, PPU_KEY_FAULTS, "faults");
}

int main(int argc, char **argv)
{
    const char *kernels = argc > 1 ? argv[1] : KERNELS;
    struct report report = { 0 };
    struct user user;

    setvbuf(stdout, NULL, _IOLBF, 0);
    inventory_show();
    struct ppu_device *device = bring_up();
    user_open(&user, device, kernels);
    work_show(&report, &user, argc > 2 ? argv[2] : COUNTED_FILE);
    mandelbrot_show(&report, &user, argc > 3 ? argv[3] : NULL);
    queued_show(&report, &user);
    commands_show(&report, &user);
    lanes_show(&report, &user);
    parts_show(&report, &user);
    sharing_show(&report, device, kernels);
    show_way(&report, device, &user);
    user_close(&user);
    ppu_device_close(device);
    return report_end(&report) ? EXIT_SUCCESS : EXIT_FAILURE;
}
