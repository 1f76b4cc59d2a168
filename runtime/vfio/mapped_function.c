/* SPDX-License-Identifier: MIT */
#include "runtime/vfio/mapped_function.h"

#include <linux/pci_regs.h>
#include <string.h>

#include "ppu/channel.h"
#include "ppu/macros.h"
#include "ppu/regs.h"

static struct mapped_function *function_of(struct ppu_transport *transport)
{
    return PPU_CONTAINER_OF(transport, struct mapped_function, transport);
}

uint32_t mapped_function_reg_read(struct ppu_transport *transport, uint32_t offset)
{
    return vfio_region_read32(&function_of(transport)->regs, offset);
}

void mapped_function_reg_write(struct ppu_transport *transport, uint32_t offset, uint32_t value)
{
    vfio_region_write32(&function_of(transport)->regs, offset, value);
}

uint32_t mapped_function_doorbell_read(struct ppu_transport *transport, uint64_t offset)
{
    return vfio_region_read32(&function_of(transport)->doorbells, offset);
}

/*
 * Both sides change words of a mailbox by atomic operations. Arm leaves open what these do on the memory of a device,
 * as which its kernel maps a BAR; on x86 they are as elsewhere.
 */
void mapped_function_use_mailbox(struct mapped_function *function)
{
#if defined(__x86_64__)
    const struct vfio_region *box = &function->box;

    if (box->areas == 1 && box->area[0].offset == 0 && box->area[0].bytes >= sizeof(struct ppu_mailbox)) {
        function->mailbox = (struct ppu_mailbox *)(void *)box->mapped[0];
    }
#else
    (void)function;
#endif
}

/*
 * While the device looks it finds the doorbell by itself: no register is touched, which this machine would send as a
 * message. Otherwise it is woken up by a ring without a value: later than the mailbox, it would be an old one.
 */
void mapped_function_doorbell_write(struct ppu_transport *transport, uint64_t offset, uint32_t value)
{
    struct mapped_function *function = function_of(transport);
    const uint64_t channel = offset / PPU_DOORBELL_STRIDE;

    if (!function->mailbox || channel >= PPU_MAX_CHANNELS || offset % PPU_DOORBELL_STRIDE != PPU_DB_PUT) {
        vfio_region_write32(&function->doorbells, offset, value);
        return;
    }
    if (!ppu_mailbox_ring(function->mailbox, (uint32_t)channel, value)) {
        vfio_region_write32(&function->doorbells, offset - PPU_DB_PUT + PPU_DB_RING, 1);
    }
}

void mapped_function_window_read(struct ppu_transport *transport, uint32_t offset, void *buf, uint32_t len_bytes)
{
    for (uint32_t done = 0; done < len_bytes; done += sizeof(uint32_t)) {
        uint32_t word = mapped_function_reg_read(transport, offset + done);
        memcpy((char *)buf + done, &word, sizeof(word));
    }
}

void mapped_function_window_write(struct ppu_transport *transport, uint32_t offset, const void *buf, uint32_t len_bytes)
{
    for (uint32_t done = 0; done < len_bytes; done += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, (const char *)buf + done, sizeof(word));
        mapped_function_reg_write(transport, offset + done, word);
    }
}

void mapped_function_set_bus_master(struct ppu_transport *transport, bool on)
{
    struct mapped_function *function = function_of(transport);

    pthread_mutex_lock(&function->lock);
    uint16_t command = vfio_region_read16(&function->config, PCI_COMMAND) | PCI_COMMAND_MEMORY;
    command = (uint16_t)(on ? command | PCI_COMMAND_MASTER : command & ~PCI_COMMAND_MASTER);
    vfio_region_write16(&function->config, PCI_COMMAND, command);
    pthread_mutex_unlock(&function->lock);
}
