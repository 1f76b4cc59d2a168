/* SPDX-License-Identifier: MIT */
#include "tools/trace/door.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NOBODY UINT32_MAX

const char *door_open(struct door *door)
{
    const char *folder = getenv("TMPDIR");
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    door->programs = 0;
    door->listener = -1;
    if (snprintf(door->folder, sizeof(door->folder), "%s/ppu-trace-XXXXXX", folder ? folder : "/tmp") >=
            (int)sizeof(door->folder) - 8 ||
        !mkdtemp(door->folder)) {
        return folder ? "make a folder in $TMPDIR" : "make a folder in /tmp";
    }
    snprintf(door->path, sizeof(door->path), "%s/socket", door->folder);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", door->path);
    door->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door->listener < 0 || bind(door->listener, (const void *)&address, sizeof(address)) != 0 ||
        listen(door->listener, (int)DOOR_PROGRAMS) != 0) {
        return "make a socket in it";
    }
    return NULL;
}

static void let_in(struct door *door)
{
    while (door->programs < DOOR_PROGRAMS) {
        int fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            return;
        }
        door->program[door->programs++] = (struct door_program){ fd, NOBODY };
    }
}

/* The file that came with a message; -1: there is none. */
static int file_of(struct msghdr *header)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(header);
    int fd = -1;

    if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
        control->cmsg_len == CMSG_LEN(sizeof(fd))) {
        memcpy(&fd, CMSG_DATA(control), sizeof(fd));
    }
    return fd;
}

/* False: the program is gone, or reads nothing. */
static bool tell_program(const struct door_program *program, enum ppu_recorder_answer what)
{
    const uint8_t byte = (uint8_t)what;

    return send(program->fd, &byte, sizeof(byte), MSG_NOSIGNAL) == (ssize_t)sizeof(byte);
}

static bool take_message(struct watch *watch, struct door_program *program, const struct ppu_recorder_message *message,
                         int fd, uint64_t until_ns)
{
    const char *why = "it is no message of a program";

    if (message->kind == PPU_RECORDER_HELLO && program->process == NOBODY) {
        why = watch_process(watch, fd, true, &program->process);
        if (!why) {
            struct ppu_recorder *recorder = watch->process[program->process].recorder;
            recorder->profile_entries = watch->profile_entries;
            recorder->profile_period = watch->profile_period;
            attach_want(recorder, until_ns);
        }
    } else if (message->kind == PPU_RECORDER_DEVICE && program->process != NOBODY &&
               message->device < PPU_RECORDER_DEVICES) {
        why = watch_device(watch, program->process, message->device, fd);
    } else if (message->kind >= PPU_RECORDER_PROGRAM && message->kind <= PPU_RECORDER_PROFILE &&
               program->process != NOBODY) {
        why = watch_profile(watch, program->process, message, fd);
    } else if (fd >= 0) {
        why = message->kind == PPU_RECORDER_CLOSES ? NULL : why;
        close(fd);
    }
    while (message->kind == PPU_RECORDER_CLOSES && watch_poll(watch, until_ns) > 0) {
        tell_program(program, PPU_RECORDER_WORKS);
    }
    return !why;
}

/* False: it is gone, or says nonsense. */
static bool serve(struct watch *watch, struct door_program *program, uint64_t until_ns)
{
    struct ppu_recorder_message message = { 0, 0 };
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec text = { &message, sizeof(message) };
    struct msghdr header = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
    };
    ssize_t bytes = recvmsg(program->fd, &header, MSG_CMSG_CLOEXEC);

    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    int fd = bytes > 0 ? file_of(&header) : -1;
    if (bytes != (ssize_t)sizeof(message) || fd < 0) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    return take_message(watch, program, &message, fd, until_ns) && tell_program(program, PPU_RECORDER_DONE);
}

void door_serve(struct door *door, struct watch *watch, int timeout_ms, uint64_t until_ns)
{
    struct pollfd at[DOOR_PROGRAMS + 1];
    uint32_t count = door->programs;

    for (uint32_t i = 0; i < count; i++) {
        at[i] = (struct pollfd){ .fd = door->program[i].fd, .events = POLLIN };
    }
    at[count] = (struct pollfd){ .fd = door->listener, .events = POLLIN };
    if (poll(at, count + 1, timeout_ms) <= 0) {
        return;
    }
    for (uint32_t i = count; i-- > 0;) {
        if (at[i].revents && !serve(watch, &door->program[i], until_ns)) {
            close(door->program[i].fd);
            door->program[i] = door->program[--door->programs];
        }
    }
    if (at[count].revents) {
        let_in(door);
    }
}

void door_close(struct door *door)
{
    for (uint32_t i = 0; i < door->programs; i++) {
        close(door->program[i].fd);
    }
    if (door->listener >= 0) {
        close(door->listener);
        unlink(door->path);
    }
    rmdir(door->folder);
}
