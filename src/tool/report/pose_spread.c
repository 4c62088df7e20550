// Spread of poses. With a Cholesky factor L of P, the columns y(x + L_j) - y(x) are a factor D of S = D D'. The leading eigenvector a
// of (W D)'(W D) by power iteration, with the weights W of the outputs, gives the displacement 1.96 D a. Positions come first in the
// state, so P of the positions is enough.
#include "report/pose_spread.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "integrate/sim_block.h"
#include "io/frames.h"
#include "machine/machine.h"
#include "math/normal.h"
#include "oleodyn/sim.h"
#include "plant/inner_plant.h"
#include "report/page.h"

enum { ITERATIONS = 40 };

struct od_pose_spread {
  const od_machine *machine;
  od_plant *plant;  // the model with the poses as outputs
  int *output;      // outputs that are components of poses
  int count;
  double *weight;  // m per unit of each output
  od_frames *frames;
  double interval, next;  // s
  double *center, *moved, *shift, *before;
  void *copy;  // copy of the observer's simulation
  size_t copy_size;
  od_arena arena;
};

static bool is_pose(const od_machine *machine, int output) {
  const od_model *m = od_machine_model(machine);
  return output < m->outputs && m->output[output].kind == OD_OUT_BODY_POSE;
}

od_pose_spread *od_pose_spread_new(const od_machine *machine, const int *output, int outputs, double interval,
                                   long most, double size) {
  OD_OWNED(od_pose_spread_free) od_pose_spread *s = od_calloc(1, sizeof *s);
  if (!s) return NULL;
  s->machine = machine;
  s->interval = interval;
  s->next = -INFINITY;
  s->output = OD_TAKE(&s->arena, int, outputs);
  s->weight = OD_TAKE(&s->arena, double, outputs);
  double **lists[] = {&s->center, &s->moved, &s->shift, &s->before};
  for (int i = 0; i < 4; i++) *lists[i] = OD_TAKE(&s->arena, double, outputs);
  if (od_arena_status(&s->arena) != OD_OK) return NULL;
  for (int i = 0; i < outputs; i++) {
    if (!is_pose(machine, output[i])) continue;
    s->weight[s->count] = od_machine_model(machine)->output[output[i]].component < 3 ? 1 : size;
    s->output[s->count++] = output[i];
  }
  s->frames = od_frames_new(s->count, interval, most);
  if (!s->frames || od_machine_plant(machine, s->output, s->count, NULL, 0, &s->plant, NULL) != OD_OK) return NULL;
  return OD_GIVE(s);
}

void od_pose_spread_free(od_pose_spread *s) {
  if (!s) return;
  od_frames_free(s->frames);
  od_plant_free(s->plant);
  od_free(s->copy);
  od_arena_free(&s->arena);
  od_free(s);
}

static od_status poses_at(const od_pose_spread *s, od_sim *sim, double *y) {
  void *work = od_sim_work(sim);
  od_status status = od_sim_refresh(sim);
  od_innermost_plant(sim->plant, &work);
  return status == OD_OK ? s->plant->ops->outputs(s->plant, work, NULL, y) : status;
}

