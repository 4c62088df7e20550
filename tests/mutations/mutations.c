// Damages logs of machines in a known way and counts how often the verdict of an observer or a fit, and its first listed cause,
// are correct.
//
//   mutations [PER_KIND [SEED [KIND [RIG]]]]
//
// Logs come from the machines of cases/, with separate inputs and steps of a quarter of the log's, and with noise that is
// drawn here. Thresholds of the diagnosis were tuned on seeds below 1000; the evaluated seeds begin at 5000. The exit code is
// 1 if fewer than 98 % of the verdicts or 80 % of the causes are correct.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/observe.h"
#include "identify/fit.h"
#include "machine/machine.h"
#include "oleodyn/sim.h"
#include "random/random.h"

enum { MOST_SENSORS = 6, MOST_INPUTS = 2, MOST_CHANGES = 6, FINER = 4, KINDS = 11 };

// --- Machines -----------------------------------------------------------------------------------------------------

typedef struct drive {
  double mean, size, low, high;  // of its sum of sines; Hz
} drive;

typedef struct rig {
  const char *name, *machine, *variant, *integrator, *file;
  bool fit;
  double time, step;
  const char *sensor[MOST_SENSORS];
  double sigma[MOST_SENSORS];
  drive input[MOST_INPUTS];
  const char *number[MOST_CHANGES];  // that may change
} rig;

