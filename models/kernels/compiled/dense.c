/* Products of whole layers: C (+)= A B + bias, or max(0, .) of it, with any strides of A and B. */
#include "product.h"

typedef struct {
    int64_t m, n, k;
    const real *a;
    int64_t a_row, a_col;
    const real *b;
    int64_t b_row, b_col;
    real *c;
    int64_t c_row, add, relu;
    const real *bias; /* n numbers or NULL */
} dense;

enum { TERMS = 512, LEFT = 96 }; /* terms of a sum at a time, and rows of A that are laid out at a time */
enum { FEW_ROWS = 16 };

/* Columns from..from + n of B, terms p..p + k, one row after the other. */
static const real *panel(const dense *d, int64_t from, int64_t n, int64_t p, int64_t k) {
    const real *b = d->b + p * d->b_row + from * d->b_col;
    real *out = scratch(PANEL, TERMS * WIDE * VECTOR_LANES);
    if (d->b_col == 1)
        for (int64_t i = 0; i < k; i++) memcpy(out + i * n, b + i * d->b_row, n * sizeof(real));
    else
        transpose(n, k, b, d->b_col, out, n);
    return out;
}

/* Rows i..i + m of A, terms p..p + k, as `product` reads them best; its strides. */
static const real *left(const dense *d, int64_t i, int64_t m, int64_t p, int64_t k, int64_t *row, int64_t *col) {
    const real *a = d->a + i * d->a_row + p * d->a_col;
    *row = d->a_row, *col = d->a_col;
    if (d->a_col == 1) return a;
    real *out = scratch(LEFT_ROWS, TERMS * LEFT);
    for (int64_t q = 0; q < k; q++)
        for (int64_t l = 0; l < m; l++) out[q * m + l] = a[l * d->a_row + q * d->a_col];
    *row = 1, *col = m;
    return out;
}

static void finish(const dense *d, int64_t i, int64_t m, int64_t from, int64_t n) {
    for (; m > 0; i++, m--) {
        real *c = d->c + i * d->c_row + from;
        for (int64_t j = 0; d->bias && j < n; j++) c[j] += d->bias[from + j];
        for (int64_t j = 0; d->relu && j < n; j++) c[j] = c[j] < 0 ? 0 : c[j]; /* not a number stays so */
    }
}

/* Rows start..stop of one product. */
static void rows(const dense *d, int64_t start, int64_t stop) {
    for (int64_t i = start; !d->k && !d->add && i < stop; i++) memset(d->c + i * d->c_row, 0, d->n * sizeof(real));
    if (!d->k) finish(d, start, stop - start, 0, d->n);
    for (int64_t from = 0; from < d->n; from += WIDE * VECTOR_LANES) {
        int64_t n = lowest(WIDE * VECTOR_LANES, d->n - from), row, col;
        for (int64_t p = 0; p < d->k; p += TERMS) {
            int64_t k = lowest(TERMS, d->k - p);
            const real *b = panel(d, from, n, p, k);
            for (int64_t i = start; i < stop; i += LEFT) {
                int64_t m = lowest(LEFT, stop - i);
                const real *a = left(d, i, m, p, k, &row, &col);
                product(m, n, k, a, row, col, b, n, d->c + i * d->c_row + from, d->c_row, d->add || p);
                if (p + k == d->k) finish(d, i, m, from, n);
            }
        }
    }
}

/* So few rows that laying out the columns of B would cost more than the product, terms side by side in both. */
static void few_rows(const dense *d) {
    for (int64_t i = 0; i < d->m; i++)
        for (int64_t j = 0; j < d->n; j++) {
            real *c = d->c + i * d->c_row + j, product = dot(d->k, d->a + i * d->a_row, d->b + j * d->b_col);
            *c = d->add ? *c + product : product;
        }
    finish(d, 0, d->m, 0, d->n);
}

/* Each thread computes rows of its own of all products, and waits for no other: a product may read, as its A, the same
   rows that one before it wrote, and nothing else of these products. */
void multiply(const dense *products, int64_t count, int64_t threads) {
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t thread = 0; thread < threads; thread++)
        for (int64_t i = 0; i < count; i++) {
            const dense *d = products + i;
            int64_t share = d->m < FEW_ROWS ? d->m : ((d->m + threads - 1) / threads + 11) / 12 * 12;
            int64_t start = lowest(d->m, share * thread);
            if (d->m >= FEW_ROWS || d->a_col != 1 || d->b_row != 1)
                rows(d, start, lowest(d->m, start + share));
            else if (!thread)
                few_rows(d);
        }
}

int64_t size_of_dense(void) { return sizeof(dense); }
