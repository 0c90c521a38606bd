/* Rows of few weights, whatever made them few: only the keys that have a weight are read. Part of attention.c. */
#ifndef SPARSE_H
#define SPARSE_H

#include "mask.h"
#include "product.h"

/* The columns of row i whose weight is not 0, and their weights. Rounds of the lanes without any are passed over. */
static int64_t nonzeros(const item *m, const chunk *x, int64_t i, int32_t *column, real *weight) {
    int64_t from, to, count = 0;
    seen(m, x, i, &from, &to);
    const real *s = x->s + i * x->ld;
    for (int64_t start = from; start < to; start += LANES) {
        if (sum(s + start, LANES) == 0) continue; /* weights are not negative */
        for (int64_t j = start; j < start + LANES; j++) {
            column[count] = j;
            weight[count] = s[j];
            count += s[j] != 0;
        }
    }
    return count;
}

/* out += w x */
static inline void add_scaled(int64_t d, real w, const real *x, real *out) {
    for (int64_t l = 0; l < d; l++) out[l] = multiply_add(w, x[l], out[l]);
}

static void sparse_forward(const item *m, const chunk *x, real *y) {
    const attention *a = m->a;
    int32_t *column = (int32_t *)scratch(COLUMNS_KEPT, x->ld);
    real *weight = scratch(KEPT_WEIGHTS, x->ld);
    for (int64_t i = 0; i < x->c; i++) {
        int64_t count = nonzeros(m, x, i, column, weight);
        real *out = y + i * a->y.row;
        memset(out, 0, a->d_v * sizeof(real));
        for (int64_t n = 0; n < count; n++)
            add_scaled(a->d_v, weight[n], m->v + (x->j0 + column[n]) * m->v_row, out);
    }
}

/* The gradient of a row's few weights reaches its keys, values, query and position keys. */
static void sparse_backward_row(const item *m, chunk *x, int64_t i, const int32_t *column, real *p, real *d,
                                int64_t count, const real *q, const real *dy, real *dq) {
    const attention *a = m->a;
    for (int64_t n = 0; n < count; n++) {
        int64_t j = x->j0 + column[n];
        real kept = a->drop ? drop_factor(a, drop_seed(m, x->t + i), j) : 1;
        add_scaled(a->d_v, p[n] * kept, dy, m->dv + j * m->dv_row);
        d[n] = kept * dot(a->d_v, dy, m->v + j * m->v_row);
    }
    for (int64_t n = count; n % LANES; n++) p[n] = d[n] = 0;
    real alpha = a->alpha[m->h];
    real dalpha = through_weights(p, d, up_to_lanes(count), a->normaliser, alpha, a->learned_alpha,
                                  scratch(OF_A_ROW, 3 * x->ld));
    if (a->learned_alpha) a->dalpha[(m->b * a->H + m->h) * a->T + x->t + i] = dalpha;
    memset(dq, 0, a->d_k * sizeof(real));
    for (int64_t n = 0; n < count; n++) {
        int64_t j = x->j0 + column[n];
        add_scaled(a->d_k, d[n], m->k + j * m->k_row, dq);
        add_scaled(a->d_k, d[n], q, m->dk + j * m->dk_row);
    }
}

static void sparse_positions_row(const item *m, const chunk *x, int64_t i, const int32_t *column, const real *d,
                                 int64_t count) {
    const attention *a = m->a;
    const real *r = x->r + i * a->d_r;
    real *dr = row(a->dr, m->b, m->h, x->t + i);
    memset(dr, 0, a->d_r * sizeof(real));
    for (int64_t n = 0; n < count; n++) {
        int64_t distance = (a->zero + column[n] - nearest_of(m, x, i)) * a->d_r;
        add_scaled(a->d_r, d[n], a->pt + m->h * a->pt_head + distance, dr);
        add_scaled(a->d_r, d[n], r, m->dpt + distance);
    }
}

static void sparse_backward(const item *m, chunk *x, const real *dy, real *dq) {
    const attention *a = m->a;
    int32_t *column = (int32_t *)scratch(COLUMNS_KEPT, x->ld);
    real *p = scratch(KEPT_WEIGHTS, x->ld), *d = scratch(KEPT_GRADIENTS, x->ld), *ds = scratch(SPREAD_GRADIENTS, x->ld);
    for (int64_t i = 0; i < x->c; i++) {
        int64_t from, to, count = nonzeros(m, x, i, column, p);
        sparse_backward_row(m, x, i, column, p, d, count, x->q + i * a->d_k, dy + i * a->dy.row, dq + i * a->dq.row);
        if (a->r.data) sparse_positions_row(m, x, i, column, d, count);
        if (!a->dz.data) continue;
        seen(m, x, i, &from, &to);
        memset(ds, 0, x->ld * sizeof(real));
        for (int64_t n = 0; n < count; n++) ds[column[n]] = d[n];
        *row(a->dz, m->b, m->h, x->t + i) = ramp(m, x, i, from, to, NULL, ds);
    }
}

#endif
