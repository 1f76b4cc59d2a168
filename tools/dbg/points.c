/* SPDX-License-Identifier: MIT */
#include "tools/dbg/points.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"

/* ---- places ---- */

/* Two instructions are in the same place of the same copy of a function. */
static bool is_same_copy(const struct info *info, uint32_t a, uint32_t b)
{
    struct info_frame of_a[INFO_DEPTH], of_b[INFO_DEPTH];
    const uint32_t count = info_frames(info, a, of_a);
    bool same = count == info_frames(info, b, of_b);

    for (uint32_t i = 0; same && i < count; i++) {
        same = of_a[i].line == of_b[i].line && of_a[i].name && of_b[i].name && strcmp(of_a[i].name, of_b[i].name) == 0;
    }
    return same;
}

/* A line begins where its code does, once in each copy. */
static uint32_t first_of_each(const struct info *info, uint32_t *insns, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool has_before = false;
        for (uint32_t j = 0; j < kept && !has_before; j++) {
            has_before = is_same_copy(info, insns[j], insns[i]);
        }
        if (!has_before) {
            insns[kept++] = insns[i];
        }
    }
    return kept;
}

/* Finds a line of a file on disk in a program whose source has that text; 0: it has not, or no code is behind. */
static uint32_t find_in_file(const struct session *session, const struct loaded *loaded, const char *path,
                             uint32_t line, uint32_t insns[SESSION_SITES])
{
    for (uint32_t i = 0; i < session->files; i++) {
        const struct known_file *file = &session->file[i];
        uint32_t before;
        if (strcmp(file->path, path) == 0 && line <= file->lines && session_file_in(file, loaded, &before)) {
            uint32_t at = before + line;
            const uint32_t count = info_at_line(loaded->info, NULL, &at, insns, SESSION_SITES);
            return at <= before + file->lines ? count : 0;
        }
    }
    return 0;
}

static uint32_t find_line(const struct session *session, const struct loaded *loaded, const char *where,
                          uint32_t insns[SESSION_SITES])
{
    char file[SESSION_TEXT];
    const char *colon = strrchr(where, ':');
    uint32_t line = (uint32_t)strtoul(colon ? colon + 1 : where, NULL, 10);

    if (!colon) {
        return info_at_line(loaded->info, NULL, &line, insns, SESSION_SITES);
    }
    snprintf(file, sizeof(file), "%.*s", (int)(colon - where), where);
    uint32_t count = find_in_file(session, loaded, file, line, insns);
    count = count != 0 ? count : info_at_line(loaded->info, file, &line, insns, SESSION_SITES);
    if (count == 0 && strchr(file, '/')) {
        count = info_at_line(loaded->info, strrchr(file, '/') + 1, &line, insns, SESSION_SITES);
    }
    return count;
}

static uint32_t find_in(const struct session *session, const struct loaded *loaded, const char *where,
                        uint32_t insns[SESSION_SITES])
{
    const char *colon = strrchr(where, ':');

    if (where[0] == '*') {
        const uint64_t address = strtoull(where + 1, NULL, 0) - loaded->code;
        insns[0] = (uint32_t)(address / PPU_INSN_BYTES);
        return address < loaded->view.header->code_bytes && address % PPU_INSN_BYTES == 0;
    }
    if (!loaded->info) {
        return 0;
    }
    if (isdigit((unsigned char)(colon ? colon[1] : where[0]))) {
        return first_of_each(loaded->info, insns, find_line(session, loaded, where, insns));
    }
    return info_at_function(loaded->info, where, insns, SESSION_SITES);
}

/* ---- at the device ---- */

static bool set_site(struct session *session, struct point *point, const struct loaded *loaded, uint64_t address)
{
    struct ppu_debug_request request = {
        .op = PPU_DEBUG_DO_BREAK, .context = loaded->context, .address = address, .lane = PPU_DEBUG_ANY_LANE
    };

    while (request.number < PPU_DEBUG_BREAKS && session->site_used[request.number]) {
        request.number++;
    }
    if (request.number == PPU_DEBUG_BREAKS || point->sites == SESSION_SITES || !box_done(&session->box, &request)) {
        return false;
    }
    session->site_used[request.number] = true;
    point->site[point->sites] = request.number;
    point->address[point->sites++] = address;
    return true;
}

bool points_has_site(const struct point *point, uint64_t address)
{
    for (uint32_t i = 0; i < point->sites; i++) {
        if (point->address[i] == address) {
            return true;
        }
    }
    return false;
}

static void resolve_point(struct session *session, struct point *point)
{
    uint32_t insns[SESSION_SITES];

    for (uint32_t i = 0; !point->is_watch && point->enabled && session->box.shared && i < session->loads; i++) {
        const struct loaded *loaded = &session->loaded[i];
        const bool is_wanted = point->text == 0 || point->text == loaded->text;
        const uint32_t count = is_wanted ? find_in(session, loaded, point->where, insns) : 0;
        for (uint32_t n = 0; n < count; n++) {
            const uint64_t address = loaded->code + (uint64_t)insns[n] * PPU_INSN_BYTES;
            if (!points_has_site(point, address) && !set_site(session, point, loaded, address)) {
                session_complain(session, "set breakpoint %u: %s", point->number, box_why(&session->box));
            }
        }
    }
}

