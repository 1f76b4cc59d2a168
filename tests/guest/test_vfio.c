/* SPDX-License-Identifier: MIT */
/* Tests the vfio transport in the guest: who gets the PPU, and what is left when its process is killed. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ppu.h"
#include "ppu/macros.h"
#include "runtime/vfio/function.h"

#define LONG_NS (30ull * 1000000000u)
#define COPY_BYTES (4u * PPU_MIB)
#define LOAD_BLOCKS 8
#define KILLS 4

/* ---- a user of the PPU ---- */

struct user {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_memory *from, *to;
};

static enum ppu_err user_open(struct user *user, struct ppu_error *error)
{
    enum ppu_err err = ppu_open(&user->device, error);

    if (err == PPU_OK) {
        err = ppu_context_create(user->device, &user->context);
    }
    if (err == PPU_OK) {
        err = ppu_channel_create(user->context, NULL, &user->channel);
    }
    if (err == PPU_OK) {
        err = ppu_stream_create(user->channel, &user->stream);
    }
    if (err == PPU_OK) {
        err = ppu_memory_create(user->context, PPU_MEMORY_SYSTEM, COPY_BYTES, &user->from);
    }
    if (err == PPU_OK) {
        err = ppu_memory_create(user->context, PPU_MEMORY_SYSTEM, COPY_BYTES, &user->to);
    }
    return err;
}

static void user_close(struct user *user)
{
    assert_int_equal(ppu_memory_free(user->to), PPU_OK);
    assert_int_equal(ppu_memory_free(user->from), PPU_OK);
    assert_int_equal(ppu_stream_destroy(user->stream), PPU_OK);
    assert_int_equal(ppu_channel_destroy(user->channel), PPU_OK);
    assert_int_equal(ppu_context_destroy(user->context), PPU_OK);
    ppu_device_close(user->device);
}

static enum ppu_err user_copy(struct user *user, struct ppu_event *event)
{
    return ppu_stream_copy(user->stream, ppu_memory_va(user->to, user->context),
                           ppu_memory_va(user->from, user->context), COPY_BYTES, event);
}

/* One copy of a pattern of its own, checked. */
static void user_works(struct user *user, uint32_t pattern)
{
    uint32_t *from = ppu_memory_host(user->from);
    struct ppu_event event;

    for (uint32_t i = 0; i < COPY_BYTES / sizeof(*from); i++) {
        from[i] = pattern + i * 2654435761u;
    }
    assert_int_equal(user_copy(user, &event), PPU_OK);
    assert_int_equal(ppu_event_wait(&event, LONG_NS), PPU_OK);
    assert_memory_equal(ppu_memory_host(user->to), from, COPY_BYTES);
}

static void works(uint32_t pattern)
{
    struct user user = { 0 };
    struct ppu_error error;

    if (user_open(&user, &error) != PPU_OK) {
        fail_msg("%s: %s", ppu_error_name(error.code), error.text);
    }
    user_works(&user, pattern);
    user_close(&user);
}

/* ---- another process ---- */

struct other {
    pid_t pid;
    int told; /* readable when it is ready */
};

/* A kernel that never ends on every SM, as many CTAs as fit. */
static enum ppu_err spin_everywhere(struct user *user, struct ppu_error *error)
{
    const struct ppu_device_info *info = ppu_device_info(user->device);
    const struct ppu_launch launch = { .grid = { info->sms * info->sm_ctas }, .cta = { 32 } };
    const struct ppu_kernel *spin = NULL;
    struct ppu_channel *channel = NULL;
    struct ppu_program *program = NULL;
    struct ppu_stream *stream = NULL;

    enum ppu_err err = ppu_program_load_file(user->context, "build/kernels/spin.ppu", &program, error);
    if (err == PPU_OK) {
        err = ppu_kernel_find(program, "spin", &spin);
    }
    if (err == PPU_OK) {
        err = ppu_channel_create(user->context, NULL, &channel);
    }
    if (err == PPU_OK) {
        err = ppu_stream_create(channel, &stream);
    }
    return err == PPU_OK ? ppu_stream_launch(stream, spin, &launch, NULL) : err;
}

