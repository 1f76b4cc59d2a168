/* SPDX-License-Identifier: MIT */
/*
 * Tests types that no source of OpenCL C has and modules do: integers of more than 64 bits, which LLVM's passes make,
 * and structs and arrays that are loaded and stored whole and floats that printf takes, which SPIR-V makes.
 */
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE                                                                                    \
    "target datalayout = "                                                                        \
    "\"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1\"\n" \
    "target triple = \"spir64\"\n"
#define ROUNDS 6u
#define FILL 0xee

typedef unsigned __int128 wide;

struct operation {
    const char *name, *text; /* makes %r of %a and %b; $ stands for the width */
    wide (*model)(uint32_t bits, wide a, wide b);
};

static wide mask_of(uint32_t bits)
{
    return bits == 128 ? ~(wide)0 : ((wide)1 << bits) - 1;
}

static __int128 signed_of(uint32_t bits, wide a)
{
    return (__int128)(a << (128 - bits)) >> (128 - bits);
}

#define MODEL(name, expression)                             \
    static wide model_##name(uint32_t bits, wide a, wide b) \
    {                                                       \
        (void)bits, (void)a, (void)b;                       \
        return expression;                                  \
    }

MODEL(and, a &b)
MODEL(or, a | b)
MODEL(xor, a ^ b)
MODEL(add, a + b)
MODEL(sub, a - b)
MODEL(mul, a *b)
MODEL(up, a << 37)
MODEL(words_up, a << 32)
MODEL(down, a >> 41)
MODEL(signed_down, (wide)(signed_of(bits, a) >> 5))
MODEL(shift, a << (b & 63))
MODEL(shift_down, a >> (b & 63))
MODEL(shift_signed, (wide)(signed_of(bits, a) >> (b & 63)))
MODEL(less, a < b ? a : b)
MODEL(signed_least, signed_of(bits, a) < signed_of(bits, b) ? a : b)
MODEL(most, a >= b ? a : b)
MODEL(same, a == (a ^ (b & 1)) ? 7 : (wide)b)
MODEL(odd, (a & 0xffffffffffffull) + (b & 0xffffff))
MODEL(extended, (wide)signed_of(48, a & 0xffffffffffffull) + (b & 0xffffffffull))
MODEL(other, (wide)signed_of(65, a &mask_of(65)) ^ b)
MODEL(beside, a << 45 | b >> (bits - 45))
MODEL(chosen, ((b & 1) != 0 ? b : a) + 7)
MODEL(constant, a ^ ((wide)0x0123456789abcdefull << 64 | 0xfedcba9876543210ull))

static wide model_loop(uint32_t bits, wide a, wide b)
{
    (void)bits;
    for (uint32_t i = 0; i < 5; i++) {
        a = a * 3 + b;
    }
    return a;
}

