/* SPDX-License-Identifier: MIT */
#include "opencl/build/spirv.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opencl/build/spirv_module.h"

#define MAGIC 0x07230203u

/* A decoration of SPIR-V, by its number there. */
#define DECORATION_SPEC_ID 1u

const char *spirv_wrong(const void *il, size_t bytes)
{
    const struct module module = module_of(il, bytes);

    if (bytes % WORD != 0 || module.words < HEADER_WORDS) {
        return "it is no whole number of words, or shorter than a header";
    }
    if (word_at(&module, 0) == __builtin_bswap32(MAGIC)) {
        return "its words have the bytes of a big-endian machine";
    }
    if (word_at(&module, 0) != MAGIC) {
        return "it does not begin as SPIR-V";
    }
    if (word_at(&module, 1) >> 16 != 1 || (word_at(&module, 1) >> 8 & 0xff) > SPIRV_MINOR_MOST) {
        return "its version is not from 1.0 to 1.4";
    }
    size_t i = HEADER_WORDS;
    while (is_instruction(&module, i)) {
        i += length_at(&module, i);
    }
    return i == module.words ? NULL : "an instruction has no words, or more than there are";
}

/* ---- specialization constants ---- */

/* The instruction whose word `operand` is `value`, with one of two opcodes up to the other; 0: there is none. */
static size_t find(const struct module *module, uint32_t first, uint32_t last, uint32_t operand, uint32_t value)
{
    for (size_t i = HEADER_WORDS; i < module->words; i += length_at(module, i)) {
        const uint32_t opcode = opcode_at(module, i);
        if (opcode >= first && opcode <= last && length_at(module, i) > operand &&
            word_at(module, i + operand) == value) {
            return i;
        }
    }
    return 0;
}

/* Bytes of a number of that type; 0: it is none. */
static uint32_t bytes_of_type(const struct module *module, uint32_t type)
{
    const size_t at = find(module, OP_TYPE_INT, OP_TYPE_FLOAT, 1, type);

    return at != 0 && length_at(module, at) > 2 ? word_at(module, at + 2) / 8 : 0;
}

/* The result that has this id for specialization; 0: none. */
static uint32_t find_result(const struct module *module, uint32_t id)
{
    for (size_t i = HEADER_WORDS; i < module->words; i += length_at(module, i)) {
        if (opcode_at(module, i) == OP_DECORATE && length_at(module, i) == 4 &&
            word_at(module, i + 2) == DECORATION_SPEC_ID && word_at(module, i + 3) == id) {
            return word_at(module, i + 1);
        }
    }
    return 0;
}

bool spirv_find_constant(const void *il, size_t bytes, uint32_t id, struct spirv_constant *constant)
{
    const struct module module = module_of(il, bytes);
    const uint32_t result = find_result(&module, id);
    const size_t at = result != 0 ? find(&module, OP_SPEC_TRUE, OP_SPEC_NUMBER, 2, result) : 0;

    if (at == 0) {
        return false;
    }
    const bool is_bool = opcode_at(&module, at) != OP_SPEC_NUMBER;
    const uint32_t size = is_bool ? 1 : bytes_of_type(&module, word_at(&module, at + 1));
    *constant = (struct spirv_constant){ at, size, is_bool };
    return size > 0 && size <= (length_at(&module, at) - 3) * WORD + is_bool;
}

void spirv_set_constant(void *il, const struct spirv_constant *constant, const void *value)
{
    uint8_t *at = (uint8_t *)il + constant->word * WORD;

    if (constant->is_bool) {
        const uint16_t opcode = *(const uint8_t *)value != 0 ? OP_SPEC_TRUE : OP_SPEC_FALSE;
        memcpy(at, &opcode, sizeof(opcode)); /* the low half of the first word */
        return;
    }
    memcpy(at + 3 * WORD, value, constant->bytes);
}

/* ---- the translator ---- */

#define TRANSLATOR "llvm-spirv-15"
#define TRANSLATOR_VARIABLE "PPU_SPIRV"
#define USUAL_FOLDERS "/usr/bin:/bin"

static pthread_once_t looked = PTHREAD_ONCE_INIT;
static char found[PATH_MAX];

static bool take_path(const char *folder, int length, const char *name)
{
    const int bytes = snprintf(found, sizeof(found), "%.*s%s%s", length, folder, length > 0 ? "/" : "", name);

    return bytes > 0 && (size_t)bytes < sizeof(found) && access(found, X_OK) == 0;
}

/* As clang is looked for: a program with more rights than who started it takes what the system has. */
static void look(void)
{
    const char *named = secure_getenv(TRANSLATOR_VARIABLE), *folders = secure_getenv("PATH");
    bool done = false;

    if (named && *named != '\0') {
        done = take_path("", 0, named);
        folders = "";
    } else if (!folders) {
        folders = USUAL_FOLDERS;
    }
    while (!done && *folders != '\0') {
        const int length = (int)strcspn(folders, ":");
        done = length > 0 && take_path(folders, length, TRANSLATOR);
        folders += length + (folders[length] == ':');
    }
    found[0] = done ? found[0] : '\0';
}

bool spirv_translator(char path[PATH_MAX])
{
    pthread_once(&looked, look);
    memcpy(path, found, sizeof(found));
    return found[0] != '\0';
}
