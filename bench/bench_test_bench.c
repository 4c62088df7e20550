// The friction test bench in closed loop: speed of each integrator and step, and error of its pressures (reference: CVODES). The result is
// the fastest run with errors within 0.05 bar.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "oleodyn/oleodyn.h"
#include "simulate/run.h"

static const double wanted = 0.05e5;  // Pa
enum { OUTPUTS = 2 };

typedef struct loop {
  const od_machine *machine;
  od_plant *plant;
  od_sim *sim;
  const char *integrator;
  double *u;  // inputs at every step, and at stages within a step
  int steps, at, inside;
} loop;

static int start(void *self) {
  loop *l = self;
  l->at = 0;
  return od_sim_start(l->sim, 0, l->u) == OD_OK ? 0 : -1;
}

static int advance(void *self, int steps) {
  loop *l = self;
  int nu = l->plant->nu, each = nu * (1 + l->inside);
  for (int i = 0; i < steps; i++, l->at++) {
    const double *here = l->u + l->at * each;
    double step = od_machine_run(l->machine)->time / l->steps;
    if (l->at >= l->steps || od_sim_step_within(l->sim, step, here + nu, here + each) != OD_OK) return -1;
  }
  return 0;
}

static void destroy(void *self) {
  loop *l = self;
  od_sim_free(l->sim);
  od_plant_free(l->plant);
  free(l->u);
}

static int prepare(loop *l, double step) {
  double time = od_machine_run(l->machine)->time;
  const od_integrator *rule = od_integrator_find(l->integrator);
  if (od_machine_plant(l->machine, NULL, 0, NULL, 0, &l->plant, NULL) != OD_OK) return -1;
  l->steps = (int)lround(time / step);
  l->inside = rule->inside_count;
  l->sim = od_sim_new(l->plant);
  int nu = l->plant->nu;
  l->u = calloc((size_t)(l->steps + 1) * (size_t)(1 + l->inside) * (size_t)nu + 1, sizeof *l->u);
  if (!l->sim || !l->u) return -1;
  od_sim_set_integrator(l->sim, rule);
  double *at = l->u;
  for (int i = 0; i <= l->steps; i++)
    for (int k = 0; k <= l->inside; k++, at += nu)
      od_machine_inputs(l->machine, step * (i + (k ? rule->inside[k - 1] : 0)), at);
  return 0;
}

static od_table *rows(const od_machine *machine, const char *integrator, double step, double row) {
  int output[OUTPUTS] = {od_machine_output_find(machine, "error_pm"), od_machine_output_find(machine, "error_rm")};
  const od_run_options o = {.step = step,
                            .every = (int)lround(row / step),
                            .integrator = integrator,
                            .tolerance = 1e-9,
                            .outputs = output,
                            .output_count = OUTPUTS,
                            .unjudged = true};
  od_table *t = NULL;
  od_error err = {0};
  if (od_run(machine, &o, &t, NULL, &err) == OD_OK) return t;
  fprintf(stderr, "%s in steps of %g s: %s\n", integrator, step, err.text);
  od_table_free(t);
  return NULL;
}

static double distance(const od_table *a, const od_table *b) {
  double most = 0;
  for (long i = 0; i < a->rows; i++)
    for (int k = 1; k <= OUTPUTS; k++)
      most = fmax(most, fabs(a->data[i * a->columns + k] - b->data[i * b->columns + k]));
  return most;
}

// One run: prints its row. Returns the ratio of simulated time to processor time if the run is accurate enough, else 0.
static double try(const od_machine *machine, const char *name, const char *integrator, double step,
                  const od_table *exact) {
  od_table *t = rows(machine, integrator, step, 4e-3);
  if (!t) return 0;
  double off = distance(t, exact);
  od_table_free(t);
  loop l = {.machine = machine, .integrator = integrator};
  if (prepare(&l, step) != 0) return 0;
  bench_subject s = {
      .step = step, .self = &l, .start = start, .advance = advance, .destroy = destroy, .steps = l.steps};
  snprintf(s.name, sizeof s.name, "%s %s", name, integrator);
  int failed = bench_settle(&s, 1);
  double faster = failed || !bench_wants_times() ? 0 : step / bench_best(&s);
  printf("  %-10s %-10s %8.3g ms %10.2g bar %8.1f us %8.0f\n", name, integrator, step * 1e3, off / 1e5,
         bench_best(&s) * 1e6, faster);
  destroy(&l);
  return off < wanted ? faster : 0;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: bench_test_bench MACHINE.yaml\n"), 2;
  static const char *const variants[] = {NULL, "sine-200", "step-20", "step-200"};
  static const double steps[] = {2e-3, 1e-3, 0.5e-3, 0.25e-3};
  bench_pin();
  printf("Friction test bench in closed loop, one core: pressures against CVODES with 1e-9\n");
  printf("  %-10s %-10s %11s %14s %11s %8s\n", "run", "rule", "step", "off by", "per step", "faster");
  int code = 0;
  for (int v = 0; v < 4; v++) {
    od_messages *messages = od_messages_new();
    od_machine *machine = NULL;
    const od_load_options options = {.variant = variants[v]};
    if (od_machine_load(argv[1], &options, &machine, messages) != OD_OK) od_messages_print(messages, stderr, false);
    od_messages_free(messages);
    od_table *exact = machine ? rows(machine, "cvodes", 4e-3, 4e-3) : NULL;
    const char *name = variants[v] ? variants[v] : "sine-20";
    double best = 0;
    for (int i = 0; exact && i < 4; i++) {
      best = fmax(best, try(machine, name, "trapezoid", steps[i], exact));
      best = fmax(best, try(machine, name, "tr-bdf2", steps[i], exact));
    }
    if (exact) printf("  %s within 0.05 bar: %.0f times faster than real time\n", name, best);
    code = code || !exact;
    od_table_free(exact);
    od_machine_free(machine);
  }
  return code;
}
