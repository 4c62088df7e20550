#include "calibration/truth.h"

#include <cvodes/cvodes.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>

#include "integrate/sim_block.h"
#include "oleodyn/sim.h"

static const double longest_step = 1e-4;  // s
static const double same_time = 1e-12;    // s: events within this time are simultaneous
static const double tiny_step =
    1e-7;  // s: after steps this short the outputs are recorded, because they may have jumped
static const double usual_part = 1e-2;  // of a state's usual size: below this its error is absolute
enum { MOST_RESTARTS = 200000, MOST_SWITCHES = 100, MOST_TINY = 20000 };

typedef struct driver {
  const od_machine *machine;
  const trial *t;
  truth *out;
  od_plant *plant;
  od_sim *sim;
  int nx, edges, edge_first[TRIAL_EDGES], edge_second[TRIAL_EDGES], edge_of[TRIAL_EDGES];
  // After a crossing, an edge is ignored for a while: a value that stays at its level within round-off would cross it endlessly.
  double quiet_until[TRIAL_EDGES], quiet_for[TRIAL_EDGES], side[TRIAL_EDGES];
  int modes;
  double begin, end;  // of the present piece: inputs are smooth within
  double tolerance;
  double *u, *guard, *jacobian, *y, *weight_floor, *energy_before;
  double *good_x, *good_energy;  // at the end of the last step
  void *memory;
  SUNContext context;
  N_Vector x, quadrature, x_at, quadrature_at;
  SUNMatrix matrix;
  SUNLinearSolver solver;
  long tiny;
  double started;  // processor time
} driver;

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool fail(driver *d, const char *what, double t) {
  if (!d->out->why[0])
    snprintf(d->out->why, sizeof d->out->why, "%s at %.6g s, after %ld steps and %ld starts", what, t, d->out->steps,
             d->out->restarts);
  return false;
}

// ---- evaluation

// Inputs within the present piece, also if round-off puts the time slightly outside.
static void inputs_at(driver *d, double t) {
  double aside = same_time * (1 + fabs(t));
  if (t > d->end - aside) t = d->end - aside;
  if (t < d->begin + aside && d->begin > 0) t = d->begin + aside;
  if (d->plant->nu) od_machine_inputs(d->machine, t, d->u);
}

static bool set_point(driver *d, double t, N_Vector x) {
  inputs_at(d, t);
  return od_sim_set(d->sim, t, N_VGetArrayPointer(x), d->u) == OD_OK;
}

static int rates(sunrealtype t, N_Vector x, N_Vector dx, void *user) {
  driver *d = user;
  return !(set_point(d, t, x) && od_sim_derivatives(d->sim, N_VGetArrayPointer(dx), NULL, NULL, NULL) == OD_OK);
}

static int jacobian(sunrealtype t, N_Vector x, N_Vector fx, SUNMatrix J, void *user, N_Vector a, N_Vector b,
                    N_Vector c) {
  (void)fx, (void)a, (void)b, (void)c;
  driver *d = user;
  if (!set_point(d, t, x) || od_sim_derivatives(d->sim, NULL, d->jacobian, NULL, NULL) != OD_OK) return 1;
  for (int i = 0; i < d->nx; i++)
    for (int j = 0; j < d->nx; j++) SM_ELEMENT_D(J, i, j) = d->jacobian[i * d->nx + j];
  return 0;
}

static int powers(sunrealtype t, N_Vector x, N_Vector power, void *user) {
  driver *d = user;
  if (!set_point(d, t, x)) return 1;
  return d->plant->ops->powers(d->plant, od_sim_work(d->sim), N_VGetArrayPointer(power)) != OD_OK;
}

static double edge_value(const driver *d, int i) {
  const trial_edge *e = &d->t->edge[d->edge_of[i]];
  double value = d->y[d->edge_first[i]] - (d->edge_second[i] >= 0 ? d->y[d->edge_second[i]] : 0) - e->level;
  return e->period > 0 ? sin(3.14159265358979323846 * value / e->period) : value;
}

