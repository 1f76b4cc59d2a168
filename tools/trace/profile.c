/* SPDX-License-Identifier: MIT */
#include "tools/trace/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/map.h"
#include "tools/trace/record_file.h"

#define TITLE_KERNELS 6u

/* ---- programs ---- */

static bool same_image(const struct profile_program *program, const uint8_t *image, size_t bytes)
{
    return program->image_bytes == bytes && memcmp(program->image, image, bytes) == 0;
}

/* MAP_NONE: it is no image. */
static uint32_t program_of(struct profile *profile, const uint8_t *image, size_t bytes)
{
    for (uint32_t i = 0; i < profile->programs; i++) {
        if (same_image(&profile->program[i], image, bytes)) {
            return i;
        }
    }
    profile->program = list_more(profile->program, profile->programs, sizeof(*profile->program));
    struct profile_program *program = &profile->program[profile->programs];
    *program = (struct profile_program){ .image = malloc(bytes + 1), .image_bytes = bytes };
    if (program->image) {
        memcpy(program->image, image, bytes);
    }
    if (!program->image || ppu_program_open(program->image, bytes, &program->view)) {
        free(program->image);
        return MAP_NONE;
    }
    program->insns = program->view.header->code_bytes / PPU_INSN_BYTES;
    for (uint32_t i = 0; i < PROFILE_LAUNCHERS; i++) {
        program->insn[i] = calloc((size_t)program->insns + 1, sizeof(*program->insn[i]));
    }
    return profile->programs++;
}

static void take_program(struct profile *profile, const uint8_t *content, size_t bytes)
{
    struct record_program head;

    if (bytes < sizeof(head)) {
        return;
    }
    memcpy(&head, content, sizeof(head));
    uint32_t program = program_of(profile, content + sizeof(head), bytes - sizeof(head));
    if (program != MAP_NONE) {
        profile->load = list_more(profile->load, profile->loads, sizeof(*profile->load));
        profile->load[profile->loads++] = (struct profile_load){
            .process = head.process,
            .device = head.device,
            .number = head.program,
            .context = head.context,
            .code = head.code,
            .program = program,
        };
    }
}

static void take_source(const struct profile *profile, const uint8_t *content, size_t bytes)
{
    struct record_text head;

    if (bytes < sizeof(head)) {
        return;
    }
    memcpy(&head, content, sizeof(head));
    for (uint32_t i = 0; i < profile->loads; i++) {
        const struct profile_load *load = &profile->load[i];
        struct profile_program *program = &profile->program[load->program];
        if (load->process == head.process && load->number == head.program && !program->source) {
            program->source = strndup((const char *)content + sizeof(head), bytes - sizeof(head));
        }
    }
}

/* ---- counts ---- */

/* The latest program at an address; NULL: there is none. */
static struct profile_load *load_at(const struct profile *profile, uint32_t device, uint32_t context, uint64_t address)
{
    for (uint32_t i = profile->loads; i-- > 0;) {
        struct profile_load *load = &profile->load[i];
        uint64_t bytes = (uint64_t)profile->program[load->program].insns * PPU_INSN_BYTES;
        if (load->device == device && load->context == context && address - load->code < bytes && !load->unloaded) {
            return load;
        }
    }
    return NULL;
}

void profile_add(struct profile_counts *to, const struct profile_counts *more)
{
    for (uint32_t i = 0; i < PPU_PROFILE_COUNTS; i++) {
        to->count[i] += more->count[i];
    }
}

uint64_t profile_stalls(const struct profile_counts *counts)
{
    uint64_t stalls = 0;

    for (uint32_t i = PPU_PROFILE_SAMPLED; i < PPU_PROFILE_COUNTS; i++) {
        stalls += counts->count[i];
    }
    return stalls;
}

bool profile_has_counts(const struct profile_counts *counts)
{
    return counts->count[PPU_PROFILE_INSNS] + profile_stalls(counts) != 0;
}

