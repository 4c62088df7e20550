// The linear model of machines. Oracles: complex steps through the kernels in complex numbers (A, B, C, D), the hydraulic
// natural frequency of a cylinder between two volumes, w^2 = (B/m) (A1^2/V1 + A2^2/V2), and the transfer functions of the
// fin servo's blocks.
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "integrate/sim_block.h"
#include "linear/linear_model.h"
#include "linear/poles.h"
#include "machine/machine.h"
#include "math/dense.h"
#include "mechanics/mechanics.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "support/machine_file.h"

enum { MOST = 64 };
static const double tiny = 1e-30, bound = 1e-8;
static double farthest;  // of all compared entries

// A mass on a rail between two chambers, driven by a valve. In the middle of the stroke.
static const char axis[] =
    "bodies: {load: {point: {mass: 250 kg}, points: {eye: [0, 0]}}}\n"
    "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
    "ground: {points: {base: [-1 m, 0]}}\n"
    "inputs: {command: {unit: V, constant: 0 V}}\n"
    "oil: {density: 870 kg/m^3, law: constant, modulus: 1.2 GPa}\n"
    "volumes: {A: {volume: 0.4 L}, B: {volume: 0.3 L}}\n"
    "tanks: {T: {pressure: 1 bar}, P: {pressure: 140 bar}}\n"
    "valves: {valve: {command: command, time_constant: 8 ms, stroke: 10 V, area: 8 mm^2, discharge: 0.6, ports: {\n"
    "  pa: {between: [P, A], side: positive, curve: linear}, bt: {between: [B, T], side: positive, curve: linear},\n"
    "  pb: {between: [P, B], side: negative, curve: linear}, at: {between: [A, T], side: negative, curve: linear}}}}\n"
    "cylinders: {ram: {between: [ground.base, load.eye], chambers: [A, B], areas: [30 cm^2, 20 cm^2], closed: 0.7 m,\n"
    "  stroke: 0.6 m}}\n"
    "initial: {rail.position: 0, A.pressure: 40 bar, B.pressure: 60 bar}\n"
    "run: {time: 1 s, step: 1 ms, outputs: [rail.position, A.pressure, B.pressure]}\n";

static od_linear_model *linearize(const od_machine *machine, const int *outputs, int count, double time,
                                  od_operating_point *point) {
  od_linear_model *model = NULL;
  od_error err = {0};
  const od_point_options options = {.outputs = outputs, .output_count = count, .time = time};
  if (od_operating_point_find(machine, &options, point, &err) != OD_OK) fail_msg("%s", err.text);
  if (od_linear_model_make(point, NULL, 0, &model, &err) != OD_OK) fail_msg("%s", err.text);
  return model;
}

// --- The complex step

typedef struct bench {
  const od_model *m;
  od_operating_point *p;
  double complex *w, x[MOST], k[MOST], u[MOST];
} bench;

// Rates at x and u, by corrections with the real matrix.
static void find_rates(bench *b) {
  const od_layout *l = &b->m->layout;
  void *work = od_sim_work(b->p->sim);
  const double *w = od_model_plant_scalars(b->p->plant, work);
  const int *in = od_model_plant_integers(b->p->plant, work);
  int nk = od_plant_nk(b->p->plant), pivot[MOST];
  double matrix[MOST * MOST], re[MOST], im[MOST];
  memset(b->w, 0, (size_t)l->scalars * sizeof *b->w);
  for (int i = 0; i < b->m->numbers; i++) b->w[l->theta + i] = w[l->theta + i];
  for (int i = 0; i < OD_CHART_SIZE * b->m->charts; i++) b->w[l->chart + i] = w[l->chart + i];
  for (int i = 0; i < b->m->coordinates; i++) b->w[l->z + i] = w[l->z + i];
  od_mechanics_with_derivatives(b->m)->prepare(b->m, b->w);
  assert_int_equal(b->p->plant->ops->step_matrix(b->p->plant, work, 0, 0, matrix), OD_OK);
  assert_int_equal(od_lu_factor(nk, matrix, pivot), OD_OK);
  for (int i = 0; i < nk; i++) b->k[i] = od_sim_rates(b->p->sim)[i];
  for (int round = 0; round < 6; round++) {
    double complex g[MOST];
    assert_int_equal(od_model_residual_complex(b->m, in, b->w, b->x, b->k, b->u, g), OD_OK);
    for (int i = 0; i < nk; i++) re[i] = creal(g[i]), im[i] = cimag(g[i]);
    od_lu_solve(nk, matrix, pivot, re, 1);
    od_lu_solve(nk, matrix, pivot, im, 1);
    for (int i = 0; i < nk; i++) b->k[i] -= re[i] + I * im[i];
  }
  od_mechanics_with_derivatives(b->m)->closure_forces(b->m, in, b->w);  // for joint loads
}

