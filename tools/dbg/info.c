/* SPDX-License-Identifier: MIT */
#include "tools/dbg/info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/isa.h"

struct info {
    char *bytes;
    Elf *elf;
    Dwarf *dwarf;
    Dwarf_Die unit;
    Dwarf_Lines *lines;
    size_t line_count;
};

/* ---- opening ---- */

static bool read_unit(struct info *info)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Half version;
    uint8_t kind;
    Dwarf_Die sub;

    if (dwarf_get_units(info->dwarf, NULL, &cu, &version, &kind, &info->unit, &sub) != 0) {
        return false;
    }
    if (dwarf_getsrclines(&info->unit, &info->lines, &info->line_count) != 0) {
        info->lines = NULL;
        info->line_count = 0;
    }
    return true;
}

struct info *info_open(const uint8_t *bytes, size_t size)
{
    struct info *info = size != 0 ? calloc(1, sizeof(*info)) : NULL;

    if (!info) {
        return NULL;
    }
    elf_version(EV_CURRENT);
    info->bytes = malloc(size);
    if (info->bytes) {
        memcpy(info->bytes, bytes, size);
        info->elf = elf_memory(info->bytes, size);
    }
    info->dwarf = info->elf ? dwarf_begin_elf(info->elf, DWARF_C_READ, NULL) : NULL;
    if (!info->dwarf || !read_unit(info)) {
        info_close(info);
        return NULL;
    }
    return info;
}

void info_close(struct info *info)
{
    if (info) {
        if (info->dwarf) {
            dwarf_end(info->dwarf);
        }
        if (info->elf) {
            elf_end(info->elf);
        }
        free(info->bytes);
        free(info);
    }
}

/* The name of a file as the compiler got it; readers of DWARF put its folder in front. */
static const char *as_given(const char *name)
{
    return name && strncmp(name, "./", 2) == 0 ? name + 2 : name;
}

const char *info_source(const struct info *info)
{
    Dwarf_Die unit = info->unit;

    return as_given(dwarf_diename(&unit));
}

/* ---- lines ---- */

/* A row of the line table; line 0: no line from here on. False: there is no such row. */
static bool row_at(const struct info *info, size_t number, uint32_t *insn, uint32_t *line, const char **file)
{
    Dwarf_Line *row = dwarf_onesrcline(info->lines, number);
    Dwarf_Addr address;
    int number_of_line = 0;
    bool ends = true;

    if (!row || dwarf_lineaddr(row, &address) != 0 || dwarf_lineno(row, &number_of_line) != 0 ||
        dwarf_lineendsequence(row, &ends) != 0) {
        return false;
    }
    *insn = (uint32_t)(address / PPU_INSN_BYTES);
    *line = ends ? 0 : (uint32_t)number_of_line;
    *file = as_given(dwarf_linesrc(row, NULL, NULL));
    return true;
}

uint32_t info_line(const struct info *info, uint32_t insn, const char **file)
{
    uint32_t found = 0, begin, line;
    const char *name;

    for (size_t i = 0; i < info->line_count; i++) {
        if (row_at(info, i, &begin, &line, &name) && begin <= insn) {
            found = line;
            if (file) {
                *file = name;
            }
        }
    }
    return found;
}

/* True when the name ends with this one, at the border of a folder. */
static bool is_file(const char *name, const char *end)
{
    size_t bytes = strlen(name), end_bytes = strlen(end);

    return bytes >= end_bytes && strcmp(name + bytes - end_bytes, end) == 0 &&
           (bytes == end_bytes || name[bytes - end_bytes - 1] == '/');
}

/* The first line from `line` on that code begins with; 0: there is none. */
static uint32_t line_with_code(const struct info *info, const char *file, uint32_t line)
{
    uint32_t best = 0, insn, here;
    const char *name;

    for (size_t i = 0; i < info->line_count; i++) {
        if (row_at(info, i, &insn, &here, &name) && here != 0 && here >= line && (best == 0 || here < best) && name &&
            is_file(name, file)) {
            best = here;
        }
    }
    return best;
}

uint32_t info_at_line(const struct info *info, const char *file, uint32_t *line, uint32_t *insns, uint32_t most)
{
    Dwarf_Die unit = info->unit;
    const char *source = file ? file : dwarf_diename(&unit), *name;
    uint32_t wanted = source ? line_with_code(info, source, *line) : 0, count = 0, insn, here;

    for (size_t i = 0; wanted != 0 && i < info->line_count && count < most; i++) {
        if (row_at(info, i, &insn, &here, &name) && here == wanted && name && is_file(name, source)) {
            insns[count++] = insn;
        }
    }
    *line = count != 0 ? wanted : *line;
    return count;
}

