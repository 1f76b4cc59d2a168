/* SPDX-License-Identifier: MIT */
#include "opencl/variants/variant_key.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opencl/build/fnv.h"

/* ---- making ---- */

static struct ppu_compile_argument *argument_of(struct variant_key *key, uint32_t argument)
{
    while (key->argument_count <= argument) {
        memset(&key->arguments[key->argument_count++], 0, sizeof(key->arguments[0]));
    }
    return &key->arguments[argument];
}

static void add_pair(struct variant_key *key, enum variant_level level, const struct ppu_compile_pair *found)
{
    struct ppu_compile_pair *pair = &key->pairs[key->pair_count++];

    *pair = (struct ppu_compile_pair){ .first = found->first, .second = found->second };
    if (level >= VARIANT_ALL) {
        *pair = *found;
    }
    pair->start[0] = pair->start[1] = 0;
    pair->bytes = 0;
}

void variant_key_set(struct variant_key *key, enum variant_level level, const struct region *regions, uint32_t count,
                     const struct overlaps *overlaps)
{
    key->argument_count = key->pair_count = 0;
    memset(key->work_group, 0, sizeof(key->work_group));
    key->small_ids = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct ppu_compile_argument *argument = argument_of(key, regions[i].argument);
        argument->separate = 1;
        argument->align_log2 = level >= VARIANT_ALIGNMENT ? address_align_log2(regions[i].address) : 0;
    }
    for (uint32_t i = 0; i < overlaps->count; i++) {
        add_pair(key, level, &overlaps->pairs[i].pair);
    }
}

void variant_key_add_constant(struct variant_key *key, const struct variant_constant *constant)
{
    struct ppu_compile_argument *argument = argument_of(key, constant->argument);

    argument->constant = 1;
    argument->value = constant->value;
}

void variant_key_add_above(struct variant_key *key, uint8_t argument, uint8_t dimensions)
{
    argument_of(key, argument)->above_ids = dimensions;
}

void variant_key_add_common(struct variant_key *key, const struct ppu_compile_pair *found)
{
    for (uint32_t i = 0; i < key->pair_count; i++) {
        struct ppu_compile_pair *pair = &key->pairs[i];
        if (pair->first == found->first && pair->second == found->second) {
            pair->start[0] = found->start[0];
            pair->start[1] = found->start[1];
            pair->bytes = found->bytes;
        }
    }
}

void variant_key_add_work_group(struct variant_key *key, const uint32_t work_group[3])
{
    memcpy(key->work_group, work_group, sizeof(key->work_group));
}

void variant_key_add_small_ids(struct variant_key *key)
{
    key->small_ids = 1;
}

/* ---- comparing ---- */

static size_t argument_bytes(const struct variant_key *key)
{
    return key->argument_count * sizeof(key->arguments[0]);
}

static size_t pair_bytes(const struct variant_key *key)
{
    return key->pair_count * sizeof(key->pairs[0]);
}

bool variant_key_equal(const struct variant_key *a, const struct variant_key *b)
{
    return a->argument_count == b->argument_count && a->pair_count == b->pair_count && a->small_ids == b->small_ids &&
           memcmp(a->work_group, b->work_group, sizeof(a->work_group)) == 0 &&
           memcmp(a->arguments, b->arguments, argument_bytes(a)) == 0 && memcmp(a->pairs, b->pairs, pair_bytes(a)) == 0;
}

uint64_t variant_key_hash(const struct variant_key *key)
{
    return (fnv_of(key->arguments, argument_bytes(key)) * 31u + fnv_of(key->pairs, pair_bytes(key))) * 31u +
           fnv_of(key->work_group, sizeof(key->work_group)) + key->small_ids;
}

/* ---- printing ---- */

struct line {
    char *at;
    size_t bytes;
};

static void __attribute__((format(printf, 2, 3))) add(struct line *line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int length = vsnprintf(line->at, line->bytes, format, args);
    va_end(args);
    size_t used = length < 0 ? 0 : (size_t)length < line->bytes ? (size_t)length : line->bytes - 1;
    line->at += used;
    line->bytes -= used;
}

static void print_argument(struct line *line, uint32_t i, const struct ppu_compile_argument *argument)
{
    if (argument->separate != 0) {
        add(line, " s%u", i);
    }
    if (argument->align_log2 != 0) {
        add(line, " a%u:%u", i, 1u << argument->align_log2);
    }
    if (argument->above_ids != 0) {
        add(line, " i%u:%s%s%s", i, (argument->above_ids & 1u) != 0 ? "x" : "",
            (argument->above_ids & 2u) != 0 ? "y" : "", (argument->above_ids & 4u) != 0 ? "z" : "");
    }
    if (argument->constant != 0) {
        add(line, " c%u:%llx", i, (unsigned long long)argument->value);
    }
}

static void print_pair(struct line *line, const struct ppu_compile_pair *pair)
{
    switch (pair->relation) {
    case PPU_RELATION_IDENTICAL:
        add(line, " %u=%u", pair->first, pair->second);
        break;
    case PPU_RELATION_DISJOINT:
        add(line, " %u!%u", pair->first, pair->second);
        break;
    case PPU_RELATION_OVERLAP:
        add(line, " %u-%u%c%d*%u", pair->second, pair->first, pair->exact ? '=' : '>', pair->distance,
            1u << pair->element_log2);
        if (pair->bytes != 0) {
            add(line, "@%lld,%lld:%llu", (long long)pair->start[0], (long long)pair->start[1],
                (unsigned long long)pair->bytes);
        }
        break;
    default:
        add(line, " %u?%u", pair->first, pair->second);
        break;
    }
}

void variant_key_print(const struct variant_key *key, char *text, size_t bytes)
{
    struct line line = { text, bytes };

    text[0] = '\0';
    for (uint32_t i = 0; i < key->argument_count; i++) {
        print_argument(&line, i, &key->arguments[i]);
    }
    for (uint32_t i = 0; i < key->pair_count; i++) {
        print_pair(&line, &key->pairs[i]);
    }
    if ((key->work_group[0] | key->work_group[1] | key->work_group[2]) != 0) {
        add(&line, " g%ux%ux%u", key->work_group[0], key->work_group[1], key->work_group[2]);
    }
    if (key->small_ids != 0) {
        add(&line, " n");
    }
}
