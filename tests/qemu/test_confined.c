/* SPDX-License-Identifier: MIT */
/* Tests what QEMU gives up when ppu-run starts it, and what it is refused then. */
#define _DEFAULT_SOURCE /* mkdtemp() and SYS_... */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/qemu/qemu.h"

#define ONE_PPU "vram-size=32M,sm-threads=1"
#define ANSWERS (QEMU_RAM + 0x100000)
#define ANSWERED 0x600d600du
#define PSCI_INVALID 0xfffffffeu

static const char *const one_ppu[] = { "--ppu", ONE_PPU, NULL };
static char folder[] = "/tmp/ppu-confined-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[512];

    (void)state;
    while (dir && (entry = readdir(dir))) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (dir) {
        closedir(dir);
    }
    return rmdir(folder);
}

static char *in_folder(char path[64], const char *name)
{
    snprintf(path, 64, "%s/%s", folder, name);
    return path;
}

/* A line of /proc/PID/status, as a hexadecimal number. */
static uint64_t status_of(int pid, const char *name)
{
    char path[64], line[256];
    uint64_t value = UINT64_MAX;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
            value = strtoull(line + strlen(name) + 1, NULL, 16);
        }
    }
    fclose(file);
    return value;
}

/* `more`: filters of who started it, beside ours and QEMU's own. */
static void assert_confined(int pid, uint32_t more)
{
    assert_int_equal(status_of(pid, "Seccomp"), 2);
    assert_int_equal(status_of(pid, "Seccomp_filters"), 2 + more);
    assert_int_equal(status_of(pid, "NoNewPrivs"), 1);
    assert_int_equal(status_of(pid, "CapEff"), 0);
    assert_int_equal(status_of(pid, "CapPrm"), 0);
    assert_int_equal(status_of(pid, "CapBnd") & status_of(getpid(), "CapEff"), 0);
}

/* The name of a namespace of a process. */
static void namespace_of(int pid, char name[64])
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
    ssize_t length = readlink(path, name, 63);
    assert_true(length > 0);
    name[length] = '\0';
}

static void gives_up(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    char its[64], ours[64];

    (void)state;
    assert_confined(qemu_pid(qemu), 0);
    namespace_of(qemu_pid(qemu), its);
    namespace_of(getpid(), ours);
    assert_string_not_equal(its, ours);
    qemu_stop(qemu);
}

/* The answer has these words, and QEMU lives. */
static void answered(struct qemu *qemu, const char *command, const char *words)
{
    const char *answer = qemu_qmp(qemu, command);

    if (!strstr(answer, words)) {
        fail_msg("%s: %s", command, answer);
    }
    assert_true(qemu_alive(qemu));
}

/* QEMU writes a file. */
static void save_memory(struct qemu *qemu, const char *path, const char *words)
{
    char command[512];

    snprintf(command, sizeof(command),
             "{\"execute\": \"pmemsave\", \"arguments\": {\"val\": 1073741824, \"size\": 4096, \"filename\": \"%s\"}}",
             path);
    answered(qemu, command, words);
}

/* With a guest, and everything that a command line can name. */
static void guest_is_confined(void **state)
{
    char qemu_log[64], snapshot[64];
    const char *args[] = { "--ppu",      ONE_PPU,
                           "--kernel",   PSCI_GUEST,
                           "--log-file", in_folder(qemu_log, "qemu.log"),
                           "--snapshot", in_folder(snapshot, "s.qcow2"),
                           NULL };
    struct qemu *qemu = qemu_start(args);

    (void)state;
    assert_confined(qemu_pid(qemu), 0);
    answered(qemu, "{\"execute\": \"human-monitor-command\", \"arguments\": {\"command-line\": \"savevm s\"}}",
             "{\"return\": \"\"}");
    answered(qemu, "{\"execute\": \"human-monitor-command\", \"arguments\": {\"command-line\": \"loadvm s\"}}",
             "{\"return\": \"\"}");
    assert_confined(qemu_pid(qemu), 0);
    qemu_stop(qemu);
}

#define INET(port) "\"addr\": {\"type\": \"inet\", \"data\": {\"host\": \"127.0.0.1\", \"port\": \"" port "\"}}"
#define UNIX(path) "\"addr\": {\"type\": \"unix\", \"data\": {\"path\": \"" path "\"}}"

/* Who listens to the network, who connects to it, and to a socket of somebody else's. */
static const char *const peers[] = {
    ("\"server\": true, \"wait\": false, " INET("0")),
    ("\"server\": false, " INET("9")),
    ("\"server\": false, " UNIX("/run/ppu-nobody")),
};

static void programs_and_peers_are_refused(struct qemu *qemu)
{
    char path[64], command[512];

    snprintf(command, sizeof(command), "{\"execute\": \"migrate\", \"arguments\": {\"uri\": \"exec:touch %s\"}}",
             in_folder(path, "executed"));
    answered(qemu, command, "not permitted");
    assert_int_not_equal(access(path, F_OK), 0);
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(peers); i++) {
        snprintf(command, sizeof(command),
                 "{\"execute\": \"chardev-add\", \"arguments\": {\"id\": \"a%u\", \"backend\": {\"type\": "
                 "\"socket\", \"data\": {%s}}}}",
                 i, peers[i]);
        answered(qemu, command, "not permitted");
    }
}

