/* SPDX-License-Identifier: MIT */
/* Tests the cache alone: whose folder it is, what an entry must be, and what happens when the disk does not help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/origin.h"
#include "opencl/build/cache.h"
#include "opencl/build/compiler_dl.h"
#include "ppu/macros.h"

#define PATH_BYTES 400u
#define CALLS_MOST 60u /* of one operation */

bool compiler_path(char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "/proc/self/exe") > 0;
}

/* ---- faults, linked with --wrap ---- */

static struct {
    uint32_t countdown; /* calls until one fails; 0: none does */
    bool failed;
    uint32_t foreign; /* fstat() calls until one tells another owner */
    bool privileged;  /* secure_getenv() has nothing */
} faults;

static bool fails(int error)
{
    bool now = faults.countdown == 1;

    faults.countdown -= faults.countdown > 0;
    faults.failed |= now;
    errno = now ? error : errno;
    return now;
}

ssize_t __real_write(int file, const void *data, size_t bytes);
int __real_renameat(int from, const char *name, int to, const char *other);
int __real_fstat(int file, struct stat *info);
int __real_close(int file);
ssize_t __real_getrandom(void *data, size_t bytes, unsigned int flags);
char *__real_secure_getenv(const char *name);
ssize_t __wrap_write(int file, const void *data, size_t bytes);
int __wrap_renameat(int from, const char *name, int to, const char *other);
int __wrap_fstat(int file, struct stat *info);
int __wrap_close(int file);
ssize_t __wrap_getrandom(void *data, size_t bytes, unsigned int flags);
char *__wrap_secure_getenv(const char *name);

/* A disk that is full takes a part first. */
ssize_t __wrap_write(int file, const void *data, size_t bytes)
{
    if (fails(ENOSPC)) {
        faults.countdown = 1;
        return bytes > 1 ? __real_write(file, data, bytes / 2) : -1;
    }
    return __real_write(file, data, bytes);
}

int __wrap_renameat(int from, const char *name, int to, const char *other)
{
    return fails(EROFS) ? -1 : __real_renameat(from, name, to, other);
}

int __wrap_fstat(int file, struct stat *info)
{
    int result = fails(EIO) ? -1 : __real_fstat(file, info);

    if (faults.foreign == 1) {
        info->st_uid++;
    }
    faults.foreign -= faults.foreign > 0;
    return result;
}

int __wrap_close(int file)
{
    int result = __real_close(file);

    return fails(EIO) ? -1 : result;
}

ssize_t __wrap_getrandom(void *data, size_t bytes, unsigned int flags)
{
    return fails(ENOSYS) ? -1 : __real_getrandom(data, bytes, flags);
}

char *__wrap_secure_getenv(const char *name)
{
    return faults.privileged ? NULL : __real_secure_getenv(name);
}

/* ---- a folder ---- */

struct cache_folder {
    char base[64], entries[80];
};

static int open_cache_folder(void **state)
{
    struct cache_folder *cache_folder = calloc(1, sizeof(*cache_folder));

    assert_non_null(cache_folder);
    strcpy(cache_folder->base, "/tmp/ppu-cache-XXXXXX");
    assert_non_null(mkdtemp(cache_folder->base));
    snprintf(cache_folder->entries, sizeof(cache_folder->entries), "%s/opencl", cache_folder->base);
    setenv("PPU_CACHE", cache_folder->base, 1);
    memset(&faults, 0, sizeof(faults));
    *state = cache_folder;
    return 0;
}

static int close_cache_folder(void **state)
{
    struct cache_folder *cache_folder = *state;
    char command[200];

    snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", cache_folder->base, cache_folder->base);
    assert_int_equal(system(command), 0);
    free(cache_folder);
    return 0;
}

/* Only those with a name that can be seen, or all. */
static uint32_t count_files(const struct cache_folder *cache_folder, bool all)
{
    DIR *folder = opendir(cache_folder->entries);
    uint32_t files = 0;

    for (struct dirent *item; folder && (item = readdir(folder));) {
        files += item->d_name[0] != '.' || (all && strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0);
    }
    if (folder) {
        closedir(folder);
    }
    return files;
}

