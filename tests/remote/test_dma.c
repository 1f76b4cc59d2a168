/* SPDX-License-Identifier: MIT */
/* Tests the table of a client's mappings: intervals, and files of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/base.h"
#include "qemu-device/remote/dma_table.h"

#define PAGE 4096u

static int memory_file(uint64_t bytes, int seals)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static struct dma_mapping span(uint64_t bus, uint64_t bytes, uint64_t offset)
{
    return (struct dma_mapping){
        .bus = bus, .last = bus + (bytes - 1), .readable = true, .writable = true, .offset = offset
    };
}

static int map(struct dma_table *table, uint64_t bus, uint64_t bytes, uint64_t offset, int fd)
{
    const struct dma_mapping mapping = span(bus, bytes, offset);

    return dma_table_map(table, &mapping, fd);
}

static void write_and_check(struct dma_table *table, int fd, uint64_t bus, uint64_t offset)
{
    const uint64_t value = bus * 3 + 1;
    uint64_t found = 0;

    assert_true(dma_table_write(table, bus, &value, sizeof(value)));
    assert_int_equal(pread(fd, &found, sizeof(found), (off_t)offset), sizeof(found));
    assert_int_equal(found, value);
    found = 0;
    assert_true(dma_table_read(table, bus, &found, sizeof(found)));
    assert_int_equal(found, value);
}

/* Pages of one file in any order, as a virtual IOMMU maps them: one mapping of this process holds them all. */
static void many_pages(void **state)
{
    struct dma_table table = { 0 };
    const uint32_t pages = 20000;
    int fd = memory_file((uint64_t)pages * PAGE, F_SEAL_SHRINK);

    (void)state;
    for (uint32_t i = 0; i < pages; i++) {
        const uint32_t at = (uint32_t)((uint64_t)i * 7919 % pages);
        assert_int_equal(map(&table, (uint64_t)at * PAGE, PAGE, (uint64_t)(pages - 1 - at) * PAGE, fd), 0);
    }
    assert_int_equal(table.count, pages);
    assert_int_equal(table.files.count, 1);
    for (uint32_t i = 0; i < pages; i += 997) {
        write_and_check(&table, fd, (uint64_t)i * PAGE + 8, (uint64_t)(pages - 1 - i) * PAGE + 8);
    }
    assert_int_equal(dma_table_unmap(&table, PAGE, (uint64_t)pages * PAGE - 1), 0);
    assert_int_equal(table.count, 1);
    write_and_check(&table, fd, 16, (uint64_t)(pages - 1) * PAGE + 16);
    dma_table_clear(&table);
    assert_int_equal(table.count, 0);
    assert_int_equal(table.files.count, 0);
    close(fd);
}

/* An access goes on in the next mapping, and ends where there is none. */
static void across_mappings(void **state)
{
    struct dma_table table = { 0 };
    int fd = memory_file(4 * PAGE, F_SEAL_SHRINK);
    uint8_t written[2 * PAGE], found[2 * PAGE];

    (void)state;
    for (size_t i = 0; i < sizeof(written); i++) {
        written[i] = (uint8_t)(i * 31 >> 3);
    }
    assert_int_equal(map(&table, 0x10000, PAGE, 2 * PAGE, fd), 0);
    assert_int_equal(map(&table, 0x11000, PAGE, 0, fd), 0);
    assert_true(dma_table_write(&table, 0x10000, written, sizeof(written)));
    assert_int_equal(pread(fd, found, PAGE, 2 * PAGE), PAGE);
    assert_int_equal(pread(fd, found + PAGE, PAGE, 0), PAGE);
    assert_memory_equal(found, written, sizeof(written));
    memset(found, 0, sizeof(found));
    assert_true(dma_table_read(&table, 0x10000, found, sizeof(found)));
    assert_memory_equal(found, written, sizeof(written));
    assert_false(dma_table_read(&table, 0x10001, found, sizeof(found)));
    assert_false(dma_table_read(&table, 0xffff, found, 1));
    assert_false(dma_table_read(&table, UINT64_MAX - 3, found, 8));
    dma_table_clear(&table);
    close(fd);
}

static void refused(void **state)
{
    struct dma_table table = { 0 };
    int fd = memory_file(4 * PAGE, F_SEAL_SHRINK);
    const struct dma_mapping backwards = { .bus = 2, .last = 1 }, ends = span(0, PAGE, INT64_MAX);

    (void)state;
    assert_int_equal(dma_table_map(&table, &backwards, fd), EINVAL);
    assert_int_equal(dma_table_map(&table, &ends, fd), EINVAL);
    assert_int_equal(map(&table, 0, PAGE, 3 * PAGE + 1, fd), EINVAL); /* behind the end of the file */
    assert_int_equal(map(&table, 0x4000, 2 * PAGE, 0, fd), 0);
    assert_int_equal(map(&table, 0x5fff, 1, 0, fd), EEXIST);
    assert_int_equal(map(&table, 0x3000, 8 * PAGE, 0, -1), EEXIST);
    assert_int_equal(dma_table_unmap(&table, 0x5000, 0x5fff), EINVAL); /* begins inside of a mapping */
    assert_int_equal(dma_table_unmap(&table, 0x4000, 0x4fff), EINVAL); /* ends inside of one */
    assert_int_equal(table.count, 1);
    assert_int_equal(table.files.count, 1);
    assert_int_equal(dma_table_unmap(&table, 0x6000, 0x7fff), 0); /* nothing there is no error */
    assert_int_equal(dma_table_unmap(&table, 0x3000, 0x7fff), 0);
    assert_int_equal(table.count, 0);
    assert_int_equal(map(&table, UINT64_MAX - (PAGE - 1), PAGE, 0, fd), 0); /* the end of the address space */
    dma_table_clear(&table);
    assert_int_equal(table.count, 0);
    close(fd);
}

