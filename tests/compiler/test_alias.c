/* SPDX-License-Identifier: MIT */
/*
 * Kernels compiled for what is known of their launches against the same kernels compiled for any, and against a model:
 * random kernels, random places of their arguments in memory, every byte compared. PPU_SEED chooses the first kernel,
 * PPU_ALIAS_KERNELS how many there are.
 */
#include "tests/compiler/device.h"

#include "opencl/variants/overlap.h"
#include "ppu/macros.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 60u
#define LAYOUTS 4u /* of the arguments, for each kernel */
#define POINTERS 4u
#define STATEMENTS 4u
#define TURNS 23u    /* at most */
#define WINDOW 2048u /* bytes of one work-item */
#define WINDOW_TEXT "2048"
#define ITEMS 3u
#define BUFFER (WINDOW * ITEMS)
#define MARGIN 1024u /* before the windows and behind them */

/* ---- kernels ---- */

static const struct {
    const char *name;
    uint32_t log2;
} types[] = { { "uchar", 0 }, { "u16", 1 }, { "u32", 2 }, { "u64", 3 } };

/* Memory that is read and written with several types is none of C's, unless the types say so. */
static const char type_text[] = "typedef ushort __attribute__((may_alias)) u16;\n"
                                "typedef uint __attribute__((may_alias)) u32;\n"
                                "typedef ulong __attribute__((may_alias)) u64;\n";

/* Element of a pointer: begin + stride * i + offset, in elements; or, indexed, begin + (element & 7). */
struct operand {
    uint32_t pointer;
    int32_t stride, offset;
    bool indexed;
    uint32_t index_pointer;
    int32_t index_offset;
};

enum operation { ADD, XOR, MUL, OPERATIONS };

/* to = a op b + constant, b an element too or the sum of what was read so far */
struct statement {
    struct operand to, a, b;
    bool sums;
    enum operation operation;
    uint32_t constant;
};

struct plan {
    uint32_t type[POINTERS];
    uint32_t pointers;
    struct statement statements[STATEMENTS];
    uint32_t count;
    bool reversed;
    bool loop;  /* else straight code: the statements a few times, with constants for i */
    bool fixed; /* the source says how far work-items are apart, not an argument */
    uint32_t straight;
};

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((state >> 33) % n);
}

static bool chance(uint32_t percent)
{
    return below(100) < percent;
}

/* `plain`: what can be grouped most easily, and so go wrong. */
static struct operand random_operand(const struct plan *plan, bool plain, bool load)
{
    static const int32_t strides[] = { 1, 1, 2, 3, -1 };
    struct operand operand = { .pointer = below(plan->pointers), .stride = plain ? 1 : strides[below(5)] };

    operand.offset = plain ? 0 : (int32_t)below(7) - 3;
    operand.indexed = load && !plain && chance(20);
    operand.index_pointer = below(plan->pointers);
    operand.index_offset = (int32_t)below(3);
    return operand;
}

static struct plan random_plan(void)
{
    struct plan plan = { .pointers = 2 + below(POINTERS - 1), .count = 1 + below(STATEMENTS) };
    bool plain = chance(50), one_type = plain || chance(40);

    plan.type[0] = chance(50) ? 2 : below(4);
    for (uint32_t p = 1; p < POINTERS; p++) {
        plan.type[p] = one_type ? plan.type[0] : below(4);
    }
    for (uint32_t s = 0; s < plan.count; s++) {
        plan.statements[s] = (struct statement){ .to = random_operand(&plan, plain, false),
                                                 .a = random_operand(&plan, plain, true),
                                                 .b = random_operand(&plan, plain, true),
                                                 .sums = chance(15),
                                                 .operation = below(OPERATIONS),
                                                 .constant = below(1000) };
    }
    plan.reversed = chance(25);
    plan.loop = chance(75);
    plan.straight = 2 + below(5);
    plan.fixed = chance(50);
    return plan;
}

struct text {
    char at[32768];
    size_t len;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text->len += (size_t)vsnprintf(text->at + text->len, sizeof(text->at) - text->len, format, args);
    va_end(args);
    assert_true(text->len < sizeof(text->at));
}

/* `turn`: NULL: the loop's counter */
static void add_operand(struct text *text, const struct operand *operand, const char *turn)
{
    if (operand->indexed) {
        add(text, "p%u[b%u + %d + (int)(p%u[b%u + %s + %d] & 7)]", operand->pointer, operand->pointer, operand->offset,
            operand->index_pointer, operand->index_pointer, turn, operand->index_offset);
    } else {
        add(text, "p%u[b%u + %d * %s + %d]", operand->pointer, operand->pointer, operand->stride, turn,
            operand->offset);
    }
}

