/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* strdup, strtok_r */

#include "tools/ppucc/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_argument(unsigned number)
{
    return number < FACTS_ARGUMENTS;
}

static bool log2_of(unsigned bytes, uint8_t *log)
{
    *log = 0;
    while (*log < 31 && 1u << *log < bytes) {
        ++*log;
    }
    return bytes != 0 && 1u << *log == bytes;
}

static bool add_pair(struct facts_text *facts, struct ppu_compile_pair pair)
{
    if (facts->facts.pair_count == FACTS_PAIRS || !is_argument(pair.second) || pair.first >= pair.second) {
        return false;
    }
    facts->pairs[facts->facts.pair_count++] = pair;
    return true;
}

/* What the two have in common: where it begins behind each, and how many bytes. */
static bool read_common(const char *word, struct ppu_compile_pair *pair)
{
    long long first, second;
    unsigned long long bytes;
    int end = 0;

    if (sscanf(word, "@%lld,%lld:%llu%n", &first, &second, &bytes, &end) != 3 || word[end] != 0) {
        return false;
    }
    pair->start[0] = first;
    pair->start[1] = second;
    pair->bytes = bytes;
    return true;
}

static bool add_overlap(struct facts_text *facts, const char *word)
{
    unsigned second, first, bytes;
    int distance, end = 0;
    char sign;
    struct ppu_compile_pair pair = { .relation = PPU_RELATION_OVERLAP };

    if (sscanf(word, "%u-%u%c%d*%u%n", &second, &first, &sign, &distance, &bytes, &end) != 5 ||
        (word[end] != 0 && !read_common(word + end, &pair)) || (sign != '=' && sign != '>') ||
        distance < -PPU_DISTANCE_MAX || distance > PPU_DISTANCE_MAX || !is_argument(first) || !is_argument(second) ||
        !log2_of(bytes, &pair.element_log2)) {
        return false;
    }
    pair.first = (uint8_t)first;
    pair.second = (uint8_t)second;
    pair.distance = (int8_t)distance;
    pair.exact = sign == '=';
    return add_pair(facts, pair);
}

/* Adds an argument above ids, in dimensions x, y, z. */
static bool add_above(struct facts_text *facts, unsigned argument, const char *dimensions)
{
    if (!is_argument(argument) || *dimensions == 0) {
        return false;
    }
    for (; *dimensions != 0; dimensions++) {
        if (*dimensions < 'x' || *dimensions > 'z') {
            return false;
        }
        facts->arguments[argument].above_ids |= (uint8_t)(1u << (*dimensions - 'x'));
    }
    return true;
}

static bool add_fact(struct facts_text *facts, const char *word)
{
    uint32_t *work_group = facts->facts.work_group;
    unsigned first, second, bytes;
    unsigned long long value;
    int end = 0;

    if (strcmp(word, "n") == 0) {
        facts->facts.small_ids = 1;
        return true;
    }
    if (sscanf(word, "a%u:%u%n", &first, &bytes, &end) == 2 && word[end] == 0) {
        return is_argument(first) && log2_of(bytes, &facts->arguments[first].align_log2);
    }
    if (sscanf(word, "i%u:%n", &first, &end) == 1 && end != 0) {
        return add_above(facts, first, word + end);
    }
    if (sscanf(word, "g%ux%ux%u%n", &work_group[0], &work_group[1], &work_group[2], &end) == 3) {
        return word[end] == 0;
    }
    if (sscanf(word, "s%u%n", &first, &end) == 1 && word[end] == 0 && is_argument(first)) {
        facts->arguments[first].separate = 1;
        return true;
    }
    if (sscanf(word, "c%u:%llx%n", &first, &value, &end) == 2 && word[end] == 0 && is_argument(first)) {
        facts->arguments[first].constant = 1;
        facts->arguments[first].value = value;
        return true;
    }
    if (sscanf(word, "%u!%u%n", &first, &second, &end) == 2 && word[end] == 0 && is_argument(first)) {
        return is_argument(second) && add_pair(facts, (struct ppu_compile_pair){ .first = (uint8_t)first,
                                                                                 .second = (uint8_t)second,
                                                                                 .relation = PPU_RELATION_DISJOINT });
    }
    if (sscanf(word, "%u=%u%n", &first, &second, &end) == 2 && word[end] == 0 && is_argument(first)) {
        return is_argument(second) && add_pair(facts, (struct ppu_compile_pair){ .first = (uint8_t)first,
                                                                                 .second = (uint8_t)second,
                                                                                 .relation = PPU_RELATION_IDENTICAL });
    }
    return add_overlap(facts, word);
}

bool facts_parse(const char *text, struct facts_text *facts)
{
    char *copy = strdup(text), *rest = NULL;
    bool good = copy;

    memset(facts, 0, sizeof(*facts));
    for (char *word = good ? strtok_r(copy, " ", &rest) : NULL; word && good; word = strtok_r(NULL, " ", &rest)) {
        if (facts->kernel[0] == 0) {
            good = snprintf(facts->kernel, sizeof(facts->kernel), "%s", word) < (int)sizeof(facts->kernel);
        } else {
            good = add_fact(facts, word);
        }
    }
    free(copy);
    facts->facts.kernel = facts->kernel;
    facts->facts.arguments = facts->arguments;
    facts->facts.argument_count = FACTS_ARGUMENTS;
    facts->facts.pairs = facts->pairs;
    return good && facts->kernel[0] != 0;
}
