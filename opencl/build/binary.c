/* SPDX-License-Identifier: MIT */
#include "opencl/build/binary.h"

#include <stdlib.h>
#include <string.h>

#include "opencl/build/compiler_dl.h"
#include "opencl/build/fnv.h"
#include "opencl/build/origin.h"
#include "ppu/image.h"

#define MODULE_MAGIC 0x4f555050u /* "PPUO" */
#define MODULE_VERSION 2u

struct module_header {
    uint32_t magic;
    uint32_t version;
    uint32_t type; /* CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT or _LIBRARY */
    uint32_t reserved;
    uint64_t bitcode_bytes;
    uint64_t checksum;             /* of the bitcode */
    uint8_t tag[ORIGIN_TAG_BYTES]; /* of type and bitcode; zeros: it comes from elsewhere */
};

enum { MODULE_TYPE, MODULE_BITCODE, MODULE_PARTS };

void binary_free(struct binary *binary)
{
    free(binary->at);
    compiler_free(&binary->module);
    *binary = (struct binary){ .at = NULL };
}

static bool give_room(struct binary *binary, size_t bytes, cl_program_binary_type type)
{
    uint8_t *at = malloc(bytes);

    *binary = (struct binary){ .at = NULL };
    if (at) {
        *binary = (struct binary){ .at = at, .bytes = bytes, .type = type };
    }
    return at;
}

static void cut_module(const struct module_header *header, const struct ppu_compile_module *module,
                       struct cache_folder_part parts[MODULE_PARTS])
{
    parts[MODULE_TYPE] = (struct cache_folder_part){ &header->type, sizeof(header->type) };
    parts[MODULE_BITCODE] = (struct cache_folder_part){ module->bitcode, module->len_bytes };
}

/* Without a key it counts as foreign. */
static bool tag_module(struct module_header *header, const struct ppu_compile_module *module)
{
    struct cache_folder_part parts[MODULE_PARTS];
    int folder = cache_folder_open();

    cut_module(header, module, parts);
    bool tagged = origin_tag(folder, ORIGIN_MODULE, parts, MODULE_PARTS, header->tag);
    cache_folder_close(folder);
    return tagged;
}

static bool is_ours(const struct module_header *header, const struct ppu_compile_module *module)
{
    struct cache_folder_part parts[MODULE_PARTS];
    int folder = cache_folder_open();

    cut_module(header, module, parts);
    bool ours = origin_is(folder, ORIGIN_MODULE, parts, MODULE_PARTS, header->tag);
    cache_folder_close(folder);
    return ours;
}

cl_int binary_of_module(struct binary *binary, cl_program_binary_type type, const struct ppu_compiled *bitcode,
                        bool foreign)
{
    const struct ppu_compile_module module = { bitcode->bytes, bitcode->len_bytes };
    struct module_header header = {
        .magic = MODULE_MAGIC,
        .version = MODULE_VERSION,
        .type = type,
        .bitcode_bytes = bitcode->len_bytes,
        .checksum = fnv_of(bitcode->bytes, bitcode->len_bytes),
    };

    if (!give_room(binary, sizeof(header) + bitcode->len_bytes, type)) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    binary->foreign = foreign || !tag_module(&header, &module);
    memcpy(binary->at, &header, sizeof(header));
    memcpy(binary->at + sizeof(header), bitcode->bytes, bitcode->len_bytes);
    return CL_SUCCESS;
}

void binary_of_image(struct binary *binary, struct ppu_compiled *image)
{
    *binary =
        (struct binary){ .at = image->bytes, .bytes = image->len_bytes, .type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE };
    image->bytes = NULL;
}

struct ppu_compile_module binary_module(const struct binary *binary)
{
    return (struct ppu_compile_module){ binary->at + sizeof(struct module_header),
                                        binary->bytes - sizeof(struct module_header) };
}

static cl_program_binary_type module_type(struct binary *binary)
{
    struct module_header header;

    if (binary->bytes < sizeof(header)) {
        return CL_PROGRAM_BINARY_TYPE_NONE;
    }
    memcpy(&header, binary->at, sizeof(header));
    const struct ppu_compile_module module = binary_module(binary);
    bool known =
        header.magic == MODULE_MAGIC && header.version == MODULE_VERSION && header.reserved == 0 &&
        (header.type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT || header.type == CL_PROGRAM_BINARY_TYPE_LIBRARY);
    bool whole =
        header.bitcode_bytes == module.len_bytes && header.checksum == fnv_of(module.bitcode, module.len_bytes);
    binary->foreign = !(known && whole && is_ours(&header, &module));
    return known && whole ? header.type : CL_PROGRAM_BINARY_TYPE_NONE;
}

static bool begins_with(const struct binary *binary, uint32_t magic)
{
    return binary->bytes >= sizeof(magic) && memcmp(binary->at, &magic, sizeof(magic)) == 0;
}

cl_int binary_copy(struct binary *binary, const void *bytes, size_t count, const char **why)
{
    struct ppu_program_view view;

    if (!give_room(binary, count, CL_PROGRAM_BINARY_TYPE_NONE)) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(binary->at, bytes, count);
    if (begins_with(binary, MODULE_MAGIC)) {
        binary->type = module_type(binary);
        *why = "a compiled object or library that is damaged, or of another version";
    } else {
        *why = ppu_program_open(binary->at, count, &view);
        binary->type = !*why ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : CL_PROGRAM_BINARY_TYPE_NONE;
    }
    if (binary->type == CL_PROGRAM_BINARY_TYPE_NONE) {
        binary_free(binary);
        return CL_INVALID_BINARY;
    }
    return CL_SUCCESS;
}

bool binary_copy_module(struct ppu_compiled *to, const struct binary *from)
{
    *to = (struct ppu_compiled){ NULL, 0, NULL };
    if (!from->module.bytes) {
        return true;
    }
    to->bytes = malloc(from->module.len_bytes);
    if (!to->bytes) {
        return false;
    }
    to->len_bytes = from->module.len_bytes;
    memcpy(to->bytes, from->module.bytes, to->len_bytes);
    return true;
}