static int roots(sunrealtype t, N_Vector x, sunrealtype *value, void *user) {
  driver *d = user;
  if (!set_point(d, t, x)) return 1;
  if (d->edges && od_sim_outputs(d->sim, d->y) != OD_OK) return 1;
  for (int i = 0; i < d->edges; i++) value[i] = t < d->quiet_until[i] ? d->side[i] : edge_value(d, i);
  if (d->modes && od_sim_guards(d->sim, d->guard) != OD_OK) return 1;
  for (int i = 0; i < d->modes; i++) value[d->edges + i] = fmin(d->guard[i], 1e300);
  return 0;
}

static int weights(N_Vector x, N_Vector weight, void *user) {
  driver *d = user;
  const double *value = N_VGetArrayPointer(x);
  for (int i = 0; i < d->nx; i++)
    N_VGetArrayPointer(weight)[i] = 1 / (d->tolerance * (fabs(value[i]) + d->weight_floor[i]));
  return 0;
}

// ---- records

static bool record(driver *d, double t) {
  truth *o = d->out;
  if (o->count == o->capacity) {
    o->capacity = 2 * o->capacity + 1024;
    o->time = realloc(o->time, (size_t)o->capacity * sizeof *o->time);
    o->y = realloc(o->y, (size_t)(o->capacity * o->columns) * sizeof *o->y);
    if (!o->time || !o->y) abort();
  }
  if (od_sim_outputs(d->sim, d->y) != OD_OK) return fail(d, "outputs cannot be evaluated", t);
  o->time[o->count] = t;
  memcpy(o->y + o->count * o->columns, d->y, (size_t)o->columns * sizeof(double));
  o->count++;
  return true;
}

// The point at t within the solver's last step.
static bool stand_at(driver *d, double t) {
  if (CVodeGetDky(d->memory, t, 0, d->x_at) != CV_SUCCESS) return fail(d, "no dense output", t);
  if (d->plant->nq && CVodeGetQuadDky(d->memory, t, 0, d->quadrature_at) != CV_SUCCESS)
    return fail(d, "no dense output", t);
  if (!set_point(d, t, d->x_at)) return fail(d, "the state cannot be set", t);
  double *energy = d->plant->nq ? od_sim_at(d->sim, d->sim->energy) : NULL;
  for (int i = 0; i < d->plant->nq; i++) energy[i] = d->energy_before[i] + N_VGetArrayPointer(d->quadrature_at)[i];
  return true;
}

// ---- the solver

static void silent(int code, const char *module, const char *function, char *message, void *user) {
  (void)code, (void)module, (void)function, (void)message, (void)user;
}

static bool create_solver(driver *d) {
  int nq = d->plant->nq > 0 ? d->plant->nq : 1;
  if (SUNContext_Create(NULL, &d->context) != 0) return false;
  d->memory = CVodeCreate(CV_BDF, d->context);
  d->x = N_VNew_Serial(d->nx, d->context), d->x_at = N_VNew_Serial(d->nx, d->context);
  d->quadrature = N_VNew_Serial(nq, d->context), d->quadrature_at = N_VNew_Serial(nq, d->context);
  d->matrix = SUNDenseMatrix(d->nx, d->nx, d->context);
  d->solver = SUNLinSol_Dense(d->x, d->matrix, d->context);
  N_VConst(0, d->quadrature);
  memcpy(N_VGetArrayPointer(d->x), od_sim_state(d->sim), (size_t)d->nx * sizeof(double));
  bool ok = CVodeInit(d->memory, rates, od_sim_time(d->sim), d->x) == CV_SUCCESS &&
            CVodeSetUserData(d->memory, d) == CV_SUCCESS && CVodeWFtolerances(d->memory, weights) == CV_SUCCESS &&
            CVodeSetErrHandlerFn(d->memory, silent, NULL) == CV_SUCCESS &&
            CVodeSetMaxNumSteps(d->memory, 100000000) == CV_SUCCESS &&
            CVodeSetMaxErrTestFails(d->memory, 60) == CV_SUCCESS && CVodeSetMaxConvFails(d->memory, 60) == CV_SUCCESS &&
            CVodeSetLinearSolver(d->memory, d->solver, d->matrix) == CV_SUCCESS &&
            CVodeSetJacFn(d->memory, jacobian) == CV_SUCCESS &&
            CVodeSetMaxStep(d->memory, longest_step) == CV_SUCCESS &&
            CVodeSetNoInactiveRootWarn(d->memory) == CV_SUCCESS;
  if (ok && d->edges + d->modes) ok = CVodeRootInit(d->memory, d->edges + d->modes, roots) == CV_SUCCESS;
  if (ok && d->plant->nq)
    ok = CVodeQuadInit(d->memory, powers, d->quadrature) == CV_SUCCESS &&
         CVodeSetQuadErrCon(d->memory, 1) == CV_SUCCESS &&
         CVodeQuadSStolerances(d->memory, 10 * d->tolerance, d->tolerance) == CV_SUCCESS;
  return ok;
}