static void add_statements(struct text *text, const struct plan *plan, const char *turn)
{
    static const char signs[] = { '+', '^', '*' };

    for (uint32_t s = 0; s < plan->count; s++) {
        const struct statement *statement = &plan->statements[s];
        add(text, "    { ulong a = ");
        add_operand(text, &statement->a, turn);
        add(text, ", b = ");
        if (statement->sums) {
            add(text, "sum");
        } else {
            add_operand(text, &statement->b, turn);
        }
        add(text, "; sum += a; ");
        add_operand(text, &statement->to, turn);
        add(text, " = (a %c b) + %u; }\n", signs[statement->operation], statement->constant);
    }
}

static void write_kernel(struct text *text, const struct plan *plan)
{
    text->len = 0;
    add(text, "%skernel void k(", type_text);
    for (uint32_t p = 0; p < plan->pointers; p++) {
        add(text, "global %s *p%u, ", types[plan->type[p]].name, p);
    }
    add(text, "int n, int window)\n{\n    ulong sum = 0;\n");
    for (uint32_t p = 0; p < plan->pointers; p++) {
        add(text, "    int b%u = (int)get_global_id(0) * (%s >> %u);\n", p, plan->fixed ? WINDOW_TEXT : "window",
            types[plan->type[p]].log2);
    }
    if (plan->loop) {
        add(text, plan->reversed ? "    for (int i = n - 1; i >= 0; i--) {\n" : "    for (int i = 0; i < n; i++) {\n");
        add_statements(text, plan, "i");
        add(text, "    }\n");
    }
    for (uint32_t i = 0; i < plan->straight && !plan->loop; i++) {
        char turn[12];
        snprintf(turn, sizeof(turn), "%u", i);
        add_statements(text, plan, turn);
    }
    add(text, "}\n");
}

/* ---- model ---- */

struct memory {
    uint8_t *at;                            /* of the model, from DATA_VA on */
    uint64_t address[POINTERS];             /* as the kernel gets them */
    uint64_t low[POINTERS], high[POINTERS]; /* of what was reached through each; none: low is not below high */
};

static uint8_t *element_at(const struct plan *plan, struct memory *memory, uint32_t pointer, int64_t element)
{
    uint64_t bytes = 1ull << types[plan->type[pointer]].log2;
    uint64_t va = memory->address[pointer] + (uint64_t)element * bytes;

    assert_in_range(va, DATA_VA, DATA_VA + DATA_BYTES - 8);
    memory->low[pointer] = PPU_MIN(memory->low[pointer], va);
    memory->high[pointer] = PPU_MAX(memory->high[pointer], va + bytes);
    return memory->at + (va - DATA_VA);
}

static uint64_t read_element(const struct plan *plan, struct memory *memory, uint32_t pointer, int64_t element)
{
    uint64_t value = 0;

    memcpy(&value, element_at(plan, memory, pointer, element), 1u << types[plan->type[pointer]].log2);
    return value;
}

static int64_t begin_of(const struct plan *plan, uint32_t pointer, uint32_t item)
{
    return (int64_t)item * (WINDOW >> types[plan->type[pointer]].log2);
}

static int64_t element_of(const struct plan *plan, struct memory *memory, const struct operand *operand, uint32_t item,
                          int32_t turn)
{
    int64_t begin = begin_of(plan, operand->pointer, item);

    if (operand->indexed) {
        int64_t from = begin_of(plan, operand->index_pointer, item) + turn + operand->index_offset;
        return begin + operand->offset + (int64_t)(read_element(plan, memory, operand->index_pointer, from) & 7);
    }
    return begin + (int64_t)operand->stride * turn + operand->offset;
}

static uint64_t read_operand(const struct plan *plan, struct memory *memory, const struct operand *operand,
                             uint32_t item, int32_t turn)
{
    return read_element(plan, memory, operand->pointer, element_of(plan, memory, operand, item, turn));
}

static void run_turn(const struct plan *plan, struct memory *memory, uint32_t item, int32_t turn, uint64_t *sum)
{
    for (uint32_t s = 0; s < plan->count; s++) {
        const struct statement *statement = &plan->statements[s];
        uint64_t a = read_operand(plan, memory, &statement->a, item, turn);
        uint64_t b = statement->sums ? *sum : read_operand(plan, memory, &statement->b, item, turn);
        *sum += a;
        uint64_t value = statement->operation == ADD ? a + b : statement->operation == XOR ? a ^ b : a * b;
        value += statement->constant;
        int64_t element = element_of(plan, memory, &statement->to, item, turn);
        memcpy(element_at(plan, memory, statement->to.pointer, element), &value,
               1u << types[plan->type[statement->to.pointer]].log2);
    }
}

