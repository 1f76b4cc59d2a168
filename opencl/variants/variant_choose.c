/* SPDX-License-Identifier: MIT */
#include "opencl/variants/variant_choose.h"

#include <stdio.h>
#include <string.h>

#include "opencl/api/buffer.h"
#include "opencl/api/svm.h"
#include "opencl/build/fnv.h"
#include "opencl/variants/variant.h"
#include "ppu/macros.h"

#define SEEN_OFTEN 2u /* launches one after the other with the same value: it is compiled for that */

struct choice {
    cl_kernel kernel;
    const struct launch *launch;
    struct variants *variants;
    uint32_t index; /* of the kernel in the image */
    struct region regions[OVERLAP_ARGUMENTS];
    uint32_t region_count;
    uint8_t above[OVERLAP_ARGUMENTS]; /* of values that are compared with ids: dimensions whose ids they are above */
    bool fits;                        /* there are some */
    struct overlaps overlaps;
    struct variant_key key;
    struct variant *variant; /* in use; NULL: the base */
    const char *why;         /* the base is used; NULL: it is not */
};

/* ---- what is known ---- */

static uint64_t value_of(const struct choice *choice, uint32_t i)
{
    const struct ppu_argument_entry *argument = &choice->kernel->descriptions[i];
    uint64_t value = 0;

    memcpy(&value, choice->launch->params + argument->offset,
           argument->bytes < sizeof(value) ? argument->bytes : sizeof(value));
    return value;
}

/* The buffer that an argument names; NULL: none. */
static cl_mem memory_of(const struct choice *choice, const struct ppu_argument_entry *entry)
{
    const struct launch *launch = choice->launch;
    uint32_t at = 0;

    while (at < launch->memories && launch->memory[at].offset != entry->offset) {
        at++;
    }
    return at < launch->memories ? launch->memory[at].memory : NULL;
}

/* Finds what may be reached through an argument; false: nobody knows. */
static bool find_region(const struct choice *choice, uint32_t i, struct region *region)
{
    const struct ppu_argument_entry *entry = &choice->kernel->descriptions[i];

    *region = (struct region){ .address = value_of(choice, i),
                               .argument = (uint8_t)i,
                               .element_log2 = entry->element_log2,
                               .writes = (entry->references & PPU_REFERENCE_WRITE) != 0 };
    cl_mem memory = memory_of(choice, entry);
    if (!memory && region->address != 0) {
        return svm_piece(choice->kernel->program->context, (const void *)(uintptr_t)region->address, &region->start,
                         &region->bytes);
    }
    if (memory) {
        region->start = region->address;
        region->bytes = memory->bytes;
    }
    return true;
}

static bool is_memory(const struct ppu_argument_entry *argument)
{
    return argument->kind == PPU_ARGUMENT_GLOBAL || argument->kind == PPU_ARGUMENT_CONSTANT;
}

static uint32_t argument_count(const struct choice *choice)
{
    uint32_t count = choice->kernel->entry->argument_count;

    return PPU_MIN(count, OVERLAP_ARGUMENTS);
}

/* One more than the last global id of a dimension. */
static uint64_t ids_end(const struct choice *choice, uint32_t dimension)
{
    const struct ppu_launch *shape = &choice->launch->launch;
    uint64_t grid = (uint64_t)shape->grid[dimension] * shape->cta[dimension];
    uint32_t missing = shape->edge[dimension] > 0 ? shape->cta[dimension] - shape->edge[dimension] : 0;

    return shape->implicit.global_offset[dimension] + grid - missing;
}

static void find_regions(struct choice *choice)
{
    uint64_t first = choice->launch->launch.implicit.global_offset[0], last = ids_end(choice, 0) - 1;

    for (uint32_t i = 0; i < argument_count(choice); i++) {
        const struct ppu_argument_entry *argument = &choice->kernel->descriptions[i];
        bool used = is_memory(argument) && argument->references != 0;
        if (used && find_region(choice, i, &choice->regions[choice->region_count])) {
            region_narrow(&choice->regions[choice->region_count++], &argument->reach, first, last);
        }
    }
}

/* Whether the argument, as a signed number, is above all ids of a dimension, and those are small (ppu_compiler.h). */
static bool is_above(const struct choice *choice, uint32_t i, uint32_t dimension)
{
    uint32_t bytes = choice->kernel->descriptions[i].bytes;
    uint64_t end = ids_end(choice, dimension), value = value_of(choice, i);
    uint64_t most = bytes == sizeof(uint32_t) ? INT32_MAX : INT64_MAX;

    return (bytes == sizeof(uint32_t) || bytes == sizeof(uint64_t)) && end <= PPU_MAX_SMALL_ID && value >= end &&
           value <= most;
}

