/* SPDX-License-Identifier: MIT */
/* Lets an editor debug the kernels of a program: speaks the Debug Adapter Protocol on standard input or a port. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/dap/adapter.h"
#include "tools/trace/message.h"

#define PORT_MOST 65535ul
#define NO_PORT UINT32_MAX

static const char usage[] =
    "Usage: ppu-dap [OPTION]...\n"
    "\n"
    "Lets an editor debug the kernels that a program executes on a PPU. It speaks the Debug Adapter Protocol on standard\n"
    "input and output, and starts the program that the editor's request `launch` names.\n"
    "\n"
    "      --port NUMBER         wait for one editor at this port of 127.0.0.1 instead; 0: any, which is printed\n"
    "      --help                print this help\n"
    "      --version             print the version\n"
    "\n"
    "Exit status:\n"
    "  0    the editor has left\n"
    "  1    the editor is gone, or said what is no message; the program went on without it\n"
    "  2    an option is wrong, or nobody can be waited for\n";

static uint32_t parse(int argc, char **argv)
{
    static const struct option known[] = {
        { "port", required_argument, NULL, 'p' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };
    uint32_t port = NO_PORT;

    for (int option; (option = getopt_long(argc, argv, "p:hV", known, NULL)) != -1;) {
        switch (option) {
        case 'p':
            port = (uint32_t)message_number("--port", optarg, 0, PORT_MOST);
            break;
        case 'h':
            message_help(usage);
        case 'V':
            message_version();
        default:
            message_bad_option();
        }
    }
    if (optind != argc) {
        message_fail("read the options: \"%s\" is none; the editor names the program", argv[optind]);
    }
    return port;
}

/* The user whose socket is connected from this port to that one; false: it is not there. */
static bool find_user(uint16_t from, uint16_t to, unsigned *user)
{
    FILE *table = fopen("/proc/net/tcp", "re");
    char line[256];
    bool found = false;

    while (table && !found && fgets(line, sizeof(line), table)) {
        unsigned local, remote;
        found = sscanf(line, " %*u: %*8x:%4x %*8x:%4x %*x %*x:%*x %*x:%*x %*x %u", &local, &remote, user) == 3 &&
                local == from && remote == to;
    }
    if (table) {
        fclose(table);
    }
    return found;
}

/* Who can start programs here must be who this program belongs to. */
static bool is_own(int fd, uint16_t port)
{
    struct sockaddr_in peer = { .sin_port = 0 };
    socklen_t bytes = sizeof(peer);
    unsigned user = 0;

    return getpeername(fd, (void *)&peer, &bytes) == 0 && find_user(ntohs(peer.sin_port), port, &user) &&
           (user == getuid() || user == 0);
}

/* The connection to the first editor of this user. */
static int accept_editor(uint32_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    socklen_t bytes = sizeof(address);
    const int on = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = -1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (listener < 0 || bind(listener, (const void *)&address, sizeof(address)) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (void *)&address, &bytes) != 0) {
        message_fail("listen at port %" PRIu32 " of 127.0.0.1: %s", port, strerror(errno));
    }
    fprintf(stderr, "ppu-dap: listening at 127.0.0.1:%u\n", ntohs(address.sin_port));
    while (fd < 0) {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0 && !is_own(fd, ntohs(address.sin_port))) {
            message_print("accept an editor: it belongs to another user");
            close(fd);
            fd = -1;
        } else if (fd < 0 && errno != EINTR && errno != ECONNABORTED) {
            message_fail("accept an editor: %s", strerror(errno));
        }
    }
    close(listener);
    return fd;
}

int main(int argc, char **argv)
{
    static struct adapter adapter;

    message_begin("ppu-dap", argv);
    const uint32_t port = parse(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    const int in = port == NO_PORT ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : accept_editor(port);
    const int out = port == NO_PORT ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : in;
    if (in < 0 || out < 0 || (port == NO_PORT && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)) {
        message_fail("open standard input and output: %s", strerror(errno));
    }
    adapter_begin(&adapter, in, out);
    const bool good = adapter_serve(&adapter);
    if (!good || adapter.lets_go) {
        adapter_leave(&adapter);
    }
    adapter_end(&adapter);
    return good ? 0 : 1;
}
