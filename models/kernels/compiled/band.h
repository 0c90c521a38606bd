/* Products between queries and the keys that they see, along the band of the scores. Part of attention.c. */
#ifndef BAND_H
#define BAND_H

#include "product.h"
#include "pattern.h"

enum { FEW = 4 }; /* queries of an item, for which keys are read as they lie */
enum { BLOCK = 12 }; /* rows that a product takes at once, and so the grain in which what lies off the band is left */

/* Queries of a chunk, d wide, times scale. */
static real *scaled(const item *m, const chunk *x, rows_of queries, int64_t d, int slot) {
    real *out = scratch(slot, m->c * d), scale = m->a->scale;
    for (int64_t i = 0; i < x->c; i++)
        for (int64_t l = 0; l < d; l++) out[i * d + l] = scale * row(queries, m->b, m->h, x->t + i)[l];
    return out;
}

/* The gradient of a chunk's queries, from that of the scaled ones, in place. */
static void scale_back(const item *m, const chunk *x, rows_of gradient, int64_t d) {
    for (int64_t i = 0; i < x->c; i++)
        for (int64_t l = 0; l < d; l++) row(gradient, m->b, m->h, x->t + i)[l] *= (real)m->a->scale;
}

/* The transpose of the rows first_key .. of keys or values, d columns, zeros where there is no row. */
static real *transposed(const item *m, int slot, const real *rows, int64_t row_of, int64_t d) {
    real *out = scratch(slot, d * m->columns);
    int64_t before = highest(0, -m->first_key), first = highest(0, m->first_key);
    int64_t count = highest(0, lowest(m->keys - first, m->columns - before)), after = m->columns - before - count;
    for (int64_t l = 0; l < d; l++) {
        memset(out + l * m->columns, 0, before * sizeof(real));
        memset(out + l * m->columns + before + count, 0, after * sizeof(real));
    }
    transpose(count, d, rows + first * row_of, row_of, out + before, m->columns);
    return out;
}

/* s = q k^T on the band (or d = dy v^T). */
static void scores_of(const item *m, const chunk *x, const real *left, int64_t left_row, int64_t terms,
                      const real *keys, real *out) {
    for (int64_t i = 0; i < x->c; i += BLOCK) {
        int64_t rows = lowest(BLOCK, x->c - i), shift = m->a->kind == CROSS ? 0 : 1;
        int64_t from = i * shift / LANES * LANES;
        int64_t to = m->a->kind == CROSS ? x->n : i + rows - 1 + x->count;
        product(rows, up_to_lanes(to - from), terms, left + i * left_row, left_row, 1,
                keys + x->j0 - m->first_key + from, m->columns, out + i * x->ld + from, x->ld, 0);
    }
}

/* s = q k^T for so few queries that transposing the keys would cost more. */
static void scores_of_few(const item *m, const chunk *x) {
    for (int64_t i = 0; i < x->c; i++) {
        int64_t from, to;
        seen(m, x, i, &from, &to);
        for (int64_t j = from; j < to; j++)
            x->s[i * x->ld + j] = dot(m->a->d_k, x->q + i * m->a->d_k, m->k + (x->j0 + j) * m->k_row);
    }
}

/* s += r p^T: the same distances for every row, one column further on in each. */
static void add_positions(const item *m, const chunk *x) {
    const attention *a = m->a;
    const real *p = a->p + m->h * a->p_head + a->zero + 1 - (a->kind == STREAM ? x->count : x->back + 1);
    product(x->c, up_to_lanes(x->count), a->d_r, x->r, a->d_r, 1, p, a->p_row, x->s, x->ld + 1, 1);
}

/* out = s rows, for the rows of keys or values of an item; out: c d. */
static void weighted(const item *m, const chunk *x, const real *s, const real *rows, int64_t row_of, int64_t d,
                     real *out, int64_t out_row) {
    for (int64_t i = 0; i < x->c; i += BLOCK) {
        int64_t from, to, n = lowest(BLOCK, x->c - i);
        keys_of(m, x, i, n, &from, &to);
        product(n, d, to - from, s + i * x->ld + from, x->ld, 1, rows + (x->j0 + from) * row_of, row_of,
                out + i * out_row, out_row, 0);
    }
}

/* rows += s^T in, onto the keys or values that the chunk sees. */
static void spread(const item *m, const chunk *x, const real *s, const real *in, int64_t in_row, int64_t d, real *rows,
                   int64_t row_of) {
    int64_t from, to;
    keys_of(m, x, 0, x->c, &from, &to);
    for (int64_t j = from; j < to; j += BLOCK) {
        int64_t n = lowest(BLOCK, to - j), i = 0, stop = x->c;
        if (m->a->kind != CROSS) { /* row i sees the columns i .. i + count - 1 */
            i = highest(0, j - x->count + 1);
            stop = lowest(x->c, j + n);
        }
        if (i < stop)
            product(n, d, stop - i, s + i * x->ld + j, 1, x->ld, in + i * in_row, in_row, rows + (x->j0 + j) * row_of,
                    row_of, 1);
    }
}

#endif
