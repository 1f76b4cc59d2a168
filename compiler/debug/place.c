/* SPDX-License-Identifier: MIT */
#include "compiler/debug/place.h"

#include <llvm-c/DebugInfo.h>

#define FIRST_SLOTS 64u

/* A place; its number is one more than its index. */
struct place {
    LLVMMetadataRef location;
    uint32_t line;
};

static uint32_t hash_of(const struct place *place)
{
    uint64_t key = ((uint64_t)(uintptr_t)place->location ^ place->line) * 0x9e3779b97f4a7c15ull;

    return (uint32_t)(key >> 32);
}

static bool is_same(const struct place *a, const struct place *b)
{
    return a->location == b->location && a->line == b->line;
}

/* The slot of the hash table that has the place, or is free for it. Slots hold numbers of places. */
static uint32_t *slot_of(const struct compilation *compilation, const struct place *place)
{
    const struct places *places = &compilation->places;
    uint32_t slot = hash_of(place) & (places->slots - 1);

    while (places->slot[slot] != 0 && !is_same(&places->place[places->slot[slot] - 1], place)) {
        slot = (slot + 1) & (places->slots - 1);
    }
    return &places->slot[slot];
}

static void grow_slots(struct compilation *compilation)
{
    struct places *places = &compilation->places;

    places->slots = places->slots == 0 ? FIRST_SLOTS : places->slots * 2;
    places->slot = arena_new(&compilation->arena, uint32_t, places->slots);
    for (uint32_t i = 0; i < places->count; i++) {
        *slot_of(compilation, &places->place[i]) = i + 1;
    }
}

static uint32_t number_of(struct compilation *compilation, const struct place *place)
{
    struct places *places = &compilation->places;

    if (places->count * 2 >= places->slots) {
        grow_slots(compilation);
    }
    uint32_t *slot = slot_of(compilation, place);
    if (*slot == 0) {
        places->place = arena_grow(&compilation->arena, places->place, sizeof(*place), places->count, &places->cap);
        places->place[places->count++] = *place;
        *slot = places->count;
    }
    return *slot;
}

uint32_t place_of(struct compilation *compilation, LLVMValueRef insn)
{
    const struct place place = { LLVMInstructionGetDebugLoc(insn), LLVMGetDebugLocLine(insn) };

    return place.line != 0 ? number_of(compilation, &place) : 0;
}

uint32_t place_of_line(struct compilation *compilation, uint32_t line)
{
    const struct place place = { NULL, line };

    return line != 0 ? number_of(compilation, &place) : 0;
}

uint32_t place_line(const struct compilation *compilation, uint32_t place)
{
    return place != 0 ? compilation->places.place[place - 1].line : 0;
}

LLVMMetadataRef place_location(const struct compilation *compilation, uint32_t place)
{
    return place != 0 ? compilation->places.place[place - 1].location : NULL;
}
