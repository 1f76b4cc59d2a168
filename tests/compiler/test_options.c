/* SPDX-License-Identifier: MIT */
/* Tests build options: whatever the text is, no word reaches clang that is not allowed by itself. */
#include "compiler/frontend/options.h"
#include "ppu/macros.h"
#include "tests/compiler/allowed.h"
#include "tests/compiler/device.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 200000u
#define CLANG_ROUNDS 12u
#define HEARD_ROUNDS 300u
#define SERVED_ROUNDS 20u
#define TEXT_BYTES 400u

static const char source[] = "kernel void k(global int *o) { o[0] = 1; }";

/* ---- random texts ---- */

static const char *const pieces[] = {
    "-D",
    "-I",
    "-D ",
    "-I ",
    "-DA",
    "-DA=1",
    "-Iinclude",
    "-g",
    "-w",
    "-Werror",
    "-cl-opt-disable",
    "-cl-kernel-arg-info",
    "-cl-no-subgroup-ifp",
    "-cl-mad-enable",
    "-cl-std=CL3.0",
    "-cl-std=",
    "A",
    "A=b c",
    "\"",
    "'",
    "\"\"",
    "''",
    "\\",
    "\\\"",
    "\\ ",
    " ",
    "\t",
    "\n",
    "\r",
    "\f",
    "--",
    "-",
    "@",
    "@/dev/null",
    "-fplugin=x.so",
    "-fplugin=",
    "-Xclang",
    "-load",
    "-o",
    "-MD",
    "-MF",
    "-MFwritten",
    "-include",
    "/dev/null",
    "-x",
    "c",
    "-Wl,x",
    "-I-",
    "-I@",
    "-D-",
    "-D@",
    "-D=",
    "-D\"",
    "-I\"",
    "=",
    "-###",
    "-v",
    "-save-temps",
    "-imacros",
    "%",
    "(",
    ")",
};

