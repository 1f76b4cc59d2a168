/* SPDX-License-Identifier: MIT */
#include "compiler/frontend/fork_server.h"

#include "compiler/base/bytes.h"
#include "compiler/forkserver/forkserver.h"
#include "ppu/macros.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a server has been started from, and as whom: a run that would be something else now needs another one. */
struct origin {
    char path[PATH_MAX];
    dev_t device, root_device;
    ino_t inode, root_inode;
    struct timespec changed;
    uid_t user;
    gid_t gid;
    pid_t owner; /* this process; a copy of it made by fork() has a server of its own */
};

static struct {
    pthread_mutex_t lock;
    struct origin origin;
    int socket;  /* -1: there is none */
    bool failed; /* no server can be made of this */
} server = { .lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1 };

static void close_file(int file)
{
    if (file >= 0) {
        close(file);
    }
}

/* ---- the program ---- */

/* As execvp() finds it. */
static bool find_program(char path[PATH_MAX], const char *name)
{
    const char *folders = getenv("PATH");

    if (strchr(name, '/')) {
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    }
    while (folders && *folders != 0) {
        const size_t len = strcspn(folders, ":");
        if (snprintf(path, PATH_MAX, "%.*s/%s", len > 0 ? (int)len : 1, len > 0 ? folders : ".", name) < PATH_MAX &&
            access(path, X_OK) == 0) {
            return true;
        }
        folders += len + (folders[len] == ':');
    }
    return false;
}

static bool same_origin(const struct origin *a, const struct origin *b)
{
    return strcmp(a->path, b->path) == 0 && a->device == b->device && a->inode == b->inode &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec &&
           a->root_device == b->root_device && a->root_inode == b->root_inode && a->user == b->user &&
           a->gid == b->gid && a->owner == b->owner;
}

static bool find_origin(struct origin *origin, const char *name)
{
    struct stat file, root;

    *origin = (struct origin){ .user = geteuid(), .gid = getegid(), .owner = getpid() };
    if (!find_program(origin->path, name) || stat(origin->path, &file) != 0 || stat("/", &root) != 0) {
        return false;
    }
    origin->device = file.st_dev;
    origin->inode = file.st_ino;
    origin->changed = file.st_ctim;
    origin->root_device = root.st_dev;
    origin->root_inode = root.st_ino;
    return true;
}

