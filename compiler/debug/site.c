/* SPDX-License-Identifier: MIT */
#include "compiler/debug/site.h"

#include <llvm-c/DebugInfo.h>

#define FIRST_BUCKETS 64u

/* A site; its number is one more than its index. */
struct site {
    LLVMMetadataRef location;
    uint32_t line;
};

static uint32_t hash_of(const struct site *site)
{
    uint64_t key = ((uint64_t)(uintptr_t)site->location ^ site->line) * 0x9e3779b97f4a7c15ull;

    return (uint32_t)(key >> 32);
}

static bool is_same(const struct site *a, const struct site *b)
{
    return a->location == b->location && a->line == b->line;
}

/* The bucket of the hash table that has the site, or is free for it. Buckets hold numbers of sites. */
static uint32_t *bucket_of(const struct compilation *compilation, const struct site *site)
{
    const struct sites *sites = &compilation->sites;
    uint32_t bucket = hash_of(site) & (sites->buckets - 1);

    while (sites->bucket[bucket] != 0 && !is_same(&sites->site[sites->bucket[bucket] - 1], site)) {
        bucket = (bucket + 1) & (sites->buckets - 1);
    }
    return &sites->bucket[bucket];
}

static void grow_buckets(struct compilation *compilation)
{
    struct sites *sites = &compilation->sites;

    sites->buckets = sites->buckets == 0 ? FIRST_BUCKETS : sites->buckets * 2;
    sites->bucket = arena_new(&compilation->arena, uint32_t, sites->buckets);
    for (uint32_t i = 0; i < sites->count; i++) {
        *bucket_of(compilation, &sites->site[i]) = i + 1;
    }
}

static uint32_t number_of(struct compilation *compilation, const struct site *site)
{
    struct sites *sites = &compilation->sites;

    if (sites->count * 2 >= sites->buckets) {
        grow_buckets(compilation);
    }
    uint32_t *bucket = bucket_of(compilation, site);
    if (*bucket == 0) {
        sites->site = arena_grow(&compilation->arena, sites->site, sizeof(*site), sites->count, &sites->cap);
        sites->site[sites->count++] = *site;
        *bucket = sites->count;
    }
    return *bucket;
}

uint32_t site_of(struct compilation *compilation, LLVMValueRef insn)
{
    const struct site site = { LLVMInstructionGetDebugLoc(insn), LLVMGetDebugLocLine(insn) };

    return site.line != 0 ? number_of(compilation, &site) : 0;
}

uint32_t site_of_line(struct compilation *compilation, uint32_t line)
{
    const struct site site = { NULL, line };

    return line != 0 ? number_of(compilation, &site) : 0;
}

uint32_t site_line(const struct compilation *compilation, uint32_t site)
{
    return site != 0 ? compilation->sites.site[site - 1].line : 0;
}

LLVMMetadataRef site_location(const struct compilation *compilation, uint32_t site)
{
    return site != 0 ? compilation->sites.site[site - 1].location : NULL;
}
