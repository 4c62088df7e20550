// The least-squares engine against certified answers: the NIST Statistical Reference Datasets for nonlinear regression.
// The files are not part of the project: they are looked for in $OD_SHARED/data/nist-strd, or in ../shared/data/nist-strd
// beside the source tree, and the test is skipped where there are none. Models are written here, for real and complex
// numbers from one text; derivatives are complex steps. The same options for all problems and both starts.
//
// Oracle: parameters, standard deviations and sums of squares that NIST computed with 500 digits.
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#include "oleodyn/least_squares.h"

enum { MOST_DATA = 300, MOST_PARAMETERS = 9, SKIPPED = 77 };

// ---- the models

#define MODEL(name, ...)                                               \
  static double name##_real(const double *b, const double *x) {        \
    (void)x;                                                           \
    return __VA_ARGS__;                                                \
  }                                                                    \
  static complex double name##_complex(const complex double *b, const double *x) { \
    (void)x;                                                           \
    return __VA_ARGS__;                                                \
  }

static const double pi = 3.141592653589793238462643383279;
#define SQ(v) ((v) * (v))

MODEL(bennett5, b[0] * pow(b[1] + *x, -1 / b[2]))
MODEL(boxbod, b[0] * (1 - exp(-b[1] * *x)))
MODEL(chwirut, exp(-b[0] * *x) / (b[1] + b[2] * *x))
MODEL(danwood, b[0] * pow(*x, b[1]))
MODEL(eckerle4, b[0] / b[1] * exp(-0.5 * SQ((*x - b[2]) / b[1])))
MODEL(enso, b[0] + b[1] * cos(2 * pi * *x / 12) + b[2] * sin(2 * pi * *x / 12) + b[4] * cos(2 * pi * *x / b[3]) +
                b[5] * sin(2 * pi * *x / b[3]) + b[7] * cos(2 * pi * *x / b[6]) + b[8] * sin(2 * pi * *x / b[6]))
MODEL(gauss, b[0] * exp(-b[1] * *x) + b[2] * exp(-SQ((*x - b[3]) / b[4])) + b[5] * exp(-SQ((*x - b[6]) / b[7])))
MODEL(cubics, (b[0] + *x * (b[1] + *x * (b[2] + *x * b[3]))) / (1 + *x * (b[4] + *x * (b[5] + *x * b[6]))))
MODEL(kirby2, (b[0] + *x * (b[1] + *x * b[2])) / (1 + *x * (b[3] + *x * b[4])))
MODEL(lanczos, b[0] * exp(-b[1] * *x) + b[2] * exp(-b[3] * *x) + b[4] * exp(-b[5] * *x))
MODEL(mgh09, b[0] * (*x * *x + *x * b[1]) / (*x * *x + *x * b[2] + b[3]))
MODEL(mgh10, b[0] * exp(b[1] / (*x + b[2])))
MODEL(mgh17, b[0] + b[1] * exp(-*x * b[3]) + b[2] * exp(-*x * b[4]))
MODEL(misra1a, b[0] * (1 - exp(-b[1] * *x)))
MODEL(misra1b, b[0] * (1 - 1 / SQ(1 + b[1] * *x / 2)))
MODEL(misra1c, b[0] * (1 - 1 / sqrt(1 + 2 * b[1] * *x)))
MODEL(misra1d, b[0] * b[1] * *x / (1 + b[1] * *x))
MODEL(nelson, b[0] - b[1] * x[0] * exp(-b[2] * x[1]))
MODEL(rat42, b[0] / (1 + exp(b[1] - b[2] * *x)))
MODEL(rat43, b[0] / pow(1 + exp(b[1] - b[2] * *x), 1 / b[3]))
MODEL(roszman1, b[0] - b[1] * *x - atan(b[2] / (*x - b[3])) / pi)

typedef struct dataset {
  const char *name;
  double (*real)(const double *b, const double *x);
  complex double (*complex_)(const complex double *b, const double *x);
  double digits, sigma_digits;  // that double precision allows; zero: 8 and 6
} dataset;
#define WITH(f) f##_real, f##_complex

static const dataset datasets[] = {
    {"Bennett5", WITH(bennett5), 0, 0}, {"BoxBOD", WITH(boxbod), 0, 0},     {"Chwirut1", WITH(chwirut), 0, 0},
    {"Chwirut2", WITH(chwirut), 0, 0},  {"DanWood", WITH(danwood), 0, 0},   {"ENSO", WITH(enso), 0, 0},
    {"Eckerle4", WITH(eckerle4), 0, 0}, {"Gauss1", WITH(gauss), 0, 0},      {"Gauss2", WITH(gauss), 0, 0},
    {"Gauss3", WITH(gauss), 0, 0},      {"Hahn1", WITH(cubics), 0, 0},      {"Kirby2", WITH(kirby2), 0, 0},
    {"Lanczos1", WITH(lanczos), 0, 0},  {"Lanczos2", WITH(lanczos), 0, 0},  {"Lanczos3", WITH(lanczos), 0, 0},
    {"MGH09", WITH(mgh09), 0, 0},       {"MGH10", WITH(mgh10), 0, 0},       {"MGH17", WITH(mgh17), 0, 0},
    {"Misra1a", WITH(misra1a), 0, 0},   {"Misra1b", WITH(misra1b), 0, 0},   {"Misra1c", WITH(misra1c), 0, 0},
    {"Misra1d", WITH(misra1d), 0, 0},   {"Nelson", WITH(nelson), 0, 0},     {"Rat42", WITH(rat42), 0, 0},
    {"Rat43", WITH(rat43), 0, 0},       {"Roszman1", WITH(roszman1), 0, 0}, {"Thurber", WITH(cubics), 0, 0},
};