// Starts at the present state of the simulation.
static bool restart_solver(driver *d) {
  memcpy(N_VGetArrayPointer(d->x), od_sim_state(d->sim), (size_t)d->nx * sizeof(double));
  if (CVodeReInit(d->memory, od_sim_time(d->sim), d->x) != CV_SUCCESS)
    return fail(d, "CVODES cannot start", od_sim_time(d->sim));
  if (d->plant->nq) {
    memcpy(d->energy_before, od_sim_energy(d->sim), (size_t)d->plant->nq * sizeof(double));
    N_VConst(0, d->quadrature);
    if (CVodeQuadReInit(d->memory, d->quadrature) != CV_SUCCESS)
      return fail(d, "CVODES cannot start", od_sim_time(d->sim));
  }
  if (++d->out->restarts > MOST_RESTARTS) return fail(d, "too many events", od_sim_time(d->sim));
  return true;
}

// Performs due samples and switches one after the other until none is due.
static bool take_events(driver *d) {
  bool has_changed = false;
  for (int i = 0; i < MOST_SWITCHES; i++) {
    if (od_sim_sample(d->sim, NULL, NULL, &has_changed) != OD_OK)
      return fail(d, "a sample or switch failed", od_sim_time(d->sim));
    double margin = INFINITY;
    if (d->modes && od_sim_margin(d->sim, &margin) != OD_OK) return fail(d, "no margin", od_sim_time(d->sim));
    if (margin > 0) return true;
  }
  return fail(d, "modes switch without end", od_sim_time(d->sim));
}

static bool change_coordinates(driver *d) {
  bool has_changed = false;
  return od_sim_repartition(d->sim, NULL, &has_changed) == OD_OK ||
         fail(d, "coordinates cannot be changed", od_sim_time(d->sim));
}

// ---- pieces

static double next_break(const driver *d, double t) {
  double next = d->t->time;
  for (int i = 0; i < d->t->break_count; i++)
    if (d->t->breaks[i] > t + same_time && d->t->breaks[i] < next) next = d->t->breaks[i];
  double sample = od_sim_next_sample(d->sim);
  return sample > t + same_time ? fmin(next, sample) : next;
}

// At an event, or at the start of a piece: due samples and switches, the outputs afterward, and a restart.
static bool begin_again(driver *d) {
  return take_events(d) && change_coordinates(d) && record(d, od_sim_time(d->sim)) && restart_solver(d);
}

// Records the grid up to t.
static bool record_grid(driver *d, double t, const double *grid, long count, long *at) {
  for (; *at < count && grid[*at] <= t; (*at)++) {
    if (grid[*at] < d->begin + same_time || grid[*at] > d->end - same_time) continue;  // recorded as an event
    if (!stand_at(d, grid[*at]) || !record(d, grid[*at])) return false;
  }
  return true;
}

