/* SPDX-License-Identifier: MIT */
#include "opencl/api/footprint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/sanitize.h"
#include "opencl/submit/sanitizer.h"
#include "ppu/macros.h"

#define SPOTS_MOST (1u << 20) /* of all launches that are kept; what is beyond is not looked at */
#define ADDRESS_BITS 56u      /* of a key; above them is the width */

/* What a launch has done to a place in memory: notes of work-items (device-lib/opencl/sanitize/race.cl), or 0. */
struct spot {
    uint64_t key, write, read, update;
};

struct footprint {
    struct spot *spots; /* by their keys */
    size_t count, room;
    bool acquired; /* some group has learned of others by an atomic operation, and may be ordered with anybody */
    bool signals;  /* an atomic operation may have told others how far it is */
    struct print_source source;        /* without its view, which may be gone */
    struct ppu_sanitizer_site **sites; /* by their formats; NULL: no place names it */
    uint32_t formats;
    struct ppu_sanitizer_node *nodes; /* what the launch has enqueued, from 1 on */
    uint32_t node_count;
    struct work_span reads, writes; /* of a command of the host, */
    const char *command;            /* and its function; NULL: it is a launch */
};

struct track {
    uint64_t beside;             /* tracks of launches that nothing orders with this one */
    uint64_t number;             /* of launches: a later one has a larger number */
    struct footprint *footprint; /* NULL: it has not ended, or is not looked at */
    bool used, ended;
};

struct footprints {
    struct track track[FOOTPRINT_TRACKS];
    uint64_t launches;
    size_t spots;
};

static uint64_t bit(uint32_t track)
{
    return (uint64_t)1 << track;
}

/* ---- what orders launches ---- */

void footprint_follow(cl_event event, const struct _cl_event *other)
{
    event->after |= other->after | (other->track != 0 ? bit(other->track - 1) : 0);
    event->gated |= other->gated || !other->queue;
}

static struct footprints *footprints_of(cl_context context)
{
    if (!context->footprints) {
        context->footprints = calloc(1, sizeof(*context->footprints));
    }
    return context->footprints;
}

/* A launch that has ended is kept for those beside it that have not. */
static bool is_needed(const struct footprints *all, const struct track *track)
{
    bool needed = !track->ended;

    for (uint32_t i = 0; i < FOOTPRINT_TRACKS; i++) {
        needed |= (track->beside & bit(i)) != 0 && !all->track[i].ended;
    }
    return needed;
}

static void put_beside(struct footprints *all, uint32_t own, uint64_t after)
{
    for (uint32_t i = 0; i < FOOTPRINT_TRACKS; i++) {
        if (i != own && all->track[i].used && !all->track[i].ended && (after & bit(i)) == 0) {
            all->track[own].beside |= bit(i);
            all->track[i].beside |= bit(own);
        }
    }
}

/* True for a command of the host that moves bytes. */
static bool moves(const struct _cl_event *event)
{
    return (event->work.reads.bytes | event->work.writes.bytes) != 0 && sanitize_finds_races();
}

/* A launch that ends from now on is compared with the command of the host, if it is beside it. */
static void publish(struct footprints *all, cl_event event)
{
    struct track *track = &all->track[event->track - 1];
    struct footprint *footprint = event->failed || track->footprint ? NULL : calloc(1, sizeof(*footprint));

    if (footprint) {
        footprint->reads = event->work.reads;
        footprint->writes = event->work.writes;
        footprint->command = event_command_name(event);
        track->footprint = footprint;
    }
}

void footprint_begin(cl_event event)
{
    const struct print_source *source = &event->work.prints;
    const bool notes = ((source->tables & PPU_SANITIZER_HAS_CELLS) != 0 && source->cta[0] != 0) || moves(event);
    struct footprints *all = notes && context_is_parallel(event->context) ? footprints_of(event->context) : NULL;

    for (uint32_t i = 0; all && i < FOOTPRINT_TRACKS && event->track == 0; i++) {
        if (!all->track[i].used) {
            all->track[i] = (struct track){ .used = true, .number = ++all->launches };
            event->track = i + 1;
            put_beside(all, i, event->after);
        }
    }
    if (all && event->track != 0 && moves(event) && !event->gated) {
        publish(all, event);
    }
}

void footprint_issue(cl_event event)
{
    struct footprints *all = event->context->footprints;

    for (uint32_t i = 0; event->track != 0 && event->gated && i < FOOTPRINT_TRACKS; i++) {
        if (all->track[i].ended) {
            all->track[i].beside &= ~bit(event->track - 1);
            all->track[event->track - 1].beside &= ~bit(i);
        }
    }
    if (all && event->track != 0 && moves(event)) {
        publish(all, event);
    }
}

/* ---- what a launch has done ---- */