static void take_entry(struct profile *profile, const struct record_profile *head,
                       const struct ppu_profile_entry *entry)
{
    uint64_t address = entry->key & PPU_PROFILE_ADDRESS;
    const struct profile_load *load = load_at(profile, head->device, PPU_PROFILE_CONTEXT(entry->key), address);
    uint32_t launcher = PPU_PROFILE_DEPTH(entry->key) > 1 ? PROFILE_BY_THREAD : PROFILE_BY_HOST;
    struct profile_counts more;

    for (uint32_t i = 0; i < PPU_PROFILE_COUNTS; i++) {
        more.count[i] = entry->count[i] * (i < PPU_PROFILE_SAMPLED ? head->period : 1);
    }
    struct profile_program *program = load ? &profile->program[load->program] : NULL;
    if (program && program->insn[launcher]) {
        profile_add(&program->insn[launcher][(address - load->code) / PPU_INSN_BYTES], &more);
        profile_add(&program->total[launcher], &more);
    } else {
        profile->strange += more.count[PPU_PROFILE_INSNS] + profile_stalls(&more);
    }
}

static void mark_unloaded(const struct profile *profile, const struct record_profile *head)
{
    for (uint32_t i = 0; i < profile->loads; i++) {
        struct profile_load *load = &profile->load[i];
        load->unloaded =
            load->unloaded || (load->device == head->device && (head->program == 0 || load->number == head->program));
    }
}

static void take_counts(struct profile *profile, const uint8_t *content, size_t bytes)
{
    struct record_profile head;
    struct ppu_profile_entry entry;

    if (bytes < sizeof(head)) {
        return;
    }
    memcpy(&head, content, sizeof(head));
    for (size_t at = sizeof(head); bytes - at >= sizeof(entry); at += sizeof(entry)) {
        memcpy(&entry, content + at, sizeof(entry));
        if (entry.key != 0) {
            take_entry(profile, &head, &entry);
        }
    }
    mark_unloaded(profile, &head);
    profile->known = true;
    profile->period = head.period;
    profile->missing += head.program == 0 ? head.missing : 0; /* it counts all of the device's */
}

const char *profile_read(struct profile *profile, const void *bytes, size_t size)
{
    struct record record;
    struct record_chunk chunk;
    const uint8_t *content;
    bool cut = false;

    *profile = (struct profile){ .programs = 0 };
    const char *why = record_open(&record, bytes, size);
    while (!why && record_next(&record, &chunk, &content, &cut)) {
        if (chunk.kind == RECORD_PROGRAM) {
            take_program(profile, content, chunk.bytes);
        } else if (chunk.kind == RECORD_SOURCE) {
            take_source(profile, content, chunk.bytes);
        } else if (chunk.kind == RECORD_PROFILE) {
            take_counts(profile, content, chunk.bytes);
        }
    }
    return why;
}

void profile_free(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->programs; i++) {
        struct profile_program *program = &profile->program[i];
        free(program->image);
        free(program->source);
        free(program->insn[PROFILE_BY_HOST]);
        free(program->insn[PROFILE_BY_THREAD]);
    }
    free(profile->program);
    free(profile->load);
    *profile = (struct profile){ .programs = 0 };
}

/* ---- views ---- */

static uint64_t insns_of(const struct profile_program *program)
{
    return program->total[PROFILE_BY_HOST].count[PPU_PROFILE_INSNS] +
           program->total[PROFILE_BY_THREAD].count[PPU_PROFILE_INSNS];
}

static const struct profile *ordered;

static int compare_programs(const void *a, const void *b)
{
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    uint64_t insns = insns_of(&ordered->program[first]), other = insns_of(&ordered->program[second]);

    return insns != other ? (insns > other ? -1 : 1) : (first > second) - (first < second);
}

uint32_t *profile_order(const struct profile *profile, uint32_t *count)
{
    uint32_t *order = calloc((size_t)profile->programs + 1, sizeof(*order));

    *count = 0;
    for (uint32_t i = 0; order && i < profile->programs; i++) {
        const struct profile_program *program = &profile->program[i];
        if (profile_has_counts(&program->total[PROFILE_BY_HOST]) ||
            profile_has_counts(&program->total[PROFILE_BY_THREAD])) {
            order[(*count)++] = i;
        }
    }
    ordered = profile;
    if (*count > 0) {
        qsort(order, *count, sizeof(*order), compare_programs);
    }
    return order;
}