#define CASES OD_SOURCE_DIR "/cases/"
static const rig rigs[] = {
    {.name = "fourbar-valve",
     .machine = CASES "fourbar-valve/machine.yaml",
     .variant = "3-S1",
     .integrator = "trapezoid",
     .time = 5,
     .step = 2e-3,
     .sensor = {"cylinder.length", "P.pressure", "A.pressure", "B.pressure"},
     .sigma = {1e-3, 0.5e5, 0.5e5, 0.5e5},
     .input = {{0, 9, 0.3, 1.5}},
     .number = {"relief.area", "pump.flow", "A.volume", "oil.density"},
     .file = "model: {variant: 3-S1}\ninitial: {cylinder.length: 5 mm, cylinder.rate: 10 mm/s, P.pressure: 2 bar, "
             "A.pressure: 2 bar, B.pressure: 2 bar}\nnoise: {pressures: 300 Pa, acceleration: 1e-4}\n"
             "parameters: {oil.kp: {start: 1550 MPa, sigma: 100 MPa}}\nfilter: ekf\n"},
    {.name = "crane",
     .machine = CASES "crane/machine.yaml",
     .integrator = "trapezoid",
     .time = 8,
     .step = 4e-3,
     .sensor = {"heel.angle", "elbow.angle", "heel.rate", "elbow.rate", "lift.force"},
     .sigma = {0.5e-3, 0.5e-3, 5e-3, 5e-3, 200},
     .input = {{3e3, 5e3, 0.1, 1}, {-1e3, 2e3, 0.15, 1.2}},
     .number = {"lift.stiffness", "tilt.stiffness", "payload.point.mass", "lift.damping"},
     .file = "initial: {heel.angle: 1 mrad, elbow.angle: 1 mrad, heel.rate: 5 mrad/s, elbow.rate: 5 mrad/s}\n"
             "noise: {acceleration: 1e-3}\nfilter: ekf\n"},
    {.name = "slider-crank",
     .machine = CASES "slider-crank/machine.yaml",
     .integrator = "trapezoid",
     .time = 4,
     .step = 2e-3,
     .sensor = {"main.angle", "main.rate", "guide.position", "guide.rate"},
     .sigma = {5e-3, 20e-3, 1e-3, 10e-3},
     .number = {"crank.beam.mass", "slider.point.mass", "gravity[1]", "rod.beam.length"},
     .file = "initial: {main.angle: 5 mrad, main.rate: 20 mrad/s}\nnoise: {acceleration: 1e-2}\nfilter: ekf\n"},
    {.name = "hydrostatic",
     .machine = CASES "hydrostatic-transmission/machine.yaml",
     .integrator = "tr-bdf2",
     .time = 5,
     .step = 2e-3,
     .sensor = {"A.pressure", "B.pressure", "shaft.rate", "pump.rate"},
     .sigma = {0.5e5, 0.5e5, 0.1, 0.1},
     .input = {{0.5, 0.3, 0.2, 1}, {0.8, 0.15, 0.2, 1}},
     .number = {"motor.displacement", "pump.displacement", "wheel.inertia", "oil.modulus"},
     .file = "initial: {shaft.angle: 1 mrad, shaft.rate: 0.1 rad/s, A.pressure: 1 bar, B.pressure: 1 bar, pump.rate: "
             "0.1 rad/s}\nnoise: {pressures: 300 Pa, acceleration: 1e-3}\nfilter: ekf\n"},
    {.name = "position-servo",
     .machine = CASES "position-servo/machine.yaml",
     .integrator = "tr-bdf2",
     .time = 0.8,
     .step = 2e-4,
     .sensor = {"guide.position", "P.pressure", "A.pressure", "B.pressure"},
     .sigma = {1e-4, 0.5e5, 0.5e5, 0.5e5},
     .input = {{0.3, 0.2, 0.2, 1}},
     .number = {"load.mass", "oil.modulus", "valve.frequency", "pump.flow", "control.kp", "relief.set"},
     .file = "initial: {guide.position: 1 mm, guide.rate: 1 mm/s, P.pressure: 1 bar, A.pressure: 1 bar, B.pressure: 1 "
             "bar}\nnoise: {pressures: 300 Pa, acceleration: 1e-3}\nfilter: ekf\n"},
    {.name = "crane fit",
     .machine = CASES "crane/machine.yaml",
     .integrator = "trapezoid",
     .fit = true,
     .time = 6,
     .step = 4e-3,
     .sensor = {"heel.angle", "elbow.angle", "heel.rate", "elbow.rate", "lift.force"},
     .sigma = {0.5e-3, 0.5e-3, 5e-3, 5e-3, 200},
     .input = {{3e3, 5e3, 0.1, 1}, {-1e3, 2e3, 0.15, 1.2}},
     .number = {"lift.stiffness", "tilt.stiffness", "payload.point.mass"},
     .file =
         "parameters: {payload.point.mass: {start: 230 kg, low: 50 kg, high: 800 kg}, lift.damping: {start: 15 kN s/m, "
         "low: 0, high: 100 kN s/m}}\nfit: {noise: known}\n"},
    {.name = "fin-servo fit",
     .machine = CASES "fin-servo/machine.yaml",
     .integrator = "rk4",
     .fit = true,
     .time = 2,
     .step = 1e-3,
     .sensor = {"piston.position", "chamber.pressure"},
     .sigma = {20e-6, 0.3e5},
     .input = {{0.05, 0.2, 2, 25}},
     .number = {"piston.mass", "piston.stiffness", "chamber.area", "amplifier.gain"},
     .file =
         "parameters: {piston.damping: {start: 100 N s/m, low: 0, high: 1000 N s/m}, spool.frequency: {start: 600 rad/s, "
         "low: 100 rad/s, high: 2000 rad/s}}\nfit: {integrator: rk4, noise: known}\n"},
};
enum { RIGS = sizeof rigs / sizeof *rigs };

// --- Mutations ----------------------------------------------------------------------------------------------------

enum { NONE, DELAY, OFFSET, SCALE, SIGN, UNIT, SWAP, GAUGE, CLOCK, PARAMETER, NOISE };
static const char *const kind_name[KINDS] = {"none", "delay", "offset", "scale",     "sign", "unit",
                                             "swap", "gauge", "clock",  "parameter", "noise"};

typedef struct mutation {
  int kind, column, other;  // columns: sensors, then inputs; -1: all
  double amount, at;
  const char *number;
} mutation;

typedef struct log {
  const rig *r;
  int ns, nu;
  long rows;
  double *y, *u;  // rows x ns, rows x nu
  const char *unit[MOST_SENSORS + MOST_INPUTS], *name[MOST_SENSORS + MOST_INPUTS];
} log_of;

static const double two_pi = 6.283185307179586;
static uint64_t seed_now;
static uint64_t drawn;
static double uniform(double low, double high) {
  return low + (high - low) * od_random_uniform(seed_now, od_random_stream("mutation"), drawn++, OD_USE_START);
}
static int choose(int count) {
  int i = (int)uniform(0, count);
  return i < count ? i : count - 1;
}
static double sign_of(void) {
  return uniform(0, 1) < 0.5 ? -1 : 1;
}