// An edge that is crossed more often than every `often` is checked less and less.
static const double shortest_quiet = 1e-7, longest_quiet = 1e-3, often = 1e-4;  // s
static void note_edges(driver *d, double t) {
  int *found = calloc((size_t)(d->edges + d->modes), sizeof *found);
  if (!found || CVodeGetRootInfo(d->memory, found) != CV_SUCCESS) abort();
  for (int i = 0; i < d->edges; i++) {
    if (!found[i]) continue;
    bool is_again = t < d->quiet_until[i] + often;
    d->quiet_for[i] = is_again ? fmin(2 * d->quiet_for[i], longest_quiet) : shortest_quiet;
    d->quiet_until[i] = t + d->quiet_for[i];
    d->side[i] = found[i];
  }
  free(found);
}

static void keep_point(driver *d) {
  memcpy(d->good_x, od_sim_state(d->sim), (size_t)d->nx * sizeof(double));
  for (int i = 0; i < d->nx; i++) d->weight_floor[i] = fmax(d->weight_floor[i], usual_part * fabs(d->good_x[i]));
  if (d->plant->nq) memcpy(d->good_energy, od_sim_energy(d->sim), (size_t)d->plant->nq * sizeof(double));
}

// After a failure: back to the end of the last step.
static bool return_to(driver *d, double t) {
  inputs_at(d, t);
  if (od_sim_set(d->sim, t, d->good_x, d->u) != OD_OK) return fail(d, "the state cannot be set", t);
  if (d->plant->nq) memcpy(od_sim_at(d->sim, d->sim->energy), d->good_energy, (size_t)d->plant->nq * sizeof(double));
  return true;
}

static bool run_piece(driver *d, const double *grid, long grid_count, long *at, double seconds) {
  double t = d->begin;
  int failures = 0;
  while (t < d->end) {
    keep_point(d);
    double reached = t;
    CVodeSetStopTime(d->memory, d->end);
    int flag = CVode(d->memory, d->end, d->x, &reached, CV_ONE_STEP);
    d->out->steps++;
    if (processor_time() - d->started > seconds) return fail(d, "out of time", reached);
    if (flag < 0) {
      // A restart of first order at the last good point may succeed where a multistep history fails.
      char *name = CVodeGetReturnFlagName(flag);
      bool is_over = ++failures > 20;
      if (is_over) fail(d, name, t);
      free(name);
      if (is_over || !return_to(d, t) || !restart_solver(d)) return false;
      continue;
    }
    if (!record_grid(d, reached, grid, grid_count, at)) return false;
    bool is_root = flag == CV_ROOT_RETURN, is_tiny = reached - t < tiny_step && d->tiny++ < MOST_TINY;
    t = reached;
    if (!stand_at(d, t)) return false;
    if ((is_root || is_tiny || t >= d->end) && !record(d, t)) return false;
    if (is_root) note_edges(d, t);
    if (is_root && t < d->end) {
      if (!begin_again(d)) return false;
      continue;
    }
    if (d->plant->ops->wants_repartition && d->plant->ops->wants_repartition(d->plant, od_sim_work(d->sim))) {
      if (!change_coordinates(d) || !restart_solver(d)) return false;
    }
  }
  return true;
}

static bool run_pieces(driver *d, const double *grid, long count, double seconds) {
  long at = 0;
  double t = 0;
  if (d->plant->nu) od_machine_inputs(d->machine, 0, d->u);
  if (od_sim_start(d->sim, 0, d->u) != OD_OK) return fail(d, "cannot start", 0);
  if (!create_solver(d)) return fail(d, "no solver", 0);
  while (t < d->t->time) {
    d->begin = t;
    d->end = next_break(d, t);
    inputs_at(d, t + 2 * same_time);
    if (od_sim_set_inputs(d->sim, d->u) != OD_OK) return fail(d, "inputs cannot be set", t);
    if (!begin_again(d)) return false;
    d->end = fmin(d->end, next_break(d, t));  // a sample has been taken
    if (!run_piece(d, grid, count, &at, seconds)) return false;
    t = d->end;
  }
  // What happens at the end.
  d->begin = t, d->end = INFINITY;
  inputs_at(d, t + 2 * same_time);
  return (od_sim_set_inputs(d->sim, d->u) == OD_OK || fail(d, "inputs cannot be set", t)) && take_events(d) &&
         record(d, t);
}