static const struct operation operations[] = {
    { "and", "%r = and i$ %a, %b", model_and },
    { "or", "%r = or i$ %a, %b", model_or },
    { "xor", "%r = xor i$ %a, %b", model_xor },
    { "add", "%r = add i$ %a, %b", model_add },
    { "sub", "%r = sub i$ %a, %b", model_sub },
    { "mul", "%r = mul i$ %a, %b", model_mul },
    { "up", "%r = shl i$ %a, 37", model_up },
    { "words_up", "%r = shl i$ %a, 32", model_words_up },
    { "down", "%r = lshr i$ %a, 41", model_down },
    { "signed_down", "%r = ashr i$ %a, 5", model_signed_down },
    { "shift", "%by = and i$ %b, 63\n%r = shl i$ %a, %by", model_shift },
    { "shift_down", "%by = and i$ %b, 63\n%r = lshr i$ %a, %by", model_shift_down },
    { "shift_signed", "%by = and i$ %b, 63\n%r = ashr i$ %a, %by", model_shift_signed },
    { "less", "%c = icmp ult i$ %a, %b\n%r = select i1 %c, i$ %a, i$ %b", model_less },
    { "signed_least", "%c = icmp slt i$ %a, %b\n%r = select i1 %c, i$ %a, i$ %b", model_signed_least },
    { "most", "%c = icmp uge i$ %a, %b\n%r = select i1 %c, i$ %a, i$ %b", model_most },
    { "same", "%bit = and i$ %b, 1\n%x = xor i$ %a, %bit\n%c = icmp eq i$ %a, %x\n%r = select i1 %c, i$ 7, i$ %b",
      model_same },
    { "odd",
      "%f = freeze i$ %a\n%x = trunc i$ %f to i48\n%y = trunc i$ %b to i24\n%p = zext i48 %x to i$\n"
      "%q = zext i24 %y to i$\n%r = add i$ %p, %q",
      model_odd },
    { "extended",
      "%x = trunc i$ %a to i48\n%y = trunc i$ %b to i32\n%p = sext i48 %x to i$\n"
      "%q = zext i32 %y to i$\n%r = add i$ %p, %q",
      model_extended },
    { "beside", "%x = shl i$ %a, 45\n%s = sub i$ $, 45\n%y = lshr i$ %b, %s\n%r = or i$ %x, %y", model_beside },
    { "constant", "%r = xor i$ %a, 1512366075204170947332355369683137040", model_constant },
    { "loop",
      "br label %loop\nloop:\n%acc = phi i$ [ %a, %0 ], [ %next, %loop ]\n"
      "%i = phi i32 [ 0, %0 ], [ %j, %loop ]\n%three = mul i$ %acc, 3\n%next = add i$ %three, %b\n"
      "%j = add i32 %i, 1\n%more = icmp ult i32 %j, 5\nbr i1 %more, label %loop, label %end\nend:\n"
      "%r = phi i$ [ %next, %loop ]",
      model_loop },
    { "other", "%x = trunc i$ %a to i65\n%y = sext i65 %x to i$\n%r = xor i$ %y, %b", model_other },
};

/* Vectors of two such integers, and of four: %v has both operands, in turn. */
#define PAIR                                               \
    "%one = insertelement <2 x i$> poison, i$ %a, i32 0\n" \
    "%v = insertelement <2 x i$> %one, i$ %b, i32 1\n"     \
    "%turned = shufflevector <2 x i$> %v, <2 x i$> poison, <2 x i32> <i32 1, i32 0>\n"

static const struct operation vector_operations[] = {
    { "elements",
      PAIR "%x = extractelement <2 x i$> %v, i32 0\n%y = extractelement <2 x i$> %turned, i64 0\n%r = sub i$ %x, %y",
      model_sub },
    { "words",
      PAIR "%four = shufflevector <2 x i$> %v, <2 x i$> %turned, <4 x i32> <i32 0, i32 3, i32 1, i32 poison>\n"
           "%x = extractelement <4 x i$> %four, i64 1\n%y = extractelement <4 x i$> %four, i64 2\n%r = sub i$ %x, %y",
      model_sub },
    { "chosen element",
      PAIR "%low = trunc i$ %b to i1\n%i = zext i1 %low to i32\n%no = xor i32 %i, 1\n"
           "%w = insertelement <2 x i$> %v, i$ 7, i32 %no\n%x = extractelement <2 x i$> %w, i32 %i\n"
           "%y = extractelement <2 x i$> %w, i32 %no\n%r = add i$ %x, %y",
      model_chosen },
    { "sum", PAIR "%s = add <2 x i$> %v, %turned\n%r = extractelement <2 x i$> %s, i32 1", model_add },
    { "product", PAIR "%s = mul <2 x i$> %v, %turned\n%r = extractelement <2 x i$> %s, i32 0", model_mul },
    { "down", PAIR "%s = lshr <2 x i$> %v, <i$ 41, i$ 3>\n%r = extractelement <2 x i$> %s, i32 0", model_down },
    { "extended",
      PAIR
      "%n = trunc <2 x i$> %v to <2 x i48>\n%s = sext <2 x i48> %n to <2 x i$>\n%m = trunc <2 x i$> %v to <2 x i32>\n"
      "%z = zext <2 x i32> %m to <2 x i$>\n%x = extractelement <2 x i$> %s, i32 0\n"
      "%y = extractelement <2 x i$> %z, i32 1\n%r = add i$ %x, %y",
      model_extended },
    { "less",
      PAIR "%c = icmp ult <2 x i$> %v, %turned\n%s = select <2 x i1> %c, <2 x i$> %v, <2 x i$> %turned\n"
           "%r = extractelement <2 x i$> %s, i32 1",
      model_less },
    { "beside",
      PAIR
      "%x = shl <2 x i$> %v, <i$ 45, i$ 1>\n%s = sub i$ $, 45\n%t = insertelement <2 x i$> <i$ 1, i$ 1>, i$ %s, i32 0\n"
      "%y = lshr <2 x i$> %turned, %t\n%o = or <2 x i$> %x, %y\n%r = extractelement <2 x i$> %o, i32 0",
      model_beside },
    { "loop",
      PAIR "br label %loop\nloop:\n%acc = phi <2 x i$> [ %v, %0 ], [ %next, %loop ]\n"
           "%i = phi i32 [ 0, %0 ], [ %j, %loop ]\n%three = mul <2 x i$> %acc, <i$ 3, i$ 1>\n"
           "%add = insertelement <2 x i$> zeroinitializer, i$ %b, i32 0\n%next = add <2 x i$> %three, %add\n"
           "%j = add i32 %i, 1\n%more = icmp ult i32 %j, 5\nbr i1 %more, label %loop, label %end\nend:\n"
           "%last = phi <2 x i$> [ %next, %loop ]\n%f = freeze <2 x i$> %last\n%r = extractelement <2 x i$> %f, i32 0",
      model_loop },
};

