/* Attention of all heads of a layer over what each of them can see, forward and backward.

       s = q k^T + r p^T + log m     P = normalise(select(s))     y = drop(P) v

   An item is a head of a stream, computed by one thread, c queries at a time, so that their scores stay in the
   processor's cache. Scores are c n, with a column for each key j0 .. j0 + n - 1 that any of the queries sees; those of
   r p^T are written askew, since row i sees the distances one column further on. Nothing of the size of the scores is
   kept for the backward pass: they are computed again. */
#include "band.h"
#include "mask.h"
#include "sparse.h"

/* Scores of a chunk, masked. One body for both passes: top-k compares scores of the second with what the first found. */
static __attribute__((noinline)) void masked_scores(const item *m, chunk *x) {
    const attention *a = m->a;
    x->q = scaled(m, x, a->q, a->d_k, QUERIES);
    if (m->kt)
        scores_of(m, x, x->q, a->d_k, a->d_k, m->kt, x->s);
    else
        scores_of_few(m, x);
    if (a->r.data) {
        x->r = scaled(m, x, a->r, a->d_r, POSITION_QUERIES);
        add_positions(m, x);
    }
    for (int64_t i = 0; a->ramp && i < x->c; i++) {
        int64_t from, to;
        seen(m, x, i, &from, &to);
        ramp(m, x, i, from, to, x->s + i * x->ld, NULL);
    }
}

/* The weights of a chunk, row by row: by their normalisation, or as they are remembered. */
static void weights_of(const item *m, chunk *x, int again) {
    const attention *a = m->a;
    masked_scores(m, x);
    int64_t kept = 0;
    real *own = scratch(OF_A_ROW, x->ld + LANES);
    for (int64_t i = 0; i < x->c; i++) {
        int64_t from, to;
        seen(m, x, i, &from, &to);
        real *s = x->s + i * x->ld, alpha = a->alpha[m->h];
        remembered *known = a->rows + (m->b * a->H + m->h) * a->T + x->t + i;
        int64_t n = up_to_lanes(to - from);
        fill(s + to, s + to + LANES, -INFINITY);
        if (again)
            weigh(s + from, n, a->normaliser, alpha, *known);
        else
            *known = normalise(s + from, n, a->kept, a->normaliser, alpha, own);
        if (from) memset(s, 0, from * sizeof(real));
        fill(s + to, s + x->ld, 0);
        if (a->kept || alpha > 1) kept += count_from(s + from, up_to_lanes(to - from), SMALLEST);
    }
    /* a weight costs some hundred times as much alone as a term of a product */
    x->sparse = (a->kept || a->alpha[m->h] > 1) && kept * 256 < x->c * x->count * (a->d_k + a->d_v);
}

static void forward_chunk(const item *m, chunk *x) {
    const attention *a = m->a;
    weights_of(m, x, 0);
    for (int64_t i = 0; a->drop && i < x->c; i++) {
        int64_t from, to;
        seen(m, x, i, &from, &to);
        drop_row(m, x, i, from, to, x->s + i * x->ld);
    }
    real *y = row(a->y, m->b, m->h, x->t);
    if (x->sparse)
        sparse_forward(m, x, y);
    else
        weighted(m, x, x->s, m->v, m->v_row, a->d_v, y, a->y.row);
}

/* dp becomes ds, row by row, and the weights those after dropout; gradients of z and alpha. */
static void rows_backward(const item *m, chunk *x) {
    const attention *a = m->a;
    for (int64_t i = 0; i < x->c; i++) {
        int64_t from, to, index = (m->b * a->H + m->h) * a->T + x->t + i;
        seen(m, x, i, &from, &to);
        real *p = x->s + i * x->ld, *d = x->d + i * x->ld;
        if (a->drop) drop_row(m, x, i, from, to, d);
        if (from) memset(d, 0, from * sizeof(real));
        fill(d + to, d + x->ld, 0);
        real alpha = a->alpha[m->h];
        real dalpha = through_weights(p + from, d + from, up_to_lanes(to - from), a->normaliser, alpha,
                                      a->learned_alpha, scratch(OF_A_ROW, 3 * x->ld));
        if (a->learned_alpha) a->dalpha[index] = dalpha;
        if (a->dz.data) *row(a->dz, m->b, m->h, x->t + i) = ramp(m, x, i, from, to, NULL, d);
        if (a->drop) drop_row(m, x, i, from, to, p);
    }
}

