/* What an item of attention is, and its pattern: which keys its queries see. Part of attention.c. */
#ifndef PATTERN_H
#define PATTERN_H

#include "rows.h"

enum { STREAM, SENTENCE, CROSS };

/* A tensor of all streams, heads and rows, each row contiguous; where heads have rows of their own, `first` is each
   head's first number and `stream` and `row` its strides. */
typedef struct {
    real *data;
    const int64_t *first, *stream, *row;
} by_head;

typedef struct {
    real *data;
    int64_t stream, head, row;
} rows_of;

typedef struct {
    int64_t B, H, T, d_k, d_r, d_v, kind, attends_self, reach, kept, ramp, limit, normaliser, learned_alpha, threads;
    int64_t grad, alone; /* the way back; forward with no way back, which may compute scores otherwise */
    const int64_t *keys, *lengths; /* keys by head; by stream, those that are no padding, or NULL */
    rows_of q, r, y, dy, dq, dr, z, dz; /* r: d_r wide, NULL without positions; z: stride 0 where it is the same for all */
    by_head k, v, dk, dv;
    const real *p, *pt; /* position keys by head, d_r columns (padded by LANES) and columns d_r; column `zero`: x = 1 */
    int64_t p_row, p_head, pt_head, zero;
    real *dpt; /* zeros before; columns d_r, dpt_size numbers, by head or for all heads */
    int64_t dpt_head, dpt_size;
    const real *alpha;
    real *dalpha; /* B H T, as z's */
    remembered *rows; /* B H T */
    double scale, drop; /* scale: of queries */
    uint64_t seed;
} attention;

/* A head of a stream; c queries at a time, `widest` numbers a row of scores at most. first_key: the key of column 0 of
   kt and vt, the transposes of keys and values; kt: NULL for few queries. */
typedef struct {
    const attention *a;
    int64_t b, h, own, keys, queries, c, first_key, columns, widest;
    const real *k, *v;
    real *kt, *vt, *dk, *dv, *dpt, *ramps; /* ramps: tables of the ramp for one z */
    int64_t k_row, v_row, dk_row, dv_row;
} item;

/* c queries from t; they see n keys from j0, each of them `count`, of which `back` before its own column. */
typedef struct {
    int64_t t, c, j0, n, ld, count, back, sparse;
    real *q, *r, *s, *d; /* queries times scale, c dk; weights and their gradients, c ld */
} chunk;

static inline real *row(rows_of x, int64_t b, int64_t h, int64_t t) {
    return x.data + b * x.stream + h * x.head + t * x.row;
}

/* The whole number that z is rounded up to, as far as it changes the mask: a number that diverges would not fit. */
static inline int64_t flat_of(const attention *a, real z) {
    return (int64_t)ceil(z > a->limit ? a->limit : z < -a->ramp ? -a->ramp : z);
}

/* How many keys the farthest-seeing of queries t .. t + c - 1 can see, itself included where it sees itself. */
static int64_t reach_of(const attention *a, int64_t b, int64_t h, int64_t t, int64_t c) {
    if (!a->ramp) return a->reach;
    real z = 0;
    for (int64_t i = t; i < t + (a->z.row ? c : 1); i++) {
        real other = *row(a->z, b, h, i);
        z = other > z ? other : z;
    }
    return lowest(a->reach, lowest(flat_of(a, z) + a->ramp, a->limit));
}

/* The first key that query t sees, before the ends of the sequence cut it. */
static inline int64_t first_of(const item *m, const chunk *x, int64_t t) {
    return m->a->kind == CROSS ? 0 : t + m->own - x->back;
}

static chunk chunk_at(const item *m, int64_t t, int64_t c) {
    const attention *a = m->a;
    chunk x = {.t = t, .c = lowest(c, m->queries - t)};
    int64_t reach = reach_of(a, m->b, m->h, t, x.c);
    if (a->kind == CROSS) {
        x.count = x.n = m->keys;
    } else if (a->kind == SENTENCE) {
        reach = lowest(reach, highest(t + x.c, m->keys - t));
        x.back = reach - 1;
        x.count = 2 * reach - 1;
    } else {
        reach = lowest(reach, t + x.c - 1 + m->own);
        x.back = x.count = highest(reach, 0);
    }
    x.j0 = first_of(m, &x, t);
    x.n = a->kind == CROSS ? x.n : x.count + x.c - 1;
    x.ld = up_to_lanes(x.n) + LANES;
    return x;
}

/* The column at which row i has x = 1. */
static inline int64_t nearest_of(const item *m, const chunk *x, int64_t i) {
    return x->t + i + m->own - x->j0 - (m->a->kind == STREAM);
}

/* The columns of a chunk that row i sees: from `from` up to `to`, at least none. */
static inline void seen(const item *m, const chunk *x, int64_t i, int64_t *from, int64_t *to) {
    int64_t first = first_of(m, x, x->t + i) - x->j0;
    *from = highest(first, -x->j0);
    *to = highest(*from, lowest(first + x->count, m->keys - x->j0));
}

/* How many queries at a time, so that two tables of scores fit into a megabyte. */
static int64_t queries_at_once(int64_t reach) {
    for (int64_t c = 96; c > 24; c -= 12)
        if (c * (reach + c) * (int64_t)sizeof(real) <= 1 << 19) return c;
    return 24;
}

/* The keys of a block of rows that exist. */
static inline void keys_of(const item *m, const chunk *x, int64_t i, int64_t rows, int64_t *from, int64_t *to) {
    int64_t unused;
    seen(m, x, i, from, &unused);
    seen(m, x, i + rows - 1, &unused, to);
    *to = highest(*from, *to);
}

#endif
