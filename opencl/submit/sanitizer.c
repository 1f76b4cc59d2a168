/* SPDX-License-Identifier: MIT */
#include "opencl/submit/sanitizer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/allocation.h"
#include "opencl/api/marks.h"
#include "opencl/api/memory.h"
#include "opencl/api/queue.h"
#include "opencl/api/sanitize.h"
#include "opencl/api/svm.h"
#include "ppu/sanitizer_words.h"

#define SITES_MOST 10000u /* that are told apart; beyond them nothing is said */
#define DISJOINT_MOST 64u /* pointers among the arguments that are compared with one another */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static char **sites;                                     /* that were reported */
static uint32_t site_count;

/* ---- bounds ---- */

static const struct launch_memory *memory_at(const struct launch *launch, uint32_t offset)
{
    for (uint32_t i = 0; i < launch->memories; i++) {
        if (launch->memory[i].offset == offset) {
            return &launch->memory[i];
        }
    }
    return NULL;
}

/* Arguments of a kernel that have bounds, at most. */
static uint32_t bounded_most(const struct ppu_kernel_entry *entry)
{
    return (entry->assumes & PPU_KERNEL_BOUNDED) != 0 ? PPU_SANITIZER_BOUNDED : 0;
}

static struct ppu_sanitizer_bounds bounds_of(const struct launch *launch, cl_kernel kernel, uint32_t i)
{
    const struct ppu_argument_entry *entry = &kernel->descriptions[i];
    const struct argument *argument = &kernel->arguments[i];
    const struct launch_memory *memory = memory_at(launch, entry->offset);
    struct ppu_sanitizer_bounds bounds = { 0, PPU_SANITIZER_ANY, 0 };
    uint64_t value = 0;

    if (entry->kind == PPU_ARGUMENT_LOCAL) {
        memcpy(&value, launch->params + entry->offset, sizeof(value));
        return (struct ppu_sanitizer_bounds){ value, argument->local_bytes, 0 };
    }
    if ((entry->kind != PPU_ARGUMENT_GLOBAL && entry->kind != PPU_ARGUMENT_CONSTANT) ||
        (entry->qualifiers & PPU_ARGUMENT_PIPE) != 0) {
        return bounds;
    }
    memcpy(&value, launch->params + entry->offset, sizeof(value));
    if (memory) {
        bounds = (struct ppu_sanitizer_bounds){ value, memory->memory->bytes, marks_va(memory->memory) };
    } else if (value == 0) {
        bounds.bytes = 0;
    } else if (argument->shared) { /* the pointer may lead into the piece: what is before it is in reach, too */
        svm_piece(kernel->program->context, (const void *)(uintptr_t)value, &bounds.base, &bounds.bytes);
    }
    return bounds;
}

/* True when no byte is of both objects. */
static bool bounds_disjoint(const struct ppu_sanitizer_bounds *a, const struct ppu_sanitizer_bounds *b)
{
    return a->base >= b->base + b->bytes || b->base >= a->base + a->bytes;
}

bool sanitizer_arguments_disjoint(const struct launch *launch, cl_kernel kernel)
{
    struct ppu_sanitizer_bounds seen[DISJOINT_MOST];
    uint32_t count = 0;

    for (uint32_t i = 0; i < kernel->entry->argument_count; i++) {
        const struct ppu_argument_entry *entry = &kernel->descriptions[i];
        if (entry->kind != PPU_ARGUMENT_GLOBAL && entry->kind != PPU_ARGUMENT_CONSTANT) {
            continue;
        }
        const struct ppu_sanitizer_bounds bounds = bounds_of(launch, kernel, i);
        bool disjoint = bounds.bytes != PPU_SANITIZER_ANY && count < DISJOINT_MOST;
        for (uint32_t j = 0; j < count && disjoint; j++) {
            disjoint = bounds_disjoint(&bounds, &seen[j]);
        }
        if (!disjoint) {
            return false;
        }
        seen[count++] = bounds;
    }
    return true;
}

/* Room for a mark for each byte of an argument in local memory, behind what is used; 0: there is none. */
static uint64_t take_marks(uint64_t bytes, uint64_t most, uint64_t *shared)
{
    const uint64_t at = kernel_local_at(*shared);

    if (bytes > most || at > most - bytes) {
        return 0;
    }
    *shared = at + bytes;
    return at;
}