/* dr = ds p and dp += r^T ds, along the distances. */
static void positions_backward(const item *m, chunk *x) {
    const attention *a = m->a;
    int64_t column = a->zero + 1 - (a->kind == STREAM ? x->count : x->back + 1);
    const real *pt = a->pt + m->h * a->pt_head + column * a->d_r;
    product(x->c, a->d_r, x->count, x->d, x->ld + 1, 1, pt, a->d_r, row(a->dr, m->b, m->h, x->t), a->dr.row, 0);
    product(x->count, a->d_r, x->c, x->d, 1, x->ld + 1, x->r, a->d_r,
            m->dpt + column * a->d_r, a->d_r, 1);
}

static void dense_backward(const item *m, chunk *x, const real *dy, real *dq) {
    const attention *a = m->a;
    scores_of(m, x, dy, a->dy.row, a->d_v, m->vt, x->d);
    rows_backward(m, x);
    spread(m, x, x->s, dy, a->dy.row, a->d_v, m->dv, m->dv_row);
    weighted(m, x, x->d, m->k, m->k_row, a->d_k, dq, a->dq.row);
    spread(m, x, x->d, x->q, a->d_k, a->d_k, m->dk, m->dk_row);
    if (a->r.data) positions_backward(m, x);
}

static void backward_chunk(const item *m, chunk *x) {
    const attention *a = m->a;
    weights_of(m, x, 1);
    (x->sparse ? sparse_backward : dense_backward)(m, x, row(a->dy, m->b, m->h, x->t), row(a->dq, m->b, m->h, x->t));
    scale_back(m, x, a->dq, a->d_k);
    if (a->r.data) scale_back(m, x, a->dr, a->d_r);
}

/* Queries that see no key, and those of padding, give 0. */
static void blank(const item *m, int64_t t, int64_t stop) {
    const attention *a = m->a;
    for (; t < stop; t++) {
        if (!a->grad) memset(row(a->y, m->b, m->h, t), 0, a->d_v * sizeof(real));
        if (a->grad) memset(row(a->dq, m->b, m->h, t), 0, a->d_k * sizeof(real));
        if (a->grad && a->r.data) memset(row(a->dr, m->b, m->h, t), 0, a->d_r * sizeof(real));
    }
}

static item item_at(const attention *a, int64_t index, real *dpt) {
    item m = {.a = a, .b = index % a->B, .h = index / a->B, .dpt = dpt};
    m.keys = a->lengths ? a->lengths[m.b] : a->keys[m.h];
    m.own = a->kind == STREAM ? a->keys[m.h] - a->T + a->attends_self : 0;
    int64_t k = a->k.first[m.h] + m.b * a->k.stream[m.h], v = a->v.first[m.h] + m.b * a->v.stream[m.h];
    m.k = a->k.data + k, m.k_row = a->k.row[m.h];
    m.v = a->v.data + v, m.v_row = a->v.row[m.h];
    if (a->grad) { /* tensors of their own, whose strides may be others than those of keys and values */
        m.dk = a->dk.data + a->dk.first[m.h] + m.b * a->dk.stream[m.h], m.dk_row = a->dk.row[m.h];
        m.dv = a->dv.data + a->dv.first[m.h] + m.b * a->dv.stream[m.h], m.dv_row = a->dv.row[m.h];
    }
    m.queries = a->kind == SENTENCE ? m.keys : a->T;
    m.c = queries_at_once(a->kind == CROSS ? m.keys : chunk_at(&m, 0, m.queries).count);
    int64_t last = 0;
    for (int64_t t = 0; t < m.queries; t += m.c) {
        chunk x = chunk_at(&m, t, m.c);
        m.first_key = t ? lowest(m.first_key, x.j0) : x.j0;
        last = highest(last, x.j0 + x.ld);
        m.widest = highest(m.widest, x.ld);
    }
    m.columns = last - m.first_key + LANES;
    return m;
}

/* Rows of d numbers side by side, from where they lie far apart: they are read again for every chunk. */
static real *gathered(int slot, const real *rows, int64_t row_of, int64_t count, int64_t d) {
    real *out = scratch(slot, count * d);
    for (int64_t j = 0; j < count; j++) memcpy(out + j * d, rows + j * row_of, d * sizeof(real));
    return out;
}

static real *zeros(int slot, int64_t count) { return memset(scratch(slot, count), 0, count * sizeof(real)); }

