/* SPDX-License-Identifier: MIT */
/* Writes anew what SPIR-V has and its translator asserts against. */
#include <stdlib.h>

#include "opencl/build/spirv.h"
#include "opencl/build/spirv_module.h"

#define NULL_WORDS 3u
#define SHUFFLE_WORDS 5u   /* without the numbers of components */
#define CONSTRUCT_WORDS 3u /* without the parts */
#define MOST_COMPONENTS 16u
#define NO_COMPONENT 0xffffffffu
#define IDS_PER_WORD 8u /* a module with more ids than that is left as it is */

/* What is known of an id. A type of numbers or bool, a type of vectors, or a vector. */
struct id {
    bool is_scalar;
    uint8_t words;      /* of a scalar type: those of a constant's value; of bool none */
    uint8_t components; /* of a vector and its type; 0 is neither */
    uint32_t type;      /* of a vector */
    uint32_t part;      /* of a vector and its type: the type of a component */
};

struct respelling {
    struct module module;
    struct id *ids;
    uint32_t id_count;
    uint32_t bound; /* of the new module */
    uint32_t *made;
    size_t words, room;
    bool failed; /* no memory */
};

static struct id id_at(const struct respelling *r, size_t i)
{
    const uint32_t id = word_at(&r->module, i);

    return id < r->id_count ? r->ids[id] : (struct id){ .words = 0 };
}

static void set_id(struct respelling *r, size_t i, struct id what)
{
    const uint32_t id = word_at(&r->module, i);

    if (id < r->id_count) {
        r->ids[id] = what;
    }
}

static void put_word(struct respelling *r, uint32_t word)
{
    if (r->words == r->room && !r->failed) {
        uint32_t *more = realloc(r->made, 2 * r->room * WORD);
        if (more) {
            r->made = more;
            r->room *= 2;
        } else {
            r->failed = true;
        }
    }
    if (!r->failed) {
        r->made[r->words++] = word;
    }
}

static void put_words(struct respelling *r, size_t i, uint32_t count)
{
    for (uint32_t w = 0; w < count; w++) {
        put_word(r, word_at(&r->module, i + w));
    }
}

/* ---- what there is ---- */

static void note_type(struct respelling *r, size_t i)
{
    const uint32_t opcode = opcode_at(&r->module, i), length = length_at(&r->module, i);
    const uint32_t size = length > 2 ? word_at(&r->module, i + length - 1) : 0;

    if (opcode == OP_TYPE_BOOL && length == 2) {
        set_id(r, i + 1, (struct id){ .is_scalar = true });
    } else if (opcode == OP_TYPE_INT || opcode == OP_TYPE_FLOAT) {
        const uint32_t bits = length > 2 ? word_at(&r->module, i + 2) : 0;
        if (bits > 0 && bits <= 64) {
            set_id(r, i + 1, (struct id){ .is_scalar = true, .words = (uint8_t)((bits + 31) / 32) });
        }
    } else if (opcode == OP_TYPE_VECTOR && length == 4 && size > 1 && size <= MOST_COMPONENTS) {
        set_id(r, i + 1, (struct id){ .components = (uint8_t)size, .part = word_at(&r->module, i + 2) });
    }
}

/*
 * Behind the types a type's id stands in no instruction but those with a result of that type, and there the result
 * stands behind it. Instructions before them, which name types, do so where their own first operand is no type of
 * vectors that has been defined.
 */
static void note_value(struct respelling *r, size_t i)
{
    if (opcode_at(&r->module, i) == OP_TYPE_VECTOR || length_at(&r->module, i) < 3) {
        return;
    }
    const struct id type = id_at(r, i + 1);
    if (type.components != 0 && type.type == 0) {
        set_id(r, i + 2,
               (struct id){ .components = type.components, .type = word_at(&r->module, i + 1), .part = type.part });
    }
}

/* ---- what is written instead ---- */

static void put_null(struct respelling *r, size_t i, uint32_t zeros)
{
    put_word(r, (NULL_WORDS + zeros) << 16 | (zeros == 0 ? OP_FALSE : OP_NUMBER));
    put_words(r, i + 1, NULL_WORDS - 1);
    for (uint32_t w = 0; w < zeros; w++) {
        put_word(r, 0);
    }
}

/* The vector at word i with as many components as the type's; returns its id. */
static uint32_t put_longer(struct respelling *r, size_t i, struct id vector, struct id wanted)
{
    const uint32_t id = r->bound++;

    put_word(r, (SHUFFLE_WORDS + wanted.components) << 16 | OP_VECTOR_SHUFFLE);
    put_word(r, wanted.type);
    put_word(r, id);
    put_word(r, word_at(&r->module, i));
    put_word(r, word_at(&r->module, i));
    for (uint32_t c = 0; c < wanted.components; c++) {
        put_word(r, c < vector.components ? c : NO_COMPONENT);
    }
    return id;
}