void sanitizer_bound(struct launch *launch, cl_kernel kernel, uint64_t most, uint64_t *shared)
{
    const struct ppu_kernel_entry *entry = kernel->entry;
    const bool marks = (entry->assumes & PPU_KERNEL_MARKS) != 0;
    uint8_t *to = launch->params + ppu_kernel_bounds_at(entry);
    uint32_t left = bounded_most(entry);

    for (uint32_t i = 0; left != 0 && i < entry->argument_count; i++) {
        if (!ppu_argument_is_memory(kernel->descriptions[i].kind)) {
            continue;
        }
        left--;
        struct ppu_sanitizer_bounds bounds = bounds_of(launch, kernel, i);
        if (marks && kernel->descriptions[i].kind == PPU_ARGUMENT_LOCAL && bounds.bytes > 0) {
            bounds.marks = take_marks(bounds.bytes, most, shared);
        }
        memcpy(to, &bounds, sizeof(bounds));
        to += sizeof(bounds);
    }
}

/* ---- writes without marks ---- */

static void believe_marks(struct launch *launch, cl_kernel kernel)
{
    uint8_t *at = launch->params + ppu_kernel_bounds_at(kernel->entry);
    uint32_t left = bounded_most(kernel->entry);

    for (uint32_t i = 0; left != 0 && i < kernel->entry->argument_count; i++) {
        if (!ppu_argument_is_memory(kernel->descriptions[i].kind)) {
            continue;
        }
        left--;
        memset(at + offsetof(struct ppu_sanitizer_bounds, marks), 0, sizeof(uint64_t));
        at += sizeof(struct ppu_sanitizer_bounds);
    }
}

void sanitizer_note_writes(struct launch *launch, cl_kernel kernel, bool elsewhere)
{
    const bool marks = (kernel->entry->assumes & PPU_KERNEL_MARKS) != 0 && !elsewhere;

    for (uint32_t i = 0; i < launch->memories && !marks; i++) {
        const struct launch_memory *memory = &launch->memory[i];
        if (!memory->constant) {
            marks_set(memory->memory, 0, memory->memory->bytes);
        }
    }
    for (uint32_t i = 0; i < launch->queues; i++) {
        if (launch->queue[i]->workq) { /* copies in it are made by nobody who knows of marks */
            marks_set_context(kernel->program->context);
        }
    }
    if (elsewhere) {
        believe_marks(launch, kernel);
    }
}

/* ---- reports ---- */

/* False: it was said before, or too much was. */
static bool is_new_site(const struct ppu_sanitizer_site *site, const struct ppu_sanitizer_site *other)
{
    char *key = NULL;
    bool is_new = true;

    if (asprintf(&key, "%s %s %s %s:%u:%u %s %u", site->check, site->action, site->kernel, site->file, site->line,
                 site->column, site->object, other ? other->line : 0) < 0) {
        return false;
    }
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < site_count && is_new; i++) {
        is_new = strcmp(sites[i], key) != 0;
    }
    if (is_new && site_count % 64 == 0) {
        char **more = site_count < SITES_MOST ? realloc(sites, (site_count + 64) * sizeof(sites[0])) : NULL;
        sites = more ? more : sites;
        is_new = more;
    }
    if (is_new) {
        sites[site_count] = key;
        site_count++;
        sanitize_count_site();
    } else {
        free(key);
    }
    pthread_mutex_unlock(&lock);
    return is_new;
}

/* The argument's name and type in place of its number. */
static void print_object(FILE *to, const struct print_source *source, const struct ppu_sanitizer_site *site)
{
    const struct ppu_kernel_entry *kernel = ppu_program_kernel(source->view, site->kernel);
    unsigned i = 0;

    if (sscanf(site->object, "argument %u", &i) != 1 || !kernel || i >= kernel->argument_count) {
        fputs(site->object, to);
        return;
    }
    const struct ppu_argument_entry *argument = &source->view->arguments[kernel->argument_first + i];
    fprintf(to, "argument %u '%s' (%s)", i, source->view->text + argument->name, source->view->text + argument->type);
}

static bool has_object(const struct ppu_sanitizer_report *report)
{
    return !strstr(report->site.object, " pointer");
}