static const uint32_t widths[] = { 128, 96, 72 };

/* ---- modules ---- */

/* The text with numbers for its dollars; malloc()ed. */
static char *with_width(const char *text, uint32_t width)
{
    size_t room = strlen(text) * 3 + 1, len = 0;
    char *out = malloc(room);

    assert_non_null(out);
    for (; *text; text++) {
        len +=
            (size_t)snprintf(out + len, room - len, *text == '$' ? "%u" : "%c", *text == '$' ? width : (unsigned)*text);
    }
    out[len] = 0;
    return out;
}

static void load_text(struct device *device, const char *text)
{
    LLVMContextRef llvm = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test.ll");
    LLVMModuleRef module;
    char *message = NULL;

    if (LLVMParseIRInContext(llvm, buffer, &module, &message) != 0) {
        fail_msg("%s", message);
    }
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
    const struct ppu_compiled compiled = { .bytes = (void *)(uintptr_t)LLVMGetBufferStart(bitcode),
                                           .len_bytes = LLVMGetBufferSize(bitcode) };
    device_load_bitcode(device, &compiled, NULL);
    LLVMDisposeMemoryBuffer(bitcode);
    LLVMDisposeModule(module);
    LLVMContextDispose(llvm);
}

/* ---- integers ---- */

static void load_operation(struct device *device, const struct operation *operation, uint32_t width)
{
    char text[4096];
    char *body = with_width(operation->text, width);

    snprintf(text, sizeof(text),
             MODULE "define spir_kernel void @k(ptr addrspace(1) %%out, ptr addrspace(1) %%in) {\n"
                    "%%at = getelementptr i8, ptr addrspace(1) %%in, i64 16\n"
                    "%%a = load i%u, ptr addrspace(1) %%in, align %u\n"
                    "%%b = load i%u, ptr addrspace(1) %%at, align %u\n%s\n"
                    "store i%u %%r, ptr addrspace(1) %%out, align %u\nret void\n}\n",
             width, width % 32 ? 1u : 8u, width, width % 32 ? 1u : 8u, body, width, width % 32 ? 1u : 8u);
    free(body);
    load_text(device, text);
}

static wide any(uint64_t *state)
{
    wide value = 0;

    for (uint32_t i = 0; i < 4; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        value = value << 32 | *state >> 32;
    }
    return value;
}

