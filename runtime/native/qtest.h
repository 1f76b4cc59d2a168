/* SPDX-License-Identifier: MIT */
/*
 * Speaks QEMU's qtest protocol: reads and writes of the machine's physical memory over a stream socket. Thread-safe.
 * Writes are not waited for: their answers are taken before the next read, and QEMU serves everything in order.
 */
#ifndef RUNTIME_NATIVE_QTEST_H
#define RUNTIME_NATIVE_QTEST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define QTEST_BUFFER_BYTES 16384u

struct qtest {
    pthread_mutex_t lock;
    int fd;
    bool gone;           /* QEMU has closed the socket or talks nonsense */
    uint32_t unanswered; /* writes whose answers were not read yet */
    uint32_t fill;       /* bytes received and not parsed */
    char buffer[QTEST_BUFFER_BYTES];
};

/* `fd`, or what is put there before the first call, belongs to the client. */
void qtest_init(struct qtest *qtest, int fd);
void qtest_fini(struct qtest *qtest);

/* All ones when QEMU has gone. */
uint32_t qtest_read32(struct qtest *qtest, uint64_t address);
void qtest_write32(struct qtest *qtest, uint64_t address, uint32_t value);
/* Any length, word by word where the target wants words. */
void qtest_read(struct qtest *qtest, uint64_t address, void *buf, uint32_t len_bytes);
void qtest_write(struct qtest *qtest, uint64_t address, const void *buf, uint32_t len_bytes);
/* False: QEMU has gone. Returns after everything written before has happened. */
bool qtest_sync(struct qtest *qtest);

#endif