static void print_distance(FILE *to, const struct ppu_sanitizer_report *report)
{
    const unsigned long long bytes = report->object_bytes;

    if (report->address < report->base) {
        fprintf(to, "%llu bytes before %llu bytes", (unsigned long long)(report->base - report->address), bytes);
    } else if (report->address - report->base >= bytes) {
        fprintf(to, "%llu bytes behind the end of %llu bytes",
                (unsigned long long)(report->address - report->base) - bytes, bytes);
    } else {
        fprintf(to, "%llu bytes before the end of %llu bytes",
                (unsigned long long)(report->base + bytes - report->address), bytes);
    }
}

static void print_site(FILE *to, const char *whose, const struct ppu_sanitizer_site *site)
{
    fprintf(to, "  %sat %s:%u:%u in kernel '%s'\n", whose, site->file, site->line, site->column, site->kernel);
}

static void print_work_item(FILE *to, const struct ppu_sanitizer_report *report)
{
    fprintf(to, "  work-item (%llu, %llu, %llu), (%u, %u, %u) in group (%u, %u, %u)\n",
            (unsigned long long)report->global_id[0], (unsigned long long)report->global_id[1],
            (unsigned long long)report->global_id[2], report->local_id[0], report->local_id[1], report->local_id[2],
            report->work_group[0], report->work_group[1], report->work_group[2]);
}

static void print_other(FILE *to, const struct ppu_sanitizer_report *report)
{
    fprintf(to, "  work-item (%u, %u, %u) in group (%u, %u, %u)\n", report->other_local_id[0],
            report->other_local_id[1], report->other_local_id[2], report->other_work_group[0],
            report->other_work_group[1], report->other_work_group[2]);
}

/* Where it was, and who did it; `names_other`: the work-item of the other side, too. */
static void print_sides(FILE *to, const struct ppu_sanitizer_report *report, bool names_other)
{
    print_site(to, "", &report->site);
    print_work_item(to, report);
    if (report->has_other) {
        print_site(to, "the other ", &report->other);
    }
    if (names_other) {
        print_other(to, report);
    }
}

/* An address in the object names the call that made it; `bytes`: of the object, 0: any. */
static void print_memory(FILE *to, const struct print_source *source, uint64_t address, uint64_t bytes)
{
    char text[ALLOCATION_TEXT_BYTES];

    if (source->context && address != 0 && allocation_tell(source->context, address, bytes, text)) {
        fprintf(to, "\n  memory of %s", text);
    }
    fputc('\n', to);
}

static void print_value(FILE *to, const struct ppu_sanitizer_report *report)
{
    if (!strstr(report->site.action, "load")) {
        fprintf(to, ", value 0x%llx", (unsigned long long)report->value);
    }
}

static void print_address(FILE *to, const struct print_source *source, const struct ppu_sanitizer_report *report)
{
    const struct ppu_sanitizer_site *site = &report->site;

    fprintf(to, "ppu: %s: %s of %u bytes ", site->check, site->action, site->bytes);
    if (has_object(report)) {
        fputs(report->object_bytes == 0 ? "through a null pointer, " : "outside of ", to);
        print_object(to, source, site);
    } else {
        fprintf(to, "where nothing is, through a %s", site->object);
    }
    fputc('\n', to);
    print_sides(to, report, false);
    fprintf(to, "  address 0x%llx", (unsigned long long)report->address);
    if (has_object(report) && report->object_bytes != 0) {
        fputs(", ", to);
        print_distance(to, report);
    }
    print_value(to, report);
    print_memory(to, source, has_object(report) ? report->base : report->address, report->object_bytes);
}

static void print_uninit(FILE *to, const struct print_source *source, const struct ppu_sanitizer_report *report)
{
    const struct ppu_sanitizer_site *site = &report->site;

    fprintf(to, "ppu: %s: %s of %u bytes that nobody wrote, %s", site->check, site->action, site->bytes,
            has_object(report) ? "" : "through a ");
    print_object(to, source, site);
    fputc('\n', to);
    print_sides(to, report, false);
    fprintf(to, "  address 0x%llx", (unsigned long long)report->address);
    if (report->object_bytes != 0 && report->object_bytes != PPU_SANITIZER_ANY) {
        fprintf(to, ", byte %llu of %llu", (unsigned long long)(report->address - report->base),
                (unsigned long long)report->object_bytes);
    }
    print_memory(to, source, report->address, report->object_bytes);
}