static void put_shuffle(struct respelling *r, size_t i, struct id first, struct id second)
{
    const bool first_is_short = first.components < second.components;
    const uint32_t longer = first_is_short ? put_longer(r, i + 3, first, second) : put_longer(r, i + 4, second, first);

    put_words(r, i, 3);
    put_word(r, first_is_short ? longer : word_at(&r->module, i + 3));
    put_word(r, first_is_short ? word_at(&r->module, i + 4) : longer);
    for (uint32_t w = SHUFFLE_WORDS; w < length_at(&r->module, i); w++) {
        const uint32_t c = word_at(&r->module, i + w);
        const bool moves = first_is_short && c != NO_COMPONENT && c >= first.components;
        put_word(r, moves ? c - first.components + second.components : c);
    }
}

/* Where a composite is made: its type, the last that it was, and how many parts that has. */
struct composite {
    uint32_t type, now, parts;
};

static void put_part(struct respelling *r, struct composite *composite, uint32_t part, uint32_t result)
{
    put_word(r, 6u << 16 | OP_COMPOSITE_INSERT);
    put_word(r, composite->type);
    put_word(r, result);
    put_word(r, part);
    put_word(r, composite->now);
    put_word(r, composite->parts++);
    composite->now = result;
}

/* A vector is made of scalars and of vectors, whose components are its own; a wrong one, of more than it has, ends
 * there. */
static void put_composite(struct respelling *r, size_t i)
{
    const uint32_t last = length_at(&r->module, i) - 1, result = word_at(&r->module, i + 2);
    const bool is_vector = id_at(r, i + 1).components != 0;
    const uint32_t most = is_vector ? id_at(r, i + 1).components : UINT32_MAX;
    struct composite composite = { word_at(&r->module, i + 1), r->bound++, 0 };

    put_word(r, 3u << 16 | OP_UNDEF);
    put_word(r, composite.type);
    put_word(r, composite.now);
    for (uint32_t w = CONSTRUCT_WORDS; w <= last && composite.parts < most; w++) {
        const struct id part = id_at(r, i + w);
        const uint32_t components = is_vector && part.type != 0 ? part.components : 0;
        for (uint32_t c = 0; c < components && composite.parts < most; c++) {
            const uint32_t scalar = r->bound++;
            put_word(r, 5u << 16 | OP_COMPOSITE_EXTRACT);
            put_word(r, part.part);
            put_word(r, scalar);
            put_word(r, word_at(&r->module, i + w));
            put_word(r, c);
            put_part(r, &composite, scalar, w == last && c + 1 == components ? result : r->bound++);
        }
        if (components == 0) {
            put_part(r, &composite, word_at(&r->module, i + w), w == last ? result : r->bound++);
        }
    }
}

static void respell(struct respelling *r, size_t i)
{
    const uint32_t opcode = opcode_at(&r->module, i), length = length_at(&r->module, i);

    if (opcode == OP_NULL && length == NULL_WORDS && id_at(r, i + 1).is_scalar) {
        put_null(r, i, id_at(r, i + 1).words);
        return;
    }
    if (opcode == OP_VECTOR_SHUFFLE && length >= SHUFFLE_WORDS) {
        const struct id first = id_at(r, i + 3), second = id_at(r, i + 4);
        if (first.type != 0 && second.type != 0 && first.components != second.components) {
            put_shuffle(r, i, first, second);
            return;
        }
    }
    if (opcode == OP_COMPOSITE_CONSTRUCT && length > CONSTRUCT_WORDS) {
        put_composite(r, i);
        return;
    }
    put_words(r, i, length);
}

void *spirv_respell(const void *il, size_t bytes, size_t *new_bytes)
{
    struct respelling r = { .module = module_of(il, bytes), .room = bytes / WORD + HEADER_WORDS };
    const uint32_t bound = word_at(&r.module, BOUND_WORD);

    r.bound = bound;
    r.id_count = bound / IDS_PER_WORD <= r.module.words ? bound : 0;
    r.ids = calloc((size_t)r.id_count + 1, sizeof(*r.ids));
    r.made = malloc(r.room * WORD);
    r.failed = !r.ids || !r.made;
    put_words(&r, 0, HEADER_WORDS);
    for (size_t i = HEADER_WORDS; i < r.module.words && !r.failed; i += length_at(&r.module, i)) {
        note_type(&r, i);
        note_value(&r, i);
        respell(&r, i);
    }
    if (r.failed) {
        free(r.made);
        r.made = NULL;
    } else {
        r.made[BOUND_WORD] = r.bound;
    }
    free(r.ids);
    *new_bytes = r.words * WORD;
    return r.made;
}
