/* The ramp of learned spans, and dropout. Part of attention.c. */
#ifndef MASK_H
#define MASK_H

#include "pattern.h"

/* Numbers of a table of the ramp: R + 1, and zeros up to a whole round of the lanes and one more. */
static inline int64_t table_size(const attention *a) { return up_to_lanes(a->ramp + 1) + LANES; }

/* log m (or, with `slope`, its derivative in z) where the ramp begins at the distance ceil(z) and R on: R + 1 numbers
   with the nearest first, and again with the farthest first. -inf (or 0) where m is 0. */
static void ramp_table(const attention *a, real z, int slope, real *near_first) {
    int64_t R = a->ramp;
    real *far_first = near_first + table_size(a), least = ceil(z) - z;
    for (int64_t n = 0; n <= R; n++) {
        real mask = (R - least - n) / R; /* at most 1 */
        if (slope)
            near_first[n] = mask > 0 ? 1 / (R * mask) : 0;
        else
            near_first[n] = mask > 0 ? logarithm(mask > 0 ? mask : 1) : -INFINITY;
    }
    for (int64_t n = 0; n <= R; n++) far_first[n] = near_first[R - n];
    for (int64_t n = R + 1; n < table_size(a); n++) near_first[n] = far_first[n] = 0;
}

/* Adds log m to the columns from..to of row i, or for the backward pass gives dz from ds. */
static real ramp(const item *m, const chunk *x, int64_t i, int64_t from, int64_t to, real *s, const real *ds) {
    const attention *a = m->a;
    real z = *row(a->z, m->b, m->h, x->t + i), *near_first = m->ramps + (ds ? 2 * table_size(a) : 0);
    if (a->z.row || !(x->t + i)) ramp_table(a, z, ds != NULL, near_first); /* else as for the first query */
    const real *far_first = near_first + table_size(a);
    for (int64_t j = from; z != z && !ds && j < to; j++) s[j] = NAN;
    if (z != z) return NAN;
    int64_t nearest = nearest_of(m, x, i), flat = flat_of(a, z);
    int64_t left = highest(from, lowest(to, nearest - flat + 1)), right = highest(left, nearest + flat);
    int64_t farthest_left = nearest - flat - a->ramp, farthest_right = nearest + flat + a->ramp;
    /* what is hidden is -inf, whatever its score: adding -inf would make NaN of +inf */
    for (int64_t j = from; !ds && j < lowest(left, farthest_left + 1); j++) s[j] = -INFINITY;
    int64_t start = highest(from, farthest_left), stop = highest(right, lowest(to, farthest_right));
    far_first += start - farthest_left, near_first += right - nearest - flat;
    if (ds) /* beyond the ramp the tables have zeros */
        return dot(up_to_lanes(highest(0, left - start)), ds + start, far_first) +
               dot(up_to_lanes(stop - right), ds + right, near_first);
    for (int64_t j = highest(start, farthest_left + 1); j < left; j++) s[j] += far_first[j - start];
    for (int64_t j = right; j < stop; j++) s[j] += near_first[j - right];
    for (int64_t j = highest(right, farthest_right); j < to; j++) s[j] = -INFINITY;
    return 0;
}

/* A number that looks random, the same in both passes. */
static inline uint32_t hash(uint32_t x) {
    x ^= x >> 16, x *= 0x85ebca6bu;
    x ^= x >> 13, x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

static inline uint32_t drop_seed(const item *m, int64_t t) {
    const attention *a = m->a;
    uint32_t of_item = hash((uint32_t)(a->seed >> 32) + (uint32_t)(m->b * a->H + m->h));
    return hash(hash((uint32_t)a->seed ^ of_item) + (uint32_t)t);
}

/* 0 or 1 / (1 - drop), for the key j. */
static inline real drop_factor(const attention *a, uint32_t seed, int64_t j) {
    return hash(seed ^ (uint32_t)j * 0x9e3779b9u) >= (uint32_t)(a->drop * 4294967295.0) ? 1 / (1 - a->drop) : 0;
}

/* Dropout on the columns from .. to of row i. */
static void drop_row(const item *m, const chunk *x, int64_t i, int64_t from, int64_t to, real *s) {
    uint32_t seed = drop_seed(m, x->t + i);
    for (int64_t j = from; j < to; j++) s[j] *= drop_factor(m->a, seed, x->j0 + j);
}

#endif
