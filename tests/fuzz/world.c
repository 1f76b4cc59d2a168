/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "runtime/channel.h"
#include "runtime/file.h"
#include "runtime/memory.h"
#include "runtime/taskq.h"
#include "runtime/workq.h"
#include "tests/fuzz/program.h"
#include "tools/asm/ppuasm.h"

#define MOST_KERNELS 24u
#define MOST_SOURCE (1u << 20)
#define TMD_BYTES 256u /* from one descriptor to the next in the hostile memory */
#define PARAMS_AT 0x2000u
#define PARAM_BYTES 64u
#define DATA_AT 0x4000u /* counters, what kernels write, semaphores */
#define BLOCK_BYTES 512u
#define RESET_STEPS 4000u
#define VICTIM_STEPS 20000u
#define VICTIM_MEMORY (64u * 1024u)
#define VICTIM_THREADS 64u
#define VICTIM_DONE 0x600du
#define GOOD_HEADER (PPU_BLOCK_VERSION | (uint32_t)sizeof(struct ppu_block_header) << 16)
/* places in the victim's memory */
#define VICTIM_TMD 0x0u
#define VICTIM_PARAMS 0x200u
#define VICTIM_SEM 0x300u
#define VICTIM_OUT 0x1000u

static const char *const sources[][8] = {
    { "tests/kernels/pressure.s", "device-lib/asm/abi.s", "device-lib/asm/copy.s", "device-lib/asm/nest.s",
      "device-lib/asm/taskq.s", "device-lib/asm/heap.s" },
    { "tests/kernels/taskq.s", "device-lib/asm/abi.s", "device-lib/asm/copy.s", "device-lib/asm/nest.s",
      "device-lib/asm/taskq.s", "device-lib/asm/heap.s" },
    { "tests/kernels/creator.s", "device-lib/asm/abi.s", "device-lib/asm/copy.s", "device-lib/asm/workq.s" },
};

static const char victim_text[] = ".kernel victim\n"
                                  ".param 16\n"
                                  "    ldp.b64 s0, [0]\n"
                                  "    rdsr v0, %tid.x\n"
                                  "    rdsr s6, %cta.x\n"
                                  "    rdsr s7, %ntid.x\n"
                                  "    mad v0, s6, s7, v0\n"
                                  "    mul v1, v0, 7\n"
                                  "    add v1, v1, 0x5ec2e700\n"
                                  "    mulwu v4, v0, 4\n"
                                  "    add64 v4, v4, s0\n"
                                  "    stg.b32 v1, [v4]\n"
                                  "    exit\n";

/* What the first bytes of a kernel's parameters are: places and small numbers that let it do its work. */
enum slot { NONE, NEST, QUEUE, WORKQ, TMD, PARAMS, DATA, SCRATCH, FEW };
static const struct template
{
    const char *kernel;
    enum slot slot[6];
}
templates[] = {
    { "each_waits", { TMD, PARAMS, DATA, DATA } },
    { "flood", { TMD, PARAMS, DATA, FEW } },
    { "burst", { TMD, PARAMS, DATA } },
    { "relay", { TMD, PARAMS, FEW } },
    { "scribble", { NEST, TMD, PARAMS, FEW, FEW, FEW } },
    { "taker", { QUEUE, DATA, DATA, SCRATCH, FEW } },
    { "saver", { QUEUE, DATA, DATA, SCRATCH, FEW } },
    { "feeder", { QUEUE, DATA, SCRATCH, FEW, FEW } },
    { "tasker", { QUEUE, TMD, PARAMS, DATA } },
    { "leaf", { DATA } },
    { "creator", { WORKQ, TMD, DATA, SCRATCH, FEW, FEW } },
    { "noted", { FEW, DATA } },
    { "starter", { WORKQ, TMD, PARAMS, DATA, FEW } },
    { "spoiler", { WORKQ, FEW, DATA } },
    { "batch", { WORKQ, DATA, DATA, FEW } },
};

static struct world made;
const struct world *const world = &made;
static struct ppu_device *device;
static struct ppu_context *hostile, *victim;
static struct ppu_channel *channels[WORLD_CHANNELS], *victim_channel;
static struct ppu_memory *victim_memory;
static uint8_t victim_expected[VICTIM_MEMORY];
static uint32_t put[WORLD_CHANNELS];
static uint32_t next_block;
static uint32_t rounds; /* of the work queue, begun by world_round() */

