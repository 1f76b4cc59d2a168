/* SPDX-License-Identifier: MIT */
/* Reads types of debug information, and prints values by them. */
#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/dbg/info.h"

#define DEEPEST 16u     /* types of types: what goes deeper is malformed, or a ring */
#define MOST_SHOWN 200u /* elements of an array */

static bool base_of(Dwarf_Die *type, Dwarf_Die *base)
{
    Dwarf_Attribute attribute;

    return dwarf_attr(type, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, base);
}

static uint64_t number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    Dwarf_Word word = 0;

    return dwarf_attr(die, attribute, &found) && dwarf_formudata(&found, &word) == 0 ? word : 0;
}

static bool is_name(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type;
}

Dwarf_Die info_strip(Dwarf_Die type)
{
    Dwarf_Die base;

    for (uint32_t i = 0; i < DEEPEST && is_name(dwarf_tag(&type)) && base_of(&type, &base); i++) {
        type = base;
    }
    return type;
}

uint64_t info_bytes(Dwarf_Die type)
{
    Dwarf_Die stripped = info_strip(type);

    return number_of(&stripped, DW_AT_byte_size);
}

static bool is_vector(Dwarf_Die *array)
{
    return dwarf_hasattr(array, DW_AT_GNU_vector) != 0;
}

static const char *space_word(enum ppu_debug_space space)
{
    static const char *const words[] = {
        [PPU_DEBUG_GLOBAL] = "__global ",
        [PPU_DEBUG_CONSTANT] = "__constant ",
        [PPU_DEBUG_SHARED] = "__local ",
        [PPU_DEBUG_GENERIC] = "__generic ",
    };

    return (uint32_t)space < PPU_ARRAY_SIZE(words) && words[space] ? words[space] : "";
}

static void print_type(Dwarf_Die type, FILE *out, uint32_t depth)
{
    const char *name = dwarf_diename(&type);
    int tag = dwarf_tag(&type);
    Dwarf_Die base;

    if (depth == DEEPEST || (!base_of(&type, &base) && !name)) {
        fputs("?", out);
    } else if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type) {
        fprintf(out, "%s %s",
                tag == DW_TAG_union_type       ? "union"
                : tag == DW_TAG_structure_type ? "struct"
                                               : "enum",
                name);
    } else if (name) {
        fputs(name, out);
    } else if (tag == DW_TAG_pointer_type) {
        fputs(space_word((enum ppu_debug_space)number_of(&type, DW_AT_address_class)), out);
        print_type(base, out, depth + 1);
        fputs(" *", out);
    } else if (tag == DW_TAG_array_type) {
        print_type(base, out, depth + 1);
        fprintf(out, "[%llu]", (unsigned long long)info_elements(type));
    } else {
        fputs(tag == DW_TAG_volatile_type ? "volatile " : "const ", out);
        print_type(base, out, depth + 1);
    }
}

void info_type_name(Dwarf_Die type, FILE *out)
{
    print_type(type, out, 0);
}

bool info_target(Dwarf_Die type, Dwarf_Die *target, enum ppu_debug_space *space)
{
    Dwarf_Die stripped = info_strip(type);
    int tag = dwarf_tag(&stripped);

    if (space) {
        *space = (enum ppu_debug_space)number_of(&stripped, DW_AT_address_class);
    }
    return (tag == DW_TAG_pointer_type || tag == DW_TAG_array_type) && base_of(&stripped, target);
}

uint64_t info_elements(Dwarf_Die type)
{
    Dwarf_Die array = info_strip(type), range;
    uint64_t elements = 1;
    bool any = false;

    if (dwarf_tag(&array) != DW_TAG_array_type || dwarf_child(&array, &range) != 0) {
        return 0;
    }
    do {
        if (dwarf_tag(&range) == DW_TAG_subrange_type) {
            elements *= number_of(&range, DW_AT_count);
            any = true;
        }
    } while (dwarf_siblingof(&range, &range) == 0);
    return any ? elements : 0;
}

