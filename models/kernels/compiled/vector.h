/* Numbers of one type and vectors of them: the widest that the processor has, through GCC's and Clang's extension. */
#ifndef VECTOR_H
#define VECTOR_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#endif

#ifndef REAL
#define REAL float
#endif
typedef REAL real;
#if REAL_IS_DOUBLE
typedef int64_t whole_number;
#else
typedef int32_t whole_number;
#endif

#if defined(__AVX512F__)
#define BYTES 64
#define WIDE 4 /* vectors of columns that a tile of six rows holds in registers */
#elif defined(__AVX__)
#define BYTES 32
#define WIDE 2
#else
#define BYTES 16
#define WIDE 4
#endif
#define LANES ((int64_t)(BYTES / sizeof(real)))

#define SMALLEST (sizeof(real) == 8 ? (real)2.3e-308 : (real)1.2e-38)

#define VECTOR(SIZE) __attribute__((vector_size(SIZE), aligned(sizeof(real)), may_alias))
typedef real vector VECTOR(BYTES);
typedef real half_vector VECTOR(BYTES / 2);
typedef real quarter_vector VECTOR(BYTES / 4 > sizeof(real) ? BYTES / 4 : sizeof(real));

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (whole_numbers){__VA_ARGS__})
#endif

static inline int64_t lowest(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t highest(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t up_to_lanes(int64_t n) { return (n + LANES - 1) & -LANES; }

/* Every number from start up to stop, at least a vector's length further on, becomes `number`. */
static inline void fill(real *start, real *stop, real number) {
    vector all = number - (vector){0};
    for (real *at = stop - LANES; at > start; at -= LANES) *(vector *)at = all;
    *(vector *)start = all;
}

/* Memory of this thread by slot, kept from call to call: a fresh page costs ten times a used one. */
enum {
    SCORES, GRADIENTS, OF_A_ROW, KEYS, VALUES, RAMPS, QUERIES, POSITION_QUERIES, /* attention.c */
    KEY_ROWS, VALUE_ROWS, DKEYS, DVALUES,
    COLUMNS_KEPT, KEPT_WEIGHTS, KEPT_GRADIENTS, SPREAD_GRADIENTS,                /* sparse.h */
    PANEL, LEFT_ROWS,                                                            /* dense.c */
    SLOTS
};
static inline real *scratch(int slot, int64_t count) {
    static __thread real *memory[SLOTS];
    static __thread int64_t size[SLOTS];
    if (size[slot] < count) {
        free(memory[slot]);
        size[slot] = count;
        memory[slot] = aligned_alloc(64, (count * sizeof(real) + 63) / 64 * 64);
    }
    return memory[slot];
}

/* e^x, 0 below the smallest normal number. In 32 bits a polynomial that compilers turn into vectors (error 2e-7). */
static inline real exponential(real x) {
    if (sizeof(real) == 8) return exp(x);
    float clamped = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : (float)x;
    float n = rintf(clamped * 1.44269504f);
    float r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    union { int32_t bits; float number; } power = {((int32_t)n + 127) << 23};
    float e = (p * r * r + r + 1.0f) * power.number;
    return x < -87.0f ? 0.0f : e;
}

/* ln x of a positive number; in 32 bits a polynomial as above. */
static inline real logarithm(real x) {
    if (sizeof(real) == 8) return log(x);
    union { float number; int32_t bits; } u = {(float)x};
    int32_t exponent = ((u.bits - 0x3f3504f3) >> 23);
    u.bits -= exponent << 23; /* now within sqrt(1/2) .. sqrt(2) */
    float r = u.number - 1.0f, n = (float)exponent;
    float p = 7.0376836292e-2f;
    p = p * r - 1.1514610310e-1f;
    p = p * r + 1.1676998740e-1f;
    p = p * r - 1.2420140846e-1f;
    p = p * r + 1.4249322787e-1f;
    p = p * r - 1.6668057665e-1f;
    p = p * r + 2.0000714765e-1f;
    p = p * r - 2.4999993993e-1f;
    p = p * r + 3.3333331174e-1f;
    return r + (p * r * r * r - 0.5f * r * r) + n * 0.693147181f;
}

#endif
