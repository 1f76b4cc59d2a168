/* SPDX-License-Identifier: MIT */
/* compile-apart: compiles what an apart_request on standard input says; an apart_answer goes to standard output. */
#include "tests/opencl/apart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL: there are no bytes; ends the program when they are not all there. */
static void *read_bytes(uint64_t bytes)
{
    void *at = bytes != 0 ? malloc(bytes) : NULL;

    if (bytes != 0 && (!at || fread(at, 1, bytes, stdin) != bytes)) {
        fputs("compile-apart: a request is cut short\n", stderr);
        exit(EXIT_FAILURE);
    }
    return at;
}

int main(void)
{
    struct apart_request request;
    struct ppu_compiled image = { NULL, 0, NULL };

    if (fread(&request, sizeof(request), 1, stdin) != 1) {
        fputs("compile-apart: there is no request on standard input\n", stderr);
        return EXIT_FAILURE;
    }
    char *name = read_bytes(request.name_bytes), *options = read_bytes(request.options_bytes);
    char *kernel = read_bytes(request.kernel_bytes);
    void *arguments = read_bytes(request.facts.argument_count * sizeof(request.facts.arguments[0]));
    void *pairs = read_bytes(request.facts.pair_count * sizeof(request.facts.pairs[0]));
    void *bitcode = read_bytes(request.bitcode_bytes);
    request.options.name = name;
    request.options.options = options;
    request.facts.kernel = kernel;
    request.facts.arguments = arguments;
    request.facts.pairs = pairs;
    request.options.facts = kernel ? &request.facts : NULL;
    enum ppu_compile_status status = ppu_compile_bitcode(bitcode, request.bitcode_bytes, &request.options, &image);
    const struct apart_answer answer = { status, image.len_bytes, strlen(image.log) };
    fwrite(&answer, sizeof(answer), 1, stdout);
    fwrite(image.bytes, 1, image.len_bytes, stdout);
    fwrite(image.log, 1, answer.log_bytes, stdout);
    ppu_compiled_free(&image);
    free(name);
    free(options);
    free(kernel);
    free(arguments);
    free(pairs);
    free(bitcode);
    return fflush(stdout) == 0 && ferror(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
