// Models are written once, for double, extended and complex numbers; <tgmath.h> picks the functions.
#include "support/nist.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>

#define MODEL(name, ...)                                                           \
  static double name##_real(const double *b, const double *x) {                    \
    return __VA_ARGS__;                                                            \
  }                                                                                \
  static long double name##_extended(const long double *b, const long double *x) { \
    return __VA_ARGS__;                                                            \
  }                                                                                \
  static complex double name##_complex(const complex double *b, const double *x) { \
    return __VA_ARGS__;                                                            \
  }
#define SQ(v) ((v) * (v))
// In the precision of x.
#define PI (4 * atan(0 * *x + 1))

MODEL(bennett5, b[0] * pow(b[1] + *x, -1 / b[2]))
MODEL(boxbod, b[0] * (1 - exp(-b[1] * *x)))
MODEL(chwirut, exp(-b[0] * *x) / (b[1] + b[2] * *x))
MODEL(danwood, b[0] * pow(*x, b[1]))
MODEL(eckerle4, b[0] / b[1] * exp(-SQ((*x - b[2]) / b[1]) / 2))
MODEL(enso, b[0] + b[1] * cos(2 * PI * *x / 12) + b[2] * sin(2 * PI * *x / 12) + b[4] * cos(2 * PI * *x / b[3]) +
                b[5] * sin(2 * PI * *x / b[3]) + b[7] * cos(2 * PI * *x / b[6]) + b[8] * sin(2 * PI * *x / b[6]))
MODEL(gauss, b[0] * exp(-b[1] * *x) + b[2] * exp(-SQ((*x - b[3]) / b[4])) + b[5] * exp(-SQ((*x - b[6]) / b[7])))
MODEL(cubics, (b[0] + *x * (b[1] + *x * (b[2] + *x * b[3]))) / (1 + *x * (b[4] + *x * (b[5] + *x * b[6]))))
MODEL(kirby2, (b[0] + *x * (b[1] + *x * b[2])) / (1 + *x * (b[3] + *x * b[4])))
MODEL(lanczos, b[0] * exp(-b[1] * *x) + b[2] * exp(-b[3] * *x) + b[4] * exp(-b[5] * *x))
MODEL(mgh09, b[0] * (*x * *x + *x * b[1]) / (*x * *x + *x * b[2] + b[3]))
MODEL(mgh10, b[0] * exp(b[1] / (*x + b[2])))
MODEL(mgh17, b[0] + b[1] * exp(-*x * b[3]) + b[2] * exp(-*x * b[4]))
MODEL(misra1b, b[0] * (1 - 1 / SQ(1 + b[1] * *x / 2)))
MODEL(misra1c, b[0] * (1 - 1 / sqrt(1 + 2 * b[1] * *x)))
MODEL(misra1d, b[0] * b[1] * *x / (1 + b[1] * *x))
MODEL(nelson, b[0] - b[1] * x[0] * exp(-b[2] * x[1]))
MODEL(rat42, b[0] / (1 + exp(b[1] - b[2] * *x)))
MODEL(rat43, b[0] / pow(1 + exp(b[1] - b[2] * *x), 1 / b[3]))
MODEL(roszman1, b[0] - b[1] * *x - atan(b[2] / (*x - b[3])) / PI)

#define WITH(f) f##_real, f##_extended, f##_complex
const nist_model nist_models[] = {
    {"Bennett5", WITH(bennett5)}, {"BoxBOD", WITH(boxbod)},     {"Chwirut1", WITH(chwirut)},
    {"Chwirut2", WITH(chwirut)},  {"DanWood", WITH(danwood)},   {"ENSO", WITH(enso)},
    {"Eckerle4", WITH(eckerle4)}, {"Gauss1", WITH(gauss)},      {"Gauss2", WITH(gauss)},
    {"Gauss3", WITH(gauss)},      {"Hahn1", WITH(cubics)},      {"Kirby2", WITH(kirby2)},
    {"Lanczos1", WITH(lanczos)},  {"Lanczos2", WITH(lanczos)},  {"Lanczos3", WITH(lanczos)},
    {"MGH09", WITH(mgh09)},       {"MGH10", WITH(mgh10)},       {"MGH17", WITH(mgh17)},
    {"Misra1a", WITH(boxbod)},    {"Misra1b", WITH(misra1b)},   {"Misra1c", WITH(misra1c)},
    {"Misra1d", WITH(misra1d)},   {"Nelson", WITH(nelson)},     {"Rat42", WITH(rat42)},
    {"Rat43", WITH(rat43)},       {"Roszman1", WITH(roszman1)}, {"Thurber", WITH(cubics)},
};
const int nist_model_count = sizeof nist_models / sizeof *nist_models;

// ---- reading

// Nelson's datum is the logarithm of the value in the file, and it has two variables.
static bool is_nelson(const nist_set *set) {
  return strcmp(set->model->name, "Nelson") == 0;
}

