/* From a row of scores to its weights, and back: the k best of a row, and alpha-entmax, softmax where alpha is 1.

   p = [(alpha - 1) s - tau]_+ ^ (1 / (alpha - 1))        p = exp(s - tau) where alpha is 1

   A row is remembered by two numbers, its threshold and tau, from which the scores give the weights again. Rows are
   whole vectors long, -inf behind their last score and 0 behind their last gradient. */
#ifndef ROWS_H
#define ROWS_H

#include "vector.h"

typedef struct {
    real threshold, tau;
} remembered;

/* n, as the compiler sees that it is whole vectors. */
static inline int64_t whole(int64_t n) { return n & -LANES; }

static inline real maximum(const real *s, int64_t n) {
    n = whole(n);
    real most = -INFINITY;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < n; i++) most = s[i] > most ? s[i] : most;
    return most;
}

/* How many scores are at least `bound`; a sum of reals, which compilers turn into vectors. */
static inline int64_t count_from(const real *s, int64_t n, real bound) {
    n = whole(n);
    real count = 0;
    for (int64_t i = 0; i < n; i++) count += s[i] >= bound ? (real)1 : (real)0;
    return count;
}

/* The least score that is at least `bound`. */
static inline real least_from(const real *s, int64_t n, real bound) {
    real least = INFINITY;
#pragma omp simd reduction(min : least)
    for (int64_t i = 0; i < n; i++) least = s[i] >= bound && s[i] < least ? s[i] : least;
    return least;
}

/* The k-th largest of n scores, the largest of which is `most`; -inf where no more than k are finite. By halving the
   range in which it lies, which ends with k scores above or with no number in between: about ten looks at the row. */
static real kth_largest(const real *s, int64_t n, int64_t k, real most) {
    n = whole(n);
    real low = least_from(s, n, sizeof(real) == 8 ? -1e300 : -3e38), high = most;
    if (count_from(s, n, low) <= k) return -INFINITY;
    if (count_from(s, n, high) >= k) return high;
    for (;;) {
        real middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) return least_from(s, n, low);
        int64_t count = count_from(s, n, middle);
        if (count == k) return least_from(s, n, middle);
        *(count > k ? &low : &high) = middle;
    }
}

static inline int any_nan(const real *s, int64_t n) {
    n = whole(n);
    real count = 0;
    for (int64_t i = 0; i < n; i++) count += s[i] != s[i] ? (real)1 : (real)0;
    return count > 0;
}

static inline real power(real x, real exponent) {
    return x > 0 ? exponential(exponent * logarithm(x)) : 0;
}

/* How far Newton's method climbs from tau, for x = [z - tau]_+ (models/attention/normalisers). */
static real newton_move(const real *z, int64_t n, real tau, real alpha) {
    n = whole(n);
    real total = 0, slope = 0, r = 1 / (alpha - 1) - 1;
    if (alpha == 2) {
        for (int64_t i = 0; i < n; i++) {
            real x = z[i] - tau;
            total += x > 0 ? x : 0;
            slope += x > 0 ? 1 : 0;
        }
        return (total - 1) / slope;
    }
    if (alpha == (real)1.5) {
        for (int64_t i = 0; i < n; i++) {
            real x = z[i] - tau > 0 ? z[i] - tau : 0;
            total += x * x;
            slope += x;
        }
        real norm = sqrt(total);
        return (norm - 1) * norm / slope;
    }
    for (int64_t i = 0; i < n; i++) {
        real x = z[i] - tau > 0 ? z[i] - tau : 0, s = power(x, r);
        total += s * x;
        slope += s;
    }
    return (total - power(total, 2 - alpha)) / slope;
}

/* Scores become their softmax in place; gives tau. */
static real softmax(real *s, int64_t n, real most) {
    n = whole(n);
    real total = 0;
    for (int64_t i = 0; i < n; i++) total += s[i] = exponential(s[i] - most);
    real scale = 1 / total;
    for (int64_t i = 0; i < n; i++) s[i] *= scale;
    return most + logarithm(total);
}

/* Only what can have a weight, as tau is at least the largest - 1 = -1; gives its length, whole vectors. */
static int64_t compress(real *z, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        z[count] = z[i];
        count += z[i] > -1;
    }
    for (; count % LANES; count++) z[count] = -2;
    return count;
}

