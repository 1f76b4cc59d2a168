/* SPDX-License-Identifier: MIT */
/* Tests the PCI function as the host sees it: identity, BARs, properties, bad accesses. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "ppu/macros.h"
#include "tests/qemu/qemu.h"

#define MIB ((uint64_t)PPU_MIB)

/* Two PPUs that differ in everything that can differ. */
static const char *const two_ppus[] = {
    "--ppu", "vram-size=64M,channels=64,contexts=16,slots=8,gpcs=2,sms=4,sm-threads=1", "--ppu",
    "vram-size=32M,channels=5,contexts=3,slots=2,gpcs=1,sms=1,sm-threads=1,test-hooks=on", NULL
};

struct identity {
    uint32_t reg;
    uint32_t value[2];
};

static const struct identity identities[] = {
    { PPU_REG_MAGIC, { PPU_MAGIC, PPU_MAGIC } },
    { PPU_REG_ABI_VERSION, { PPU_ABI_MAJOR << 16 | PPU_ABI_MINOR, PPU_ABI_MAJOR << 16 | PPU_ABI_MINOR } },
    { PPU_REG_ISA, { PPU_ISA_VERSION, PPU_ISA_VERSION } },
    { PPU_REG_VRAM_SIZE_LO, { 64 * PPU_MIB, 32 * PPU_MIB } },
    { PPU_REG_VRAM_SIZE_HI, { 0, 0 } },
    { PPU_REG_CHANNELS, { 64, 5 } },
    { PPU_REG_CONTEXTS, { 16, 3 } },
    { PPU_REG_SLOTS, { 8, 2 } },
    { PPU_REG_GPCS, { 2, 1 } },
    { PPU_REG_SMS, { 4, 1 } },
    { PPU_REG_VECTORS, { PPU_MAX_VECTORS, PPU_MAX_VECTORS } },
    { PPU_REG_DOORBELL_STRIDE, { PPU_DOORBELL_STRIDE, PPU_DOORBELL_STRIDE } },
    { PPU_REG_TIMER_HZ, { 1000000000, 1000000000 } },
    { PPU_REG_INSTANCE, { 0, 1 } },
};

static void identity_blocks(void **state)
{
    struct qemu *qemu = qemu_start(two_ppus);
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        struct ppu ppu = ppu_map(qemu, i);

        for (size_t row = 0; row < PPU_ARRAY_SIZE(identities); row++) {
            assert_int_equal(ppu_read(&ppu, identities[row].reg), identities[row].value[i]);
        }
        assert_int_equal(!!(ppu_read(&ppu, PPU_REG_FEATURES) & PPU_FEATURE_TEST_HOOKS), i == 1);
    }
    qemu_stop(qemu);
}

static void bars(void **state)
{
    static const uint64_t doorbell_bytes[] = { 64 * PPU_DOORBELL_STRIDE, 8 * PPU_DOORBELL_STRIDE };
    static const uint64_t vram_bytes[] = { 64 * MIB, 32 * MIB };
    struct qemu *qemu = qemu_start(two_ppus);
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        struct ppu ppu = ppu_map(qemu, i);

        assert_int_equal(ppu.bar_bytes[PPU_BAR_REGS], PPU_BAR0_SIZE);
        assert_int_equal(ppu.bar_bytes[PPU_BAR_DOORBELLS], doorbell_bytes[i]);
        assert_int_equal(ppu.bar_bytes[PPU_BAR_VRAM], vram_bytes[i]);
        assert_int_equal(qemu_read(qemu, ppu.config + 8) >> 16, 0x1200);
        ppu_vram_write(&ppu, vram_bytes[i] - 4, 0x600d0000 + i);
        assert_int_equal(ppu_vram_read(&ppu, vram_bytes[i] - 4), 0x600d0000 + i);
    }
    qemu_stop(qemu);
}

/* No display, no VGA: an accelerator without a ROM, whatever the machine is made of. */
static void accelerator(void **state)
{
    struct qemu *qemu = qemu_start(two_ppus);
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        struct ppu ppu = ppu_map(qemu, i);

        assert_int_equal(qemu_read(qemu, ppu.config + 0x08) >> 8, 0x120000);
        qemu_write(qemu, ppu.config + 0x30, UINT32_MAX);
        assert_int_equal(qemu_read(qemu, ppu.config + 0x30), 0);
    }
    qemu_stop(qemu);
}

static void containers(void **state)
{
    struct qemu *qemu = qemu_start(two_ppus);
    (void)state;

    assert_non_null(strstr(qemu_monitor(qemu, "qom-list /machine"), "ppu-cluster0"));
    assert_non_null(strstr(qemu_monitor(qemu, "qom-list /machine"), "ppu-cluster1"));
    assert_non_null(strstr(qemu_monitor(qemu, "qom-get ppu1 state"), "mcu: off"));
    qemu_stop(qemu);
}

