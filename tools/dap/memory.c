/* SPDX-License-Identifier: MIT */
/* Reads and writes memory of kernels for an editor, and disassembles their code. */
#include <errno.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/asm/ppuasm.h"
#include "tools/dap/adapter.h"

#define READ_MOST (1u << 20)
#define PIECE 4096u /* what is readable changes at borders of pages */
#define INSNS_MOST 4096

static const char *const space_words[] = {
    [PPU_DEBUG_PRIVATE] = "private",   [PPU_DEBUG_GLOBAL] = "global",   [PPU_DEBUG_CONSTANT] = "constant",
    [PPU_DEBUG_SHARED] = "shared",     [PPU_DEBUG_GENERIC] = "generic", [PPU_DEBUG_PARAMETER] = "parameter",
    [PPU_DEBUG_VARIABLES] = "program",
};

static bool is_of_warp(enum ppu_debug_space space)
{
    return space == PPU_DEBUG_PRIVATE || space == PPU_DEBUG_SHARED || space == PPU_DEBUG_PARAMETER;
}

void memory_name(const struct adapter *adapter, enum ppu_debug_space space, uint64_t address, char text[96])
{
    if (is_of_warp(space)) {
        snprintf(text, 96, "%s:%u/%u:0x%llx", space_words[space], threads_frame_id(adapter) / INFO_DEPTH,
                 adapter->session.focus.lane, (unsigned long long)address);
    } else {
        snprintf(text, 96, "0x%llx", (unsigned long long)address);
    }
}

/* Understands such a text, and moves the focus to who can reach the memory. False, and why. */
static bool find_memory(struct adapter *adapter, const char *text, enum ppu_debug_space *space, uint64_t *address)
{
    unsigned thread, lane;
    unsigned long long number;
    char word[16], *end;

    if (text && sscanf(text, "%15[a-z]:%u/%u:%llx", word, &thread, &lane, &number) == 4) {
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(space_words); i++) {
            if (strcmp(space_words[i], word) == 0) {
                *space = (enum ppu_debug_space)i;
                *address = number;
                return threads_focus(adapter, thread, adapter->session.focus.frame, lane);
            }
        }
    }
    errno = 0;
    number = text ? strtoull(text, &end, 0) : 0;
    if (!text || end == text || *end != 0 || errno != 0) {
        (void)adapter_refuse(adapter, "\"%.64s\" names no memory: expected an address", text ? text : "");
        return false;
    }
    *space = PPU_DEBUG_GLOBAL;
    *address = number;
    return threads_focus_stands(adapter);
}

/* ---- bytes ---- */

static uint32_t read_bytes(struct adapter *adapter, enum ppu_debug_space space, uint64_t address, uint8_t *bytes,
                           uint32_t count)
{
    uint32_t done = 0;

    while (done < count) {
        const uint32_t piece = (uint32_t)PPU_MIN((uint64_t)(count - done), PIECE - (address + done) % PIECE);
        if (!session_read(&adapter->session, space, address + done, bytes + done, piece)) {
            break;
        }
        done += piece;
    }
    return done;
}

json_t *request_read_memory(struct adapter *adapter, const json_t *arguments)
{
    const json_int_t wanted = argument_number(arguments, "count", 0);
    const uint32_t count = (uint32_t)PPU_MIN(wanted, (json_int_t)READ_MOST);
    enum ppu_debug_space space;
    uint64_t address;
    char text[32];

    if (wanted < 0) {
        return adapter_refuse(adapter, "the count is %lld: expected a number from 0", (long long)wanted);
    }
    if (!find_memory(adapter, argument_text(arguments, "memoryReference"), &space, &address)) {
        return NULL;
    }
    address += (uint64_t)argument_number(arguments, "offset", 0);
    uint8_t *bytes = malloc(count != 0 ? count : 1);
    char *coded = malloc(BASE64_ENCODE_RAW_LENGTH((size_t)count) + 1);
    if (!bytes || !coded) {
        free(bytes);
        free(coded);
        return adapter_refuse(adapter, "not enough memory for %u bytes", count);
    }
    const uint32_t done = read_bytes(adapter, space, address, bytes, count);
    base64_encode_raw(coded, done, bytes);
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
    json_t *body =
        json_pack("{s:s, s:s#}", "address", text, "data", coded, (int)BASE64_ENCODE_RAW_LENGTH((size_t)done));
    if (done < wanted) {
        json_object_set_new(body, "unreadableBytes", json_integer(wanted - done));
    }
    free(bytes);
    free(coded);
    return body;
}

