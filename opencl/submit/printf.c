/* SPDX-License-Identifier: MIT */
#include "opencl/submit/printf.h"

#include "opencl/submit/sanitizer.h"
#include "ppu/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_WORDS 2u /* of a record: its words, number of the format */
#define CAPACITY ((PRINTF_BUFFER_BYTES - (uint32_t)sizeof(struct ppu_printf_buffer)) / sizeof(uint32_t))
#define MAX_FIELD 4095u /* width and precision; C promises 509 characters for each conversion */

/* The arguments of one record, from left to right. */
struct record {
    const uint32_t *words;
    uint32_t left;
    const struct print_source *source;
};

/* Where text goes, and how much more may. */
struct output {
    FILE *to;
    size_t left;
    char *reports; /* NULL: none */
};

/* One conversion: %[flags][width][.precision][vector][length]letter */
struct conversion {
    char flags[6];
    uint32_t width, precision;
    bool has_width, has_precision;
    uint32_t elements; /* of a vector; 0: no vector */
    char length[3];    /* "", "hh", "h", "hl", "l" */
    char letter;
};

_Static_assert(CAPACITY % 2 == 0, "the table of ranges is aligned");

struct ppu_sanitizer_table *printf_ranges(struct ppu_printf_buffer *buffer)
{
    return (struct ppu_sanitizer_table *)(void *)&buffer->words[CAPACITY];
}

void printf_begin(struct ppu_printf_buffer *buffer)
{
    buffer->capacity = CAPACITY;
    buffer->used = 0;
}

/* ---- formats ---- */

static uint32_t parse_number(const char **at)
{
    uint32_t number = 0;

    for (; **at >= '0' && **at <= '9'; (*at)++) {
        number = number * 10 + (uint32_t)(**at - '0');
        number = PPU_MIN(number, MAX_FIELD);
    }
    return number;
}

static void parse_flags(const char **at, struct conversion *c)
{
    for (size_t n = 0; **at != '\0' && strchr("-+ #0", **at); (*at)++) {
        if (n + 1 < sizeof(c->flags) && !strchr(c->flags, **at)) {
            c->flags[n++] = **at;
        }
    }
}

static void parse_length(const char **at, struct conversion *c)
{
    static const char *const lengths[] = { "hh", "hl", "h", "l" };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(lengths); i++) {
        size_t length = strlen(lengths[i]);
        if (strncmp(*at, lengths[i], length) == 0) {
            memcpy(c->length, lengths[i], length);
            *at += length;
            return;
        }
    }
}

/* *at stands behind the percent sign, and afterwards behind the conversion. False: it is none. */
static bool parse_conversion(const char **at, struct conversion *c)
{
    *c = (struct conversion){ .letter = '\0' };
    parse_flags(at, c);
    c->has_width = **at >= '1' && **at <= '9';
    c->width = parse_number(at);
    if (**at == '.') {
        (*at)++;
        c->has_precision = true;
        c->precision = parse_number(at);
    }
    if (**at == 'v') {
        (*at)++;
        c->elements = parse_number(at);
    }
    parse_length(at, c);
    if (**at == '\0' || !strchr("diouxXfFeEgGaAcsp", **at)) {
        return false;
    }
    c->letter = *(*at)++;
    return true;
}

/* Writes the conversion for the host's printf, with its own idea of lengths. */
static void write_format(char *text, size_t bytes, const struct conversion *c, const char *length)
{
    int at = snprintf(text, bytes, "%%%s", c->flags);

    if (c->has_width) {
        at += snprintf(text + at, bytes - (size_t)at, "%u", c->width);
    }
    if (c->has_precision) {
        at += snprintf(text + at, bytes - (size_t)at, ".%u", c->precision);
    }
    snprintf(text + at, bytes - (size_t)at, "%s%c", length, c->letter);
}

/* ---- output ---- */

static void put_bytes(struct output *out, const char *text, size_t bytes)
{
    bytes = PPU_MIN(bytes, out->left);
    fwrite(text, 1, bytes, out->to);
    out->left -= bytes;
}

/* Adds what one conversion has written. It counts as something also when that is nothing. */
static void note_written(struct output *out, int bytes)
{
    size_t used = bytes > 0 ? (size_t)bytes : 1;

    out->left -= PPU_MIN(used, out->left);
}

/* ---- arguments ---- */

/* 0 when the record has no more. */
static uint64_t take_words(struct record *record, uint32_t words)
{
    uint64_t value = 0;

    if (words <= record->left) {
        value = record->words[0] | (words == 2 ? (uint64_t)record->words[1] << 32 : 0);
        record->words += words;
        record->left -= words;
    } else {
        record->left = 0;
    }
    return value;
}

