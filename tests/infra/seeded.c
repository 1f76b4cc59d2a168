/* SPDX-License-Identifier: MIT */
/* Does one thing that is wrong, which a sanitizer must report. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"

static volatile int counter;
static int *volatile kept;

static void *count(void *unused)
{
    counter++;
    return unused;
}

static void race(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, count, NULL) == 0) {
        counter++;
        pthread_join(thread, NULL);
    }
}

/* Races although one access is long over when the other comes: nothing orders them. */
static void late_race(void)
{
    pthread_t thread;

    counter++;
    if (pthread_create(&thread, NULL, count, NULL) == 0) {
        pthread_join(thread, NULL);
        if (pthread_create(&thread, NULL, count, NULL) == 0) {
            for (volatile int turn = 0; turn < 10000000; turn++) {
            }
            counter++;
            pthread_join(thread, NULL);
        }
    }
}

static void overflow(void)
{
    kept = malloc(4 * sizeof(*kept));
    counter = kept[counter + 4];
    free(kept);
}

static void freed(void)
{
    kept = malloc(sizeof(*kept));
    free(kept);
    for (int other = 0; other < 1000; other++) { /* which must not get the same memory */
        free(malloc(sizeof(*kept)));
    }
    counter = *kept;
}

__attribute__((noinline)) static void keep_local(void)
{
    int local = 1;

    /* cppcheck-suppress danglingLifetime ; the mistake */
    kept = &local; /* NOLINT(clang-analyzer-core.StackAddressEscape): the mistake */
}

static void returned(void)
{
    keep_local();
    counter = *kept;
}

static void leak(void)
{
    kept = malloc(sizeof(*kept));
    kept = NULL;
}

static void signed_sum(void)
{
    counter = 0x7fffffff;
    /* cppcheck-suppress integerOverflow ; the mistake */
    counter = counter + 1;
}

static void unterminated(void)
{
    char *text = malloc(4);

    memset(text, 'a', 4);
    counter = strcmp(text, "b"); /* is decided at the first character */
    free(text);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } seeded[] = {
        { "race", race },
        { "late_race", late_race },
        { "overflow", overflow },
        { "freed", freed },
        { "returned", returned },
        { "leak", leak },
        { "signed_sum", signed_sum },
        { "unterminated", unterminated },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(seeded); i++) {
        if (argc == 2 && strcmp(argv[1], seeded[i].name) == 0) {
            seeded[i].run();
            return 0;
        }
    }
    fprintf(stderr, "cannot choose a mistake: its name is missing or wrong\n");
    return 2;
}
