/* SPDX-License-Identifier: MIT */
#include "opencl/variants/variant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/host_clock.h"
#include "opencl/build/cache.h"
#include "opencl/build/compile_thread.h"
#include "opencl/build/compiler_dl.h"
#include "opencl/build/foreign.h"
#include "opencl/build/target.h"
#include "ppu/macros.h"
#include "ppu/tmd.h"

#define KEY_TEXT_BYTES 16384u /* enough for every key */
#define NS_PER_S 1000000000u
#define CLANG_MS 120000u        /* that clang may take, before the variant is given up; as ppu-foreign after it */
#define FAR_NS (UINT64_MAX / 4) /* beyond what anybody waits */

/* ---- life ---- */

static enum variant_level read_level(void)
{
    static const char *const names[VARIANT_LEVELS] = { "off", "separation", "alignment", "all" };
    const char *text = secure_getenv("PPU_ALIAS");

    if (!text || *text == '\0') {
        return VARIANT_ALL;
    }
    for (uint32_t i = 0; i < VARIANT_LEVELS; i++) {
        if (strcmp(text, names[i]) == 0) {
            return (enum variant_level)i;
        }
    }
    fprintf(stderr,
            "OpenCL on the PPU: read PPU_ALIAS: '%.40s' is none of off, separation, alignment, all; all is used\n",
            text);
    return VARIANT_ALL;
}

static bool is_on(const char *variable)
{
    const char *text = secure_getenv(variable);

    return text && *text != '\0' && strcmp(text, "0") != 0;
}

static struct variant_patience read_patience(void)
{
    const char *text = secure_getenv("PPU_ALIAS_WAIT");
    struct variant_patience patience = { false, 0 };

    if (text && *text != '\0' && !variant_patience_read(text, &patience)) {
        fprintf(stderr,
                "OpenCL on the PPU: read PPU_ALIAS_WAIT: '%.40s' is none of auto, never, always, or a time such as "
                "200ms or 2s; auto is used\n",
                text);
    }
    return patience;
}

/* Its clock is not set while a launch waits. */
static void init_changed(pthread_cond_t *changed)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct variants *variants_new(const struct _cl_program *program)
{
    uint32_t count = program->view.header->kernels;
    struct variants *variants = calloc(1, sizeof(*variants) + count * sizeof(variants->kernels[0]));

    if (!variants) {
        return NULL;
    }
    const struct binary *binary = &program->binary;
    variants->options = strdup(binary->options ? binary->options : program->options);
    variants->threshold = binary->options ? binary->threshold : program->threshold;
    if (!variants->options || !binary_copy_module(&variants->module, binary)) {
        free(variants->options);
        free(variants);
        return NULL;
    }
    pthread_mutex_init(&variants->lock, NULL);
    init_changed(&variants->changed);
    variants->users = 1;
    variants->level = read_level();
    variants->patience = read_patience();
    variants->prints = is_on("PPU_ALIAS_PRINT");
    variants->kernel_count = count;
    variants->foreign = binary->foreign;
    return variants;
}

void variants_use(struct variants *variants)
{
    pthread_mutex_lock(&variants->lock);
    variants->users++;
    pthread_mutex_unlock(&variants->lock);
}

void variants_release(struct variants *variants)
{
    pthread_mutex_lock(&variants->lock);
    bool last = --variants->users == 0;
    pthread_mutex_unlock(&variants->lock);
    if (last) {
        pthread_cond_destroy(&variants->changed);
        pthread_mutex_destroy(&variants->lock);
        compiler_free(&variants->module);
        free(variants->options);
        free(variants);
    }
}

static void free_code(struct variant_code *code)
{
    for (uint32_t i = 0; i < MAX_DEVICES; i++) {
        ppu_program_unload(code->on[i]);
    }
    compiler_free(&code->image);
}

void variant_use(struct variant *variant)
{
    pthread_mutex_lock(&variant->owner->lock);
    variant->users++;
    pthread_mutex_unlock(&variant->owner->lock);
}

void variant_drop(struct variant *variant)
{
    struct variants *owner = variant->owner;

    pthread_mutex_lock(&owner->lock);
    bool last = --variant->users == 0;
    pthread_mutex_unlock(&owner->lock);
    if (last) {
        free_code(&variant->code);
        free(variant);
        variants_release(owner);
    }
}

