/* SPDX-License-Identifier: MIT */
#include "opencl/build/binary.h"

#include <stdlib.h>
#include <string.h>

#include "cache/origin.h"
#include "opencl/build/compiler_dl.h"
#include "opencl/build/fnv.h"
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

#define RECIPE_MAGIC 0x58555050u /* "PPUX" */
#define RECIPE_VERSION 1u

/* Lies behind an executable's image; options with a final zero, and bitcode, follow it to the end. */
struct recipe_header {
    uint32_t magic;
    uint32_t version;
    uint32_t threshold;            /* of the device for segments */
    uint32_t options_bytes;        /* at least 1 */
    uint64_t bitcode_bytes;        /* at least 1 */
    uint64_t checksum;             /* of options and bitcode */
    uint8_t tag[ORIGIN_TAG_BYTES]; /* of all of it; zeros: it comes from elsewhere */
};

enum { RECIPE_IMAGE, RECIPE_THRESHOLD, RECIPE_OPTIONS, RECIPE_BITCODE, RECIPE_PARTS };

void binary_free(struct binary *binary)
{
    free(binary->at);
    free(binary->options);
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
    int folder = cache_folder_open("opencl");

    cut_module(header, module, parts);
    bool tagged = origin_tag(folder, ORIGIN_MODULE, parts, MODULE_PARTS, header->tag);
    cache_folder_close(folder);
    return tagged;
}