/* Path of the n-th entry. */
static void entry_path(const struct cache_folder *cache_folder, uint32_t n, char path[PATH_BYTES])
{
    DIR *folder = opendir(cache_folder->entries);
    struct dirent *item = NULL;

    assert_non_null(folder);
    for (uint32_t seen = 0; seen <= n && (item = readdir(folder));) {
        seen += item->d_name[0] != '.';
    }
    assert_non_null(item);
    snprintf(path, PATH_BYTES, "%s/%s", cache_folder->entries, item->d_name);
    closedir(folder);
}

/* ---- entries ---- */

static void put(const char *source, const char *image)
{
    struct cache_key key;
    struct ppu_compiled made = { (uint8_t *)(uintptr_t)image, strlen(image), (char *)(uintptr_t) "log" };

    cache_key_init(&key, source, strlen(source), "", "");
    cache_store(&key, &made);
    cache_key_free(&key);
}

/* Found, and right: what is found is never something else. */
static bool is_there(const char *source, const char *image)
{
    struct cache_key key;
    struct ppu_compiled found;

    cache_key_init(&key, source, strlen(source), "", "");
    bool there = cache_find(&key, &found);
    cache_key_free(&key);
    if (there) {
        assert_int_equal(found.len_bytes, strlen(image));
        assert_memory_equal(found.bytes, image, strlen(image));
        assert_string_equal(found.log, "log");
        compiler_free(&found);
    }
    return there;
}

static void kept(void **state)
{
    struct cache_folder *cache_folder = *state;
    struct stat info;
    char path[PATH_BYTES];

    assert_false(is_there("a", "A"));
    put("a", "A");
    put("b", "B");
    assert_true(is_there("a", "A"));
    assert_true(is_there("b", "B"));
    assert_false(is_there("c", "C"));
    assert_int_equal(count_files(cache_folder, true), 3); /* and the key */
    entry_path(cache_folder, 0, path);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    snprintf(path, sizeof(path), "%s/.key", cache_folder->entries);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(info.st_size, 32);
    setenv("PPU_CACHE", "off", 1);
    assert_false(is_there("a", "A"));
}

static void no_variables_when_privileged(void **state)
{
    put("a", "A");
    faults.privileged = true;
    assert_false(is_there("a", "A"));
    put("b", "B");
    faults.privileged = false;
    assert_int_equal(count_files(*state, false), 1);
}

/* ---- folders that are not the user's alone ---- */

static void move_away(const char *from, char to[PATH_BYTES])
{
    snprintf(to, PATH_BYTES, "%s-moved", from);
    assert_int_equal(rename(from, to), 0);
}

static void links_are_not_followed(void **state)
{
    struct cache_folder *cache_folder = *state;
    char entry[PATH_BYTES], other[PATH_BYTES];

    put("a", "A");
    entry_path(cache_folder, 0, entry);
    const char *const levels[] = { entry, cache_folder->entries, cache_folder->base };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(levels); i++) {
        move_away(levels[i], other);
        assert_int_equal(symlink(other, levels[i]), 0);
        assert_false(is_there("a", "A"));
        if (i > 0) {
            put("b", "B");
        }
        assert_int_equal(unlink(levels[i]), 0);
        assert_int_equal(rename(other, levels[i]), 0);
        assert_true(is_there("a", "A"));
        assert_false(is_there("b", "B"));
    }
}

static void others_may_not_write(void **state)
{
    struct cache_folder *cache_folder = *state;
    char entry[PATH_BYTES], key[PATH_BYTES];
    static const mode_t modes[] = { 0720, 0702, 0722, 0777, 01777 };

    put("a", "A");
    entry_path(cache_folder, 0, entry);
    snprintf(key, sizeof(key), "%s/.key", cache_folder->entries);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(modes); i++) {
        const char *const levels[] = { entry, cache_folder->entries, cache_folder->base };
        for (size_t n = 0; n < PPU_ARRAY_SIZE(levels); n++) {
            assert_int_equal(chmod(levels[n], modes[i]), 0);
            assert_false(is_there("a", "A"));
            assert_int_equal(chmod(levels[n], 0700), 0);
            assert_true(is_there("a", "A"));
        }
    }
    assert_int_equal(chmod(cache_folder->base, 0755), 0); /* to read is allowed */
    assert_true(is_there("a", "A"));
    /* A key that others could read is no key: a new one is made, and the entry is nobody's. */
    assert_int_equal(chmod(key, 0640), 0);
    assert_false(is_there("a", "A"));
    put("a", "A");
    assert_true(is_there("a", "A"));
}

