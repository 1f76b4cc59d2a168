/* SPDX-License-Identifier: MIT */
/*
 * Tests debug information: values of variables at lines, found by the image's debug information in the memory of the
 * reference executor, against what the source computes; types; and images that are malformed.
 */
#include "ppu/macros.h"
#include "tests/compiler/device.h"
#include "tools/dbg/info.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 40u
#define TURNS 7

/* Lines count from 1; `sum` and `square` are what they are when the line that the comment names begins. */
static const char source[] = "int add(int a, int b)\n"                    /* 1 */
                             "{\n"                                        /* 2 */
                             "    int both = a + b;\n"                    /* 3 */
                             "    return both;\n"                         /* 4 */
                             "}\n"                                        /* 5 */
                             "kernel void sums(global int *out, int n)\n" /* 6 */
                             "{\n"                                        /* 7 */
                             "    int i = get_global_id(0);\n"            /* 8 */
                             "    int sum = 0;\n"                         /* 9 */
                             "    const int three = 3;\n"                 /* 10 */
                             "    for (int j = 0; j < n; j++) {\n"        /* 11 */
                             "        int square = j * j;\n"              /* 12 */
                             "        if ((i + j) % three == 0)\n"        /* 13 */
                             "            sum = add(sum, square);\n"      /* 14 */
                             "        sum ^= i;\n"                        /* 15 */
                             "    }\n"                                    /* 16 */
                             "    out[i] = sum;\n"                        /* 17 */
                             "}\n";

/* ---- values ---- */

struct model {
    struct info *info;
    struct device *device;
    int j[THREADS]; /* turns that the thread has begun, less one */
    int sum[THREADS];
    uint32_t checked;
};

/* The value of a variable at an instruction, in a thread's memory. */
static bool value_of(const struct model *model, uint32_t insn, const uint8_t *local, const char *name, int *value)
{
    struct info_variable variable;

    *value = 0;
    if (!info_find(model->info, insn, 0, name, &variable) || variable.where == INFO_LOST) {
        return false;
    }
    if (variable.where == INFO_CONSTANT) {
        *value = (int)variable.value;
    } else if (variable.space == PPU_DEBUG_PARAMETER) {
        memcpy(value, model->device->params + variable.value, sizeof(*value));
    } else {
        assert_int_equal(variable.space, PPU_DEBUG_PRIVATE);
        memcpy(value, local + variable.value, sizeof(*value));
    }
    return true;
}

static void expect(struct model *model, uint32_t insn, const uint8_t *local, const char *name, int wanted)
{
    int value;

    assert_true(value_of(model, insn, local, name, &value));
    assert_int_equal(value, wanted);
    model->checked++;
}

static bool begins_line(const struct model *model, uint32_t insn, uint32_t line)
{
    uint32_t begins[16], wanted = line, count = info_at_line(model->info, NULL, &wanted, begins, 16);

    return wanted == line && count != 0 && begins[0] == insn;
}

static void check_thread(void *opaque, uint32_t thread, uint32_t insn, const uint8_t *local)
{
    struct model *model = opaque;
    int i = (int)thread;

    if (begins_line(model, insn, 12)) {
        expect(model, insn, local, "j", ++model->j[thread]);
        expect(model, insn, local, "sum", model->sum[thread]);
    }
    if (begins_line(model, insn, 13)) {
        expect(model, insn, local, "square", model->j[thread] * model->j[thread]);
    }
    if (begins_line(model, insn, 4)) {
        model->sum[thread] += model->j[thread] * model->j[thread];
        expect(model, insn, local, "both", model->sum[thread]);
        expect(model, insn, local, "b", model->j[thread] * model->j[thread]);
    }
    if (begins_line(model, insn, 15)) {
        expect(model, insn, local, "sum", model->sum[thread]);
        expect(model, insn, local, "three", 3);
        expect(model, insn, local, "n", TURNS);
        model->sum[thread] ^= i;
    }
    if (begins_line(model, insn, 17)) {
        expect(model, insn, local, "sum", model->sum[thread]);
        expect(model, insn, local, "i", i);
    }
}

static void run(struct device *device, struct model *model, const char *options,
                void (*watch)(void *opaque, uint32_t thread, uint32_t insn, const uint8_t *local))
{
    device_load(device, source, options);
    const struct ppu_program_view *program = &device->rig->program;
    model->device = device;
    model->info = info_open(program->debug, program->header->debug_bytes);
    assert_non_null(model->info);
    memset(model->j, 0xff, sizeof(model->j));
    device_kernel(device, "sums");
    const int *out = device_buffer(device, 0, THREADS * sizeof(int));
    device_int(device, 1, TURNS);
    device->watch = watch;
    device->watch_opaque = model;
    free(device_reference(device, 1, 1, THREADS, 1));
    device->watch = NULL;
    device_run(device, 1, 1, THREADS, 1);
    if (watch == check_thread) {
        for (uint32_t t = 0; t < THREADS; t++) {
            assert_int_equal(out[t], model->sum[t]);
        }
    }
    info_close(model->info);
}