static void footprint_free(struct footprint *footprint)
{
    for (uint32_t i = 0; footprint && footprint->sites && i < footprint->formats; i++) {
        free(footprint->sites[i]);
    }
    if (footprint) {
        free(footprint->sites);
        free(footprint->spots);
        free(footprint->nodes);
    }
    free(footprint);
}

static void track_free(struct footprints *all, struct track *track)
{
    all->spots -= track->footprint ? track->footprint->count : 0;
    footprint_free(track->footprint);
    track->footprint = NULL;
    track->used = false;
}

void footprint_end(cl_event event)
{
    struct footprints *all = event->context->footprints;

    if (event->track == 0) {
        return;
    }
    all->track[event->track - 1].ended = true;
    if (event->status < 0 && moves(event)) { /* it has done nothing */
        footprint_free(all->track[event->track - 1].footprint);
        all->track[event->track - 1].footprint = NULL;
    }
    for (uint32_t i = 0; i < FOOTPRINT_TRACKS; i++) {
        if (all->track[i].used && !is_needed(all, &all->track[i])) {
            track_free(all, &all->track[i]);
        }
    }
}

void footprints_free(struct footprints *footprints)
{
    for (uint32_t i = 0; footprints && i < FOOTPRINT_TRACKS; i++) {
        footprint_free(footprints->track[i].footprint);
    }
    free(footprints);
}

static int compare_keys(const void *a, const void *b)
{
    const struct spot *first = a, *second = b;

    return (first->key > second->key) - (first->key < second->key);
}

/* Calls `visit` for each cell that something was noted in. */
static void each_cell(const struct ppu_sanitizer_cells *cells, struct footprint *footprint,
                      void (*visit)(const struct ppu_sanitizer_cells *cells, uint32_t cell,
                                    struct footprint *footprint))
{
    for (uint32_t row = 0; row < PPU_SANITIZER_CELL_ROWS; row++) {
        for (uint32_t i = 0; i < PPU_SANITIZER_ROW_CELLS && cells->used[row] != 0; i++) {
            visit(cells, row * PPU_SANITIZER_ROW_CELLS + i, footprint);
        }
    }
}

static void count_cell(const struct ppu_sanitizer_cells *cells, uint32_t cell, struct footprint *footprint)
{
    const uint64_t kind = cells->key[cell] & PPU_SANITIZER_KEYS;

    footprint->count += kind == PPU_SANITIZER_KEY_GLOBAL;
    footprint->acquired |= kind == PPU_SANITIZER_KEY_GROUP && cells->write[cell] != 0;
}

/* A kernel that has gone wild may write to cells still: what it adds finds no room. */
static void take_cell(const struct ppu_sanitizer_cells *cells, uint32_t cell, struct footprint *footprint)
{
    const struct spot spot = { cells->key[cell], cells->write[cell], cells->read[cell], cells->update[cell] };

    if ((spot.key & PPU_SANITIZER_KEYS) == PPU_SANITIZER_KEY_GLOBAL && footprint->count < footprint->room) {
        footprint->spots[footprint->count++] = spot;
        footprint->signals |= spot.update != 0;
    }
}

static bool take_site(struct footprint *footprint, uint64_t note)
{
    static const uint32_t nothing[PPU_SANITIZER_WORDS];
    struct ppu_sanitizer_report report;
    const uint32_t format = ((uint32_t)note & PPU_SANITIZER_FORMATS) - 1;

    if (note == 0 || format >= footprint->formats || footprint->sites[format]) {
        return true;
    }
    if (!ppu_sanitizer_read(footprint->source.view, format, nothing, PPU_SANITIZER_WORDS, &report)) {
        return true;
    }
    footprint->sites[format] = malloc(sizeof(report.site));
    if (footprint->sites[format]) {
        *footprint->sites[format] = report.site;
    }
    return footprint->sites[format];
}

/* False: no memory. */
static bool take_nodes(struct footprint *footprint, const struct ppu_sanitizer_cells *cells)
{
    const uint64_t count = cells->numbers >> 32;

    footprint->node_count = count < PPU_SANITIZER_NODES ? (uint32_t)count : PPU_SANITIZER_NODES;
    footprint->nodes = calloc(footprint->node_count + (size_t)1, sizeof(footprint->nodes[0]));
    if (footprint->nodes) {
        memcpy(footprint->nodes, cells->node, footprint->node_count * sizeof(footprint->nodes[0]));
    }
    return footprint->nodes;
}

/* NULL: nothing is known of what it did, or no memory. */
static struct footprint *footprint_new(const struct print_source *source, const struct ppu_sanitizer_cells *cells)
{
    struct footprint *footprint = calloc(1, sizeof(*footprint));

