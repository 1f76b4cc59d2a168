/* SPDX-License-Identifier: MIT */
/* Tests programs that cannot be compiled, options that are none, and bitcode and images that are damaged. */
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bad {
    const char *source;
    const char *options;
    enum ppu_compile_status status;
    const char *says; /* in the log */
};

static const struct bad bads[] = {
    { "kernel void k(global int *o) { o[0] = nothing; }", "", PPU_COMPILE_BAD_SOURCE,
      "test.cl:1:39: error: use of undeclared" },
    { "kernel void k(global int *o) { o[0] = 1 }", "", PPU_COMPILE_BAD_SOURCE, "expected ';'" },
    { "int g(int x); kernel void k(global int *o) { o[0] = g(o[1]); }", "", PPU_COMPILE_UNSUPPORTED, "'g'" },
    { "int f(int x) { return x < 2 ? 1 : x * f(x - 1) + f(x - 2); } kernel void k(global int *o) { o[0] = f(o[1]); }",
      "", PPU_COMPILE_UNSUPPORTED, "recursion: 'f'" },
    { "kernel void k(global int *o) {\n  __asm__(\"nop\");\n}", "", PPU_COMPILE_UNSUPPORTED,
      "test.cl:2:3: error: assembly of another machine" },
    { "extern int other; kernel void k(global int *o) { o[0] = other; }", "-cl-std=CL3.0", PPU_COMPILE_UNSUPPORTED,
      "declared but not defined" },
    { "int many[1100000000]; kernel void k(global int *o) { many[o[0]] = 1; o[1] = many[o[2]]; }", "-cl-std=CL3.0",
      PPU_COMPILE_TOO_LARGE, "program-scope variables" },
    { "int some[600000000], other[600000000]; kernel void k(global int *o) { some[o[0]] = other[o[2]]++; }",
      "-cl-std=CL3.0", PPU_COMPILE_TOO_LARGE, "program-scope variables need more than 4294901760 bytes" },
    { "kernel void k(global int *o) { o[0] = 1; }", "-o /tmp/x", PPU_COMPILE_BAD_OPTIONS, "'-o'" },
    { "kernel void k(global int *o) { o[0] = 1; }", "-Xclang -load", PPU_COMPILE_BAD_OPTIONS, "'-Xclang'" },
    { "kernel void k(global int *o) { o[0] = 1; }", "-D", PPU_COMPILE_BAD_OPTIONS, "needs a word" },
    { "kernel __attribute__((reqd_work_group_size(64, 64, 1))) void k(global int *o) { o[0] = 1; }", "",
      PPU_COMPILE_TOO_LARGE, "64 x 64 x 1" },
    { "kernel void k(global int *o) { local int a[40000]; a[o[0]] = 1; barrier(0); o[1] = a[o[2]]; }", "",
      PPU_COMPILE_TOO_LARGE, "'k' has a variable of 160000 bytes in local memory, where " },
    { "kernel void k(global int *o)\n{\n  int a[200000];\n  for (int i = 0; i < 200000; i++)\n    a[i] = o[i];\n"
      "  o[0] = a[o[7]];\n}",
      "", PPU_COMPILE_TOO_LARGE,
      "test.cl:3:3: error: 'k' has a variable of 800000 bytes in private memory, where 524272 of 524288 bytes are" },
    { "__attribute__((noinline)) int f(global int *o, int n)\n{\n  int a[100000];\n  for (int i = 0; i < n; i++)\n"
      "    a[i] = o[i];\n  return a[o[7]];\n}\n"
      "kernel void k(global int *o, int n)\n{\n  int b[100000];\n  for (int i = 0; i < n; i++)\n"
      "    b[i] = o[i];\n  o[0] = b[o[8]] + f(o, n);\n}",
      "", PPU_COMPILE_TOO_LARGE,
      "test.cl:10:3: error: 'k' has a variable of 400000 bytes in private memory, where 124240 of 524288 bytes are" },
};