static void values(void **state)
{
    struct model model = { .checked = 0 };

    run(*state, &model, "-g -cl-opt-disable", check_thread);
    assert_true(model.checked > THREADS * TURNS * 6);
}

/* What optimised code says of variables is true, at each instruction. */
static void check_optimised(void *opaque, uint32_t thread, uint32_t insn, const uint8_t *local)
{
    struct model *model = opaque;
    int value;

    (void)thread;
    assert_false(value_of(model, insn, local, "sum", &value));
    assert_false(value_of(model, insn, local, "j", &value));
    assert_false(value_of(model, insn, local, "both", &value));
    expect(model, insn, local, "n", TURNS);
    if (value_of(model, insn, local, "three", &value)) {
        assert_int_equal(value, 3);
    }
}

static void optimised(void **state)
{
    struct model model = { .checked = 0 };

    run(*state, &model, "-g", check_optimised);
    assert_true(model.checked > THREADS);
}

static void nothing_without_g(void **state)
{
    struct device *device = *state;

    device_load(device, source, "-cl-opt-disable");
    assert_int_equal(device->rig->program.header->debug_bytes, 0);
}

/* ---- lines and functions ---- */

static void lines_and_functions(void **state)
{
    struct device *device = *state;
    struct info_frame frames[INFO_DEPTH];
    uint32_t insns[16], line = 2;
    const char *file = NULL;

    device_load(device, source, "-g -cl-opt-disable");
    struct info *info = info_open(device->rig->program.debug, device->rig->program.header->debug_bytes);
    assert_non_null(info);
    assert_true(info_at_line(info, NULL, &line, insns, 16) >= 1); /* it has no code: the next has */
    assert_int_equal(line, 3);
    assert_int_equal(info_line(info, insns[0], &file), 3);
    assert_string_equal(file, "test.cl");
    /* Behind the code there is no line, wherever a thread has gone. */
    assert_int_equal(info_line(info, device->rig->program.header->code_bytes / PPU_INSN_BYTES, NULL), 0);
    assert_int_equal(info_line(info, UINT32_MAX, NULL), 0);
    assert_int_equal(info_frames(info, insns[0], frames), 2);
    assert_string_equal(frames[0].name, "add");
    assert_int_equal(frames[0].line, 3);
    assert_string_equal(frames[1].name, "sums");
    assert_int_equal(frames[1].line, 14);
    line = 18;
    assert_int_equal(info_at_line(info, "other.cl", &line, insns, 16), 0);
    assert_int_equal(info_at_function(info, "sums", insns, 16), 1);
    assert_int_equal(info_line(info, insns[0], NULL), 8);
    assert_int_equal(info_at_function(info, "add", insns, 16), 1);
    assert_int_equal(info_at_function(info, "none", insns, 16), 0);
    info_close(info);
}

/* A function that is called has code of its own, and tells where it returns to. */
static void called_functions(void **state)
{
    static const char text[] = "__attribute__((noinline)) int f(int a)\n"
                               "{\n"
                               "    return a * 3;\n"
                               "}\n"
                               "__attribute__((noinline)) int g(int a)\n"
                               "{\n"
                               "    return f(a) + 1;\n"
                               "}\n"
                               "kernel void k(global int *v)\n"
                               "{\n"
                               "    v[0] = g(v[1]) - f(v[2]);\n"
                               "}\n";
    struct device *device = *state;
    const struct {
        const char *name;
        uint32_t line; /* of its first instruction */
    } functions[] = { { "k", 9 }, { "g", 5 }, { "f", 1 } };
    struct info_function found[3];
    uint32_t insns[4];

    device_load(device, text, "-g -cl-opt-disable");
    struct info *info = info_open(device->rig->program.debug, device->rig->program.header->debug_bytes);
    assert_non_null(info);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(info_at_function(info, functions[i].name, insns, 4), 1);
        assert_true(info_function(info, insns[0], &found[i]));
        assert_true(found[i].begin < insns[0] && insns[0] < found[i].end);
        assert_int_equal(found[i].is_called, i != 0);
        assert_int_equal(info_line(info, found[i].begin, NULL), functions[i].line);
    }
    assert_int_not_equal(found[1].return_at, found[2].return_at);
    assert_false(info_function(info, 1u << 20, &found[0]));
    info_close(info);
}

/* ---- types ---- */

static const char types[] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                            "enum color { RED, GREEN = -7 };\n"
                            "struct inner { char c; short h; };\n"
                            "typedef struct { int a; float b[3]; struct inner in; enum color color; } outer;\n"
                            "constant int table[3] = { 5, 6, 7 };\n"
                            "kernel void k(global float4 *v, outer by_value, local uint *l)\n"
                            "{\n"
                            "    local int tile[8];\n"
                            "    outer o = { 1, { 2, 3, 4.5f }, { 'x', 0 }, GREEN };\n"
                            "    uchar bytes[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };\n"
                            "    double d = -0.1; half one = 1.5h; bool yes = true; ulong big = 0xfedcba9876543210ul;\n"
                            "    tile[get_local_id(0)] = o.a + bytes[1][2] + (int)d + yes + (int)big + table[o.a];\n"
                            "    v[0].x = tile[0] + by_value.a + l[0] + one;\n"
                            "}\n";