    if (!footprint) {
        return NULL;
    }
    each_cell(cells, footprint, count_cell);
    footprint->source = *source;
    footprint->formats = source->view->header->formats;
    footprint->spots = calloc(footprint->count + 1, sizeof(footprint->spots[0]));
    footprint->sites = calloc(footprint->formats + 1, sizeof(struct ppu_sanitizer_site *));
    bool done = take_nodes(footprint, cells) && footprint->spots && footprint->sites && !footprint->acquired;
    footprint->room = footprint->count;
    footprint->count = 0;
    if (done) {
        each_cell(cells, footprint, take_cell);
        qsort(footprint->spots, footprint->count, sizeof(footprint->spots[0]), compare_keys);
    }
    for (size_t i = 0; i < footprint->count && done; i++) {
        const struct spot *spot = &footprint->spots[i];
        done =
            take_site(footprint, spot->write) && take_site(footprint, spot->read) && take_site(footprint, spot->update);
    }
    footprint->source.view = NULL;
    if (!done) {
        footprint_free(footprint);
        return NULL;
    }
    return footprint;
}

/* ---- races ---- */

/* The shape of a grid; z is what is left. */
struct shape {
    uint32_t first, grid[3], cta[3], edge[3];
    uint64_t offset[3];
};

static struct shape shape_of(const struct footprint *footprint, uint32_t number)
{
    const struct print_source *source = &footprint->source;
    struct shape shape = { .first = 0, .grid = { 1, 1, 1 }, .cta = { 1, 1, 1 } };

    for (uint32_t n = 1; n < footprint->node_count; n++) {
        const struct ppu_sanitizer_node *node = &footprint->nodes[n];
        if (number >= node->first && number - node->first < node->work_groups) {
            shape.first = node->first;
            for (uint32_t i = 0; i < PPU_ARRAY_SIZE(node->grid); i++) {
                shape.grid[i] = node->grid[i];
                shape.cta[i] = node->cta[i];
                shape.edge[i] = node->edge[i];
            }
            shape.grid[2] = UINT32_MAX;
            shape.cta[2] = PPU_SANITIZER_IDS + 1;
            return shape;
        }
    }
    memcpy(shape.grid, source->grid, sizeof(shape.grid));
    memcpy(shape.cta, source->cta, sizeof(shape.cta));
    memcpy(shape.edge, source->edge, sizeof(shape.edge));
    memcpy(shape.offset, source->offset, sizeof(shape.offset));
    return shape;
}

/* Numbers of work-items count by the size of their group, which is another one at an edge. `global_id`: or NULL. */
static void split_id(const struct footprint *footprint, uint64_t note, uint64_t global_id[3], uint32_t local_id[3],
                     uint32_t work_group[3])
{
    uint32_t tid = (uint32_t)(note >> PPU_SANITIZER_NOTE_ID) & PPU_SANITIZER_IDS;
    uint32_t number = (uint32_t)(note >> PPU_SANITIZER_NOTE_GROUP);
    const struct shape shape = shape_of(footprint, number);

    number -= shape.first;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t across = PPU_MAX(shape.grid[i], 1);
        work_group[i] = number % across;
        number /= across;
        const bool last = work_group[i] + 1 == across && shape.edge[i] != 0;
        const uint32_t threads = PPU_MAX(last ? shape.edge[i] : shape.cta[i], 1);
        local_id[i] = tid % threads;
        tid /= threads;
        if (global_id) {
            global_id[i] = shape.offset[i] + (uint64_t)work_group[i] * shape.cta[i] + local_id[i];
        }
    }
}

static const struct ppu_sanitizer_site *site_of(const struct footprint *footprint, uint64_t note)
{
    const uint32_t format = ((uint32_t)note & PPU_SANITIZER_FORMATS) - 1;

    return note != 0 && format < footprint->formats ? footprint->sites[format] : NULL;
}

/* `own` and `other`: notes, 0: there is none. */
static void footprint_tell(const struct print_source *source, const struct footprint *footprint,
                           const struct footprint *beside, uint64_t key, uint64_t own, uint64_t other, char **reports)
{
    const struct ppu_sanitizer_site *site = site_of(footprint, own), *other_site = site_of(beside, other);
    struct ppu_sanitizer_report report = { .address = key & (bit(ADDRESS_BITS) - 1), .has_other = true };

    if (!site || !other_site) {
        return;
    }
    report.site = *site;
    report.other = *other_site;
    report.other_launch = true;
    split_id(footprint, own, report.global_id, report.local_id, report.work_group);
    split_id(beside, other, NULL, report.other_local_id, report.other_work_group);
    sanitizer_tell_report(source, &report, reports);
}

