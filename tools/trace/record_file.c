/* SPDX-License-Identifier: MIT */
#include "tools/trace/record_file.h"

#include <string.h>

#include "ppu/macros.h"

#define FILL 8u

bool record_begin(FILE *file)
{
    const struct record_head head = { .head = { RECORD_VERSION, sizeof(head) } };
    struct record_head named = head;

    memcpy(named.magic, RECORD_MAGIC, sizeof(named.magic));
    return fwrite(&named, sizeof(named), 1, file) == 1;
}

static bool put_bytes(FILE *file, const void *bytes, size_t count)
{
    return count == 0 || fwrite(bytes, 1, count, file) == count;
}

bool record_write(FILE *file, enum record_chunk_kind kind, const void *first, size_t first_bytes, const void *second,
                  size_t second_bytes)
{
    static const uint8_t zeros[FILL];
    const struct record_chunk chunk = { (uint32_t)kind, (uint32_t)(first_bytes + second_bytes) };

    return put_bytes(file, &chunk, sizeof(chunk)) && put_bytes(file, first, first_bytes) &&
           put_bytes(file, second, second_bytes) && put_bytes(file, zeros, (FILL - chunk.bytes % FILL) % FILL);
}

const char *record_open(struct record *record, const void *bytes, size_t size)
{
    struct record_head head;

    if (size < sizeof(head)) {
        return "it is too short for a record of ppu-trace";
    }
    memcpy(&head, bytes, sizeof(head));
    if (memcmp(head.magic, RECORD_MAGIC, sizeof(head.magic)) != 0) {
        return "it is no record of ppu-trace";
    }
    if (head.head.version != RECORD_VERSION || head.head.size_bytes != sizeof(head)) {
        return "it has another version of the format";
    }
    *record = (struct record){ bytes, size, sizeof(head) };
    return NULL;
}

bool record_next(struct record *record, struct record_chunk *chunk, const uint8_t **content, bool *cut)
{
    size_t left = record->size - record->at;

    *cut = left > 0;
    if (left < sizeof(*chunk)) {
        return false;
    }
    memcpy(chunk, record->bytes + record->at, sizeof(*chunk));
    left -= sizeof(*chunk);
    if (chunk->bytes > RECORD_CHUNK_MOST || chunk->bytes > left) {
        return false;
    }
    *content = record->bytes + record->at + sizeof(*chunk);
    size_t filled = ppu_align_up(chunk->bytes, FILL);
    record->at += sizeof(*chunk) + (filled < left ? filled : left);
    *cut = false;
    return true;
}