static int count_of(const char *const *list, int most) {
  int n = 0;
  while (n < most && list[n]) n++;
  return n;
}

static void fail(const char *what, const od_error *err) {
  fprintf(stderr, "%s: %s\n", what, err ? err->text : "");
  exit(2);
}

// --- The motion ---------------------------------------------------------------------------------------------------

typedef struct wave {
  double mean, size[3], frequency[3], phase[3];
} wave;

static wave draw_wave(const drive *d) {
  wave w = {.mean = d->mean};
  for (int i = 0; i < 3; i++) {
    w.size[i] = d->size * uniform(0.25, 0.4);
    w.frequency[i] = d->low * pow(d->high / d->low, uniform(i / 3.0, (i + 1) / 3.0));
    w.phase[i] = uniform(0, two_pi);
  }
  return w;
}

// Begins at the mean, within a tenth of a second.
static double wave_at(const wave *w, double t) {
  double sum = 0;
  for (int i = 0; i < 3; i++) sum += w->size[i] * sin(two_pi * w->frequency[i] * t + w->phase[i]);
  return w->mean + sum * (1 - exp(-t / 0.1));
}

static od_machine *load_machine(const rig *r) {
  od_machine *m = NULL;
  od_messages *messages = od_messages_new();
  const od_load_options options = {.variant = r->variant};
  if (od_machine_load(r->machine, &options, &m, messages) != OD_OK) {
    od_messages_print(messages, stderr, false);
    exit(2);
  }
  od_messages_free(messages);
  return m;
}

// Clean outputs and inputs in a quarter of the log's steps; the mutation's number changes at its time.
static double *simulate(const od_machine *m, const rig *r, const wave *w, const mutation *mu, log_of *l, long fine) {
  int output[MOST_SENSORS], number = mu->number ? od_machine_number_find(m, mu->number) : -1;
  for (int i = 0; i < l->ns; i++) {
    output[i] = od_machine_output_find(m, r->sensor[i]);
    if (output[i] < 0) fail(r->sensor[i], NULL);
  }
  if (mu->number && number < 0) fail(mu->number, NULL);
  od_plant *plant = NULL;
  od_error err = {0};
  if (od_machine_plant(m, output, l->ns, &number, number >= 0, &plant, &err) != OD_OK) fail(r->name, &err);
  od_sim *sim = od_sim_new(plant);
  od_sim_set_integrator(sim, od_integrator_find(r->integrator));
  double *y = calloc((size_t)fine * (size_t)l->ns, sizeof *y), u[MOST_INPUTS], h = r->step / FINER;
  bool changed = false;
  for (int i = 0; i < l->nu; i++) u[i] = wave_at(&w[i], 0);
  if (od_sim_start(sim, 0, u) != OD_OK) fail("start", NULL);
  for (long k = 0; k < fine; k++) {
    double t = (double)k * h;
    if (number >= 0 && !changed && t >= mu->at) {
      double p;
      od_sim_parameters(sim, &p);
      p *= mu->amount;
      if (od_sim_set_parameters(sim, &p) != OD_OK) fail("parameter", NULL);
      changed = true;
    }
    if (od_sim_outputs(sim, y + k * l->ns) != OD_OK) fail("outputs", NULL);
    for (int i = 0; i < l->nu; i++) u[i] = wave_at(&w[i], t + h);
    if (k + 1 < fine && od_sim_step(sim, h, u) != OD_OK) fail("step", NULL);
  }
  od_sim_free(sim);
  od_plant_free(plant);
  return y;
}

static double gaussian(long at, int column) {
  return od_random_gaussian(seed_now, od_random_stream("noise") + (uint32_t)column, (uint64_t)at, OD_USE_NOISE);
}

// Straight between two fine steps.
static double at_time(const double *fine, long rows, int stride, int i, double place) {
  if (place < 0) place = 0;
  if (place > (double)(rows - 2)) place = (double)(rows - 2);
  long k = (long)place;
  double part = place - (double)k;
  return (1 - part) * fine[k * stride + i] + part * fine[(k + 1) * stride + i];
}