/* The element that a letter or s and a digit of a vector means; -1: none. */
static int component_of(const char *name)
{
    static const char letters[] = "xyzw";
    const char *letter = name[0] != 0 && name[1] == 0 ? strchr(letters, name[0]) : NULL;

    if (letter) {
        return (int)(letter - letters);
    }
    if ((name[0] == 's' || name[0] == 'S') && isxdigit((unsigned char)name[1]) && name[2] == 0) {
        return (int)strtol(name + 1, NULL, 16);
    }
    return -1;
}

bool info_member(Dwarf_Die type, const char *name, Dwarf_Die *member, uint64_t *offset)
{
    Dwarf_Die stripped = info_strip(type), child;

    if (dwarf_tag(&stripped) == DW_TAG_array_type) {
        int component = is_vector(&stripped) ? component_of(name) : -1;
        if (component < 0 || (uint64_t)component >= info_elements(stripped) || !base_of(&stripped, member)) {
            return false;
        }
        *offset = (uint64_t)component * info_bytes(*member);
        return true;
    }
    for (bool more = dwarf_child(&stripped, &child) == 0; more; more = dwarf_siblingof(&child, &child) == 0) {
        const char *own = dwarf_diename(&child);
        if (dwarf_tag(&child) == DW_TAG_member && own && strcmp(own, name) == 0) {
            *offset = number_of(&child, DW_AT_data_member_location);
            return base_of(&child, member);
        }
    }
    return false;
}

void info_members(Dwarf_Die type, bool (*visit)(void *opaque, const char *name), void *opaque)
{
    Dwarf_Die stripped = info_strip(type), child;
    const int tag = dwarf_tag(&stripped);
    const bool has_any = tag == DW_TAG_structure_type || tag == DW_TAG_union_type;

    for (bool more = has_any && dwarf_child(&stripped, &child) == 0; more;
         more = dwarf_siblingof(&child, &child) == 0) {
        const char *name = dwarf_diename(&child);
        if (dwarf_tag(&child) == DW_TAG_member && name && !visit(opaque, name)) {
            return;
        }
    }
}

static uint64_t encoding_of(Dwarf_Die type)
{
    Dwarf_Die stripped = info_strip(type);

    return dwarf_tag(&stripped) == DW_TAG_base_type ? number_of(&stripped, DW_AT_encoding) : 0;
}