/* The input that is played. */
static const struct world_play *playing;
static struct fuzz_input meanwhile; /* what it stores while the firmware looks */
static uint32_t accesses_left;      /* of the firmware, before the next store */
static uint32_t steps_left;

/* Objects of libppu that live as long as the program. */
static struct ppu_program *programs[8];
static uint32_t program_count;
static struct ppu_taskq *queue;
static struct ppu_workq *work;

#define MUST(call) must((call), #call)
static void must(enum ppu_err err, const char *call)
{
    if (err != PPU_OK) {
        fuzz_found("set-up: %s: %s", call, ppu_error_name(err));
    }
}

/* ---- programs ---- */

static char *read_sources(const char *const *files)
{
    char *text = NULL;
    size_t length = 0;

    for (uint32_t i = 0; files[i]; i++) {
        struct ppu_error error;
        void *more = NULL;
        size_t bytes = 0;
        if (file_read("set-up", files[i], MOST_SOURCE, &more, &bytes, &error) != PPU_OK) {
            fuzz_found("%s; the target runs from the top of the checkout", error.text);
        }
        char *longer = realloc(text, length + bytes + 2);
        if (!longer) {
            abort();
        }
        text = longer;
        memcpy(text + length, more, bytes);
        text[length + bytes] = '\n';
        length += bytes + 1;
        text[length] = 0;
        free(more);
    }
    return text;
}

static struct ppu_program *load(struct ppu_context *context, const char *text)
{
    char message[PPUASM_MESSAGE_BYTES];
    struct ppuasm_image image;
    struct ppu_program *program = NULL;
    struct ppu_error error;

    if (!ppuasm_assemble(text, "kernels", &image, message)) {
        fuzz_found("set-up: %s", message);
    }
    must(ppu_program_load(context, image.bytes, image.len_bytes, &program, &error), "ppu_program_load");
    free(image.bytes);
    programs[program_count++] = program;
    return program;
}

static uint64_t slot_value(enum slot slot, uint32_t number)
{
    const struct world_area *memory = &made.area[WORLD_AREA_MEMORY];

    switch (slot) {
    case NEST:
        return made.area[WORLD_AREA_NEST].va;
    case QUEUE:
        return made.area[WORLD_AREA_QUEUE].va;
    case WORKQ:
        return made.area[WORLD_AREA_WORKQ].va;
    case TMD:
        return memory->va + number % made.kernels * TMD_BYTES;
    case PARAMS:
        return memory->va + PARAMS_AT + number % made.kernels * PARAM_BYTES;
    case DATA:
        return memory->va + DATA_AT + number * 256ull;
    case SCRATCH:
        return memory->va + 0x10000u;
    case FEW:
        return 3 | 2ull << 32;
    default:
        return 0;
    }
}

/* Its descriptor and its parameters lie in the hostile memory, ready to be launched. */
static void load_kernel(uint32_t number)
{
    const struct world_area *memory = &made.area[WORLD_AREA_MEMORY];
    uint8_t *params = memory->host + PARAMS_AT + number * PARAM_BYTES;
    struct ppu_tmd *tmd = &made.kernel[number].tmd;

    tmd->param_va = memory->va + PARAMS_AT + number * PARAM_BYTES;
    tmd->param_bytes = 48;
    tmd->watchdog_ns = 2000000;
    tmd->taskq = tmd->kind == PPU_TMD_TASKQ ? made.queue : 0;
    memcpy(memory->host + number * TMD_BYTES, tmd, sizeof(*tmd));
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(templates[number].slot); i++) {
        uint64_t value = slot_value(templates[number].slot[i], number + i);
        memcpy(params + i * sizeof(value), &value, sizeof(value));
    }
}

static void find_kernel(uint32_t number)
{
    const struct ppu_launch launch = { .grid = { 2 }, .cta = { 32 } };
    const struct ppu_kernel *kernel = NULL;

    for (uint32_t i = 0; i < program_count; i++) {
        if (ppu_kernel_find(programs[i], templates[number].kernel, &kernel) == PPU_OK) {
            MUST(ppu_kernel_describe(kernel, &launch, &made.kernel[number].tmd));
            if (templates[number].slot[0] == QUEUE && strcmp(templates[number].kernel, "tasker") < 0 &&
                strcmp(templates[number].kernel, "feeder") != 0) {
                made.kernel[number].tmd.kind = PPU_TMD_TASKQ;
                made.kernel[number].tmd.grid[0] = 1;
            }
            return;
        }
    }
    fuzz_found("set-up: there is no kernel %s", templates[number].kernel);
}