// --- Damage -------------------------------------------------------------------------------------------------------

// Root mean square of the change of a column by a delay of this many rows.
static double change_by(const log_of *l, int column, int rows) {
  const double *x = column < l->ns ? l->y + column : l->u + column - l->ns;
  int stride = column < l->ns ? l->ns : l->nu;
  double sum = 0;
  for (long k = rows; k < l->rows; k++) sum += pow(x[k * stride] - x[(k - rows) * stride], 2);
  return sqrt(sum / (double)l->rows);
}

static void statistics(const log_of *l, int column, double *mean, double *rms, double *range) {
  const double *x = column < l->ns ? l->y + column : l->u + column - l->ns;
  int stride = column < l->ns ? l->ns : l->nu;
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0;
  for (long k = 0; k < l->rows; k++) {
    double v = x[k * stride];
    low = fmin(low, v), high = fmax(high, v), sum += v, squares += v * v;
  }
  *mean = sum / (double)l->rows, *rms = sqrt(squares / (double)l->rows), *range = high - low;
}

// A fault that is visible in the data: several times the noise, or some percent of an input's range.
static double least_visible(const log_of *l, int column) {
  double mean, rms, range;
  statistics(l, column, &mean, &rms, &range);
  return column < l->ns ? 3 * l->r->sigma[column] : 0.05 * range;
}

static double unit_ratio(const char *unit) {
  static const struct {
    const char *unit;
    double ratio[4];
  } known[] = {{"Pa", {0.1, 10, 1e-5, 1e5}},
               {"m", {1000, 1e-3, 100, 0.01}},
               {"rad", {57.29578, 1 / 57.29578}},
               {"rad/s", {9.5492966, 1 / 9.5492966, 57.29578}},
               {"N", {1000, 1e-3}},
               {"", {1000, 1e-3}}};
  int at = 0, n = 0;
  while (known[at].unit[0] && strcmp(known[at].unit, unit) != 0) at++;
  while (n < 4 && known[at].ratio[n] > 0) n++;
  return known[at].ratio[choose(n)];
}

static bool is_pressure(const log_of *l, int column) {
  return column < l->ns && !strcmp(l->unit[column], "Pa");
}

// Which mutations a machine can have.
static bool applies(const log_of *l, int kind) {
  int pressures = 0, pairs = 0;
  for (int a = 0; a < l->ns; a++) {
    pressures += is_pressure(l, a);
    for (int b = a + 1; b < l->ns; b++) pairs += !strcmp(l->unit[a], l->unit[b]);
  }
  return kind == GAUGE ? pressures > 0 : kind == SWAP ? pairs > 0 : true;
}

static void draw_model_fault(const rig *r, int kind, mutation *m) {
  *m = (mutation){.kind = kind, .column = -1, .other = -1};
  if (kind == CLOCK)
    m->other = choose(2), m->amount = sign_of() * (m->other ? uniform(0.005, 0.03) : uniform(0.03, 0.1));
  if (kind != PARAMETER) return;
  m->number = r->number[choose(count_of(r->number, MOST_CHANGES))];
  m->amount = uniform(0, 1) < 0.5 ? uniform(0.6, 0.85) : uniform(1.15, 1.5);
  m->at = uniform(0, 1) < 0.3 && !r->fit ? 0 : r->time * uniform(0.3, 0.6);
}

