/* SPDX-License-Identifier: MIT */
#include "tests/remote/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/deadline.h"

#define PATIENCE_NS (30 * NS_PER_S)
#define MOST_ARGUMENTS 32u

bool served_start(struct served *served, uint32_t ppus, const char *const more[])
{
    char count[8];
    const char *argv[MOST_ARGUMENTS] = { "tools/ppu-run", "--ppus", count, "--qmp", served->qmp };
    uint32_t arguments = 5;

    *served = (struct served){ .folder = "/tmp/ppu-served-XXXXXX" };
    process_init(&served->process);
    if (!mkdtemp(served->folder)) {
        return false;
    }
    snprintf(count, sizeof(count), "%u", ppus);
    snprintf(served->qmp, sizeof(served->qmp), "%s/qmp", served->folder);
    for (uint32_t i = 0; i < ppus; i++) {
        snprintf(served->path[i], sizeof(served->path[i]), "%s/ppu%u", served->folder, i);
        argv[arguments++] = "--vfio-user";
        argv[arguments++] = served->path[i];
    }
    for (; more && *more && arguments < MOST_ARGUMENTS - 1; more++) {
        argv[arguments++] = *more;
    }
    return process_start(&served->process, (char *const *)(uintptr_t)argv, NULL, 0);
}

enum ppu_err served_transport(struct served *served, uint32_t index, struct ppu_transport **transport,
                              struct ppu_error *error)
{
    uint64_t deadline_ns = deadline_after(PATIENCE_NS);
    enum ppu_err err;

    while (access(served->path[index], F_OK) != 0 && !process_ended(&served->process, 0) &&
           deadline_left(deadline_ns) > 0) {
        sleep_ns(2 * NS_PER_MS);
    }
    do { /* between making a socket and listening at it nobody can connect */
        err = ppu_vfio_user_transport(served->path[index], transport, error);
    } while (err == PPU_ERR_TRANSPORT && !process_ended(&served->process, 2 * NS_PER_MS) &&
             deadline_left(deadline_ns) > 0);
    if (err != PPU_OK && process_ended(&served->process, 0)) {
        process_last_words(&served->process, error->text, sizeof(error->text));
    }
    return err;
}

void served_stop(struct served *served)
{
    process_stop(&served->process);
    for (uint32_t i = 0; i < SERVED_PPUS; i++) {
        unlink(served->path[i]);
    }
    unlink(served->qmp);
    rmdir(served->folder);
}
