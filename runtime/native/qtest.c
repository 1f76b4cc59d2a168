/* SPDX-License-Identifier: MIT */
#include "runtime/native/qtest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* More unanswered writes than this could fill the sockets of both sides, and both would wait for ever. */
#define MAX_UNANSWERED 256u
/* Bytes of memory in one command; its hexadecimal text fits the buffer. */
#define CHUNK_BYTES 2048u
#define LINE_BYTES (2u * CHUNK_BYTES + 64u)

void qtest_init(struct qtest *qtest, int fd)
{
    *qtest = (struct qtest){ .fd = fd };
    pthread_mutex_init(&qtest->lock, NULL);
}

void qtest_fini(struct qtest *qtest)
{
    if (qtest->fd >= 0) {
        close(qtest->fd);
    }
    pthread_mutex_destroy(&qtest->lock);
}

static void send_all(struct qtest *qtest, const char *bytes, size_t count)
{
    while (count > 0 && !qtest->gone) {
        ssize_t sent = send(qtest->fd, bytes, count, MSG_NOSIGNAL);
        if (sent > 0) {
            bytes += sent;
            count -= (size_t)sent;
        } else if (sent < 0 && errno != EINTR) {
            qtest->gone = true;
        }
    }
}

static void receive_more(struct qtest *qtest)
{
    ssize_t got = recv(qtest->fd, qtest->buffer + qtest->fill, sizeof(qtest->buffer) - qtest->fill, 0);

    if (got > 0) {
        qtest->fill += (uint32_t)got;
    } else if (got == 0 || errno != EINTR) {
        qtest->gone = true;
    }
}

/* Next line without its end; false: QEMU has gone. */
static bool receive_line(struct qtest *qtest, char line[LINE_BYTES])
{
    while (!qtest->gone) {
        char *end = memchr(qtest->buffer, '\n', qtest->fill);
        if (end) {
            size_t length = (size_t)(end - qtest->buffer);
            size_t kept = length < LINE_BYTES - 1 ? length : LINE_BYTES - 1;
            memcpy(line, qtest->buffer, kept);
            line[kept] = '\0';
            qtest->fill -= (uint32_t)(length + 1);
            memmove(qtest->buffer, end + 1, qtest->fill);
            return true;
        }
        if (qtest->fill == sizeof(qtest->buffer)) {
            qtest->gone = true;
            break;
        }
        receive_more(qtest);
    }
    return false;
}

/* Answer to one command: what follows OK. */
static bool receive_answer(struct qtest *qtest, char line[LINE_BYTES])
{
    if (!receive_line(qtest, line) || strncmp(line, "OK", 2) != 0) {
        qtest->gone = true;
    }
    return !qtest->gone;
}

static void receive_unanswered(struct qtest *qtest)
{
    char line[LINE_BYTES];

    for (; qtest->unanswered > 0 && !qtest->gone; qtest->unanswered--) {
        receive_answer(qtest, line);
    }
}

static void post(struct qtest *qtest, const char *command, size_t count)
{
    if (qtest->unanswered == MAX_UNANSWERED) {
        receive_unanswered(qtest);
    }
    send_all(qtest, command, count);
    qtest->unanswered++;
}

/* Sends a command and waits for its answer; false: QEMU has gone. */
static bool ask(struct qtest *qtest, const char *command, size_t count, char line[LINE_BYTES])
{
    send_all(qtest, command, count);
    receive_unanswered(qtest);
    return receive_answer(qtest, line);
}

uint32_t qtest_read32(struct qtest *qtest, uint64_t address)
{
    char command[64];
    char line[LINE_BYTES];
    uint32_t value = ~0u;
    int count = snprintf(command, sizeof(command), "readl 0x%" PRIx64 "\n", address);

    pthread_mutex_lock(&qtest->lock);
    if (ask(qtest, command, (size_t)count, line)) {
        value = (uint32_t)strtoull(line + 2, NULL, 16);
    }
    pthread_mutex_unlock(&qtest->lock);
    return value;
}

void qtest_write32(struct qtest *qtest, uint64_t address, uint32_t value)
{
    char command[64];
    int count = snprintf(command, sizeof(command), "writel 0x%" PRIx64 " 0x%" PRIx32 "\n", address, value);

    pthread_mutex_lock(&qtest->lock);
    post(qtest, command, (size_t)count);
    pthread_mutex_unlock(&qtest->lock);
}

static void write_chunk(struct qtest *qtest, uint64_t address, const uint8_t *bytes, uint32_t count)
{
    static const char digits[] = "0123456789abcdef";
    char command[LINE_BYTES];
    size_t length = (size_t)snprintf(command, sizeof(command), "write 0x%" PRIx64 " 0x%" PRIx32 " 0x", address, count);

    for (uint32_t i = 0; i < count; i++) {
        command[length++] = digits[bytes[i] >> 4];
        command[length++] = digits[bytes[i] & 15u];
    }
    command[length++] = '\n';
    post(qtest, command, length);
    /* Large commands are answered at once, so that no socket fills up. */
    receive_unanswered(qtest);
}

void qtest_write(struct qtest *qtest, uint64_t address, const void *buf, uint32_t len_bytes)
{
    pthread_mutex_lock(&qtest->lock);
    for (uint32_t done = 0, step = 0; done < len_bytes; done += step) {
        step = len_bytes - done < CHUNK_BYTES ? len_bytes - done : CHUNK_BYTES;
        write_chunk(qtest, address + done, (const uint8_t *)buf + done, step);
    }
    pthread_mutex_unlock(&qtest->lock);
}

static uint8_t hex_digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

static void read_chunk(struct qtest *qtest, uint64_t address, uint8_t *bytes, uint32_t count)
{
    char command[64];
    char line[LINE_BYTES];
    int length = snprintf(command, sizeof(command), "read 0x%" PRIx64 " 0x%" PRIx32 "\n", address, count);

    memset(bytes, 0xff, count);
    /* "OK 0x" and two digits a byte */
    if (!ask(qtest, command, (size_t)length, line) || strlen(line) < 5 + 2 * (size_t)count) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(hex_digit(line[5 + 2 * i]) << 4 | hex_digit(line[6 + 2 * i]));
    }
}

void qtest_read(struct qtest *qtest, uint64_t address, void *buf, uint32_t len_bytes)
{
    pthread_mutex_lock(&qtest->lock);
    for (uint32_t done = 0, step = 0; done < len_bytes; done += step) {
        step = len_bytes - done < CHUNK_BYTES ? len_bytes - done : CHUNK_BYTES;
        read_chunk(qtest, address + done, (uint8_t *)buf + done, step);
    }
    pthread_mutex_unlock(&qtest->lock);
}

bool qtest_sync(struct qtest *qtest)
{
    pthread_mutex_lock(&qtest->lock);
    receive_unanswered(qtest);
    bool there = !qtest->gone;
    pthread_mutex_unlock(&qtest->lock);
    return there;
}
