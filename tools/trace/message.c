/* SPDX-License-Identifier: MIT */
#include "tools/trace/message.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/version.h"
#include "tools/progress/progress.h"

static const char *command_name;

/* Only what a signal handler may call. */
static void memory_gone(int signal)
{
    static const char sentence[] = ": read the recorder: the program has taken its memory away\n";

    (void)signal;
    if (write(STDERR_FILENO, command_name, strlen(command_name)) >= 0 &&
        write(STDERR_FILENO, sentence, sizeof(sentence) - 1) >= 0) {
        _exit(STATUS_WRONG);
    }
    _exit(STATUS_WRONG);
}

void message_begin(const char *command, char **argv)
{
    const struct sigaction gone = { .sa_handler = memory_gone };

    command_name = command;
    argv[0] = (char *)(uintptr_t)command; /* what getopt's messages begin with */
    sigaction(SIGBUS, &gone, NULL);
}

static void print(const char *format, va_list arguments)
{
    progress_end();
    fprintf(stderr, "%s: ", command_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void message_print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

void message_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    exit(STATUS_WRONG);
}

void message_bad_option(void)
{
    message_fail("read the options: --help tells which there are");
}

void message_version(void)
{
    printf("%s (PPU) %s\n", command_name, PPU_VERSION);
    exit(0);
}

void message_help(const char *text)
{
    fputs(text, stdout);
    exit(0);
}

unsigned long message_number(const char *option, const char *text, unsigned long least, unsigned long most)
{
    char *end = NULL;

    errno = 0;
    unsigned long value = strtoul(text, &end, text[0] == '0' && text[1] == 'x' ? 16 : 10);
    if (*text < '0' || *text > '9' || *end != 0 || errno != 0 || value < least || value > most) {
        message_fail("read the options: %s %s: it is a number from %lu to %lu", option, text, least, most);
    }
    return value;
}