static void run_model(const struct plan *plan, struct memory *memory, int32_t turns)
{
    for (uint32_t item = 0; item < ITEMS; item++) {
        uint64_t sum = 0;
        for (int32_t i = 0; i < turns; i++) {
            run_turn(plan, memory, item, plan->loop && plan->reversed ? turns - 1 - i : i, &sum);
        }
    }
}

/* ---- places in memory ---- */

#define BUFFER_BYTES (BUFFER + 2 * MARGIN)

/* Each argument in the first buffer, at some distance from its begin, or in a buffer of its own. */
static void choose_addresses(const struct plan *plan, struct memory *memory, struct region *regions)
{
    for (uint32_t p = 0; p < plan->pointers; p++) {
        uint32_t buffer = p != 0 && chance(30) ? p : 0, own = 1u << types[plan->type[p]].log2;
        uint32_t unit = 1u << types[plan->type[below(plan->pointers)]].log2;
        int64_t distance = p == 0 || chance(15) ? 0 : ((int64_t)below(41) - 20) * PPU_MAX(unit, own);
        uint64_t start = DATA_VA + buffer * BUFFER_BYTES;
        if (chance(10)) { /* not a whole number of the others' elements */
            distance += own;
        }
        memory->address[p] = start + MARGIN + (uint64_t)distance;
        regions[p] = (struct region){
            .address = memory->address[p], .start = start, .bytes = BUFFER_BYTES, .argument = (uint8_t)p
        };
    }
}

/* As the kernel's image says; gives back how many arguments' reach it knows. */
static uint32_t add_accesses(const struct device *device, const struct plan *plan, struct region *regions)
{
    uint32_t known = 0;

    const struct ppu_program_view *program = &device->rig->program;

    for (uint32_t p = 0; p < plan->pointers; p++) {
        const struct ppu_argument_entry *entry = &program->arguments[device->kernel.argument_first + p];
        regions[p].writes = (entry->references & PPU_REFERENCE_WRITE) != 0;
        regions[p].element_log2 = entry->element_log2;
        region_narrow(&regions[p], &entry->reach, 0, ITEMS - 1);
        known += entry->reach.low < entry->reach.high;
    }
    return known;
}

struct known {
    struct ppu_compile_argument arguments[POINTERS + 2];
    struct ppu_compile_pair pairs[OVERLAPS_MOST];
    struct ppu_compile_facts facts;
};

static void find_facts(const struct plan *plan, const struct memory *memory, const struct region *regions,
                       int32_t turns, struct known *known)
{
    struct overlaps *overlaps = calloc(1, sizeof(*overlaps));

    assert_non_null(overlaps);
    assert_true(overlaps_find(regions, plan->pointers, overlaps));
    memset(known, 0, sizeof(*known));
    for (uint32_t p = 0; p < plan->pointers; p++) {
        known->arguments[p].separate = 1;
        known->arguments[p].align_log2 = address_align_log2(memory->address[p]);
    }
    for (uint32_t i = 0; i < overlaps->count; i++) {
        known->pairs[i] = overlaps->pairs[i].pair;
    }
    if (chance(50)) {
        known->arguments[plan->pointers] = (struct ppu_compile_argument){ .constant = 1, .value = (uint32_t)turns };
    }
    if (chance(50)) {
        known->arguments[plan->pointers + 1] = (struct ppu_compile_argument){ .constant = 1, .value = WINDOW };
    }
    known->facts =
        (struct ppu_compile_facts){ "k",   known->arguments, plan->pointers + 2, known->pairs, overlaps->count,
                                    { 0 }, chance(50) };
    free(overlaps);
}

/* ---- the check ---- */

#define ALL_BYTES (POINTERS * BUFFER_BYTES)

static void set_arguments(struct device *device, const struct plan *plan, const struct memory *memory, int32_t turns)
{
    device_kernel(device, "k");
    for (uint32_t p = 0; p < plan->pointers; p++) {
        device_value(device, p, &memory->address[p], sizeof(uint64_t));
    }
    device_int(device, plan->pointers, turns);
    device_int(device, plan->pointers + 1, WINDOW);
    device->data_used = ALL_BYTES;
}

/* Byte at which they differ, ALL_BYTES: none. */
static uint32_t first_difference(const uint8_t *a, const uint8_t *b)
{
    for (uint32_t i = 0; i < ALL_BYTES; i++) {
        if (a[i] != b[i]) {
            return i;
        }
    }
    return ALL_BYTES;
}

/* Runs what is loaded, on the reference executor too; the first byte that is not the model's. */
static uint32_t run_both(struct device *device, const struct plan *plan, const struct memory *memory, int32_t turns,
                         const uint8_t *before, const uint8_t *model)
{
    set_arguments(device, plan, memory, turns);
    memcpy(rig_data(device->rig, 0), before, ALL_BYTES);
    uint8_t *reference = device_reference(device, 1, 1, ITEMS, 1);
    uint32_t at = first_difference(reference, model);
    free(reference);
    if (at != ALL_BYTES) {
        return at;
    }
    device_run(device, 1, 1, ITEMS, 1);
    return first_difference(rig_data(device->rig, 0), model);
}

