/* SPDX-License-Identifier: MIT */
/* Tests made-up /sys and /proc trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "runtime/vfio/function.h"

#define PATH_BYTES 256u
#define PPU_VENDOR "0x1234\n"
#define PPU_DEVICE "0x9955\n"

/* A scratch folder for each test. */
static int tree_setup(void **state)
{
    static char root[32];

    strcpy(root, "/tmp/ppu-test-XXXXXX");
    *state = mkdtemp(root);
    return !*state;
}

static int tree_teardown(void **state)
{
    char command[PATH_BYTES];

    snprintf(command, sizeof(command), "rm -r '%s'", (const char *)*state);
    return system(command);
}

/* The path below the tree, its folders made. */
static const char *path_in(const char *root, const char *name)
{
    static char path[PATH_BYTES];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    return path;
}

static void add_file(const char *root, const char *name, const char *content)
{
    FILE *file = fopen(path_in(root, name), "w");

    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void add_link(const char *root, const char *name, const char *target)
{
    assert_int_equal(symlink(target, path_in(root, name)), 0);
}

struct made_function {
    const char *address, *vendor, *device, *driver, *group; /* NULL: no such file */
};

static void add_function(const char *root, const struct made_function *function)
{
    const struct {
        const char *name, *text;
        bool link;
    } files[] = {
        { "vendor", function->vendor, false },
        { "device", function->device, false },
        { "driver", function->driver, true },
        { "iommu_group", function->group, true },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(files); i++) {
        char name[PATH_BYTES];
        snprintf(name, sizeof(name), "bus/pci/devices/%s/%s", function->address, files[i].name);
        if (files[i].text) {
            (files[i].link ? add_link : add_file)(root, name, files[i].text);
        }
    }
}

static void ppus_are_found_among_other_functions(void **state)
{
    static const struct made_function made[] = {
        { "0000:00:03.0", PPU_VENDOR, PPU_DEVICE, NULL, NULL },
        { "0001:8a:1f.3", PPU_VENDOR, PPU_DEVICE, NULL, NULL },
        { "0000:00:01.0", PPU_VENDOR, PPU_DEVICE, "../../bus/pci/drivers/vfio-pci", "../../kernel/iommu_groups/12" },
        { "0000:00:00.0", "0x1b36\n", "0x0008\n", NULL, NULL },
        { "0000:00:02.0", PPU_VENDOR, "0x11e8\n", NULL, NULL },
        { "0000:00:04.0", "0x4321\n", PPU_DEVICE, NULL, NULL },
        { "0000:00:05.0", NULL, NULL, NULL, NULL },
        { "a-name-longer-than-an-address", PPU_VENDOR, PPU_DEVICE, NULL, NULL },
    };
    struct vfio_function functions[4];

    for (size_t i = 0; i < PPU_ARRAY_SIZE(made); i++) {
        add_function(*state, &made[i]);
    }
    assert_int_equal(vfio_functions(*state, functions, 4), 3);
    const struct ppu_pci_address far = vfio_function_address(&functions[2]);
    assert_int_equal(far.domain, 1);
    assert_int_equal(far.bus, 0x8a);
    assert_int_equal(far.device, 0x1f);
    assert_int_equal(far.function, 3);
    assert_string_equal(functions[0].address, "0000:00:01.0");
    assert_string_equal(functions[0].driver, "vfio-pci");
    assert_int_equal(functions[0].iommu_group, 12);
    assert_string_equal(functions[1].address, "0000:00:03.0");
    assert_string_equal(functions[1].driver, "");
    assert_int_equal(functions[1].iommu_group, VFIO_NO_GROUP);
    assert_int_equal(vfio_functions(*state, functions, 1), 1);
}

static void machine_without_pci_has_no_ppu(void **state)
{
    struct vfio_function functions[1];

    assert_int_equal(vfio_functions(*state, functions, 1), 0);
}

static void group_that_is_no_number_is_none(void **state)
{
    const char *const groups[] = { "../x", "../-1", "../12a", "../", "99999999999999999999" };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(groups); i++) {
        char address[16];
        snprintf(address, sizeof(address), "0000:00:%02zu.0", i);
        const struct made_function made = { address, PPU_VENDOR, PPU_DEVICE, NULL, groups[i] };
        add_function(*state, &made);
    }
    struct vfio_function functions[8];
    size_t count = vfio_functions(*state, functions, 8);
    assert_int_equal(count, PPU_ARRAY_SIZE(groups));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(functions[i].iommu_group, VFIO_NO_GROUP);
    }
}

static void what_is_wrong_with_a_function_is_said(void **state)
{
    static const struct {
        struct vfio_function function;
        enum ppu_err err;
        const char *sentence;
    } cases[] = {
        { { "0000:00:01.0", "vfio-pci", 3 }, PPU_OK, NULL },
        { { "0000:00:01.0", "", 3 },
          PPU_ERR_TRANSPORT,
          "open PPU 0000:00:01.0: it has nothing as its driver; bind it: echo vfio-pci "
          ">/sys/bus/pci/devices/0000:00:01.0/driver_override; echo 0000:00:01.0 >/sys/bus/pci/drivers_probe" },
        { { "0000:00:01.0", "ppu", 3 },
          PPU_ERR_TRANSPORT,
          "open PPU 0000:00:01.0: it has ppu as its driver; bind it: echo vfio-pci "
          ">/sys/bus/pci/devices/0000:00:01.0/driver_override; echo 0000:00:01.0 >/sys/bus/pci/drivers_probe" },
        { { "0000:00:01.0", "vfio-pci", VFIO_NO_GROUP },
          PPU_ERR_TRANSPORT,
          "open PPU 0000:00:01.0: it is not behind an IOMMU, which vfio-pci needs; switch it on in the firmware or on the "
          "kernel's command line, or with ppu-run --smmu on; PPU_DEVICE=pci does without, for root" },
    };

    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct ppu_error error;
        assert_int_equal(vfio_function_check(&cases[i].function, &error), cases[i].err);
        if (cases[i].sentence) {
            assert_string_equal(error.text, cases[i].sentence);
        }
    }
}

static void holder_of_a_file_is_found(void **state)
{
    struct vfio_holder holder;

    add_link(*state, "7/fd/0", "/dev/null");
    add_file(*state, "7/comm", "other\n");
    add_link(*state, "123/fd/0", "/dev/null");
    add_link(*state, "123/fd/5", "/dev/vfio/12");
    add_file(*state, "123/comm", "saxpy\n");
    add_link(*state, "9x/fd/5", "/dev/vfio/1");
    assert_true(vfio_find_holder(*state, "/dev/vfio/12", &holder));
    assert_int_equal(holder.pid, 123);
    assert_string_equal(holder.name, "saxpy");
    assert_false(vfio_find_holder(*state, "/dev/vfio/1", &holder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "PPUs are found among other functions [A1]", ppus_are_found_among_other_functions, tree_setup, tree_teardown,
          NULL },
        { "machine without PCI has no PPU [A1]", machine_without_pci_has_no_ppu, tree_setup, tree_teardown, NULL },
        { "group that is no number is none", group_that_is_no_number_is_none, tree_setup, tree_teardown, NULL },
        { "what is wrong with a function is said", what_is_wrong_with_a_function_is_said, tree_setup, tree_teardown,
          NULL },
        { "holder of a file is found", holder_of_a_file_is_found, tree_setup, tree_teardown, NULL },
    };

    return cmocka_run_group_tests_name("vfio-function", tests, NULL, NULL);
}