static double float_of(uint64_t bits)
{
    const uint32_t word = (uint32_t)bits;
    float value;

    memcpy(&value, &word, sizeof(value));
    return (double)value;
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* A float that is no part of a vector was made a double by the call. */
static void print_float(struct output *out, struct record *record, const struct conversion *c)
{
    bool is_double = c->elements == 0 || strcmp(c->length, "l") == 0;
    char format[32];

    write_format(format, sizeof(format), c, "");
    note_written(
        out, fprintf(out->to, format, is_double ? double_of(take_words(record, 2)) : float_of(take_words(record, 1))));
}

static int64_t cut(uint64_t bits, const struct conversion *c)
{
    bool is_signed = c->letter == 'd' || c->letter == 'i';

    if (strcmp(c->length, "hh") == 0) {
        return is_signed ? (int8_t)bits : (int64_t)(uint8_t)bits;
    }
    if (strcmp(c->length, "h") == 0) {
        return is_signed ? (int16_t)bits : (int64_t)(uint16_t)bits;
    }
    if (strcmp(c->length, "l") == 0) {
        return (int64_t)bits;
    }
    return is_signed ? (int32_t)bits : (int64_t)(uint32_t)bits;
}

static void print_integer(struct output *out, struct record *record, const struct conversion *c)
{
    char format[32];

    write_format(format, sizeof(format), c, "ll");
    note_written(out,
                 fprintf(out->to, format, (long long)cut(take_words(record, strcmp(c->length, "l") == 0 ? 2 : 1), c)));
}

static void print_letter(struct output *out, struct record *record, const struct conversion *c)
{
    char format[32];

    write_format(format, sizeof(format), c, "");
    note_written(out, fprintf(out->to, format, (int)(uint8_t)take_words(record, 1)));
}

static void print_pointer(struct output *out, struct record *record, const struct conversion *c)
{
    char format[32];

    write_format(format, sizeof(format), c, "");
    note_written(out, fprintf(out->to, format, (void *)(uintptr_t)take_words(record, 2)));
}

/* A string is a literal: it lies behind the code. */
static void print_string(struct output *out, struct record *record, const struct conversion *c)
{
    const struct ppu_program_view *view = record->source->view;
    uint64_t va = take_words(record, 2), offset = va - record->source->code_va;
    const char *text = va == 0 ? "(null)" : "(not a literal)";
    struct conversion bounded = *c;
    size_t length = strlen(text);
    char format[32];

    if (offset < view->header->code_bytes) {
        text = (const char *)view->code + offset;
        length = strnlen(text, view->header->code_bytes - offset);
    }
    length = PPU_MIN(length, MAX_FIELD);
    bounded.precision = c->has_precision && c->precision < length ? c->precision : (uint32_t)length;
    bounded.has_precision = true;
    write_format(format, sizeof(format), &bounded, "");
    note_written(out, fprintf(out->to, format, text));
}

/* ---- records ---- */

static void print_one(struct output *out, struct record *record, const struct conversion *c)
{
    switch (c->letter) {
    case 'c':
        print_letter(out, record, c);
        break;
    case 's':
        print_string(out, record, c);
        break;
    case 'p':
        print_pointer(out, record, c);
        break;
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        print_integer(out, record, c);
        break;
    default:
        print_float(out, record, c);
    }
}

static void print_conversion(struct output *out, struct record *record, const struct conversion *c)
{
    print_one(out, record, c);
    for (uint32_t i = 1; i < c->elements && record->left > 0 && out->left > 0; i++) {
        put_bytes(out, ",", 1);
        print_one(out, record, c);
    }
}

static void print_record(struct output *out, struct record *record, const char *format)
{
    while (*format != '\0' && out->left > 0) {
        size_t plain = strcspn(format, "%");
        struct conversion conversion;
        put_bytes(out, format, plain);
        format += plain;
        if (*format == '\0') {
            break;
        }
        const char *at = format + 1;
        if (*at == '%') {
            put_bytes(out, "%", 1);
            at++;
        } else if (parse_conversion(&at, &conversion)) {
            print_conversion(out, record, &conversion);
        } else { /* as it stands */
            put_bytes(out, format, (size_t)(at - format));
        }
        format = at;
    }
}

/* `words`: nobody else's. */
static void print_records(struct output *out, const uint32_t *words, uint32_t used, const struct print_source *source)
{
    const struct ppu_program_view *view = source->view;

    for (uint32_t at = 0; used - at >= HEAD_WORDS && out->left > 0;) {
        uint32_t count = words[at], format = words[at + 1];
        if (count < HEAD_WORDS || count > used - at || format >= view->header->formats) {
            return;
        }
        struct record record = { words + at + HEAD_WORDS, count - HEAD_WORDS, source };
        if (ppu_sanitizer_is_report(view->text + view->formats[format])) {
            sanitizer_report(source, format, record.words, record.left, &out->reports);
        } else {
            print_record(out, &record, view->text + view->formats[format]);
        }
        at += count;
    }
}

/* False: no memory. `all`: nothing was left out. */
static bool print_copy(const uint32_t *words, uint32_t used, const struct print_source *source, bool *all,
                       char **reports)
{
    char *text = NULL;
    size_t bytes = 0;
    struct output out = { open_memstream(&text, &bytes), PRINTF_MOST_BYTES, NULL };

    if (!out.to) {
        return false;
    }
    print_records(&out, words, used, source);
    bool written = fclose(out.to) == 0;
    if (written) {
        fwrite(text, 1, bytes, stdout);
        fflush(stdout);
    }
    free(text);
    *all = out.left > 0;
    *reports = out.reports;
    return written;
}

const char *printf_end(struct ppu_printf_buffer *buffer, const struct print_source *source, char **reports)
{
    uint32_t asked = __atomic_load_n(&buffer->used, __ATOMIC_RELAXED), used = PPU_MIN(asked, CAPACITY);
    size_t bytes = used * sizeof(buffer->words[0]);
    uint32_t *words = malloc(bytes + 1);
    bool all = true, printed = words;

    *reports = NULL;
    if (printed && used > 0) {
        memcpy(words, buffer->words, bytes);
        printed = print_copy(words, used, source, &all, reports);
    }
    free(words);
    /* What a thread has not written, because its record did not fit, must not look like one. */
    memset(buffer->words, 0, bytes);
    __atomic_store_n(&buffer->used, 0, __ATOMIC_RELAXED);
    return !printed           ? "there was no memory, and the output is lost"
           : !all             ? "the output was too long, and the rest is lost"
           : asked > CAPACITY ? "the buffer was too small, and the last output is lost"
                              : NULL;
}
