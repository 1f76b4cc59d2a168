/* SPDX-License-Identifier: MIT */
#include "runtime/native/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ppu/limits.h"
#include "ppu/mmu.h"
#include "ppu/paths.h"
#include "runtime/deadline.h"
#include "runtime/error.h"
#include "runtime/mapping.h"
#include "runtime/native/environment.h"
#include "runtime/privilege.h"

#define GIB (1024ull * PPU_MIB)
#define LEAST_VRAM_BYTES (16ull * PPU_MIB)
#define MOST_VRAM_BYTES (1024u * GIB)
#define DEFAULT_RAM_BYTES (256ull * PPU_MIB)
#define MAILBOX_BYTES (64u * PPU_KIB) /* whole pages on every host */
#define MAX_ARGUMENTS 256u
#define ARGUMENT_BYTES 32u /* of those with numbers */
#define LAST_WORDS_BYTES 240u

/* ---- memory ---- */

/* An anonymous file, mapped by `map`; NULL with errno. */
static uint8_t *map_shared(const char *name, uint64_t bytes, uint8_t *map(int fd, uint64_t bytes), int *fd)
{
    *fd = memfd_create(name, MFD_CLOEXEC);
    if (*fd < 0) {
        return NULL;
    }
    uint8_t *memory = ftruncate(*fd, (off_t)bytes) == 0 ? map(*fd, bytes) : NULL;
    if (!memory) {
        close(*fd);
        *fd = -1;
    }
    return memory;
}

static void unmap_shared(uint8_t *memory, uint64_t bytes, int fd)
{
    if (memory) {
        munmap(memory, bytes);
        close(fd);
    }
}

static bool map_memories(struct ppu_machine *machine, uint64_t vram_bytes)
{
    machine->ram = map_shared("ppu-ram", machine->ram_bytes, mapping_of_file, &machine->ram_fd);
    bool mapped = machine->ram;
    for (uint32_t i = 0; i < machine->ppus && mapped; i++) {
        struct native_ppu *ppu = &machine->ppu[i];
        ppu->machine = machine;
        ppu->transport.vram_bytes = vram_bytes;
        ppu->transport.vram = map_shared("ppu-vram", vram_bytes, mapping_of_device, &ppu->vram_fd);
        ppu->mailbox.shared = (void *)map_shared("ppu-mailbox", MAILBOX_BYTES, mapping_of_device, &ppu->mailbox_fd);
        ppu->transport.vram_fd = ppu->vram_fd;
        mapped = ppu->transport.vram && ppu->mailbox.shared;
    }
    return mapped && range_pool_init(&machine->bus_memory, MACHINE_RAM_BASE, machine->ram_bytes);
}

/* ---- QEMU's ends of the sockets ---- */

struct far_ends {
    int qtest, life, notify[MACHINE_MAX_PPUS];
};

static bool make_socket(int *near, int *far)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return false;
    }
    *near = pair[0];
    *far = pair[1];
    return true;
}

static bool make_sockets(struct ppu_machine *machine, struct far_ends *far)
{
    bool made = make_socket(&machine->qtest.fd, &far->qtest) && make_socket(&machine->life, &far->life);

    for (uint32_t i = 0; i < machine->ppus && made; i++) {
        made = make_socket(&machine->ppu[i].mailbox.notify, &far->notify[i]);
    }
    return made;
}

