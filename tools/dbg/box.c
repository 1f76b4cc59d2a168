/* SPDX-License-Identifier: MIT */
#include "tools/dbg/box.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/state.h"
#include "tools/trace/attach.h"
#include "tools/trace/clock.h"

#define MAP_ALIGN (64u * PPU_KIB) /* no page is larger */
#define LOOK_NS 500000l
#define PULSE_NS 250000000l
#define GONE_NS (PPU_DEBUG_ALIVE_NS + CLOCK_NS_PER_S) /* the device has dropped who has died by then */
#define PATIENCE_NS (10ull * CLOCK_NS_PER_S)          /* the device is gone that has not answered by then */

static void rest(long ns)
{
    nanosleep(&(struct timespec){ 0, ns }, NULL);
}

static void *show_alive(void *opaque)
{
    struct box *box = opaque;

    while (__atomic_load_n(&box->ends, __ATOMIC_RELAXED) == 0) {
        __atomic_add_fetch(&box->shared->alive, 1, __ATOMIC_RELAXED);
        rest(PULSE_NS);
    }
    return NULL;
}

static const char *map_box(struct box *box, int fd, const struct ppu_recorder_device *info)
{
    const uint64_t skip = info->state_area % MAP_ALIGN;
    struct stat status;

    box->map_bytes = skip + sizeof(struct ppu_state);
    if (fstat(fd, &status) != 0 || (uint64_t)status.st_size < info->state_area + sizeof(struct ppu_state)) {
        return "its memory is too short";
    }
    box->map = mmap(NULL, box->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(info->state_area - skip));
    if (box->map == MAP_FAILED) {
        return strerror(errno);
    }
    const struct ppu_state *state = (const void *)((uint8_t *)box->map + skip);
    if (state->head.version != PPU_STATE_VERSION) {
        munmap(box->map, box->map_bytes);
        return "its firmware belongs to another release";
    }
    box->state = (void *)((uint8_t *)box->map + skip);
    box->state_at = info->state_area;
    box->shared = &box->state->debug;
    return NULL;
}

/* Others ask for the state, too: the device may have answered them since. */
static bool waits_until(const uint32_t *word, uint32_t value)
{
    const uint64_t until_ns = clock_now_ns() + PATIENCE_NS;

    while ((int32_t)(__atomic_load_n(word, __ATOMIC_ACQUIRE) - value) < 0) { /* partner: the device's release */
        if (clock_now_ns() > until_ns) {
            return false;
        }
        rest(LOOK_NS);
    }
    return true;
}

static bool waits_for(const uint32_t *word, uint32_t value)
{
    const uint64_t until_ns = clock_now_ns() + PATIENCE_NS;

    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) { /* partner: the device's release */
        if (clock_now_ns() > until_ns) {
            return false;
        }
        rest(LOOK_NS);
    }
    return true;
}

/* Waits for the device to drop an owner that has died. Returns the one that lives, or 0. */
static uint32_t await_room(const struct box *box)
{
    const uint64_t until_ns = clock_now_ns() + GONE_NS;
    const uint32_t alive = __atomic_load_n(&box->shared->alive, __ATOMIC_RELAXED);
    uint32_t owner;

    while ((owner = __atomic_load_n(&box->shared->owner, __ATOMIC_ACQUIRE)) != 0 && clock_now_ns() < until_ns &&
           __atomic_load_n(&box->shared->alive, __ATOMIC_RELAXED) == alive) {
        rest(LOOK_NS);
    }
    return owner;
}