struct refusal {
    const char *ppu;     /* properties */
    const char *backend; /* more of QEMU's options, or NULL */
    const char *words;   /* in the message */
};

static const struct refusal refusals[] = {
    { "vram-size=48M", NULL, "vram" },
    { "vram-size=64K", NULL, "vram" },
    { "vram-size=4T", NULL, "vram" },
    { "channels=0", NULL, "channels" },
    { "channels=4097", NULL, "channels" },
    { "channels=-1", NULL, "channels" },
    { "contexts=0", NULL, "contexts" },
    { "contexts=257", NULL, "contexts" },
    { "slots=0", NULL, "slots" },
    { "slots=65", NULL, "slots" },
    { "sms=0", NULL, "sms" },
    { "sms=257", NULL, "sms" },
    { "sms=128,vram-size=16M", NULL, "vram" },
    { "sms=256,gpcs=128", NULL, "gpcs" },
    { "sms=4,gpcs=3", NULL, "gpcs" },
    { "gpcs=0", NULL, "gpcs" },
    { "sm-warps=1", NULL, "sm-warps" },
    { "sm-warps=257", NULL, "sm-warps" },
    { "sm-ctas=0", NULL, "sm-ctas" },
    { "sm-vregs=1", NULL, "sm-vregs" },
    { "sm-shared=1", NULL, "sm-shared" },
    { "sm-threads=4000000000", NULL, "sm-threads" },
    { "cache-model=on,l1-ways=3", NULL, "l1-ways" },
    { "cache-line=16", NULL, "cache-line" },
    { "l1-size=1000", NULL, "l1-size" },
    { "l2-size=1000", NULL, "l2-size" },
    { "sms=many", NULL, "many" },
    { "no-such-property=1", NULL, "no-such-property" },
    { "firmware=/nonexistent/image", NULL, "/nonexistent/image" },
    { "firmware=/dev/null", NULL, "/dev/null" },
    { "autostart=on", NULL, "autostart: there is no firmware to start; say firmware=, too" },
    { "notify=nobody", NULL, "nobody" },
    { "vram-memdev=small,vram-size=64M", "memory-backend-ram,id=small,size=32M", "vram-memdev" },
    { "mailbox-memdev=tiny", "memory-backend-ram,id=tiny,size=4K", "mailbox-memdev has 4096 bytes" },
    { "mailbox-memdev=large", "memory-backend-ram,id=large,size=64K", "needs notify" },
    { "mailbox-memdev=twice,vram-memdev=twice", "memory-backend-ram,id=twice,size=32M",
      "mailbox-memdev is in use by something else; name another" },
    { "vram-memdev=odd", "memory-backend-ram,id=odd,size=48M", "vram" },
};

static void properties_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(refusals); i++) {
        const struct refusal *row = &refusals[i];
        const char *args[] = { "--ppu", row->ppu, row->backend ? "--" : NULL, "-object", row->backend, NULL };
        int status;
        char *text = qemu_run_to_end(args, &status);

        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || !strstr(text, row->words)) {
            fail_msg("%s: status 0x%x, said: %s", row->ppu, (unsigned)status, text);
        }
        free(text);
    }
}

static void maxcpus_refused(void **state)
{
    static const char *const args[] = { "--ppus", "2", "--", "-smp", "1,maxcpus=2", NULL };
    int status;
    char *text = qemu_run_to_end(args, &status);
    (void)state;

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(text, "maxcpus"));
    free(text);
}

static void hotplug_refused(void **state)
{
    static const char *const args[] = { NULL };
    struct qemu *qemu = qemu_start(args);
    (void)state;

    assert_non_null(
        strstr(qemu_qmp(qemu, "{\"execute\": \"device_add\", \"arguments\": {\"driver\": \"ppu\"}}"), "error"));
    assert_non_null(
        strstr(qemu_qmp(qemu, "{\"execute\": \"device_del\", \"arguments\": {\"id\": \"ppu0\"}}"), "error"));
    assert_true(qemu_alive(qemu));
    qemu_stop(qemu);
}

/* Any offset of BAR0 but the reset key; and every doorbell page. The device must stay what it is. */
static void random_writes(void **state)
{
    struct qemu *qemu = qemu_start(two_ppus);
    uint32_t rng = test_seed();
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        struct ppu ppu = ppu_map(qemu, i);

        for (unsigned n = 0; n < 4000; n++) {
            uint32_t value = test_random(&rng);

            value = value & 1 ? value : value & 0x3f;
            if (n % 4 == 0) {
                qemu_write(qemu,
                           ppu.bar[PPU_BAR_DOORBELLS] + test_random(&rng) % ppu.bar_bytes[PPU_BAR_DOORBELLS] / 4 * 4,
                           value);
            } else {
                ppu_write(&ppu, test_random(&rng) % PPU_BAR0_MSIX_TABLE / 4 * 4, value);
            }
        }
        for (uint32_t offset = 0; offset < PPU_REG_SPACE; offset += 4) {
            ppu_read(&ppu, offset);
        }
        assert_int_equal(ppu_read(&ppu, PPU_REG_MAGIC), PPU_MAGIC);
        ppu_write(&ppu, PPU_REG_DEVICE_RESET, PPU_RESET_KEY);
        ppu_expect(&ppu, PPU_REG_MCU_STATE, PPU_MCU_HELD);
        for (size_t row = 0; row < PPU_ARRAY_SIZE(identities); row++) {
            assert_int_equal(ppu_read(&ppu, identities[row].reg), identities[row].value[i]);
        }
    }
    qemu_stop(qemu);
}

