/* SPDX-License-Identifier: MIT */
/*
 * Counts instructions of the microcontrollers while QEMU runs, as a plugin of QEMU: by the functions that called each
 * other, and between two records of the firmware's flight recorder. Arguments: elf=FILE, the firmware with its symbols;
 * out=FILE, where the counts go (tools/trace/mcu_counts.h).
 *
 * A block of code that begins at the first address of a function is a call of it. One that lies in a function further
 * out is a return to it. So the stack is known without looking at registers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <qemu-plugin.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "tools/mcu/symbols.h"
#include "tools/trace/mcu_counts.h"

#define BLOCKS 65536u /* that are told apart; a power of two */
#define PROBES 64u
#define DEEPEST 100u
#define RECORDS "trace_write" /* the function that writes a record */
#define BEGINS "trace_init"   /* the function that begins a recorder */

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* A block of translated code; translated again it is the same. */
struct block {
    uint64_t address;
    uint32_t insns;
    uint32_t function;
    bool enters;
    bool records;
    bool begins;
};

/* What its thread alone writes. */
struct mcu {
    struct mcu_counts_tree *tree;
    uint32_t at; /* node */
    uint32_t depth;
    uint64_t told;                          /* instructions at the latest record */
    uint32_t bucket[2u * MCU_COUNTS_NODES]; /* nodes by parent and function */
};

static struct {
    struct symbols symbols;
    uint32_t records, begins; /* functions */
    pthread_mutex_t lock;     /* of block */
    struct block block[BLOCKS];
    uint32_t first; /* microcontrollers are the processors from this one on */
    struct mcu *mcu[MCU_COUNTS_MOST_TREES];
    struct mcu_counts_head *file;
} counter = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- nodes ---- */

/* The node of a function that another node's has called; the other node itself where there is no room. */
static uint32_t callee_of(struct mcu *mcu, uint32_t parent, uint32_t function)
{
    struct mcu_counts_tree *tree = mcu->tree;
    uint32_t buckets = PPU_ARRAY_SIZE(mcu->bucket), at = (parent * 2654435761u ^ function * 40503u) % buckets;

    for (; mcu->bucket[at] != 0; at = (at + 1) % buckets) {
        const struct mcu_counts_node *node = &tree->node[mcu->bucket[at]];
        if (node->parent == parent && node->function == function) {
            return mcu->bucket[at];
        }
    }
    uint32_t number = tree->nodes;
    if (number == MCU_COUNTS_NODES) {
        return parent;
    }
    tree->node[number] = (struct mcu_counts_node){ .parent = parent, .function = function };
    mcu->bucket[at] = number;
    __atomic_store_n(&tree->nodes, number + 1, __ATOMIC_RELEASE); /* partner: who reads the file meanwhile */
    return number;
}

static void call(struct mcu *mcu, uint32_t function)
{
    if (mcu->depth < DEEPEST && (mcu->at == 0 || mcu->tree->node[mcu->at].function != function)) {
        uint32_t node = callee_of(mcu, mcu->at, function);
        mcu->depth += node != mcu->at;
        mcu->at = node;
    }
}

/* The function has been called by whoever is on the stack; or it was jumped to from where the stack ends. */
static void go_to(struct mcu *mcu, uint32_t function)
{
    const struct mcu_counts_node *node = mcu->tree->node;
    uint32_t at = mcu->at, left = 0;

    while (at != 0 && node[at].function != function) {
        at = node[at].parent;
        left++;
    }
    if (at != 0) {
        mcu->at = at;
        mcu->depth -= left;
    } else {
        call(mcu, function);
    }
}

static void note_record(struct mcu *mcu)
{
    struct mcu_counts_tree *tree = mcu->tree;
    uint64_t insns = tree->insns - mcu->told;

    tree->record[tree->records % MCU_COUNTS_RECORDS] = (uint32_t)PPU_MIN(insns, UINT32_MAX);
    __atomic_store_n(&tree->records, tree->records + 1, __ATOMIC_RELEASE); /* partner: who reads the file meanwhile */
    mcu->told = tree->insns;
}

static void count(struct mcu *mcu, const struct block *block)
{
    struct mcu_counts_tree *tree = mcu->tree;

    if (block->enters) {
        call(mcu, block->function);
    } else if (mcu->at == 0 || tree->node[mcu->at].function != block->function) {
        go_to(mcu, block->function);
    }
    tree->missing += tree->node[mcu->at].function != block->function ? block->insns : 0;
    __atomic_store_n(&tree->node[mcu->at].insns, tree->node[mcu->at].insns + block->insns, __ATOMIC_RELAXED);
    if (block->begins) {
        tree->records = 0;
    }
    if (block->records) {
        note_record(mcu);
    }
    tree->insns += block->insns;
}

