/* SPDX-License-Identifier: MIT */
#include "opencl/api/calls.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ppu.h"

/* A call that a tool wants to know of. */
struct recorded_call {
    uint32_t name; /* 0: it is not recorded */
    uint32_t thread;
};

static uint32_t thread_number(void)
{
    static _Thread_local uint32_t number;

    if (number == 0) {
        number = (uint32_t)syscall(SYS_gettid);
    }
    return number;
}

/* `known` is the name's number after the first time; threads that race write the same. */
static struct recorded_call call_begins(const char *function, uint32_t *known)
{
    struct recorded_call call = { 0, 0 };

    if (ppu_record_wanted()) {
        uint32_t name = __atomic_load_n(known, __ATOMIC_RELAXED);
        call.name = name != 0 ? name : ppu_record_name(function);
        call.thread = thread_number();
        __atomic_store_n(known, call.name, __ATOMIC_RELAXED);
        ppu_record(PPU_TRACE_CALL, 0, call.name, call.thread, 0);
    }
    return call;
}

static void call_ends(struct recorded_call call, uint32_t result)
{
    if (call.name != 0) {
        ppu_record(PPU_TRACE_CALL_END, 0, call.name, call.thread, result);
    }
}

/* What a call returns, as a number: an error, or 0 for an object. */
#define RESULT_NUMBER(result) _Generic((result), cl_int : (uint32_t)(uintptr_t)(result), default : 0u)

#define CALL(type, function, parameters, names)                           \
    type CL_API_CALL call_##function parameters                           \
    {                                                                     \
        static uint32_t known;                                            \
        const struct recorded_call call = call_begins(#function, &known); \
        type result = function names;                                     \
        call_ends(call, RESULT_NUMBER(result));                           \
        return result;                                                    \
    }
#define CALL_VOID(function, parameters, names)                            \
    void CL_API_CALL call_##function parameters                           \
    {                                                                     \
        static uint32_t known;                                            \
        const struct recorded_call call = call_begins(#function, &known); \
        function names;                                                   \
        call_ends(call, 0);                                               \
    }
#include "build/opencl/calls.inc"