static void bad_programs(void **state)
{
    uint32_t misses = 0;

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(bads); i++) {
        const struct ppu_compile_options options = { .name = "test.cl", .options = bads[i].options };
        struct ppu_compiled image;
        enum ppu_compile_status status = ppu_compile(bads[i].source, strlen(bads[i].source), &options, &image);

        if (status != bads[i].status || !strstr(image.log, bads[i].says) || image.bytes) {
            print_error("program %zu: status %d, log: %s\n", i, (int)status, image.log);
            misses++;
        }
        ppu_compiled_free(&image);
    }
    assert_int_equal(misses, 0);
}

/* Two functions that do not call each other have their frames at one place: apart there would be no room for both. */
static void frames_share_memory(void **state)
{
    static const char source[] =
        "__attribute__((noinline)) int f(global int *o, int n)\n{\n  int a[70000];\n  for (int i = 0; i < n; i++)\n"
        "    a[i] = o[i];\n  return a[o[7]];\n}\n"
        "__attribute__((noinline)) int g(global int *o, int n)\n{\n  int a[70000];\n  for (int i = 0; i < n; i++)\n"
        "    a[i] = 2 * o[i];\n  return a[o[8]];\n}\n"
        "kernel void k(global int *o, int n) { o[0] = f(o, n) + g(o, n); }\n";
    const struct ppu_compile_options options = { .name = "test.cl", .options = "" };
    struct ppu_compiled image;

    (void)state;
    enum ppu_compile_status status = ppu_compile(source, strlen(source), &options, &image);
    if (status != PPU_COMPILE_OK) {
        fail_msg("status %d, log: %s", (int)status, image.log);
    }
    ppu_compiled_free(&image);
}

/* One that does not end is ended; one that ends in time is not. */
static void slow_clang(void **state)
{
    static const struct {
        const char *script;
        enum ppu_compile_status status;
        const char *says;
    } cases[] = {
        { "exec sleep 100", PPU_COMPILE_NO_TOOL, "it has not ended in 400 ms" },
        { "kill -9 $$", PPU_COMPILE_NO_TOOL, "it was ended by a signal" },
        { "exit 1", PPU_COMPILE_BAD_SOURCE, "" },
    };
    char clang[] = "/tmp/ppu-clang-XXXXXX";

    (void)state;
    close(mkstemp(clang));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        const struct ppu_compile_options options = { .clang = clang, .clang_ms = 400 };
        struct ppu_compiled image;
        FILE *script = fopen(clang, "w");
        assert_non_null(script);
        fprintf(script, "#!/bin/sh\n%s\n", cases[i].script);
        fclose(script);
        chmod(clang, 0700);
        assert_int_equal(ppu_compile("", 0, &options, &image), cases[i].status);
        assert_non_null(strstr(image.log, cases[i].says));
        ppu_compiled_free(&image);
    }
    remove(clang);
}

static void no_clang(void **state)
{
    const struct ppu_compile_options options = { .clang = "/nowhere/clang" };
    struct ppu_compiled image;

    (void)state;
    assert_int_equal(ppu_compile("kernel void k() {}", 18, &options, &image), PPU_COMPILE_NO_TOOL);
    assert_non_null(strstr(image.log, "/nowhere/clang"));
    ppu_compiled_free(&image);
}

static void not_bitcode(void **state)
{
    static const char text[64] = "this is no module of LLVM, whatever else it may be";
    struct ppu_compiled image;

    (void)state;
    assert_int_equal(ppu_compile_bitcode(text, sizeof(text), NULL, &image), PPU_COMPILE_BAD_SOURCE);
    ppu_compiled_free(&image);
}

static void warnings_are_kept(void **state)
{
    static const char source[] = "kernel void k(global int *o) { int unused = 3 ? : 4; o[0] = 1; o[0] == 2; }";
    struct ppu_compiled image;

    (void)state;
    assert_int_equal(ppu_compile(source, sizeof(source) - 1, NULL, &image), PPU_COMPILE_OK);
    assert_non_null(strstr(image.log, "warning"));
    assert_non_null(image.bytes);
    ppu_compiled_free(&image);
}

static void byte_order_mark(void **state)
{
    static const char source[] = "\xef\xbb\xbfkernel void k(global int *o) { o[0] = 1; }";
    struct ppu_compiled image;

    (void)state;
    assert_int_equal(ppu_compile(source, sizeof(source) - 1, NULL, &image), PPU_COMPILE_OK);
    assert_string_equal(image.log, "");
    ppu_compiled_free(&image);
}

