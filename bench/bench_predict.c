// Prediction of a whole log with and without exact sensitivities: a nine-state servo, its frequency sweep of 15 s at
// 0.5 ms, eight parameters.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "oracle/fin_servo.h"
#include "predict/predict.h"

enum { COLUMNS = ORACLE_FIN_SERVO_PARAMETERS, RULES = 5 };

static const struct rule {
  const char *name, *figure, *figure_with;
  od_predictor_options options;
} rules[RULES] = {
    {"exact, modes", "prediction, modes", "prediction, modes, with sensitivities", {.rule = {.exact = true}}},
    {"exact, dense",
     "prediction, dense",
     "prediction, dense, with sensitivities",
     {.rule = {.exact = true}, .dense = true}},
    {"rk4", "prediction, rk4", "prediction, rk4, with sensitivities", {.dense = false}},
    {"tr-bdf2", "prediction, tr-bdf2", "prediction, tr-bdf2, with sensitivities", {.dense = false}},
    {"trapezoid", "prediction, trapezoid", "prediction, trapezoid, with sensitivities", {.dense = false}},
};

// One row without or with sensitivities.
typedef struct job {
  od_predictor *predictor;
  double *y, *dy;  // dy NULL: without
} job;

static int start(void *self) {
  (void)self;
  return 0;
}

static int advance(void *self, int predictions) {
  const job *j = self;
  for (int i = 0; i < predictions; i++)
    if (od_predict(j->predictor, NULL, NULL, j->y, j->dy) != OD_OK) return -1;
  return 0;
}

// Largest difference relative to the largest value.
static double difference(const double *a, const double *b, size_t count) {
  double most = 0, size = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i])), size = fmax(size, fabs(b[i]));
  return most / size;
}

int main(void) {
  if (!bench_wants_times()) return 0;
  const od_function function = oracle_fin_servo();
  const int count = oracle_fin_servo_sweep(NULL);
  double *u = malloc((size_t)count * sizeof *u), *y = malloc((size_t)(RULES * count) * sizeof *y);
  double *dy = malloc((size_t)(count * COLUMNS) * sizeof *dy);
  od_plant *plant = NULL;
  if (!u || !y || !dy || od_plant_from_function(&function, &plant, NULL) != OD_OK) return 1;
  oracle_fin_servo_sweep(u);
  bench_pin();

  job jobs[2 * RULES];
  bench_subject subjects[2 * RULES];
  for (int i = 0; i < 2 * RULES; i++) {
    const struct rule *rule = &rules[i / 2];
    const od_logged_inputs log = {.count = count, .step = oracle_fin_servo_step, .u = u};
    jobs[i] = (job){.y = y + i / 2 * count, .dy = i % 2 ? dy : NULL};
    od_error error = {0};
    od_predictor_options options = rule->options;
    options.rule.integrator = od_integrator_find(rule->name);
    if (od_predictor_new(plant, &log, &options, &jobs[i].predictor, &error) != OD_OK) {
      fprintf(stderr, "%s: %s\n", rule->name, error.text);
      return 1;
    }
    subjects[i] = (bench_subject){.figure = i % 2 ? rule->figure_with : rule->figure,
                                  .self = &jobs[i],
                                  .start = start,
                                  .advance = advance,
                                  .steps = 1};
    snprintf(subjects[i].name, sizeof subjects[i].name, "%s%s", rule->name, i % 2 ? ", with sensitivities" : "");
    if (advance(&jobs[i], 1) != 0) return 1;
  }
  if (bench_settle(subjects, 2 * RULES) != 0) return 1;

  printf("Prediction of a log: nine linear states, %d samples, sensitivities by %d parameters\n\n", count, COLUMNS);
  printf("%-16s %14s %8s %22s %8s %14s\n", "rule", "prediction ms", "spread", "with sensitivities ms", "spread",
         "off from first");
  for (int i = 0; i < RULES; i++) {
    const bench_subject *alone = &subjects[2 * i], *with = &subjects[2 * i + 1];
    printf("%-16s %14.3f %6.1f %% %22.3f %6.1f %% %14.2g\n", rules[i].name, 1e3 * bench_best(alone),
           100 * bench_spread(alone), 1e3 * bench_best(with), 100 * bench_spread(with),
           difference(y + i * count, y, (size_t)count));
    bench_write_figures(alone);
    bench_write_figures(with);
  }
  bench_print_method(subjects, 2 * RULES);
  for (int i = 0; i < 2 * RULES; i++) od_predictor_free(jobs[i].predictor);
  od_plant_free(plant);
  free(u), free(y), free(dy);
  return 0;
}
