/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the PPU as QEMU sees it: a PCI function (ppu_pci.c) around the device core (core/core.h), with a Cortex-M33
 * as its microcontroller (ppu_mcu.c). What the core asks of its host is in ppu_host.c, properties are in ppu_props.c,
 * snapshots in ppu_vmstate.c.
 *
 * Everything here runs with QEMU's big lock, unless a comment says otherwise.
 */
#ifndef QEMU_DEVICE_PPU_H
#define QEMU_DEVICE_PPU_H

#include "chardev/char-fe.h"
#include "exec/memory.h"
#include "hw/arm/armv7m.h"
#include "hw/cpu/cluster.h"
#include "hw/pci/pci_device.h"
#include "qemu/timer.h"
#include "system/hostmem.h"

#include "core.h"
#include "ppu/mailbox.h"
#include "ppu/poll.h"
#include "ppu/state.h"

#define TYPE_PPU "ppu"
OBJECT_DECLARE_SIMPLE_TYPE(PPUState, PPU)

/* The microcontroller: not a child of the PCI function, the machine accepts no CPU there. */
struct ppu_mcu {
    CPUClusterState cluster;
    ARMv7MState armv7m;
    Clock *clock;
    MemoryRegion space; /* all that the MCU can address */
    MemoryRegion itcm, dtcm;
    MemoryRegion regs, vram, window;
    bool wanted; /* what the core asked for last: true to run */
    bool queued; /* mcu_apply() is on its way to the MCU's thread */
    bool live;   /* accesses of the MCU to the device have effect: it runs and nobody has asked it to be held */
};

/* What the MCU does, as far as the main loop can tell. */
enum ppu_mcu_does {
    PPU_MCU_RESTS,    /* it waits, or never says that it does */
    PPU_MCU_WORKS,    /* it has been interrupted, and will say when it waits again */
    PPU_MCU_COMPUTES, /* the same, but it has not accessed the function for a while */
};

/* Who serves what SMs and clients ask for. Where nothing else is said, who has the big lock reads and writes it. */
struct ppu_idle {
    struct ppu_poll poll;
    int64_t since_ns; /* the MCU has waited since then; 0: it does not wait */
    bool looks;       /* the MCU serves it: nobody needs to wake the main loop up; read by any thread */
    enum ppu_mcu_does does;
    bool kicked;         /* core_bottom_half() is to be called; set by any thread */
    bool clock_runs;     /* where instructions are counted: the clock was held long enough since the host asked last */
    uint32_t accesses;   /* of the MCU to the function, counted round */
    uint32_t works_from; /* the last of them before it worked, or went on with that */
    uint32_t watched;    /* the last of them when the main loop watched */
    QEMUTimer *watch;
};

struct PPUState {
    PCIDevice parent_obj;

    /* properties */
    struct core_config config;
    HostMemoryBackend *vram_backend;
    HostMemoryBackend *mailbox_backend;
    char *firmware_path;
    char *vfio_user_path; /* where clients connect; NULL: the function is this machine's */
    int32_t guard;        /* descriptor of who ends clients' connections when QEMU has died; -1: nobody */
    CharBackend log;      /* what the firmware prints */
    CharBackend notify;   /* a byte for each MSI-X vector raised */
    CharBackend life;     /* QEMU ends when its other end closes */
    bool autostart;

    struct core *core;
    struct ppu_mcu mcu;
    struct ppu_idle idle;
    struct ppu_mailbox *mailbox; /* NULL: nobody shares one */
    struct ppu_remote *remote;   /* NULL: no clients of vfio-user */
    uint8_t *firmware;           /* contents of firmware_path, NULL without */
    size_t firmware_bytes;
    bool running; /* the virtual machine is: the core is not paused */

    MemoryRegion bar0, regs;
    MemoryRegion itcm_window, dtcm_window, tcm_guard;
    MemoryRegion doorbells;
    MemoryRegion vram_own, *vram;
    int vram_fd; /* the file that a client maps; -1: it is none */
    MemoryRegion mailbox_bar;
    int mailbox_fd; /* the same of a mailbox that is a BAR */

    QEMUBH *kick;
    QEMUTimer *kick_timer;
    QEMUTimer *timer;
    QEMUTimer *readers;       /* of the state area */
    int64_t watched_until_ns; /* QEMU_CLOCK_REALTIME */

    /* snapshot in the making or being loaded */
    uint32_t saved_instance;
    uint32_t saved_bytes;
    uint8_t *saved;
};

/* ---- ppu_props.c ---- */
void ppu_props_class_init(ObjectClass *klass);
void ppu_props_init(PPUState *s);
/* Checks all that can be checked before anything is made; reads the firmware image. */
bool ppu_props_check(PPUState *s, Error **errp);