/* The folder above, the folder, the key (twice), the entry: each is looked at. */
static void owners_must_be_the_user(void **state)
{
    uint32_t refused = 0;

    (void)state;
    for (uint32_t n = 1; n <= 5; n++) {
        put("a", "A");
        assert_true(is_there("a", "A"));
        faults.foreign = n;
        refused += !is_there("a", "A");
        assert_int_equal(faults.foreign, 0);
    }
    assert_int_equal(refused, 5);
}

/* ---- entries that are not what was written ---- */

static uint8_t *load(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    struct stat info;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &info), 0);
    *bytes = (size_t)info.st_size;
    uint8_t *data = malloc(*bytes);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void save(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

static void each_bit_counts(void **state)
{
    char path[PATH_BYTES];
    size_t bytes = 0;

    put("source", "image");
    entry_path(*state, 0, path);
    uint8_t *data = load(path, &bytes);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        save(path, data, bytes);
        if (is_there("source", "image")) {
            fail_msg("bit %zu of %zu bytes is not looked at", bit, bytes);
        }
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t left = 0; left < bytes; left++) {
        save(path, data, left);
        assert_false(is_there("source", "image"));
    }
    save(path, data, bytes);
    assert_true(is_there("source", "image"));
    free(data);
}

/* What is right under its own name is nothing under another's. */
static void entries_do_not_change_names(void **state)
{
    char a[PATH_BYTES], b[PATH_BYTES];
    size_t a_bytes = 0, b_bytes = 0;

    put("a", "A");
    put("b", "B");
    entry_path(*state, 0, a);
    entry_path(*state, 1, b);
    uint8_t *a_data = load(a, &a_bytes), *b_data = load(b, &b_bytes);
    save(a, b_data, b_bytes);
    save(b, a_data, a_bytes);
    assert_false(is_there("a", "A"));
    assert_false(is_there("b", "B"));
    free(a_data);
    free(b_data);
}

static void remove_entries(const struct cache_folder *cache_folder)
{
    char path[PATH_BYTES];

    while (count_files(cache_folder, false) > 0) {
        entry_path(cache_folder, 0, path);
        assert_int_equal(unlink(path), 0);
    }
}

static void keys_decide(void **state)
{
    struct cache_folder *cache_folder = *state;
    char path[PATH_BYTES], entry[PATH_BYTES];
    const uint8_t zeros[33] = { 0 };
    size_t bytes = 0;
    static const size_t sizes[] = { 0, 1, 31, 32, 33 };

    snprintf(path, sizeof(path), "%s/.key", cache_folder->entries);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(sizes); i++) {
        put("a", "A");
        assert_true(is_there("a", "A"));
        save(path, zeros, sizes[i]);
        assert_false(is_there("a", "A"));
        put("a", "A");
        assert_true(is_there("a", "A"));
    }
    /* An entry of another key, under the name that this key gives it. */
    remove_entries(cache_folder);
    put("a", "A");
    entry_path(cache_folder, 0, entry);
    uint8_t *data = load(entry, &bytes);
    assert_int_equal(unlink(path), 0);
    remove_entries(cache_folder);
    put("a", "A");
    entry_path(cache_folder, 0, entry);
    save(entry, data, bytes);
    assert_false(is_there("a", "A"));
    free(data);
}

/* ---- a disk that does not help ---- */

static void folders_may_be_read_only(void **state)
{
    struct cache_folder *cache_folder = *state;

    put("a", "A");
    assert_int_equal(chmod(cache_folder->entries, 0500), 0);
    assert_true(is_there("a", "A"));
    assert_int_equal(chmod(cache_folder->entries, 0700), 0);
    assert_int_equal(chmod(cache_folder->base, 0500), 0);
    assert_true(is_there("a", "A"));
    put("b", "B");
    assert_true(is_there("b", "B"));
    assert_int_equal(chmod(cache_folder->base, 0700), 0);
}