static void open_kernels(void)
{
    static struct world_kernel kernels[MOST_KERNELS];

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(sources); i++) {
        char *text = read_sources(sources[i]);
        load(hostile, text);
        free(text);
    }
    made.kernel = kernels;
    made.kernels = PPU_ARRAY_SIZE(templates);
    for (uint32_t i = 0; i < made.kernels; i++) {
        find_kernel(i);
    }
    for (uint32_t i = 0; i < made.kernels; i++) {
        load_kernel(i);
    }
}

/* ---- set-up ---- */

static struct world_area area_of(const struct ppu_memory *memory)
{
    return (struct world_area){
        .host = memory->host,
        .va = ppu_memory_va(memory, hostile).va,
        .bytes = (uint32_t)memory->bytes,
        .vram_offset = (uint32_t)memory->vram_offset,
    };
}

static void open_hostile(void)
{
    const struct ppu_nest_options nest = {
        .tasks = WORLD_NEST_TASKS, .depth = 4, .state_bytes = 12 * 1024, .ctas = 2, .heap_bytes = 65536
    };
    const struct ppu_taskq_options taskq = { WORLD_QUEUE_ENTRIES, WORLD_QUEUE_BYTES - 16 };
    const struct ppu_workq_options workq = { .entries = WORLD_WORKQ_ENTRIES, .block_bytes = WORLD_WORKQ_BLOCK };
    struct ppu_memory *memory = NULL, *system = NULL;

    MUST(ppu_context_create(device, &hostile));
    MUST(ppu_context_nest(hostile, &nest));
    MUST(ppu_memory_create(hostile, PPU_MEMORY_VRAM, WORLD_MEMORY, &memory));
    MUST(ppu_memory_create(hostile, PPU_MEMORY_SYSTEM, WORLD_SYSTEM, &system));
    for (uint32_t i = 0; i < WORLD_CHANNELS; i++) {
        const struct ppu_channel_options options = { .entries = WORLD_ENTRIES,
                                                     .priority = 3 * i,
                                                     .memory = i == 0 ? PPU_MEMORY_VRAM : PPU_MEMORY_SYSTEM };
        MUST(ppu_channel_create(hostile, &options, &channels[i]));
        made.channel[i] = channels[i]->index;
        made.area[WORLD_AREA_RING + i] = area_of(channels[i]->memory);
    }
    MUST(ppu_taskq_create(hostile, &taskq, &queue));
    MUST(ppu_workq_create(channels[0], &workq, &work));
    made.context = ppu_context_id(hostile);
    made.queue = queue->number;
    made.workq_channel = ppu_workq_channel(work);
    made.area[WORLD_AREA_MEMORY] = area_of(memory);
    made.area[WORLD_AREA_SYSTEM] = area_of(system);
    made.area[WORLD_AREA_NEST] = area_of(hostile->nest);
    made.area[WORLD_AREA_QUEUE] = area_of(queue->memory);
    made.area[WORLD_AREA_WORKQ] = area_of(work->channel.memory);
    made.area[WORLD_AREA_HEAP] = area_of(hostile->heap);
    made.root = page_table_root(&hostile->table);
    made.saves = (uint32_t)hostile->nest_saves;
    made.pool = device->firmware.pt_base;
    made.pool_bytes = device->firmware.pt_bytes;
    made.unused = made.pool + made.pool_bytes - WORLD_UNUSED;
}

/* Its block launches the task, waits for it and says so. */
static void write_victim_block(void)
{
    const uint64_t base = ppu_memory_va(victim_memory, victim).va;
    const uint32_t words[] = {
        GOOD_HEADER,
        4 + 4 + 1 + 5,
        0x71c,
        0,
        PPU_METHOD_WORD(PPU_METHOD_LAUNCH, 3),
        (uint32_t)(base + VICTIM_TMD),
        (uint32_t)((base + VICTIM_TMD) >> 32),
        0,
        PPU_METHOD_WORD(PPU_METHOD_WAIT_IDLE, 0),
        PPU_METHOD_WORD(PPU_METHOD_SEM_RELEASE, 4),
        (uint32_t)(base + VICTIM_SEM),
        (uint32_t)((base + VICTIM_SEM) >> 32),
        VICTIM_DONE,
        0,
    };

    memcpy(victim_channel->staging, words, sizeof(words));
    victim_channel->ring[0] = ppu_gp_entry(victim_channel->staging_va, sizeof(words) / 4);
}