static void report(const struct text *source, const struct known *known, const char *what, uint64_t seed, uint32_t at)
{
    for (uint32_t i = 0; i < known->facts.pair_count; i++) {
        const struct ppu_compile_pair *pair = &known->pairs[i];
        print_message("arguments %u and %u: relation %u, distance %d of %u bytes%s\n", pair->first, pair->second,
                      pair->relation, pair->distance, 1u << pair->element_log2, pair->exact ? "" : ", and some");
    }
    fail_msg("PPU_SEED=%llu PPU_ALIAS_KERNELS=1: %s: byte %u differs\n%s", (unsigned long long)seed, what, at,
             source->at);
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text ? strtoull(text, NULL, 0) : otherwise;
}

struct check {
    struct device *device;
    struct plan plan;
    struct memory memory;
    struct region regions[POINTERS];
    struct known known;
    struct text source;
    int32_t turns;
    uint8_t *before, *model;
    struct ppu_compiled bitcode;
};

static void check_begin(struct check *check, struct device *device)
{
    *check = (struct check){ .device = device };
    check->before = malloc(ALL_BYTES);
    check->model = malloc(DATA_BYTES);
    assert_non_null(check->before);
    assert_non_null(check->model);
}

static void check_end(struct check *check)
{
    ppu_compiled_free(&check->bitcode);
    free(check->before);
    free(check->model);
}

static void check_model(struct check *check)
{
    for (uint32_t i = 0; i < ALL_BYTES; i++) {
        check->before[i] = (uint8_t)below(256);
    }
    memcpy(check->model, check->before, ALL_BYTES);
    check->memory.at = check->model;
    memset(check->memory.low, 0xff, sizeof(check->memory.low));
    memset(check->memory.high, 0, sizeof(check->memory.high));
    check->turns = check->plan.loop ? (int32_t)below(TURNS + 1) : (int32_t)check->plan.straight;
    run_model(&check->plan, &check->memory, check->turns);
}

/* Nothing but what the model has reached is an argument's: what two have in common ends and begins close by. */
static void tighten(struct check *check)
{
    for (uint32_t p = 0; p < check->plan.pointers; p++) {
        uint64_t low = check->memory.low[p], high = check->memory.high[p];
        check->regions[p].start = low < high ? low : check->memory.address[p];
        check->regions[p].bytes = low < high ? high - low : 0;
    }
}

/* A new kernel, and what it is compiled from. */
static struct check *check_new(struct device *device, uint64_t seed)
{
    struct check *check = malloc(sizeof(*check));

    assert_non_null(check);
    state = seed * 7919;
    check_begin(check, device);
    check->plan = random_plan();
    write_kernel(&check->source, &check->plan);
    device->variant = &device_variants[0];
    assert_int_equal(ppu_compile_source(check->source.at, strlen(check->source.at), NULL, &check->bitcode),
                     PPU_COMPILE_OK);
    return check;
}

static void check_free(struct check *check)
{
    check_end(check);
    free(check);
}

/* Puts the arguments somewhere else, and runs the model and what is compiled for any launch. */
static void check_layout(struct check *check, uint64_t seed)
{
    choose_addresses(&check->plan, &check->memory, check->regions);
    check_model(check);
    if (chance(50)) {
        tighten(check);
    }
    device_load_bitcode(check->device, &check->bitcode, NULL);
    device_kernel(check->device, "k");
    add_accesses(check->device, &check->plan, check->regions);
    uint32_t at = run_both(check->device, &check->plan, &check->memory, check->turns, check->before, check->model);
    find_facts(&check->plan, &check->memory, check->regions, check->turns, &check->known);
    if (at != ALL_BYTES) {
        report(&check->source, &check->known, "compiled for any launch", seed, at);
    }
}

static uint32_t run_known(struct check *check)
{
    device_load_bitcode(check->device, &check->bitcode, &check->known.facts);
    return run_both(check->device, &check->plan, &check->memory, check->turns, check->before, check->model);
}

static void check_kernel(struct device *device, uint64_t seed)
{
    struct check *check = check_new(device, seed);

    for (uint32_t layout = 0; layout < LAYOUTS; layout++) {
        check_layout(check, seed);
        device->variant = &device_variants[layout == LAYOUTS - 1 ? below(device_variant_count) : 0];
        uint32_t at = run_known(check);
        if (at != ALL_BYTES) {
            report(&check->source, &check->known, device->variant->name, seed, at);
        }
        device->variant = &device_variants[0];
    }
    check_free(check);
}

