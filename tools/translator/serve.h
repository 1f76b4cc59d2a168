/* SPDX-License-Identifier: MIT */
/* Answers what devices ask about loops (qemu-device/core/tier/request.h), until all of them have gone. */
#ifndef TOOLS_TRANSLATOR_SERVE_H
#define TOOLS_TRANSLATOR_SERVE_H

#include <stdbool.h>
#include <stddef.h>

#define SERVE_MOST_SOCKETS 16u

struct serve_sockets {
    int socket[SERVE_MOST_SOCKETS];
    size_t count;
};

/* Waits for the first request; false: all devices have gone without one. */
bool serve_await(const struct serve_sockets *sockets);
/* `module`: path of what makes code. The caller has given up what it does not need. The sockets are closed. */
void serve(struct serve_sockets *sockets, const char *module, int folder);

#endif