/* ---- QEMU ---- */

static void block_executed(unsigned int processor, void *block)
{
    uint32_t number = processor - counter.first;

    if (number >= counter.file->trees) {
        return;
    }
    if (!counter.mcu[number]) {
        struct mcu *mcu = calloc(1, sizeof(*mcu));
        if (!mcu) {
            return;
        }
        mcu->tree = &mcu_counts_trees(counter.file)[number];
        mcu->tree->nodes = 1;
        counter.mcu[number] = mcu;
    }
    count(counter.mcu[number], block);
}

/* NULL: too many are told apart. */
static struct block *block_of(uint64_t address, uint32_t insns)
{
    uint32_t at = (uint32_t)(address / 2 * 31 + insns);

    for (uint32_t i = 0; i < PROBES; i++, at++) {
        struct block *block = &counter.block[at % BLOCKS];
        if (block->insns != 0 && (block->address != address || block->insns != insns)) {
            continue;
        }
        if (block->insns == 0) {
            uint32_t function = symbols_find(&counter.symbols, address);
            bool known = function < counter.symbols.count;
            bool enters = known && counter.symbols.function[function].address == address;
            *block = (struct block){ .address = address,
                                     .insns = insns,
                                     .function = function,
                                     .enters = enters,
                                     .records = enters && function == counter.records,
                                     .begins = enters && function == counter.begins };
        }
        return block;
    }
    return NULL;
}

/* The guest's processors have their code elsewhere. */
static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    uint64_t address = qemu_plugin_tb_vaddr(tb);
    uint32_t insns = (uint32_t)qemu_plugin_tb_n_insns(tb);

    (void)id;
    if (address >= counter.symbols.end || insns == 0) {
        return;
    }
    pthread_mutex_lock(&counter.lock);
    struct block *block = block_of(address, insns);
    pthread_mutex_unlock(&counter.lock);
    if (block) {
        qemu_plugin_register_vcpu_tb_exec_cb(tb, block_executed, QEMU_PLUGIN_CB_NO_REGS, block);
    }
}

/* ---- the file ---- */

static const char *name_of(uint32_t function)
{
    return function < counter.symbols.count ? counter.symbols.function[function].name : "(other code)";
}

static bool make_file(const char *path, uint32_t trees)
{
    struct mcu_counts_head head = { .head = { MCU_COUNTS_VERSION, sizeof(head) },
                                    .functions = counter.symbols.count + 1,
                                    .trees = PPU_MIN(trees, MCU_COUNTS_MOST_TREES) };
    uint32_t name_bytes = 0;

    for (uint32_t i = 0; i < head.functions; i++) {
        name_bytes += (uint32_t)strlen(name_of(i)) + 1;
    }
    head.name_bytes = ppu_align_up(name_bytes, 8u);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_TRUNC);
    size_t bytes = mcu_counts_bytes(head.name_bytes, head.trees);
    void *map = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0
                    ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                    : MAP_FAILED;
    if (fd >= 0) {
        close(fd);
    }
    if (map == MAP_FAILED) {
        return false;
    }
    counter.file = map;
    char *at = (char *)(counter.file + 1);
    for (uint32_t i = 0; i < head.functions; i++) {
        at = stpcpy(at, name_of(i)) + 1;
    }
    memcpy(head.magic, MCU_COUNTS_MAGIC, sizeof(head.magic));
    *counter.file = head;
    return true;
}

static int refuse(const char *what, const char *path, const char *why)
{
    qemu_plugin_outs("");
    fprintf(stderr, "count the microcontroller's instructions: %s %s: %s\n", what, path, why);
    return -1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    const char *elf = "", *out = "";

    for (int i = 0; i < argc; i++) {
        elf = strncmp(argv[i], "elf=", 4) == 0 ? argv[i] + 4 : elf;
        out = strncmp(argv[i], "out=", 4) == 0 ? argv[i] + 4 : out;
    }
    const char *why = symbols_read(&counter.symbols, elf);
    if (why) {
        return refuse("read", elf, why);
    }
    counter.records = symbols_named(&counter.symbols, RECORDS);
    counter.begins = symbols_named(&counter.symbols, BEGINS);
    counter.first = (uint32_t)info->system.smp_vcpus;
    if (!make_file(out, (uint32_t)(info->system.max_vcpus - info->system.smp_vcpus))) {
        return refuse("write", out, "it cannot be made as large as it has to be");
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    return 0;
}