static void expect_victim(void)
{
    const uint32_t done = VICTIM_DONE;

    memcpy(victim_expected, victim_memory->host, VICTIM_MEMORY);
    memcpy(victim_expected + VICTIM_SEM, &done, sizeof(done));
    for (uint32_t i = 0; i < VICTIM_THREADS; i++) {
        const uint32_t value = 0x5ec2e700u + 7 * i;
        memcpy(victim_expected + VICTIM_OUT + 4 * i, &value, sizeof(value));
    }
}

static void open_victim(void)
{
    const struct ppu_launch launch = { .grid = { VICTIM_THREADS / 32 }, .cta = { 32 } };
    const struct ppu_kernel *kernel = NULL;
    struct ppu_tmd tmd;

    MUST(ppu_context_create(device, &victim));
    MUST(ppu_channel_create(victim, NULL, &victim_channel));
    MUST(ppu_memory_create(victim, PPU_MEMORY_VRAM, VICTIM_MEMORY, &victim_memory));
    MUST(ppu_kernel_find(load(victim, victim_text), "victim", &kernel));
    MUST(ppu_kernel_describe(kernel, &launch, &tmd));
    const uint64_t base = ppu_memory_va(victim_memory, victim).va;
    const uint64_t out = base + VICTIM_OUT;
    tmd.param_va = base + VICTIM_PARAMS;
    tmd.param_bytes = 16;
    memcpy(victim_memory->host + VICTIM_TMD, &tmd, sizeof(tmd));
    memcpy(victim_memory->host + VICTIM_PARAMS, &out, sizeof(out));
    made.victim_context = ppu_context_id(victim);
    made.victim_channel = victim_channel->index;
    write_victim_block();
    expect_victim();
}

/* Set-up is no coverage of an input. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct stepped_options options;
    struct ppu_error error = { .code = PPU_OK };

    (void)argc;
    (void)argv;
    stepped_default(&options);
    options.config.engine_level = 1;
    stepped_start(&options);
    const struct ppu_device_options how = { .firmware = stepped_firmware() };
    if (ppu_device_open(stepped_transport(), &how, &device, &error) != PPU_OK) {
        fuzz_found("set-up: %s", error.text);
    }
    open_victim();
    open_hostile();
    open_kernels();
    stepped_remember();
    return 0;
}

void world_restore(void)
{
    stepped_restore();
    memset(put, 0, sizeof(put));
    next_block = 0;
    rounds = 0;
}

/* ---- what an input chooses ---- */

uint64_t world_address(struct fuzz_input *input)
{
    uint8_t kind = fuzz_u8(input);
    const struct world_area *area = &made.area[kind % WORLD_AREAS];

    if (kind >= 250) {
        return fuzz_u64(input);
    }
    if (kind >= 240) {
        return area->va + area->bytes - fuzz_u8(input); /* across its end */
    }
    uint32_t offset = fuzz_u8(input) * 16u;
    return area->va + (kind & 0x40u ? DATA_AT + offset : offset) % area->bytes;
}

uint32_t world_value(struct fuzz_input *input, uint32_t present)
{
    switch (fuzz_u8(input) % 8) {
    case 0:
        return fuzz_u8(input);
    case 1:
        return fuzz_u32(input);
    case 2:
        return ~(uint32_t)fuzz_u8(input);
    case 3:
        return present ^ 1u << fuzz_u8(input) % 32;
    case 4:
        return (uint32_t)world_address(input);
    case 5:
        return present + (fuzz_u8(input) & 1 ? 1u : ~0u);
    case 6:
        return (uint32_t)fuzz_u8(input) << 20 | fuzz_u16(input); /* a handle, perhaps */
    default: {
        const struct world_area *area = &made.area[fuzz_below(input, WORLD_AREAS)];
        uint32_t other = 0;
        memcpy(&other, area->host + fuzz_u8(input) * 4u, sizeof(other));
        return other;
    }
    }
}