static double largest_of(const double *row, const double *size, int count) {
  double largest = 0;
  for (int j = 0; j < count; j++) largest = fmax(largest, fabs(row[j]) * size[j]);
  return largest;
}

// Relative to the largest entry of the row, each column in units of its own size. If the row is only round-off, relative to the
// usual size of such rows.
static void compare(const char *what, const char *name, const double *got, const double *want, const double *size,
                    int count, double usual) {
  double largest = largest_of(want, size, count) + 1e-5 * usual;
  for (int j = 0; j < count; j++) farthest = fmax(farthest, fabs(got[j] - want[j]) * size[j] / largest);
  for (int j = 0; j < count; j++)
    if (!(fabs(got[j] - want[j]) * size[j] <= bound * largest))
      fail_msg("%s, %s, column %d: %.12g, not %.12g", what, name, j, got[j], want[j]);
}

// Adds a column of all matrices, weighted, with its state or input displaced.
static void add_column(bench *b, int j, double aside, double weight, double *f, double *h) {
  const od_plant *plant = b->p->plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nu = plant->nu, columns = nx + nu;
  for (int i = 0; i < nx; i++) b->x[i] = od_sim_state(b->p->sim)[i] + (i == j ? aside + tiny * I : 0);
  for (int i = 0; i < nu; i++) b->u[i] = od_sim_inputs(b->p->sim)[i] + (i == j - nx ? aside + tiny * I : 0);
  find_rates(b);
  for (int i = 0; i < nz; i++) f[i * columns + j] += weight * cimag(b->x[nz + i]) / tiny;
  for (int i = 0; i < nx - nz; i++) f[(nz + i) * columns + j] += weight * cimag(b->k[i]) / tiny;
  for (int i = 0; i < b->m->outputs; i++)
    h[i * columns + j] += weight * cimag(od_model_output_value_complex(b->m, b->w, &b->m->output[i])) / tiny;
}

// Rows of outputs that have the same round-off.
static bool is_alike(const od_output *a, const od_output *b) {
  return a->kind == b->kind || (od_model_output_is_reaction(a) && od_model_output_is_reaction(b));
}