// "  b1 =   500   250   2.3894E+02  2.7070E+00"
static void read_parameter(const char *line, nist_set *set) {
  double v[4];
  int i;
  if (sscanf(line, " b%d = %lf %lf %lf %lf", &i, v, v + 1, v + 2, v + 3) != 5 || i < 1 || i > NIST_PARAMETERS) return;
  set->start[0][i - 1] = v[0], set->start[1][i - 1] = v[1], set->value[i - 1] = v[2], set->sigma[i - 1] = v[3];
  set->n = i > set->n ? i : set->n;
}

// "  10.07E0   77.6E0"
static bool read_datum(const char *line, nist_set *set) {
  long double v[3] = {0};
  int wanted = 2 + is_nelson(set), i = set->m;
  if (i == NIST_DATA || sscanf(line, "%Lf %Lf %Lf", v, v + 1, v + 2) != wanted) return false;
  set->y_long[i] = is_nelson(set) ? logl(v[0]) : v[0];
  set->y[i] = (double)set->y_long[i];
  for (int j = 0; j < 2; j++) set->x_long[i][j] = v[1 + j], set->x[i][j] = (double)v[1 + j];
  set->m++;
  return true;
}

// The header contains the lines of the data.
int nist_read(const char *folder, const nist_model *model, nist_set *set) {
  char path[1200], line[256];
  *set = (nist_set){.model = model};
  snprintf(path, sizeof path, "%s/%s.dat", folder, model->name);
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  int first = 0, last = 0, good = 1;
  for (int number = 1; fgets(line, sizeof line, f) && good; number++) {
    const char *data = strstr(line, "Data  ");
    if (last == 0 && data && sscanf(data, "Data (lines %d to %d)", &first, &last) != 2) first = last = 0;
    if (number < first) read_parameter(line, set);
    if (number < first) sscanf(line, "Residual Sum of Squares: %lf", &set->squares);
    if (number >= first && number <= last) good = read_datum(line, set);
  }
  fclose(f);
  if (good && set->n > 0 && set->squares > 0 && set->m > 0 && set->m == last - first + 1) return 1;
  printf("%s: cannot be read (%d data, %d parameters)\n", path, set->m, set->n);
  return -1;
}

// ---- fitting

static int residuals(void *user, const double *b, double *r) {
  const nist_set *set = user;
  long double b_long[NIST_PARAMETERS];
  for (int i = 0; i < set->n; i++) b_long[i] = b[i];
  for (int i = 0; i < set->m; i++)
    r[i] = set->extended ? (double)(set->model->extended(b_long, set->x_long[i]) - set->y_long[i])
                         : set->model->real(b, set->x[i]) - set->y[i];
  return 0;
}

static int residuals_complex(void *user, const double *b, double *r) {
  const nist_set *set = user;
  complex double *c = (complex double *)r;
  for (int i = 0; i < set->m; i++) c[i] = set->model->complex_((const complex double *)b, set->x[i]) - set->y[i];
  return 0;
}

od_ls_problem nist_problem(nist_set *set) {
  return (od_ls_problem){.m = set->m,
                         .n = set->n,
                         .user = set,
                         .residuals = residuals,
                         .residuals_complex = residuals_complex,
                         .start = set->start[0]};
}

double nist_squares(nist_set *set, const double *b) {
  double r[NIST_DATA], sum = 0;
  residuals(set, b, r);
  for (int i = 0; i < set->m; i++) sum += r[i] * r[i];
  return sum;
}

double nist_digits(double value, double certified) {
  return fmin(11, -log10(fabs(value / certified - 1) + 1e-300));
}

bool nist_fit(nist_set *set, int start, const od_ls_options *options, const char *label, double digits,
              double sigma_digits) {
  od_ls_problem problem = nist_problem(set);
  problem.start = set->start[start];
  od_ls_result *r = NULL;
  od_error err = {0};
  od_status status = od_least_squares(&problem, options, &r, &err);
  if (!r) return printf("%-9s start %d: %s\n", set->model->name, start + 1, err.text), false;
  double least = 11, least_sigma = 11;
  for (int i = 0; i < set->n; i++) {
    least = fmin(least, nist_digits(r->x[i], set->value[i]));
    least_sigma = fmin(least_sigma, nist_digits(r->sigma[i], set->sigma[i]));
  }
  bool good = status == OD_OK && least >= digits && least_sigma >= sigma_digits;
  printf("%-9s  %d  %5.1f  %5.1f  %5.1f  %6ld %6ld  %s%s%s\n", set->model->name, start + 1, least, least_sigma,
         nist_digits(2 * r->cost, set->squares), r->iterations, r->residual_evaluations, label,
         od_ls_reason_text(r->reason), good ? "" : "   <-- too few digits");
  od_ls_result_free(r);
  return good;
}