static bool same_kernels(const struct profile_program *a, const struct profile_program *b)
{
    uint32_t kernels = a->view.header->kernels;

    if (kernels != b->view.header->kernels || !a->source != !b->source ||
        (a->source && strcmp(a->source, b->source) != 0)) {
        return false;
    }
    for (uint32_t i = 0; i < kernels; i++) {
        if (strcmp(a->view.text + a->view.kernels[i].name, b->view.text + b->view.kernels[i].name) != 0) {
            return false;
        }
    }
    return true;
}

uint32_t profile_variant(const struct profile *profile, uint32_t program, uint32_t *of)
{
    uint32_t number = 0;

    *of = 0;
    for (uint32_t i = 0; i < profile->programs; i++) {
        bool same = same_kernels(&profile->program[i], &profile->program[program]);
        *of += same;
        number += same && i <= program;
    }
    return number;
}

/* Appends to a text, as far as there is room. */
static void __attribute__((format(printf, 3, 4))) append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void profile_title(const struct profile *profile, uint32_t number, enum profile_launcher by,
                   char title[PROFILE_TITLE_BYTES])
{
    const struct ppu_program_view *view = &profile->program[number].view;
    const char *name = view->text + view->header->source;
    uint32_t of, variant = profile_variant(profile, number, &of);

    snprintf(title, PROFILE_TITLE_BYTES, "Program %.100s", *name ? name : "?");
    for (uint32_t i = 0; i < view->header->kernels && i < TITLE_KERNELS; i++) {
        append(title, PROFILE_TITLE_BYTES, "%s%.40s", i ? ", " : ": ", view->text + view->kernels[i].name);
    }
    append(title, PROFILE_TITLE_BYTES, "%s", view->header->kernels > TITLE_KERNELS ? ", ..." : "");
    if (of > 1) {
        append(title, PROFILE_TITLE_BYTES, "; variant %u of %u", variant, of);
    }
    append(title, PROFILE_TITLE_BYTES, "; launched by %s", by == PROFILE_BY_THREAD ? "threads" : "the host");
}

uint64_t profile_insns(const struct profile *profile)
{
    uint64_t insns = 0;

    for (uint32_t i = 0; i < profile->programs; i++) {
        insns += insns_of(&profile->program[i]);
    }
    return insns;
}

void profile_about(const struct profile *profile, char about[PROFILE_TITLE_BYTES])
{
    snprintf(about, PROFILE_TITLE_BYTES, "%llu warp instructions", (unsigned long long)profile_insns(profile));
    if (profile->period != PPU_PROFILE_EXACT) {
        append(about, PROFILE_TITLE_BYTES, ", from samples of one in %u", profile->period);
    }
    append(about, PROFILE_TITLE_BYTES, "\n");
    if (profile->missing) {
        append(about, PROFILE_TITLE_BYTES, "%llu counts are missing: the table had no room for them\n",
               (unsigned long long)profile->missing);
    }
    if (profile->strange) {
        append(about, PROFILE_TITLE_BYTES, "%llu counts are at addresses of no program that is known\n",
               (unsigned long long)profile->strange);
    }
}

uint32_t *profile_lines(const struct profile_program *program)
{
    const struct ppu_program_view *view = &program->view;
    uint32_t *lines = calloc((size_t)program->insns + 1, sizeof(*lines));

    for (uint32_t i = 0, next = 0, line = 0; lines && i < program->insns; i++) {
        while (next < view->header->lines && view->lines[next].insn <= i) {
            line = view->lines[next++].line;
        }
        lines[i] = line;
    }
    return lines;
}

uint32_t profile_last_line(const struct profile_program *program, const uint32_t *line_of, const char *source)
{
    uint32_t last = 0, lines = 0;

    for (uint32_t i = 0; i < program->insns; i++) {
        last = line_of[i] > last ? line_of[i] : last;
    }
    for (; source && *source; lines++) {
        source += strcspn(source, "\n");
        source += *source == '\n';
    }
    return last > lines ? last : lines;
}

const char *profile_source_line(const char *source, uint32_t line, size_t *bytes)
{
    for (uint32_t i = 1; i < line && source; i++) {
        source = strchr(source, '\n');
        source = source ? source + 1 : NULL;
    }
    *bytes = source ? strcspn(source, "\n") : 0;
    return line != 0 ? source : NULL;
}