/* Images of another version or machine, and names that are not there. */
static void wrong_images(void **state)
{
    static const char source[] = "kernel void k(global int *o) { o[0] = 1; }";
    struct ppu_compiled image;
    struct ppu_program_view view = { .header = NULL };

    (void)state;
    assert_int_equal(ppu_compile(source, sizeof(source) - 1, NULL, &image), PPU_COMPILE_OK);
    assert_null(ppu_program_open(image.bytes, image.len_bytes, &view));
    assert_non_null(ppu_program_kernel(&view, "k"));
    assert_null(ppu_program_kernel(&view, "other"));
    struct ppu_program_header *header = (struct ppu_program_header *)(void *)image.bytes;
    header->head.version++;
    assert_string_equal(ppu_program_open(image.bytes, image.len_bytes, &view), "program image has an unknown version");
    header->head.version--;
    header->isa_version++;
    assert_string_equal(ppu_program_open(image.bytes, image.len_bytes, &view),
                        "program image is for another instruction set");
    ppu_compiled_free(&image);
}

/* Entries that say what their kind cannot: the kernel is k(global uint *, local uint *, queue_t, char), then l(). */
enum { O, L, Q, C, ARGUMENTS };

struct entries {
    struct ppu_program_header *header;
    struct ppu_kernel_entry *kernels;
    struct ppu_argument_entry *arguments;
    struct ppu_address_entry *addresses;
};

#define WRONG(name, statement)                \
    static void name(const struct entries *e) \
    {                                         \
        statement;                            \
    }
WRONG(global_beyond, e->arguments[O].offset = 4096; e->arguments[O].bytes = 0)
WRONG(local_beyond, e->arguments[L].offset = 4092)
WRONG(queue_small, e->arguments[Q].bytes = 4)
WRONG(global_large, e->arguments[O].bytes = 16)
WRONG(value_large, e->arguments[C].bytes = PPU_MAX_OBJECT + 1)
WRONG(value_over, e->arguments[C].offset = 4095; e->arguments[C].bytes = 2)
WRONG(block_beyond, e->arguments[C].offset = 0xffffffff; e->arguments[C].bytes = 0x10000)
WRONG(block_order, e->arguments[L].offset = 4096 + 32; e->arguments[C].offset = 4096)
WRONG(block_nowhere, e->kernels[0].implicit_at = 0; e->arguments[C].offset = 4096)
WRONG(block_on_arguments, e->arguments[C].offset = 4096; e->kernels[0].implicit_at = 24)
WRONG(local_odd, e->arguments[L].offset += 4)
WRONG(kind_unknown, e->arguments[C].kind = PPU_ARGUMENT_KINDS)
WRONG(kind_other, e->arguments[C].kind = PPU_ARGUMENT_LOCAL)
WRONG(qualifier_unknown, e->arguments[O].qualifiers = PPU_ARGUMENT_QUALIFIERS + 1u)
WRONG(element_large, e->arguments[O].element_log2 = 8)
WRONG(reach_backwards, e->arguments[O].reach.low = 1; e->arguments[O].reach.high = 0)
WRONG(name_beyond, e->arguments[C].name = e->header->text_bytes)
WRONG(overlap, e->arguments[L].offset = e->arguments[O].offset)
WRONG(order, e->arguments[O].offset = 64; e->kernels[0].implicit_at = 0; e->kernels[0].param_bytes = 4096)
WRONG(in_implicit, e->arguments[C].bytes = 9)
WRONG(beyond_parameters, e->kernels[0].implicit_at = 0; e->kernels[0].param_bytes = 24)
WRONG(implicit_on_arguments, e->kernels[0].implicit_at = 16)
WRONG(implicit_beyond, e->kernels[0].implicit_at = 4096)
WRONG(shared_arguments, e->kernels[1].argument_count = ARGUMENTS; e->kernels[1].argument_first = 0)
WRONG(flat_cta, e->kernels[0].cta[1] = 4)
WRONG(large_cta, e->kernels[0].cta[0] = 1000; e->kernels[0].cta[2] = 2)
WRONG(wide_cta, e->kernels[0].cta[0] = 1025)
WRONG(address_beyond, e->addresses[0].at = e->header->code_bytes - 7)
WRONG(address_nowhere, e->addresses[0].in = PPU_PROGRAM_PARTS)
WRONG(address_of_nothing, e->addresses[0].of = PPU_PROGRAM_PARTS)
WRONG(more_zeros, e->header->zero_bytes = 8)
WRONG(odd_zeros, e->header->zero_bytes = e->header->variable_bytes = 4)
WRONG(address_in_zeros, e->header->zero_bytes = e->header->variable_bytes = 64;
      e->addresses[0].in = PPU_PROGRAM_VARIABLES)
