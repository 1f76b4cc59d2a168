/* SPDX-License-Identifier: MIT */
#include "tools/dap/wire.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define READ_BYTES 65536u

bool wire_put(struct wire *wire, const char *bytes, size_t count)
{
    if (wire->room - wire->count < count) {
        const size_t room = wire->count + count + READ_BYTES;
        char *bigger = realloc(wire->bytes, room);
        if (!bigger) {
            return false;
        }
        wire->bytes = bigger;
        wire->room = room;
    }
    if (count != 0) {
        memcpy(wire->bytes + wire->count, bytes, count);
    }
    wire->count += count;
    return true;
}

void wire_fill(struct wire *wire)
{
    static char bytes[READ_BYTES];
    const ssize_t count = read(wire->in, bytes, sizeof(bytes));

    if (count < 0 && errno == EINTR) {
        return;
    }
    wire->ended = wire->ended || count <= 0 || !wire_put(wire, bytes, (size_t)count);
}

/* ---- headers ---- */

/* A field of the header, without its end; false: it is none that belongs here. */
static bool read_field(const char *line, size_t bytes, size_t *length)
{
    static const char wanted[] = "Content-Length:", other[] = "Content-Type:";
    size_t at = sizeof(wanted) - 1, value = 0, digits = 0;

    if (bytes >= sizeof(other) - 1 && strncasecmp(line, other, sizeof(other) - 1) == 0) {
        return true;
    }
    if (*length != SIZE_MAX || bytes < at || strncasecmp(line, wanted, at) != 0) {
        return false;
    }
    while (at < bytes && line[at] == ' ') {
        at++;
    }
    for (; at < bytes && line[at] >= '0' && line[at] <= '9' && digits < 9; at++, digits++) {
        value = value * 10 + (size_t)(line[at] - '0');
    }
    *length = value;
    return digits != 0 && at == bytes;
}

/* Bytes of the header, 0 when not all of it is there; false: it is none. */
static bool read_header(const struct wire *wire, size_t *header, size_t *length)
{
    size_t begin = 0;

    *header = 0;
    *length = SIZE_MAX;
    for (size_t at = 1; at < wire->count && at < WIRE_HEADER_MOST; at++) {
        if (wire->bytes[at] != '\n' || wire->bytes[at - 1] != '\r') {
            continue;
        }
        if (at - 1 == begin) {
            *header = at + 1;
            return *length != SIZE_MAX;
        }
        if (!read_field(wire->bytes + begin, at - 1 - begin, length)) {
            return false;
        }
        begin = at + 1;
    }
    return wire->count < WIRE_HEADER_MOST;
}

enum wire_found wire_next(struct wire *wire, json_t **message, char why[128])
{
    size_t header, length;
    json_error_t error;

    if (!read_header(wire, &header, &length)) {
        snprintf(why, 128, "the header is not Content-Length and a number");
        return WIRE_BROKEN;
    }
    if (header != 0 && length > WIRE_BODY_MOST) {
        snprintf(why, 128, "it has %zu bytes; at most %u are read", length, WIRE_BODY_MOST);
        return WIRE_BROKEN;
    }
    if (header == 0 || wire->count - header < length) {
        return WIRE_NOTHING;
    }
    *message = json_loadb(wire->bytes + header, length, JSON_REJECT_DUPLICATES, &error);
    wire->count -= header + length;
    memmove(wire->bytes, wire->bytes + header + length, wire->count);
    if (!*message) {
        snprintf(why, 128, "%.100s", error.text);
        return WIRE_NO_JSON;
    }
    return WIRE_MESSAGE;
}

/* ---- sending ---- */

static bool write_bytes(int fd, const char *bytes, size_t count)
{
    while (count != 0) {
        const ssize_t done = write(fd, bytes, count);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        bytes += done > 0 ? done : 0;
        count -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

void wire_send(struct wire *wire, json_t *message)
{
    char header[64];
    char *text = NULL;

    if (message && !wire->ended) {
        json_object_set_new(message, "seq", json_integer(++wire->sent));
        text = json_dumps(message, JSON_COMPACT);
    }
    if (text) {
        snprintf(header, sizeof(header), "Content-Length: %zu\r\n\r\n", strlen(text));
        wire->ended = !write_bytes(wire->out, header, strlen(header)) || !write_bytes(wire->out, text, strlen(text));
    }
    free(text);
    json_decref(message);
}

void wire_close(struct wire *wire)
{
    free(wire->bytes);
    wire->bytes = NULL;
    wire->count = wire->room = 0;
}

json_t *wire_text(const char *bytes, size_t count)
{
    json_t *text = json_stringn(bytes, count);
    char *clean = text ? NULL : malloc(count + 1);

    for (size_t i = 0; clean && i < count; i++) {
        clean[i] = (char)((unsigned char)bytes[i] < 0x80 ? bytes[i] : '?');
    }
    if (clean) {
        text = json_stringn(clean, count);
        free(clean);
    }
    return text;
}
