/* SPDX-License-Identifier: MIT */
#include "tools/dbg/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "tools/dbg/points.h"
#include "tools/trace/clock.h"
#include "tools/trace/process.h"

#define WANTED_NS (5ull * CLOCK_NS_PER_S)
#define LOOK_NS (CLOCK_NS_PER_S / 4)
#define TOLD_MOST 4096u /* files of a program that is attached */
#define VARIABLES_OWN 4u
#define RUN_OPTIONS "PPU_RUN_OPTIONS" /* of the machine that the program starts */

static volatile sig_atomic_t interrupted;

static void interrupt_seen(int number)
{
    interrupted = number;
}

void session_catch_interrupts(void)
{
    const struct sigaction stop = { .sa_handler = interrupt_seen };

    sigaction(SIGINT, &stop, NULL);
}

bool session_interrupted(void)
{
    if (interrupted == 0) {
        return false;
    }
    interrupted = 0;
    return true;
}

void session_complain(struct session *session, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fflush(session->out);
    if (session->doing) {
        fprintf(session->errors, "%s: ", session->doing);
    }
    vfprintf(session->errors, format, arguments);
    fputc('\n', session->errors);
    va_end(arguments);
    session->failed = true;
}

/* ---- what the program tells ---- */

static void on_process(void *opaque, const struct record_process *process, const char *command)
{
    (void)opaque, (void)process, (void)command;
}

static void on_device(void *opaque, const struct record_device *device)
{
    (void)opaque, (void)device;
}

static void on_closed(void *opaque, uint32_t device)
{
    (void)opaque, (void)device;
}

static void on_name(void *opaque, const struct record_name *name, const char *text, uint32_t bytes)
{
    (void)opaque, (void)name, (void)text, (void)bytes;
}

static void on_kernel(void *opaque, const struct record_kernel *kernel)
{
    (void)opaque, (void)kernel;
}

static void on_task(void *opaque, const struct record_task *task)
{
    (void)opaque, (void)task;
}

static void on_events(void *opaque, const struct record_events *events, const struct ppu_trace_record *records,
                      uint32_t count)
{
    (void)opaque, (void)events, (void)records, (void)count;
}

static void on_lost(void *opaque, const struct record_lost *lost)
{
    (void)opaque, (void)lost;
}

static void on_clock(void *opaque, const struct record_clock *clock)
{
    (void)opaque, (void)clock;
}

static void open_box(struct session *session, uint32_t number)
{
    const struct watch_device *device = &session->watch.device[number];
    const char *why = box_open(&session->box, session->watch.process[device->process].pid, &device->info);

    if (why) {
        session_complain(session, "cannot debug PPU %u: %s", device->info.instance, why);
    }
    session->told = 0;
    if (!why) {
        session_scope(session, session->one_task);
    }
    if (!why && session->records) {
        (void)session_record(session, true);
    }
}

static void add_program(struct session *session, const struct record_program *told, const uint8_t *image, size_t bytes)
{
    struct loaded *bigger = reallocarray(session->loaded, (size_t)session->loads + 1, sizeof(*bigger));

    if (!bigger) {
        return;
    }
    session->loaded = bigger;
    struct loaded *loaded = &bigger[session->loads];
    *loaded = (struct loaded){ .number = told->program, .context = told->context, .code = told->code };
    loaded->image = malloc(bytes != 0 ? bytes : 1);
    if (!loaded->image) {
        return;
    }
    memcpy(loaded->image, image, bytes);
    if (ppu_program_open(loaded->image, bytes, &loaded->view)) {
        free(loaded->image);
        return;
    }
    loaded->info = info_open(loaded->view.debug, loaded->view.header->debug_bytes);
    session->loads++;
    if (!session->box.shared) {
        open_box(session, told->device);
    }
    points_resolve(session);
}

/* Programs with the same source have the number of the first. */
static uint32_t number_text(struct session *session, const char *source)
{
    for (uint32_t i = 0; i < session->loads; i++) {
        if (session->loaded[i].text != 0 && strcmp(session->loaded[i].source, source) == 0) {
            return session->loaded[i].text;
        }
    }
    return ++session->texts;
}

