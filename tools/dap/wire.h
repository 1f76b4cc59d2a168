/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes messages of the Debug Adapter Protocol: JSON behind a header "Content-Length: N". A header with any
 * other field than this and Content-Type is refused, so that no page in a browser can speak to an adapter.
 */
#ifndef TOOLS_DAP_WIRE_H
#define TOOLS_DAP_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define WIRE_HEADER_MOST 1024u
#define WIRE_BODY_MOST (4u << 20)

struct wire {
    int in, out;
    char *bytes;
    size_t count, room;
    bool ended; /* the editor is gone */
    json_int_t sent;
};

enum wire_found {
    WIRE_NOTHING, /* not all of a message is there */
    WIRE_MESSAGE,
    WIRE_NO_JSON, /* the next message can be read */
    WIRE_BROKEN,  /* nothing more can be read */
};

/* Reads what is there; it blocks when nothing is. */
void wire_fill(struct wire *wire);
/* The bytes that came from somewhere else. False: there is no memory. */
bool wire_put(struct wire *wire, const char *bytes, size_t count);
/* Takes the next message, which the caller gives back. `why`: what is wrong with it. */
enum wire_found wire_next(struct wire *wire, json_t **message, char why[128]);
/* Numbers a message, sends it, and gives it back. */
void wire_send(struct wire *wire, json_t *message);
void wire_close(struct wire *wire);

/* A string of JSON of any bytes: what is no UTF-8 becomes question marks. */
json_t *wire_text(const char *bytes, size_t count);

#endif