WRONG(not_zero, e->header->reserved[0] = 1)

static const struct {
    void (*make)(const struct entries *entries);
    const char *says;
} wrongs[] = {
    { global_beyond, "argument has a size that its kind cannot have" },
    { local_beyond, "argument is misaligned for its kind" },
    { queue_small, "argument has a size that its kind cannot have" },
    { global_large, "argument has a size that its kind cannot have" },
    { value_large, "argument has a size that its kind cannot have" },
    { value_over, "argument lies outside of the parameters" },
    { block_beyond, "argument lies outside of the parameters" },
    { block_order, "argument overlaps the one before it, or lies before it" },
    { block_nowhere, "kernel has arguments outside of its parameters without their address" },
    { block_on_arguments, "argument lies outside of its kernel's parameters, or in the implicit arguments" },
    { local_odd, "argument is misaligned for its kind" },
    { kind_unknown, "argument has a kind or qualifier that does not exist" },
    { kind_other, "argument has a size that its kind cannot have" },
    { qualifier_unknown, "argument has a kind or qualifier that does not exist" },
    { element_large, "argument has larger elements than there are" },
    { reach_backwards, "argument's reach ends before it begins" },
    { name_beyond, "argument name lies beyond the text" },
    { overlap, "argument overlaps the one before it, or lies before it" },
    { order, "argument overlaps the one before it, or lies before it" },
    { in_implicit, "argument lies outside of its kernel's parameters, or in the implicit arguments" },
    { beyond_parameters, "argument lies outside of its kernel's parameters, or in the implicit arguments" },
    { implicit_on_arguments, "argument lies outside of its kernel's parameters, or in the implicit arguments" },
    { implicit_beyond, "kernel has its implicit arguments outside of its parameters" },
    { shared_arguments, "kernels share names or arguments" },
    { flat_cta, "kernel has a CTA with too many threads, or with none in its first dimension alone" },
    { large_cta, "kernel has a CTA with too many threads, or with none in its first dimension alone" },
    { wide_cta, "kernel has a CTA with too many threads, or with none in its first dimension alone" },
    { address_beyond, "program image has an address outside of what it loads" },
    { address_nowhere, "program image has an address outside of what it loads" },
    { address_of_nothing, "program image has an address outside of what it loads" },
    { more_zeros, "program image has variables of a wrong size" },
    { odd_zeros, "program image has variables of a wrong size" },
    { address_in_zeros, "program image has an address outside of what it loads" },
    { not_zero, "program image has something where zeros must be" },
};

static struct entries entries_of(uint8_t *image)
{
    struct ppu_program_header *header = (struct ppu_program_header *)(void *)image;
    struct ppu_kernel_entry *kernels = (struct ppu_kernel_entry *)(void *)(header + 1);
    struct ppu_line_entry *lines = (struct ppu_line_entry *)(void *)(kernels + header->kernels);
    struct ppu_argument_entry *arguments = (struct ppu_argument_entry *)(void *)(lines + header->lines);
    uint32_t *formats = (uint32_t *)(void *)(arguments + header->arguments);

    return (struct entries){ header, kernels, arguments,
                             (struct ppu_address_entry *)(void *)(formats + header->formats) };
}

