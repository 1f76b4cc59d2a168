/* SPDX-License-Identifier: MIT */
#include "tools/translator/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache/entry.h"
#include "ppu/version.h"
#include "tools/translator/level.h"

/* What an answer without code has in its place: no part of an entry is empty. */
static const uint8_t nothing[1];

struct key {
    char text[192]; /* version, module, level */
    struct tier_unit unit;
};

/* The module as it is now stands for LLVM too: it is linked with one version. False: it is not there. */
static bool key_make(const char *module, const struct tier_unit *unit, struct key *key, struct cache_folder_part *part)
{
    struct stat file;

    if (stat(module, &file) != 0) {
        return false;
    }
    memset(key, 0, sizeof(*key));
    snprintf(key->text, sizeof(key->text), "%s %llu %lld %lld.%09ld level %d", PPU_VERSION,
             (unsigned long long)tier_layout(), (long long)file.st_size, (long long)file.st_mtim.tv_sec,
             file.st_mtim.tv_nsec, (int)level_of_host());
    memcpy(&key->unit, unit, tier_unit_bytes(unit));
    *part = (struct cache_folder_part){ key, offsetof(struct key, unit) + tier_unit_bytes(unit) };
    return true;
}

static bool take(const struct cache_entry *entry, const struct tier_unit *unit, struct tier_answer *answer,
                 uint8_t **code)
{
    const struct cache_folder_part *const first = &entry->part[CACHE_ENTRY_FIRST], *const second =
                                                                                       &entry->part[CACHE_ENTRY_SECOND];

    if (first->bytes != sizeof(*answer)) {
        return false;
    }
    memcpy(answer, first->at, sizeof(*answer));
    if (!tier_is_answer(answer, unit, TIER_WORTH) || (answer->bytes != 0 && answer->bytes != second->bytes)) {
        return false;
    }
    if (answer->bytes == 0) {
        return true;
    }
    *code = malloc(answer->bytes);
    if (*code) {
        memcpy(*code, second->at, answer->bytes);
    }
    return *code;
}

bool store_find(int folder, const char *module, const struct tier_unit *unit, struct tier_answer *answer,
                uint8_t **code)
{
    struct cache_folder_part part;
    struct cache_entry entry;
    struct key key;

    *code = NULL;
    if (folder < 0 || !key_make(module, unit, &key, &part) || !cache_entry_read(folder, &part, &entry)) {
        return false;
    }
    const bool taken = take(&entry, unit, answer, code);
    free(entry.data);
    return taken;
}

void store_keep(int folder, const char *module, const struct tier_unit *unit, const struct tier_answer *answer,
                const uint8_t *code)
{
    struct cache_folder_part parts[CACHE_ENTRY_PARTS];
    struct key key;

    if (folder < 0 || !key_make(module, unit, &key, &parts[CACHE_ENTRY_KEY])) {
        return;
    }
    parts[CACHE_ENTRY_FIRST] = (struct cache_folder_part){ answer, sizeof(*answer) };
    parts[CACHE_ENTRY_SECOND] = answer->bytes != 0 ? (struct cache_folder_part){ code, answer->bytes }
                                                   : (struct cache_folder_part){ nothing, sizeof(nothing) };
    (void)cache_entry_write(folder, parts);
}