static void draw_column_fault(const log_of *l, mutation *m) {
  int columns = l->ns + l->nu;
  double mean, rms, range;
  m->column = choose(columns);
  statistics(l, m->column, &mean, &rms, &range);
  double visible = least_visible(l, m->column);
  switch (m->kind) {
    case DELAY:
      m->amount = floor(uniform(3, 25));
      while (change_by(l, m->column, (int)m->amount) < visible) {
        if (m->amount < 60)
          m->amount *= 2;
        else
          m->column = choose(columns), m->amount = floor(uniform(3, 25)), visible = least_visible(l, m->column);
      }
      break;
    case OFFSET:
      if (m->column < l->ns)
        m->amount = sign_of() * l->r->sigma[m->column] * uniform(5, 25);
      else
        m->amount = sign_of() * range * uniform(0.08, 0.3);
      // An offset of about one bar is another fault.
      if (is_pressure(l, m->column) && fabs(fabs(m->amount) - 1e5) < 0.15e5) m->amount *= 2;
      break;
    case SCALE:
      m->amount = uniform(0, 1) < 0.5 ? uniform(0.75, 0.93) : uniform(1.08, 1.35);
      for (int i = 0; i < 20 && fabs(m->amount - 1) * rms < visible; i++)
        m->column = choose(columns), statistics(l, m->column, &mean, &rms, &range),
        visible = least_visible(l, m->column);
      break;
    case SIGN: m->amount = -1; break;
    case UNIT: m->amount = unit_ratio(l->unit[m->column]); break;
    case SWAP:
      do m->column = choose(l->ns), m->other = choose(l->ns);
      while (m->column == m->other || strcmp(l->unit[m->column], l->unit[m->other]) != 0);
      break;
    case GAUGE: m->column = -1, m->amount = uniform(0, 1) < 0.5 ? 101325 : 1e5; break;
    case NOISE: m->column = choose(l->ns), m->amount = uniform(1.8, 4); break;
    default: break;
  }
}

static void damage(log_of *l, const mutation *m) {
  double *kept = malloc((size_t)l->rows * sizeof *kept);
  for (int c = 0; c < l->ns + l->nu; c++) {
    double *x = c < l->ns ? l->y + c : l->u + c - l->ns;
    int stride = c < l->ns ? l->ns : l->nu;
    for (long k = 0; k < l->rows; k++) kept[k] = x[k * stride];
    for (long k = 0; k < l->rows; k++) {
      double *v = &x[k * stride];
      if (m->kind == GAUGE && is_pressure(l, c)) *v -= m->amount;
      if (m->column != c) continue;
      if (m->kind == DELAY) *v = kept[k >= (long)m->amount ? k - (long)m->amount : 0];
      if (m->kind == OFFSET) *v += m->amount;
      if (m->kind == SCALE || m->kind == SIGN || m->kind == UNIT) *v *= m->amount;
      if (m->kind == SWAP) {
        double *w = &l->y[k * l->ns + m->other], first = *v;
        *v = *w, *w = first;
      }
    }
  }
  free(kept);
}

// --- One log ------------------------------------------------------------------------------------------------------

static void write_log(const log_of *l, const mutation *m, const char *path) {
  od_table *t = od_table_new(1 + l->ns + l->nu);
  od_error err = {0};
  double row[1 + MOST_SENSORS + MOST_INPUTS];
  od_table_label(t, 0, "time", "s");
  for (int c = 0; c < l->ns + l->nu; c++) od_table_label(t, 1 + c, l->name[c], l->unit[c]);
  for (long k = 0; k < l->rows; k++) {
    row[0] = (double)k * l->r->step * (m->kind == CLOCK && !m->other ? 1 + m->amount : 1);
    memcpy(row + 1, l->y + k * l->ns, (size_t)l->ns * sizeof *row);
    memcpy(row + 1 + l->ns, l->u + k * l->nu, (size_t)l->nu * sizeof *row);
    od_table_append(t, row);
  }
  if (od_table_write_csv(t, path, &err) != OD_OK) fail(path, &err);
  od_table_free(t);
}