static void find_above(struct choice *choice)
{
    for (uint32_t i = 0; i < argument_count(choice); i++) {
        const struct ppu_argument_entry *argument = &choice->kernel->descriptions[i];
        uint32_t above = 0;
        for (uint32_t d = 0; d < 3; d++) {
            bool compared = argument->kind == PPU_ARGUMENT_VALUE && (argument->references & PPU_REFERENCE_IDS(d)) != 0;
            above |= compared && is_above(choice, i, d) ? 1u << d : 0;
        }
        choice->above[i] = (uint8_t)above;
        choice->fits |= above != 0;
    }
}

static void add_above(struct choice *choice)
{
    for (uint32_t i = 0; i < argument_count(choice); i++) {
        if (choice->above[i] != 0) {
            variant_key_add_above(&choice->key, (uint8_t)i, choice->above[i]);
        }
    }
}

static void add_small_ids(struct choice *choice)
{
    bool small = (choice->kernel->entry->gains & PPU_KERNEL_GAINS_SMALL_IDS) != 0;

    for (uint32_t d = 0; d < 3; d++) {
        small = small && ids_end(choice, d) <= PPU_MAX_SMALL_ID;
    }
    if (small) {
        variant_key_add_small_ids(&choice->key);
    }
}

/* True when it is what it was in the launch before. */
static bool stays(struct variant_seen *seen, uint64_t value)
{
    seen->times = seen->value == value ? seen->times + 1 : 1;
    seen->value = value;
    return seen->times >= SEEN_OFTEN;
}

/* With the lock: the work-groups' size, when it stays what it is, and all have it. */
static void add_work_group(struct choice *choice)
{
    const struct launch *launch = choice->launch;
    uint32_t work_group[3];
    uint64_t all = 0;

    if ((choice->kernel->entry->gains & PPU_KERNEL_GAINS_WORK_GROUP) == 0) {
        return;
    }
    for (uint32_t d = 0; d < 3; d++) {
        work_group[d] = launch->launch.edge[d] != 0 ? 0 : launch->launch.cta[d];
        all = all << 16 | work_group[d];
    }
    if (stays(&choice->variants->kernels[choice->index].seen_work_group, all)) {
        variant_key_add_work_group(&choice->key, work_group);
    }
}

/* With the lock: values that end loops, when they stay what they are. */
static void add_constants(struct choice *choice)
{
    struct kernel_variants *of = &choice->variants->kernels[choice->index];

    for (uint32_t i = 0; i < argument_count(choice); i++) {
        const struct ppu_argument_entry *argument = &choice->kernel->descriptions[i];
        if (argument->kind != PPU_ARGUMENT_VALUE || (argument->references & PPU_REFERENCE_BOUND) == 0) {
            continue;
        }
        const struct variant_constant constant = { (uint8_t)i, value_of(choice, i) };
        if (stays(&of->seen[i], constant.value)) {
            variant_key_add_constant(&choice->key, &constant);
        }
    }
}

static const struct region *region_of(const struct choice *choice, uint32_t argument)
{
    const struct region *region = choice->regions;

    while (region->argument != argument) {
        region++;
    }
    return region;
}

/* Some of what it leads to is not common, and the compiler may bound what is reached, which the runtime cannot. */
static bool may_be_beside(const struct choice *choice, uint8_t i, const struct ppu_compile_pair *pair)
{
    const struct ppu_argument_entry *argument = &choice->kernel->descriptions[i];

    return (argument->references & PPU_REFERENCE_BY_ANY) == 0 && argument->reach.low == argument->reach.high &&
           region_of(choice, i)->bytes > pair->bytes;
}

static bool gains_from_common(const struct choice *choice, const struct ppu_compile_pair *pair)
{
    return pair->relation == PPU_RELATION_OVERLAP &&
           (may_be_beside(choice, pair->first, pair) || may_be_beside(choice, pair->second, pair));
}

/* With the lock: what overlapping arguments have in common, when that stays what it is. */
static void add_common(struct choice *choice)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < choice->overlaps.count; i++) {
        const struct ppu_compile_pair *pair = &choice->overlaps.pairs[i].pair;
        sum = sum * 31u + (gains_from_common(choice, pair) ? fnv_of(pair, sizeof(*pair)) : 0);
    }
    if (sum == 0 || !stays(&choice->variants->kernels[choice->index].seen_common, sum)) {
        return;
    }
    for (uint32_t i = 0; i < choice->overlaps.count; i++) {
        const struct ppu_compile_pair *pair = &choice->overlaps.pairs[i].pair;
        if (gains_from_common(choice, pair)) {
            variant_key_add_common(&choice->key, pair);
        }
    }
}