static const char *become_owner(struct box *box)
{
    uint32_t nobody = await_room(box);
    const uint32_t me = (uint32_t)getpid();

    if (nobody != 0 ||
        !__atomic_compare_exchange_n(&box->shared->owner, &nobody, me, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        snprintf(box->refusal, sizeof(box->refusal), "another debugger has it, process %" PRIu32, nobody);
        return box->refusal;
    }
    if (pthread_create(&box->pulse, NULL, show_alive, box) != 0) {
        __atomic_store_n(&box->shared->owner, 0, __ATOMIC_RELEASE);
        return "no thread can be made";
    }
    if (!waits_for(&box->shared->serves, me)) {
        return "the device does not answer; one that counts instructions (-icount) serves no debugger";
    }
    box->session = box->shared->session;
    return box->shared->version == PPU_DEBUG_VERSION ? NULL : "the device belongs to another release";
}

static void unmap_box(struct box *box)
{
    munmap(box->map, box->map_bytes);
    if (box->vram) {
        attach_unmap_vram(box->vram, box->vram_bytes);
    }
    box->vram = NULL;
    box->state = NULL;
    box->shared = NULL;
}

const char *box_open(struct box *box, uint32_t pid, const struct ppu_recorder_device *info)
{
    int fd = info->state_area != 0 ? attach_open_file(pid, info->vram_fd, O_RDWR) : -1;

    *box = (struct box){ .shared = NULL };
    if (fd < 0) {
        return info->state_area == 0 ? "its firmware shows no state" : "its memory cannot be opened";
    }
    const char *why = map_box(box, fd, info);
    box->vram_bytes = info->vram_bytes;
    box->vram = why ? NULL : attach_map_vram(dup(fd), info->vram_bytes);
    close(fd);
    why = why ? why : become_owner(box);
    if (why && box->shared) {
        if (box->pulse != 0) {
            box_close(box);
        } else {
            unmap_box(box);
        }
    }
    return why;
}

void box_close(struct box *box)
{
    uint32_t me = (uint32_t)getpid();

    if (box->shared) {
        __atomic_store_n(&box->ends, 1, __ATOMIC_RELAXED);
        pthread_join(box->pulse, NULL);
        __atomic_compare_exchange_n(&box->shared->owner, &me, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        unmap_box(box);
    }
}

static bool is_served(const struct box *box)
{
    return box->shared && __atomic_load_n(&box->shared->serves, __ATOMIC_ACQUIRE) == (uint32_t)getpid() &&
           __atomic_load_n(&box->shared->session, __ATOMIC_RELAXED) == box->session;
}

bool box_ask(struct box *box, const struct ppu_debug_request *request)
{
    if (!is_served(box)) {
        box->answer.status = PPU_DEBUG_STATUSES;
        return false;
    }
    box->shared->request = *request;
    const uint32_t asked = __atomic_add_fetch(&box->shared->asked, 1, __ATOMIC_ACQ_REL);
    if (!waits_for(&box->shared->answered, asked)) {
        box->answer.status = PPU_DEBUG_STATUSES;
        return false;
    }
    box->answer = box->shared->answer;
    box->answer.bytes = PPU_MIN(box->answer.bytes, PPU_DEBUG_DATA);
    return true;
}

bool box_done(struct box *box, const struct ppu_debug_request *request)
{
    return box_ask(box, request) && box->answer.status == PPU_DEBUG_OK;
}

uint32_t box_events(const struct box *box)
{
    return is_served(box) ? __atomic_load_n(&box->shared->events, __ATOMIC_ACQUIRE) : 0;
}

const char *box_view(struct box *box, struct view *view)
{
    if (!is_served(box)) {
        return "the device is gone, or has another debugger";
    }
    if (!box->vram) {
        return "its memory cannot be mapped";
    }
    const uint32_t asked = __atomic_add_fetch(&box->state->asked, 1, __ATOMIC_ACQ_REL);
    return waits_until(&box->state->answered, asked) ? view_take(view, box->vram, box->vram_bytes, box->state_at)
                                                     : "the device does not answer";
}

const char *box_why(const struct box *box)
{
    static const char unordered[] = "the SMs run on several threads of the host: `record` before `run`, or start the "
                                    "machine with --sm-threads 0";
    static const char *const words[] = {
        [PPU_DEBUG_OK] = "nothing is wrong",
        [PPU_DEBUG_BAD_REQUEST] = "the device does not know this request",
        [PPU_DEBUG_NO_SUCH_WARP] = "the warp has left",
        [PPU_DEBUG_NOT_MAPPED] = "the kernel cannot reach this address",
        [PPU_DEBUG_RUNS] = "the kernel runs",
        [PPU_DEBUG_NO_RECORD] = "nothing is recorded",
        [PPU_DEBUG_UNORDERED] = unordered,
        [PPU_DEBUG_PAST] = "what is past cannot be changed",
        [PPU_DEBUG_NO_ROOM] = "the host has no memory for it",
        [PPU_DEBUG_STATUSES] = "the device is gone, or has another debugger",
    };

    return words[PPU_MIN(box->answer.status, (uint32_t)PPU_DEBUG_STATUSES)];
}