static char *type_text(struct info *info, uint32_t insn, const char *name)
{
    struct info_variable variable;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    assert_true(info_find(info, insn, 0, name, &variable));
    info_type_name(variable.type, out);
    fprintf(out, " %d", (int)variable.space);
    fclose(out);
    return text;
}

static void expect_type(struct info *info, uint32_t insn, const char *name, const char *wanted)
{
    char *text = type_text(info, insn, name);

    assert_string_equal(text, wanted);
    free(text);
}

static void expect_print(struct info *info, uint32_t insn, const char *name, const void *value, const char *wanted)
{
    struct info_variable variable;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    assert_true(info_find(info, insn, 0, name, &variable));
    info_print(variable.type, value, out);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
}

static void types_are_known(void **state)
{
    static const struct {
        int32_t a;
        float b[3];
        char c;
        uint8_t pad;
        uint16_t h;
        int32_t color;
    } outer = { 1, { 2, 3, 4.5f }, 'x', 0, 0x3e00, -7 };
    static const uint8_t bytes[6] = { 1, 2, 3, 4, 5, 6 };
    static const double d = -0.1;
    static const uint16_t half = 0x3e00;
    struct device *device = *state;
    struct info_variable variable;
    uint32_t line = 13, insns[4];
    Dwarf_Die member;
    uint64_t offset;

    device_load(device, types, "-g -cl-opt-disable");
    struct info *info = info_open(device->rig->program.debug, device->rig->program.header->debug_bytes);
    assert_non_null(info);
    assert_true(info_at_line(info, NULL, &line, insns, 4) >= 1);
    expect_type(info, insns[0], "v", "__global float4 * 0");
    expect_type(info, insns[0], "l", "__local uint * 0");
    expect_type(info, insns[0], "o", "outer 0");
    expect_type(info, insns[0], "tile", "int[8] 3");
    expect_type(info, insns[0], "table", "int[3] 2");
    expect_print(info, insns[0], "o", &outer, "{a = 1, b = {2, 3, 4.5}, in = {c = 120, h = 15872}, color = GREEN}");
    expect_print(info, insns[0], "bytes", bytes, "{1, 2, 3, 4, 5, 6}");
    expect_print(info, insns[0], "one", &half, "1.5");
    expect_print(info, insns[0], "d", &d, "-0.10000000000000001");
    assert_true(info_find(info, insns[0], 0, "o", &variable));
    assert_true(info_member(variable.type, "in", &member, &offset));
    assert_int_equal(offset, 16);
    assert_false(info_member(variable.type, "out", &member, &offset));
    assert_true(info_find(info, insns[0], 0, "v", &variable));
    assert_true(info_target(variable.type, &member, NULL));
    assert_true(info_member(member, "w", &member, &offset));
    assert_int_equal(offset, 12);
    info_close(info);
}

/* ---- bad input ---- */

static bool print_it(void *opaque, const struct info_variable *variable)
{
    static const uint8_t value[1 << 16];

    if (info_bytes(variable->type) <= sizeof(value)) {
        info_print(variable->type, value, opaque);
    }
    info_type_name(variable->type, opaque);
    return true;
}

static void read_all(const uint8_t *bytes, size_t size, FILE *out)
{
    struct info *info = info_open(bytes, size);
    struct info_frame frames[INFO_DEPTH];
    struct info_function function;

    for (uint32_t insn = 0; info && insn < 200; insn += 17) {
        uint32_t line = insn / 8, insns[8];
        info_frames(info, insn, frames);
        info_variables(info, insn, 0, print_it, out);
        info_at_line(info, NULL, &line, insns, 8);
        info_at_function(info, "k", insns, 8);
        info_function(info, insn, &function);
    }
    info_close(info);
}

/* Bytes of it are changed by chance, or it is cut: nothing is read beyond, and reading ends. */
static void malformed(void **state)
{
    struct device *device = *state;
    char *text = NULL;
    size_t text_bytes;

    device_load(device, types, "-g -cl-opt-disable");
    const uint32_t size = device->rig->program.header->debug_bytes;
    uint8_t *bytes = malloc(size);
    FILE *out = open_memstream(&text, &text_bytes);
    assert_non_null(bytes);
    assert_non_null(out);
    srand(29);
    for (uint32_t i = 0; i < 400; i++) {
        memcpy(bytes, device->rig->program.debug, size);
        for (int changes = rand() % 4; changes >= 0; changes--) {
            bytes[(uint32_t)rand() % size] = (uint8_t)rand();
        }
        read_all(bytes, i % 4 == 0 ? (uint32_t)rand() % size : size, out);
        rewind(out);
    }
    fclose(out);
    free(text);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(optimised, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(nothing_without_g, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(lines_and_functions, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(called_functions, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(types_are_known, device_setup, device_teardown),
        cmocka_unit_test_setup_teardown(malformed, device_setup, device_teardown),
    };

    return cmocka_run_group_tests_name("compiler-debug", tests, NULL, NULL);
}
