/* SPDX-License-Identifier: MIT */
/*
 * Gives the API tests what they share: a machine, a device with a context, and checks of results. A program's tests
 * run on one machine, joined or native; each test opens the device anew, so that none sees what another left.
 */
#ifndef TESTS_API_API_H
#define TESTS_API_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ppu.h"
#include "runtime/channel.h"
#include "runtime/device.h"

#define LONG_NS (60ull * 1000000000u) /* bound of waits that should succeed */
#define SHORT_NS (50ull * 1000000u)   /* bound of waits that should not */

/* ---- machine: machine_joined.c, machine_native.c, machine_vfio_user.c, tests/guest/machine_vfio.c ---- */

struct machine_config {
    const char *ppu;     /* more properties of the PPU for QEMU, "sms=1"; NULL: none */
    uint32_t sms;        /* 0: default */
    uint32_t sm_threads; /* + 1; 0: default */
    uint32_t slots;
    bool counted; /* QEMU: time is counted in instructions, so that time limits do not depend on who else works here */
    bool cache_model;
    bool no_subvector; /* without sub-vector mode */
};

/* Starts the machine and returns the way to its PPU; the test program fails when that cannot be. */
struct ppu_transport *machine_start(const struct machine_config *config);
void machine_stop(void);
const char *machine_firmware(void);
/* True on the joined machine: what is large is made smaller there. */
bool machine_is_slow(void);
/* False: not on this machine. */
bool machine_crash(void);
bool machine_lock_up(void);
bool machine_pause(void);
void machine_resume(void);
bool machine_reload(const char **why);

/* ---- fixture ---- */

struct api {
    struct ppu_transport *transport;
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
};

/* The machine of this program where it is not the usual one; set before the group's set-up. */
extern struct machine_config api_machine;
/* cmocka's group set-up and tear-down: the machine of this program. */
int api_machine_setup(void **state);
int api_machine_teardown(void **state);
/* Each test's: a device with a context, a channel, a stream. */
int api_setup(void **state);
int api_teardown(void **state);
/* The same by hand, for tests with machines or timeouts of their own. */
struct api *api_open(struct ppu_transport *transport, uint64_t timeout_ns);
void api_close(struct api *api);

/* A test with the fixture. */
#define api_test(name, function)                      \
    {                                                 \
        name, function, api_setup, api_teardown, NULL \
    }

/* Fails the test with the library's own words when `expression` is not PPU_OK. */
#define check(expression) api_check((expression), #expression, __FILE__, __LINE__)
void api_check(enum ppu_err err, const char *expression, const char *file, int line);

/* ---- helpers ---- */

/* Memory mapped writable into the fixture's context. */
struct ppu_memory *api_memory(struct api *api, enum ppu_memory_kind kind, uint64_t bytes);
uint64_t api_va(struct api *api, const struct ppu_memory *memory);
/* Kernel of build/kernels/<file>.ppu; the program is unloaded with the fixture. */
const struct ppu_kernel *api_kernel(struct api *api, struct ppu_context *context, const char *file, const char *name);
/* Unloads the latest `count` programs of api_kernel() now. */
void api_forget_programs(uint32_t count);
/* Launches on the fixture's stream and waits. */
enum ppu_err api_run(struct api *api, const struct ppu_kernel *kernel, uint32_t grid, uint32_t cta, const void *params,
                     uint32_t param_bytes);
/* Waits until everything the channel was given is done. */
enum ppu_err api_finish(struct ppu_channel *channel);
/* Waits until the channel has a fault, and tells it. */
enum ppu_err api_wait_fault(struct ppu_channel *channel, struct ppu_error *error);
/* The word at byte `offset`, read with acquire. */
uint32_t api_word(const struct ppu_memory *memory, uint64_t offset);
void api_set_word(struct ppu_memory *memory, uint64_t offset, uint32_t value);
/* Waits until the word is `value`; false after LONG_NS. */
bool api_wait_word(const struct ppu_memory *memory, uint64_t offset, uint32_t value);
uint64_t api_query(struct api *api, enum ppu_key key, uint32_t object);

/* `usual` times PPU_LONG, for long runs. */
uint32_t api_rounds(uint32_t usual);
/* Random numbers: seed from PPU_SEED, printed. */
uint64_t api_seed(void);
uint32_t api_random(uint64_t *state);

#endif