static void unset(struct session *session, struct point *point)
{
    for (uint32_t i = 0; i < point->sites; i++) {
        const struct ppu_debug_request request = { .op = point->is_watch ? PPU_DEBUG_DO_UNWATCH : PPU_DEBUG_DO_UNBREAK,
                                                   .number = point->site[i] };
        (void)box_ask(&session->box, &request);
        if (!point->is_watch) {
            session->site_used[point->site[i]] = false;
        }
    }
    point->sites = 0;
}

void session_stop_at(struct session *session, uint32_t flags)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_STOP_AT, .flags = flags, .context = PPU_DEBUG_ALL };

    session->stop_at = flags;
    (void)box_ask(&session->box, &request);
}

void points_resolve(struct session *session)
{
    session_stop_at(session, session->stop_at);
    for (uint32_t i = 0; i < session->points; i++) {
        resolve_point(session, &session->point[i]);
    }
}

void points_forget_sites(struct session *session)
{
    memset(session->site_used, 0, sizeof(session->site_used));
    for (uint32_t i = 0; i < session->points; i++) {
        session->point[i].sites = 0;
    }
}

struct point *points_of_site(struct session *session, uint32_t site, bool is_watch)
{
    for (uint32_t i = 0; i < session->points; i++) {
        for (uint32_t n = 0; n < session->point[i].sites; n++) {
            if (session->point[i].is_watch == is_watch && session->point[i].site[n] == site) {
                return &session->point[i];
            }
        }
    }
    return NULL;
}

/* ---- commands ---- */

static struct point *add_point(struct session *session, const char *where)
{
    struct point *bigger = reallocarray(session->point, (size_t)session->points + 1, sizeof(*bigger));

    if (!bigger) {
        session_complain(session, "%.64s: not enough memory for a breakpoint", where);
        return NULL;
    }
    session->point = bigger;
    if (strlen(where) >= SESSION_TEXT) {
        session_complain(session, "%.64s...: the text has more than %u characters", where, SESSION_TEXT - 1);
        return NULL;
    }
    struct point *point = &bigger[session->points++];
    *point = (struct point){ .number = ++session->numbers, .enabled = true };
    snprintf(point->where, sizeof(point->where), "%s", where);
    return point;
}

/* The file that is named before the line. */
static const char *point_file(const struct point *point)
{
    static char file[SESSION_TEXT];
    const char *colon = strrchr(point->where, ':');

    snprintf(file, sizeof(file), "%.*s", colon ? (int)(colon - point->where) : 0, point->where);
    return file;
}

uint32_t session_break(struct session *session, const struct wish *wish)
{
    const char *where = wish->where;

    if (strlen(wish->condition) >= SESSION_TEXT) {
        session_complain(session, "%.64s: the condition has more than %u characters", where, SESSION_TEXT - 1);
        return 0;
    }
    struct point *point = add_point(session, where);
    if (!point) {
        return 0;
    }
    point->once = wish->once;
    point->ignore = wish->ignore;
    point->text = wish->text;
    snprintf(point->condition, sizeof(point->condition), "%s", wish->condition);
    if (where[0] == '/') {
        (void)session_know_file(session, point_file(point));
    }
    resolve_point(session, point);
    if (point->sites != 0) {
        fprintf(session->out, "Breakpoint %u: %s, %u place%s\n", point->number, where, point->sites,
                point->sites == 1 ? "" : "s");
    } else {
        fprintf(session->out, "Breakpoint %u: %s, when a program with it is loaded\n", point->number, where);
    }
    return point->number;
}

uint32_t session_watch(struct session *session, uint32_t context, uint64_t address, uint32_t bytes, const char *where)
{
    struct ppu_debug_request request = {
        .op = PPU_DEBUG_DO_WATCH, .context = context, .address = address, .count = bytes
    };
    struct point *point = add_point(session, where);

    if (!point) {
        return 0;
    }
    while (request.number < PPU_DEBUG_WATCHES && points_of_site(session, request.number, true)) {
        request.number++;
    }
    if (request.number == PPU_DEBUG_WATCHES || !box_done(&session->box, &request)) {
        session_complain(session, "watch %s: %s", where,
                         request.number == PPU_DEBUG_WATCHES ? "16 are watched already; `delete` removes one"
                                                             : box_why(&session->box));
        session->points--;
        return 0;
    }
    point->is_watch = true;
    point->site[point->sites] = request.number;
    point->address[point->sites++] = address;
    fprintf(session->out, "Watchpoint %u: %s, %u bytes at 0x%llx\n", point->number, where, bytes,
            (unsigned long long)address);
    return point->number;
}

struct point *session_point(struct session *session, uint32_t number)
{
    for (uint32_t i = 0; i < session->points; i++) {
        if (session->point[i].number == number) {
            return &session->point[i];
        }
    }
    return NULL;
}

bool session_delete(struct session *session, uint32_t number)
{
    uint32_t kept = 0;
    bool found = number == 0;

    for (uint32_t i = 0; i < session->points; i++) {
        if (number == 0 || session->point[i].number == number) {
            unset(session, &session->point[i]);
            found = true;
        } else {
            session->point[kept++] = session->point[i];
        }
    }
    session->points = kept;
    return found;
}

bool session_enable(struct session *session, uint32_t number, bool enabled)
{
    struct point *point = session_point(session, number);

    if (!point || point->is_watch) {
        return false;
    }
    point->enabled = enabled;
    if (enabled) {
        resolve_point(session, point);
    } else {
        unset(session, point);
    }
    return true;
}
