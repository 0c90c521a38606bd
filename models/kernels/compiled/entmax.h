/* alpha-entmax of a learned alpha, e = alpha - 1 from 0 on (normalisers/entmax_alpha.py). Part of attention.c.

   ln p = ln(1 + e u) / e,  u = s - most - tau, where e is so near 0 that a power of 1 / e has lost its digits
   dp_i / dalpha = p_i [R (1 - e L_i) - r_i (1 + e H)] / (1 + e (H + e R))   for every e
   L = ln p,  r = (exp(-e L) - 1 + e L) / e^2,  R = sum p r,  H = -sum p L */
#ifndef ENTMAX_H
#define ENTMAX_H

#include "vector.h"

#define NEAR ((real)1 / 256)

static inline real power(real x, real exponent) {
    return x > 0 ? exponential(exponent * logarithm(x > 0 ? x : 1)) : 0;
}

/* ln(1 + e u) / e for u up to 0, u itself where e is 0; in 32 bits as 2 artanh(e u / (2 + e u)) / e, and no lower than at
   u = -100, where nothing is left of e^u. */
static inline real log_weight(real u, real e) {
    if (sizeof(real) == 8) return e > 0 ? log1p(e * u < -1 ? -1 : e * u) / e : u;
    u = u < -100 ? -100 : u;
    real y = multiply_add(e, u, 2), t = e * u / y, t2 = t * t;
    real series = multiply_add(t2, multiply_add(t2, multiply_add(t2, (real)1 / 9, (real)1 / 7), (real)1 / 5), (real)1 / 3);
    return 2 * u / y * multiply_add(t2, series, 1);
}

/* tau of a row, by Newton's method on the logarithm of the sum, from softmax's. */
static real solve_near(const real *s, int64_t n, real e, real most, real tau) {
    for (int step = 0; step < 6; step++) {
        vector total[WORDS] = {0}, slope[WORDS] = {0};
        for (int64_t i = 0; i < whole(n); i += LANES) {
            real p[LANES], q[LANES];
            for (int l = 0; l < LANES; l++) {
                real log_p = log_weight(s[i + l] - most - tau, e);
                p[l] = exponential(log_p);
                q[l] = exponential((1 - e) * log_p);
            }
            add_lanes(total, p);
            add_lanes(slope, q);
        }
        real all = folded(total);
        tau += logarithm(all) * all / folded(slope);
    }
    return tau;
}

static inline real log_of(real p) { return p > 0 ? logarithm(p > 0 ? p : 1) : 0; }

/* r of a weight whose logarithm is log_p, y = -e log_p: by its series where exp(y) - 1 - y would lose digits.
   over_square: 1 / e^2, or 0 where e is. */
static inline real r_of(real log_p, real y, real exp_y, real over_square) {
    real terms = 1;
    for (int k = sizeof(real) == 8 ? 18 : 10; k > 2; k--) terms = multiply_add(y * ((real)1 / k), terms, 1);
    return y > 1 ? (exp_y - 1 - y) * over_square : log_p * log_p * terms * (real).5;
}

/* The gradient of alpha. w: n numbers that become p^(1 - e), and 2 n of scratch behind them. */
static real dalpha_of(const real *p, const real *dp, int64_t n, real e, real *w) {
    real *r = w + n, *logs = r + n;
    real over_square = e > 0 ? 1 / (e * e) : 0;
    vector r_sum[WORDS] = {0}, entropy[WORDS] = {0}, along[WORDS] = {0};
    for (int64_t i = 0; i < whole(n); i += LANES) {
        real pr[LANES], own[LANES];
        for (int l = 0; l < LANES; l++) {
            real log_p = log_of(p[i + l]), y = -e * log_p, exp_y = exponential(y);
            logs[i + l] = log_p;
            w[i + l] = p[i + l] * exp_y;
            r[i + l] = r_of(log_p, y, exp_y, over_square);
            pr[l] = p[i + l] * r[i + l];
            own[l] = -p[i + l] * log_p;
        }
        add_lanes(r_sum, pr);
        add_lanes(entropy, own);
    }
    real R = folded(r_sum), H = folded(entropy);
    for (int64_t i = 0; i < whole(n); i += LANES) {
        real term[LANES];
        for (int l = 0; l < LANES; l++)
            term[l] = p[i + l] * (R * multiply_add(-e, logs[i + l], 1) - r[i + l] * multiply_add(e, H, 1));
        add_products(along, term, dp + i);
    }
    return folded(along) / multiply_add(e, multiply_add(e, R, H), 1);
}

#endif