static void add_source(struct session *session, const struct record_text *told, const uint8_t *text, size_t bytes)
{
    for (uint32_t i = session->loads; i-- > 0;) {
        struct loaded *loaded = &session->loaded[i];
        if (loaded->number == told->program && !loaded->source) {
            loaded->source = strndup((const char *)text, bytes);
            loaded->text = loaded->source ? number_text(session, loaded->source) : 0;
            points_resolve(session);
            return;
        }
    }
}

static void on_profile(void *opaque, enum record_chunk_kind kind, const void *head, size_t head_bytes, const void *body,
                       size_t body_bytes)
{
    (void)head_bytes;
    if (kind == RECORD_PROGRAM) {
        add_program(opaque, head, body, body_bytes);
    } else if (kind == RECORD_SOURCE) {
        add_source(opaque, head, body, body_bytes);
    }
}

/* ---- the program ---- */

/* Options of the program's machine, with one that lets its SMs take turns in an order that can be repeated. */
static char *ordered_options(const struct session *session)
{
    const char *given = getenv(RUN_OPTIONS);
    char *options;

    for (uint32_t i = 0; i < session->start.variables; i++) {
        if (strcmp(session->start.variable[i].name, RUN_OPTIONS) == 0) {
            given = session->start.variable[i].value;
        }
    }
    return asprintf(&options, "%s%s--sm-threads 0", given ? given : "", given && *given ? " " : "") > 0 ? options
                                                                                                        : NULL;
}

static pid_t start_debugged(const struct session *session)
{
    const uint32_t given = session->start.variables;
    struct start_variable *variable = calloc((size_t)given + VARIABLES_OWN, sizeof(*variable));
    struct start start = session->start;
    char *options = session->records ? ordered_options(session) : NULL;
    pid_t pid = -1;

    if (variable) {
        if (given != 0) {
            memcpy(variable, start.variable, (size_t)given * sizeof(*variable));
        }
        variable[given] = (struct start_variable){ "PPU_TRACE", session->door.path };
        variable[given + 1] = (struct start_variable){ "PPU_WORK_GROUPS", "asked" };
        start.variable = variable;
        start.variables = given + 2;
        if (!session->as_built) {
            variable[start.variables++] = (struct start_variable){ "PPU_DEBUG_KERNELS", "1" };
        }
        if (options) {
            variable[start.variables++] = (struct start_variable){ RUN_OPTIONS, options };
        }
        start.ignores_interrupts = true;
        pid = start_program(&start);
    }
    free(variable);
    free(options);
    return pid;
}

static void begin_watch(struct session *session)
{
    static struct watch_sink sink = { NULL,    on_process, on_device, on_closed, on_name,   on_kernel,
                                      on_task, on_events,  on_lost,   on_clock,  on_profile };

    sink.opaque = session;
    session->watch = (struct watch){ .sink = &sink };
}

bool session_run(struct session *session)
{
    const char *what = door_open(&session->door);

    session->door_open = true;
    if (what) {
        session_complain(session, "%s: %s", what, strerror(errno));
        door_close(&session->door);
        session->door_open = false;
        return false;
    }
    begin_watch(session);
    fflush(session->out);
    session->pid = start_debugged(session);
    if (session->pid < 0) {
        session_complain(session, "start %s: %s", session->start.program[0], strerror(errno));
        session->pid = 0;
        door_close(&session->door);
        session->door_open = false;
    }
    return session->pid > 0;
}

void session_detach(struct session *session)
{
    box_close(&session->box);
    watch_end(&session->watch);
    if (session->door_open) {
        door_close(&session->door);
    }
    session->door_open = false;
    for (uint32_t i = 0; i < session->loads; i++) {
        info_close(session->loaded[i].info);
        free(session->loaded[i].image);
        free(session->loaded[i].source);
    }
    free(session->loaded);
    session->loaded = NULL;
    session->loads = 0;
    session->texts = 0;
    session->focus.valid = false;
    session->motion.kind = MOTION_NONE;
    points_forget_sites(session);
    if (session->attached) {
        close(session->end_fd);
        session->attached = false;
        session->pid = 0;
    }
}

/* ---- a program that runs already ---- */