/* ---- every distance ---- */

#define DISTANCES 20

enum direction {
    FORWARDS,
    BACKWARDS,
    STRAIGHT, /* no loop: what work-items reach is known */
    DIRECTIONS,
};

/* p1[i] = 2 * p0[i] + 7, and back with p2 between. */
static struct plan distance_plan(uint32_t type, enum direction direction)
{
    const struct operand p0 = { .pointer = 0, .stride = 1 }, p1 = { .pointer = 1, .stride = 1 },
                         p2 = { .pointer = 2, .stride = 1 };

    return (struct plan){ .pointers = 3,
                          .type = { type, type, type },
                          .statements = { { .to = p1, .a = p0, .b = p0, .operation = ADD, .constant = 7 },
                                          { .to = p0, .a = p2, .b = p1, .operation = XOR, .constant = 1 } },
                          .count = 2,
                          .reversed = direction == BACKWARDS,
                          .loop = direction != STRAIGHT,
                          .straight = 6,
                          .fixed = direction == STRAIGHT };
}

static void check_distance(struct check *check, int32_t distance, bool reach_known)
{
    uint32_t size = 1u << types[check->plan.type[0]].log2;

    for (uint32_t p = 0; p < check->plan.pointers; p++) {
        uint64_t start = DATA_VA + (p == 2 ? BUFFER_BYTES : 0);
        uint64_t address = start + MARGIN + (p == 1 ? (uint64_t)((int64_t)distance * size) : 0);
        check->memory.address[p] = address;
        check->regions[p] =
            (struct region){ .address = address, .start = start, .bytes = BUFFER_BYTES, .argument = (uint8_t)p };
    }
    device_load_bitcode(check->device, &check->bitcode, NULL);
    device_kernel(check->device, "k");
    assert_int_equal(add_accesses(check->device, &check->plan, check->regions), reach_known ? check->plan.pointers : 0);
    check_model(check);
    find_facts(&check->plan, &check->memory, check->regions, check->turns, &check->known);
    uint32_t at = run_known(check);
    if (at != ALL_BYTES) {
        report(&check->source, &check->known, "at a distance", 0, at);
    }
}

static void every_distance(void **context)
{
    for (uint32_t kind = 0; kind < 4 * DIRECTIONS; kind++) {
        struct check *check = check_new(*context, 1);
        enum direction direction = (enum direction)(kind % DIRECTIONS);
        ppu_compiled_free(&check->bitcode);
        check->plan = distance_plan(kind / DIRECTIONS, direction);
        write_kernel(&check->source, &check->plan);
        assert_int_equal(ppu_compile_source(check->source.at, strlen(check->source.at), NULL, &check->bitcode),
                         PPU_COMPILE_OK);
        for (int32_t distance = -DISTANCES; distance <= DISTANCES; distance++) {
            check_distance(check, distance, direction == STRAIGHT);
        }
        check_free(check);
    }
}

/* ---- work-items that keep apart ---- */

static const char halves[] = "kernel void k(global const float *in, global float *out)\n"
                             "{\n"
                             "    size_t i = get_global_id(0);\n"
                             "    out[2 * i] = in[4 * i] + in[4 * i + 1];\n"
                             "    out[2 * i + 1] = in[4 * i + 2] + in[4 * i + 3];\n"
                             "}\n";

#define HALVES 64u /* work-items */
#define BEHIND 4096u

/* Loads and stores of a work-item that reads and writes one buffer. */
static uint64_t accesses_of_halves(struct device *device, const struct ppu_compiled *bitcode,
                                   const struct ppu_compile_facts *facts)
{
    const uint64_t in = DATA_VA, out = DATA_VA + BEHIND;

    device_load_bitcode(device, bitcode, facts);
    device_kernel(device, "k");
    float *at = (float *)(void *)rig_data(device->rig, 0);
    for (uint32_t i = 0; i < 4 * HALVES; i++) {
        at[i] = (float)(i * i);
    }
    device_value(device, 0, &in, sizeof(in));
    device_value(device, 1, &out, sizeof(out));
    device->data_used = 2 * BEHIND;
    device->accesses = 0;
    free(device_reference(device, 1, 1, HALVES, 1));
    device_run(device, 1, 1, HALVES, 1);
    for (uint32_t i = 0; i < 2 * HALVES; i++) {
        assert_true(at[BEHIND / sizeof(float) + i] == at[2 * i] + at[2 * i + 1]);
    }
    return device->accesses;
}

/* Two arguments lead into one buffer, in steps that differ, so that no distance tells them apart: what they reach
 * does. */