static void wrong_entries(void **state)
{
    static const char source[] =
        "constant int there = 7, other = 8;\nconstant int *constant held[2] = { &there, &other };\n"
        "kernel void k(global uint *o, local uint *l, queue_t q, char c)\n"
        "{ l[0] = c; o[get_global_id(0)] = l[0] + *held[o[0] & 1]; }\n"
        "kernel void l() { }\n";
    const struct ppu_compile_options options = { .options = "-cl-std=CL3.0" };
    struct ppu_compiled image;
    struct ppu_program_view view = { .header = NULL };
    uint32_t misses = 0;

    (void)state;
    assert_int_equal(ppu_compile(source, sizeof(source) - 1, &options, &image), PPU_COMPILE_OK);
    assert_null(ppu_program_open(image.bytes, image.len_bytes, &view));
    assert_non_null(view.header);
    if (!view.header) {
        return; /* analysers do not know that the line before does */
    }
    assert_int_equal(view.header->arguments, ARGUMENTS);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrongs); i++) {
        uint8_t *copy = malloc(image.len_bytes);
        assert_non_null(copy);
        memcpy(copy, image.bytes, image.len_bytes);
        const struct entries entries = entries_of(copy);
        wrongs[i].make(&entries);
        const char *why = ppu_program_open(copy, image.len_bytes, &view);
        if (!why || strcmp(why, wrongs[i].says) != 0) {
            print_error("%zu: '%s' instead of '%s'\n", i, why ? why : "accepted", wrongs[i].says);
            misses++;
        }
        free(copy);
    }
    ppu_compiled_free(&image);
    assert_int_equal(misses, 0);
}

/* A reader of a damaged image either refuses it or sees only what lies within. */
static void damaged_images(void **state)
{
    static const char source[] = "kernel void k(global int *o, float x) { printf(\"%d\", 3); o[0] = x; }";
    const char *seed = getenv("PPU_SEED");
    uint64_t random = seed ? strtoull(seed, NULL, 0) : 1;
    struct ppu_compiled image;
    struct ppu_program_view view = { .header = NULL };

    (void)state;
    assert_int_equal(ppu_compile(source, sizeof(source) - 1, NULL, &image), PPU_COMPILE_OK);
    if (ppu_program_open(image.bytes, image.len_bytes, &view) || !view.header) {
        fail_msg("the image is refused");
        return;
    }
    assert_int_equal(view.header->arguments, 2);
    assert_int_equal(view.header->formats, 1);
    assert_string_equal(view.text + view.formats[0], "%d");
    for (uint32_t turn = 0; turn < 20000; turn++) {
        uint8_t *copy = malloc(image.len_bytes);
        size_t len = random_next(&random) % 8 == 0 ? random_next(&random) % (image.len_bytes + 1) : image.len_bytes;
        assert_non_null(copy);
        memcpy(copy, image.bytes, image.len_bytes);
        for (uint32_t n = random_next(&random) % 4; n != 0; n--) {
            copy[random_next(&random) % (turn % 2 ? image.len_bytes : 192)] = (uint8_t)random_next(&random);
        }
        if (!ppu_program_open(copy, len, &view)) {
            for (uint32_t k = 0; k < view.header->kernels; k++) {
                assert_true(strlen(view.text + view.kernels[k].name) < len);
                for (uint32_t a = 0; a < view.kernels[k].argument_count; a++) {
                    assert_true(strlen(view.text + view.arguments[view.kernels[k].argument_first + a].type) < len);
                }
            }
        }
        free(copy);
    }
    ppu_compiled_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "programs that cannot be compiled get a reason", bad_programs, NULL, NULL, NULL },
        { "functions that do not call each other share private memory", frames_share_memory, NULL, NULL, NULL },
        { "a missing clang is named", no_clang, NULL, NULL, NULL },
        { "a clang that does not end is ended", slow_clang, NULL, NULL, NULL },
        { "what is no bitcode is refused", not_bitcode, NULL, NULL, NULL },
        { "warnings are kept when the program compiles", warnings_are_kept, NULL, NULL, NULL },
        { "a byte-order mark before the source is none of it", byte_order_mark, NULL, NULL, NULL },
        { "images of another version and unknown kernels are refused", wrong_images, NULL, NULL, NULL },
        { "entries that say what their kind cannot are refused", wrong_entries, NULL, NULL, NULL },
        { "damaged images are refused or harmless", damaged_images, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("compiler: errors", tests, NULL, NULL);
}
