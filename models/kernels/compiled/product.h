/* Small products in registers: C (+)= A B, A read number by number with any strides, rows of B and C contiguous. Each
   number of C is a sum in the order of its terms, so that it is the same in vectors of any width. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "vector.h"

#define UNROLLED _Pragma("GCC unroll 12") /* or else numbers lie in memory that registers would hold */

#define TILE(M, N, TYPE)                                                                                             \
    static void TYPE##_##M##_##N(int64_t k, const real *a, int64_t row, int64_t col, const real *b, int64_t b_row,   \
                                 real *c, int64_t c_row, int add) {                                                  \
        enum { WIDTH = sizeof(TYPE) / sizeof(real) };                                                                \
        TYPE sum[M][N];                                                                                              \
        UNROLLED for (int i = 0; i < M; i++)                                                                         \
            UNROLLED for (int j = 0; j < N; j++)                                                                     \
                sum[i][j] = add ? *(const TYPE *)(c + i * c_row + j * WIDTH) : (TYPE){0};                            \
        for (int64_t p = 0; p < k; p++) {                                                                            \
            TYPE x[N];                                                                                               \
            UNROLLED for (int j = 0; j < N; j++) x[j] = *(const TYPE *)(b + p * b_row + j * WIDTH);                  \
            UNROLLED for (int i = 0; i < M; i++) {                                                                   \
                TYPE same = a[i * row + p * col] - (TYPE){0};                                                        \
                UNROLLED for (int j = 0; j < N; j++) sum[i][j] = TYPE##_fma(same, x[j], sum[i][j]);                  \
            }                                                                                                        \
        }                                                                                                            \
        UNROLLED for (int i = 0; i < M; i++)                                                                         \
            UNROLLED for (int j = 0; j < N; j++) *(TYPE *)(c + i * c_row + j * WIDTH) = sum[i][j];                   \
    }

/* As many columns as N vectors have, by M rows, then R, then single ones; tiles that the registers hold. */
#define COLUMNS(N, TYPE, M, R)                                                                                       \
    TILE(M, N, TYPE) TILE(R, N, TYPE) TILE(1, N, TYPE)                                                               \
    static void TYPE##_columns_##N(int64_t m, int64_t k, const real *a, int64_t row, int64_t col, const real *b,     \
                                   int64_t b_row, real *c, int64_t c_row, int add) {                                 \
        int64_t i = 0;                                                                                               \
        for (; i + M <= m; i += M) TYPE##_##M##_##N(k, a + i * row, row, col, b, b_row, c + i * c_row, c_row, add);  \
        for (; i + R <= m; i += R) TYPE##_##R##_##N(k, a + i * row, row, col, b, b_row, c + i * c_row, c_row, add);  \
        for (; i < m; i++) TYPE##_1_##N(k, a + i * row, row, col, b, b_row, c + i * c_row, c_row, add);              \
    }

#if WIDE == 4
COLUMNS(4, vector, 6, 2)
#endif
COLUMNS(2, vector, 6, 2)
COLUMNS(1, vector, 12, 4)
#if BYTES > 32
COLUMNS(1, v32, 12, 4)
#endif
#if BYTES > 16
COLUMNS(1, v16, 12, 4)
#endif

#define TAKE(N, TYPE)                                                                                                \
    for (int64_t w = N * sizeof(TYPE) / sizeof(real); n >= w; n -= w, b += w, c += w)                                \
        TYPE##_columns_##N(m, k, a, row, col, b, b_row, c, c_row, add);

/* C (+)= A B: m rows, n columns, k terms. */
static void product(int64_t m, int64_t n, int64_t k, const real *a, int64_t row, int64_t col, const real *b,
                    int64_t b_row, real *c, int64_t c_row, int add) {
#if WIDE == 4
    TAKE(4, vector)
#endif
    TAKE(2, vector)
    TAKE(1, vector)
#if BYTES > 32
    TAKE(1, v32)
#endif
#if BYTES > 16
    TAKE(1, v16)
#endif
    for (int64_t i = 0; n && i < m; i++) /* fewer columns than the shortest vector has lanes */
        for (int64_t j = 0; j < n; j++) {
            real sum = add ? c[i * c_row + j] : 0;
            for (int64_t p = 0; p < k; p++) sum = multiply_add(a[i * row + p * col], b[p * b_row + j], sum);
            c[i * c_row + j] = sum;
        }
}

/* Four by four numbers turned over in registers. */
static inline void transpose_four(const real *in, int64_t in_row, real *out, int64_t out_row) {
    typedef real four VECTOR(4 * sizeof(real));
    typedef whole_number whole_numbers VECTOR(4 * sizeof(real));
    four a = *(const four *)in, b = *(const four *)(in + in_row);
    four c = *(const four *)(in + 2 * in_row), d = *(const four *)(in + 3 * in_row);
    four ab = SHUFFLE(a, b, 0, 4, 1, 5), AB = SHUFFLE(a, b, 2, 6, 3, 7);
    four cd = SHUFFLE(c, d, 0, 4, 1, 5), CD = SHUFFLE(c, d, 2, 6, 3, 7);
    *(four *)out = SHUFFLE(ab, cd, 0, 1, 4, 5);
    *(four *)(out + out_row) = SHUFFLE(ab, cd, 2, 3, 6, 7);
    *(four *)(out + 2 * out_row) = SHUFFLE(AB, CD, 0, 1, 4, 5);
    *(four *)(out + 3 * out_row) = SHUFFLE(AB, CD, 2, 3, 6, 7);
}

/* out: n m, the transpose of in: m n. */
static void transpose(int64_t m, int64_t n, const real *in, int64_t in_row, real *out, int64_t out_row) {
    int64_t rows = m & -4, columns = n & -4;
    for (int64_t i = 0; i < rows; i += 4)
        for (int64_t j = 0; j < columns; j += 4)
            transpose_four(in + i * in_row + j, in_row, out + j * out_row + i, out_row);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i < rows ? columns : 0; j < n; j++) out[j * out_row + i] = in[i * in_row + j];
}

#endif