static void is_refused(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    char path[64];

    (void)state;
    programs_and_peers_are_refused(qemu);
    /* Files that no option names, to be read and to be written. */
    save_memory(qemu, in_folder(path, "written"), "Permission denied");
    assert_int_not_equal(access(path, F_OK), 0);
    answered(
        qemu,
        "{\"execute\": \"blockdev-add\", \"arguments\": {\"driver\": \"file\", \"node-name\": \"f\", \"read-only\": "
        "true, \"filename\": \"/etc/hostname\"}}",
        "Permission denied");
    qemu_stop(qemu);
}

/* What options name may be done, and no more. */
static void named_files_are_there(void **state)
{
    char path[64], other[64];
    const char *args[] = { "--ppu", ONE_PPU, "--allow-write", in_folder(path, "named"), NULL };
    struct qemu *qemu = qemu_start(args);

    (void)state;
    save_memory(qemu, path, "return");
    save_memory(qemu, in_folder(other, "beside"), "Permission denied");
    qemu_stop(qemu);
}

static void only_if_asked(void **state)
{
    const char *args[] = { "--ppu", ONE_PPU, "--unconfined", NULL };
    struct qemu *qemu = qemu_start(args);

    (void)state;
    assert_int_equal(status_of(qemu_pid(qemu), "Seccomp"), 0);
    qemu_stop(qemu);
}

/* ---- a host that has less ---- */

#define BARE "--bare" /* this program as it runs there */

/* From here on this process and what it starts have neither Landlock nor namespaces of their own. */
static bool be_on_a_bare_host(void)
{
    static struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 2, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = { PPU_ARRAY_SIZE(code), code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void less_is_kept_there(void **state)
{
    char *const arguments[] = { (char *)"test_confined", (char *)BARE, NULL };
    const pid_t child = fork();
    int status = -1;

    (void)state;
    if (child == 0) {
        if (be_on_a_bare_host()) {
            execv("/proc/self/exe", arguments);
        }
        _exit(99);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* The filter of system calls alone keeps programs and the network from it; files are those of its user. */
static void bare_qemu_gives_up(void **state)
{
    struct qemu *qemu = qemu_start(one_ppu);
    char path[64];

    (void)state;
    assert_confined(qemu_pid(qemu), 1);
    programs_and_peers_are_refused(qemu);
    save_memory(qemu, in_folder(path, "of-its-user"), "return");
    qemu_stop(qemu);
}

/* A core that its device holds is nobody else's to start. */
static void psci_does_not_find_the_mcu(void **state)
{
    const char *args[] = { "--ppu", ONE_PPU, "--kernel", PSCI_GUEST, NULL };
    struct qemu *qemu = qemu_start(args);

    (void)state;
    for (unsigned ms = 0; qemu_read(qemu, ANSWERS + 8) != ANSWERED && ms < 20000; ms += 10) {
        sleep_ms(10);
    }
    assert_int_equal(qemu_read(qemu, ANSWERS + 8), ANSWERED);
    assert_int_equal(qemu_read(qemu, ANSWERS), PSCI_INVALID);
    assert_int_equal(qemu_read(qemu, ANSWERS + 4), PSCI_INVALID);
    sleep_ms(20);
    const char *text =
        qemu_qmp(qemu, "{\"execute\": \"qom-get\", \"arguments\": {\"path\": \"/machine/peripheral/ppu0\", "
                       "\"property\": \"state\"}}");
    assert_non_null(strstr(text, "mcu: off, halted 1"));
    qemu_stop(qemu);
}

/* What it says goes to the other's errors: the results are the other's. */
static int run_bare(void)
{
    static const struct CMUnitTest tests[] = {
        { "QEMU gives up what it can", bare_qemu_gives_up, NULL, NULL, NULL },
    };

    return dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || setenv("CMOCKA_MESSAGE_OUTPUT", "STDOUT", 1) != 0
               ? 99
               : cmocka_run_group_tests(tests, make_folder, remove_folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        { "QEMU gives up capabilities, privileges to come, system calls and the network", gives_up, NULL, NULL, NULL },
        { "so it does with a guest, and saves and loads snapshots", guest_is_confined, NULL, NULL, NULL },
        { "it is refused programs, networks, sockets and files of others", is_refused, NULL, NULL, NULL },
        { "it may touch the files that options name", named_files_are_there, NULL, NULL, NULL },
        { "all of it is kept only if asked for", only_if_asked, NULL, NULL, NULL },
        { "without Landlock and namespaces it is refused programs and networks all the same", less_is_kept_there, NULL,
          NULL, NULL },
        { "PSCI of a guest does not find the microcontroller", psci_does_not_find_the_mcu, NULL, NULL, NULL },
    };

    if (argc == 2 && strcmp(argv[1], BARE) == 0) {
        return run_bare();
    }
    return cmocka_run_group_tests_name("QEMU confined", tests, make_folder, remove_folder);
}