/* Has the PPU and keeps its SMs and its copy engine busy until it is killed. */
static void other_main(int tell)
{
    struct user user = { 0 };
    struct ppu_error error = { 0 };

    if (user_open(&user, &error) != PPU_OK || spin_everywhere(&user, &error) != PPU_OK) {
        fprintf(stderr, "# the other process: %s: %s\n", ppu_error_name(error.code), error.text);
        _exit(1);
    }
    for (int submitted = 0;; submitted++) {
        struct ppu_event event;
        if (user_copy(&user, &event) != PPU_OK ||
            (submitted % LOAD_BLOCKS == LOAD_BLOCKS - 1 && ppu_event_wait(&event, LONG_NS) != PPU_OK) ||
            (submitted == LOAD_BLOCKS && write(tell, "", 1) != 1)) {
            _exit(1);
        }
    }
}

static void other_start(struct other *other)
{
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    other->pid = fork();
    assert_true(other->pid >= 0);
    if (other->pid == 0) {
        close(ends[0]);
        other_main(ends[1]);
    }
    close(ends[1]);
    other->told = ends[0];
    assert_int_equal(read(other->told, &byte, 1), 1);
}

static void other_kill(struct other *other)
{
    int status;

    assert_int_equal(kill(other->pid, SIGKILL), 0);
    assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    close(other->told);
}

/* ---- tests ---- */

static struct vfio_function first_ppu(void)
{
    struct vfio_function function;

    assert_int_equal(vfio_functions("/sys", &function, 1), 1);
    return function;
}

/* Without an IOMMU libppu goes without vfio. */
static bool is_bare(void)
{
    return !!getenv("PPU_DEVICE");
}

static enum ppu_err open_transport(const char *address, struct ppu_transport **transport, struct ppu_error *error)
{
    return is_bare() ? ppu_pci_transport(address, transport, error) : ppu_vfio_transport(address, transport, error);
}

static void open_fails(const char *address, enum ppu_err wanted, const char *words)
{
    struct ppu_transport *transport = NULL;
    struct ppu_error error;

    assert_int_equal(open_transport(address, &transport, &error), wanted);
    assert_null(transport);
    if (!strstr(error.text, words)) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    }
}

static void ppu_copies_system_memory(void **state)
{
    (void)state;
    works(1);
}

static void ppu_is_opened_by_its_address(void **state)
{
    struct vfio_function function = first_ppu();
    char device[64];

    (void)state;
    const bool bare = is_bare();
    snprintf(device, sizeof(device), "%s:%s", bare ? "pci" : "vfio", function.address);
    setenv("PPU_DEVICE", device, 1);
    works(2);
    if (bare) {
        setenv("PPU_DEVICE", "pci", 1);
    } else {
        unsetenv("PPU_DEVICE");
    }
}