void variants_drop(struct variants *variants)
{
    if (!variants) {
        return;
    }
    for (uint32_t k = 0; k < variants->kernel_count; k++) {
        struct kernel_variants *kernel = &variants->kernels[k];
        for (uint32_t i = 0; i < kernel->count; i++) {
            variant_drop(kernel->list[i]);
        }
        kernel->count = 0;
    }
    variants_release(variants);
}

/* ---- compiling ---- */

struct job {
    cl_program program;      /* in use */
    struct variant *variant; /* in use */
    char *kernel;
    struct ppu_kernel_entry base;         /* of the base variant */
    struct ppu_argument_entry *arguments; /* the same */
    struct cache_key key;
};

/* But for its use of the variant. */
static void job_free(struct job *job)
{
    object_drop(job->program);
    cache_key_free(&job->key);
    free(job->arguments);
    free(job->kernel);
    free(job);
}

/* The options that the base variant was compiled with, as far as build options do not say them. */
static struct ppu_compile_options options_of(const struct job *job)
{
    const struct variants *owner = job->variant->owner;

    return target_options(job->program->context, owner->threshold, owner->options);
}

/* Registers and target are part of it: what is compiled depends on them. */
static char *key_text(const struct job *job)
{
    const struct ppu_compile_options options = options_of(job);
    char *text = malloc(KEY_TEXT_BYTES), target[TARGET_TEXT_BYTES];

    if (text) {
        target_text(&options, target);
        int length = snprintf(text, KEY_TEXT_BYTES / 2, "%s %u %s", job->kernel, job->variant->vregs, target);
        variant_key_print(&job->variant->key, text + length, KEY_TEXT_BYTES - (size_t)length);
    }
    return text;
}

/* Reads the source of a program, once for all variants. */
static enum ppu_compile_status read_source(const struct variants *owner, cl_program program,
                                           struct ppu_compiled *bitcode)
{
    const struct ppu_compile_options options = { .options = owner->options,
                                                 .clang_ms = CLANG_MS,
                                                 .fork_server = fork_server_path() };
    const struct compiler *compiler = compile_thread_compiler();

    return compiler ? compiler->compile_source(program->source, program->source_bytes, &options, bitcode)
                    : PPU_COMPILE_NO_TOOL;
}

static enum ppu_compile_status find_module(struct variants *owner, cl_program program,
                                           struct ppu_compile_module *module)
{
    struct ppu_compiled bitcode = { NULL, 0, NULL };

    pthread_mutex_lock(&owner->lock);
    bool there = owner->module.bytes;
    pthread_mutex_unlock(&owner->lock);
    enum ppu_compile_status status = there ? PPU_COMPILE_OK : read_source(owner, program, &bitcode);
    pthread_mutex_lock(&owner->lock);
    if (status == PPU_COMPILE_OK && !owner->module.bytes) {
        owner->module = bitcode;
        bitcode = (struct ppu_compiled){ NULL, 0, NULL };
    }
    *module = (struct ppu_compile_module){ owner->module.bytes, owner->module.len_bytes };
    pthread_mutex_unlock(&owner->lock);
    compiler_free(&bitcode);
    return status;
}

bool variants_module(struct variants *variants, cl_program program, struct ppu_compile_module *module)
{
    return find_module(variants, program, module) == PPU_COMPILE_OK;
}

static enum ppu_compile_status compile_image(const struct job *job, struct ppu_compiled *image)
{
    const struct variant_key *key = &job->variant->key;
    const struct ppu_compile_facts facts = {
        job->kernel,   key->arguments,  key->argument_count,
        key->pairs,    key->pair_count, { key->work_group[0], key->work_group[1], key->work_group[2] },
        key->small_ids
    };
    struct ppu_compile_options options = options_of(job);
    struct ppu_compile_module module;
    enum ppu_compile_status status = find_module(job->variant->owner, job->program, &module);
    const struct compiler *compiler = compile_thread_compiler();

    if (status == PPU_COMPILE_OK) {
        status = compiler ? compiler->read_target(&options, image) : PPU_COMPILE_NO_TOOL;
    }
    if (status == PPU_COMPILE_OK) {
        compiler_free(image);
        options.max_vregs = job->variant->vregs;
        options.facts = &facts;
    }
    return status == PPU_COMPILE_OK ? foreign_compile_variant(&options, &module, image) : status;
}

/* Without memory it is not cached. */
static void make_key(struct job *job)
{
    char *text = key_text(job);

    if (text && job->program->source) {
        cache_key_init(&job->key, job->program->source, job->program->source_bytes, job->variant->owner->options, text);
    } else if (text && !job->variant->owner->foreign) {
        const struct ppu_compiled *module = &job->variant->owner->module;
        cache_key_of_module(&job->key, &(struct ppu_compile_module){ module->bytes, module->len_bytes }, text);
    }
    free(text);
}