/* The n-th call fails, for every n: nothing wrong is ever found, no file stays, and then all is well again. */
static void calls_may_fail(void **state)
{
    uint32_t n = 1;

    for (bool failed = true; failed && n < CALLS_MOST; n++) {
        faults.failed = false;
        faults.countdown = n;
        put("a", "A");
        (void)is_there("a", "A");
        failed = faults.failed;
        faults.countdown = 0;
        (void)is_there("a", "A");
        assert_in_range(count_files(*state, true), 0, 2);
        put("a", "A");
        assert_true(is_there("a", "A"));
        assert_int_equal(count_files(*state, true), 2);
        if (n % 2 == 0) { /* without a key too */
            char path[PATH_BYTES];
            snprintf(path, sizeof(path), "%s/.key", ((struct cache_folder *)*state)->entries);
            unlink(path);
            entry_path(*state, 0, path);
            unlink(path);
        }
    }
    print_message("# %u calls\n", n - 2);
    assert_in_range(n, 20, CALLS_MOST - 1);
}

/* ---- room ---- */

#define LARGE_BYTES (9u << 20) /* so many make a program look at all entries */
#define OLD_ENTRIES 200u

/* An entry of 1 MiB of which nothing is on the disk, used so many seconds after the first. */
static void make_old_entry(const struct cache_folder *cache_folder, uint32_t n)
{
    const struct timespec times[] = { { 1000000 + n, 0 }, { 1000000 + n, n } };
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "%s/old-%u.ppuc", cache_folder->entries, n);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, 1 << 20), 0);
    assert_int_equal(futimens(file, times), 0);
    assert_int_equal(close(file), 0);
}

static bool has_old_entry(const struct cache_folder *cache_folder, uint32_t n)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "%s/old-%u.ppuc", cache_folder->entries, n);
    return access(path, F_OK) == 0;
}

/* The oldest go, and no file that is no entry. What is new stays, and small entries look at nothing. */
static void oldest_go(void **state)
{
    struct cache_folder *cache_folder = *state;
    char *large = malloc(LARGE_BYTES + 1), other[PATH_BYTES];
    uint32_t left = 0;

    assert_non_null(large);
    memset(large, 'x', LARGE_BYTES);
    large[LARGE_BYTES] = 0;
    put("a", "A");
    put("b", large);
    snprintf(other, sizeof(other), "%s/other", cache_folder->entries);
    save(other, (const uint8_t *)"x", 1);
    for (uint32_t n = 0; n < OLD_ENTRIES; n++) {
        make_old_entry(cache_folder, (n * 77) % OLD_ENTRIES);
    }
    put("c", "C");
    assert_true(has_old_entry(cache_folder, 0));
    put("d", large);
    for (uint32_t n = 0; n < OLD_ENTRIES; n++) {
        assert_true(has_old_entry(cache_folder, n) || left == 0);
        left += has_old_entry(cache_folder, n);
    }
    assert_in_range(left, 128 - 8 - 2 * 10, 128 - 2 * 9);
    assert_true(is_there("a", "A") && is_there("b", large) && is_there("c", "C") && is_there("d", large));
    assert_int_equal(access(other, F_OK), 0);
    free(large);
}

/* ---- two processes ---- */

#define TURNS 300u

static void work(uint32_t seed)
{
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        char source[20], image[20];
        snprintf(source, sizeof(source), "s%u", (turn * 7 + seed) % 5);
        snprintf(image, sizeof(image), "i%u", (turn * 7 + seed) % 5);
        put(source, image);
        (void)is_there(source, image);
    }
}

/* They make the key at the same time, and write and read the same entries. */
static void processes_share_it(void **state)
{
    pid_t pids[4];

    for (uint32_t i = 0; i < 4; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            work(i);
            _exit(0);
        }
    }
    for (uint32_t i = 0; i < 4; i++) {
        int status = -1;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_true(is_there("s0", "i0") && is_there("s4", "i4"));
    assert_in_range(count_files(*state, true), 6, 26); /* five entries and the key; those of keys that lost */
}

/* ---- what is not kept ---- */

