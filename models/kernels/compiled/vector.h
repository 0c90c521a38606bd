/* Numbers of one type, vectors of them through GCC's and Clang's extension, and sums in an order that is the same on every
   processor: over LANES lanes, whatever vectors it has, then lane l + LANES / 2 onto lane l, and so on. Compilers are not
   allowed to fuse or to reorder; a multiply-add is asked for where one is meant, and rounds once. */
#ifndef VECTOR_H
#define VECTOR_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__FMA__) && !defined(__ARM_FEATURE_FMA)
#error "no fused multiply-add"
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
#define VECTOR_LANES ((int64_t)(BYTES / sizeof(real)))
#define LANES ((int64_t)(64 / sizeof(real)))
#define WORDS (64 / BYTES) /* vectors of the processor that hold the lanes */

#define SMALLEST (sizeof(real) == 8 ? (real)2.3e-308 : (real)1.2e-38)
#if REAL_IS_DOUBLE
#define LARGEST DBL_MAX
#else
#define LARGEST FLT_MAX
#endif

#define VECTOR(SIZE) __attribute__((vector_size(SIZE), aligned(sizeof(real)), may_alias))
typedef real v64 VECTOR(64);
typedef real v32 VECTOR(32);
typedef real v16 VECTOR(16);
#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define VECTOR_OF(SIZE) JOINED(v, SIZE)
typedef VECTOR_OF(BYTES) vector;
typedef whole_number mask VECTOR(BYTES);

/* a b + sum, in one rounding. By hand: compilers fuse a product of vectors or do not, as they like. */
#if REAL_IS_DOUBLE && defined(__aarch64__)
#define MULTIPLY_ADD "fmla %0.2d, %1.2d, %2.2d"
#elif defined(__aarch64__)
#define MULTIPLY_ADD "fmla %0.4s, %1.4s, %2.4s"
#elif REAL_IS_DOUBLE
#define MULTIPLY_ADD "vfmadd231pd %2, %1, %0"
#else
#define MULTIPLY_ADD "vfmadd231ps %2, %1, %0"
#endif
#if defined(__aarch64__)
#define REGISTER "w"
#elif defined(__AVX512VL__)
#define REGISTER "v"
#else
#define REGISTER "x"
#endif
#define FUSED(TYPE)                                                                                                  \
    static inline TYPE TYPE##_fma(TYPE a, TYPE b, TYPE sum) {                                                        \
        __asm__(MULTIPLY_ADD : "+" REGISTER(sum) : REGISTER(a), REGISTER(b));                                        \
        return sum;                                                                                                  \
    }
#if BYTES == 64
FUSED(v64)
#endif
#if BYTES >= 32
FUSED(v32)
#endif
FUSED(v16)
#define vector_fma JOINED(VECTOR_OF(BYTES), _fma)

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (whole_numbers){__VA_ARGS__})
#endif