/* ---- ppu_host.c ---- */
extern const struct core_host_ops ppu_host_ops;
void ppu_host_init(PPUState *s);
/* The core is there: who reads its state is answered from now on. */
void ppu_host_watch(PPUState *s);

/* ---- ppu_mcu.c ---- */
/* Makes the MCU, held in reset, with what it can address. The VRAM region is there, the core comes next. */
bool ppu_mcu_realize(PPUState *s, Error **errp);
bool ppu_mcu_memory_init(PPUState *s, Error **errp);
/* Asks the MCU to run or to be held; core_mcu_state() answers, at once when the CPUs stand still. */
void ppu_mcu_run(PPUState *s, bool run);
void ppu_mcu_irq(PPUState *s, uint32_t line, bool level);
/* Host pointer to [addr, addr + len_bytes) of DTCM, NULL when it is not all there. */
void *ppu_mcu_mem(PPUState *s, uint32_t addr, uint32_t len_bytes);
/* A snapshot was loaded: follow what the core says about the MCU. */
void ppu_mcu_loaded(PPUState *s);
/* The CPUs are about to run: a core that is held or has locked up does not, whatever a snapshot says of it. */
void ppu_mcu_resumed(PPUState *s);
char *ppu_mcu_text(PPUState *s);
/* No other processor of the machine runs. */
bool ppu_mcu_is_alone(PPUState *s);
/* Processor time that it has used, of the host, or that its counted instructions take; 0 when it shares its thread, or
 * the count, with other processors that run. */
uint64_t ppu_mcu_cpu_ns(PPUState *s);

/* ---- ppu_mailbox.c ---- */
bool ppu_mailbox_init(PPUState *s, Error **errp);
/* Rings the doorbells that are in the mailbox: before anything else that the host does to the function has effect. */
void ppu_mailbox_serve(PPUState *s);
/* Gives the next client an empty mailbox, in another file. False with errno: it is still the old one. */
bool ppu_mailbox_renew(PPUState *s);
/* Tells the client whether the MCU stands still. */
void ppu_mailbox_say_quiet(PPUState *s, bool quiet);

/* ---- ppu_idle.c ---- */
void ppu_idle_init(PPUState *s);
/* The MCU, on whose thread this is, has nothing to do: returns when it has, or is to sleep. Gives up the big lock. */
void ppu_idle_begin(PPUState *s);
/* An interrupt line of the MCU was raised. */
void ppu_idle_end(PPUState *s);
/* The MCU accesses the function: it takes what it would be woken up for. */
void ppu_idle_access(PPUState *s);
/* The MCU stops: others have to wake it up again. */
void ppu_idle_stop(PPUState *s);
/* The host has asked for something. */
void ppu_idle_asked(PPUState *s);
/* Any thread: asks for core_bottom_half(). False: somebody has to call ppu_idle_serve_kick(), in the main loop. */
bool ppu_idle_kick(PPUState *s);
void ppu_idle_serve_kick(PPUState *s);

/* ---- ppu_pci.c ---- */
/* The host may write the MCU's memories through BAR0 only while the MCU is held. */
void ppu_pci_protect_tcm(PPUState *s, bool protect);

/* ---- ppu_sealed.c ---- */
/* Memory of zeros in a file of that size, which can be mapped elsewhere. NULL with errno; `*fd` may be open then. */
void *ppu_sealed_make(const char *name, uint64_t bytes, int *fd);
/*
 * Gives `memory` another file, of zeros, in one step for all threads that use it: each finds the old file's contents,
 * or zeros. False with errno: it is still the old one.
 */
bool ppu_sealed_renew(const char *name, void *memory, uint64_t bytes, int *fd);

/* ---- ppu_vram.c ---- */
bool ppu_vram_init(PPUState *s, Error **errp);
/* Gives the next client VRAM of zeros, in another file. False with errno: it is still the old one. */
bool ppu_vram_renew(PPUState *s);
/* True when the host gives new pages, which are zeros; what it took them from is nobody's any more. */
bool ppu_vram_discard(PPUState *s, uint64_t off, uint64_t len_bytes);
/* Bytes from `off` on that nobody has written since they were discarded, as holes of the file; 0: not known. */
uint64_t ppu_vram_zeros(PPUState *s, uint64_t off);

/* ---- ppu_remote.c ---- */
/* After all else that makes the function: a client may come at once. */
bool ppu_remote_init(PPUState *s, Error **errp);
/* An access to the client's memory; false: it has not mapped it, or the function is no bus master. */
bool ppu_remote_dma(PPUState *s, uint64_t bus, void *buf, uint32_t len_bytes, bool write);
void ppu_remote_raise(PPUState *s, uint32_t vector);

/* ---- ppu_vmstate.c ---- */
extern const VMStateDescription ppu_vmstate;
/* Memory that the core wrote behind QEMU's back has to be sent again by a migration. */
void ppu_vmstate_memory_dirty(PPUState *s);

#endif