void world_scribble(struct fuzz_input *input)
{
    uint8_t where = fuzz_u8(input);
    const struct world_area *area = &made.area[where % WORLD_AREAS];
    uint32_t offset = where < 128 ? fuzz_u8(input) * 4u : fuzz_u16(input) * 4u;
    uint32_t word = 0;

    offset %= area->bytes;
    memcpy(&word, area->host + offset, sizeof(word));
    word = world_value(input, word);
    memcpy(area->host + offset, &word, sizeof(word));
}

void world_store_tmd(uint32_t slot, const void *tmd)
{
    memcpy(made.area[WORLD_AREA_MEMORY].host + slot % made.kernels * TMD_BYTES, tmd, sizeof(struct ppu_tmd));
}

void world_put_tmd(struct fuzz_input *input)
{
    struct ppu_tmd tmd = made.kernel[fuzz_below(input, made.kernels)].tmd;
    uint32_t slot = fuzz_below(input, made.kernels);
    uint32_t changes = fuzz_below(input, 4);
    uint32_t words[sizeof(tmd) / 4];

    memcpy(words, &tmd, sizeof(words));
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t at = fuzz_below(input, sizeof(words) / 4);
        words[at] = world_value(input, words[at]);
    }
    world_store_tmd(slot, words);
}

/* ---- an input of two parts ---- */

static void store_meanwhile(void *opaque)
{
    (void)opaque;
    if (accesses_left > 0) {
        accesses_left--;
    } else if (!fuzz_ended(&meanwhile)) {
        accesses_left = fuzz_u8(&meanwhile);
        playing->scribble(&meanwhile);
    }
}

void world_pass(uint32_t steps)
{
    steps = PPU_MIN(steps, steps_left);
    steps_left -= steps;
    stepped_run(steps);
}

void world_play(const struct world_play *play, const uint8_t *bytes, size_t count)
{
    size_t first = count > 0 ? (count - 1) * bytes[0] / 255 : 0;
    struct fuzz_input input = fuzz_input(bytes + (count > 0), first);

    world_restore();
    playing = play;
    meanwhile = fuzz_input(bytes + (count > 0) + first, count - (count > 0) - first);
    accesses_left = fuzz_u8(&meanwhile);
    steps_left = play->steps;
    stepped_between(store_meanwhile, NULL);
    world_victim_begins();
    for (uint32_t i = 0; i < play->actions && !fuzz_ended(&input); i++) {
        play->act(&input);
    }
    world_pass(steps_left);
    world_check();
}

/* ---- command blocks ---- */

struct block {
    uint32_t word[BLOCK_BYTES / 4];
    uint32_t length;
};

static void add(struct block *block, uint32_t word)
{
    if (block->length < BLOCK_BYTES / 4) {
        block->word[block->length++] = word;
    }
}

static void add_address(struct block *block, uint64_t va)
{
    add(block, (uint32_t)va);
    add(block, (uint32_t)(va >> 32));
}

static void add_acquire(struct block *block, struct fuzz_input *input)
{
    uint32_t from = fuzz_u8(input);

    add(block, PPU_METHOD_WORD(PPU_METHOD_SEM_ACQUIRE, 4));
    add_address(block, world_address(input));
    add(block, fuzz_u8(input));
    add(block, (from & 1u) | (from & 0x80u ? PPU_SEM_FROM(made.workq_channel) : from & 0x40u ? from << 8 : 0));
}

static void add_launch(struct block *block, struct fuzz_input *input)
{
    uint8_t which = fuzz_u8(input);
    uint8_t stream = fuzz_u8(input);

    add(block, PPU_METHOD_WORD(PPU_METHOD_LAUNCH, 3));
    add_address(block, which < 200 ? made.area[WORLD_AREA_MEMORY].va + which % made.kernels * TMD_BYTES
                                   : world_address(input));
    add(block, stream < 64 ? PPU_STREAM_NONE : stream % 40u);
}

static void add_copy(struct block *block, struct fuzz_input *input)
{
    uint8_t length = fuzz_u8(input);

    add(block, PPU_METHOD_WORD(PPU_METHOD_COPY, 5));
    add_address(block, world_address(input));
    add_address(block, world_address(input));
    add(block, length < 200 ? length * 4u : length < 250 ? (uint32_t)length << 10 : fuzz_u32(input));
}