static bool run_operation(struct device *device, const struct operation *operation, uint32_t width, uint64_t *state)
{
    wide a = any(state) & mask_of(width), b = any(state) & mask_of(width), got = 0;
    wide wanted = operation->model(width, a, b) & mask_of(width);

    if (*state >> 62 == 0) { /* also neighbours and equals */
        b = a + (*state >> 61 & 1);
        wanted = operation->model(width, a, b &= mask_of(width)) & mask_of(width);
    }
    device_kernel(device, "k");
    uint8_t *out = device_buffer(device, 0, 32), *in = device_buffer(device, 1, 32);
    memset(out, FILL, 32);
    memcpy(in, &a, sizeof(a));
    memcpy(in + 16, &b, sizeof(b));
    device_run(device, 1, 1, 1, 1);
    memcpy(&got, out, width / 8);
    return got == wanted && out[width / 8] == FILL && out[31] == FILL;
}

static void compute_all(struct device *device, const struct operation *list, uint32_t count)
{
    uint64_t random = 1;
    uint32_t misses = 0;

    for (uint32_t o = 0; o < count; o++) {
        for (uint32_t w = 0; w < PPU_ARRAY_SIZE(widths); w++) {
            device->variant = &device_variants[(o + w) % device_variant_count];
            load_operation(device, &list[o], widths[w]);
            for (uint32_t i = 0; i < ROUNDS; i++) {
                if (!run_operation(device, &list[o], widths[w], &random)) {
                    print_error("%s of %u bits differs (%s)\n", list[o].name, widths[w], device->variant->name);
                    misses++;
                    break;
                }
            }
        }
    }
    assert_int_equal(misses, 0);
}

static void wide_integers_compute(void **state)
{
    compute_all(*state, operations, PPU_ARRAY_SIZE(operations));
}

static void vectors_of_wide_integers_compute(void **state)
{
    compute_all(*state, vector_operations, PPU_ARRAY_SIZE(vector_operations));
}

/* ---- vectors whose elements are no whole registers ---- */

#define MOST_PACKED 64u /* bytes */