static const char *const outside[] = {
    "#include \"h.h\"",
    "#import \"h.h\"",
    "# import <h.h>",
    "#include_next <h.h>",
    "%:import \"h.h\"",
    "int x[] = {\n#embed \"data\"\n};",
    "#if __has_include(\"h.h\")\n#endif",
    "#if __has_embed(\"h.h\")\n#endif",
    "#imp\\\nort \"h.h\"",
    "#imp\\ \nort \"h.h\"",
    "#imp\\\t \r\nort \"h.h\"",
    "#imp\\\rort \"h.h\"",
    "#inc\\\n\\\nlude \"h.h\"",
    "#im?\?/\nport \"h.h\"",
    "char *d = __DATE__;",
    "char *t = __TI\\\nME__;",
    "char *t = __TIMESTAMP__;",
    "#pragma GCC dependency \"h.h\"",
    "_Pragma(\"clang module import m\")",
    "@import m;",
};

static const char *const inside[] = {
    "kernel void k() {}",
    "#define A \\\n 1\n",
    "#pragma unroll",
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable",
    "#if defined(X) \\\n || defined(Y)\n#endif",
    "\\",
    "\\ ",
    "a \\ b",
    "#define S(x) #x\n",
};

static bool has_key(const char *source, const char *options)
{
    struct cache_key key;

    cache_key_init(&key, source, strlen(source), options, "");
    bool has = key.text;
    cache_key_free(&key);
    return has;
}

static void what_depends_on_more(void **state)
{
    uint32_t misses = 0;

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(outside); i++) {
        if (has_key(outside[i], "") || has_key("", outside[i])) {
            print_error("kept: %s\n", outside[i]);
            misses++;
        }
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(inside); i++) {
        if (!has_key(inside[i], "")) {
            print_error("not kept: %s\n", inside[i]);
            misses++;
        }
    }
    assert_int_equal(misses, 0);
}

/* ---- tags ---- */

static void tags_are_of_one_kind(void **state)
{
    const struct cache_folder_part ab[] = { { "a", 1 }, { "b", 1 } }, whole = { "ab", 2 };
    uint8_t tag[ORIGIN_TAG_BYTES];
    int folder = cache_folder_open("opencl");

    (void)state;
    assert_true(folder >= 0);
    assert_true(origin_tag(folder, ORIGIN_MODULE, ab, 2, tag));
    assert_true(origin_is(folder, ORIGIN_MODULE, ab, 2, tag));
    assert_false(origin_is(folder, ORIGIN_ENTRY, ab, 2, tag));
    assert_false(origin_is(folder, ORIGIN_MODULE, &whole, 1, tag));
    assert_false(origin_is(folder, ORIGIN_MODULE, ab, 1, tag));
    assert_false(origin_is(-1, ORIGIN_MODULE, ab, 2, tag));
    /* Without a folder the process has a key, the same each time. */
    assert_true(origin_tag(-1, ORIGIN_MODULE, ab, 2, tag));
    assert_true(origin_is(-1, ORIGIN_MODULE, ab, 2, tag));
    cache_folder_close(folder);
}

#define cache_test(name, function)                                  \
    {                                                               \
        name, function, open_cache_folder, close_cache_folder, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cache_test("what is kept is found again, and is the user's alone [F5]", kept),
        cache_test("with raised privileges there is no cache", no_variables_when_privileged),
        cache_test("links are followed at no level", links_are_not_followed),
        cache_test("what others may write to is not used", others_may_not_write),
        cache_test("what another user owns is not used", owners_must_be_the_user),
        cache_test("each bit of an entry counts, and its length", each_bit_counts),
        cache_test("an entry under another's name is none [F5]", entries_do_not_change_names),
        cache_test("without its key an entry is none [F5]", keys_decide),
        cache_test("a folder that cannot be written to can be read", folders_may_be_read_only),
        cache_test("the n-th call fails, the disk full: nothing wrong is found, nothing stays", calls_may_fail),
        cache_test("what was not used for the longest time goes when there is no room", oldest_go),
        cache_test("processes share it at the same time", processes_share_it),
        cache_test("sources that depend on more are not kept", what_depends_on_more),
        cache_test("a tag is of its kind and its parts [F5]", tags_are_of_one_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
