/* SPDX-License-Identifier: MIT */
#include "demo/sharing.h"

#include <inttypes.h>
#include <stdio.h>

#include "demo/user.h"

#define USERS 2u
#define LAUNCHES 100u
#define START 1000u /* what the counters begin with, times the number of the user + 1 */

struct tenant {
    struct user user;
    const struct ppu_kernel *count;
    struct ppu_memory *counter;
};

static void tenant_open(struct tenant *tenant, uint32_t number, struct ppu_device *device, const char *image)
{
    user_open(&tenant->user, device, image);
    tenant->count = user_kernel(&tenant->user, "count");
    tenant->counter = user_memory(&tenant->user, PPU_MEMORY_VRAM, sizeof(uint32_t));
    *(uint32_t *)ppu_memory_host(tenant->counter) = (number + 1) * START;
}

static void tenant_close(struct tenant *tenant)
{
    need(ppu_memory_free(tenant->counter), "memory given back");
    user_close(&tenant->user);
}

/* One thread that adds 1 to the word at `va`. */
static enum ppu_err launch_at(const struct tenant *tenant, uint64_t va, struct ppu_event *event)
{
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = &va, .param_bytes = sizeof(va) };

    return ppu_stream_launch(tenant->user.stream, tenant->count, &launch, event);
}

static enum ppu_err count_at(const struct tenant *tenant, uint64_t va)
{
    struct ppu_event event;
    enum ppu_err err = launch_at(tenant, va, &event);

    return err == PPU_OK ? ppu_event_wait(&event, DEMO_WAIT_NS) : err;
}

static uint64_t counter_va(const struct tenant *tenant)
{
    return user_va(&tenant->user, tenant->counter);
}

static uint32_t counter_value(const struct tenant *tenant)
{
    return *(volatile uint32_t *)ppu_memory_host(tenant->counter);
}

/* Both launch in turn without waiting; each must find exactly what it counted itself. */
static void count_together(struct report *report, struct tenant tenant[USERS])
{
    enum ppu_err err = PPU_OK;
    bool own = true;

    for (uint32_t i = 0; i < LAUNCHES * USERS && err == PPU_OK; i++) {
        err = launch_at(&tenant[i % USERS], counter_va(&tenant[i % USERS]), NULL);
    }
    for (uint32_t i = 0; i < USERS && err == PPU_OK; i++) {
        err = ppu_stream_wait(tenant[i].user.stream, DEMO_WAIT_NS);
        own = own && counter_value(&tenant[i]) == (i + 1) * START + LAUNCHES;
    }
    report_check(report, counter_va(&tenant[0]) == counter_va(&tenant[1]), "same address",
                 "0x%" PRIx64 " in both, memory of its own for each", counter_va(&tenant[0]));
    report_check(report, err == PPU_OK && own, "side by side", "%u launches each, in turn: %" PRIu32 " and %" PRIu32,
                 LAUNCHES, counter_value(&tenant[0]), counter_value(&tenant[1]));
}

/* An address that only the first has memory at: the second is stopped, the first goes on, and so does the second. */
static void trespass(struct report *report, struct tenant tenant[USERS])
{
    struct ppu_memory *secret = user_memory(&tenant[0].user, PPU_MEMORY_VRAM, sizeof(uint32_t));
    uint64_t va = user_va(&tenant[0].user, secret);
    struct ppu_error error = { 0 };

    *(uint32_t *)ppu_memory_host(secret) = START;
    count_at(&tenant[1], va);
    ppu_channel_error(tenant[1].user.channel, &error);
    bool stopped = error.record.code == PPU_FAULT_UNMAPPED && error.record.address == va &&
                   error.record.context == ppu_context_id(tenant[1].user.context);
    report_check(report, stopped && *(volatile uint32_t *)ppu_memory_host(secret) == START, "trespass",
                 "by the second, to 0x%" PRIx64 ": %s", error.record.address, ppu_fault_name(error.record.code));
    report_check(report, count_at(&tenant[0], va) == PPU_OK && count_at(&tenant[0], counter_va(&tenant[0])) == PPU_OK,
                 "the first", "goes on");
    report_check(report,
                 ppu_channel_reset(tenant[1].user.channel) == PPU_OK &&
                     count_at(&tenant[1], counter_va(&tenant[1])) == PPU_OK,
                 "the second", "goes on, its channel reset");
    need(ppu_memory_free(secret), "memory given back");
}

void sharing_show(struct report *report, struct ppu_device *device, const char *image)
{
    struct tenant tenant[USERS];

    report_section("Two address spaces");
    for (uint32_t i = 0; i < USERS; i++) {
        tenant_open(&tenant[i], i, device, image);
    }
    count_together(report, tenant);
    trespass(report, tenant);
    for (uint32_t i = 0; i < USERS; i++) {
        tenant_close(&tenant[i]);
    }
}