static void work_items_keep_apart(void **context)
{
    struct device *device = *context;
    struct ppu_compiled bitcode;
    struct overlaps *overlaps = calloc(1, sizeof(*overlaps));
    struct region regions[2] = {
        { .address = DATA_VA, .start = DATA_VA, .bytes = 2 * BEHIND },
        { .address = DATA_VA + BEHIND, .start = DATA_VA, .bytes = 2 * BEHIND, .argument = 1 }
    };
    const struct plan plan = { .pointers = 2 };
    struct known known = { .arguments = { { .separate = 1, .align_log2 = 4 }, { .separate = 1, .align_log2 = 4 } } };

    assert_non_null(overlaps);
    device->variant = &device_variants[0];
    assert_int_equal(ppu_compile_source(halves, strlen(halves), NULL, &bitcode), PPU_COMPILE_OK);
    uint64_t base = accesses_of_halves(device, &bitcode, NULL);
    for (uint32_t narrow = 0; narrow < 2; narrow++) {
        if (narrow != 0) {
            device_load_bitcode(device, &bitcode, NULL);
            device_kernel(device, "k");
            assert_int_equal(add_accesses(device, &plan, regions), 2);
            region_narrow(&regions[0], &regions[0].reach, 0, HALVES - 1);
        }
        regions[1].writes = true;
        assert_true(overlaps_find(regions, 2, overlaps));
        assert_int_equal(overlaps->count, narrow == 0);
        known.pairs[0] = overlaps->pairs[0].pair;
        known.facts = (struct ppu_compile_facts){ "k", known.arguments, 2, known.pairs, overlaps->count, { 0 }, 0 };
        assert_int_equal(accesses_of_halves(device, &bitcode, &known.facts), narrow == 0 ? base * 2 / 3 : base / 3);
    }
    ppu_compiled_free(&bitcode);
    free(overlaps);
}

/* ---- vectors of three ---- */

#define THREES 64u

/* The fourth byte of each is no value of the program's. */
static const char threes[] =
    "struct one { char3 three; };\n"
    "kernel void k(global const char *in, global char4 *out) {\n"
    "    size_t i = get_global_id(0);\n"
    "    struct one value = { (char3)(in[i], in[i] + 1, 3 * in[i]) }, other = { value.three.yzx };\n"
    "    if (in[i] % 2) {\n"
    "        value = other;\n"
    "    }\n"
    "    *(global struct one *)(out + i) = value;\n"
    "}\n";

static void threes_keep_their_bytes(void **context)
{
    struct device *device = *context;
    struct ppu_compiled bitcode;
    const uint64_t in = DATA_VA, out = DATA_VA + BEHIND;
    struct ppu_compile_argument arguments[] = { { .separate = 1, .align_log2 = 4 },
                                                { .separate = 1, .align_log2 = 4 } };
    const struct ppu_compile_facts facts = { "k", arguments, 2, NULL, 0, { 0 }, 0 };
    uint8_t *const at = rig_data(device->rig, 0);

    device->variant = &device_variants[0];
    assert_int_equal(ppu_compile_source(threes, strlen(threes), NULL, &bitcode), PPU_COMPILE_OK);
    device_load_bitcode(device, &bitcode, &facts);
    device_kernel(device, "k");
    for (uint32_t i = 0; i < THREES; i++) {
        at[i] = (uint8_t)(i + 1);
    }
    device_value(device, 0, &in, sizeof(in));
    device_value(device, 1, &out, sizeof(out));
    device->data_used = 2 * BEHIND;
    free(device_reference(device, 1, 1, THREES, 1));
    device_run(device, 1, 1, THREES, 1);
    for (uint32_t i = 0; i < THREES; i++) {
        const uint8_t first[] = { (uint8_t)(i + 1), (uint8_t)(i + 2), (uint8_t)(3 * (i + 1)) };
        for (uint32_t n = 0; n < 3; n++) {
            assert_int_equal(at[BEHIND + 4 * i + n], first[(n + (i + 1) % 2) % 3]);
        }
    }
    ppu_compiled_free(&bitcode);
}

/* ---- beside what two arguments have in common ---- */

#define TAPS_AT 8
#define TAPS_TURNS 20
#define TAPS_WORDS 256u   /* of memory */
#define TAPS_BEFORE 96    /* words of it before the first argument */
#define TAPS_BEHIND 64    /* words that are the first argument's */
#define TAPS_DISTANCES 60 /* most, forwards and backwards */

/* A few constants lie in front of, or behind, what is written. */
static void write_taps(char *text, size_t bytes, int32_t taps)
{
    snprintf(text, bytes,
             "kernel void k(global const uint *p, global uint *q, int n)\n"
             "{\n"
             "    for (int i = 0; i < n; i++) {\n"
             "        uint sum = 0;\n"
             "        for (int j = 0; j < %d; j++) { sum += p[j + %d] * (j + 3u); }\n"
             "        q[i] += sum;\n"
             "    }\n"
             "}\n",
             taps, TAPS_AT);
}