// Number of states and inputs at kinks, where the mean of both sides is used.
static int check_matrices(const od_machine *machine, double time) {
  const od_model *m = od_machine_model(machine);
  int *all = calloc((size_t)m->outputs, sizeof *all), ny = m->outputs;
  for (int i = 0; i < ny; i++) all[i] = i;
  od_operating_point point;
  od_linear_model *model = linearize(machine, all, ny, time, &point);
  const od_plant *plant = point.plant;
  int nz = plant->nz, nx = od_plant_nx(plant), nu = plant->nu, columns = nx + nu;
  assert_true(nx <= MOST && nu <= MOST);
  assert_int_equal(model->constants, 0);
  bench b = {.m = m, .p = &point, .w = calloc((size_t)m->layout.scalars, sizeof *b.w)};
  double *f = calloc((size_t)(nx * columns), sizeof *f), *h = calloc((size_t)(ny * columns), sizeof *h);
  double got[2 * MOST], size[2 * MOST];
  int kinks = 0;
  for (int j = 0; j < columns; j++) {
    size[j] = j < 2 * nz || j >= nx ? 1 : plant->scale[j - nz];
    bool kinked = j < nx ? model->state[j].kinked : model->input[j - nx].kinked;
    double at = j < nx ? od_sim_state(point.sim)[j] : od_sim_inputs(point.sim)[j - nx];
    double aside = kinked ? 1e-7 / 8 * fmax(fabs(at), size[j]) : 0;
    kinks += kinked;
    add_column(&b, j, aside, kinked ? 0.5 : 1, f, h);
    if (kinked) add_column(&b, j, -aside, 0.5, f, h);
  }
  for (int i = 0; i < nx + ny; i++) {
    const double *left = i < nx ? model->A + i * nx : model->C + (i - nx) * nx;
    const double *right = i < nx ? model->B + i * nu : model->D + (i - nx) * nu;
    double usual = 0;
    for (int k = 0; i >= nx && k < ny; k++)
      if (is_alike(&m->output[k], &m->output[i - nx])) usual = fmax(usual, largest_of(h + k * columns, size, columns));
    for (int j = 0; j < columns; j++) got[j] = j < nx ? left[j] : right[j - nx];
    compare(i < nx ? "rate" : "output", i < nx ? model->state[i].name : model->output[i - nx].name, got,
            i < nx ? f + i * columns : h + (i - nx) * columns, size, columns, usual);
  }
  free(f), free(h), free(b.w), free(all);
  od_linear_model_free(model);
  od_operating_point_free(&point);
  return kinks;
}

// The four-bar's valve starts with its spool at the edge of its ports: the only kink of these machines there.
static void test_complex_step(void **state) {
  (void)state;
  const char *const cases[] = {"crane", "fourbar-valve", "fin-servo", "slider-crank"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int late = 0; late < 2; late++) {
      char path[512];
      od_machine *machine = NULL;
      od_messages *messages = od_messages_new();
      snprintf(path, sizeof path, "%s/cases/%s/machine.yaml", OD_SOURCE_DIR, cases[i]);
      assert_int_equal(od_machine_load(path, NULL, &machine, messages), OD_OK);
      int kinks = check_matrices(machine, late ? 0.3 : 0);
      if (!late) assert_int_equal(kinks, strcmp(cases[i], "fourbar-valve") == 0);
      od_machine_free(machine);
      od_messages_free(messages);
    }
  print_message("A, B, C and D of four machines: within %.1e of complex steps\n", farthest);
}

// --- The hydraulic natural frequency

static od_pole oscillation(const od_linear_model *model) {
  OD_SCRATCH(scratch);
  od_poles poles;
  assert_int_equal(od_poles_find(model, &scratch, &poles, NULL), OD_OK);
  od_pole found = {0};
  for (int i = 0; i < poles.count; i++)
    if (poles.pole[i].imaginary > found.imaginary) found = poles.pole[i];
  return found;
}

static void test_natural_frequency(void **state) {
  const double positions[] = {-0.2, 0, 0.1, 0.25};
  const double B = 1.2e9, mass = 250, A1 = 30e-4, A2 = 20e-4;
  for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
    char set[80];
    double x = 1 + positions[i] - 0.7, V1 = 0.4e-3 + A1 * x, V2 = 0.3e-3 + A2 * (0.6 - x);
    double w = sqrt(B / mass * (A1 * A1 / V1 + A2 * A2 / V2));
    snprintf(set, sizeof set, "initial.rail.position=%g m", positions[i]);
    od_machine *machine = machine_from(*state, axis, set, NULL);
    od_operating_point point;
    const int output = od_machine_output_find(machine, "rail.position");
    od_linear_model *model = linearize(machine, &output, 1, 0, &point);
    od_pole p = oscillation(model);
    print_message("natural frequency %.3f rad/s, by hand %.3f rad/s\n", hypot(p.real, p.imaginary), w);
    assert_true(fabs(hypot(p.real, p.imaginary) / w - 1) < 1e-3);
    assert_true(fabs(od_pole_frequency(p) * 2 * acos(-1) / w - 1) < 1e-3);
    assert_true(model->rests);
    od_linear_model_free(model);
    od_operating_point_free(&point);
    od_machine_free(machine);
  }
}

