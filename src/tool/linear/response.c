#include "linear/response.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "linear/poles.h"
#include "machine/machine.h"

struct od_linear_response {
  const od_linear_model *model;
  double *A, *B, *C;  // matrices of the model with scaled states
  od_complex *matrix, *right, *G;
  lapack_int *pivot;
  bool (*goes_on)(void *user, double done);
  void *user;
  od_arena arena;
};

double *od_frequencies_make(double low, double high, int count, od_arena *arena) {
  double *f = OD_TAKE(arena, double, count);
  for (int i = 0; f && i < count; i++)
    f[i] = i == 0 ? low : i + 1 == count ? high : low * pow(high / low, (double)i / (count - 1));
  return f;
}

void od_frequencies_range(const od_linear_model *model, double *low, double *high) {
  OD_SCRATCH(scratch);
  od_poles poles;
  *low = INFINITY, *high = 0;
  if (od_poles_find(model, &scratch, &poles, NULL) == OD_OK) {
    double largest = 0;
    for (int i = 0; i < poles.count; i++) largest = fmax(largest, od_pole_frequency(poles.pole[i]));
    for (int i = 0; i < poles.count; i++) {
      double f = od_pole_frequency(poles.pole[i]);
      if (!(f > 1e-9 * largest)) continue;
      *low = fmin(*low, f), *high = fmax(*high, f);
    }
  }
  if (!(*high > 0)) *low = *high = 1;
  // The range consists of whole decades, at most eight. If there are more, the lowest eight decades are kept.
  *low = pow(10, floor(log10(*low)) - 1);
  *high = fmin(pow(10, ceil(log10(*high)) + 1), *low * 1e8);
}

void od_linear_response_free(od_linear_response *r) {
  if (!r) return;
  od_arena_free(&r->arena);
  od_free(r);
}

// Creates a response. States are scaled: x = S xi with the diagonal S that equalizes the sizes of rows and columns of
// A. Returns NULL if out of memory.
od_linear_response *od_linear_response_new(const od_linear_model *m) {
  long n = m->states, nu = m->inputs, ny = m->outputs;
  OD_OWNED(od_linear_response_free) od_linear_response *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  r->model = m;
  r->A = OD_TAKE(&r->arena, double, n *n);
  r->B = OD_TAKE(&r->arena, double, n *nu);
  r->C = OD_TAKE(&r->arena, double, ny *n);
  r->matrix = OD_TAKE(&r->arena, od_complex, n * n);
  r->right = OD_TAKE(&r->arena, od_complex, n * nu);
  r->G = OD_TAKE(&r->arena, od_complex, ny * nu);
  r->pivot = OD_TAKE(&r->arena, lapack_int, n);
  double *scale = OD_TAKE(&r->arena, double, n);
  if (od_arena_status(&r->arena) != OD_OK) return NULL;
  if (n > 0) {
    lapack_int low, high;
    memcpy(r->A, m->A, (size_t)(n * n) * sizeof *r->A);
    LAPACKE_dgebal(LAPACK_ROW_MAJOR, 'S', m->states, r->A, m->states, &low, &high, scale);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < nu; j++) r->B[i * nu + j] = m->B[i * nu + j] / scale[i];
  for (int i = 0; i < ny; i++)
    for (int j = 0; j < n; j++) r->C[i * n + j] = m->C[i * n + j] * scale[j];
  return OD_GIVE(r);
}

void od_linear_response_listen(od_linear_response *r, bool (*goes_on)(void *user, double done), void *user) {
  r->goes_on = goes_on;
  r->user = user;
}

// Computes G without D. Returns OD_INTERRUPTED if the caller requests a stop, and OD_SINGULAR if the model has a pole
// at the frequency.
static od_status dynamic_response(od_linear_response *r, double frequency, od_complex *G) {
  const od_linear_model *m = r->model;
  if (r->goes_on && !r->goes_on(r->user, 0)) return OD_INTERRUPTED;
  int n = m->states, nu = m->inputs;
  for (int i = 0; i < n * n; i++) r->matrix[i] = -r->A[i];
  for (int i = 0; i < n; i++) r->matrix[i * n + i] += I * 2 * acos(-1) * frequency;
  for (int i = 0; i < n * nu; i++) r->right[i] = r->B[i];
  if (n > 0 && nu > 0 && LAPACKE_zgesv(LAPACK_ROW_MAJOR, n, nu, r->matrix, n, r->pivot, r->right, nu) != 0)
    return OD_SINGULAR;
  for (int i = 0; i < m->outputs; i++)
    for (int j = 0; j < nu; j++) {
      od_complex sum = 0;
      for (int k = 0; k < n; k++) sum += r->C[i * n + k] * r->right[k * nu + j];
      G[i * nu + j] = sum;
    }
  return OD_OK;
}