static void run_taps_model(uint32_t *words, int32_t taps, int32_t distance)
{
    uint32_t *p = words + TAPS_BEFORE, *q = p + distance;

    for (int32_t i = 0; i < TAPS_TURNS; i++) {
        uint32_t sum = 0;
        for (int32_t j = 0; j < taps; j++) {
            sum += p[j + TAPS_AT] * ((uint32_t)j + 3u);
        }
        q[i] += sum;
    }
}

/* Loads and stores; UINT64_MAX: it computes something else. */
static uint64_t accesses_of_taps(struct device *device, const struct ppu_compiled *bitcode,
                                 const struct ppu_compile_facts *facts, int32_t taps, int32_t distance)
{
    const uint64_t p = DATA_VA + TAPS_BEFORE * 4, q = p + (uint64_t)((int64_t)distance * 4);
    uint32_t model[TAPS_WORDS];

    device_load_bitcode(device, bitcode, facts);
    device_kernel(device, "k");
    uint32_t *words = (uint32_t *)(void *)rig_data(device->rig, 0);
    for (uint32_t i = 0; i < TAPS_WORDS; i++) {
        model[i] = words[i] = i * 2654435761u;
    }
    run_taps_model(model, taps, distance);
    device_value(device, 0, &p, sizeof(p));
    device_value(device, 1, &q, sizeof(q));
    device_int(device, 2, TAPS_TURNS);
    device->data_used = sizeof(model);
    device->accesses = 0;
    uint8_t *reference = device_reference(device, 1, 1, 1, 1);
    device_run(device, 1, 1, 1, 1);
    bool same = memcmp(reference, model, sizeof(model)) == 0 && memcmp(words, model, sizeof(model)) == 0;
    free(reference);
    return same ? device->accesses : UINT64_MAX;
}

/* As the runtime finds it, of the two arguments. False: they have nothing in common. */
static bool find_taps(struct known *known, int32_t distance)
{
    struct overlaps *overlaps = calloc(1, sizeof(*overlaps));
    const uint64_t p = DATA_VA + TAPS_BEFORE * 4, q = p + (uint64_t)((int64_t)distance * 4);
    const struct region regions[2] = {
        { .address = p, .start = p, .bytes = TAPS_BEHIND * 4, .element_log2 = 2 },
        { .address = q, .start = q, .bytes = TAPS_TURNS * 4, .argument = 1, .element_log2 = 2, .writes = true },
    };

    assert_non_null(overlaps);
    assert_true(overlaps_find(regions, 2, overlaps));
    bool common = overlaps->count == 1 && overlaps->pairs[0].pair.relation == PPU_RELATION_OVERLAP;
    memset(known, 0, sizeof(*known));
    known->arguments[0].separate = known->arguments[1].separate = 1;
    known->pairs[0] = overlaps->pairs[0].pair;
    known->facts = (struct ppu_compile_facts){ "k", known->arguments, 3, known->pairs, 1, { 0 }, 0 };
    free(overlaps);
    return common;
}

/* What is read lies beside what they have in common, or in it: the loads leave the loop, or they must not. What is said
 * to be elsewhere is believed, and seen. */
static void beside_the_overlap(void **context)
{
    static const int32_t counts[] = { 1, 4, 30 };
    struct device *device = *context;
    uint32_t saved = 0, caught = 0;
    uint64_t sum[2] = { 0, 0 };

    device->variant = &device_variants[0];
    for (size_t c = 0; c < PPU_ARRAY_SIZE(counts); c++) {
        struct ppu_compiled bitcode;
        struct known known;
        char text[1024];
        write_taps(text, sizeof(text), counts[c]);
        assert_int_equal(ppu_compile_source(text, strlen(text), NULL, &bitcode), PPU_COMPILE_OK);
        for (int32_t distance = -TAPS_DISTANCES; distance <= TAPS_DISTANCES; distance++) {
            if (!find_taps(&known, distance)) {
                continue;
            }
            bool beside = distance >= TAPS_AT + counts[c] || distance + TAPS_TURNS <= TAPS_AT;
            uint64_t with = accesses_of_taps(device, &bitcode, &known.facts, counts[c], distance);
            uint64_t bytes = known.pairs[0].bytes;
            known.pairs[0].bytes = 0;
            uint64_t without = accesses_of_taps(device, &bitcode, &known.facts, counts[c], distance);
            assert_true(with != UINT64_MAX && without != UINT64_MAX && with <= without);
            assert_true(!beside || abs(distance) < PPU_DISTANCE_MAX || with < without); /* nearer, distances tell */
            sum[0] += beside ? without : 0;
            sum[1] += beside ? with : 0;
            saved += beside;
            known.pairs[0].bytes = bytes;
            known.pairs[0].start[0] = known.pairs[0].start[1] = 1 << 20;
            if (!beside) {
                caught += accesses_of_taps(device, &bitcode, &known.facts, counts[c], distance) == UINT64_MAX;
            }
        }
        ppu_compiled_free(&bitcode);
    }
    print_message("# %u places beside: %.2f times fewer loads and stores; %u wrong ones seen\n", saved,
                  (double)sum[0] / (double)sum[1], caught);
    assert_true(saved > 50 && caught > 20);
}

