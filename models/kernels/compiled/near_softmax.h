/* alpha-entmax near softmax, where a power of 1 / e has lost its digits, e = alpha - 1; the formulas: entmax_alpha.py. */
#ifndef NEAR_SOFTMAX_H
#define NEAR_SOFTMAX_H

#include "vector.h"

#define NEAR ((real)1 / 256)

/* n, as the compiler sees that it is whole vectors. */
static inline int64_t whole(int64_t n) { return n & -LANES; }

/* ln(1 + e u) / e for u up to 0, u itself where e is 0; in 32 bits as 2 artanh(e u / (2 + e u)) / e, and no lower than at
   u = -100, where nothing is left of e^u. */
static inline real log_weight(real u, real e) {
    if (sizeof(real) == 8) return e > 0 ? log1p(e * u < -1 ? -1 : e * u) / e : u;
    u = u < -100 ? -100 : u;
    real y = 2 + e * u, t = e * u / y, t2 = t * t;
    return 2 * u / y * (1 + t2 * ((real)1 / 3 + t2 * ((real)1 / 5 + t2 * ((real)1 / 7 + t2 / 9))));
}

/* tau of a row, by Newton's method on the logarithm of the sum, from softmax's. */
static real solve_near(const real *s, int64_t n, real e, real tau) {
    n = whole(n);
    for (int step = 0; step < 6; step++) {
        real total = 0, slope = 0;
        for (int64_t i = 0; i < n; i++) {
            real log_p = log_weight(s[i] - tau, e);
            total += exponential(log_p);
            slope += exponential((1 - e) * log_p);
        }
        tau += logarithm(total) * total / slope;
    }
    return tau;
}

/* The gradient of alpha; r: n numbers of scratch. */
static real dalpha_near(const real *p, const real *dp, int64_t n, real e, real *r) {
    n = whole(n);
    real R = 0, H = 0, dalpha = 0;
    for (int64_t i = 0; i < n; i++) {
        real log_p = p[i] > 0 ? logarithm(p[i]) : 0, y = -e * log_p, terms = 1;
        for (int k = 8; k > 2; k--) terms = 1 + y / k * terms;
        r[i] = log_p * log_p * terms / 2;
        R += p[i] * r[i];
        H -= p[i] * log_p;
    }
    for (int64_t i = 0; i < n; i++) {
        real log_p = p[i] > 0 ? logarithm(p[i]) : 0;
        dalpha += dp[i] * p[i] * (R * (1 - e * log_p) - r[i] * (1 + e * H));
    }
    return dalpha / (1 + e * (H + e * R));
}

#endif
