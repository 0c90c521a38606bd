/* From a row of scores to its weights, and back: the k best of a row, and alpha-entmax, softmax where alpha is 1.

   p = [(alpha - 1) (s - most) - tau]_+ ^ (1 / (alpha - 1))        p = exp(s - most) / tau where alpha is 1

   A row is remembered by three numbers, its threshold, its largest score and tau, from which the scores give the weights
   again. The largest is kept apart: added to tau, it would take its digits where all scores are large. Rows are whole
   rounds of the lanes long, -inf behind their last score and 0 behind their last gradient. */
#ifndef ROWS_H
#define ROWS_H

#include "entmax.h"

typedef struct {
    real threshold, most, tau;
} remembered;

/* a where `is`, else b. */
static inline vector choose(mask is, vector a, vector b) { return (vector)((is & (mask)a) | (~is & (mask)b)); }

static inline real maximum(const real *s, int64_t n) {
    vector all[WORDS];
    for (int w = 0; w < WORDS; w++) all[w] = -INFINITY - (vector){0};
    for (int64_t i = 0; i < whole(n); i += LANES)
        for (int w = 0; w < WORDS; w++) all[w] = choose(word(s + i, w) > all[w], word(s + i, w), all[w]);
    real most = -INFINITY, lane[LANES];
    memcpy(lane, all, sizeof lane);
    for (int l = 0; l < LANES; l++) most = lane[l] > most ? lane[l] : most;
    return most;
}

/* How many scores are at least `bound`. */
static inline int64_t count_from(const real *s, int64_t n, real bound) {
    whole_number count = 0;
    for (int64_t i = 0; i < whole(n); i++) count += s[i] >= bound;
    return count;
}

/* The least score that is at least `bound`. */
static inline real least_from(const real *s, int64_t n, real bound) {
    vector all[WORDS];
    for (int w = 0; w < WORDS; w++) all[w] = INFINITY - (vector){0};
    for (int64_t i = 0; i < whole(n); i += LANES)
        for (int w = 0; w < WORDS; w++) {
            vector x = word(s + i, w);
            all[w] = choose((x >= bound) & (x < all[w]), x, all[w]);
        }
    real least = INFINITY, lane[LANES];
    memcpy(lane, all, sizeof lane);
    for (int l = 0; l < LANES; l++) least = lane[l] < least ? lane[l] : least;
    return least;
}

/* The k-th largest of n scores, the largest of which is `most`; -inf where no more than k are finite. By halving the
   range in which it lies, which ends with k scores above or with no number in between: about ten looks at the row. */
static real kth_largest(const real *s, int64_t n, int64_t k, real most) {
    real low = least_from(s, n, -LARGEST), high = most;
    if (count_from(s, n, low) <= k) return -INFINITY;
    if (count_from(s, n, high) >= k) return high;
    for (;;) {
        real middle = low + (high / 2 - low / 2); /* high - low may be beyond the largest number */
        if (middle <= low || middle >= high) return least_from(s, n, low);
        int64_t count = count_from(s, n, middle);
        if (count == k) return least_from(s, n, middle);
        *(count > k ? &low : &high) = middle;
    }
}

static inline int any_nan(const real *s, int64_t n) {
    whole_number any = 0;
    for (int64_t i = 0; i < whole(n); i++) any |= s[i] != s[i];
    return any != 0;
}

/* x, 0 where it is below 0. */
static inline vector positive(vector x) { return (vector)((x > 0) & (mask)x); }

/* How far Newton's method climbs from tau, for x = [z - tau]_+ (models/attention/normalisers). */
static real newton_move(const real *z, int64_t n, real tau, real alpha) {
    vector total[WORDS] = {0}, slope[WORDS] = {0};
    real r = 1 / (alpha - 1) - 1;
    if (alpha == 2) {
        for (int64_t i = 0; i < whole(n); i += LANES)
            for (int w = 0; w < WORDS; w++) {
                vector x = word(z + i, w) - tau;
                total[w] += positive(x);
                slope[w] += (vector)((x > 0) & (mask)(1 - (vector){0}));
            }
        return (folded(total) - 1) / folded(slope);
    }
    if (alpha == (real)1.5) {
        for (int64_t i = 0; i < whole(n); i += LANES)
            for (int w = 0; w < WORDS; w++) {
                vector x = positive(word(z + i, w) - tau);
                total[w] = vector_fma(x, x, total[w]);
                slope[w] += x;
            }
        real norm = sqrt(folded(total));
        return (norm - 1) * norm / folded(slope);
    }
    for (int64_t i = 0; i < whole(n); i += LANES) {
        real x[LANES], s[LANES];
        for (int l = 0; l < LANES; l++) {
            x[l] = z[i + l] - tau > 0 ? z[i + l] - tau : 0;
            s[l] = power(x[l], r);
        }
        add_products(total, s, x);
        add_lanes(slope, s);
    }
    real all = folded(total);
    return (all - power(all, 2 - alpha)) / folded(slope);
}

/* e^(s - most) in place; gives its sum. */
static real exponentials(real *s, int64_t n, real most) {
    for (int64_t i = 0; i < whole(n); i++) s[i] = exponential(s[i] - most);
    return sum(s, n);
}