// Factors the covariance of the first n states: P = L L'. `stride` is the number of columns of P. Directions without variance have
// zero columns.
static void factor(const double *P, int stride, int n, double *L) {
  for (int j = 0; j < n; j++) {
    double pivot = P[j * stride + j];
    for (int k = 0; k < j; k++) pivot -= L[j * n + k] * L[j * n + k];
    bool is_fixed = !(pivot > 1e-12 * P[j * stride + j]);
    for (int i = 0; i < n; i++) {
      double sum = P[i * stride + j];
      for (int k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i < j || is_fixed ? 0 : sum / sqrt(pivot);
    }
  }
}

// Computes the unit vector a (n) that makes |W D a| largest, by power iteration with G = (W D)'(W D).
static void leading_direction(const double *G, int n, double *a, double *next) {
  int largest = 0;
  for (int i = 1; i < n; i++)
    if (G[i * n + i] > G[largest * n + largest]) largest = i;
  for (int i = 0; i < n; i++) a[i] = G[i * n + largest];
  for (int round = 0; round <= ITERATIONS; round++) {
    double size = 0;
    for (int i = 0; i < n; i++) size += a[i] * a[i];
    if (!(size > 0)) return;
    for (int i = 0; i < n; i++) a[i] /= sqrt(size);
    if (round == ITERATIONS) return;
    for (int i = 0; i < n; i++) {
      next[i] = 0;
      for (int k = 0; k < n; k++) next[i] += G[i * n + k] * a[k];
    }
    memcpy(a, next, (size_t)n * sizeof *a);
  }
}

// Computes s->shift from the estimate in `sim`, a copy that is moved. P: covariance of the estimate. Fails with OD_NO_MEMORY, or if a
// moved state cannot be evaluated.
static od_status find_shift(od_pose_spread *s, od_sim *sim, const double *P) {
  OD_SCRATCH(scratch);
  int n = sim->plant->nz, nx = od_plant_nx(sim->plant), m = s->count;
  double *L = OD_TAKE(&scratch, double, n *n), *D = OD_TAKE(&scratch, double, m *n),
         *G = OD_TAKE(&scratch, double, n *n);
  double *x = OD_TAKE(&scratch, double, nx), *at = OD_TAKE(&scratch, double, nx), *a = OD_TAKE(&scratch, double, 2 * n);
  const double *u = od_sim_inputs(sim);
  double t = od_sim_time(sim);
  if (od_arena_status(&scratch) != OD_OK) return OD_NO_MEMORY;
  double *input = OD_TAKE(&scratch, double, sim->plant->nu + 1);
  if (!input) return OD_NO_MEMORY;
  if (sim->plant->nu) memcpy(input, u, (size_t)sim->plant->nu * sizeof *u);
  memcpy(x, od_sim_state(sim), (size_t)nx * sizeof *x);
  factor(P, nx + sim->plant->np, n, L);
  od_status status = poses_at(s, sim, s->center);
  for (int j = 0; j < n && status == OD_OK; j++) {
    memcpy(at, x, (size_t)nx * sizeof *x);
    for (int i = 0; i < n; i++) at[i] += L[i * n + j];
    status = od_sim_set(sim, t, at, input);
    if (status == OD_OK) status = poses_at(s, sim, s->moved);
    for (int i = 0; i < m; i++) D[i * n + j] = s->moved[i] - s->center[i];
  }
  if (status != OD_OK) return status;
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++) {
      G[j * n + k] = 0;
      for (int i = 0; i < m; i++) G[j * n + k] += s->weight[i] * s->weight[i] * D[i * n + j] * D[i * n + k];
    }
  leading_direction(G, n, a, a + n);
  for (int i = 0; i < m; i++) {
    s->shift[i] = 0;
    for (int j = 0; j < n; j++) s->shift[i] += OD_NORMAL95 * D[i * n + j] * a[j];
  }
  return OD_OK;
}

od_status od_pose_spread_take(od_pose_spread *s, double t, od_observer *observer) {
  const od_sim *sim = od_observer_sim(observer);
  if (s->count == 0 || sim->plant->nz == 0 || t < s->next) return OD_OK;
  s->next = t + s->interval * (1 - 1e-6);
  if (s->copy_size < od_sim_bytes(sim)) {
    od_free(s->copy);
    s->copy_size = 0;
    s->copy = od_malloc(od_sim_bytes(sim));
    if (!s->copy) return OD_NO_MEMORY;
    s->copy_size = od_sim_bytes(sim);
  }
  const double *P = od_observer_covariance(observer);
  memcpy(s->copy, sim, od_sim_bytes(sim));
  od_status status = find_shift(s, s->copy, P);
  if (status == OD_NO_MEMORY) return status;
  // Both signs of the direction are equivalent. The sign is chosen such that the displacement is continuous from the
  // last frame to this frame.
  double along = 0;
  for (int i = 0; i < s->count; i++) along += s->weight[i] * s->weight[i] * s->shift[i] * s->before[i];
  for (int i = 0; i < s->count; i++) {
    if (status != OD_OK) s->shift[i] = NAN;
    if (along < 0) s->shift[i] = -s->shift[i];
    if (status == OD_OK) s->before[i] = s->shift[i];
  }
  return od_frames_append(s->frames, t, s->shift);
}

const double *od_pose_spread_last(const od_pose_spread *s) {
  return s->shift;
}

void od_pose_spread_add_series(od_pose_spread *s, od_page *page) {
  if (!od_page_require(page, od_frames_finish(s->frames) == OD_OK)) return;
  for (int i = 0; i < s->count; i++) {
    od_frame_column c = od_frames_column(s->frames, i);
    if (c.count < 2) return;
    od_series_facts facts = {.name = od_machine_output_name(s->machine, s->output[i]),
                             .of = "spread",
                             .si = od_machine_output_unit(s->machine, s->output[i]),
                             .factor = 1};
    facts.unit = facts.si;
    od_page_data_frames(od_page_get_data(page), &facts, c, true);
  }
}