// ---- reading a file

typedef struct nist {
  const dataset *set;
  int m, n, predictors;
  double y[MOST_DATA], x[MOST_DATA][2];
  double start[2][MOST_PARAMETERS], value[MOST_PARAMETERS], sigma[MOST_PARAMETERS], squares;
} nist;

static bool is_log(const nist *d) {
  return strcmp(d->set->name, "Nelson") == 0;
}

// "  b1 =   500   250   2.3894E+02  2.7070E+00"; "Residual Sum of Squares: 1.2E-01"; then lines of data "y x [x]" from
// the line that the head names.
static bool read_file(const char *folder, nist *d) {
  char path[1024], line[256];
  snprintf(path, sizeof path, "%s/%s.dat", folder, d->set->name);
  FILE *f = fopen(path, "r");
  if (!f) return false;
  int first = 0, last = 0;
  for (int number = 1; fgets(line, sizeof line, f); number++) {
    double v[4];
    int i, a, b;
    const char *data = strstr(line, "Data  ");
    if (!last && data && sscanf(data, "Data (lines %d to %d)", &a, &b) == 2) first = a, last = b;
    if (number < first && sscanf(line, " b%d = %lf %lf %lf %lf", &i, v, v + 1, v + 2, v + 3) == 5 && i <= MOST_PARAMETERS) {
      d->start[0][i - 1] = v[0], d->start[1][i - 1] = v[1], d->value[i - 1] = v[2], d->sigma[i - 1] = v[3];
      d->n = i > d->n ? i : d->n;
    }
    sscanf(line, "Residual Sum of Squares: %lf", &d->squares);
    if (number >= first && number <= last && d->m < MOST_DATA) {
      d->predictors = sscanf(line, "%lf %lf %lf", &d->y[d->m], &d->x[d->m][0], &d->x[d->m][1]) - 1;
      if (is_log(d)) d->y[d->m] = log(d->y[d->m]);
      d->m++;
    }
  }
  fclose(f);
  if (d->m > 0 && d->m == last - first + 1 && d->n > 0 && d->predictors == 1 + is_log(d)) return true;
  printf("%s: cannot be read (%d data, %d parameters)\n", path, d->m, d->n);
  exit(1);
}

static int residuals(void *user, const double *b, double *r) {
  const nist *d = user;
  for (int i = 0; i < d->m; i++) r[i] = d->set->real(b, d->x[i]) - d->y[i];
  return 0;
}
static int residuals_complex(void *user, const double *b, double *r) {
  const nist *d = user;
  complex double *c = (complex double *)r;
  for (int i = 0; i < d->m; i++) c[i] = d->set->complex_((const complex double *)b, d->x[i]) - d->y[i];
  return 0;
}

// ---- comparing

static double digits(double value, double certified) {
  return fmin(11, -log10(fabs(value - certified) / fabs(certified) + 1e-300));
}

static bool fit(nist *d, int start) {
  const od_ls_problem problem = {.m = d->m,
                                 .n = d->n,
                                 .user = d,
                                 .residuals = residuals,
                                 .residuals_complex = residuals_complex,
                                 .start = d->start[start]};
  od_ls_options options = {0};
  if (getenv("OD_RADIUS")) options.radius = atof(getenv("OD_RADIUS"));
  if (getenv("OD_METHOD")) options.method = (od_ls_method)atoi(getenv("OD_METHOD"));
  od_ls_result *r;
  od_error err = {0};
  od_status status = od_least_squares(&problem, &options, &r, &err);
  if (!r) return printf("%-9s start %d: %s\n", d->set->name, start + 1, err.text), false;
  double least = 11, least_sigma = 11;
  for (int i = 0; i < d->n; i++) {
    least = fmin(least, digits(r->x[i], d->value[i]));
    least_sigma = fmin(least_sigma, digits(r->sigma[i], d->sigma[i]));
  }
  double wanted = d->set->digits > 0 ? d->set->digits : 8, wanted_sigma = d->set->sigma_digits > 0 ? d->set->sigma_digits : 6;
  bool good = status == OD_OK && least >= wanted && least_sigma >= wanted_sigma;
  printf("%-9s  %d  %6.1f %6.1f %6.1f  %4ld %5ld  %s%s\n", d->set->name, start + 1, least, least_sigma,
         digits(2 * r->cost, d->squares), r->iterations, r->residual_evaluations, od_ls_reason_text(r->reason),
         good ? "" : "   <-- too few");
  od_ls_result_free(r);
  return good;
}

int main(void) {
  char folder[1024];
  const char *shared = getenv("OD_SHARED");
  snprintf(folder, sizeof folder, "%s/data/nist-strd", shared ? shared : OD_SOURCE_DIR "/../shared");
  int found = 0, bad = 0;
  printf("digits of:   x    sigma   squares  steps, residuals\n");
  for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++) {
    nist *d = calloc(1, sizeof *d);
    d->set = &datasets[i];
    if (read_file(folder, d)) {
      found++;
      for (int start = 0; start < 2; start++) bad += !fit(d, start);
    }
    free(d);
  }
  if (!found) return printf("no data in %s: skipped\n", folder), SKIPPED;
  printf("%d data sets, %d of %d fits not good enough\n", found, bad, 2 * found);
  return bad ? 1 : 0;
}
