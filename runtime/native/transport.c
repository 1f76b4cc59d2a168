/* SPDX-License-Identifier: MIT */
/* Reaches a PPU in a child QEMU: registers by qtest, doorbells by the mailbox, VRAM mapped. */
#include "ppu/channel.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/regs.h"
#include "runtime/deadline.h"
#include "runtime/native/machine.h"

#define SETTLE_NS (2 * NS_PER_S)

static struct native_ppu *ppu_of(struct ppu_transport *transport)
{
    return PPU_CONTAINER_OF(transport, struct native_ppu, transport);
}

/*
 * The PPU, when the device may be reached (mailbox.h). One that keeps its microcontroller busy is not waited for again:
 * what it counts depends on the host then.
 */
static struct native_ppu *settled(struct ppu_transport *transport)
{
    struct native_ppu *ppu = ppu_of(transport);
    struct ppu_machine *machine = ppu->machine;

    for (uint32_t i = 0; i < machine->ppus && !__atomic_load_n(&machine->restless, __ATOMIC_RELAXED); i++) {
        if (!mailbox_settle(&machine->ppu[i].mailbox, SETTLE_NS)) {
            __atomic_store_n(&machine->restless, true, __ATOMIC_RELAXED);
        }
    }
    return ppu;
}

static uint32_t native_reg_read(struct ppu_transport *transport, uint32_t offset)
{
    struct native_ppu *ppu = settled(transport);

    return qtest_read32(&ppu->machine->qtest, ppu->function.bar[PPU_BAR_REGS] + offset);
}

static void native_reg_write(struct ppu_transport *transport, uint32_t offset, uint32_t value)
{
    struct native_ppu *ppu = settled(transport);

    qtest_write32(&ppu->machine->qtest, ppu->function.bar[PPU_BAR_REGS] + offset, value);
    if (ppu->mailbox.shared->counted) {
        qtest_sync(&ppu->machine->qtest); /* the device says that it is quiet no more before anybody looks */
    }
}

static uint32_t native_doorbell_read(struct ppu_transport *transport, uint64_t offset)
{
    struct native_ppu *ppu = settled(transport);

    return qtest_read32(&ppu->machine->qtest, ppu->function.bar[PPU_BAR_DOORBELLS] + offset);
}

/* Through the mailbox, which does not wait for the registers that were written before. */
static void native_doorbell_write(struct ppu_transport *transport, uint64_t offset, uint32_t value)
{
    struct native_ppu *ppu = settled(transport);
    uint64_t channel = offset / PPU_DOORBELL_STRIDE;

    if (channel >= PPU_MAX_CHANNELS || offset % PPU_DOORBELL_STRIDE != PPU_DB_PUT) {
        qtest_write32(&ppu->machine->qtest, ppu->function.bar[PPU_BAR_DOORBELLS] + offset, value);
        return;
    }
    qtest_sync(&ppu->machine->qtest);
    mailbox_ring(&ppu->mailbox, (uint32_t)channel, value);
}

static void native_window_read(struct ppu_transport *transport, uint32_t offset, void *buf, uint32_t len_bytes)
{
    struct native_ppu *ppu = settled(transport);

    qtest_read(&ppu->machine->qtest, ppu->function.bar[PPU_BAR_REGS] + offset, buf, len_bytes);
}

static void native_window_write(struct ppu_transport *transport, uint32_t offset, const void *buf, uint32_t len_bytes)
{
    struct native_ppu *ppu = settled(transport);

    qtest_write(&ppu->machine->qtest, ppu->function.bar[PPU_BAR_REGS] + offset, buf, len_bytes);
}

static enum ppu_err native_system_alloc(struct ppu_transport *transport, uint64_t bytes,
                                        struct ppu_system_memory *memory)
{
    struct ppu_machine *machine = ppu_of(transport)->machine;
    uint64_t align = bytes >= PPU_PAGE_2M ? PPU_PAGE_2M : PPU_PAGE_64K;
    uint64_t bus = 0;

    pthread_mutex_lock(&machine->lock);
    bool taken = range_take(&machine->bus_memory, bytes, align, &bus);
    pthread_mutex_unlock(&machine->lock);
    if (!taken) {
        return PPU_ERR_NO_MEMORY;
    }
    memory->host = machine->ram + (bus - MACHINE_RAM_BASE);
    memory->bus.bus = bus;
    memory->bytes = bytes;
    return PPU_OK;
}

static void native_system_free(struct ppu_transport *transport, const struct ppu_system_memory *memory)
{
    struct ppu_machine *machine = ppu_of(transport)->machine;

    pthread_mutex_lock(&machine->lock);
    range_give(&machine->bus_memory, memory->bus.bus);
    pthread_mutex_unlock(&machine->lock);
}

/* No IOMMU lies between them: each reaches the window onto the other's VRAM where it is. */
static enum ppu_err native_peer_map(struct ppu_transport *transport, struct ppu_transport *peer, uint64_t offset,
                                    uint64_t bytes, struct ppu_system_memory *memory)
{
    if (peer->ops != transport->ops || ppu_of(peer)->machine != ppu_of(transport)->machine) {
        return PPU_ERR_NO_RESOURCE;
    }
    *memory = (struct ppu_system_memory){ .host = peer->vram + offset,
                                          .bus = { ppu_of(peer)->function.bar[PPU_BAR_VRAM] + offset },
                                          .bytes = bytes };
    return PPU_OK;
}

static void native_peer_unmap(struct ppu_transport *transport, const struct ppu_system_memory *memory)
{
    (void)transport;
    (void)memory;
}

static uint32_t native_wait(struct ppu_transport *transport, uint64_t timeout_ns)
{
    return mailbox_wait(&ppu_of(transport)->mailbox, timeout_ns);
}

static void native_set_bus_master(struct ppu_transport *transport, bool on)
{
    struct native_ppu *ppu = ppu_of(transport);

    pci_set_bus_master(&ppu->machine->qtest, &ppu->function, on);
}

static void native_close(struct ppu_transport *transport)
{
    struct native_ppu *ppu = ppu_of(transport);
    struct ppu_machine *machine = ppu->machine;

    qtest_sync(&machine->qtest);
    ppu->attached = false;
    if (machine->owned) {
        ppu_machine_stop(machine);
    }
}

static const struct ppu_transport_ops native_ops = {
    .reg_read = native_reg_read,
    .reg_write = native_reg_write,
    .doorbell_read = native_doorbell_read,
    .doorbell_write = native_doorbell_write,
    .window_read = native_window_read,
    .window_write = native_window_write,
    .system_alloc = native_system_alloc,
    .system_free = native_system_free,
    .peer_map = native_peer_map,
    .peer_unmap = native_peer_unmap,
    .wait = native_wait,
    .set_bus_master = native_set_bus_master,
    .close = native_close,
};

void native_transport_init(struct native_ppu *ppu)
{
    ppu->transport.ops = &native_ops;
    ppu->transport.pci = pci_address(&ppu->function);
}