bool info_is_signed(Dwarf_Die type)
{
    uint64_t encoding = encoding_of(type);

    return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

bool info_is_float(Dwarf_Die type)
{
    return encoding_of(type) == DW_ATE_float;
}

/* ---- values ---- */

/* Bytes of a value; a type that is malformed may say that there are more. */
struct value {
    const uint8_t *at;
    uint64_t bytes;
};

static struct value part_of(struct value value, uint64_t offset)
{
    offset = PPU_MIN(offset, value.bytes);
    return (struct value){ value.at + offset, value.bytes - offset };
}

static double half_number(uint16_t bits)
{
    uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
    double value = exponent == 0 ? fraction * 0x1p-24 : 0;

    if (exponent == 31) {
        value = fraction != 0 ? __builtin_nan("") : __builtin_inf();
    } else if (exponent != 0) {
        value = (1024u + fraction) * 0x1p-25 * (double)(1ull << exponent);
    }
    return bits >> 15 != 0 ? -value : value;
}

static void print_float(const uint8_t *value, uint64_t bytes, FILE *out)
{
    uint16_t half;
    float single;
    double real;

    if (bytes == sizeof(half)) {
        memcpy(&half, value, sizeof(half));
        fprintf(out, "%.5g", half_number(half));
    } else if (bytes == sizeof(single)) {
        memcpy(&single, value, sizeof(single));
        fprintf(out, "%.9g", (double)single);
    } else if (bytes == sizeof(real)) {
        memcpy(&real, value, sizeof(real));
        fprintf(out, "%.17g", real);
    }
}

static uint64_t bits_of(const uint8_t *value, uint64_t bytes)
{
    uint64_t bits = 0;

    memcpy(&bits, value, PPU_MIN(bytes, sizeof(bits)));
    return bits;
}

static int64_t extend(uint64_t bits, uint64_t bytes)
{
    uint32_t spare = bytes != 0 && bytes < sizeof(bits) ? (uint32_t)(sizeof(bits) - bytes) * 8 : 0;

    return (int64_t)(bits << spare) >> spare;
}

static void print_enumeration(Dwarf_Die type, const uint8_t *value, uint64_t bytes, FILE *out)
{
    int64_t number = extend(bits_of(value, bytes), bytes);
    Dwarf_Die child;

    for (bool more = dwarf_child(&type, &child) == 0; more; more = dwarf_siblingof(&child, &child) == 0) {
        Dwarf_Attribute attribute;
        Dwarf_Sword word;
        if (dwarf_attr(&child, DW_AT_const_value, &attribute) && dwarf_formsdata(&attribute, &word) == 0 &&
            word == number && dwarf_diename(&child)) {
            fputs(dwarf_diename(&child), out);
            return;
        }
    }
    fprintf(out, "%lld", (long long)number);
}

static void print_value(Dwarf_Die type, struct value value, FILE *out, uint32_t depth);

static void print_elements(Dwarf_Die array, struct value value, FILE *out, uint32_t depth)
{
    uint64_t count = info_elements(array), shown = PPU_MIN(count, MOST_SHOWN);
    Dwarf_Die element;

    fputs("{", out);
    for (uint64_t i = 0; i < shown && base_of(&array, &element); i++) {
        fputs(i != 0 ? ", " : "", out);
        print_value(element, part_of(value, i * info_bytes(element)), out, depth + 1);
    }
    fputs(shown < count ? " ...}" : "}", out);
}

static void print_members(Dwarf_Die structure, struct value value, FILE *out, uint32_t depth)
{
    Dwarf_Die child, type;
    const char *before = "";

    fputs("{", out);
    for (bool more = dwarf_child(&structure, &child) == 0; more; more = dwarf_siblingof(&child, &child) == 0) {
        if (dwarf_tag(&child) == DW_TAG_member && base_of(&child, &type)) {
            const char *name = dwarf_diename(&child);
            fprintf(out, "%s%s = ", before, name ? name : "?");
            print_value(type, part_of(value, number_of(&child, DW_AT_data_member_location)), out, depth + 1);
            before = ", ";
        }
    }
    fputs("}", out);
}

static void print_number(Dwarf_Die type, const uint8_t *value, uint64_t bytes, FILE *out)
{
    uint64_t encoding = encoding_of(type), bits = bits_of(value, bytes);

    if (encoding == DW_ATE_float) {
        print_float(value, bytes, out);
    } else if (encoding == DW_ATE_boolean) {
        fputs(bits & 0xffu ? "true" : "false", out);
    } else if (info_is_signed(type)) {
        fprintf(out, "%lld", (long long)extend(bits, bytes));
    } else {
        fprintf(out, "%llu", (unsigned long long)bits);
    }
}

static void print_value(Dwarf_Die type, struct value value, FILE *out, uint32_t depth)
{
    Dwarf_Die stripped = info_strip(type);
    uint64_t bytes = info_bytes(stripped);

    if (depth == DEEPEST || bytes > value.bytes) {
        fputs("...", out);
        return;
    }
    switch (dwarf_tag(&stripped)) {
    case DW_TAG_base_type:
        print_number(stripped, value.at, bytes, out);
        break;
    case DW_TAG_pointer_type:
        fprintf(out, "0x%llx", (unsigned long long)bits_of(value.at, bytes));
        break;
    case DW_TAG_array_type:
        print_elements(stripped, value, out, depth);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        print_members(stripped, value, out, depth);
        break;
    case DW_TAG_enumeration_type:
        print_enumeration(stripped, value.at, bytes, out);
        break;
    default:
        fputs("?", out);
    }
}

void info_print(Dwarf_Die type, const uint8_t *value, FILE *out)
{
    print_value(type, (struct value){ value, info_bytes(type) }, out, 0);
}