static uint64_t seed_of_run(void)
{
    const char *text = getenv("PPU_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);

    print_message("# PPU_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static void make_text(uint64_t *random, char text[TEXT_BYTES])
{
    size_t len = 0;

    for (uint32_t n = random_next(random) % 14; n != 0; n--) {
        const char *piece = pieces[random_next(random) % PPU_ARRAY_SIZE(pieces)];
        const char *between = random_next(random) % 3 == 0 ? "" : " ";
        if (random_next(random) % 16 == 0) {
            len += (size_t)snprintf(text + len, TEXT_BYTES - len, "%c", (int)(random_next(random) % 255 + 1));
        }
        len += (size_t)snprintf(text + len, TEXT_BYTES - len, "%s%s", between, piece);
    }
    text[len] = 0;
}

static void fail_word(const char *text, const char *word)
{
    fail_msg("options [%s]: clang is given [%s]", text, word);
}

static void words_are_allowed(void **state)
{
    uint64_t random = seed_of_run();
    uint32_t taken = 0, refused = 0;

    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        char text[TEXT_BYTES] = "";
        struct options options;
        struct bytes log = { .at = NULL };
        make_text(&random, text);
        enum ppu_compile_status status = options_read(&options, text, &log);
        for (uint32_t i = 0; status == PPU_COMPILE_OK && i < options.count; i++) {
            if (!options_allows(options.word[i])) {
                fail_word(text, options.word[i]);
            }
        }
        bytes_add_zeros(&log, 1);
        assert_int_equal(status == PPU_COMPILE_OK, !strstr((char *)log.at, "error:")); /* a refusal says why */
        taken += status == PPU_COMPILE_OK && options.count > 0;
        refused += status != PPU_COMPILE_OK;
        options_free(&options);
        bytes_free(&log);
    }
    print_message("# %u texts taken, %u refused\n", taken, refused);
    assert_true(taken > ROUNDS / 100 && refused > ROUNDS / 100);
}

/* ---- what words become ---- */

struct reading {
    const char *text;
    const char *words; /* each in brackets; NULL: refused */
    const char *says;  /* in the log; NULL: nothing */
};

static const struct reading readings[] = {
    { "", "", NULL },
    { NULL, "", NULL },
    { " \t\n ", "", NULL },
    { "-DA", "[-DA]", NULL },
    { "-D A", "[-DA]", NULL },
    { "-D  \n A=1 -w", "[-DA=1][-w]", NULL },
    { "-I dir -Idir2", "[-Idir][-Idir2]", NULL },
    { "-D 'A=b c' \"-DC=d e\"", "[-DA=b c][-DC=d e]", NULL },
    { "-DA='\"x\"' -DB=\"it's\"", "[-DA=\"x\"][-DB=it's]", NULL },
    { "-D\"A\"=1", "[-DA=1]", NULL },
    { "'-D' A", "[-DA]", NULL },
    { "-DA=\\", "[-DA=\\]", NULL },
    { "-g -cl-opt-disable -cl-kernel-arg-info -cl-no-subgroup-ifp", "[-g]", NULL },
    { "-cl-std=CL3.0 -cl-mad-enable", "[-cl-std=CL3.0][-cl-mad-enable]", NULL },
    { "-cl-nv-verbose -w", "[-w]", "option '-cl-nv-verbose' is another vendor's" },
    { "-cl-nv-maxrregcount=32", "", "option '-cl-nv-maxrregcount=32' is another vendor's" },
    { "-O3 -DA", "[-DA]", "option '-O3' is another vendor's" },
    { "-g -s 'a file.cl' -w", "[-g][-w]", "option '-s' is another vendor's" },
    { "-s @file -DA", "[-DA]", "option '-s' is another vendor's" },
    { "-s", NULL, "needs a word" },
    { "-s 'A", NULL, "needs a word" },
    { "-save-temps -w", "[-w]", "option '-save-temps' is another vendor's" },
    { "-save-temps=/x/y -w", "[-w]", "option '-save-temps=/x/y' is another vendor's" },
    { "-save-tempsx", NULL, "'-save-tempsx' is not an option" },
    { "-O3x", NULL, "'-O3x' is not an option" },
    { "-cl-nv-other", NULL, "'-cl-nv-other' is not an option" },
    { "-D -g", NULL, "'-g' is no definition" },
    { "-D -g -D -fplugin=/x.so", NULL, "'-g' is no definition" },
    { "-D -D -fplugin=/x.so", NULL, "'-D' is no definition" },
    { "-D @file", NULL, "'@file' is no definition" },
    { "-D@file", NULL, "'@file' is no definition" },
    { "-D=1", NULL, "'=1' is no definition" },
    { "-D ''", NULL, "'' is no definition" },
    { "-D", NULL, "needs a word" },
    { "-I", NULL, "needs a word" },
    { "-I ", NULL, "needs a word" },
    { "-I '' -fplugin=/x.so", NULL, "'' is no name of a folder" },
    { "-I-", NULL, "'-' is no name of a folder" },
    { "-I -MD", NULL, "'-MD' is no name of a folder" },
    { "-I@file", NULL, "'@file' is no name of a folder" },
    { "-I ./@dir", "[-I./@dir]", NULL },
    { "--", NULL, "'--' is not an option" },
    { "''", NULL, "'' is not an option" },
    { "@file", NULL, "'@file' is not an option" },
    { "-w -o x", NULL, "'-o' is not an option" },
    { "-g=x", NULL, "'-g=x' is not an option" },
    { "-w'", NULL, "has no end" },
    { "-D 'A", NULL, "has no end" },
    { "-DA=\"b c", NULL, "has no end" },
};

static void words_are_read(void **state)
{
    uint32_t misses = 0;

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(readings); i++) {
        const struct reading *reading = &readings[i];
        struct options options;
        struct bytes log = { .at = NULL }, words = { .at = NULL };
        enum ppu_compile_status status = options_read(&options, reading->text, &log);
        for (uint32_t w = 0; w < options.count; w++) {
            bytes_print(&words, "[%s]", options.word[w]);
        }
        bytes_add_zeros(&words, 1);
        bytes_add_zeros(&log, 1);
        bool right = reading->words ? status == PPU_COMPILE_OK && strcmp((char *)words.at, reading->words) == 0 &&
                                          (reading->says ? !!strstr((char *)log.at, reading->says) : *log.at == 0)
                                    : status == PPU_COMPILE_BAD_OPTIONS && strstr((char *)log.at, reading->says);
        if (!right) {
            print_error("[%s]: status %d, words %s, log: %s\n", reading->text, (int)status, (char *)words.at,
                        (char *)log.at);
            misses++;
        }
        options_free(&options);
        bytes_free(&words);
        bytes_free(&log);
    }
    assert_int_equal(misses, 0);
}

static enum ppu_compile_status read_many(uint32_t words, uint32_t *count)
{
    struct bytes text = { .at = NULL }, log = { .at = NULL };
    struct options options;

    for (uint32_t i = 0; i < words; i++) {
        bytes_print(&text, "-w ");
    }
    bytes_add_zeros(&text, 1);
    enum ppu_compile_status status = options_read(&options, (char *)text.at, &log);
    *count = options.count;
    options_free(&options);
    bytes_free(&text);
    bytes_free(&log);
    return status;
}

static void too_many_words(void **state)
{
    uint32_t count = 0;

    (void)state;
    assert_int_equal(read_many(OPTIONS_MOST, &count), PPU_COMPILE_OK);
    assert_int_equal(count, OPTIONS_MOST);
    assert_int_equal(read_many(OPTIONS_MOST + 1, &count), PPU_COMPILE_BAD_OPTIONS);
}

/* ---- with clang ---- */

/* A clang that tells what it would run instead of running it. */
struct teller {
    char folder[32], clang[48], said[48];
};

static void teller_open(struct teller *teller)
{
    strcpy(teller->folder, "/tmp/ppu-options-XXXXXX");
    assert_non_null(mkdtemp(teller->folder));
    snprintf(teller->clang, sizeof(teller->clang), "%s/clang", teller->folder);
    snprintf(teller->said, sizeof(teller->said), "%s/said", teller->folder);
    FILE *script = fopen(teller->clang, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\nexec clang-19 '-###' \"$@\" 2>%s\n", teller->said);
    fclose(script);
    chmod(teller->clang, 0700);
}

static void teller_close(const struct teller *teller)
{
    remove(teller->said);
    remove(teller->clang);
    rmdir(teller->folder);
}

static void teller_ask(const struct teller *teller, const char *text, char *answer, size_t bytes)
{
    const struct ppu_compile_options options = { .clang = teller->clang, .options = text };
    struct ppu_compiled made;

    (void)ppu_compile_source(source, sizeof(source) - 1, &options, &made);
    ppu_compiled_free(&made);
    FILE *file = fopen(teller->said, "r");
    assert_non_null(file);
    answer[fread(answer, 1, bytes - 1, file)] = 0;
    fclose(file);
}

/* A text that is taken, with something in it. */
static void make_taken(uint64_t *random, char text[TEXT_BYTES])
{
    bool taken = false;

    while (!taken) {
        struct options words;
        struct bytes log = { .at = NULL };
        make_text(random, text);
        taken = options_read(&words, text, &log) == PPU_COMPILE_OK && words.count > 0;
        options_free(&words);
        bytes_free(&log);
    }
}

/* The driver hands values on to the front end as words of their own, which reads files for some too. */
static void clang_runs_nothing_else(void **state)
{
    static const char *const signs[] = { " \"@",          " \"-fplugin",   " \"-load\"", " \"-dependency-file\"",
                                         " \"-include\"", " \"-save-temps" };
    uint64_t random = seed_of_run();
    struct teller teller;

    (void)state;
    teller_open(&teller);
    for (uint32_t round = 0; round < CLANG_ROUNDS; round++) {
        char text[TEXT_BYTES] = "", answer[32768];
        make_taken(&random, text);
        teller_ask(&teller, text, answer, sizeof(answer));
        for (size_t i = 0; i < PPU_ARRAY_SIZE(signs); i++) {
            if (strstr(answer, signs[i])) {
                fail_msg("options [%s]: %s: %s", text, signs[i], answer);
            }
        }
    }
    teller_close(&teller);
}

/* ---- the words that a process gets ---- */

/* A program in clang's stead that keeps its words, each with a final zero, and runs nothing. */
struct listener {
    char folder[32], here[PATH_MAX], clang[48], heard[48], parent[48];
};

/* `name`: of the script, which keeps its words and its parent. */
static void listener_open(struct listener *listener, const char *name)
{
    strcpy(listener->folder, "/tmp/ppu-options-XXXXXX");
    assert_non_null(mkdtemp(listener->folder));
    assert_non_null(getcwd(listener->here, sizeof(listener->here)));
    snprintf(listener->clang, sizeof(listener->clang), "%s/%s", listener->folder, name);
    snprintf(listener->heard, sizeof(listener->heard), "%s/heard", listener->folder);
    snprintf(listener->parent, sizeof(listener->parent), "%s/parent", listener->folder);
    FILE *script = fopen(listener->clang, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\nprintf '%%s\\0' \"$@\" >%s\necho $PPID >%s\nexit 1\n", listener->heard,
            listener->parent);
    fclose(script);
    chmod(listener->clang, 0700);
}

static void listener_close(const struct listener *listener)
{
    remove(listener->parent);
    remove(listener->heard);
    remove(listener->clang);
    rmdir(listener->folder);
}

static void read_heard(const struct listener *listener, struct bytes *heard)
{
    char part[4096];
    FILE *file = fopen(listener->heard, "r");

    assert_non_null(file);
    for (size_t len; (len = fread(part, 1, sizeof(part), file)) != 0;) {
        bytes_add(heard, part, len);
    }
    fclose(file);
    remove(listener->heard);
}

static void add_word(struct bytes *words, const char *word)
{
    bytes_add(words, word, strlen(word) + 1);
}

/* Says once more, beside clang.c, which words stand before those of the options, and how the last two are. */
static const char *const first_words[] = {
    "-x",
    "cl",
    "-target",
    "spir64",
    "-O2",
    "-Xclang",
    "-disable-llvm-passes",
    "-Xclang",
    "-cl-ext=-all,+cl_khr_fp64,+cl_khr_fp16,+cl_khr_byte_addressable_store,+cl_khr_global_int32_base_atomics,"
    "+cl_khr_global_int32_extended_atomics,+cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics,"
    "+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,+__opencl_c_program_scope_global_variables,"
    "+__opencl_c_fp64,+__opencl_c_int64,+__opencl_c_generic_address_space,+__opencl_c_atomic_order_acq_rel,"
    "+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices,"
    "+__opencl_c_device_enqueue,+__opencl_c_images,+__opencl_c_3d_image_writes,+__opencl_c_read_write_images,"
    "+cl_khr_3d_image_writes,+cl_khr_depth_images,+__opencl_c_subgroups,+cl_khr_subgroups,+__opencl_c_pipes",
    "-cl-kernel-arg-info",
    "-D__OPENCL_VERSION__=300",
    "-gline-tables-only",
    "-Wno-atomic-alignment",
    "-fno-caret-diagnostics",
    "-o",
    "-",
};
static const char *const front_words[][2] = {
    [PPU_FRONT_BITCODE] = { "-emit-llvm", "-c" },
    [PPU_FRONT_PREPROCESSED] = { "-E", NULL },
    [PPU_FRONT_FILES] = { "-M", NULL },
    [PPU_FRONT_USER_FILES] = { "-MM", NULL },
};

/* `from`: how many of the first words are not among what is compared. */
static void add_expected(struct bytes *expected, const struct options *words, enum ppu_compile_front front,
                         uint32_t from)
{
    for (uint32_t i = from; i < PPU_ARRAY_SIZE(first_words); i++) {
        add_word(expected, first_words[i]);
    }
    for (uint32_t i = 0; i < 2 && front_words[front][i]; i++) {
        add_word(expected, front_words[front][i]);
    }
    for (uint32_t i = 0; i < words->count; i++) {
        if (!options_allows(words->word[i])) {
            fail_word("of a run", words->word[i]);
        }
        add_word(expected, words->word[i]);
    }
    add_word(expected, "--");
    add_word(expected, "-");
}

/* The process gets these words and no other; no process is there for a text that is refused. */
static void assert_heard(const struct listener *listener, const struct ppu_compile_options *run, uint32_t from)
{
    struct bytes log = { .at = NULL }, heard = { .at = NULL }, expected = { .at = NULL };
    struct options words;
    struct ppu_compiled made;
    bool taken = options_read(&words, run->options, &log) == PPU_COMPILE_OK;
    enum ppu_compile_status status = ppu_compile_source(source, sizeof(source) - 1, run, &made);

    assert_int_equal(status, taken ? PPU_COMPILE_BAD_SOURCE : PPU_COMPILE_BAD_OPTIONS);
    if (taken) {
        read_heard(listener, &heard);
        add_expected(&expected, &words, run->front, from);
        if (heard.len != expected.len || !heard.at || memcmp(heard.at, expected.at, heard.len) != 0) {
            fail_msg("options [%s]: clang is given other words", run->options);
        }
    }
    assert_int_equal(access(listener->heard, F_OK), -1);
    ppu_compiled_free(&made);
    options_free(&words);
    bytes_free(&log);
    bytes_free(&heard);
    bytes_free(&expected);
}

static void clang_gets_these_words(void **state)
{
    uint64_t random = seed_of_run();
    struct listener listener;

    (void)state;
    listener_open(&listener, "clang");
    for (uint32_t round = 0; round < HEARD_ROUNDS; round++) {
        char text[TEXT_BYTES] = "";
        if (round % 5 == 0) {
            make_text(&random, text);
        } else {
            make_taken(&random, text);
        }
        assert_heard(&listener,
                     &(struct ppu_compile_options){
                         .clang = listener.clang, .options = text, .front = round % PPU_ARRAY_SIZE(front_words) },
                     0);
    }
    listener_close(&listener);
}

/*
 * The fork server takes no scripts. A shell of its own reads the first two words, "-x cl", as an option and the name of
 * a script in the current folder, which gets the rest.
 */
static void served_clang_gets_these_words(void **state)
{
    uint64_t random = seed_of_run();
    struct listener listener;
    char server[PATH_MAX + 40];
    int parent = 0;

    (void)state;
    listener_open(&listener, "cl");
    snprintf(server, sizeof(server), "%s/build/plain/ppu-forkserver.so", listener.here);
    bool there = access(server, R_OK) == 0;
    assert_int_equal(chdir(listener.folder), 0);
    for (uint32_t round = 0; round < SERVED_ROUNDS && there; round++) {
        char text[TEXT_BYTES] = "";
        make_taken(&random, text);
        assert_heard(&listener,
                     &(struct ppu_compile_options){
                         .clang = "/bin/sh", .fork_server = server, .options = text, .front = round % 4 },
                     2);
        FILE *file = fopen(listener.parent, "r");
        assert_non_null(file);
        assert_int_equal(fscanf(file, "%d", &parent), 1);
        fclose(file);
        assert_int_not_equal(parent, getpid()); /* it is the server's copy */
    }
    assert_int_equal(chdir(listener.here), 0);
    listener_close(&listener);
    if (!there) {
        print_message("# %s is not there\n", server);
        skip();
    }
}

/* What once made clang read a file of options, write a file, or load a library. */
static void nothing_is_written(void **state)
{
    static const char *const texts[] = {
        "-D -g -D -MD -D -g -D -MFPLACE/written",
        "-D @PLACE/options",
        "-I @PLACE/options",
        "-D@PLACE/options",
        "-I@PLACE/options",
        "-I '' -MD -I '' -MFPLACE/written",
    };
    char folder[] = "/tmp/ppu-options-XXXXXX", path[100];

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/options", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "X -MD -MF%s/written\n", folder);
    fclose(file);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(texts); i++) {
        char text[300] = "";
        struct ppu_compiled made;
        for (const char *at = texts[i]; *at != 0; at++) {
            size_t len = strlen(text);
            bool is_folder = strncmp(at, "PLACE", 5) == 0;
            snprintf(text + len, sizeof(text) - len, is_folder ? "%s" : "%.1s", is_folder ? folder : at);
            at += is_folder ? 4 : 0;
        }
        const struct ppu_compile_options options = { .options = text };
        assert_int_equal(ppu_compile_source(source, sizeof(source) - 1, &options, &made), PPU_COMPILE_BAD_OPTIONS);
        ppu_compiled_free(&made);
    }
    remove(path);
    assert_int_equal(rmdir(folder), 0); /* it is empty */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "options are read as words, and refused with a reason [A7]", words_are_read, NULL, NULL, NULL },
        { "random options: clang is given no word that is not allowed by itself [A7]", words_are_allowed, NULL, NULL,
          NULL },
        { "there is a most of options [A7]", too_many_words, NULL, NULL, NULL },
        { "clang makes nothing else of random options [A7]", clang_runs_nothing_else, NULL, NULL, NULL },
        { "random options: clang's process gets the words that are allowed, and no other [A7]", clang_gets_these_words,
          NULL, NULL, NULL },
        { "random options: so does the fork server's [A7]", served_clang_gets_these_words, NULL, NULL, NULL },
        { "options make clang neither read options from files nor write files [A7]", nothing_is_written, NULL, NULL,
          NULL },
    };

    return cmocka_run_group_tests_name("compiler: options", tests, NULL, NULL);
}