static bool is_ours(const struct module_header *header, const struct ppu_compile_module *module)
{
    struct cache_folder_part parts[MODULE_PARTS];
    int folder = cache_folder_open("opencl");

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

/* ---- executables ---- */

/* Finds, in bytes of unknown origin, where what the executable was made of begins; all of them when nothing does. */
static size_t find_recipe(const struct binary *binary)
{
    const uint32_t magic = RECIPE_MAGIC;
    struct ppu_program_header header;

    if (binary->bytes < sizeof(header)) {
        return binary->bytes;
    }
    memcpy(&header, binary->at, sizeof(header));
    size_t at = header.image_bytes;
    bool there = at >= sizeof(header) && at < binary->bytes && binary->bytes - at >= sizeof(magic) &&
                 memcmp(binary->at + at, &magic, sizeof(magic)) == 0;
    return there ? at : binary->bytes;
}

/* `at`: where the image and, behind its header, the recipe of an executable lie. */
static void cut_executable(const uint8_t *at, size_t image_bytes, const struct recipe_header *header,
                           struct cache_folder_part parts[RECIPE_PARTS])
{
    const uint8_t *options = at + image_bytes + sizeof(*header);

    parts[RECIPE_IMAGE] = (struct cache_folder_part){ at, image_bytes };
    parts[RECIPE_THRESHOLD] = (struct cache_folder_part){ &header->threshold, sizeof(header->threshold) };
    parts[RECIPE_OPTIONS] = (struct cache_folder_part){ options, header->options_bytes };
    parts[RECIPE_BITCODE] = (struct cache_folder_part){ options + header->options_bytes, header->bitcode_bytes };
}

/* False: it is damaged, or of another version. */
static bool read_recipe(const struct binary *binary, size_t image_bytes, struct recipe_header *header)
{
    size_t left = binary->bytes - image_bytes;

    if (left < sizeof(*header)) {
        return false;
    }
    memcpy(header, binary->at + image_bytes, sizeof(*header));
    left -= sizeof(*header);
    const uint8_t *rest = binary->at + image_bytes + sizeof(*header);
    return header->version == RECIPE_VERSION && header->options_bytes > 0 && header->options_bytes < left &&
           header->bitcode_bytes == left - header->options_bytes && header->checksum == fnv_of(rest, left) &&
           memchr(rest, 0, left) == rest + header->options_bytes - 1;
}

static cl_int take_recipe(struct binary *binary, size_t image_bytes, const struct recipe_header *header)
{
    const uint8_t *options = binary->at + image_bytes + sizeof(*header);
    struct cache_folder_part parts[RECIPE_PARTS];
    int folder = cache_folder_open("opencl");

    cut_executable(binary->at, image_bytes, header, parts);
    binary->foreign = !origin_is(folder, ORIGIN_EXECUTABLE, parts, RECIPE_PARTS, header->tag);
    cache_folder_close(folder);
    binary->threshold = header->threshold;
    binary->options = strdup((const char *)options);
    binary->module.bytes = malloc(header->bitcode_bytes);
    if (!binary->options || !binary->module.bytes) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    binary->module.len_bytes = header->bitcode_bytes;
    memcpy(binary->module.bytes, parts[RECIPE_BITCODE].at, header->bitcode_bytes);
    return CL_SUCCESS;
}

/* Parts an executable of unknown origin into its image and what it was made of. */
static cl_int open_executable(struct binary *binary, const char **why)
{
    size_t image_bytes = find_recipe(binary);
    struct ppu_program_view view;
    struct recipe_header header;
    cl_int error = CL_SUCCESS;

    *why = ppu_program_open(binary->at, image_bytes, &view);
    if (!*why && image_bytes < binary->bytes) {
        *why = read_recipe(binary, image_bytes, &header) ? NULL
                                                         : "what an executable was made of is damaged, or of another "
                                                           "version";
        error = !*why ? take_recipe(binary, image_bytes, &header) : CL_SUCCESS;
    }
    uint8_t *image = !*why ? realloc(binary->at, image_bytes) : NULL;
    binary->at = image ? image : binary->at;
    binary->bytes = image_bytes;
    binary->type = !*why ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : CL_PROGRAM_BINARY_TYPE_NONE;
    return error;
}

bool binary_save(struct ppu_compiled *saved, const struct binary *executable, const struct ppu_compile_module *module,
                 const char *options, uint32_t threshold)
{
    struct recipe_header header = {
        RECIPE_MAGIC, RECIPE_VERSION, threshold, (uint32_t)strlen(options) + 1, module->len_bytes, 0, ""
    };
    const size_t rest = header.options_bytes + header.bitcode_bytes;
    struct cache_folder_part parts[RECIPE_PARTS];
    const size_t bytes = executable->bytes + sizeof(header) + rest;
    uint8_t *at = malloc(bytes), *behind = at + executable->bytes + sizeof(header);

    *saved = (struct ppu_compiled){ at, bytes, NULL };
    if (!at) {
        return false;
    }
    memcpy(at, executable->at, executable->bytes);
    memcpy(behind, options, header.options_bytes);
    memcpy(behind + header.options_bytes, module->bitcode, module->len_bytes);
    header.checksum = fnv_of(behind, rest);
    if (!executable->foreign) {
        int folder = cache_folder_open("opencl");
        cut_executable(at, executable->bytes, &header, parts);
        (void)origin_tag(folder, ORIGIN_EXECUTABLE, parts, RECIPE_PARTS, header.tag); /* without a key: as foreign */
        cache_folder_close(folder);
    }
    memcpy(at + executable->bytes, &header, sizeof(header));
    return true;
}

/* ---- */

cl_int binary_copy(struct binary *binary, const void *bytes, size_t count, const char **why)
{
    cl_int error = CL_SUCCESS;

    if (!give_room(binary, count, CL_PROGRAM_BINARY_TYPE_NONE)) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(binary->at, bytes, count);
    if (begins_with(binary, MODULE_MAGIC)) {
        binary->type = module_type(binary);
        *why = "a compiled object or library that is damaged, or of another version";
    } else {
        error = open_executable(binary, why);
    }
    if (binary->type == CL_PROGRAM_BINARY_TYPE_NONE) {
        error = CL_INVALID_BINARY;
    }
    if (error != CL_SUCCESS) {
        binary_free(binary);
    }
    return error;
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

bool binary_copy_recipe(struct binary *to, const struct binary *from)
{
    to->foreign = from->foreign;
    to->threshold = from->threshold;
    to->options = from->options ? strdup(from->options) : NULL;
    return !to->options == !from->options && binary_copy_module(&to->module, from);
}
