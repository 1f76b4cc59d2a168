/* SPDX-License-Identifier: MIT */
#include "opencl/api/marks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"

struct marks {
    struct marks *next, *before;
    cl_context context;
    uint64_t va, bytes;        /* of the buffer */
    struct ppu_memory *memory; /* a mark for each byte */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and of the lists */
static bool wanted;
static struct marks *newest;
static uint32_t count;

void marks_begin(void)
{
    pthread_mutex_lock(&lock);
    wanted = true;
    pthread_mutex_unlock(&lock);
}

/* Takes one of the entries that a table has room for. */
static bool count_marks(void)
{
    pthread_mutex_lock(&lock);
    const bool room = wanted && count < PPU_SANITIZER_MARKED;
    count += room;
    pthread_mutex_unlock(&lock);
    return room;
}

static void uncount_marks(void)
{
    pthread_mutex_lock(&lock);
    count--;
    pthread_mutex_unlock(&lock);
}

static void list_marks(struct marks *marks)
{
    pthread_mutex_lock(&lock);
    marks->next = newest;
    if (newest) {
        newest->before = marks;
    }
    newest = marks;
    pthread_mutex_unlock(&lock);
}

/* Memory of libppu begins as zeros: nothing is written. */
struct marks *marks_new(cl_mem buffer)
{
    if (!buffer->own || !count_marks()) {
        return NULL;
    }
    struct marks *marks = calloc(1, sizeof(*marks));
    if (!marks || ppu_memory_create(buffer->context->ppu, PPU_MEMORY_VRAM, buffer->bytes, &marks->memory) != PPU_OK) {
        free(marks);
        uncount_marks();
        return NULL;
    }
    marks->context = buffer->context;
    marks->va = buffer->va;
    marks->bytes = buffer->bytes;
    list_marks(marks);
    return marks;
}

void marks_free(struct marks *marks)
{
    if (!marks) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (marks->before) {
        marks->before->next = marks->next;
    } else {
        newest = marks->next;
    }
    if (marks->next) {
        marks->next->before = marks->before;
    }
    count--;
    pthread_mutex_unlock(&lock);
    ppu_memory_free(marks->memory);
    free(marks);
}

uint64_t marks_va(cl_mem memory)
{
    const struct marks *marks = memory_root(memory)->marks;

    return marks ? ppu_memory_va(marks->memory, marks->context->ppu).va + memory->origin : 0;
}

static void set(const struct marks *marks, size_t offset, size_t bytes)
{
    memset((uint8_t *)ppu_memory_host(marks->memory) + offset, PPU_SANITIZER_WRITTEN, bytes);
}

void marks_set(cl_mem memory, size_t offset, size_t bytes)
{
    const struct marks *marks = memory_root(memory)->marks;

    if (marks) {
        set(marks, memory->origin + offset, bytes);
    }
}

void marks_set_context(cl_context context)
{
    pthread_mutex_lock(&lock);
    for (const struct marks *m = newest; m; m = m->next) {
        if (m->context == context) {
            set(m, 0, m->bytes);
        }
    }
    pthread_mutex_unlock(&lock);
}

static int compare_marked(const void *a, const void *b)
{
    const struct ppu_sanitizer_marked *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

void marks_table(cl_context context, struct ppu_sanitizer_table *to)
{
    uint32_t listed = 0;

    pthread_mutex_lock(&lock);
    for (const struct marks *m = newest; m; m = m->next) {
        if (m->context == context) {
            to->marked[listed++] =
                (struct ppu_sanitizer_marked){ m->va, m->va + m->bytes, ppu_memory_va(m->memory, context->ppu).va };
        }
    }
    pthread_mutex_unlock(&lock);
    qsort(to->marked, listed, sizeof(to->marked[0]), compare_marked);
    to->marked_count = listed;
}