static void compare_spots(const struct print_source *source, const struct footprint *footprint,
                          const struct footprint *beside, const struct spot *own, const struct spot *other,
                          char **reports)
{
    const uint64_t pairs[][2] = {
        { own->write, other->write }, { own->write, other->read },   { own->write, other->update },
        { own->read, other->write },  { own->update, other->write }, { own->update, other->read },
        { own->read, other->update },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(pairs); i++) {
        footprint_tell(source, footprint, beside, own->key, pairs[i][0], pairs[i][1], reports);
    }
}

static bool has_byte(const struct work_span *span, uint64_t at)
{
    const uint64_t offset = at - span->va;
    const uint64_t slice = span->slices != 0 ? offset / span->slice : 0, in_slice = offset - slice * span->slice;
    const uint64_t row = span->rows != 0 ? in_slice / span->row : 0;

    return at >= span->va && slice <= span->slices && row <= span->rows && in_slice - row * span->row < span->bytes;
}

static bool meets(const struct work_span *span, const struct spot *spot)
{
    const uint64_t begin = spot->key & (bit(ADDRESS_BITS) - 1), bytes = bit((uint32_t)(spot->key >> ADDRESS_BITS) & 7);
    const uint64_t end = span->va + span->slices * span->slice + span->rows * span->row + span->bytes;
    bool found = false;

    for (uint64_t i = 0; i < bytes && span->bytes != 0 && begin < end && !found; i++) {
        found = has_byte(span, begin + i);
    }
    return found;
}

static void tell_command(const struct print_source *source, const struct footprint *footprint,
                         const struct footprint *command, uint64_t key, uint64_t own, char **reports)
{
    const struct ppu_sanitizer_site *site = site_of(footprint, own);
    struct ppu_sanitizer_report report = { .address = key & (bit(ADDRESS_BITS) - 1), .other_launch = true };

    if (!site) {
        return;
    }
    report.site = *site;
    snprintf(report.other.action, sizeof(report.other.action), "%s", command->command);
    split_id(footprint, own, report.global_id, report.local_id, report.work_group);
    sanitizer_tell_report(source, &report, reports);
}

/* What the host writes races with all that the launch did there, what it reads with what the launch wrote. */
static void compare_with_command(const struct print_source *source, const struct footprint *footprint,
                                 const struct footprint *command, char **reports)
{
    for (size_t i = 0; i < footprint->count; i++) {
        const struct spot *spot = &footprint->spots[i];
        const bool written = meets(&command->writes, spot);
        const uint64_t changes[] = { spot->write, spot->update };
        for (size_t j = 0; j < PPU_ARRAY_SIZE(changes) && (written || meets(&command->reads, spot)); j++) {
            tell_command(source, footprint, command, spot->key, changes[j], reports);
        }
        if (written) {
            tell_command(source, footprint, command, spot->key, spot->read, reports);
        }
    }
}

static void compare_footprints(const struct print_source *source, const struct footprint *footprint,
                               const struct footprint *beside, char **reports)
{
    size_t i = 0, j = 0;

    while (i < footprint->count && j < beside->count) {
        const struct spot *own = &footprint->spots[i], *other = &beside->spots[j];
        if (own->key == other->key) {
            compare_spots(source, footprint, beside, own, other, reports);
        }
        i += own->key <= other->key;
        j += other->key <= own->key;
    }
}

/* By shared virtual memory the host can learn how far a launch is, and then enqueue what comes after. */
static bool may_be_ordered(const struct _cl_context *context, const struct track *own, const struct track *other)
{
    const struct track *first = own->number < other->number ? own : other;

    return context->svm && first->footprint->signals;
}

void footprint_compare(cl_event event, const struct ppu_sanitizer_cells *cells, char **reports)
{
    cl_context context = event->context;
    const struct footprint *beside[FOOTPRINT_TRACKS];
    uint32_t count = 0;

    if (event->track == 0) {
        return;
    }
    struct footprint *footprint = footprint_new(&event->work.prints, cells);
    pthread_mutex_lock(&context->lock);
    struct footprints *all = context->footprints;
    struct track *own = &all->track[event->track - 1];
    if (footprint && footprint->count > SPOTS_MOST - all->spots) {
        footprint_free(footprint);
        footprint = NULL;
    }
    own->footprint = footprint;
    all->spots += footprint ? footprint->count : 0;
    for (uint32_t i = 0; i < FOOTPRINT_TRACKS && footprint; i++) { /* they stay until this launch has ended */
        if ((own->beside & bit(i)) != 0 && all->track[i].footprint && !may_be_ordered(context, own, &all->track[i])) {
            beside[count++] = all->track[i].footprint;
        }
    }
    pthread_mutex_unlock(&context->lock);
    for (uint32_t i = 0; i < count; i++) {
        if (beside[i]->command) {
            compare_with_command(&event->work.prints, footprint, beside[i], reports);
        } else {
            compare_footprints(&event->work.prints, footprint, beside[i], reports);
        }
    }
}