// ---- the whole solution

static bool prepare(driver *d, const int *outputs, int columns, bool knows_edges) {
  int all[TRIAL_EDGES * 2 + 64], count = columns;
  memcpy(all, outputs, (size_t)columns * sizeof *all);
  for (int i = 0; knows_edges && i < d->t->edges; i++) {
    const trial_edge *e = &d->t->edge[i];
    int first = od_machine_output_find(d->machine, e->first),
        second = e->second[0] ? od_machine_output_find(d->machine, e->second) : -1;
    if (first < 0 || (e->second[0] && second < 0)) continue;
    d->edge_of[d->edges] = i;
    d->edge_first[d->edges] = count, all[count++] = first;
    d->edge_second[d->edges] = second >= 0 ? count : -1;
    if (second >= 0) all[count++] = second;
    d->edges++;
  }
  od_error error = {0};
  if (od_machine_plant(d->machine, all, count, NULL, 0, &d->plant, &error) != OD_OK) return fail(d, "no plant", 0);
  d->sim = od_sim_new(d->plant);
  d->nx = od_plant_nx(d->plant);
  d->modes = d->plant->margins;
  d->guard = calloc((size_t)od_plant_guards(d->plant) + 1, sizeof(double));
  size_t nx = (size_t)d->nx;
  d->u = calloc((size_t)d->plant->nu + 1, sizeof(double));
  d->jacobian = calloc(nx * nx + 1, sizeof(double));
  d->y = calloc((size_t)count + 1, sizeof(double));
  d->weight_floor = calloc(nx + 1, sizeof(double));
  d->energy_before = calloc((size_t)d->plant->nq + 1, sizeof(double));
  d->good_x = calloc(nx + 1, sizeof(double));
  d->good_energy = calloc((size_t)d->plant->nq + 1, sizeof(double));
  if (!d->good_x || !d->good_energy || !d->guard) abort();
  if (!d->sim || !d->u || !d->jacobian || !d->y || !d->weight_floor || !d->energy_before) abort();
  for (int i = 0; i < d->nx; i++) {
    int rate = i - d->plant->nz;  // of the k: positions have none
    d->weight_floor[i] = usual_part * (rate >= d->plant->nz && d->plant->scale ? d->plant->scale[rate] : 1);
  }
  return true;
}

static void release(driver *d) {
  if (d->memory) CVodeFree(&d->memory);
  if (d->solver) SUNLinSolFree(d->solver);
  if (d->matrix) SUNMatDestroy(d->matrix);
  N_Vector vectors[] = {d->x, d->x_at, d->quadrature, d->quadrature_at};
  for (int i = 0; i < 4; i++)
    if (vectors[i]) N_VDestroy(vectors[i]);
  if (d->context) SUNContext_Free(&d->context);
  od_sim_free(d->sim);
  od_plant_free(d->plant);
  free(d->u), free(d->guard), free(d->jacobian), free(d->y), free(d->weight_floor), free(d->energy_before);
  free(d->good_x), free(d->good_energy);
}

bool truth_run(truth *out, const od_machine *machine, const trial *t, const int *outputs, int columns,
               const double *grid, long grid_count, double tolerance, bool knows_edges, double seconds) {
  *out = (truth){.columns = columns};
  driver d = {.machine = machine, .t = t, .out = out, .tolerance = tolerance, .started = processor_time()};
  bool ok = prepare(&d, outputs, columns, knows_edges) && run_pieces(&d, grid, grid_count, seconds);
  out->seconds = processor_time() - d.started;
  release(&d);
  return ok;
}

void truth_free(truth *out) {
  free(out->time);
  free(out->y);
  *out = (truth){0};
}
