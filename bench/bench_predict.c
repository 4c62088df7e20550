// Prediction of a whole log with and without exact sensitivities: a nine-state servo, its frequency sweep of 15 s at
// 0.5 ms, eight parameters.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "predict/predict.h"
#include "oracle/fin_servo.h"
#include "subject.h"

typedef struct row {
  const char *name;
  od_predictor_options options;
  int repetitions;
} row;

static const row table[] = {
    {"exact, modes", {.rule = {.exact = true}}, 50},
    {"exact, dense", {.rule = {.exact = true}, .dense = true}, 10},
    {"rk4", {.dense = false}, 2},
    {"tr-bdf2", {.dense = false}, 2},
    {"trapezoid", {.dense = false}, 2},
};

// Least time of a prediction, ms; negative after a failure.
static double best_time(od_predictor *predictor, int repetitions, double *y, double *dy) {
  double best = INFINITY;
  for (int i = 0; i < repetitions; i++) {
    const double begin = bench_now();
    if (od_predict(predictor, NULL, NULL, y, dy) != OD_OK) return -1;
    best = fmin(best, bench_now() - begin);
  }
  return 1e3 * best;
}

// Largest difference relative to the largest value.
static double difference(const double *a, const double *b, size_t count) {
  double most = 0, size = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
  return most / size;
}

int main(void) {
  enum { COLUMNS = ORACLE_FIN_SERVO_PARAMETERS };
  const od_function function = oracle_fin_servo();
  const int count = oracle_fin_servo_sweep(NULL);
  double *u = malloc((size_t)count * sizeof *u), *y = malloc((size_t)count * sizeof *y);
  double *dy = malloc((size_t)(count * COLUMNS) * sizeof *dy), *first = malloc((size_t)count * sizeof *first);
  od_plant *plant = NULL;
  if (!u || !y || !dy || !first || od_plant_from_function(&function, &plant, NULL) != OD_OK) return 1;
  oracle_fin_servo_sweep(u);
  bench_pin();
  printf("Prediction of a log: nine linear states, %d samples, sensitivities by %d parameters\n\n", count, COLUMNS);
  printf("%-16s %14s %22s %14s\n", "rule", "prediction ms", "with sensitivities ms", "off from first");
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const od_drive log = {.count = count, .step = oracle_fin_servo_step, .u = u};
    od_predictor *predictor = NULL;
    od_error error = {0};
    od_predictor_options options = table[i].options;
    options.rule.integrator = od_integrator_find(table[i].name);
    if (od_predictor_new(plant, &log, &options, &predictor, &error) != OD_OK) {
      fprintf(stderr, "%s: %s\n", table[i].name, error.text);
      return 1;
    }
    const double alone = best_time(predictor, table[i].repetitions, y, NULL);
    const double with = best_time(predictor, table[i].repetitions, y, dy);
    if (i == 0)
      for (int k = 0; k < count; k++) first[k] = y[k];
    printf("%-16s %14.3f %22.3f %14.2g\n", table[i].name, alone, with, difference(y, first, (size_t)count));
    od_predictor_free(predictor);
  }
  od_plant_free(plant);
  free(u), free(y), free(dy), free(first);
  return 0;
}