/* ---- functions ---- */

static bool next_child(Dwarf_Die *die)
{
    return dwarf_siblingof(die, die) == 0;
}

/* Behind the row that a function begins with: arguments are in their places then. */
static uint32_t behind_begin(const struct info *info, uint32_t begin)
{
    uint32_t insn, line;
    const char *name;

    for (size_t i = 0; i < info->line_count; i++) {
        if (row_at(info, i, &insn, &line, &name) && line != 0 && insn > begin) {
            return insn;
        }
    }
    return begin;
}

/* The first instruction of an entry that has ranges. */
static bool begin_of(Dwarf_Die *die, Dwarf_Addr *first)
{
    Dwarf_Addr base, end;

    return dwarf_ranges(die, 0, &base, first, &end) > 0;
}

/* The function's own code, then each place that it was inlined at. */
static void add_function(const struct info *info, Dwarf_Die die, const char *name, uint32_t *insns, uint32_t *count,
                         uint32_t most)
{
    Dwarf_Die child;

    do {
        int tag = dwarf_tag(&die);
        Dwarf_Addr low;
        const char *own = dwarf_diename(&die);
        bool named = own && strcmp(own, name) == 0;

        if (named && *count < most && tag == DW_TAG_subprogram && dwarf_lowpc(&die, &low) == 0) {
            insns[(*count)++] = behind_begin(info, (uint32_t)(low / PPU_INSN_BYTES));
        } else if (named && *count < most && tag == DW_TAG_inlined_subroutine && begin_of(&die, &low)) {
            insns[(*count)++] = (uint32_t)(low / PPU_INSN_BYTES);
        }
        if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
            dwarf_child(&die, &child) == 0) {
            add_function(info, child, name, insns, count, most);
        }
    } while (next_child(&die));
}

uint32_t info_at_function(const struct info *info, const char *name, uint32_t *insns, uint32_t most)
{
    Dwarf_Die unit = info->unit, child;
    uint32_t count = 0;

    if (dwarf_child(&unit, &child) == 0) {
        add_function(info, child, name, insns, &count, most);
    }
    return count;
}

static uint32_t number_in(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    Dwarf_Word word = 0;

    return dwarf_attr(die, attribute, &found) && dwarf_formudata(&found, &word) == 0 ? (uint32_t)word : 0;
}

static const char *call_file(const struct info *info, Dwarf_Die *die)
{
    Dwarf_Die unit = info->unit;
    Dwarf_Files *files;
    size_t count;

    return dwarf_getsrcfiles(&unit, &files, &count) == 0
               ? as_given(dwarf_filesrc(files, number_in(die, DW_AT_call_file), NULL, NULL))
               : NULL;
}