static wide bits_at(const uint8_t *bytes, uint32_t at, uint32_t bits)
{
    wide value = 0;

    for (uint32_t i = 0; i < bits; i++) {
        value |= (wide)(bytes[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    }
    return value;
}

/* The elements in turn, and one more each; beside them the same bits as an integer. */
static void load_packed(struct device *device, uint32_t elements, uint32_t bits)
{
    char order[120] = "", ones[160] = "", vector[32], whole[16], text[1500];

    for (uint32_t e = 0; e < elements; e++) {
        snprintf(order + strlen(order), sizeof(order) - strlen(order), "%si32 %u", e ? ", " : "", elements - 1 - e);
        snprintf(ones + strlen(ones), sizeof(ones) - strlen(ones), "%si%u %s", e ? ", " : "", bits,
                 bits > 1 ? "1" : "true");
    }
    snprintf(vector, sizeof(vector), "<%u x i%u>", elements, bits);
    snprintf(whole, sizeof(whole), "i%u", elements * bits);
    snprintf(text, sizeof(text),
             MODULE "define spir_kernel void @k(ptr addrspace(1) %%out, ptr addrspace(1) %%in) {\n"
                    "%%a = load %s, ptr addrspace(1) %%in, align 4\n"
                    "%%b = shufflevector %s %%a, %s poison, <%u x i32> <%s>\n"
                    "%%c = add %s %%b, <%s>\n"
                    "store %s %%c, ptr addrspace(1) %%out, align 4\n"
                    "%%d = bitcast %s %%a to %s\n"
                    "%%p = getelementptr i8, ptr addrspace(1) %%out, i64 64\n"
                    "store %s %%d, ptr addrspace(1) %%p, align 4\nret void\n}\n",
             vector, vector, vector, elements, order, vector, ones, vector, vector, whole, whole);
    load_text(device, text);
}

/* They lie in memory bit by bit, one behind the other. */
static void odd_vectors_are_packed(void **state)
{
    static const uint32_t odd[] = { 1, 3, 12, 24, 33, 48, 72, 100 };
    struct device *device = *state;

    for (uint32_t k = 0; k < 3 * PPU_ARRAY_SIZE(odd); k++) {
        const uint32_t bits = odd[k / 3], elements = k % 3 + 2, bytes = (bits * elements + 7) / 8;
        device->variant = &device_variants[k % device_variant_count];
        load_packed(device, elements, bits);
        device_kernel(device, "k");
        uint8_t *out = device_buffer(device, 0, 2 * MOST_PACKED), *in = device_buffer(device, 1, MOST_PACKED);
        memset(out, FILL, 2 * MOST_PACKED);
        for (uint32_t i = 0; i < MOST_PACKED; i++) {
            in[i] = (uint8_t)(i * 57 + 0xb1);
        }
        device_run(device, 1, 1, 1, 1);
        for (uint32_t e = 0; e < elements; e++) {
            const wide wanted = (bits_at(in, (elements - 1 - e) * bits, bits) + 1) & mask_of(bits);
            if (bits_at(out, e * bits, bits) != wanted ||
                bits_at(out + MOST_PACKED, e * bits, bits) != bits_at(in, e * bits, bits)) {
                fail_msg("element %u of %u of %u bits differs (%s)", e, elements, bits, device->variant->name);
            }
        }
        assert_int_equal(out[bytes], FILL);
        assert_int_equal(out[MOST_PACKED + bytes], FILL);
    }
}

/* Sixteen words are four integers and two, are loaded and stored as such, and an element of them is its words. */
static void vectors_of_wide_integers_are_words(void **state)
{
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        load_text(device, MODULE "define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {\n"
                                 "%v = load <16 x i32>, ptr addrspace(1) %in, align 64\n"
                                 "%a = bitcast <16 x i32> %v to <4 x i128>\n"
                                 "%b = extractelement <4 x i128> %a, i64 2\n"
                                 "store i128 %b, ptr addrspace(1) %out, align 16\n"
                                 "%x = load <4 x i128>, ptr addrspace(1) %in, align 64\n"
                                 "%y = insertelement <4 x i128> %x, i128 %b, i64 0\n"
                                 "%w = bitcast <4 x i128> %y to <2 x i256>\n"
                                 "%p = getelementptr i8, ptr addrspace(1) %out, i64 64\n"
                                 "store <2 x i256> %w, ptr addrspace(1) %p, align 64\nret void\n}\n");
        device_kernel(device, "k");
        uint32_t *out = device_buffer(device, 0, 128), *in = device_buffer(device, 1, 64);
        for (uint32_t i = 0; i < 16; i++) {
            in[i] = i * 17 + 1;
        }
        device_run(device, 1, 1, 1, 1);
        for (uint32_t i = 0; i < 16; i++) {
            device_expect(device, "word", i, (int32_t)out[16 + i], (int32_t)in[i < 4 ? 8 + i : i]);
            device_expect(device, "element", i, (int32_t)out[i % 4], (int32_t)in[8 + i % 4]);
        }
    }
}

/* A vector is an integer of as many bits, and back. */
static void wide_integers_are_vectors(void **state)
{
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        load_text(device, MODULE "define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {\n"
                                 "%v = load <4 x i32>, ptr addrspace(1) %in, align 16\n"
                                 "%a = bitcast <4 x i32> %v to i128\n"
                                 "%b = lshr i128 %a, 40\n"
                                 "%w = bitcast i128 %b to <8 x i16>\n"
                                 "store <8 x i16> %w, ptr addrspace(1) %out, align 16\nret void\n}\n");
        device_kernel(device, "k");
        uint8_t *out = device_buffer(device, 0, 16), *in = device_buffer(device, 1, 16);
        for (uint32_t i = 0; i < 16; i++) {
            in[i] = (uint8_t)(i * 17 + 1);
        }
        device_run(device, 1, 1, 1, 1);
        for (uint32_t i = 0; i < 16; i++) {
            device_expect(device, "byte", i, out[i], i < 11 ? in[i + 5] : 0);
        }
    }
}