static void address_without_ppu_is_an_error(void **state)
{
    (void)state;
    open_fails("0000:00:1f.7", PPU_ERR_NO_DEVICE, "open a PPU: this machine's PCI bus has none at 0000:00:1f.7");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void ppu_without_driver_is_told_how_to_bind(void **state)
{
    struct vfio_function function = first_ppu();

    (void)state;
    if (is_bare()) {
        skip();
    }
    write_file("/sys/bus/pci/drivers/vfio-pci/unbind", function.address);
    open_fails(NULL, PPU_ERR_TRANSPORT, "bind it: echo vfio-pci");
    write_file("/sys/bus/pci/drivers_probe", function.address);
    works(3);
}

/* In a process of its own, which gives up root's rights: what it is told. */
static void open_as_nobody(char *text, size_t size)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct ppu_transport *transport = NULL;
        struct ppu_error error = { .text = "it was opened" };
        bool said = setuid(65534) == 0 && open_transport(NULL, &transport, &error) != PPU_OK &&
                    write(ends[1], error.text, strlen(error.text)) > 0;
        _exit(said ? 0 : 1);
    }
    assert_true(pid > 0);
    close(ends[1]);
    ssize_t got = read(ends[0], text, size - 1);
    text[PPU_MAX(got, 0)] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void user_without_the_right_is_told_which(void **state)
{
    struct vfio_function function = first_ppu();
    char text[PPU_ERROR_TEXT_BYTES], wanted[PPU_ERROR_TEXT_BYTES];

    (void)state;
    open_as_nobody(text, sizeof(text));
    snprintf(wanted, sizeof(wanted),
             is_bare() ? "open PPU %s: open its files in sysfs: Permission denied; without an IOMMU the device reaches "
                         "all memory, so only root may"
                       : "open PPU %s: open /dev/vfio/%d: Permission denied; give yourself the right to read and write "
                         "that file",
             function.address, function.iommu_group);
    assert_string_equal(text, wanted);
}

static void second_process_is_told_who_has_the_ppu(void **state)
{
    struct other other;
    char words[64];

    (void)state;
    other_start(&other);
    if (is_bare()) {
        snprintf(words, sizeof(words), "it is in use");
    } else {
        snprintf(words, sizeof(words), "in use by process %ld (vfio)", (long)other.pid);
    }
    open_fails(NULL, PPU_ERR_BUSY, words);
    other_kill(&other);
}

static void second_open_of_this_process_is_refused(void **state)
{
    struct user user = { 0 };
    struct ppu_error error;

    (void)state;
    assert_int_equal(user_open(&user, &error), PPU_OK);
    open_fails(NULL, PPU_ERR_BUSY, is_bare() ? "it is in use" : "in use by this process");
    user_works(&user, 4);
    user_close(&user);
}

static void killed_process_leaves_a_working_ppu(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KILLS; i++) {
        struct other other;
        other_start(&other);
        usleep(i * 3000);
        other_kill(&other);
        works(100 + i);
    }
}

/* Addresses that were given back are used again for other memory. */
static void memory_mapped_anew_is_what_the_ppu_reaches(void **state)
{
    struct user user = { 0 };
    struct ppu_error error;

    (void)state;
    assert_int_equal(user_open(&user, &error), PPU_OK);
    for (uint32_t i = 0; i < 8; i++) {
        user_works(&user, 1000 + i);
        assert_int_equal(ppu_memory_free(user.from), PPU_OK);
        assert_int_equal(ppu_memory_create(user.context, PPU_MEMORY_SYSTEM, COPY_BYTES, &user.from), PPU_OK);
    }
    user_close(&user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "the PPU copies system memory through the IOMMU [A1]", ppu_copies_system_memory, NULL, NULL, NULL },
        { "the PPU is opened by its address [A1]", ppu_is_opened_by_its_address, NULL, NULL, NULL },
        { "an address without a PPU is an error [A1]", address_without_ppu_is_an_error, NULL, NULL, NULL },
        { "a PPU without driver: the user is told how to bind it", ppu_without_driver_is_told_how_to_bind, NULL, NULL,
          NULL },
        { "a user who may not open the PPU is told what is missing", user_without_the_right_is_told_which, NULL, NULL,
          NULL },
        { "a second process is told who has the PPU", second_process_is_told_who_has_the_ppu, NULL, NULL, NULL },
        { "a second open of this process is refused", second_open_of_this_process_is_refused, NULL, NULL, NULL },
        { "memory mapped anew is what the PPU reaches [A1]", memory_mapped_anew_is_what_the_ppu_reaches, NULL, NULL,
          NULL },
        { "a process killed under load leaves a working PPU", killed_process_leaves_a_working_ppu, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("vfio", tests, NULL, NULL);
}