static bool was_told(const struct session *session, const struct attach_told *told)
{
    for (uint32_t i = 0; i < session->loads; i++) {
        if (session->loaded[i].number == told->program) {
            return told->kind == PPU_RECORDER_PROGRAM || session->loaded[i].source;
        }
    }
    return false;
}

/* Programs that it has loaded since. They are not awaited, as it does not wait for who attaches. */
static void look_for_programs(struct session *session)
{
    static struct attach_told told[TOLD_MOST];

    watch_look(&session->watch);
    const uint32_t count = attach_list_told((uint32_t)session->pid, told, TOLD_MOST);
    for (uint32_t i = 0; i < count && (session->loads == 0 || session->box.shared); i++) {
        const struct ppu_recorder_message message = { told[i].kind, told[i].device };
        const int fd =
            was_told(session, &told[i]) ? -1 : attach_open_file((uint32_t)session->pid, told[i].fd, O_RDONLY);
        if (fd >= 0) {
            watch_profile(&session->watch, 0, &message, fd);
        }
    }
    session->looked_ns = clock_now_ns();
}

/* NULL: its recorder is watched, and its end will be seen. */
static const char *begin_attached(struct session *session, pid_t pid)
{
    const int fd = attach_open_recorder((uint32_t)pid);
    uint32_t number;

    begin_watch(session);
    if (fd < 0) {
        return process_is_there((uint32_t)pid) ? "it has no PPU, or may not be looked at" : "there is no such process";
    }
    const char *why = watch_process(&session->watch, fd, false, &number);
    if (why) {
        return why;
    }
    session->end_fd = pidfd_open(pid, 0);
    if (session->end_fd < 0) {
        return strerror(errno);
    }
    session->attached = true;
    session->pid = pid;
    return NULL;
}

bool session_attach(struct session *session, pid_t pid)
{
    const char *why = begin_attached(session, pid);

    if (!why) {
        look_for_programs(session);
        const struct watch_process *process = &session->watch.process[0];
        if (session->loads == 0 && __atomic_load_n(&process->recorder->kernels_used, __ATOMIC_ACQUIRE) != 0) {
            why = "it does not tell of its kernels; start it with PPU_DEBUG_KERNELS=1";
        }
    }
    if (why) {
        session_complain(session, "process %d: %s", (int)pid, why);
    }
    if (why || (session->loads != 0 && !session->box.shared)) { /* of that is told already */
        session_detach(session);
        return false;
    }
    fprintf(session->out, "[attached to process %d]\n", (int)pid);
    if (session->box.shared) {
        session_interrupt(session);
    }
    return true;
}

static bool serve_attached(struct session *session, int timeout_ms)
{
    struct pollfd end = { .fd = session->end_fd, .events = POLLIN };

    if (poll(&end, 1, timeout_ms) > 0) {
        fputs("[program has ended]\n", session->out);
        session_detach(session);
        return false;
    }
    if (clock_now_ns() - session->looked_ns > LOOK_NS) {
        look_for_programs(session);
    }
    return true;
}

bool session_serve(struct session *session, int timeout_ms)
{
    int status;

    if (session->pid == 0) {
        return false;
    }
    if (session->attached) {
        return serve_attached(session, timeout_ms);
    }
    const uint64_t until_ns = clock_now_ns() + WANTED_NS;
    if (session->door_open) {
        door_serve(&session->door, &session->watch, timeout_ms, until_ns);
    } else {
        poll(NULL, 0, timeout_ms);
    }
    for (uint32_t i = 0; i < session->watch.processes; i++) {
        if (session->watch.process[i].recorder) {
            attach_want(session->watch.process[i].recorder, until_ns);
        }
    }
    if (waitpid(session->pid, &status, WNOHANG) == 0) {
        return true;
    }
    session->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (WIFEXITED(status)) {
        fprintf(session->out, "[program exited with status %d]\n", session->status);
    } else {
        fprintf(session->out, "[program was ended by signal %d]\n", WTERMSIG(status));
    }
    session_detach(session);
    session->pid = 0;
    return false;
}

void session_kill(struct session *session)
{
    if (session->pid != 0) {
        box_close(&session->box); /* what stood still can be cleared away */
        kill(session->pid, SIGKILL);
        while (session_serve(session, 1)) {
        }
    }
}