/* ---- printing ---- */

static void print_region(const struct region *region)
{
    const unsigned long long start = region->start, bytes = region->bytes;

    fprintf(stderr, "ppu:   argument %u: 0x%llx to 0x%llx, %llu bytes%s", region->argument, start, start + bytes, bytes,
            region->writes ? ", written" : "");
    if (region->reach.low < region->reach.high) {
        fprintf(stderr, "; each work-item %d to %d, step %d", region->reach.low, region->reach.high,
                region->reach.step);
    }
    fputc('\n', stderr);
}

static void print_overlap(const struct choice *choice, const struct overlap *overlap)
{
    const struct region *first = region_of(choice, overlap->pair.first);
    const unsigned long long start = overlap->start, bytes = overlap->pair.bytes;

    fprintf(stderr, "ppu:   arguments %u and %u: %s, 0x%llx to 0x%llx, %llu bytes, distance %lld bytes%s\n",
            overlap->pair.first, overlap->pair.second,
            overlap->pair.relation == PPU_RELATION_IDENTICAL ? "identical" : "overlap", start, start + bytes, bytes,
            (long long)overlap->distance_bytes, first->bytes == overlap->pair.bytes ? ", the first whole" : "");
}

static double ns_of(struct variant_time time)
{
    return time.items != 0 ? (double)time.ns / (double)time.items : 0;
}

static void print_gain(const struct choice *choice)
{
    double base = ns_of(choice->variants->kernels[choice->index].time);
    double now = choice->variant ? ns_of(choice->variant->time) : 0;

    if (base > 0 && now > 0) {
        fprintf(stderr, "ppu:   gain %.2f: %.2f ns a work-item, base %.2f\n", base / now, now, base);
    } else {
        fprintf(stderr, "ppu:   gain not measured yet\n");
    }
}

/* With the lock. */
static void print(const struct choice *choice, const char *name)
{
    const struct kernel_variants *of = &choice->variants->kernels[choice->index];
    char facts[1024];

    fprintf(stderr,
            "ppu: kernel '%s': %u pairs of references, %u overlap, %u of them identical, %u "
            "disjoint in each work-item\n",
            kernel_text(choice->kernel, choice->kernel->entry->name), choice->overlaps.references,
            choice->overlaps.count, choice->overlaps.identical, choice->overlaps.disjoint);
    for (uint32_t i = 0; i < choice->region_count; i++) {
        print_region(&choice->regions[i]);
    }
    for (uint32_t i = 0; i < choice->overlaps.count; i++) {
        print_overlap(choice, &choice->overlaps.pairs[i]);
    }
    variant_key_print(&choice->key, facts, sizeof(facts));
    fprintf(stderr, "ppu:   facts%s\n", facts);
    fprintf(stderr, "ppu:   variant %s%s%s; %u compiled, %u of them again, %u found in the cache\n", name,
            choice->why ? ": " : "", choice->why ? choice->why : "", of->compiled, of->recompiled, of->cached);
    print_gain(choice);
}

/* ---- choosing ---- */

/* Some pair of references is not the same memory, and one of the two is written; or ids need not be compared. */
static bool is_worth_it(struct choice *choice)
{
    if (choice->variants->level == VARIANT_OFF) {
        choice->why = "switched off";
    } else if (choice->launch->workq) {
        choice->why = "it fills a work queue, whose work may outlive it";
    } else if (!overlaps_find(choice->regions, choice->region_count, &choice->overlaps)) {
        choice->why = "too many arguments overlap";
    } else if (choice->fits) {
        return true;
    } else if (choice->overlaps.references == 0) {
        choice->why = "no two references of which one writes, and no id less to compare";
    } else if (choice->overlaps.references == choice->overlaps.identical) {
        choice->why = "all are identical";
    }
    return !choice->why;
}

/* The variant is not ready: its why. Gives it back. */
static void give_up(struct choice *choice, struct variant *variant)
{
    choice->why = variant->state == VARIANT_COMPILING  ? "its variant is being compiled"
                  : variant->state == VARIANT_DEFERRED ? "its launches are too short so far for a variant"
                                                       : variant->why;
    pthread_mutex_unlock(&choice->variants->lock);
    variant_drop(variant);
    pthread_mutex_lock(&choice->variants->lock);
}

