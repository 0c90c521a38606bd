/* A residual and its layer norm in one pass, and back in one. */
#include "vector.h"

enum { PARTS = 8 }; /* of the rows; what is summed over rows is summed by part, whoever computes it */

int64_t norm_parts(void) { return PARTS; }

/* The sum of d numbers: of whole rounds of the lanes, then the rest. */
static inline real sum_of(const real *x, int64_t d) {
    real total = sum(x, d);
    for (int64_t j = whole(d); j < d; j++) total += x[j];
    return total;
}

static inline void forward_row(int64_t d, const real *x, const real *y, const real *restrict weight,
                               const real *restrict bias, real epsilon, real *restrict out, real *restrict s,
                               real *inverse) {
    for (int64_t j = 0; j < d; j++) s[j] = x[j] + (y ? y[j] : 0);
    real mean = sum_of(s, d) / d;
    for (int64_t j = 0; j < d; j++) s[j] -= mean;
    real scale = *inverse = 1 / (real)sqrt(dot(d, s, s) / d + epsilon);
    for (int64_t j = 0; j < d; j++) {
        s[j] *= scale;
        out[j] = multiply_add(weight[j], s[j], bias[j]);
    }
}

static inline void backward_row(int64_t d, const real *restrict g, const real *restrict s, real inverse,
                                const real *restrict weight, real *restrict ds, real *restrict dw, real *restrict db) {
    for (int64_t j = 0; j < d; j++) {
        ds[j] = weight[j] * g[j];
        dw[j] = multiply_add(g[j], s[j], dw[j]);
        db[j] += g[j];
    }
    real mean = sum_of(ds, d) / d, along = dot(d, ds, s) / d;
    for (int64_t j = 0; j < d; j++) ds[j] = inverse * (multiply_add(-along, s[j], ds[j]) - mean);
}

/* Twice the same call: compilers make shorter code where they see that rows are whole rounds of the lanes. */
#define EITHER(d, call)                                                                                              \
    if (d == whole(d)) {                                                                                             \
        int64_t width = whole(d);                                                                                    \
        call;                                                                                                        \
    } else {                                                                                                         \
        int64_t width = d;                                                                                           \
        call;                                                                                                        \
    }

/* out = weight (s - mean) / deviation + bias, s = x + y (y may be NULL), by rows of d numbers.
   normal: (s - mean) / deviation, and inverse: 1 / deviation, for the way back. */
void norm_forward(int64_t n, int64_t d, const real *x, const real *y, const real *weight, const real *bias,
                  double epsilon, real *out, real *normal, real *inverse, int64_t threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < n; i++)
        EITHER(d, forward_row(width, x + i * d, y ? y + i * d : NULL, weight, bias, epsilon, out + i * d,
                              normal + i * d, inverse + i))
}

/* ds from dout; dweight and dbias: d numbers for each part, zeros before, the sum of all in the first. */
void norm_backward(int64_t n, int64_t d, const real *dout, const real *normal, const real *inverse, const real *weight,
                   real *ds, real *dweight, real *dbias, int64_t threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t part = 0; part < PARTS; part++)
        for (int64_t i = n * part / PARTS; i < n * (part + 1) / PARTS; i++)
            EITHER(d, backward_row(width, dout + i * d, normal + i * d, inverse[i], weight, ds + i * d,
                                   dweight + part * d, dbias + part * d))
    for (int64_t part = 1; part < PARTS; part++)
        for (int64_t j = 0; j < d; j++) dweight[j] += dweight[part * d + j], dbias[j] += dbias[part * d + j];
}