static void add_release(struct block *block, struct fuzz_input *input)
{
    add(block, PPU_METHOD_WORD(PPU_METHOD_SEM_RELEASE, 4));
    add_address(block, world_address(input));
    add(block, fuzz_u8(input));
    add(block, fuzz_u8(input) & 1u);
}

static void add_fill(struct block *block, struct fuzz_input *input)
{
    uint8_t length = fuzz_u8(input);

    add(block, PPU_METHOD_WORD(PPU_METHOD_FILL, 4));
    add_address(block, world_address(input) & ~3ull);
    add(block, length < 250 ? length * length & ~3u : fuzz_u32(input));
    add(block, fuzz_u32(input));
}

/* A list of commands for a stream. */
static void add_commands(struct block *block, struct fuzz_input *input)
{
    uint32_t at = block->length;
    uint8_t how = fuzz_u8(input);

    add(block, 0);
    add(block, how < 64 ? PPU_STREAM_NONE : how % 40u);
    for (uint32_t left = 1 + how % 4u; left > 0; left--) {
        switch (fuzz_u8(input) % 5) {
        case 0:
            add_acquire(block, input);
            break;
        case 1:
            add_copy(block, input);
            break;
        case 2:
            add_fill(block, input);
            break;
        case 3:
            add(block, PPU_METHOD_WORD(PPU_METHOD_INTERRUPT, 0));
            break;
        default:
            add_release(block, input);
            break;
        }
    }
    if (how % 8u == 7u) {
        add_launch(block, input);
        block->word[block->length - 1] = block->word[at + 1];
    }
    block->word[at] = PPU_METHOD_WORD(PPU_METHOD_ENQUEUE, block->length - at - 1);
}

/* Most are of no method that there is. */
static void add_any_word(struct block *block, struct fuzz_input *input)
{
    uint32_t word = fuzz_u32(input);

    if (word % 2u == 0 && block->length < BLOCK_BYTES / 8) {
        add_commands(block, input);
    } else {
        add(block, word);
    }
}

static void add_method(struct block *block, struct fuzz_input *input)
{
    switch (fuzz_u8(input) % 12) {
    case 0:
        add_acquire(block, input);
        break;
    case 1:
    case 2:
        add_release(block, input);
        break;
    case 3:
        add(block, PPU_METHOD_WORD(PPU_METHOD_WAIT_IDLE, 0));
        break;
    case 4:
    case 5:
    case 6:
    case 7:
        add_launch(block, input);
        break;
    case 8:
        add_copy(block, input);
        break;
    case 9:
        add(block, PPU_METHOD_WORD(PPU_METHOD_FEED, 1));
        add(block, fuzz_u8(input) % 4u == 0 ? fuzz_u32(input) : made.queue);
        break;
    case 10:
        add(block, PPU_METHOD_WORD(PPU_METHOD_INTERRUPT, 0));
        break;
    default:
        add_any_word(block, input);
        break;
    }
}

static uint32_t *new_block(struct ppu_channel *channel, uint64_t *va)
{
    uint32_t at = next_block++ % (channel->staging_bytes / BLOCK_BYTES) * BLOCK_BYTES;

    *va = channel->staging_va + at;
    return (void *)(channel->staging + at);
}

/* Writes the header, puts the block into the channel's ring, and rings. */
static void push(uint32_t number, struct block *block, uint32_t correlation)
{
    struct ppu_channel *channel = channels[number];
    uint64_t va = 0;
    uint32_t *words = new_block(channel, &va);

    block->word[0] = block->word[0] != 0 ? block->word[0] : GOOD_HEADER;
    block->word[1] = block->word[1] != 0 ? block->word[1] : block->length;
    block->word[2] = correlation;
    memcpy(words, block->word, block->length * 4);
    channel->ring[put[number]] = ppu_gp_entry(va, block->length);
    put[number] = ppu_gp_next(put[number], WORLD_ENTRIES);
    stepped_doorbell(channel->index, PPU_DB_PUT, put[number]);
}

void world_submit(struct fuzz_input *input)
{
    uint8_t how = fuzz_u8(input);
    struct block block = { .length = 4 };

    for (uint32_t left = 1 + (how >> 1) % 8u; left > 0; left--) {
        add_method(&block, input);
    }
    if (how >= 240) {
        block.word[fuzz_below(input, block.length)] = fuzz_u32(input);
    }
    push(how & 1u, &block, fuzz_u8(input));
}

