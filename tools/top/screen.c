/* SPDX-License-Identifier: MIT */
#include "tools/top/screen.h"

#include <curses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tools/trace/clock.h"

#define ANSWER_MS 1000u
#define LEAST_MS 100u
#define MOST_MS 60000u

static const char help[] = "Keys of ppu-top\n"
                           "\n"
                           "q       quit\n"
                           "h ?     this help; any key leaves it\n"
                           "1       a line for each SM, or one for all\n"
                           "P M N   contexts by load, memory, number\n"
                           "i       idle channels, too, or not\n"
                           "+ -     refresh more often, less often\n"
                           "space   refresh now\n"
                           "arrows, page up, page down, home: scroll\n";

struct screen {
    struct devices *devices;
    struct sheet_options options;
    uint32_t delay_ms;
    int top; /* line that is shown first */
    bool helps;
    bool ends;
    char *text; /* what is shown */
    size_t bytes;
};

static volatile sig_atomic_t ended;

static void end_seen(int number)
{
    ended = number;
}

/* ---- text ---- */

static void compose(struct screen *screen)
{
    free(screen->text);
    screen->text = NULL;
    FILE *file = open_memstream(&screen->text, &screen->bytes);
    if (!file) {
        return;
    }
    if (screen->helps) {
        fputs(help, file);
    } else {
        sheet_write(file, screen->devices, &screen->options);
    }
    fclose(file);
}

static int count_lines(const char *text)
{
    int lines = 0;

    for (; text && *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void draw(struct screen *screen)
{
    int line = -screen->top;

    erase();
    for (const char *at = screen->text; at && *at && line < LINES - 1; line++) {
        size_t bytes = strcspn(at, "\n");
        if (line >= 0) {
            mvaddnstr(line, 0, at, (int)PPU_MIN(bytes, (size_t)COLS));
        }
        at += bytes + (at[bytes] == '\n');
    }
    attron(A_REVERSE);
    mvprintw(LINES - 1, 0, "%.*s", COLS - 1, "q quit  h help  1 SMs  P M N sort  +- delay");
    attroff(A_REVERSE);
    refresh();
}

static void scroll_by(struct screen *screen, int lines)
{
    int most = PPU_MAX(count_lines(screen->text) - (LINES - 1), 0);

    screen->top = PPU_MAX(PPU_MIN(screen->top + lines, most), 0);
}

/* ---- keys ---- */

static void press_order(struct screen *screen, int key)
{
    screen->options.order = key == 'M' ? BY_MEMORY : key == 'N' ? BY_NUMBER : BY_LOAD;
}

static void press_scroll(struct screen *screen, int key)
{
    switch (key) {
    case KEY_UP:
    case KEY_DOWN:
        scroll_by(screen, key == KEY_UP ? -1 : 1);
        break;
    case KEY_PPAGE:
    case KEY_NPAGE:
        scroll_by(screen, key == KEY_PPAGE ? -(LINES - 2) : LINES - 2);
        break;
    case KEY_HOME:
        screen->top = 0;
        break;
    default:
        break;
    }
}

static void press(struct screen *screen, int key)
{
    if (screen->helps) {
        screen->helps = false;
        return;
    }
    switch (key) {
    case 'q':
        screen->ends = true;
        break;
    case 'h':
    case '?':
        screen->helps = true;
        screen->top = 0;
        break;
    case '1':
        screen->options.each_sm = !screen->options.each_sm;
        break;
    case 'i':
        screen->options.idle = !screen->options.idle;
        break;
    case 'P':
    case 'M':
    case 'N':
        press_order(screen, key);
        break;
    case '+':
        screen->delay_ms = PPU_MAX(screen->delay_ms / 2, LEAST_MS);
        break;
    case '-':
        screen->delay_ms = PPU_MIN(screen->delay_ms * 2, MOST_MS);
        break;
    default:
        press_scroll(screen, key);
    }
}

/* Takes keys until it is time for a new sample. */
static void wait_keys(struct screen *screen)
{
    uint64_t until_ns = clock_now_ns() + (uint64_t)screen->delay_ms * CLOCK_NS_PER_MS;

    while (!screen->ends && !ended) {
        uint64_t now_ns = clock_now_ns();
        if (now_ns >= until_ns) {
            return;
        }
        timeout((int)((until_ns - now_ns) / CLOCK_NS_PER_MS) + 1);
        int key = getch();
        if (key == ' ') {
            return;
        }
        if (key == KEY_RESIZE) {
            scroll_by(screen, 0);
        } else if (key != ERR) {
            press(screen, key);
            compose(screen);
        }
        draw(screen);
    }
}

bool screen_run(struct devices *devices, uint32_t delay_ms)
{
    struct screen screen = { .devices = devices, .delay_ms = delay_ms, .options = { .each_sm = true } };
    SCREEN *terminal = newterm(NULL, stdout, stdin);

    if (!terminal) {
        return false;
    }
    signal(SIGTERM, end_seen);
    signal(SIGHUP, end_seen);
    signal(SIGINT, end_seen);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    while (!screen.ends && !ended) {
        devices_look(devices);
        devices_sample(devices, ANSWER_MS);
        compose(&screen);
        scroll_by(&screen, 0);
        draw(&screen);
        wait_keys(&screen);
    }
    endwin();
    delscreen(terminal);
    free(screen.text);
    return true;
}