/* Three elements are a number of 24 or 48 bits, and back. */
static void odd_integers_are_vectors(void **state)
{
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        load_text(device, MODULE "define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {\n"
                                 "%v = load <4 x i16>, ptr addrspace(1) %in, align 8\n"
                                 "%h = shufflevector <4 x i16> %v, <4 x i16> poison, <3 x i32> <i32 1, i32 2, i32 3>\n"
                                 "%a = bitcast <3 x i16> %h to i48\n"
                                 "%b = lshr i48 %a, 8\n"
                                 "%w = bitcast i48 %b to <3 x i16>\n"
                                 "%x = shufflevector <3 x i16> %w, <3 x i16> zeroinitializer, <4 x i32> <i32 0, i32 1, "
                                 "i32 2, i32 3>\n"
                                 "store <4 x i16> %x, ptr addrspace(1) %out, align 8\n"
                                 "%i = load i32, ptr addrspace(1) %in, align 8\n"
                                 "%j = trunc i32 %i to i24\n"
                                 "%m = mul i24 %j, 3\n"
                                 "%n = bitcast i24 %m to <3 x i8>\n"
                                 "%r = shufflevector <3 x i8> %n, <3 x i8> poison, <3 x i32> <i32 2, i32 0, i32 1>\n"
                                 "%t = bitcast <3 x i8> %r to i24\n"
                                 "%z = zext i24 %t to i32\n"
                                 "%q = getelementptr i8, ptr addrspace(1) %out, i64 8\n"
                                 "store i32 %z, ptr addrspace(1) %q, align 4\nret void\n}\n");
        device_kernel(device, "k");
        uint8_t *out = device_buffer(device, 0, 12), *in = device_buffer(device, 1, 8);
        for (uint32_t i = 0; i < 8; i++) {
            in[i] = (uint8_t)(i * 17 + 0x51);
        }
        const uint32_t product = (in[0] | in[1] << 8 | in[2] << 16) * 3u;
        device_run(device, 1, 1, 1, 1);
        for (uint32_t i = 0; i < 8; i++) {
            device_expect(device, "byte", i, out[i], i < 5 ? in[i + 3] : 0);
        }
        for (uint32_t i = 0; i < 4; i++) {
            device_expect(device, "byte", 8 + i, out[8 + i], i < 3 ? product >> (i + 2) % 3 * 8 & 0xff : 0);
        }
    }
}

/* LLVM leaves it a cast; an element without a value takes nothing away from the others. */
static void constant_vectors_are_integers(void **state)
{
    static const uint32_t expected[4] = { 0xfffffffbu, 0xffffffffu, 0x00020001u, 0x3f800003u };
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        load_text(device,
                  MODULE "define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {\n"
                         "%a = lshr i256 bitcast (<4 x i64> <i64 1, i64 -5, i64 7, i64 undef> to i256), 64\n"
                         "%b = trunc i256 %a to i64\n"
                         "store i64 %b, ptr addrspace(1) %out, align 8\n"
                         "%c = lshr i128 bitcast (<8 x i16> <i16 9, i16 9, i16 undef, i16 9, i16 1, i16 2, i16 3, i16 "
                         "16256> to i128), 64\n"
                         "%d = trunc i128 %c to i64\n"
                         "%p = getelementptr i8, ptr addrspace(1) %out, i64 8\n"
                         "store i64 %d, ptr addrspace(1) %p, align 8\nret void\n}\n");
        device_kernel(device, "k");
        uint32_t *out = device_buffer(device, 0, sizeof(expected));
        device_buffer(device, 1, 16);
        device_run(device, 1, 1, 1, 1);
        for (uint32_t i = 0; i < 4; i++) {
            device_expect(device, "word", i, out[i], expected[i]);
        }
    }
}

/* Without optimisation LLVM leaves a cast of a vector of one element, and takes an element of that. */
static void elements_of_constants_are_taken(void **state)
{
    static const char kernel[] = "kernel void k(global uint *out, uint n)\n{\n"
                                 "    union { uchar4 bytes; ushort2 shorts; } both;\n"
                                 "    both.bytes = min((uchar4)5, (uchar4)33);\n"
                                 "    for (uint left = n; left != 0; left--) {\n"
                                 "        both.bytes.s1 = (uchar)(left + 6);\n"
                                 "    }\n"
                                 "    out[0] = both.bytes.s3;\n"
                                 "    out[1] = both.shorts.s0;\n}\n";
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        device_load(device, kernel, NULL);
        device_kernel(device, "k");
        uint32_t *out = device_buffer(device, 0, 2 * sizeof(*out));
        device_int(device, 1, 3);
        device_run(device, 1, 1, 1, 1);
        device_expect(device, "word", 0, (int32_t)out[0], 5);
        device_expect(device, "word", 1, (int32_t)out[1], 0x0705);
    }
}