static bool is_function(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Scopes around an instruction, innermost first: what it was inlined into, in place of where it is defined. */
static int scopes_at(const struct info *info, uint32_t insn, Dwarf_Die **scopes)
{
    Dwarf_Die unit = info->unit;
    int count = dwarf_getscopes(&unit, (Dwarf_Addr)insn * PPU_INSN_BYTES, scopes);

    if (count > 0) {
        Dwarf_Die innermost = (*scopes)[0];
        free(*scopes);
        *scopes = NULL;
        count = dwarf_getscopes_die(&innermost, scopes);
    }
    return count;
}

uint32_t info_frames(const struct info *info, uint32_t insn, struct info_frame frames[INFO_DEPTH])
{
    Dwarf_Die *scopes = NULL;
    const char *file = NULL;
    uint32_t line = info_line(info, insn, &file), count = 0;
    int scope_count = scopes_at(info, insn, &scopes);

    for (int i = 0; i < scope_count && count < INFO_DEPTH; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (!is_function(tag)) {
            continue;
        }
        frames[count++] = (struct info_frame){ dwarf_diename(&scopes[i]), file, line };
        if (tag == DW_TAG_subprogram) {
            break;
        }
        line = number_in(&scopes[i], DW_AT_call_line);
        file = call_file(info, &scopes[i]);
    }
    free(scopes);
    return count;
}

/* An address that an attribute tells; false: it has none. */
static bool address_in(Dwarf_Die *die, unsigned attribute, uint64_t *address)
{
    Dwarf_Attribute found;
    Dwarf_Op *ops;
    size_t count = 0;

    if (!dwarf_attr(die, attribute, &found) || dwarf_getlocation(&found, &ops, &count) != 0 || count != 1 ||
        ops[0].atom != DW_OP_addr) {
        return false;
    }
    *address = ops[0].number;
    return true;
}

bool info_function(const struct info *info, uint32_t insn, struct info_function *function)
{
    const Dwarf_Addr address = (Dwarf_Addr)insn * PPU_INSN_BYTES;
    Dwarf_Die unit = info->unit, die;
    Dwarf_Addr low, high;
    uint64_t return_at = 0;

    if (dwarf_child(&unit, &die) != 0) {
        return false;
    }
    do {
        if (dwarf_tag(&die) == DW_TAG_subprogram && dwarf_lowpc(&die, &low) == 0 && dwarf_highpc(&die, &high) == 0 &&
            low <= address && address < high) {
            const bool is_called = address_in(&die, DW_AT_return_addr, &return_at);
            *function = (struct info_function){ (uint32_t)(low / PPU_INSN_BYTES), (uint32_t)(high / PPU_INSN_BYTES),
                                                is_called, (uint32_t)return_at };
            return function->begin <= insn && insn < function->end;
        }
    } while (next_child(&die));
    return false;
}

/* ---- variables ---- */

static struct info_variable describe(Dwarf_Die *die, uint32_t depth)
{
    struct info_variable variable = { .name = dwarf_diename(die), .depth = depth };
    Dwarf_Attribute attribute, type;
    Dwarf_Word word;

    variable.is_parameter = dwarf_tag(die) == DW_TAG_formal_parameter;
    if (!variable.name || !dwarf_attr(die, DW_AT_type, &type) || !dwarf_formref_die(&type, &variable.type)) {
        variable.name = NULL;
        return variable;
    }
    if (dwarf_attr(die, DW_AT_const_value, &attribute) && dwarf_formudata(&attribute, &word) == 0) {
        variable.where = INFO_CONSTANT;
        variable.value = word;
    } else if (address_in(die, DW_AT_location, &variable.value)) {
        variable.where = INFO_MEMORY;
        variable.space = (enum ppu_debug_space)number_in(die, DW_AT_address_class);
    }
    return variable;
}

struct visitor {
    bool (*visit)(void *opaque, const struct info_variable *variable);
    void *opaque;
};

/* False: the visitor wants no more. */
static bool visit_scope(Dwarf_Die *scope, uint32_t depth, const struct visitor *visitor)
{
    Dwarf_Die child;
    bool more = dwarf_child(scope, &child) == 0, go_on = true;

    for (; more && go_on; more = next_child(&child)) {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
            struct info_variable variable = describe(&child, depth);
            variable.is_global = dwarf_tag(scope) == DW_TAG_compile_unit;
            go_on = !variable.name || visitor->visit(visitor->opaque, &variable);
        }
    }
    return go_on;
}

void info_variables(const struct info *info, uint32_t insn, uint32_t frame,
                    bool (*visit)(void *opaque, const struct info_variable *variable), void *opaque)
{
    const struct visitor visitor = { visit, opaque };
    Dwarf_Die unit = info->unit, *scopes = NULL;
    int count = scopes_at(info, insn, &scopes);
    uint32_t functions = 0; /* that were left */
    bool go_on = true;

    for (int i = 0; i < count && go_on && functions <= frame; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (functions == frame && tag != DW_TAG_compile_unit) { /* callers' are not visible */
            go_on = visit_scope(&scopes[i], (uint32_t)i, &visitor);
        }
        functions += is_function(tag);
    }
    if (go_on) {
        visit_scope(&unit, (uint32_t)(count > 0 ? count : 0), &visitor);
    }
    free(scopes);
}

struct search {
    const char *name;
    struct info_variable *variable;
    bool found;
};

static bool is_it(void *opaque, const struct info_variable *variable)
{
    struct search *search = opaque;

    if (strcmp(variable->name, search->name) == 0) {
        *search->variable = *variable;
        search->found = true;
    }
    return !search->found;
}

bool info_find(const struct info *info, uint32_t insn, uint32_t frame, const char *name, struct info_variable *variable)
{
    struct search search = { name, variable, false };

    info_variables(info, insn, frame, is_it, &search);
    return search.found;
}
