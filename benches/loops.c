/* The workloads in C with OpenMP on two threads: a reference for what the machine can do.
   compiled_c.py compiles them with -O3 and -march=native, without -ffast-math. */
#include <math.h>
#include <stddef.h>
#include <string.h>

typedef ptrdiff_t size;

/* Computes one iteration from u to v; the caller swaps the two. */
void laplace(const double *u, double *v, size n) {
#pragma omp parallel for
    for (size i = 1; i < n - 1; i++)
        for (size j = 1; j < n - 1; j++)
            v[i * n + j] = (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]) / 4;
}

double paper_laplace(const double *u, double *v, size n, double dx2, double dy2, double dnr_inv) {
    double square = 0;
#pragma omp parallel for reduction(+ : square)
    for (size i = 1; i < n - 1; i++)
        for (size j = 1; j < n - 1; j++) {
            double new = ((u[(i - 1) * n + j] + u[(i + 1) * n + j]) * dy2 +
                          (u[i * n + j - 1] + u[i * n + j + 1]) * dx2) * dnr_inv;
            double change = new - u[i * n + j];
            v[i * n + j] = new;
            square += change * change;
        }
    return sqrt(square);
}

void chain_float64(const double *a, const double *b, const double *c, double *out, size n) {
#pragma omp parallel for simd
    for (size i = 0; i < n; i++) out[i] = a[i] * b[i] + c[i] * 2.0 - sqrt(fabs(a[i]));
}

void chain_float32(const float *a, const float *b, const float *c, float *out, size n) {
#pragma omp parallel for simd
    for (size i = 0; i < n; i++) out[i] = a[i] * b[i] + c[i] * 2.0f - sqrtf(fabsf(a[i]));
}

void chain_int64(const long *a, const long *b, const long *c, double *out, size n) {
#pragma omp parallel for simd
    for (size i = 0; i < n; i++)
        out[i] = (double)(a[i] * b[i]) + (double)c[i] * 2.0 - sqrt((double)(a[i] < 0 ? -a[i] : a[i]));
}

double squares(const double *a, const double *b, size n) {
    double sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (size i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* Sums columns; each thread has strips of 512 columns. */
static void column_sums(const double *a, const double *mean, double *out, size n) {
#pragma omp parallel for
    for (size strip = 0; strip < n; strip += 512) {
        size end = strip + 512 < n ? strip + 512 : n;
        memset(out + strip, 0, (end - strip) * sizeof *out);
        for (size i = 0; i < n; i++)
            for (size j = strip; j < end; j++) {
                double x = a[i * n + j];
                out[j] += mean ? (x - mean[j]) * (x - mean[j]) : x;
            }
    }
}

void mean(const double *a, double *out, size n) {
    column_sums(a, 0, out, n);
    for (size j = 0; j < n; j++) out[j] /= n;
}

void std(const double *a, double *middle, double *out, size n) {
    mean(a, middle, n);
    column_sums(a, middle, out, n);
    for (size j = 0; j < n; j++) out[j] = sqrt(out[j] / n);
}

static inline double normal(double x) {
    double k = 1 / (1 + 0.2316419 * fabs(x));
    double tail = 0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)));
    double below = k * tail * exp(-x * x / 2) * 0.3989422804014327;
    return x > 0 ? 1 - below : below;
}

void black_scholes(const double *price, const double *strike, const double *years, double *call, double *put, size n) {
    const double rate = 0.02, volatility = 0.3;
#pragma omp parallel for
    for (size i = 0; i < n; i++) {
        double p = 10 + 40 * fabs(price[i]), s = 10 + 40 * fabs(strike[i]), t = 0.1 + fabs(years[i]);
        double spread = volatility * sqrt(t);
        double d1 = (log(p / s) + (rate + volatility * volatility / 2) * t) / spread;
        double discounted = s * exp(-rate * t);
        call[i] = p * normal(d1) - discounted * normal(d1 - spread);
        put[i] = call[i] - p + discounted;
    }
}

void forces(const double *position, double *out, size n) {
#pragma omp parallel for
    for (size i = 0; i < n; i++) {
        double fx = 0, fy = 0, fz = 0;
        for (size j = 0; j < n; j++) {
            double x = position[3 * j] - position[3 * i], y = position[3 * j + 1] - position[3 * i + 1];
            double z = position[3 * j + 2] - position[3 * i + 2];
            double square = x * x + y * y + z * z + 0.01, cube = square * sqrt(square);
            fx += x / cube, fy += y / cube, fz += z / cube;
        }
        out[3 * i] = fx, out[3 * i + 1] = fy, out[3 * i + 2] = fz;
    }
}

void transposed(const double *a, double *out, size n) {
#pragma omp parallel for
    for (size rows = 0; rows < n; rows += 32)
        for (size columns = 0; columns < n; columns += 32)
            for (size i = rows; i < rows + 32 && i < n; i++)
                for (size j = columns; j < columns + 32 && j < n; j++)
                    out[i * n + j] = a[j * n + i] + a[i * n + j];
}

/* Index arrays with bounds checks and negative indices. For repeated indices, any value may be kept. */
void take(const double *a, const long *index, double *out, size n, size length) {
#pragma omp parallel for
    for (size i = 0; i < n; i++) {
        size position = index[i] < 0 ? index[i] + length : index[i];
        if (position >= 0 && position < length) out[i] = a[position];
    }
}

void put(double *a, const long *index, const double *v, size n, size length) {
#pragma omp parallel for
    for (size i = 0; i < n; i++) {
        size position = index[i] < 0 ? index[i] + length : index[i];
        if (position >= 0 && position < length) a[position] = v[i];
    }
}