/* True when a dynamic linker loads it, which alone preloads: what another kind of file would do is its own matter. */
static bool is_dynamic(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    bool found = false;

    if (file >= 0 && pread(file, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64) {
        for (uint32_t i = 0; i < head.e_phnum && !found; i++) {
            const off_t at = (off_t)(head.e_phoff + i * sizeof(segment));
            found =
                pread(file, &segment, sizeof(segment), at) == (ssize_t)sizeof(segment) && segment.p_type == PT_INTERP;
        }
    }
    close_file(file);
    return found;
}

/* ---- starting the server ---- */

/* The environment with what makes a server; to be freed, not its texts. NULL: no memory. */
static char **server_environment(char *preload, char *variable)
{
    size_t count = 0;

    while (environ[count]) {
        count++;
    }
    char **list = calloc(count + 3, sizeof(list[0]));
    if (list) {
        memcpy(list, environ, count * sizeof(list[0]));
        list[count] = preload;
        list[count + 1] = variable;
    }
    return list;
}

/* Its streams are nothing, and it has its socket and no other file. */
static int spawn_server(pid_t *pid, const char *path, const char *name, int socket, char *const *environment)
{
    char *const words[] = { (char *)(uintptr_t)name, NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, socket, FORKSERVER_FD);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, FORKSERVER_FD + 1);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(pid, path, &actions, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The process that is started ends when it has loaded the program, and has left the server behind. */
static bool await_server(pid_t pid)
{
    int status = 0;
    pid_t ended;

    do {
        ended = waitpid(pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    /* A program that ignores SIGCHLD is told nothing: then the socket tells. */
    return ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

/* The server's socket; -1: it has not started. */
static int start_server(const char *library, const char *path, const char *name)
{
    char preload[PATH_MAX + 16], variable[] = FORKSERVER_VARIABLE "=1";
    int ends[2];
    pid_t pid = 0;

    if (snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library) >= (int)sizeof(preload) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return -1;
    }
    char **environment = server_environment(preload, variable);
    bool started = environment && spawn_server(&pid, path, name, ends[1], environment) == 0 && await_server(pid);
    free(environment);
    close(ends[1]);
    if (!started) {
        close(ends[0]);
    }
    return started ? ends[0] : -1;
}

/* Under the lock. */
static void stop_server(void)
{
    close_file(server.socket);
    server.socket = -1;
}

/* Under the lock. `fresh`: a server that was there is not taken. False: there is none. */
static bool get_server(const char *library, const struct origin *origin, const char *name, bool fresh)
{
    if (!same_origin(&server.origin, origin)) {
        stop_server();
        server.origin = *origin;
        server.failed = !is_dynamic(origin->path);
    }
    if (fresh) {
        stop_server();
    }
    if (server.socket < 0 && !server.failed) {
        server.socket = start_server(library, origin->path, name);
        server.failed = server.socket < 0;
    }
    return server.socket >= 0;
}

/* ---- a run ---- */

/* A file with the words and the environment; -1: it cannot be made. */
static int write_words(const char *const *words)
{
    struct forkserver_words counts = { 0, 0 };
    struct bytes text = { .at = NULL };
    int file = memfd_create("ppu-words", MFD_CLOEXEC);

    while (words[counts.arguments]) {
        counts.arguments++;
    }
    while (environ[counts.variables]) {
        counts.variables++;
    }
    bytes_add(&text, &counts, sizeof(counts));
    for (uint32_t i = 0; i < counts.arguments; i++) {
        bytes_add(&text, words[i], strlen(words[i]) + 1);
    }
    for (uint32_t i = 0; i < counts.variables; i++) {
        bytes_add(&text, environ[i], strlen(environ[i]) + 1);
    }
    if (file >= 0 && (text.lost || write(file, text.at, text.len) != (ssize_t)text.len)) {
        close(file);
        file = -1;
    }
    bytes_free(&text);
    return file;
}

/* False: there is nobody to take it, errno is EPIPE or the like, or no room. */
static bool send_request(const int files[FORKSERVER_FILES])
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * FORKSERVER_FILES)];
    } control = { .room = { 0 } };
    char byte = 0;
    struct iovec part = { &byte, sizeof(byte) };
    const struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
    };

    control.head = (struct cmsghdr){ CMSG_LEN(sizeof(int) * FORKSERVER_FILES), SOL_SOCKET, SCM_RIGHTS };
    memcpy(CMSG_DATA(&control.head), files, sizeof(int) * FORKSERVER_FILES);
    return sendmsg(server.socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* A server that has ended as it had nothing to do is replaced. False: the run has not begun. */
static bool begin_run(const char *library, const char *name, const int files[FORKSERVER_FILES])
{
    struct origin origin;
    bool begun = false;

    if (!find_origin(&origin, name)) {
        return false;
    }
    pthread_mutex_lock(&server.lock);
    if (get_server(library, &origin, name, false)) {
        begun = send_request(files);
        if (!begun && errno != EAGAIN && get_server(library, &origin, name, true)) {
            begun = send_request(files);
            server.failed = !begun;
        }
    }
    pthread_mutex_unlock(&server.lock);
    return begun;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Closing the socket ends a run that is late. False: the server has ended before it, or it could not begin. */
static bool await_run(int socket, uint32_t most_ms, struct fork_server_end *end)
{
    const int64_t until = now_ms() + most_ms;
    struct pollfd answer = { socket, POLLIN, 0 };
    int ready;

    do {
        int64_t left = until - now_ms();
        ready = poll(&answer, 1, most_ms == 0 ? -1 : left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX);
    } while (ready < 0 && errno == EINTR);
    *end = (struct fork_server_end){ .late = ready == 0 };
    return end->late || (recv(socket, &end->status, sizeof(end->status), 0) == (ssize_t)sizeof(end->status) &&
                         !(WIFEXITED(end->status) && WEXITSTATUS(end->status) == FORKSERVER_NOT_RUN));
}

/* What is preloaded into this process, or watches its linker, is for its children too: they start as ever. */
static bool is_usable(const char *library)
{
    const char *preload = getenv("LD_PRELOAD"), *audit = getenv("LD_AUDIT");

    return library && (!preload || *preload == 0) && (!audit || *audit == 0) && getauxval(AT_SECURE) == 0;
}

bool fork_server_run(const char *library, const char *const *words, const int files[3], uint32_t most_ms,
                     struct fork_server_end *end)
{
    int ends[2] = { -1, -1 };

    if (!is_usable(library) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return false;
    }
    const int given[FORKSERVER_FILES] = {
        [FORKSERVER_IN] = files[0],  [FORKSERVER_OUT] = files[1],
        [FORKSERVER_ERR] = files[2], [FORKSERVER_WORDS] = write_words(words),
        [FORKSERVER_RUN] = ends[1],  [FORKSERVER_FOLDER] = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
    };
    bool done = given[FORKSERVER_WORDS] >= 0 && given[FORKSERVER_FOLDER] >= 0 && begin_run(library, words[0], given);
    close_file(given[FORKSERVER_WORDS]);
    close_file(given[FORKSERVER_FOLDER]);
    close(ends[1]);
    done = done && await_run(ends[0], most_ms, end);
    close(ends[0]);
    return done;
}