od_status od_linear_response_at(od_linear_response *r, double frequency, od_complex *G) {
  od_status status = dynamic_response(r, frequency, G);
  for (int i = 0; i < r->model->outputs * r->model->inputs && status == OD_OK; i++) G[i] += r->model->D[i];
  return status;
}

// Returns the value of the path at a frequency. Returns NAN if there is no response.
static od_complex path_at(od_linear_response *r, const od_path *path, double frequency) {
  int at = path->output * r->model->inputs + path->input;
  if (dynamic_response(r, frequency, r->G) != OD_OK) return NAN;
  od_complex moving = r->G[at], whole = moving + r->model->D[at];
  if (!path->loop) return whole;
  return cabs(whole) > 0 ? -moving / whole : NAN;  // d - G, without cancellation
}

// --- Loops --------------------------------------------------------------------------------------------------------------

// Returns the number of uses of an input; *by: the last block that uses the input.
static int count_uses(const od_model *m, int input, const od_block **by) {
  int uses = 0;
  for (int i = 0; i < m->blocks; i++)
    for (int k = 0; k < m->block[i].inputs; k++)
      if (m->block_line[m->block[i].line + k].source == input) uses++, *by = &m->block[i];
  for (int i = 0; i < m->instances; i++) uses += m->instance[i].signal == input;
  for (int i = 0; i < m->loads; i++) uses += m->load[i].input == input;
  for (int i = 0; i < m->nodes; i++) uses += m->node[i].input == input;
  return uses;
}

bool od_loop_enters(const od_machine *machine, const od_linear_model *model, const od_path *p) {
  const od_model *m = od_machine_model(machine);
  int output = od_machine_output_find(machine, model->output[p->output].name);
  const od_output *o = &m->output[output];
  const od_block *by = NULL;
  int input = 0, inputs = od_machine_input_count(machine);
  while (input < inputs && strcmp(od_machine_input_name(machine, input), model->input[p->input].name) != 0) input++;
  if (o->kind != OD_OUT_INPUT || model->D[p->output * model->inputs + p->input] == 0) return false;
  if (count_uses(m, input, &by) != 1 || !by) return false;
  return by->states == 0 && o->index >= by->signal && o->index < by->signal + by->outputs;
}

// --- Magnitude, phase and their crossings -------------------------------------------------------------------------------

static double degrees(od_complex g) {
  return carg(g) * 180 / acos(-1);
}

// Returns the angle, shifted by full turns to within half a turn of `other`.
static double near_to(double angle, double other) {
  return angle - 360 * round((angle - other) / 360);
}

// Returns the phase at the lowest frequency. The slope of the magnitude at this frequency gives the number of integrators, each
// with -90 degrees.
static double first_phase(od_linear_response *r, const od_path *path, double frequency) {
  od_complex a = path_at(r, path, frequency), b = path_at(r, path, frequency / 1.1);
  double slope = round(log(cabs(a) / cabs(b)) / log(1.1));
  if (!isfinite(slope)) slope = 0;
  double angle = near_to(degrees(a), 90 * slope);
  // A negative gain is half a turn in either direction. The half turn is counted as lag.
  return angle - 90 * slope > 179 ? angle - 360 : angle;
}

void od_path_table(od_linear_response *r, const od_path *path, const double *frequency, int count, double *magnitude,
                   double *phase) {
  double last = NAN;
  for (int i = 0; i < count; i++) {
    od_complex g = path_at(r, path, frequency[i]);
    magnitude[i] = 20 * log10(cabs(g));
    phase[i] = isnan(last) ? first_phase(r, path, frequency[i]) : near_to(degrees(g), last);
    if (!isnan(phase[i])) last = phase[i];
  }
}

// A function whose zero is a crossing: the logarithm of the gain relative to a level, or the sine of the phase. Callers use the
// sine only where the real part is negative.
typedef double (*crossing)(od_complex g, double level);
static double gain_over(od_complex g, double level) {
  return log(cabs(g) / level);
}
static double lag_over(od_complex g, double level) {
  (void)level;
  return cimag(g) / cabs(g);
}

// Returns the frequency (Hz) of a crossing between `low` and `high`, by bisection of the logarithm. f must have different signs at
// `low` and `high`.
static double locate(od_linear_response *r, const od_path *path, crossing f, double level, double low, double high) {
  bool rises = f(path_at(r, path, high), level) > 0;
  for (int i = 0; i < 60 && high / low > 1 + 1e-14; i++) {
    double middle = sqrt(low * high);
    if ((f(path_at(r, path, middle), level) > 0) == rises)
      high = middle;
    else
      low = middle;
  }
  return sqrt(low * high);
}