// A spool at the edges of its ports: flow gains of both sides, Cd w sqrt(2 dp / rho), and their mean.
static void test_kink(void **state) {
  const double B = 1.2e9, gain = 0.6 * 8e-6 / 10 * sqrt(2.0 / 870), VA = 0.4e-3 + 30e-4 * 0.3,
               VB = 0.3e-3 + 20e-4 * 0.3;
  od_machine *machine = machine_from(*state, axis, NULL, NULL);
  od_operating_point point;
  const int output = od_machine_output_find(machine, "rail.position");
  od_linear_model *m = linearize(machine, &output, 1, 0, &point);
  int spool = 0, A = 0, C = 0;
  for (int i = 0; i < m->states; i++) {
    if (!strcmp(m->state[i].name, "valve.spool")) spool = i;
    if (!strcmp(m->state[i].name, "A.pressure")) A = i;
    if (!strcmp(m->state[i].name, "B.pressure")) C = i;
    assert_true(m->state[i].kinked == !strcmp(m->state[i].name, "valve.spool"));
    if (m->state[i].kinked) assert_non_null(strstr(m->state[i].cause, "'valve'"));
  }
  double to_A = gain * (sqrt(140e5 - 40e5) + sqrt(40e5 - 1e5)) / 2,
         to_B = -gain * (sqrt(140e5 - 60e5) + sqrt(60e5 - 1e5)) / 2;
  assert_true(fabs(m->A[A * m->states + spool] / (B / VA * to_A) - 1) < 1e-3);
  assert_true(fabs(m->A[C * m->states + spool] / (B / VB * to_B) - 1) < 1e-3);
  assert_false(m->input[0].kinked);
  od_linear_model_free(m);
  od_operating_point_free(&point);
  od_machine_free(machine);
}

// Friction at rest: a remark that the model is valid only for motions without sliding. Without friction, and while sliding,
// there is no remark.
static void test_sticking_is_told(void **state) {
  static const struct {
    const char *law, *rate;
    bool narrow;
  } cases[] = {{"lugre, Fs: 400 N, Fc: 300 N, vs: 10 mm/s, sigma_0: 1e7 N/m, sigma_1: 0 N s/m", "0", true},
               {"brown-mcphee, Fs: 400 N, Fc: 300 N, vs: 2 mm/s", "0", true},
               {"brown-mcphee, Fs: 400 N, Fc: 300 N, vs: 0.5 mm/s", "50 mm/s", false},
               {"viscous, viscous: 500 N s/m", "0", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2000];
    snprintf(text, sizeof text,
             "bodies: {load: {point: {mass: 250 kg}}}\n"
             "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0], friction: {law: %s}}}\n"
             "initial: {rail.position: 0, rail.rate: %s}\nrun: {time: 1 s, step: 1 ms, outputs: [rail.position]}\n",
             cases[i].law, cases[i].rate);
    od_machine *machine = machine_from(*state, text, NULL, NULL);
    od_operating_point point;
    const int output = od_machine_output_find(machine, "rail.position");
    od_linear_model *m = linearize(machine, &output, 1, 0, &point);
    const od_linear_signal *narrow = od_linear_narrow(m, 0);
    assert_int_equal(narrow != NULL, cases[i].narrow);
    if (narrow) assert_string_equal(narrow->name, "rail.rate");
    if (narrow) assert_string_equal(narrow->cause, "the friction of 'rail'");
    od_linear_model_free(m);
    od_operating_point_free(&point);
    od_machine_free(machine);
  }
}

