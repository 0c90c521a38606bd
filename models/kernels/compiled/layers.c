/* A residual and its layer norm in one pass, and back in one. */
#include "vector.h"

/* out = weight (s - mean) / deviation + bias, s = x + y (y may be NULL), by rows of d numbers.
   normal: (s - mean) / deviation, and inverse: 1 / deviation, for the way back. */
void norm_forward(int64_t n, int64_t d, const real *x, const real *y, const real *weight, const real *bias,
                  double epsilon, real *out, real *normal, real *inverse, int64_t threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t i = 0; i < n; i++) {
        real *s = normal + i * d, sum = 0, squares = 0;
        for (int64_t j = 0; j < d; j++) sum += s[j] = x[i * d + j] + (y ? y[i * d + j] : 0);
        real mean = sum / d;
        for (int64_t j = 0; j < d; j++) {
            s[j] -= mean;
            squares += s[j] * s[j];
        }
        inverse[i] = 1 / sqrt(squares / d + epsilon);
        for (int64_t j = 0; j < d; j++) {
            s[j] *= inverse[i];
            out[i * d + j] = weight[j] * s[j] + bias[j];
        }
    }
}

/* ds from dout; dweight and dbias: d numbers for each thread, zeros before. */
void norm_backward(int64_t n, int64_t d, const real *dout, const real *normal, const real *inverse, const real *weight,
                   real *ds, real *dweight, real *dbias, int64_t threads) {
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        real *dw = dweight + omp_get_thread_num() * d, *db = dbias + omp_get_thread_num() * d;
#pragma omp for
        for (int64_t i = 0; i < n; i++) {
            const real *g = dout + i * d, *s = normal + i * d;
            real sum = 0, along = 0;
            for (int64_t j = 0; j < d; j++) {
                real wg = weight[j] * g[j];
                sum += wg;
                along += wg * s[j];
                dw[j] += g[j] * s[j];
                db[j] += g[j];
            }
            sum /= d, along /= d;
            for (int64_t j = 0; j < d; j++) ds[i * d + j] = inverse[i] * (weight[j] * g[j] - sum - along * s[j]);
        }
    }
}