/* What one owner writes where there is no register must not wait for the next one. */
static void reserved_config(void **state)
{
    struct qemu *qemu = qemu_start(two_ppus);
    struct ppu ppu = ppu_map(qemu, 0);
    const uint32_t msix = ppu_capability(&ppu, PCI_CAP_MSIX), express = ppu_capability(&ppu, PCI_CAP_EXP);
    (void)state;

    for (uint32_t offset = 0x40; offset < 0x1000; offset += 4) {
        if (!(offset - msix < 12) && !(offset - express < 0x3c)) {
            qemu_write(qemu, ppu.config + offset, UINT32_MAX);
            if (qemu_read(qemu, ppu.config + offset) != 0) {
                fail_msg("configuration space keeps what is written at 0x%03x", offset);
            }
        }
    }
    qemu_stop(qemu);
}

/* A function-level reset makes all of configuration space what it was at first. */
static void config_after_reset(void **state)
{
    static uint32_t first[0x400];
    struct qemu *qemu = qemu_start(two_ppus);
    struct ppu ppu = ppu_map(qemu, 0);
    const uint32_t control = ppu_capability(&ppu, PCI_CAP_EXP) + 8;
    (void)state;

    ppu_function_level_reset(&ppu);
    for (uint32_t offset = 0; offset < sizeof(first); offset += 4) {
        first[offset / 4] = qemu_read(qemu, ppu.config + offset);
    }
    for (uint32_t offset = 0; offset < sizeof(first); offset += 4) {
        qemu_write(qemu, ppu.config + offset, offset == control ? UINT32_MAX & ~0x8000u : UINT32_MAX);
    }
    ppu_function_level_reset(&ppu);
    for (uint32_t offset = 0; offset < sizeof(first); offset += 4) {
        const uint32_t word = qemu_read(qemu, ppu.config + offset);
        if (word != first[offset / 4]) {
            fail_msg("after a reset configuration space has 0x%08x at 0x%03x, and not 0x%08x", word, offset,
                     first[offset / 4]);
        }
    }
    qemu_stop(qemu);
}

static void expect_threads(const char *properties, const char *threads)
{
    const char *args[] = { "--ppu", properties, NULL };
    struct qemu *qemu = qemu_start(args);
    const char *answer =
        qemu_qmp(qemu, "{\"execute\": \"qom-get\", \"arguments\": {\"path\": \"/machine/peripheral/ppu0\", "
                       "\"property\": \"sm-threads\"}}");

    assert_non_null(strstr(answer, threads));
    qemu_stop(qemu);
}

/* QEMU inherits which processors it may use. */
static void threads_by_processors(void **state)
{
    cpu_set_t all, one;
    char most[32];

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    snprintf(most, sizeof(most), "\"return\": %d}", PPU_MIN(CPU_COUNT(&all), 8));
    expect_threads("vram-size=32M,sms=8", most);
    expect_threads("vram-size=32M,sms=1,gpcs=1", "\"return\": 1}");
    expect_threads("vram-size=32M,sms=8,sm-threads=3", "\"return\": 3}");
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    expect_threads("vram-size=32M,sms=8", "\"return\": 1}");
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        { "two PPUs of different size tell their own identity [A1, A8]", identity_blocks, NULL, NULL, NULL },
        { "BARs have the sizes of the machine [A1, A8]", bars, NULL, NULL, NULL },
        { "the PPU is an accelerator to PCI, and no display [A15]", accelerator, NULL, NULL, NULL },
        { "each PPU has a container and a state of its own [A8]", containers, NULL, NULL, NULL },
        { "SMs have a host thread for each processor, unless told otherwise", threads_by_processors, NULL, NULL, NULL },
        { "unusable properties are refused with their name [A1]", properties_refused, NULL, NULL, NULL },
        { "a machine without room for the microcontrollers is refused [A8]", maxcpus_refused, NULL, NULL, NULL },
        { "a PPU is not hot-plugged [A1]", hotplug_refused, NULL, NULL, NULL },
        { "configuration space keeps nothing where it has no register [A1]", reserved_config, NULL, NULL, NULL },
        { "a function-level reset undoes all that was written to configuration space [A1]", config_after_reset, NULL,
          NULL, NULL },
        { "random writes to every register leave a device that resets [A1]", random_writes, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