/* LLVM leaves it a cast. */
static void constant_vectors_of_one_are_vectors(void **state)
{
    static const uint32_t expected[4] = { 0x2a05f207u, 1u, 0x00020001u, 0xfffc0003u };
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        load_text(device, MODULE "define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {\n"
                                 "%a = load <2 x i32>, ptr addrspace(1) %in, align 8\n"
                                 "%b = add <2 x i32> %a, bitcast (<1 x i64> <i64 5000000007> to <2 x i32>)\n"
                                 "store <2 x i32> %b, ptr addrspace(1) %out, align 8\n"
                                 "%c = load <4 x i16>, ptr addrspace(1) %in, align 8\n"
                                 "%d = add <4 x i16> %c, bitcast (<1 x i64> <i64 -1125887021809663> to <4 x i16>)\n"
                                 "%p = getelementptr i8, ptr addrspace(1) %out, i64 8\n"
                                 "store <4 x i16> %d, ptr addrspace(1) %p, align 8\nret void\n}\n");
        device_kernel(device, "k");
        uint32_t *out = device_buffer(device, 0, sizeof(expected));
        memset(device_buffer(device, 1, 16), 0, 16);
        device_run(device, 1, 1, 1, 1);
        for (uint32_t i = 0; i < 4; i++) {
            device_expect(device, "word", i, out[i], expected[i]);
        }
    }
}

/* ---- structs and arrays ---- */

struct inner {
    uint64_t number;
    uint16_t half;
};

struct whole {
    uint32_t word;
    uint8_t byte;
    uint16_t pair[2];
    float two[2];
    struct inner inner;
};

#define WHOLE "%inner = type { i64, half }\n%whole = type { i32, i8, [2 x i16], [2 x float], %inner }\n"

static void expect_whole(const struct device *device, const struct whole *got, const struct whole *wanted)
{
    device_expect(device, "word", 0, (int32_t)got->word, (int32_t)wanted->word);
    device_expect(device, "byte", 0, got->byte, wanted->byte);
    device_expect(device, "pair", 0, got->pair[0], wanted->pair[0]);
    device_expect(device, "pair", 1, got->pair[1], wanted->pair[1]);
    device_expect(device, "two", 0, (int32_t)got->two[0], (int32_t)wanted->two[0]);
    device_expect(device, "two", 1, (int32_t)got->two[1], (int32_t)wanted->two[1]);
    device_expect(device, "number", 0, (int32_t)(got->inner.number >> 8), (int32_t)(wanted->inner.number >> 8));
    device_expect(device, "half", 0, got->inner.half, wanted->inner.half);
}