/* The other side may be a command of the host, which has a name alone. */
static void print_race(FILE *to, const struct print_source *source, const struct ppu_sanitizer_report *report)
{
    const struct ppu_sanitizer_site *site = &report->site;
    const bool by_host = !report->has_other && report->other.action[0] != '\0';

    fprintf(to, "ppu: %s: %s of %u bytes, ", site->check, site->action, site->bytes);
    print_object(to, source, site);
    if (by_host) {
        fprintf(to, ", unordered with %s\n", report->other.action);
    } else {
        const char *other = report->has_other ? report->other.action : "access";
        fprintf(to, ", unordered with %s %s%s\n", *other == 'a' ? "an" : "a", other,
                report->other_launch ? " of another launch" : "");
    }
    print_sides(to, report, !by_host);
    fprintf(to, "  address 0x%llx", (unsigned long long)report->address);
    if (!report->other_launch) {
        print_value(to, report);
    }
    print_memory(to, source, report->address, 0);
}

static void print_barrier(FILE *to, const struct ppu_sanitizer_report *report)
{
    const struct ppu_sanitizer_site *site = &report->site;

    if (report->has_other) {
        fprintf(to, "ppu: %s: work-items of a %s wait at different places\n", site->check, site->action);
    } else {
        fprintf(to, "ppu: %s: %llu of the %s's %llu work-items came to it\n", site->check,
                (unsigned long long)report->address, site->action, (unsigned long long)report->object_bytes);
    }
    print_sides(to, report, false);
}

static void print_number(FILE *to, uint32_t kind, uint64_t bits)
{
    double real;

    switch (kind) {
    case PPU_SANITIZER_UNSIGNED:
        fprintf(to, "%" PRIu64, bits);
        break;
    case PPU_SANITIZER_REAL:
        memcpy(&real, &bits, sizeof(real));
        fprintf(to, "%.17g", real);
        break;
    case PPU_SANITIZER_ADDRESSES:
    case PPU_SANITIZER_CODE:
        fprintf(to, "0x%" PRIx64, bits);
        break;
    default:
        fprintf(to, "%" PRId64, (int64_t)bits);
    }
}

/* Says what is wrong with a call of a built-in function. */
static void print_call(FILE *to, const struct ppu_sanitizer_report *report)
{
    const struct ppu_sanitizer_site *site = &report->site;

    fprintf(to, "ppu: %s: %s(): %s", site->check, site->action, site->object);
    if (site->bytes != PPU_SANITIZER_NOTHING) {
        fputs(": ", to);
        print_number(to, site->bytes, report->address);
    }
    if (site->bytes != PPU_SANITIZER_NOTHING && site->bytes != PPU_SANITIZER_ALONE &&
        site->bytes != PPU_SANITIZER_CODE) {
        fputs(", ", to);
        print_number(to, site->bytes, report->base);
    }
    fputc('\n', to);
    print_sides(to, report, report->has_other);
}

static void print_report(FILE *to, const struct print_source *source, const struct ppu_sanitizer_report *report)
{
    const uint32_t check = ppu_sanitizer_word(report->site.check);

    if (check == PPU_SANITIZE_RACE) {
        print_race(to, source, report);
    } else if (check == PPU_SANITIZE_BARRIER) {
        print_barrier(to, report);
    } else if (check == PPU_SANITIZE_ARGUMENT || check == PPU_SANITIZE_LOST) {
        print_call(to, report);
    } else if (check == PPU_SANITIZE_UNINIT) {
        print_uninit(to, source, report);
    } else {
        print_address(to, source, report);
    }
}

void sanitizer_report(const struct print_source *source, uint32_t format, const uint32_t *words, uint32_t count,
                      char **text)
{
    struct ppu_sanitizer_report report;

    if (ppu_sanitizer_read(source->view, format, words, count, &report)) {
        sanitizer_tell_report(source, &report, text);
    }
}

void sanitizer_tell_report(const struct print_source *source, const struct ppu_sanitizer_report *report, char **text)
{
    char *one = NULL, *all = NULL;
    size_t bytes = 0;

    if (!is_new_site(&report->site, report->has_other ? &report->other : NULL)) {
        return;
    }
    FILE *to = open_memstream(&one, &bytes);
    if (!to) {
        return;
    }
    print_report(to, source, report);
    if (fclose(to) != 0) {
        free(one);
        return;
    }
    fputs(one, stderr);
    if (asprintf(&all, "%s%s", *text ? *text : "", one) >= 0) {
        free(*text);
        *text = all;
    }
    free(one);
}

void sanitizer_tell(cl_context context, char *text)
{
    if (text && context->notify) {
        context->notify(text, NULL, 0, context->user);
    }
    free(text);
}