// A lever on a cylinder without friction: some derivatives with respect to its angle vanish at rest, because the lever arm
// changes. This is not friction. An added friction is named, for any mechanism.
static void test_levers_do_not_stick(void **state) {
  static const char lever[] =
      "ground: {points: {eye: [0.4 m, -0.6 m]}}\n"
      "gravity: [0, -9.81 m/s^2]\n"
      "bodies: {arm: {beam: {mass: 300 kg, length: 2 m}, points: {eye: [0.8 m, 0]}}}\n"
      "joints: {pin: {type: revolute, between: [ground, arm.start]}}\n"
      "oil: {density: 870 kg/m^3, law: constant, modulus: 1.4 GPa}\n"
      "volumes: {A: {volume: 0.5 L}}\n"
      "tanks: {T: {pressure: 1 bar}}\n"
      "cylinders: {ram: {between: [ground.eye, arm.eye], chambers: [A, T], bore: 60 mm, rod: 40 mm, closed: 0.4 m, stroke: 0.7 m%s}}\n"
      "inputs: {q: {unit: m3/s, constant: 0}}\n"
      "pumps: {pump: {to: A, from: T, flow: q}}\n"
      "initial: {pin.angle: 10 deg, A.pressure: balance from 50 bar}\n"
      "run: {time: 1 s, outputs: [pin.angle]}\n";
  static const char *const friction[] = {"", ", friction: {law: brown-mcphee, Fs: 400 N, Fc: 300 N, vs: 2 mm/s}"};
  for (int i = 0; i < 2; i++) {
    char text[2000];
    snprintf(text, sizeof text, lever, friction[i]);
    od_machine *machine = machine_from(*state, text, NULL, NULL);
    od_operating_point point;
    const int output = od_machine_output_find(machine, "pin.angle");
    od_linear_model *m = linearize(machine, &output, 1, 0, &point);
    const od_linear_signal *narrow = od_linear_narrow(m, 0);
    assert_int_equal(narrow != NULL, i == 1);
    if (narrow) assert_string_equal(narrow->cause, "the friction of 'ram'");
    od_linear_model_free(m);
    od_operating_point_free(&point);
    od_machine_free(machine);
  }
}

// Oscillation: pressures and speed take part, the spool does not. The spool's pole: the spool alone.
static void test_participation(void **state) {
  od_machine *machine = machine_from(*state, axis, NULL, NULL);
  od_operating_point point;
  const int output = od_machine_output_find(machine, "rail.position");
  od_linear_model *model = linearize(machine, &output, 1, 0, &point);
  OD_SCRATCH(scratch);
  od_poles poles;
  assert_int_equal(od_poles_find(model, &scratch, &poles, NULL), OD_OK);
  int spool = -1, speed = -1;
  for (int i = 0; i < model->states; i++) {
    if (!strcmp(model->state[i].name, "valve.spool")) spool = i;
    if (!strcmp(model->state[i].name, "rail.rate")) speed = i;
  }
  assert_true(spool >= 0 && speed >= 0);
  for (int k = 0; k < poles.count; k++) {
    const double *part = poles.participation + k * model->states;
    double sum = 0;
    for (int i = 0; i < model->states; i++) sum += part[i];
    assert_true(fabs(sum - 1) < 1e-12);
    if (poles.pole[k].imaginary != 0) assert_true(part[spool] < 1e-9 && fabs(part[speed] - 0.5) < 1e-3);
    if (fabs(poles.pole[k].real + 125) < 1e-6) assert_true(part[spool] > 0.999);
    if (k > 0)
      assert_true(hypot(poles.pole[k].real, poles.pole[k].imaginary) >=
                  hypot(poles.pole[k - 1].real, poles.pole[k - 1].imaginary) * (1 - 1e-12));
  }
  od_linear_model_free(model);
  od_operating_point_free(&point);
  od_machine_free(machine);
}

// --- Zeros