/* ---- wrong relations ---- */

#define WRONG_KERNELS 25u /* at most: one that computes something else is enough */

static void without_overlaps(struct known *known)
{
    known->facts.pair_count = 0;
}

static void with_other_distances(struct known *known)
{
    for (uint32_t i = 0; i < known->facts.pair_count; i++) {
        struct ppu_compile_pair *pair = &known->pairs[i];
        pair->relation = PPU_RELATION_OVERLAP;
        pair->exact = true;
        pair->distance = (int8_t)(pair->distance >= 0 ? pair->distance - 1 : pair->distance + 1);
    }
}

static void as_far_apart(struct known *known)
{
    for (uint32_t i = 0; i < known->facts.pair_count; i++) {
        struct ppu_compile_pair *pair = &known->pairs[i];
        pair->relation = PPU_RELATION_OVERLAP;
        pair->distance = (int8_t)(pair->distance >= 0 ? PPU_DISTANCE_MAX : -PPU_DISTANCE_MAX);
    }
}

static void with_other_bounds(struct known *known)
{
    known->facts.argument_count = POINTERS + 2;
    for (uint32_t i = 0; i < POINTERS + 2; i++) {
        if (known->arguments[i].separate == 0) {
            known->arguments[i] = (struct ppu_compile_argument){ .constant = 1, .value = 1 };
        }
    }
}

static const struct {
    const char *name;
    void (*falsify)(struct known *known);
} lies[] = {
    { "overlaps that are said to be none", without_overlaps },
    { "distances that are others", with_other_distances },
    { "distances that are said to be long", as_far_apart },
    { "constants that are others", with_other_bounds },
};

/* What is wrong may also leave the memory there is. */
static bool is_noticed(struct check *check)
{
    const char *why;

    device_load_bitcode(check->device, &check->bitcode, &check->known.facts);
    set_arguments(check->device, &check->plan, &check->memory, check->turns);
    memcpy(rig_data(check->device->rig, 0), check->before, ALL_BYTES);
    uint8_t *reference = device_try_reference(check->device, 1, 1, ITEMS, 1, &why);
    bool noticed = why || first_difference(reference, check->model) != ALL_BYTES;
    free(reference);
    return noticed;
}

static void wrong_relations(void **context)
{
    for (size_t l = 0; l < PPU_ARRAY_SIZE(lies); l++) {
        bool noticed = false;
        for (uint64_t seed = 1; seed <= WRONG_KERNELS && !noticed; seed++) {
            struct check *check = check_new(*context, seed);
            check_layout(check, seed);
            lies[l].falsify(&check->known);
            noticed = is_noticed(check);
            check_free(check);
        }
        if (!noticed) {
            fail_msg("%s: %u kernels computed the same", lies[l].name, WRONG_KERNELS);
        }
    }
}

static void random_kernels(void **context)
{
    uint64_t seed = number_of("PPU_SEED", 1), count = number_of("PPU_ALIAS_KERNELS", KERNELS);

    for (uint64_t i = 0; i < count; i++) {
        check_kernel(*context, seed + i);
    }
}

static int setup(void **context)
{
    *context = device_new();
    return 0;
}

static int teardown(void **context)
{
    device_free(*context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "random kernels with random overlaps compute what they do without facts [F3][F4][F7]", random_kernels, setup,
          teardown, NULL },
        { "every distance from -20 to 20 of every size, forwards, backwards and straight [F2][F4][F5][F8]",
          every_distance, setup, teardown, NULL },
        { "arguments in one buffer whose work-items keep apart are joined like others [F1][F8]", work_items_keep_apart,
          setup, teardown, NULL },
        { "vectors of three bytes are stored as words, and keep their values [F8]", threes_keep_their_bytes, setup,
          teardown, NULL },
        { "what is read beside the bytes in common leaves the loop, and nothing else [F2][F4]", beside_the_overlap,
          setup, teardown, NULL },
        { "relations that are wrong are noticed [F2][F4]", wrong_relations, setup, teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: facts about launches", tests, NULL, NULL);
}