void session_free(struct session *session)
{
    if (session->attached) {
        session_detach(session);
    }
    session_kill(session);
    free(session->point);
    for (uint32_t i = 0; i < session->files; i++) {
        free(session->file[i].path);
        free(session->file[i].text);
    }
    free(session->file);
}

/* ---- tasks and warps ---- */

const struct loaded *session_loaded_of(const struct session *session, const struct ppu_debug_task *task)
{
    for (uint32_t i = session->loads; i-- > 0;) {
        if (session->loaded[i].context == task->context && session->loaded[i].code == task->code_va) {
            return &session->loaded[i];
        }
    }
    return NULL;
}

const struct loaded *session_loaded(const struct session *session)
{
    return session->focus.valid ? session_loaded_of(session, &session->focus.task) : NULL;
}

/* What a kernel enqueues is no kernel of the program, but a function of its debug information. */
static const char *block_name(const struct info *info, uint32_t entry)
{
    struct info_frame frames[INFO_DEPTH];
    const uint32_t count = info_frames(info, entry, frames);

    return count != 0 && frames[count - 1].name ? frames[count - 1].name : "??";
}

const char *session_kernel(const struct session *session, const struct ppu_debug_task *task)
{
    const struct loaded *loaded = session_loaded_of(session, task);

    for (uint32_t i = 0; loaded && i < loaded->view.header->kernels; i++) {
        if (loaded->view.kernels[i].entry == task->entry) {
            return loaded->view.text + loaded->view.kernels[i].name;
        }
    }
    return loaded && loaded->info ? block_name(loaded->info, task->entry / PPU_INSN_BYTES) : "??";
}

uint32_t session_tasks(struct session *session, struct ppu_debug_task *tasks, uint32_t most)
{
    const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_TASKS };
    const uint32_t size = sizeof(*tasks);

    if (!box_done(&session->box, &request)) {
        return 0;
    }
    uint32_t count = PPU_MIN(session->box.answer.bytes / size, most);
    memcpy(tasks, session->box.answer.data, (size_t)count * size);
    return count;
}

uint32_t session_warps(struct session *session, uint32_t slot, struct ppu_debug_warp *warps, uint32_t most)
{
    const uint32_t size = sizeof(*warps);
    uint32_t count = 0, more = 1;

    while (more != 0 && count < most) {
        const struct ppu_debug_request request = { .op = PPU_DEBUG_DO_WARPS, .slot = slot, .number = count };
        if (!box_done(&session->box, &request)) {
            break;
        }
        const uint32_t got = PPU_MIN(session->box.answer.bytes / size, most - count);
        memcpy(warps + count, session->box.answer.data, (size_t)got * size);
        count += got;
        more = got != 0 ? session->box.answer.more : 0;
    }
    return count;
}

bool session_refresh(struct session *session)
{
    static struct ppu_debug_warp warps[4096];
    struct focus *focus = &session->focus;
    const uint32_t count = focus->valid ? session_warps(session, focus->warp.slot, warps, PPU_ARRAY_SIZE(warps)) : 0;

    focus->valid = false;
    for (uint32_t i = 0; i < count && !focus->valid; i++) {
        if (memcmp(&warps[i].at, &focus->warp.at, sizeof(warps[i].at)) == 0) {
            focus->warp = warps[i];
            focus->valid = true;
        }
    }
    return focus->valid;
}

bool session_focus(struct session *session, const struct ppu_debug_warp *warp, uint32_t lane)
{
    struct ppu_debug_task tasks[PPU_MAX_SLOTS];
    const uint32_t count = session_tasks(session, tasks, PPU_MAX_SLOTS);

    for (uint32_t i = 0; i < count; i++) {
        if (tasks[i].slot == warp->slot) {
            session->focus = (struct focus){ true, *warp, tasks[i], lane, 0 };
            return true;
        }
    }
    return false;
}

uint32_t session_lanes(const struct ppu_debug_warp *warp)
{
    const uint64_t threads = (uint64_t)warp->threads[0] * warp->threads[1] * warp->threads[2];
    const uint32_t wave = PPU_MIN((uint32_t)warp->passes * PPU_LANES, PPU_MAX_WAVE);
    const uint64_t before = (uint64_t)warp->number * wave;

    return wave == 0 || threads <= before ? 1 : (uint32_t)PPU_MIN(threads - before, (uint64_t)wave);
}