static void make_log(const rig *r, int kind, log_of *l, mutation *m, const char *path) {
  od_machine *machine = load_machine(r);
  wave w[MOST_INPUTS];
  *l = (log_of){.r = r, .ns = count_of(r->sensor, MOST_SENSORS), .nu = od_machine_input_count(machine)};
  for (int i = 0; i < l->nu; i++) w[i] = draw_wave(&r->input[i]);
  for (int i = 0; i < l->ns; i++) {
    l->name[i] = r->sensor[i];
    l->unit[i] = od_machine_output_unit(machine, od_machine_output_find(machine, r->sensor[i]));
  }
  for (int i = 0; i < l->nu; i++) {
    l->name[l->ns + i] = od_machine_input_name(machine, i);
    l->unit[l->ns + i] = od_machine_input_unit(machine, i);
  }
  draw_model_fault(r, kind, m);
  l->rows = (long)lround(r->time / r->step) + 1;
  long fine = (long)((double)(l->rows + 1) * FINER * 1.05);
  double *y = simulate(machine, r, w, m, l, fine);
  double clock = m->kind == CLOCK && m->other ? 1 + m->amount : 1;
  l->y = malloc((size_t)l->rows * (size_t)l->ns * sizeof *l->y);
  l->u = malloc((size_t)l->rows * (size_t)l->nu * sizeof *l->u + 8);
  for (long k = 0; k < l->rows; k++) {
    for (int i = 0; i < l->ns; i++) l->y[k * l->ns + i] = at_time(y, fine, l->ns, i, (double)k * FINER / clock);
    for (int i = 0; i < l->nu; i++) l->u[k * l->nu + i] = wave_at(&w[i], (double)k * r->step);
  }
  if (kind != NONE && kind != CLOCK && kind != PARAMETER) draw_column_fault(l, m);
  for (long k = 0; k < l->rows; k++)
    for (int i = 0; i < l->ns; i++)
      l->y[k * l->ns + i] += r->sigma[i] * (m->kind == NOISE && m->column == i ? m->amount : 1) * gaussian(k, i);
  damage(l, m);
  write_log(l, m, path);
  // Names belong to the machine.
  for (int c = 0; c < l->ns + l->nu; c++) l->name[c] = strdup(l->name[c]), l->unit[c] = strdup(l->unit[c]);
  free(y);
  od_machine_free(machine);
}

static void write_file(const rig *r, const char *path) {
  FILE *to = fopen(path, "w");
  if (!to) fail(path, NULL);
  fprintf(to, "experiment: %s\nmachine: %s\ntime: %g s\nstep: %.9g s\nsensors:\n", r->name, r->machine, r->time,
          r->step);
  for (int i = 0; i < count_of(r->sensor, MOST_SENSORS); i++)
    fprintf(to, "  %s: {sigma: %.9g}\n", r->sensor[i], r->sigma[i]);
  fputs(r->file, to);
  fclose(to);
}

// --- Verdicts -----------------------------------------------------------------------------------------------------

typedef struct answer {
  od_trust trust;
  char code[40], text[1000], why[1000];
} answer;

static void keep(const od_verdict *v, answer *a) {
  a->trust = v->trust;
  for (int i = 0; i < v->count; i++)
    if (!strncmp(v->remark[i].code, "cause.", 6) && !a->code[0]) {
      snprintf(a->code, sizeof a->code, "%s", v->remark[i].code);
      snprintf(a->text, sizeof a->text, "%s", v->remark[i].text);
    } else if (v->remark[i].trust != OD_SOUND && !a->why[0]) {
      snprintf(a->why, sizeof a->why, "%.100s %.800s", v->remark[i].lead, v->remark[i].text);
    }
}

static void ask(const rig *r, const char *file, const char *log, answer *a) {
  od_messages *messages = od_messages_new();
  const od_experiment_options options = {.log.data = {&log, 1}};
  od_error err = {0};
  *a = (answer){0};
  od_experiment *e = NULL;
  od_fit_plan *plan = NULL;
  od_status status =
      r->fit ? od_fit_plan_load(file, &options, &plan, messages) : od_experiment_load(file, &options, &e, messages);
  if (status != OD_OK) {
    od_messages_print(messages, stderr, false);
    exit(2);
  }
  if (r->fit) {
    od_fitted *f = NULL;
    status = od_fit(plan, &(od_fit_options){.diagnose = true}, &f, &err);
    if (f) keep(&f->verdict, a);
    if (!f) a->trust = OD_UNSOUND, snprintf(a->why, sizeof a->why, "%s", err.text);
    od_fitted_free(f);
    od_fit_plan_free(plan);
  } else {
    od_observed *o = NULL;
    od_observe(e, &(od_observe_options){.no_table = true, .repeat = true, .diagnose = true}, &o, &err);
    if (o) keep(&o->verdict, a);
    od_observed_free(o);
    od_experiment_free(e);
  }
  od_messages_free(messages);
}

