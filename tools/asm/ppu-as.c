/* SPDX-License-Identifier: MIT */
/* ppu-as: source text in, program image out. */
#include "file.h"
#include "ppuasm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage(FILE *to, int status)
{
    fputs("usage: ppu-as [-o IMAGE] SOURCE\n"
          "Assembles SOURCE into a program image (default: SOURCE with its ending replaced by .ppu).\n",
          to);
    return status;
}

static bool write_file(const char *path, const struct ppuasm_image *image)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(image->bytes, 1, image->len_bytes, file) == image->len_bytes;

    if (file && fclose(file) != 0) {
        ok = false;
    }
    if (!ok) {
        fprintf(stderr, "ppu-as: %s: %s\n", path, strerror(errno));
        remove(path);
    }
    return ok;
}

static char *default_output(const char *source)
{
    const char *slash = strrchr(source, '/');
    const char *dot = strrchr(slash ? slash : source, '.');
    size_t stem = dot ? (size_t)(dot - source) : strlen(source);
    size_t size = stem + sizeof(".ppu");
    char *out = malloc(size);

    if (out) {
        snprintf(out, size, "%.*s.ppu", (int)stem, source);
    }
    return out;
}

static int run(const char *source, const char *output)
{
    char message[PPUASM_MESSAGE_BYTES];
    struct ppuasm_image image;
    size_t len = 0;
    char *text = file_read(source, &len);
    int status = EXIT_FAILURE;

    if (!text) {
        fprintf(stderr, "ppu-as: %s: %s\n", source, strerror(errno));
    } else if (strlen(text) != len) {
        fprintf(stderr, "ppu-as: %s: not a text file\n", source);
    } else if (!ppuasm_assemble(text, source, &image, message)) {
        fprintf(stderr, "%s\n", message);
    } else {
        status = write_file(output, &image) ? EXIT_SUCCESS : EXIT_FAILURE;
        free(image.bytes);
    }
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    const char *source = NULL, *output = NULL;
    char *made = NULL;
    int status;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            return usage(stdout, EXIT_SUCCESS);
        } else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc) {
            output = argv[++i];
        } else if (argv[i][0] == '-' || source) {
            return usage(stderr, EXIT_FAILURE);
        } else {
            source = argv[i];
        }
    }
    if (!source) {
        return usage(stderr, EXIT_FAILURE);
    }
    if (!output) {
        output = made = default_output(source);
    }
    status = output ? run(source, output) : EXIT_FAILURE;
    free(made);
    return status;
}
