/* SPDX-License-Identifier: MIT */
/*
 * Measures what a client of vfio-user waits for: the opening of a PPU that runs already, a register, a block, system
 * memory; beside a machine that the process starts for itself, in turns.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ppu/macros.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/transport.h"
#include "tests/bench/bench.h"
#include "tests/remote/served.h"

#define OPENINGS 11u
#define READS 2000u
#define TURNS 40u
#define BLOCKS_A_TURN 50u
#define BLOCKS (TURNS * BLOCKS_A_TURN)
#define MEMORY_BYTES (64ull * PPU_MIB)
#define MEMORY_BUDGET_MS 300.0

static double times[BLOCKS];
static double native_times[BLOCKS];

static double ms_since(uint64_t before_ns)
{
    return (double)(clock_ns() - before_ns) / NS_PER_MS;
}

static void openings(void)
{
    for (uint32_t i = 0; i < OPENINGS; i++) {
        struct ppu_device *device = NULL;
        struct ppu_error error;
        uint64_t before_ns = clock_ns();

        bench_need(ppu_open(&device, &error), error.text);
        times[i] = ms_since(before_ns);
        ppu_device_close(device);
    }
    bench_row("vfu.open_ms", bench_quantile(times, OPENINGS, 0.5), "ms", 0,
              "a process opens a PPU that runs already; median of 11");
}

/* As the transport of the device does it, which has the socket while the device is open. */
static void registers(struct served *served)
{
    struct ppu_transport *transport = NULL;
    struct ppu_error error;

    bench_need(ppu_vfio_user_transport(served->path[0], &transport, &error), error.text);
    for (uint32_t i = 0; i < READS; i++) {
        uint64_t before_ns = clock_ns();
        if (transport->ops->reg_read(transport, PPU_REG_MAGIC) != PPU_MAGIC) {
            bench_need(PPU_ERR_TRANSPORT, "read a register");
        }
        times[i] = (double)(clock_ns() - before_ns) / NS_PER_US;
    }
    transport->ops->close(transport);
    bench_row("vfu.register_us", bench_quantile(times, READS, 0.5), "us", 0, "a register is read by a message");
}

/* A block of nothing but the release and the interrupt of its event. */
static double block_us(struct bench *bench)
{
    struct ppu_block *block = NULL;
    struct ppu_event event;
    uint64_t before_ns = clock_ns();

    bench_need(ppu_block_begin(bench->channel, &block), "begin");
    bench_need(ppu_block_submit(block, &event), "submit");
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
    return (double)(clock_ns() - before_ns) / NS_PER_US;
}

static void blocks(struct bench *served, struct bench *native)
{
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; i < BLOCKS_A_TURN; i++) {
            times[turn * BLOCKS_A_TURN + i] = block_us(served);
        }
        for (uint32_t i = 0; i < BLOCKS_A_TURN; i++) {
            native_times[turn * BLOCKS_A_TURN + i] = block_us(native);
        }
    }
    const double served_us = bench_quantile(times, BLOCKS, 0.5), native_us = bench_quantile(native_times, BLOCKS, 0.5);
    char note[128];
    snprintf(note, sizeof(note), "submit to wake-up of an empty block; %.0f us on a machine of the process's own",
             native_us);
    bench_row("vfu.submit_us", served_us, "us", 0, note);
    bench_row("vfu.submit_ratio", served_us / native_us, "x", 0, "the same, to a machine of the process's own");
}

/* The device sees it when the memory has been made; its pages come when somebody uses them. */
static void system_memory(struct bench *bench)
{
    struct ppu_memory *memory = NULL;
    uint64_t before_ns = clock_ns();

    bench_need(ppu_memory_create(bench->context, PPU_MEMORY_SYSTEM, MEMORY_BYTES, &memory), "system memory");
    bench_row("vfu.system_64mib_ms", ms_since(before_ns), "ms", MEMORY_BUDGET_MS,
              "64 MiB of system memory made visible");
    ppu_memory_free(memory);
}

int main(void)
{
    static struct served served;
    struct ppu_transport *transport = NULL;
    struct bench client = { 0 }, native = { 0 };
    struct ppu_error error;
    char device[64];

    if (!served_start(&served, 1, NULL)) {
        bench_need(PPU_ERR_TRANSPORT, "start a server");
    }
    bench_need(served_transport(&served, 0, &transport, &error), error.text);
    transport->ops->close(transport);
    snprintf(device, sizeof(device), "vfio-user:%s", served.path[0]);
    setenv("PPU_DEVICE", device, 1);
    openings();
    registers(&served);
    bench_open_here(&client, "build/kernels");
    bench_open(&native, NULL, NULL);
    blocks(&client, &native);
    system_memory(&client);
    bench_close(&client);
    bench_close(&native);
    served_stop(&served);
    return 0;
}