static const struct ppu_kernel_entry *find_entry(const struct ppu_program_view *view, const char *name)
{
    for (uint32_t i = 0; i < view->header->kernels; i++) {
        if (strcmp(view->text + view->kernels[i].name, name) == 0) {
            return &view->kernels[i];
        }
    }
    return NULL;
}

/* What a launch writes to the base variant's parameters is what this one reads. */
static bool same_parameters(const struct job *job, const struct ppu_kernel_entry *entry,
                            const struct ppu_argument_entry *arguments)
{
    bool same = entry->argument_count == job->base.argument_count &&
                (entry->implicit_at != 0 || entry->param_bytes <= job->base.param_bytes);

    for (uint32_t i = 0; i < entry->argument_count && same; i++) {
        same = arguments[i].kind == job->arguments[i].kind && arguments[i].offset == job->arguments[i].offset &&
               arguments[i].bytes == job->arguments[i].bytes;
    }
    return same;
}

/* NULL when launches of the base variant may run this instead: they share variables with it. */
static const char *refuse_variant(const struct job *job, const struct ppu_program_view *made)
{
    const struct ppu_kernel_entry *entry = find_entry(made, job->kernel);
    const uint32_t assumes = job->base.assumes | (job->variant->key.small_ids != 0 ? PPU_KERNEL_SMALL_IDS : 0);

    if (!entry) {
        return "it is not there";
    }
    if (made->header->variable_bytes != 0) {
        return "it writes variables of the program";
    }
    if (!same_parameters(job, entry, made->arguments + entry->argument_first)) {
        return "it has other parameters than the base variant";
    }
    if ((entry->assumes & ~assumes) != 0) {
        return "it is made for fewer launches than the base variant";
    }
    if (entry->wave != job->base.wave) {
        return "it has other sub-groups than the base variant";
    }
    if (ppu_warp_vregs(entry->wave, entry->vregs, entry->shared_vregs) > job->variant->vregs * entry->wave ||
        entry->shared_bytes != job->base.shared_bytes) {
        return "it needs other registers or local memory than the base variant";
    }
    return NULL;
}

/* NULL: it is loaded on all devices. */
static const char *load_code(const struct job *job, struct variant_code *code)
{
    cl_context context = job->program->context;
    const char *why = ppu_program_open(code->image.bytes, code->image.len_bytes, &code->view);

    why = !why ? refuse_variant(job, &code->view) : why;
    for (uint32_t i = 0; i < context->device_count && !why; i++) {
        if (ppu_program_load(context->ppus[i], code->image.bytes, code->image.len_bytes, &code->on[i], NULL) !=
            PPU_OK) {
            why = "it cannot be loaded";
        } else if (ppu_kernel_find(code->on[i], job->kernel, &code->kernel[i]) != PPU_OK) {
            why = "it is not there";
        } else if (job->program->source) {
            ppu_program_source(code->on[i], job->program->source, job->program->source_bytes);
        }
    }
    return why;
}

/* `why`: NULL, or why there is no code. */
static void finish_variant(struct variant *variant, const struct variant_code *code, const char *why)
{
    struct variants *owner = variant->owner;

    pthread_mutex_lock(&owner->lock);
    variant->code = *code;
    variant->why = why;
    owner->kernels[variant->kernel].cached += variant->cached;
    variant->state = !why ? VARIANT_READY : VARIANT_FAILED;
    pthread_cond_broadcast(&owner->changed);
    pthread_mutex_unlock(&owner->lock);
}

static void fail_variant(struct variant *variant, const char *why)
{
    const struct variant_code none = { .image = { NULL, 0, NULL } };

    finish_variant(variant, &none, why);
}

/* Takes the image. */
static void finish_with_image(const struct job *job, struct ppu_compiled *image)
{
    struct variant_code code = { .image = *image };
    const char *why = load_code(job, &code);

    if (why) {
        free_code(&code);
        fail_variant(job->variant, why);
    } else {
        finish_variant(job->variant, &code, NULL);
    }
}

