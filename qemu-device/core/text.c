/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the state of the device for a person. */
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/memory/dma.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* At most, of the machine as a whole and of each part that may have a line. */
#define TEXT_BYTES (64u * PPU_KIB)
#define CHANNEL_BYTES 80u
#define SM_BYTES 512u
#define WARP_BYTES 96u

struct text {
    char *buf;
    size_t bytes;
    size_t len; /* always less than `bytes`; what does not fit is cut */
};

__attribute__((format(printf, 2, 3))) static void print(struct text *text, const char *format, ...)
{
    size_t room = text->bytes - text->len;
    va_list args;
    int len = 0;

    va_start(args, format);
    len = vsnprintf(text->buf + text->len, room, format, args);
    va_end(args);
    if (len > 0) {
        text->len += (size_t)len < room ? (size_t)len : room - 1;
    }
}

static const char *const mcu_states[] = { "held", "running", "locked up" };
static const char *const slot_states[] = { "free", "running", "stopping", "being killed" };
static const char *const ring_names[PPU_RING_COUNT] = { "start", "slot", "fault", "copy", "touch", "token" };

static void print_machine(const struct core *core, struct text *text)
{
    const struct core_config *config = &core->config;

    print(text, "PPU %u: %u SMs in %u GPCs, %u slots, %u channels, %u contexts, VRAM %llu MiB\n", config->instance,
          config->sms, config->gpcs, config->slots, config->channels, config->contexts,
          (unsigned long long)(config->vram_bytes / PPU_MIB));
    print(text, "MCU %s, boot status 0x%x detail 0x%x, lock-ups %u\n", mcu_states[reg_get(core, PPU_REG_MCU_STATE)],
          reg_get(core, PPU_REG_BOOT_STATUS), reg_get(core, PPU_REG_BOOT_DETAIL), reg_get(core, PPU_REG_MCU_LOCKUPS));
    print(text, "interrupts pending 0x%x, vectors pending 0x%x, device error 0x%x\n",
          reg_get(core, PPU_REG_IRQ_PENDING), reg_get(core, PPU_REG_VECTOR_PENDING),
          reg_get(core, PPU_REG_DEVICE_ERROR));
    print(text, "protected range 0x%x to 0x%x\n", reg_get(core, PPU_REG_PROT_BASE), reg_get(core, PPU_REG_PROT_LIMIT));
}

static void print_rings(struct core *core, struct text *text)
{
    for (uint32_t id = 0; id < PPU_RING_COUNT; id++) {
        struct ring *ring = &core->ring[id];

        pthread_mutex_lock(&ring->lock);
        if (ring->size != 0) {
            uint32_t head = vram_read32(core->vram + ring->base + offsetof(struct ppu_ring_header, head));

            print(text, "ring %-5s 0x%x: %u of %u entries, tail %u\n", ring_names[id], ring->base, ring->tail - head,
                  ring->size, ring->tail);
        }
        pthread_mutex_unlock(&ring->lock);
    }
}

static void print_slots(struct core *core, struct text *text)
{
    pthread_mutex_lock(&core->dist.lock);
    for (uint32_t i = 0; i < core->config.slots; i++) {
        const struct dist_slot *slot = &core->dist.slot[i];

        if (slot->state != PPU_SLOT_FREE) {
            print(text, "slot %u %s: TMD copy 0x%x, context %u, priority %u, CTAs %llu done, %u running, of %llu\n", i,
                  slot_states[slot->state], slot->task.tmd_off, slot->task.tmd.context, slot->task.tmd.priority,
                  (unsigned long long)slot->ctas_done, slot->in_flight, (unsigned long long)slot->total);
        }
    }
    pthread_mutex_unlock(&core->dist.lock);
}

static void print_copies(const struct core *core, struct text *text)
{
    for (uint32_t i = 0; i < core->dma.count; i++) {
        const struct dma_copy *copy = &core->dma.queue[(core->dma.head + i) % PPU_MAX_COPIES];

        print(text, "copy tag 0x%x: %llu of %llu bytes, 0x%x:0x%llx to 0x%x:0x%llx\n", copy->tag,
              (unsigned long long)copy->done_bytes, (unsigned long long)copy->len_bytes, copy->src_space,
              (unsigned long long)copy->src, copy->dst_space, (unsigned long long)copy->dst);
    }
}

static void print_channels(const struct core *core, struct text *text)
{
    for (uint32_t i = 0; i < core->config.channels; i++) {
        uint32_t put = reg_get(core, PPU_REG_GP_PUT + 4 * i);
        uint32_t get = reg_get(core, PPU_REG_GP_GET + 4 * i);
        bool rung = reg_get(core, PPU_REG_DB_PENDING + 4 * (i / 32)) >> i % 32 & 1;

        if (put != 0 || get != 0 || rung) {
            print(text, "channel %u: GP_GET %u, GP_PUT %u%s\n", i, get, put, rung ? ", doorbell rung" : "");
        }
    }
}

static size_t text_bytes(const struct core_config *config)
{
    return TEXT_BYTES + (size_t)config->channels * CHANNEL_BYTES +
           (size_t)config->sms * (SM_BYTES + (size_t)config->sm_warps * WARP_BYTES);
}

char *core_state_text(struct core *core)
{
    struct text text = { .bytes = text_bytes(&core->config) };

    text.buf = malloc(text.bytes);
    if (!text.buf) {
        return NULL;
    }
    text.buf[0] = '\0';
    print_machine(core, &text);
    print_rings(core, &text);
    print_slots(core, &text);
    print_copies(core, &text);
    print(&text, "semaphore table: %u armed\n", __atomic_load_n(&core->semtab.armed_count, __ATOMIC_RELAXED));
    print_channels(core, &text);
    if (text.len < text.bytes - 1) {
        sm_pool_text(core, text.buf + text.len, text.bytes - text.len);
    }
    return text.buf;
}