void world_launch(uint32_t channel, uint32_t kernel, uint32_t stream)
{
    struct block block = { .length = 4 };

    add(&block, PPU_METHOD_WORD(PPU_METHOD_LAUNCH, 3));
    add_address(&block, made.area[WORLD_AREA_MEMORY].va + kernel % made.kernels * TMD_BYTES);
    add(&block, stream);
    add(&block, PPU_METHOD_WORD(PPU_METHOD_FEED, 1));
    add(&block, made.queue);
    push(channel % WORLD_CHANNELS, &block, kernel);
}

void world_round(uint32_t channel)
{
    const uint64_t workq = made.area[WORLD_AREA_WORKQ].va;
    struct block block = { .length = 4 };

    rounds++;
    add(&block, PPU_METHOD_WORD(PPU_METHOD_SEM_RELEASE, 4));
    add_address(&block, workq + offsetof(struct ppu_workq_head, x));
    add(&block, rounds);
    add(&block, 0);
    add(&block, PPU_METHOD_WORD(PPU_METHOD_SEM_ACQUIRE, 4));
    add_address(&block, workq + offsetof(struct ppu_workq_head, y));
    add(&block, rounds);
    add(&block, PPU_SEM_EQUAL | PPU_SEM_FROM(made.workq_channel));
    push(channel % WORLD_CHANNELS, &block, rounds);
}

/* ---- the victim, and what must hold ---- */

void world_victim_begins(void)
{
    stepped_doorbell(victim_channel->index, PPU_DB_PUT, 1);
}

static bool victim_is_done(void)
{
    uint32_t payload = 0;

    memcpy(&payload, victim_memory->host + VICTIM_SEM, sizeof(payload));
    return payload == VICTIM_DONE;
}

void world_check_victim(void)
{
    for (uint32_t i = 0; i < VICTIM_STEPS && !victim_is_done(); i++) {
        if (stepped_run(1) && !victim_is_done()) {
            fuzz_found("the machine rests, and the victim's task has not ended");
        }
    }
    if (!victim_is_done()) {
        fuzz_found("the victim's task does not end");
    }
    for (uint32_t i = 0; i < VICTIM_MEMORY; i++) {
        if (victim_memory->host[i] != victim_expected[i]) {
            fuzz_found("the victim's memory has 0x%02x instead of 0x%02x at 0x%x", victim_memory->host[i],
                       victim_expected[i], i);
        }
    }
}

static uint32_t query(enum ppu_key key, uint32_t object)
{
    const uint32_t args[] = { key, object };
    struct ppu_admin_msg reply = stepped_admin(PPU_ADMIN_QUERY, args, 2, RESET_STEPS);

    if (reply.status != PPU_FAULT_NONE) {
        fuzz_found("query %u of %u is refused: %u", (unsigned)key, object, reply.status);
    }
    return reply.arg[0];
}

static void reset(uint32_t channel)
{
    struct ppu_admin_msg reply = stepped_admin(PPU_ADMIN_CHANNEL_RESET, &channel, 1, RESET_STEPS);

    if (reply.status != PPU_FAULT_NONE) {
        fuzz_found("channel %u cannot be reset: %u", channel, reply.status);
    }
}

void world_check(void)
{
    stepped_between(NULL, NULL);
    for (uint32_t i = 0; i < WORLD_CHANNELS; i++) {
        reset(made.channel[i]);
    }
    reset(made.workq_channel);
    world_check_victim();
    if (query(PPU_KEY_CHANNEL_FAULT_CODE, made.victim_channel) != 0) {
        fuzz_found("the victim's channel has a fault: %u", query(PPU_KEY_CHANNEL_FAULT_CODE, made.victim_channel));
    }
    if (query(PPU_KEY_CONTEXT_TASKS, made.context) != 0) {
        fuzz_found("tasks of the hostile context are left: %u", query(PPU_KEY_CONTEXT_TASKS, made.context));
    }
    if (query(PPU_KEY_TASKS_FREE, 0) != query(PPU_KEY_TASKS_TOTAL, 0)) {
        fuzz_found("task records are lost: %u of %u are free", query(PPU_KEY_TASKS_FREE, 0),
                   query(PPU_KEY_TASKS_TOTAL, 0));
    }
}