/* Forecasts of later launches count what it took. */
static void note_compile_time(struct variant *variant)
{
    struct variants *owner = variant->owner;
    uint64_t ns = host_clock_ns() - variant->began_ns;

    pthread_mutex_lock(&owner->lock);
    struct compile_time *sums[] = { &owner->compile, &owner->kernels[variant->kernel].compile };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(sums); i++) {
        sums[i]->ns += ns;
        sums[i]->count++;
    }
    pthread_mutex_unlock(&owner->lock);
}

static void end_job(struct job *job)
{
    variant_drop(job->variant);
    job_free(job);
}

static void compile_variant(void *opaque)
{
    struct job *job = opaque;
    struct ppu_compiled image = { NULL, 0, NULL };

    make_key(job);
    if (compile_image(job, &image) == PPU_COMPILE_OK) {
        note_compile_time(job->variant);
        cache_store(&job->key, &image);
        finish_with_image(job, &image);
    } else {
        compiler_free(&image);
        fail_variant(job->variant, "the compiler refuses it");
    }
    end_job(job);
}

static void note_compiled(struct kernel_variants *of, const struct variant_key *key)
{
    uint64_t hash = variant_key_hash(key);
    uint32_t known = PPU_MIN(of->compiled, VARIANTS_REMEMBERED);

    for (uint32_t i = 0; i < known; i++) {
        if (of->hashes[i] == hash) {
            of->recompiled++;
            break;
        }
    }
    of->hashes[of->compiled++ % VARIANTS_REMEMBERED] = hash;
}

/* With the lock: there is code for it, or there will be. */
static void number_variant(struct variant *variant)
{
    struct kernel_variants *of = &variant->owner->kernels[variant->kernel];

    note_compiled(of, &variant->key);
    variant->number = of->compiled;
}

/* Finds what another process, or this one, has compiled already; false: it has to be compiled. */
static bool take_cached(struct job *job)
{
    struct variants *owner = job->variant->owner;
    struct ppu_compiled image = { NULL, 0, NULL };

    make_key(job);
    if (!cache_find(&job->key, &image)) {
        return false;
    }
    job->variant->cached = true;
    pthread_mutex_lock(&owner->lock);
    number_variant(job->variant);
    pthread_mutex_unlock(&owner->lock);
    finish_with_image(job, &image);
    return true;
}

/* ---- the table ---- */

struct variant *variant_find(struct variants *variants, uint32_t kernel, const struct variant_key *key)
{
    struct kernel_variants *of = &variants->kernels[kernel];

    for (uint32_t i = 0; i < of->count; i++) {
        if (variant_key_equal(&of->list[i]->key, key)) {
            of->list[i]->users++;
            return of->list[i];
        }
    }
    return NULL;
}

/* With the lock, which is given up for the one that leaves. */
static void insert(struct variants *variants, struct variant *variant)
{
    struct kernel_variants *of = &variants->kernels[variant->kernel];

    if (of->count == VARIANTS_MOST) {
        struct variant *oldest = of->list[0];
        memmove(&of->list[0], &of->list[1], --of->count * sizeof(of->list[0]));
        pthread_mutex_unlock(&variants->lock);
        variant_drop(oldest);
        pthread_mutex_lock(&variants->lock);
    }
    if (of->count < VARIANTS_MOST) {
        of->list[of->count++] = variant;
        variant->users++;
    }
}

static struct variant *variant_new(struct variants *variants, uint32_t kernel, const struct variant_key *key,
                                   uint32_t vregs)
{
    struct variant *variant = calloc(1, sizeof(*variant));

    if (!variant) {
        return NULL;
    }
    variant->owner = variants;
    variants->users++;
    variant->kernel = kernel;
    variant->key = *key;
    variant->vregs = vregs;
    variant->users = 1;
    return variant;
}

/* Uses the program, and not the variant yet. */
static struct job *job_new(cl_program program, uint32_t kernel)
{
    const struct ppu_kernel_entry *entry = &program->view.kernels[kernel];
    const size_t argument_bytes = entry->argument_count * sizeof(struct ppu_argument_entry);
    struct job *job = calloc(1, sizeof(*job));

    if (!job) {
        return NULL;
    }
    *job = (struct job){ .program = program,
                         .kernel = strdup(program->view.text + entry->name),
                         .base = *entry,
                         .arguments = malloc(argument_bytes + 1) };
    if (!job->kernel || !job->arguments) {
        free(job->arguments);
        free(job->kernel);
        free(job);
        return NULL;
    }
    memcpy(job->arguments, program->view.arguments + entry->argument_first, argument_bytes);
    object_use(program);
    return job;
}