static inline int64_t lowest(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t highest(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t up_to_lanes(int64_t n) { return (n + LANES - 1) & -LANES; }

static inline real multiply_add(real a, real b, real c) { return sizeof(real) == 8 ? fma(a, b, c) : fmaf(a, b, c); }

/* n, as the compiler sees that it is whole rounds of the lanes. */
static inline int64_t whole(int64_t n) { return n & -LANES; }

static inline vector word(const real *x, int w) { return *(const vector *)(x + w * VECTOR_LANES); }

/* The sum of all lanes. */
static inline real folded(const vector *total) {
    v32 half[2];
    memcpy(half, total, sizeof half);
    half[0] += half[1];
    v16 quarter[2];
    memcpy(quarter, half, sizeof quarter);
    quarter[0] += quarter[1];
    real x[LANES / 4];
    memcpy(x, quarter, sizeof x);
    return sizeof(real) == 8 ? x[0] + x[1] : (x[0] + x[LANES / 8]) + (x[1] + x[LANES / 4 - 1]);
}

static inline void add_lanes(vector *total, const real *x) {
    for (int w = 0; w < WORDS; w++) total[w] += word(x, w);
}

static inline void add_products(vector *total, const real *x, const real *y) {
    for (int w = 0; w < WORDS; w++) total[w] = vector_fma(word(x, w), word(y, w), total[w]);
}

/* The sum of whole rounds of numbers. */
static inline real sum(const real *x, int64_t n) {
    vector total[WORDS] = {0};
    for (int64_t i = 0; i < whole(n); i += LANES) add_lanes(total, x + i);
    return folded(total);
}

/* x . y, of any length: past the last whole round, zeros. */
static inline real dot(int64_t n, const real *x, const real *y) {
    vector total[WORDS] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) add_products(total, x + i, y + i);
    if (i < n) {
        real a[LANES] = {0}, b[LANES] = {0};
        for (int l = 0; i < n; i++, l++) a[l] = x[i], b[l] = y[i];
        add_products(total, a, b);
    }
    return folded(total);
}

/* Every number from start up to stop, at least LANES further on, becomes `number`. */
static inline void fill(real *start, real *stop, real number) {
    vector all = number - (vector){0};
    for (real *at = stop - VECTOR_LANES; at > start; at -= VECTOR_LANES) *(vector *)at = all;
    *(vector *)start = all;
}

/* Memory of this thread by slot, kept from call to call: a fresh page costs ten times a used one. */
enum {
    SCORES, GRADIENTS, OF_A_ROW, KEYS, VALUES, RAMPS, QUERIES, POSITION_QUERIES, POSITION_SUMS, /* attention.c */
    KEY_ROWS, VALUE_ROWS, DKEYS, DVALUES,
    COLUMNS_KEPT, KEPT_WEIGHTS, KEPT_GRADIENTS, SPREAD_GRADIENTS,                /* sparse.h */
    PANEL, LEFT_ROWS,                                                            /* dense.c */
    SLOTS
};
static inline real *scratch(int slot, int64_t count) {
    static __thread real *memory[SLOTS];
    static __thread int64_t size[SLOTS];
    if (size[slot] < count || !memory[slot]) {
        free(memory[slot]);
        size[slot] = count;
        memory[slot] = aligned_alloc(64, count * sizeof(real) / 64 * 64 + 64);
        if (!memory[slot]) abort(); /* no memory is left; C would write at an address of its own making */
    }
    return memory[slot];
}

/* e^x, 0 below the smallest normal number. In 32 bits a polynomial that compilers turn into vectors (error 2e-7). */
static inline real exponential(real x) {
    if (sizeof(real) == 8) return exp(x);
    float clamped = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : (float)x;
    float n = rintf(clamped * 1.44269504f);
    float r = fmaf(n, 2.12194440e-4f, fmaf(n, -0.693359375f, clamped));
    float p = 1.9875691500e-4f;
    p = fmaf(p, r, 1.3981999507e-3f);
    p = fmaf(p, r, 8.3334519073e-3f);
    p = fmaf(p, r, 4.1665795894e-2f);
    p = fmaf(p, r, 1.6666665459e-1f);
    p = fmaf(p, r, 5.0000001201e-1f);
    union { int32_t bits; float number; } power = {((int32_t)n + 127) << 23};
    float e = (fmaf(p * r, r, r) + 1.0f) * power.number;
    return x < -87.0f ? 0.0f : e;
}

/* ln x of a positive number; in 32 bits a polynomial as above. */
static inline real logarithm(real x) {
    if (sizeof(real) == 8) return log(x);
    union { float number; int32_t bits; } u = {(float)x};
    int32_t exponent = ((u.bits - 0x3f3504f3) >> 23);
    u.bits -= exponent * (1 << 23); /* now within sqrt(1/2) .. sqrt(2) */
    float r = u.number - 1.0f, n = (float)exponent;
    float p = 7.0376836292e-2f;
    p = fmaf(p, r, -1.1514610310e-1f);
    p = fmaf(p, r, 1.1676998740e-1f);
    p = fmaf(p, r, -1.2420140846e-1f);
    p = fmaf(p, r, 1.4249322787e-1f);
    p = fmaf(p, r, -1.6668057665e-1f);
    p = fmaf(p, r, 2.0000714765e-1f);
    p = fmaf(p, r, -2.4999993993e-1f);
    p = fmaf(p, r, 3.3333331174e-1f);
    return fmaf(n, 0.693147181f, fmaf(p * r, r * r, fmaf(-0.5f * r, r, r)));
}

#endif