/* tau of a row whose largest score is `most`, alpha above 1; z: n + LANES numbers of scratch. */
static real solve(const real *s, int64_t n, real alpha, real most, real *z) {
    n = whole(n);
    for (int64_t i = 0; i < n; i++) z[i] = (alpha - 1) * (s[i] - most);
    if (alpha != (real)1.5 && alpha != 2) n = compress(z, n); /* powers are dear */
    real tau = -1, least = 4 * (sizeof(real) == 8 ? 2.220446e-16 : 1.1920929e-7);
    for (int step = 0; step < 50; step++) {
        real move = newton_move(z, n, tau, alpha);
        if (!(move > least)) break;
        tau += move;
    }
    return tau + (alpha - 1) * most;
}

/* Scores become weights in place. */
static void weigh(real *s, int64_t n, real alpha, remembered row) {
    n = whole(n);
    real threshold = row.threshold, tau = row.tau;
    if (threshold == INFINITY || threshold != threshold) { /* no key is seen, or a score is not a number */
        for (int64_t i = 0; i < n; i++) s[i] = threshold == INFINITY ? 0 : NAN;
        return;
    }
    if (alpha == 1) {
        for (int64_t i = 0; i < n; i++) s[i] = s[i] >= threshold ? exponential(s[i] - tau) : 0;
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        real x = (alpha - 1) * s[i] - tau;
        s[i] = s[i] >= threshold && x > 0 ? x : 0;
    }
    if (alpha == 2) return;
    if (alpha == (real)1.5) {
        for (int64_t i = 0; i < n; i++) s[i] *= s[i];
        return;
    }
    real total = 0;
    for (int64_t i = 0; i < n; i++) total += s[i] = power(s[i], 1 / (alpha - 1));
    for (int64_t i = 0; i < n; i++) s[i] /= total;
}

/* Scores become weights in place; k: how many are kept, 0 for all. scratch: n + LANES numbers. */
static remembered normalise(real *s, int64_t n, int64_t k, real alpha, real *scratch) {
    remembered row = {-INFINITY, 0};
    real most = maximum(s, n);
    if (any_nan(s, n)) {
        for (int64_t i = 0; i < n; i++) s[i] = NAN;
        return (remembered){NAN, NAN}; /* a run that diverges must show it */
    }
    if (most == -INFINITY) {
        memset(s, 0, n * sizeof(real));
        return (remembered){INFINITY, 0}; /* no key is seen */
    }
    if (k) row.threshold = kth_largest(s, n, k, most);
    if (row.threshold > -INFINITY)
        for (int64_t i = 0; i < n; i++) s[i] = s[i] >= row.threshold ? s[i] : -INFINITY;
    if (alpha == 1) {
        row.tau = softmax(s, n, most);
    } else {
        row.tau = solve(s, n, alpha, most, scratch);
        weigh(s, n, alpha, row);
    }
    return row;
}

/* dp becomes ds in place: ds = w (dp - (w . dp) / sum w), w = p ^ (2 - alpha). Gives the gradient of alpha. */
static real through_weights(const real *p, real *dp, int64_t n, real alpha, int learned, real *w) {
    n = whole(n);
    if (alpha == 1)
        w = (real *)p;
    else if (alpha == 2)
        for (int64_t i = 0; i < n; i++) w[i] = p[i] > 0 ? 1 : 0;
    else if (alpha == (real)1.5)
        for (int64_t i = 0; i < n; i++) w[i] = sqrt(p[i]);
    else
        for (int64_t i = 0; i < n; i++) w[i] = power(p[i], 2 - alpha);
    real along = 0, total = 0, dalpha = 0;
    for (int64_t i = 0; i < n; i++) along += w[i] * dp[i], total += w[i];
    if (total == 0) {
        memset(dp, 0, n * sizeof(real));
        return 0;
    }
    if (learned && alpha > 1) { /* dp_i / dalpha, models/attention/normalisers/entmax_alpha.py */
        real entropy = 0, scale = 1 / (alpha - 1);
        for (int64_t i = 0; i < n; i++) entropy -= p[i] > 0 ? p[i] * logarithm(p[i]) : 0;
        for (int64_t i = 0; i < n; i++) {
            real q = w[i] / total, own = p[i] > 0 ? -p[i] * logarithm(p[i]) : 0;
            dalpha += dp[i] * ((p[i] - q) * scale * scale + (own - q * entropy) * scale);
        }
    }
    for (int64_t i = 0; i < n; i++) dp[i] = w[i] * (dp[i] - along / total);
    return dalpha;
}

#endif