static void rights(void **state)
{
    struct dma_table table = { 0 };
    int fd = memory_file(PAGE, F_SEAL_SHRINK);
    struct dma_mapping only_read = span(0, PAGE, 0), only_write = span(0x1000, PAGE, 0);
    uint32_t word = 5;

    (void)state;
    only_read.writable = false;
    only_write.readable = false;
    assert_int_equal(dma_table_map(&table, &only_read, fd), 0);
    assert_int_equal(dma_table_map(&table, &only_write, fd), 0);
    assert_int_equal(map(&table, 0x2000, PAGE, 0, -1), 0); /* memory without a file */
    assert_false(dma_table_write(&table, 0, &word, sizeof(word)));
    assert_true(dma_table_read(&table, 0, &word, sizeof(word)));
    assert_int_equal(word, 0);
    assert_true(dma_table_write(&table, 0x1000, &word, sizeof(word)));
    assert_false(dma_table_read(&table, 0x1000, &word, sizeof(word)));
    assert_false(dma_table_read(&table, 0x2000, &word, sizeof(word)));
    assert_false(dma_table_write(&table, 0x2000, &word, sizeof(word)));
    dma_table_clear(&table);
    close(fd);
}

/* The client takes memory away that it has mapped: an access fails, and this process lives. */
static void shrinking_file(void **state)
{
    struct dma_table table = { 0 };
    int fd = memory_file(4 * PAGE, 0);
    uint32_t word = 7;

    (void)state;
    assert_int_equal(map(&table, 0, 4 * PAGE, 0, fd), 0);
    write_and_check(&table, fd, 2 * PAGE, 2 * PAGE);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    assert_false(dma_table_read(&table, 2 * PAGE, &word, sizeof(word)));
    write_and_check(&table, fd, 64, 64);
    dma_table_clear(&table);
    close(fd);
}

/* A file that was sealed when it came can only grow; what is behind its former end is mapped anew. */
static void growing_file(void **state)
{
    struct dma_table table = { 0 };
    int fd = memory_file(PAGE, F_SEAL_SHRINK);

    (void)state;
    assert_int_equal(map(&table, 0, PAGE, 0, fd), 0);
    assert_int_equal(ftruncate(fd, 3 * PAGE), 0);
    assert_int_equal(map(&table, 0x8000, PAGE, 2 * PAGE, fd), 0);
    write_and_check(&table, fd, 8, 8);
    write_and_check(&table, fd, 0x8008, 2 * PAGE + 8);
    dma_table_clear(&table);
    close(fd);
}

static void wrong_files(void **state)
{
    struct dma_table table = { 0 };
    int ends[2], disk = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int sealed = memory_file(PAGE, F_SEAL_SHRINK | F_SEAL_WRITE);
    struct dma_mapping only_read = span(0, PAGE, 0);

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(map(&table, 0, PAGE, 0, ends[0]), ENODEV);
    assert_int_equal(map(&table, 0, PAGE, 0, null), ENODEV);
    assert_int_equal(map(&table, 0, PAGE, 0, disk), ENODEV);
    assert_int_equal(map(&table, 0, PAGE, 0, sealed), EINVAL);
    only_read.writable = false;
    assert_int_equal(dma_table_map(&table, &only_read, sealed), 0);
    dma_table_clear(&table);
    close(ends[0]);
    close(ends[1]);
    close(disk);
    close(null);
    close(sealed);
}

static void too_many_files(void **state)
{
    struct dma_table table = { 0 };

    (void)state;
    for (uint32_t i = 0; i <= CLIENT_FILES_MAX; i++) {
        int fd = memory_file(PAGE, F_SEAL_SHRINK);
        assert_int_equal(map(&table, (uint64_t)i * PAGE, PAGE, 0, fd), i < CLIENT_FILES_MAX ? 0 : ENOSPC);
        close(fd);
    }
    dma_table_clear(&table);
    assert_int_equal(table.files.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_pages),  cmocka_unit_test(across_mappings), cmocka_unit_test(refused),
        cmocka_unit_test(rights),      cmocka_unit_test(shrinking_file),  cmocka_unit_test(growing_file),
        cmocka_unit_test(wrong_files), cmocka_unit_test(too_many_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