/* Only what can have a weight, as tau is at least the largest - 1 = -1; gives its length, whole rounds. */
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
    if (alpha < 1 + NEAR) { /* from softmax's */
        for (int64_t i = 0; i < whole(n); i++) z[i] = s[i];
        return solve_near(s, n, alpha - 1, most, logarithm(exponentials(z, n, most)));
    }
    for (int64_t i = 0; i < whole(n); i++) z[i] = (alpha - 1) * (s[i] - most);
    if (alpha != (real)1.5 && alpha != 2) n = compress(z, n); /* powers are dear */
    real tau = -1, least = 4 * (sizeof(real) == 8 ? 2.220446e-16 : 1.1920929e-7);
    for (int step = 0; step < 50; step++) {
        real move = newton_move(z, n, tau, alpha);
        if (!(move > least)) break;
        tau += move;
    }
    return tau;
}

/* What weighs a row: alpha-entmax; softmax with one more in the denominator; each score by itself, less tau. */
enum { ENTMAX, SOFTMAX_ONE, SIGMOID };

static void sigmoids(real *s, int64_t n, remembered row) {
    for (int64_t i = 0; i < n; i++) {
        real x = s[i] - row.tau, e = exponential(x < 0 ? x : -x);
        s[i] = s[i] >= row.threshold ? (x < 0 ? e : 1) / (1 + e) : 0;
    }
}

/* Scores become weights in place. */
static void weigh(real *s, int64_t n, int64_t kind, real alpha, remembered row) {
    n = whole(n);
    real threshold = row.threshold, most = row.most, tau = row.tau, scale = 1 / tau, e = alpha - 1;
    if (threshold == INFINITY || threshold != threshold) { /* a row of 0, or of NaN */
        for (int64_t i = 0; i < n; i++) s[i] = threshold == INFINITY ? 0 : NAN;
        return;
    }
    if (kind == SIGMOID) {
        sigmoids(s, n, row);
        return;
    }
    if (alpha == 1) {
        for (int64_t i = 0; i < n; i++) s[i] = s[i] >= threshold ? exponential(s[i] - most) * scale : 0;
        return;
    }
    if (e < NEAR) {
        for (int64_t i = 0; i < n; i++)
            s[i] = s[i] >= threshold ? exponential(log_weight(s[i] - most - tau, e)) : 0;
    } else {
        for (int64_t i = 0; i < n; i++) {
            real x = e * (s[i] - most) - tau;
            s[i] = s[i] >= threshold && x > 0 ? x : 0;
        }
        if (alpha == 2) return;
        if (alpha == (real)1.5) {
            for (int64_t i = 0; i < n; i++) s[i] *= s[i];
            return;
        }
        for (int64_t i = 0; i < n; i++) s[i] = power(s[i], 1 / e);
    }
    real total = sum(s, n);
    for (int64_t i = 0; i < n; i++) s[i] /= total;
}

/* Scores become weights in place; k: how many are kept, 0 for all. scratch: n + LANES numbers. A row with a score of +inf
   or NaN gets NaN alone, for a run that diverges must show it; a row of -inf alone gets 0, as if it saw no key. */
static remembered normalise(real *s, int64_t n, int64_t k, int64_t kind, real alpha, real *scratch) {
    real most = maximum(s, n);
    remembered row = {-INFINITY, most, 0};
    if (most == INFINITY || any_nan(s, n)) {
        for (int64_t i = 0; i < n; i++) s[i] = NAN;
        return (remembered){NAN, NAN, NAN};
    }
    if (most == -INFINITY) {
        memset(s, 0, n * sizeof(real));
        return (remembered){INFINITY, 0, 0};
    }
    if (k) row.threshold = kth_largest(s, n, k, most);
    if (row.threshold > -INFINITY)
        for (int64_t i = 0; i < n; i++) s[i] = s[i] >= row.threshold ? s[i] : -INFINITY;
    if (kind == SIGMOID) {
        row.tau = logarithm(count_from(s, n, -LARGEST));
        sigmoids(s, n, row);
    } else if (alpha == 1) {
        if (kind == SOFTMAX_ONE) row.most = most = most > 0 ? most : 0;
        row.tau = exponentials(s, n, most) + (kind == SOFTMAX_ONE ? exponential(-most) : 0);
        real scale = 1 / row.tau;
        for (int64_t i = 0; i < whole(n); i++) s[i] *= scale;
    } else {
        row.tau = solve(s, n, alpha, most, scratch);
        weigh(s, n, kind, alpha, row);
    }
    return row;
}

/* dp becomes ds in place: ds = w (dp - (w . dp) / sum w), w = p ^ (2 - alpha). Gives the gradient of alpha. w: 3 n
   numbers of scratch. */
static real through_weights(const real *p, real *dp, int64_t n, int64_t kind, real alpha, int learned, real *w) {
    n = whole(n);
    if (kind == SIGMOID) {
        for (int64_t i = 0; i < n; i++) dp[i] = p[i] * (1 - p[i]) * dp[i];
        return 0;
    }
    real dalpha = learned ? dalpha_of(p, dp, n, alpha - 1, w) : 0;
    if (alpha == 1)
        w = (real *)p;
    else if (alpha == 2)
        for (int64_t i = 0; i < n; i++) w[i] = p[i] > 0 ? 1 : 0;
    else if (alpha == (real)1.5)
        for (int64_t i = 0; i < n; i++) w[i] = sqrt(p[i]);
    else if (!learned)
        for (int64_t i = 0; i < n; i++) w[i] = power(p[i], 2 - alpha);
    real along = dot(n, w, dp), total = sum(w, n);
    if (total == 0) { /* a row of 0; or one of NaN, where w asks which weights are above 0 */
        for (int64_t i = 0; i < n; i++) dp[i] = p[i] == p[i] ? 0 : NAN;
        return 0;
    }
    real mean = kind == SOFTMAX_ONE ? along : along / total;
    for (int64_t i = 0; i < n; i++) dp[i] = w[i] * (dp[i] - mean);
    return dalpha;
}

#endif
