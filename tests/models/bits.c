/* Computes with the compiled code what layers compute, forward and backward, over many patterns, and prints a digest of
   all numbers of each: the same for every processor, compiler and number of threads (test_bits.py). */
#define PARTS NORM_PARTS
#define rows dense_rows
#include "layers.c"
#include "dense.c"
#undef PARTS
#undef rows
#include "attention.c"
#include <stdio.h>

static uint64_t state;
static real number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (real)((int64_t)(state >> 40) - (1 << 23)) / (1 << 22);
}
static real *numbers(int64_t n) {
    real *x = malloc(n * sizeof(real));
    for (int64_t i = 0; i < n; i++) x[i] = number();
    return x;
}
static uint64_t digest(uint64_t before, const real *x, int64_t n) {
    const unsigned char *bytes = (const unsigned char *)x;
    for (int64_t i = 0; i < n * (int64_t)sizeof(real); i++) before = (before ^ bytes[i]) * 1099511628211u;
    return before;
}

enum { B = 3, H = 2 };

static void attentions(int64_t T, int64_t keys, int64_t d, int64_t kind, int64_t kept, int64_t ramp, real alpha,
                       double drop, int64_t threads) {
    state = 1;
    int64_t reach = kind == STREAM ? 70 : keys, W = kind == STREAM ? reach : 2 * reach - 1;
    int64_t counts[H] = {keys, keys}, first[H] = {0, d}, stream[H] = {keys * H * d, keys * H * d}, step[H] = {H * d, H * d};
    real alphas[H] = {alpha, alpha};
    attention a = {B, H, T, d, d, d, kind, 1, reach, kept, ramp, reach, ENTMAX, alpha > 1, threads};
    rows_of shape = {NULL, T * H * d, d, H * d};
    by_head layout = {NULL, first, stream, step};
    rows_of *queries[] = {&a.q, &a.r, &a.y, &a.dy, &a.dq, &a.dr};
    by_head *sides[] = {&a.k, &a.v, &a.dk, &a.dv};
    for (int i = 0; i < 6; i++) *queries[i] = shape, queries[i]->data = numbers(B * T * H * d);
    for (int i = 0; i < 4; i++) *sides[i] = layout, sides[i]->data = numbers(B * keys * H * d);
    memset(a.dk.data, 0, B * keys * H * d * sizeof(real)), memset(a.dv.data, 0, B * keys * H * d * sizeof(real));
    real *z = numbers(B * H * T), *dz = calloc(B * H * T, sizeof(real));
    for (int64_t i = 0; i < B * H * T; i++) z[i] = 8 + 4 * z[i];
    a.z = (rows_of){z, H * T, T, 1}, a.dz = (rows_of){ramp ? dz : NULL, H * T, T, 1};
    a.p_row = W + LANES, a.p_head = d * a.p_row, a.pt_head = d * W, a.zero = kind == STREAM ? W - 1 : W / 2;
    real *p = numbers(H * d * a.p_row), *pt = malloc(H * d * W * sizeof(real));
    for (int64_t h = 0; h < H; h++)
        for (int64_t l = 0; l < d; l++)
            for (int64_t x = 0; x < W; x++) pt[h * a.pt_head + x * d + l] = p[h * a.p_head + l * a.p_row + x];
    a.p = p, a.pt = pt, a.dpt = calloc(H * d * W, sizeof(real)), a.dpt_head = a.dpt_size = d * W;
    a.alpha = alphas, a.dalpha = calloc(B * H * T, sizeof(real)), a.rows = malloc(B * H * T * sizeof(remembered));
    a.keys = counts, a.scale = .25, a.drop = drop, a.seed = 5;
    if (kind == CROSS) a.r.data = a.dr.data = NULL;
    for (a.grad = 0; a.grad < 2; a.grad++) attend(&a);
    uint64_t found = digest(digest(14695981039346656037u, a.y.data, B * T * H * d), a.dq.data, B * T * H * d);
    found = digest(digest(found, a.dk.data, B * keys * H * d), a.dv.data, B * keys * H * d);
    found = digest(digest(digest(found, a.dpt, H * d * W), dz, B * H * T), a.dalpha, B * H * T);
    if (a.r.data) found = digest(found, a.dr.data, B * T * H * d);
    printf("attention %d %d %d %d %d %d %g %g %016llx\n", (int)T, (int)keys, (int)d, (int)kind, (int)kept, (int)ramp,
           (double)alpha, drop, (unsigned long long)found);
}

static void layers(int64_t n, int64_t d, int64_t threads) {
    state = 2;
    real *x = numbers(n * d), *y = numbers(n * d), *w = numbers(d), *b = numbers(n + d), *out = numbers(n * d);
    real *normal = numbers(n * d), *inverse = numbers(n), *ds = numbers(n * d);
    real *dw = calloc(NORM_PARTS * d, sizeof(real)), *db = calloc(NORM_PARTS * d, sizeof(real));
    norm_forward(n, d, x, y, w, b, 1e-5, out, normal, inverse, threads);
    norm_backward(n, d, y, normal, inverse, w, ds, dw, db, threads);
    real *c = numbers(n * n), *weight = numbers(n * d);
    dense products[] = {{n, n, d, x, d, 1, weight, 1, d, c, n, 0, 1, b}, {d, d, n, x, 1, d, y, d, 1, ds, d, n >= d, 0}};
    if (n >= d) multiply(products, 2, threads);
    uint64_t found = digest(digest(digest(14695981039346656037u, out, n * d), ds, n * d), dw, d);
    printf("layers %d %d %016llx\n", (int)n, (int)d, (unsigned long long)digest(digest(found, db, d), c, n * n));
}

int main(int count, char **words) {
    int64_t threads = count > 1 ? atoi(words[1]) : 1;
    real alphas[] = {1, 1.002, 1.3, 1.5, 2};
    for (int i = 0; i < 5; i++)
        for (int64_t kind = 0; kind < 3; kind++)
            for (int64_t d = 5; d < 40; d += 11)
                for (int64_t kept = 0; kept < 10; kept += 7)
                    for (int64_t ramp = 0; ramp < 13; ramp += 12)
                        attentions(50, kind == STREAM ? 90 : 50, d, kind, kept, ramp, alphas[i], d == 16 ? .2 : 0,
                                   threads);
    for (int64_t n = 3; n < 100; n += 29)
        for (int64_t d = 3; d < 90; d += 13) layers(n, d, threads);
}