/* Every work-group that the base variant can have must be possible. */
static uint32_t registers_of(const struct _cl_kernel *kernel)
{
    return kernel->program->context->device->info->sm_vregs / (uint32_t)kernel_max_work_group(kernel);
}

/* With the lock: as long as waiting is worth it. */
static void await(const struct choice *choice, struct variant *variant)
{
    struct variant_forecast forecast = {
        .items = launch_items(choice->launch),
        .percent =
            choice->overlaps.references > choice->overlaps.identical ? VARIANT_PERCENT_APART : VARIANT_PERCENT_IDS,
    };

    variant_await_search(variant);
    variant_forecast(variant, &forecast);
    if (variant->state == VARIANT_DEFERRED && variant_is_earned(&choice->variants->patience, &forecast)) {
        variant_compile(variant, choice->kernel->program);
    }
    if (variant->state == VARIANT_COMPILING) {
        variant_await(variant, variant_wait_ns(&choice->variants->patience, &forecast));
    }
}

/* With the lock. */
static void use(struct choice *choice, bool start)
{
    struct variant *variant = variant_find(choice->variants, choice->index, &choice->key);

    if (!variant && start) {
        variant = variant_start(choice->variants, choice->kernel->program, choice->index, &choice->key,
                                registers_of(choice->kernel));
    }
    if (!variant) {
        choice->why = choice->why ? choice->why : "there is no memory for a variant";
        return;
    }
    await(choice, variant);
    if (variant->state != VARIANT_READY) {
        give_up(choice, variant);
        return;
    }
    choice->variant = variant;
    choice->why = NULL;
}

/* With the lock. While the one for constants is not there, the one without serves. */
static void find_variant(struct choice *choice)
{
    variant_key_set(&choice->key, choice->variants->level, choice->regions, choice->region_count, &choice->overlaps);
    add_above(choice);
    if (choice->variants->level >= VARIANT_ALL) {
        add_small_ids(choice);
    }
    struct variant_key without = choice->key;
    if (choice->variants->level >= VARIANT_ALL) {
        add_constants(choice);
        add_common(choice);
        add_work_group(choice);
    }
    use(choice, true);
    if (!choice->variant && !variant_key_equal(&without, &choice->key)) {
        choice->key = without;
        use(choice, false);
    }
}

static void write_name(const struct choice *choice, char name[EVENT_VARIANT_BYTES])
{
    char facts[EVENT_VARIANT_BYTES - 12];

    snprintf(name, EVENT_VARIANT_BYTES, "base");
    if (choice->variant) {
        variant_key_print(&choice->variant->key, facts, sizeof(facts));
        snprintf(name, EVENT_VARIANT_BYTES, "%u:%s", choice->variant->number, facts);
    }
}

static void choose_for_launch(struct choice *choice, struct launch *launch, uint32_t ppu_index,
                              char name[EVENT_VARIANT_BYTES])
{
    find_regions(choice);
    if (choice->variants->level >= VARIANT_ALL) {
        find_above(choice);
    }
    bool worth = is_worth_it(choice);
    pthread_mutex_lock(&choice->variants->lock);
    if (worth) {
        find_variant(choice);
    }
    write_name(choice, name);
    if (choice->variants->prints) {
        print(choice, name);
    }
    pthread_mutex_unlock(&choice->variants->lock);
    launch->variants = choice->variants;
    launch->index = choice->index;
    if (choice->variant) {
        launch->variant = choice->variant;
        launch->kernel = choice->variant->code.kernel[ppu_index];
    }
}

void variant_choose(cl_kernel kernel, struct launch *launch, uint32_t ppu_index, char name[EVENT_VARIANT_BYTES])
{
    struct choice choice;

    snprintf(name, EVENT_VARIANT_BYTES, "base");
    if (!kernel->program->variants) {
        return;
    }
    choice.kernel = kernel;
    choice.launch = launch;
    choice.variants = kernel->program->variants;
    choice.index = (uint32_t)(kernel->entry - kernel->program->view.kernels);
    choice.region_count = 0;
    memset(choice.above, 0, sizeof(choice.above));
    choice.fits = false;
    choice.overlaps.count = choice.overlaps.references = choice.overlaps.identical = choice.overlaps.disjoint = 0;
    choice.key.argument_count = choice.key.pair_count = 0;
    memset(choice.key.work_group, 0, sizeof(choice.key.work_group));
    choice.key.small_ids = 0;
    choice.variant = NULL;
    choice.why = NULL;
    choose_for_launch(&choice, launch, ppu_index, name);
}
