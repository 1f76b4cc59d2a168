/* SPDX-License-Identifier: MIT */
#include "tests/firmware/stream.h"

#include <string.h>

#define AREA_BYTES (64u * PPU_KIB)
#define RING_ROOM (32u * PPU_KIB)
#define HEADER_WORDS (sizeof(struct ppu_block_header) / 4)

struct stream stream_open(uint32_t context, uint32_t number, uint32_t entries, uint32_t priority, uint32_t vector)
{
    uint64_t area = MOCK_MEMORY_VA + (uint64_t)number * AREA_BYTES;
    struct stream stream = {
        .context = context,
        .ring_va = area,
        .entries = entries,
        .block_va = area + RING_ROOM,
        .len = HEADER_WORDS,
    };
    stream.channel = mock_channel(context, stream.ring_va, entries, priority, vector);
    return stream;
}

void stream_method(struct stream *stream, uint32_t method, uint32_t count, const uint32_t *data)
{
    uint32_t *block = mock_at(stream->block_va);
    block[stream->len++] = PPU_METHOD_WORD(method, count);
    for (uint32_t i = 0; i < count; i++) {
        block[stream->len++] = data ? data[i] : 0;
    }
}

void stream_acquire(struct stream *stream, uint64_t sem_va, uint32_t value, uint32_t compare)
{
    const uint32_t data[] = { (uint32_t)sem_va, (uint32_t)(sem_va >> 32), value, compare };
    stream_method(stream, PPU_METHOD_SEM_ACQUIRE, 4, data);
}

void stream_release(struct stream *stream, uint64_t sem_va, uint32_t value)
{
    const uint32_t data[] = { (uint32_t)sem_va, (uint32_t)(sem_va >> 32), value, 0 };
    stream_method(stream, PPU_METHOD_SEM_RELEASE, 4, data);
}

void stream_launch(struct stream *stream, uint64_t tmd_va, const struct ppu_tmd *tmd, uint32_t tmdq)
{
    const uint32_t data[] = { (uint32_t)tmd_va, (uint32_t)(tmd_va >> 32), tmdq };
    memcpy(mock_at(tmd_va), tmd, sizeof(*tmd));
    stream_method(stream, PPU_METHOD_LAUNCH, 3, data);
}

void stream_copy(struct stream *stream, uint64_t from, uint64_t to, uint32_t len_bytes)
{
    const uint32_t data[] = { (uint32_t)from, (uint32_t)(from >> 32), (uint32_t)to, (uint32_t)(to >> 32), len_bytes };
    stream_method(stream, PPU_METHOD_COPY, 5, data);
}

/* Blocks follow each other through the second half of the area; the tests use fewer than fit before they are done
 * with. */
uint64_t stream_close_block(struct stream *stream, uint32_t correlation)
{
    struct ppu_block_header header = {
        .head = { PPU_BLOCK_VERSION, sizeof(header) },
        .len_words = stream->len,
        .correlation = correlation,
    };
    memcpy(mock_at(stream->block_va), &header, sizeof(header));
    uint64_t entry = ppu_gp_entry(stream->block_va, stream->len);
    uint64_t area = stream->ring_va + RING_ROOM;
    uint64_t next = stream->block_va + stream->len * 4;
    stream->block_va = next + PPU_COPY_SYNC_MAX > area + AREA_BYTES - RING_ROOM ? area : next;
    stream->len = HEADER_WORDS;
    return entry;
}

void stream_put(struct stream *stream, uint64_t entry)
{
    memcpy(mock_at(stream->ring_va + stream->put * PPU_GP_ENTRY_BYTES), &entry, sizeof(entry));
    stream->put = ppu_gp_next(stream->put, stream->entries);
}

void stream_submit(struct stream *stream)
{
    stream_put(stream, stream_close_block(stream, 77));
    mock_doorbell(stream->channel, stream->put);
}

uint32_t stream_get(const struct stream *stream)
{
    return mock.reg[PPU_REG_GP_GET / 4 + stream->channel];
}

uint32_t stream_state(const struct stream *stream)
{
    return (uint32_t)mock_query(PPU_KEY_CHANNEL_STATE, stream->channel);
}