/* The bytes that a text of base64 is, which the caller frees; NULL: it is none. */
static uint8_t *decode(const char *text, size_t *count)
{
    struct base64_decode_ctx context;
    const size_t length = strlen(text);
    uint8_t *bytes = malloc(BASE64_DECODE_LENGTH(length) + 1);

    *count = BASE64_DECODE_LENGTH(length);
    base64_decode_init(&context);
    if (bytes && (!base64_decode_update(&context, count, bytes, length, text) || !base64_decode_final(&context))) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

json_t *request_write_memory(struct adapter *adapter, const json_t *arguments)
{
    const char *data = argument_text(arguments, "data");
    const json_int_t offset = argument_number(arguments, "offset", 0);
    enum ppu_debug_space space;
    uint64_t address;
    size_t count = 0, done = 0;

    if (!find_memory(adapter, argument_text(arguments, "memoryReference"), &space, &address)) {
        return NULL;
    }
    uint8_t *bytes = data ? decode(data, &count) : NULL;
    if (!bytes) {
        return adapter_refuse(adapter, "\"data\" is no base64");
    }
    while (done < count) {
        const uint32_t piece = (uint32_t)PPU_MIN(count - done, (size_t)PPU_DEBUG_WRITE);
        if (!session_write(&adapter->session, space, address + (uint64_t)offset + done, bytes + done, piece)) {
            break;
        }
        done += piece;
    }
    free(bytes);
    if (done < count && !argument_true(arguments, "allowPartial")) {
        return adapter_refuse(adapter, "%zu of %zu bytes were written: %s", done, count,
                              box_why(&adapter->session.box));
    }
    if (adapter->knows_memory && done != 0) {
        adapter_tell(adapter, "memory",
                     json_pack("{s:s, s:I, s:I}", "memoryReference", argument_text(arguments, "memoryReference"),
                               "offset", offset, "count", (json_int_t)done));
    }
    return json_pack("{s:i, s:I}", "offset", 0, "bytesWritten", (json_int_t)done);
}

/* ---- code ---- */

/* The program that an address is in: of two that have it, the focus's. */
static const struct loaded *program_around(const struct session *session, uint64_t address)
{
    const struct loaded *found = NULL, *focus = session_loaded(session);

    for (uint32_t i = 0; i < session->loads; i++) {
        const struct loaded *loaded = &session->loaded[i];
        if (address - loaded->code < loaded->view.header->code_bytes && (!found || loaded == focus)) {
            found = loaded;
        }
    }
    return found;
}

static json_t *insn_json(const struct adapter *adapter, const struct loaded *loaded, uint64_t address)
{
    char text[PPUASM_TEXT_BYTES], at[32], bytes[3 * PPU_INSN_BYTES + 1];
    const uint64_t offset = loaded ? address - loaded->code : 0;
    const char *file = NULL;

    snprintf(at, sizeof(at), "0x%llx", (unsigned long long)address);
    if (!loaded || address < loaded->code || offset >= loaded->view.header->code_bytes) {
        return json_pack("{s:s, s:s, s:s}", "address", at, "instruction", "??", "presentationHint", "invalid");
    }
    const uint32_t insn = (uint32_t)(offset / PPU_INSN_BYTES);
    const uint8_t *code = (const uint8_t *)loaded->view.code + (size_t)insn * PPU_INSN_BYTES;
    uint64_t word;
    memcpy(&word, code, sizeof(word));
    ppuasm_disassemble(word, text);
    for (uint32_t i = 0; i < PPU_INSN_BYTES; i++) {
        snprintf(bytes + (size_t)3 * i, 4, "%02x ", code[i]);
    }
    bytes[3 * PPU_INSN_BYTES - 1] = 0;
    json_t *one = json_pack("{s:s, s:s, s:s}", "address", at, "instruction", text, "instructionBytes", bytes);
    uint32_t line = loaded->info ? info_line(loaded->info, insn, &file) : 0;
    if (line != 0) {
        json_object_set_new(one, "location", sources_of_line(adapter, loaded, file, &line));
        json_object_set_new(one, "line", json_integer(adapter_line(adapter, line)));
    }
    return one;
}

json_t *request_disassemble(struct adapter *adapter, const json_t *arguments)
{
    const char *reference = argument_text(arguments, "memoryReference");
    const json_int_t count = argument_number(arguments, "instructionCount", 0);
    const uint64_t insns = (uint64_t)argument_number(arguments, "instructionOffset", 0);
    char *end = NULL;
    uint64_t address = reference ? strtoull(reference, &end, 0) : 0;

    if (!reference || end == reference || *end != 0) {
        return adapter_refuse(adapter, "\"%.64s\" names no code: expected an address", reference ? reference : "");
    }
    if (count < 0 || count > INSNS_MOST) {
        return adapter_refuse(adapter, "%lld instructions: expected a number from 0 to %d", (long long)count,
                              INSNS_MOST);
    }
    const struct loaded *loaded = program_around(&adapter->session, address);
    address += (uint64_t)argument_number(arguments, "offset", 0) + insns * PPU_INSN_BYTES;
    address -= loaded ? (address - loaded->code) % PPU_INSN_BYTES : 0;
    json_t *list = json_array();
    for (json_int_t i = 0; i < count; i++) {
        json_array_append_new(list, insn_json(adapter, loaded, address + (uint64_t)i * PPU_INSN_BYTES));
    }
    return json_pack("{s:o}", "instructions", list);
}
