/* SPDX-License-Identifier: MIT */
/*
 * Starts a QEMU by tools/ppu-run for a test: its qtest and machine-protocol sockets, and the PPUs in it. Whatever goes
 * wrong with QEMU itself fails the test that asked.
 */
#ifndef TESTS_QEMU_QEMU_H
#define TESTS_QEMU_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppu/regs.h"

#define QEMU_RAM 0x40000000ull /* system memory of the virt machine */

/* Of configuration space: an offset, and numbers of capabilities. */
#define PCI_COMMAND 0x04u
#define PCI_CAP_EXP 0x10u
#define PCI_CAP_MSIX 0x11u

struct qemu;

/* One PPU, mapped by ppu_map(). Addresses are those of the machine's CPU. */
struct ppu {
    struct qemu *qemu;
    uint64_t config; /* its configuration space */
    uint64_t bar[6];
    uint64_t bar_bytes[6];
};

/* `args`: of ppu-run beside the connections; NULL at the end. */
struct qemu *qemu_start(const char *const *args);
void qemu_stop(struct qemu *qemu);
int qemu_pid(const struct qemu *qemu);
bool qemu_alive(struct qemu *qemu);
/* Waits for QEMU to end by itself; its wait status. */
int qemu_wait_end(struct qemu *qemu);
/* Runs ppu-run with `args` until it ends (it must, within seconds); what it printed, the caller's. */
char *qemu_run_to_end(const char *const *args, int *status);

/* Machine protocol: the answer to one command, until the next call. `command` is a JSON object. */
const char *qemu_qmp(struct qemu *qemu, const char *command);
/* The same with a line for QEMU's monitor; the answer is what the monitor printed, as JSON string. */
const char *qemu_monitor(struct qemu *qemu, const char *line);

/* Sends bytes at the socket of qtest as they are. */
void qemu_say(struct qemu *qemu, const void *bytes, size_t len);
/* The next answer there, whatever it says, without its end; until the next call. */
const char *qemu_hear(struct qemu *qemu);

/* Memory as the machine's CPU sees it; len a multiple of 4. */
uint32_t qemu_read(struct qemu *qemu, uint64_t address);
void qemu_write(struct qemu *qemu, uint64_t address, uint32_t value);
void qemu_write16(struct qemu *qemu, uint64_t address, uint16_t value);
void qemu_load(struct qemu *qemu, uint64_t address, const void *bytes, size_t len);

/*
 * Finds the PPU in slot `index` + 1 of the bus, gives it addresses and switches it on, bus mastering included. Waits
 * until its VRAM has been cleared.
 */
struct ppu ppu_map(struct qemu *qemu, unsigned index);
uint32_t ppu_read(const struct ppu *ppu, uint32_t offset);
void ppu_write(const struct ppu *ppu, uint32_t offset, uint32_t value);
uint32_t ppu_vram_read(const struct ppu *ppu, uint64_t offset);
void ppu_vram_write(const struct ppu *ppu, uint64_t offset, uint32_t value);
void ppu_set_bus_master(const struct ppu *ppu, bool on);
/* Offset of a capability in configuration space; fails the test when it is not there. */
uint32_t ppu_capability(const struct ppu *ppu, uint8_t id);
void ppu_function_level_reset(const struct ppu *ppu);
/* Writes an image into ITCM; the MCU must be held. */
void ppu_load_image(const struct ppu *ppu, const void *image, size_t len);
/* Routes an MSI-X vector to a word of system memory. */
void ppu_route_vector(const struct ppu *ppu, uint32_t vector, uint64_t address, uint32_t data);

/* Waits until the register has the value; fails the test after seconds. */
void ppu_expect(const struct ppu *ppu, uint32_t offset, uint32_t value);

/* Reads a file of at most `size` bytes, padded with zeros to a multiple of 4; its length with the padding. */
size_t qemu_read_file(const char *path, void *bytes, size_t size);

/* The test firmware (fw/probe.h). */
void probe_load(const struct ppu *ppu);
/* Loads nothing; releases the MCU and waits until the firmware runs. */
void probe_start(const struct ppu *ppu);
void probe_hold(const struct ppu *ppu);
/* Asks without waiting for the end. */
void probe_ask(const struct ppu *ppu, uint32_t op, uint32_t arg0, uint32_t arg1);
/* Waits for the end of what was asked; result[0]. */
uint32_t probe_wait(const struct ppu *ppu);
uint32_t probe_do(const struct ppu *ppu, uint32_t op, uint32_t arg0, uint32_t arg1);
uint32_t probe_field(const struct ppu *ppu, size_t field_offset);

void sleep_ms(unsigned ms);
uint32_t test_seed(void);
/* The next of the numbers that follow a seed. */
uint32_t test_random(uint32_t *rng);

#endif