static void scatter(const real *rows, int64_t count, int64_t d, real *out, int64_t row_of) {
    for (int64_t j = 0; j < count; j++) memcpy(out + j * row_of, rows + j * d, d * sizeof(real));
}

static void compute(const attention *a, int64_t index, real *dpt) {
    item m = item_at(a, index, dpt);
    m.kt = !a->alone || m.queries > FEW ? transposed(&m, KEYS, m.k, m.k_row, a->d_k) : NULL;
    if (a->grad) m.vt = transposed(&m, VALUES, m.v, m.v_row, a->d_v);
    item there = m; /* keys, values and their gradients where they lie */
    if (m.queries > FEW) {
        m.k = gathered(KEY_ROWS, m.k, m.k_row, m.keys, a->d_k), m.k_row = a->d_k;
        m.v = gathered(VALUE_ROWS, m.v, m.v_row, m.keys, a->d_v), m.v_row = a->d_v;
    }
    if (a->grad && m.queries > FEW) {
        m.dk = zeros(DKEYS, m.keys * a->d_k), m.dk_row = a->d_k;
        m.dv = zeros(DVALUES, m.keys * a->d_v), m.dv_row = a->d_v;
    }
    m.ramps = scratch(RAMPS, 4 * table_size(a));
    int64_t size = m.c * (m.widest + 1) + LANES;
    for (int64_t t = 0; t < m.queries; t += m.c) {
        chunk x = chunk_at(&m, t, m.c);
        x.s = scratch(SCORES, size);
        x.d = a->grad ? scratch(GRADIENTS, size) : NULL;
        if (x.count < 1)
            blank(&m, t, t + x.c);
        else
            (a->grad ? backward_chunk : forward_chunk)(&m, &x);
    }
    blank(&m, m.queries, a->T);
    if (!a->grad || m.queries <= FEW) return;
    scatter(m.dk, m.keys, a->d_k, there.dk, there.dk_row);
    scatter(m.dv, m.keys, a->d_v, there.dv, there.dv_row);
}

/* What an item costs, in keys. */
static int64_t cost_of(const attention *a, int64_t index) {
    int64_t b = index % a->B, h = index / a->B;
    return 32 + (a->kind == CROSS ? a->keys[h] : lowest(a->keys[h], reach_of(a, b, h, 0, a->T)));
}

enum { PARTS = 16 }; /* of the items, of equal cost: what is summed over items is summed by part, whoever computes it */

/* Whether item i is the first of its part, or of its part with these position keys. */
static int begins(const attention *a, int64_t i, int64_t start) { return i == start || (a->dpt_head && i % a->B == 0); }

/* Forward where a->grad is 0, else backward. Items of a head lie side by side; dpt is summed over those of a part and
   of a head, and then over all of these, in their order. */
void attend(const attention *a) {
    int64_t items = a->B * a->H, total = 0, start[PARTS + 1] = {0};
    for (int64_t i = 0; i < items; i++) total += cost_of(a, i);
    for (int64_t i = 0, before = 0; i < items; i++) {
        int64_t cost = cost_of(a, i), part = (2 * before + cost) * PARTS / (2 * total);
        for (before += cost; part < PARTS; part++) start[part + 1] = i + 1;
    }
    real *sums = a->dpt ? scratch(POSITION_SUMS, (PARTS + a->H) * a->dpt_size) : NULL;
#pragma omp parallel for schedule(dynamic) num_threads(a->threads) if (a->threads > 1)
    for (int64_t part = 0; part < PARTS; part++)
        for (int64_t i = start[part]; i < start[part + 1]; i++) {
            real *own = sums + (part + (a->dpt_head ? i / a->B : 0)) * a->dpt_size;
            if (a->dpt && begins(a, i, start[part])) memset(own, 0, a->dpt_size * sizeof(real));
            compute(a, i, own);
        }
    for (int64_t part = 0; a->dpt && part < PARTS; part++)
        for (int64_t i = start[part]; i < start[part + 1]; i++) {
            if (!begins(a, i, start[part])) continue;
            int64_t h = a->dpt_head ? i / a->B : 0;
            const real *own = sums + (part + h) * a->dpt_size;
            for (int64_t j = 0; j < a->dpt_size; j++) a->dpt[h * a->dpt_head + j] += own[j];
        }
}

int64_t lanes(void) { return LANES; }

int64_t bytes(void) { return BYTES; } /* of a vector */

int64_t size_of_attention(void) { return sizeof(attention); }