/* In the cache, by this thread; then it is ready, or it is left to be compiled. */
static void search(struct job *job)
{
    struct variant *variant = job->variant;
    struct variants *owner = variant->owner;

    if (take_cached(job)) {
        return;
    }
    pthread_mutex_lock(&owner->lock);
    variant->state = VARIANT_DEFERRED;
    pthread_cond_broadcast(&owner->changed);
    pthread_mutex_unlock(&owner->lock);
}

struct variant *variant_start(struct variants *variants, cl_program program, uint32_t kernel,
                              const struct variant_key *key, uint32_t vregs)
{
    struct job *job = job_new(program, kernel);
    struct variant *variant = job ? variant_new(variants, kernel, key, vregs) : NULL;

    if (variant) {
        job->variant = variant;
        insert(variants, variant);
    }
    pthread_mutex_unlock(&variants->lock);
    if (variant) {
        search(job);
    }
    if (job) {
        job_free(job);
    }
    pthread_mutex_lock(&variants->lock);
    return variant;
}

void variant_compile(struct variant *variant, cl_program program)
{
    struct variants *owner = variant->owner;
    struct job *job = job_new(program, variant->kernel);

    variant->state = VARIANT_COMPILING;
    variant->began_ns = host_clock_ns();
    number_variant(variant);
    variant->users += !!job;
    pthread_cond_broadcast(&owner->changed);
    pthread_mutex_unlock(&owner->lock);
    if (!job) {
        fail_variant(variant, "there is no memory for the compiler");
    } else {
        job->variant = variant;
        if (!compile_thread_start(compile_variant, job)) {
            fail_variant(variant, "there is no thread for the compiler");
            end_job(job);
        }
    }
    pthread_mutex_lock(&owner->lock);
}

void variant_await_search(struct variant *variant)
{
    while (variant->state == VARIANT_SOUGHT) {
        pthread_cond_wait(&variant->owner->changed, &variant->owner->lock);
    }
}

void variant_await(struct variant *variant, uint64_t ns)
{
    struct variants *owner = variant->owner;
    uint64_t now_ns = host_clock_ns(), end_ns = PPU_MIN(ns, FAR_NS) + now_ns;
    const struct timespec end = { (time_t)(end_ns / NS_PER_S), (long)(end_ns % NS_PER_S) };
    int error = ns == 0 ? ETIMEDOUT : 0;

    while (variant->state == VARIANT_COMPILING && error != ETIMEDOUT) {
        error = pthread_cond_timedwait(&owner->changed, &owner->lock, &end);
    }
}

static uint64_t mean_ns(const struct compile_time *time)
{
    return time->count != 0 ? time->ns / time->count : 0;
}

void variant_forecast(const struct variant *variant, struct variant_forecast *forecast)
{
    const struct variants *owner = variant->owner;
    const struct kernel_variants *of = &owner->kernels[variant->kernel];

    forecast->base = of->time;
    forecast->variant = (struct variant_time){ 0, 0 };
    for (uint32_t i = 0; i < of->count; i++) {
        forecast->variant.ns += of->list[i]->time.ns;
        forecast->variant.items += of->list[i]->time.items;
    }
    forecast->compile_ns = of->compile.count != 0 ? mean_ns(&of->compile) : mean_ns(&owner->compile);
    forecast->since_ns = host_clock_ns() - variant->began_ns;
}

/* With the lock: a variant that the kernel's launches have earned, in use for the caller; NULL: there is none. */
static struct variant *find_earned(struct variants *variants, uint32_t kernel)
{
    const struct kernel_variants *of = &variants->kernels[kernel];

    for (uint32_t i = of->count; i-- > 0;) {
        struct variant_forecast forecast = { .items = 0 };
        variant_forecast(of->list[i], &forecast);
        if (of->list[i]->state == VARIANT_DEFERRED && variant_is_earned(&variants->patience, &forecast)) {
            of->list[i]->users++;
            return of->list[i];
        }
    }
    return NULL;
}

void variant_note(struct variants *variants, cl_program program, uint32_t kernel, struct variant *variant,
                  struct variant_time time)
{
    pthread_mutex_lock(&variants->lock);
    struct variant_time *sum = variant ? &variant->time : &variants->kernels[kernel].time;
    sum->ns += time.ns;
    sum->items += time.items;
    struct variant *earned = find_earned(variants, kernel);
    if (earned) {
        variant_compile(earned, program);
    }
    pthread_mutex_unlock(&variants->lock);
    if (earned) {
        variant_drop(earned);
    }
}