// Of the fin servo from reference to position: those of lead (4 ms) and notch (2 ms, 0.2), and the pole of the feedback (6 ms).
static void test_zeros(void **state) {
  (void)state;
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  assert_int_equal(od_machine_load(OD_SOURCE_DIR "/cases/fin-servo/machine.yaml", NULL, &machine, messages), OD_OK);
  od_operating_point point;
  const int output = od_machine_output_find(machine, "piston.position"), first = 0;
  od_linear_model *model = linearize(machine, &output, 1, 0, &point);
  OD_SCRATCH(scratch);
  od_pole *zero;
  int count;
  assert_int_equal(od_zeros_find(model, &first, &first, 1, &scratch, &zero, &count, NULL), OD_OK);
  assert_int_equal(count, 4);
  const double complex want[] = {-250, -1 / 6e-3, 500 * (-0.2 + I * sqrt(0.96)), 500 * (-0.2 - I * sqrt(0.96))};
  for (int i = 0; i < 4; i++) {
    double nearest = INFINITY;
    for (int k = 0; k < 4; k++)
      nearest = fmin(nearest, cabs(zero[k].real + I * zero[k].imaginary - want[i]) / cabs(want[i]));
    assert_true(nearest < 1e-8);
  }
  od_linear_model_free(model);
  od_operating_point_free(&point);
  od_machine_free(machine);
  od_messages_free(messages);
}

// Channels x' = -p x + u, y = (z - p) x + u, whose states are mixed by a reflection: each has the transfer function (s + z) / (s + p), so the zeros
// are -z.
static void test_many_inputs(void **state) {
  (void)state;
  enum { N = 70 };
  static double A[N * N], B[N * N], C[N * N], D[N * N], T[N * N];
  int channel[N];
  // A reflection T = 1 - 2 v v' with v = (1, 1, ...) / sqrt(N): T' = T, and its inverse is T.
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) T[i * N + j] = (i == j) - 2.0 / N;
  for (int i = 0; i < N; i++) {
    channel[i] = i;
    D[i * N + i] = 1;
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < N; k++) A[i * N + j] -= T[i * N + k] * (1 + k) * T[k * N + j];
      B[i * N + j] = T[i * N + j];
      C[i * N + j] = (1 + i) * T[i * N + j];  // p = 1 + i, z = 2 (1 + i)
    }
  }
  const od_linear_model model = {.states = N, .inputs = N, .outputs = N, .A = A, .B = B, .C = C, .D = D};
  OD_SCRATCH(scratch);
  od_pole *zero;
  od_error err = {0};
  int count;
  if (od_zeros_find(&model, channel, channel, N, &scratch, &zero, &count, &err) != OD_OK) fail_msg("%s", err.text);
  assert_int_equal(count, N);
  for (int i = 0; i < N; i++) {
    double nearest = INFINITY;
    for (int k = 0; k < N; k++) nearest = fmin(nearest, hypot(zero[k].real + 2 * (1 + i), zero[k].imaginary));
    assert_true(nearest < 1e-9 * (1 + i));
  }
}

// The pressure of a tank does not follow the valve's command. The spool does, and nothing acts back on it.
static void test_no_path(void **state) {
  od_machine *machine = machine_from(*state, axis, NULL, NULL);
  od_operating_point point;
  const int outputs[] = {od_machine_output_find(machine, "T.pressure"), od_machine_output_find(machine, "valve.spool")};
  od_linear_model *model = linearize(machine, outputs, 2, 0, &point);
  const int first = 0, second = 1;
  OD_SCRATCH(scratch);
  od_pole *zero;
  int count;
  assert_int_equal(od_zeros_find(model, &first, &first, 1, &scratch, &zero, &count, NULL), OD_OK);
  assert_int_equal(count, -1);
  assert_int_equal(od_zeros_find(model, &first, &second, 1, &scratch, &zero, &count, NULL), OD_OK);
  assert_int_equal(count, model->states - 1);
  od_linear_model_free(model);
  od_operating_point_free(&point);
  od_machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_complex_step),
      cmocka_unit_test_setup_teardown(test_natural_frequency, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_kink, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_sticking_is_told, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_levers_do_not_stick, machine_file_start, machine_file_end),
      cmocka_unit_test_setup_teardown(test_participation, machine_file_start, machine_file_end),
      cmocka_unit_test(test_zeros),
      cmocka_unit_test(test_many_inputs),
      cmocka_unit_test_setup_teardown(test_no_path, machine_file_start, machine_file_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