// A walk over increasing frequencies that collects margins.
typedef struct walk {
  od_linear_response *response;
  const od_path *path;
  od_margins m;
  od_complex before;  // value at `last`
  double last;        // last frequency; 0: none
  double fallen;      // gain at the bandwidth
  int points;         // number of frequencies so far
} walk;

// Continues the walk at the next frequency, at which the path has the value g.
static void go_to(walk *w, double frequency, od_complex g) {
  od_linear_response *r = w->response;
  const od_path *path = w->path;
  od_margins *m = &w->m;
  od_complex before = w->before;
  double low = w->last, high = frequency;
  if (w->points == 0) w->fallen = cabs(g) / sqrt(2);
  if (cabs(g) > m->peak) m->peak = cabs(g), m->peak_at = frequency;
  if (w->points > 0 && (gain_over(before, 1) > 0) != (gain_over(g, 1) > 0)) {
    double at = locate(r, path, gain_over, 1, low, high);
    double margin = near_to(degrees(path_at(r, path, at)) + 180, 0);
    if (isnan(m->phase) || fabs(margin) < fabs(m->phase)) m->phase = margin, m->phase_at = at;
  }
  if (w->points > 0 && creal(before) < 0 && creal(g) < 0 && (cimag(before) > 0) != (cimag(g) > 0)) {
    double at = locate(r, path, lag_over, 0, low, high);
    od_complex crossed = path_at(r, path, at);
    double gain = 1 / cabs(crossed);
    if (creal(crossed) < 0 && (isnan(m->gain) || fabs(log(gain)) < fabs(log(m->gain)))) m->gain = gain, m->gain_at = at;
  }
  // If the gain falls from the lowest frequency, as with an integrator, there is no bandwidth.
  if (w->points == 1 && cabs(g) * sqrt(high) < cabs(before) * sqrt(low)) w->fallen = NAN;
  if (w->points > 0 && isnan(m->bandwidth) && cabs(before) >= w->fallen && cabs(g) < w->fallen)
    m->bandwidth = locate(r, path, gain_over, w->fallen, low, high);
  w->before = g;
  w->last = frequency;
  w->points++;
}

// Continues the walk at the next frequency, at which the path has the value g. Inserts frequencies while the phase
// changes by more than `most_turn` per point, because a lightly damped pole or zero may be between the two
// frequencies. Bisects at most `depth` times, because a zero on the imaginary axis causes a jump of the phase.
static void resolve(walk *w, double frequency, od_complex g, int depth) {
  static const double most_turn = 15;  // degrees
  bool turns = w->points > 0 && fabs(degrees(g / w->before)) > most_turn;
  if (turns && depth > 0) {
    double middle = sqrt(w->last * frequency);
    resolve(w, middle, path_at(w->response, w->path, middle), depth - 1);
    resolve(w, frequency, g, depth - 1);
  } else {
    go_to(w, frequency, g);
  }
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Lists the frequencies (Hz) of oscillating poles, in increasing order. Margins are also evaluated at these
// frequencies, because a peak and a notch between two points may leave the phase at both points unchanged. Returns the
// number of frequencies; 0 if the poles are not found.
static int list_resonances(const od_linear_model *model, od_arena *arena, double **frequency) {
  od_poles poles;
  int count = 0;
  if (od_poles_find(model, arena, &poles, NULL) != OD_OK) return 0;
  *frequency = OD_TAKE(arena, double, poles.count);
  if (!*frequency) return 0;
  for (int i = 0; i < poles.count; i++)
    if (poles.pole[i].imaginary > 0) (*frequency)[count++] = poles.pole[i].imaginary / (2 * acos(-1));
  qsort(*frequency, (size_t)count, sizeof **frequency, by_size);
  return count;
}

od_margins od_margins_find(od_linear_response *r, const od_path *path, const double *frequency, int count) {
  OD_SCRATCH(scratch);
  const int depth = 14;
  double *resonance = NULL;
  int resonances = list_resonances(r->model, &scratch, &resonance), next = 0;
  walk w = {
      .response = r,
      .path = path,
      .m = {.gain = NAN, .gain_at = NAN, .phase = NAN, .phase_at = NAN, .bandwidth = NAN, .peak = 0, .peak_at = NAN},
      .fallen = NAN};
  for (int i = 0; i < count; i++) {
    for (; next < resonances && resonance[next] < frequency[i]; next++) {
      od_complex g = path_at(r, path, resonance[next]);  // NAN: the pole is on the imaginary axis
      if (resonance[next] > w.last && i > 0 && !isnan(creal(g))) resolve(&w, resonance[next], g, depth);
    }
    resolve(&w, frequency[i], path_at(r, path, frequency[i]), depth);
  }
  return w.m;
}