static bool cause_is_right(const log_of *l, const mutation *m, const answer *a) {
  char code[40];
  snprintf(code, sizeof code, "cause.%s", kind_name[m->kind]);
  if (strcmp(code, a->code) != 0) return false;
  if (m->kind == PARAMETER) return strstr(a->text, m->number) != NULL;
  return m->column < 0 || strstr(a->text, l->name[m->column]) != NULL;
}

typedef struct tally {
  int logs, verdicts, causes, unclear;
} tally;

static void try_one(const rig *r, int kind, uint64_t seed, const char *folder, tally *t) {
  char file[600], csv[600];
  log_of l;
  mutation m;
  answer a;
  seed_now = seed, drawn = 0;
  snprintf(file, sizeof file, "%s/e.yaml", folder);
  snprintf(csv, sizeof csv, "%s/log.csv", folder);
  write_file(r, file);
  make_log(r, kind, &l, &m, csv);
  ask(r, file, csv, &a);
  bool verdict = (a.trust == OD_SOUND) == (kind == NONE), cause = kind != NONE && cause_is_right(&l, &m, &a);
  t->logs++, t->verdicts += verdict, t->causes += cause, t->unclear += !strcmp(a.code, "cause.unclear");
  printf("%-14s %-9s seed %llu: %s %s, verdict %s%s%s%s; built in: %s %s%s %.4g\n", r->name, kind_name[kind],
         (unsigned long long)seed, verdict ? "right" : "WRONG",
         kind == NONE ? ""
         : cause      ? "right"
                      : "WRONG",
         od_trust_text(a.trust), a.code[0] ? ", " : "", a.code,
         verdict && cause ? ""
         : a.code[0]      ? a.text
                          : a.why,
         m.column >= 0 ? l.name[m.column] : "", m.number ? m.number : "",
         m.other >= 0 && kind == SWAP ? l.name[m.other] : "", m.amount);
  fflush(stdout);
  free(l.y), free(l.u);
  for (int c = 0; c < l.ns + l.nu; c++) free((char *)l.name[c]), free((char *)l.unit[c]);
  unlink(file), unlink(csv);
}

static bool rig_applies(const rig *r, int kind) {
  od_machine *machine = load_machine(r);
  log_of l = {.r = r, .ns = count_of(r->sensor, MOST_SENSORS)};
  for (int i = 0; i < l.ns; i++)
    l.unit[i] = od_machine_output_unit(machine, od_machine_output_find(machine, r->sensor[i]));
  bool yes = applies(&l, kind);
  od_machine_free(machine);
  return yes;
}

int main(int argc, char **argv) {
  int per_kind = argc > 1 ? atoi(argv[1]) : 2;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 5000;
  char folder[] = "/tmp/oleodyn-mutations-XXXXXX";
  tally of[KINDS] = {{0}}, all = {0};
  if (!mkdtemp(folder)) fail(folder, NULL);
  for (int kind = 0; kind < KINDS; kind++) {
    if (argc > 3 && strcmp(argv[3], "all") != 0 && strcmp(argv[3], kind_name[kind]) != 0) continue;
    for (int i = 0, at = 0; i < per_kind && at < RIGS * (per_kind + 1); at++) {
      const rig *r = &rigs[at % RIGS];
      if (argc > 4 && strcmp(argv[4], r->name) != 0) continue;
      if (!rig_applies(r, kind)) continue;
      try_one(r, kind, seed + (uint64_t)(100 * kind + i), folder, &of[kind]);
      i++;
    }
  }
  rmdir(folder);
  printf("%-10s %6s %15s %12s %9s\n", "kind", "logs", "verdict right", "cause right", "not clear");
  for (int k = 0; k < KINDS; k++) {
    printf("%-10s %6d %15d %12d %9d\n", kind_name[k], of[k].logs, of[k].verdicts, of[k].causes, of[k].unclear);
    all.logs += of[k].logs, all.verdicts += of[k].verdicts;
    if (k != NONE) all.causes += of[k].causes;
  }
  int mutated = all.logs - of[NONE].logs;
  printf("verdict right: %.1f %%, first cause right: %.1f %%\n", 100.0 * all.verdicts / all.logs,
         100.0 * all.causes / fmax(mutated, 1));
  return all.verdicts >= 0.98 * all.logs && all.causes >= 0.8 * mutated ? 0 : 1;
}
