// How far off a run is, judged by CVODES at a tight tolerance, over random machines and steps.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "simulate/run.h"
#include "support/machines.h"
#include "support/random_file.h"
#include "support/random_machine.h"

static od_table *run(const od_machine *m, const od_run_options *o, od_run_report *r, od_error *err) {
  od_table *t = NULL;
  od_status status = od_run(m, o, &t, r, err);
  if (status == OD_OK) return t;
  od_table_free(t);
  return NULL;
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  int count = argc > 2 ? atoi(argv[2]) : 100;
  od_integrator rule = argc > 3 ? OD_RK4 : OD_TRAPEZOID;
  int good = 0, bad = 0, missed = 0, alarms = 0;
  for (int i = 0; i < count; i++) {
    uint64_t seed = first + (uint64_t)i;
    char text[8000];
    od_random_file(seed, text, sizeof text);
    od_machine *m = od_test_machine_text(text);
    od_dice dice = {seed * 77 + 5};
    od_dice_uniform(&dice, 0, 1);
    double h = exp(od_dice_uniform(&dice, log(3e-5), log(3e-2))), time = od_machine_run(m)->time;
    long steps = lround(ceil(time / h));
    h = time / (double)steps;
    int outputs[8], n = od_machine_run(m)->output_count;
    for (int k = 0; k < n; k++) outputs[k] = od_machine_run(m)->outputs[k];
    long every = 1;
    od_run_report report = {0};
    od_error err = {0};
    od_run_options o = {.no_trial = !getenv("OD_WORDS"),
                        .time = time,
                        .step = h,
                        .integrator = rule,
                        .outputs = outputs,
                        .output_count = n,
                        .every = (int)every};
    od_table *t = run(m, &o, &report, &err);
    o.integrator = OD_CVODES;
    o.tolerance = 1e-9;
    od_table *c = t ? run(m, &o, NULL, &err) : NULL;
    if (c) {
      double worst = 0, estimated = 0;
      int which = 0;
      for (int k = 1; k <= n; k++) {
        od_summary s = od_table_summary(c, k);
        double most = 0, range = s.max - s.min;
        for (long row = 0; row < c->rows; row++)
          most = fmax(most, fabs(c->data[row * c->columns + k] - t->data[row * c->columns + k]));
        if (!(range > 1e-9 * fmax(fabs(s.max), fabs(s.min)))) continue;
        double part = report.accuracy.error[k - 1].part;
        if (most / range > worst) worst = most / range, which = k - 1;
        estimated = fmax(estimated, part);
      }
      bool is_bad = worst > 0.03, is_good = worst < 0.003, warned = report.verdict.trust != OD_SOUND;
      bad += is_bad, good += is_good;
      missed += is_bad && !warned, alarms += is_good && warned;
      printf("%llu %-12.12s h %.3g true %.3g estimated %.3g ratio %.3g%s%s\n", (unsigned long long)seed,
             strchr(text, '\n') + 1, h, worst, estimated, estimated / worst,
             is_bad && !warned   ? " MISSED"
             : is_good && warned ? " FALSE"
                                 : "",
             is_bad || is_good ? "" : " -");
      (void)which;
    } else
      printf("%llu failed %s\n", (unsigned long long)seed, err.text);
    if (getenv("OD_WORDS"))
      for (int k = 0; k < report.verdict.count; k++) printf("   %s\n", report.verdict.remark[k].text);
    od_run_report_free(&report);
    od_table_free(t);
    od_table_free(c);
    od_machine_free(m);
  }
  printf("bad %d missed %d (%.1f %%), good %d false %d (%.1f %%)\n", bad, missed, 100.0 * missed / bad, good, alarms,
         100.0 * alarms / good);
}