bool session_is_active(const struct ppu_debug_warp *warp, uint32_t lane)
{
    return (warp->active[lane / 32] >> lane % 32 & 1u) != 0;
}

uint32_t session_first_active(const struct ppu_debug_warp *warp)
{
    for (uint32_t lane = 0; lane < PPU_MAX_WAVE; lane++) {
        if (session_is_active(warp, lane)) {
            return lane;
        }
    }
    return 0;
}

void session_thread(const struct ppu_debug_warp *warp, uint32_t lane, uint32_t id[3])
{
    const uint32_t number = warp->number * warp->passes * PPU_LANES + lane;
    const uint32_t x = PPU_MAX(warp->threads[0], 1u), y = PPU_MAX(warp->threads[1], 1u);

    id[0] = number % x;
    id[1] = number / x % y;
    id[2] = number / x / y;
}

void session_say_focus(const struct session *session)
{
    const struct focus *focus = &session->focus;
    uint32_t id[3];

    session_thread(&focus->warp, focus->lane, id);
    fprintf(session->out, "[focus: kernel %u %s, cta (%u,%u,%u), warp %u, lane %u, thread (%u,%u,%u)]\n",
            focus->task.slot, session_kernel(session, &focus->task), focus->warp.cta[0], focus->warp.cta[1],
            focus->warp.cta[2], focus->warp.number, focus->lane, id[0], id[1], id[2]);
}

/* ---- memory ---- */

bool session_locate(const struct session *session, enum ppu_debug_space space, uint64_t address,
                    struct ppu_debug_request *request)
{
    static const uint32_t of[] = {
        [PPU_DEBUG_PRIVATE] = PPU_DEBUG_OF_LANE,   [PPU_DEBUG_GLOBAL] = PPU_DEBUG_OF_TASK,
        [PPU_DEBUG_CONSTANT] = PPU_DEBUG_OF_TASK,  [PPU_DEBUG_SHARED] = PPU_DEBUG_OF_CTA,
        [PPU_DEBUG_GENERIC] = PPU_DEBUG_OF_TASK,   [PPU_DEBUG_PARAMETER] = PPU_DEBUG_OF_LAUNCH,
        [PPU_DEBUG_VARIABLES] = PPU_DEBUG_OF_TASK,
    };

    request->at = session->focus.warp.at;
    request->lane = session->focus.lane;
    request->space = (uint32_t)space < PPU_ARRAY_SIZE(of) ? of[space] : PPU_DEBUG_OF_TASK;
    request->address = address;
    if (request->space == PPU_DEBUG_OF_TASK && (address & PPU_WINDOW_MASK) == PPU_SHARED_WINDOW) {
        request->space = PPU_DEBUG_OF_CTA;
        request->address = (uint32_t)address;
    } else if (request->space == PPU_DEBUG_OF_TASK && (address & PPU_WINDOW_MASK) == PPU_LOCAL_WINDOW) {
        request->space = PPU_DEBUG_OF_LANE;
        request->address = (uint32_t)address;
    }
    return session->focus.valid;
}

bool session_read(struct session *session, enum ppu_debug_space space, uint64_t address, void *bytes, uint64_t count)
{
    for (uint64_t done = 0; done < count;) {
        struct ppu_debug_request request = { .op = PPU_DEBUG_DO_READ_MEMORY };
        request.count = (uint32_t)PPU_MIN(count - done, (uint64_t)PPU_DEBUG_DATA);
        if (!session_locate(session, space, address + done, &request) || !box_done(&session->box, &request) ||
            session->box.answer.bytes != request.count) {
            return false;
        }
        memcpy((uint8_t *)bytes + done, session->box.answer.data, request.count);
        done += request.count;
    }
    return true;
}

bool session_write(struct session *session, enum ppu_debug_space space, uint64_t address, const void *bytes,
                   uint32_t count)
{
    struct ppu_debug_request request = { .op = PPU_DEBUG_DO_WRITE_MEMORY, .count = count };

    if (count > PPU_DEBUG_WRITE || !session_locate(session, space, address, &request)) {
        return false;
    }
    memcpy(request.data, bytes, count);
    return box_done(&session->box, &request);
}
