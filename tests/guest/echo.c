/* SPDX-License-Identifier: MIT */
/* Acts as a user's program: says what it was given, leaves a file, ends with the status asked for. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *said = getenv("SAID");
    FILE *file = fopen("left", "w");

    if (!file || !said || argc < 2) {
        return EXIT_FAILURE;
    }
    for (int i = 2; i < argc; i++) {
        printf("<%s>\n", argv[i]);
    }
    fprintf(stderr, "<%s>\n", said);
    fputs("in the guest\n", file);
    fclose(file);
    return strcmp(argv[1], "crash") == 0 ? raise(SIGSEGV) : atoi(argv[1]);
}