/* The first is copied with another word, the second by a choice between two, the third is a constant. */
static void structs_are_moved_whole(void **state)
{
    static const struct whole first = { 1, 2, { 3, 4 }, { 5, 6 }, { 0x1234567890ull, 0x3c00 } },
                              second = { 11, 12, { 13, 14 }, { 15, 16 }, { 0x987654321ull, 0x4000 } },
                              third = { 21, 22, { 23, 24 }, { 25, 26 }, { 27 << 8, 0x4200 } };
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        load_text(device, MODULE WHOLE
                  "define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) {\n"
                  "%in1 = getelementptr %whole, ptr addrspace(1) %in, i64 1\n"
                  "%out1 = getelementptr %whole, ptr addrspace(1) %out, i64 1\n"
                  "%out2 = getelementptr %whole, ptr addrspace(1) %out, i64 2\n"
                  "%a = load %whole, ptr addrspace(1) %in, align 8\n"
                  "%b = load %whole, ptr addrspace(1) %in1, align 8\n"
                  "%word = extractvalue %whole %a, 0\n"
                  "%c = icmp eq i32 %word, 1\n"
                  "%other = insertvalue %whole %a, i32 77, 0\n"
                  "%chosen = select i1 %c, %whole %b, %whole %a\n"
                  "store %whole %other, ptr addrspace(1) %out, align 8\n"
                  "store %whole %chosen, ptr addrspace(1) %out1, align 8\n"
                  "store %whole { i32 21, i8 22, [2 x i16] [i16 23, i16 24], [2 x float] [float 25.0, float 26.0],\n"
                  "%inner { i64 6912, half 3.0 } }, ptr addrspace(1) %out2, align 8\nret void\n}\n");
        device_kernel(device, "k");
        struct whole *out = device_buffer(device, 0, 3 * sizeof(*out)), *in = device_buffer(device, 1, 2 * sizeof(*in));
        struct whole wanted = first;
        in[0] = first;
        in[1] = second;
        wanted.word = 77;
        device_run(device, 1, 1, 1, 1);
        expect_whole(device, &out[0], &wanted);
        expect_whole(device, &out[1], &second);
        expect_whole(device, &out[2], &third);
    }
}

/* ---- arguments of printf ---- */

/* SPIR-V has no rule that makes a double of a float, and its pointers are converted by instructions that do nothing. */
static void floats_are_printed_as_doubles(void **state)
{
    struct device *device = *state;

    for (uint32_t v = 0; v < device_variant_count; v++) {
        device->variant = &device_variants[v];
        load_text(
            device, MODULE
            "@text = internal unnamed_addr addrspace(2) constant [7 x i8] c\"%f %d\\0A\\00\"\n"
            "declare i32 @printf(ptr addrspace(2), ...)\n"
            "define spir_kernel void @k(float %x) {\n"
            "%format = bitcast ptr addrspace(2) @text to ptr addrspace(2)\n"
            "%done = call spir_func i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) %format, float %x, i32 7)\n"
            "ret void\n}\n");
        struct ppu_printf_buffer *buffer = rig_data(device->rig, 0x100000);
        double printed;
        device_kernel(device, "k");
        device_float(device, 0, 2.5f);
        device->printf_va = DATA_VA + 0x100000;
        buffer->capacity = 100;
        buffer->used = 0;
        device_run(device, 1, 1, 1, 1);
        device->printf_va = 0;
        assert_int_equal(buffer->used, 5);
        assert_string_equal(device->rig->program.text + device->rig->program.formats[buffer->words[1]], "%f %d\n");
        memcpy(&printed, &buffer->words[2], sizeof(printed));
        assert_true(printed == 2.5);
        assert_int_equal(buffer->words[4], 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "integers of more than 64 bits are computed in words", wide_integers_compute, device_setup, device_teardown,
          NULL },
        { "vectors of such integers are computed in words", vectors_of_wide_integers_compute, device_setup,
          device_teardown, NULL },
        { "vectors of integers of any width lie packed in memory", odd_vectors_are_packed, device_setup,
          device_teardown, NULL },
        { "words are vectors of such integers, and back", vectors_of_wide_integers_are_words, device_setup,
          device_teardown, NULL },
        { "vectors are such integers, and back", wide_integers_are_vectors, device_setup, device_teardown, NULL },
        { "vectors of three are numbers of 24 and 48 bits", odd_integers_are_vectors, device_setup, device_teardown,
          NULL },
        { "constant vectors are such integers", constant_vectors_are_integers, device_setup, device_teardown, NULL },
        { "elements are taken of constants that LLVM does not fold", elements_of_constants_are_taken, device_setup,
          device_teardown, NULL },
        { "constant vectors of one element are vectors", constant_vectors_of_one_are_vectors, device_setup,
          device_teardown, NULL },
        { "printf takes a float of a module as a double", floats_are_printed_as_doubles, device_setup, device_teardown,
          NULL },
        { "structs are loaded, chosen and stored whole", structs_are_moved_whole, device_setup, device_teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: wide types", tests, NULL, NULL);
}