static void close_open(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static void far_ends_init(struct far_ends *far)
{
    far->qtest = -1;
    far->life = -1;
    for (uint32_t i = 0; i < MACHINE_MAX_PPUS; i++) {
        far->notify[i] = -1;
    }
}

static void far_ends_close(const struct far_ends *far)
{
    close_open(far->qtest);
    close_open(far->life);
    for (uint32_t i = 0; i < MACHINE_MAX_PPUS; i++) {
        close_open(far->notify[i]);
    }
}

/* ---- command line ---- */

struct command {
    char *argv[MAX_ARGUMENTS + 1];
    char text[MAX_ARGUMENTS][ARGUMENT_BYTES]; /* what argv points to when it is made here */
    uint32_t count;
};

/* Too many arguments: the ones at the end are left out, and the count says so. */
static void add_argument(struct command *command, const char *argument)
{
    if (command->count < MAX_ARGUMENTS) {
        command->argv[command->count] = (char *)(uintptr_t)argument;
    }
    command->count++;
}

__attribute__((format(printf, 3, 4))) static void add_format(struct command *command, const char *option,
                                                             const char *format, ...)
{
    va_list arguments;

    add_argument(command, option);
    if (command->count < MAX_ARGUMENTS) {
        char *text = command->text[command->count];
        va_start(arguments, format);
        vsnprintf(text, ARGUMENT_BYTES, format, arguments);
        va_end(arguments);
        add_argument(command, text);
    }
}

static const char *launcher_path(const struct ppu_machine_options *options)
{
    const char *path = options->launcher ? options->launcher : secure_getenv("PPU_RUN");

    return path ? path : PPU_PATH_LAUNCHER;
}

static void add_all(struct command *command, const char *const *arguments)
{
    for (; arguments && *arguments; arguments++) {
        add_argument(command, *arguments);
    }
}

/* False: too many arguments. */
static bool compose(struct command *command, const struct ppu_machine *machine,
                    const struct ppu_machine_options *options, const struct environment *environment,
                    const struct far_ends *far)
{
    add_argument(command, launcher_path(options));
    add_format(command, "--ppus", "%" PRIu32, machine->ppus);
    add_format(command, "--memory", "%" PRIu64 "M", machine->ram_bytes / PPU_MIB);
    add_format(command, "--ram-file", "/proc/self/fd/%d", machine->ram_fd);
    add_format(command, "--qtest", "fd:%d", far->qtest);
    add_format(command, "--life", "fd:%d", far->life);
    for (uint32_t i = 0; i < machine->ppus; i++) {
        add_format(command, "--vram-file", "/proc/self/fd/%d", machine->ppu[i].vram_fd);
        add_format(command, "--mailbox-file", "/proc/self/fd/%d", machine->ppu[i].mailbox_fd);
        add_format(command, "--notify", "fd:%d", far->notify[i]);
        const char *properties = options->ppu ? options->ppu[i] : environment->properties;
        if (properties) {
            add_argument(command, "--ppu");
            add_argument(command, properties);
        }
    }
    if (options->test_hooks) {
        add_argument(command, "--test-hooks");
    }
    add_all(command, (const char *const *)environment->option);
    add_all(command, options->launcher_args);
    if (command->count > MAX_ARGUMENTS) {
        return false;
    }
    command->argv[command->count] = NULL;
    return true;
}

static bool launch(struct ppu_machine *machine, const struct command *command, const struct far_ends *far)
{
    int inherited[3 + 3 * MACHINE_MAX_PPUS] = { machine->ram_fd, far->qtest, far->life };
    uint32_t count = 3;

    for (uint32_t i = 0; i < machine->ppus; i++) {
        inherited[count++] = machine->ppu[i].vram_fd;
        inherited[count++] = machine->ppu[i].mailbox_fd;
        inherited[count++] = far->notify[i];
    }
    return process_start(&machine->process, command->argv, inherited, count);
}

/* ---- PCI ---- */

/* The first answer comes when QEMU is up; it closes its sockets when it cannot come up. */
static bool find_functions(struct ppu_machine *machine)
{
    pci_windows_init(&machine->windows);
    for (uint32_t i = 0; i < machine->ppus; i++) {
        if (!pci_find(&machine->qtest, i, &machine->ppu[i].function)) {
            return false;
        }
        pci_assign(&machine->qtest, &machine->windows, &machine->ppu[i].function);
        native_transport_init(&machine->ppu[i]);
    }
    return qtest_sync(&machine->qtest);
}

static enum ppu_err say_why(struct ppu_machine *machine, struct ppu_error *error)
{
    char words[LAST_WORDS_BYTES];

    if (qtest_sync(&machine->qtest)) {
        return error_set(error, PPU_ERR_NO_DEVICE,
                         "start a machine: QEMU has fewer PPUs than asked for; PPU_QEMU names another QEMU");
    }
    process_ended(&machine->process, NS_PER_S);
    process_last_words(&machine->process, words, sizeof(words));
    if (strstr(words, "'ppu' is not a valid device model name")) {
        return error_set(
            error, PPU_ERR_TRANSPORT,
            "start a machine: this QEMU has no device ppu; 'make qemu' builds one that has, PPU_QEMU names another: %s",
            words);
    }
    return error_set(error, PPU_ERR_TRANSPORT, "start a machine: %s",
                     words[0] != 0 ? words : "QEMU ended and said nothing");
}

/* ---- life ---- */

static struct ppu_machine *machine_new(const struct ppu_machine_options *options)
{
    struct ppu_machine *machine = calloc(1, sizeof(*machine));

    if (!machine) {
        return NULL;
    }
    machine->ppus = options->ppus != 0 ? options->ppus : 1;
    machine->ram_bytes = options->ram_bytes != 0 ? options->ram_bytes : DEFAULT_RAM_BYTES;
    pthread_mutex_init(&machine->lock, NULL);
    qtest_init(&machine->qtest, -1);
    process_init(&machine->process);
    machine->life = -1;
    for (uint32_t i = 0; i < machine->ppus; i++) {
        machine->ppu[i].mailbox.notify = -1;
    }
    return machine;
}

static void unmap_memories(struct ppu_machine *machine)
{
    for (uint32_t i = 0; i < machine->ppus; i++) {
        struct native_ppu *ppu = &machine->ppu[i];
        unmap_shared(ppu->transport.vram, ppu->transport.vram_bytes, ppu->vram_fd);
        unmap_shared((uint8_t *)ppu->mailbox.shared, MAILBOX_BYTES, ppu->mailbox_fd);
    }
    unmap_shared(machine->ram, machine->ram_bytes, machine->ram_fd);
    range_pool_fini(&machine->bus_memory);
}

void ppu_machine_stop(struct ppu_machine *machine)
{
    if (!machine) {
        return;
    }
    close_open(machine->life);
    qtest_fini(&machine->qtest);
    for (uint32_t i = 0; i < machine->ppus; i++) {
        close_open(machine->ppu[i].mailbox.notify);
    }
    process_stop(&machine->process);
    unmap_memories(machine);
    pthread_mutex_destroy(&machine->lock);
    free(machine);
}

static enum ppu_err start_process(struct ppu_machine *machine, const struct ppu_machine_options *options,
                                  const struct environment *environment, struct ppu_error *error)
{
    struct command command = { .count = 0 };
    struct far_ends far;
    enum ppu_err err = PPU_OK;

    far_ends_init(&far);
    if (!may_open(launcher_path(options))) {
        err = error_set(error, PPU_ERR_BAD_ARG,
                        "start a machine: %s: a program with raised privileges runs what has an absolute path",
                        launcher_path(options));
    } else if (!make_sockets(machine, &far)) {
        err = error_set(error, PPU_ERR_TRANSPORT, "start a machine: make its sockets: %s", strerror(errno));
    } else if (!compose(&command, machine, options, environment, &far)) {
        err = error_set(error, PPU_ERR_BAD_ARG, "start a machine: too many options for %s", launcher_path(options));
    } else if (!launch(machine, &command, &far)) {
        err = error_set(error, PPU_ERR_TRANSPORT, "start a machine: run %s: %s; PPU_RUN names another",
                        launcher_path(options), strerror(errno));
    }
    far_ends_close(&far);
    return err;
}

/* Bytes of a size such as 512M or 4G; 0: it is none that a PPU can have. */
static uint64_t read_size(const char *text)
{
    char *end = NULL;
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    uint64_t unit = !end ? 0 : strcmp(end, "M") == 0 ? PPU_MIB : strcmp(end, "G") == 0 ? GIB : 0;
    uint64_t bytes = unit != 0 && number <= MOST_VRAM_BYTES / unit ? number * unit : 0;

    return bytes >= LEAST_VRAM_BYTES && (bytes & (bytes - 1)) == 0 ? bytes : 0;
}

/* What the program says, else what the environment says: a property of all PPUs before PPU_VRAM. */
static enum ppu_err choose_vram(const struct ppu_machine_options *options, const struct environment *environment,
                                uint64_t *bytes, struct ppu_error *error)
{
    const char *text = secure_getenv("PPU_VRAM");

    *bytes = options->vram_bytes != 0 ? options->vram_bytes : PPU_DEFAULT_VRAM;
    if (!options->ppu && environment->vram_bytes != 0) {
        if (options->vram_bytes != 0 && options->vram_bytes != environment->vram_bytes) {
            return error_set(error, PPU_ERR_BAD_ARG,
                             "start a machine: PPU_MACHINE says vram-size, and so does the program");
        }
        *bytes = environment->vram_bytes;
        return PPU_OK;
    }
    if (options->vram_bytes != 0 || !text || *text == '\0') {
        return PPU_OK;
    }
    *bytes = read_size(text);
    if (*bytes == 0) {
        return error_set(error, PPU_ERR_BAD_ARG,
                         "start a machine: read PPU_VRAM: '%.40s' is no power of two from 16M to 1024G", text);
    }
    return PPU_OK;
}

static enum ppu_err start_in(struct ppu_machine *machine, const struct ppu_machine_options *options,
                             const struct environment *environment, struct ppu_error *error)
{
    uint64_t vram_bytes = 0;
    enum ppu_err err = choose_vram(options, environment, &vram_bytes, error);

    if (err != PPU_OK) {
        return err;
    }
    if (!map_memories(machine, vram_bytes)) {
        return error_set(error, PPU_ERR_NO_MEMORY, "start a machine: make its memory: %s", strerror(errno));
    }
    err = start_process(machine, options, environment, error);
    if (err == PPU_OK && !find_functions(machine)) {
        err = say_why(machine, error);
    }
    return err;
}

static enum ppu_err start_machine(struct ppu_machine *machine, const struct ppu_machine_options *options,
                                  struct ppu_error *error)
{
    struct environment environment;
    enum ppu_err err = environment_read(&environment, error);

    if (err == PPU_OK) {
        err = start_in(machine, options, &environment, error);
    }
    environment_free(&environment);
    return err;
}

enum ppu_err ppu_machine_start(const struct ppu_machine_options *options, struct ppu_machine **out,
                               struct ppu_error *error)
{
    static const struct ppu_machine_options defaults;
    const struct ppu_machine_options *chosen = options ? options : &defaults;

    *out = NULL;
    if (chosen->ppus > MACHINE_MAX_PPUS || chosen->ram_bytes % PPU_PAGE_2M != 0) {
        return error_set(error, PPU_ERR_BAD_ARG, "start a machine: it has 1 to %u PPUs and a multiple of 2 MiB of RAM",
                         MACHINE_MAX_PPUS);
    }
    struct ppu_machine *machine = machine_new(chosen);
    if (!machine) {
        return error_set(error, PPU_ERR_NO_MEMORY, "start a machine: not enough memory");
    }
    enum ppu_err err = start_machine(machine, chosen, error);
    if (err != PPU_OK) {
        ppu_machine_stop(machine);
        return err;
    }
    *out = machine;
    return PPU_OK;
}

enum ppu_err ppu_machine_transport(struct ppu_machine *machine, uint32_t index, struct ppu_transport **out,
                                   struct ppu_error *error)
{
    *out = NULL;
    if (index >= machine->ppus) {
        return error_set(error, PPU_ERR_NO_DEVICE, "open PPU %" PRIu32 ": the machine has fewer", index);
    }
    if (machine->ppu[index].attached) {
        return error_set(error, PPU_ERR_BUSY, "open PPU %" PRIu32 ": it is in use by this process", index);
    }
    machine->ppu[index].attached = true;
    *out = &machine->ppu[index].transport;
    return PPU_OK;
}

enum ppu_err native_open(const struct ppu_machine_options *machine_options,
                         const struct ppu_device_options *device_options, struct ppu_device **device,
                         struct ppu_error *error)
{
    struct ppu_machine *machine = NULL;
    struct ppu_transport *transport = NULL;
    enum ppu_err err = ppu_machine_start(machine_options, &machine, error);

    *device = NULL;
    if (err == PPU_OK) {
        err = ppu_machine_transport(machine, 0, &transport, error);
    }
    if (err != PPU_OK) {
        return err;
    }
    machine->owned = true;
    return ppu_device_open(transport, device_options, device, error);
}
