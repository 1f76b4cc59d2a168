/* SPDX-License-Identifier: MIT */
/* Does what its words say, for tests of the fork server: it stands for clang. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER_BYTES 4096

int main(int count, char **words)
{
    const char *action = count > 1 ? words[1] : "";
    char folder[FOLDER_BYTES];

    if (strcmp(action, "abort") == 0) {
        abort();
    }
    if (strcmp(action, "sleep") == 0) {
        fprintf(stdout, "%d\n", getpid());
        fflush(stdout);
        sleep(100);
    }
    if (strcmp(action, "exit") == 0) {
        return atoi(words[2]);
    }
    if (strcmp(action, "copy") == 0) {
        for (int c; (c = getchar()) != EOF;) {
            putchar(c);
        }
        fputs("copied", stderr);
        return EXIT_SUCCESS;
    }
    printf("%d %d %s %s %s\n", getpid(), getppid(), count > 2 ? words[2] : "-",
           getenv("SERVED") ? getenv("SERVED") : "-", getcwd(folder, sizeof(folder)));
    return EXIT_SUCCESS;
}
