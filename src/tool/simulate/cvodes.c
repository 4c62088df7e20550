#include "simulate/cvodes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"
#include "integrate/sim_block.h"
#include "simulate/cvodes_library.h"
#include "simulate/run.h"

struct od_cvodes {
  const od_sundials *lib;  // the functions of SUNDIALS
  od_sim *sim;
  const od_plant *plant;
  const od_machine *machine;
  double tolerance, piece_end;
  void *memory;
  SUNContext context;
  N_Vector x, energy;
  SUNMatrix matrix;
  SUNLinearSolver solver;
  double *u, *jacobian, *first_energy, *guard;
  od_status status;
  long steps;
  double end;  // end of the run, s; INFINITY: not known
  bool (*keeps_going)(void *user);
  od_status (*stepped)(void *user);  // called after each internal step; NULL: not called
  void *user;
  long taken;       // internal steps since the last check, except last steps of pieces
  double taken_at;  // time of the last check, s
  od_arena arena;
};

enum { PACE_INTERVAL = 100000 };  // number of internal steps between two checks of their length

// Writes the inputs at t to u. At the end of a smooth piece, u has the values before the jump.
static void inputs_at(const od_cvodes *c, double t, double *u) {
  if (c->plant->nu) od_machine_inputs(c->machine, t >= c->piece_end ? nextafter(c->piece_end, -INFINITY) : t, u);
}

// Stores the status for the error message. Returns 1, a recoverable failure.
static int failure(od_cvodes *c, od_status status) {
  c->status = status;
  return 1;  // CVODES tries a smaller step
}

// Moves the simulation to time t and state x, with the inputs at t. Fails with a status of od_sim_set().
static od_status move_to(od_cvodes *c, double t, N_Vector x) {
  inputs_at(c, t, c->u);
  return od_sim_set(c->sim, t, c->lib->N_VGetArrayPointer(x), c->u);
}

static int right_hand_side(sunrealtype t, N_Vector x, N_Vector dx, void *user) {
  od_cvodes *c = user;
  od_status status = move_to(c, t, x);
  if (status == OD_OK) status = od_sim_derivatives(c->sim, c->lib->N_VGetArrayPointer(dx), NULL, NULL, NULL);
  return status == OD_OK ? 0 : failure(c, status);
}

// Computes the dense Jacobian of the rates with respect to the states, for CVODES. Returns 0, or 1 after a failure.
static int jacobian(sunrealtype t, N_Vector x, N_Vector fx, SUNMatrix J, void *user, N_Vector a, N_Vector b,
                    N_Vector d) {
  (void)fx, (void)a, (void)b, (void)d;
  od_cvodes *c = user;
  int nx = od_plant_nx(c->plant);
  od_status status = move_to(c, t, x);
  if (status == OD_OK) status = od_sim_derivatives(c->sim, NULL, c->jacobian, NULL, NULL);
  if (status != OD_OK) return failure(c, status);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < nx; j++) SM_ELEMENT_D(J, i, j) = c->jacobian[i * nx + j];
  return 0;
}

// Computes the powers in W, whose integrals are the energies. Returns 0, or 1 after a failure.
static int powers(sunrealtype t, N_Vector x, N_Vector power, void *user) {
  od_cvodes *c = user;
  od_status status = move_to(c, t, x);
  if (status == OD_OK) status = c->plant->ops->powers(c->plant, od_sim_work(c->sim), c->lib->N_VGetArrayPointer(power));
  return status == OD_OK ? 0 : failure(c, status);
}

// Computes the switching functions of modes. CVODES locates their zeros. Returns 0, or 1 after a failure.
static int margins(sunrealtype t, N_Vector x, sunrealtype *value, void *user) {
  od_cvodes *c = user;
  od_status status = move_to(c, t, x);
  if (status == OD_OK) status = od_sim_guards(c->sim, c->guard);
  memcpy(value, c->guard, (size_t)c->plant->margins * sizeof *value);
  return status == OD_OK ? 0 : failure(c, status);
}

// Replaces the error handler of CVODES and prints nothing: failures are reported by status.
static void silent(int code, const char *module, const char *function, char *message, void *user) {
  (void)code, (void)module, (void)function, (void)message, (void)user;
}

// Sets up CVODES at the current state of the simulation: tolerances, Jacobian, switching functions and energies. False: CVODES
// reports an error.
static bool start_solver(od_cvodes *c) {
  memcpy(c->lib->N_VGetArrayPointer(c->x), od_sim_state(c->sim), (size_t)od_plant_nx(c->plant) * sizeof(double));
  double tolerance = c->tolerance, t = od_sim_time(c->sim);
  if (c->lib->CVodeInit(c->memory, right_hand_side, t, c->x) != CV_SUCCESS) return false;
  if (c->lib->CVodeSStolerances(c->memory, tolerance, tolerance) != CV_SUCCESS) return false;
  if (c->lib->CVodeSetErrHandlerFn(c->memory, silent, NULL) != CV_SUCCESS) return false;
  if (c->lib->CVodeSetUserData(c->memory, c) != CV_SUCCESS ||
      c->lib->CVodeSetMaxNumSteps(c->memory, 1000000) != CV_SUCCESS)
    return false;
  if (c->lib->CVodeSetLinearSolver(c->memory, c->solver, c->matrix) != CV_SUCCESS) return false;
  if (c->lib->CVodeSetJacFn(c->memory, jacobian) != CV_SUCCESS) return false;
  // A longer step could skip a piece of a law.
  if (od_plant_guards(c->plant) && c->lib->CVodeSetMaxStep(c->memory, OD_LONGEST_STEP) != CV_SUCCESS) return false;
  if (c->plant->margins && c->lib->CVodeRootInit(c->memory, c->plant->margins, margins) != CV_SUCCESS) return false;
  if (c->plant->nq == 0) return true;
  c->lib->N_VConst(0, c->energy);
  return c->lib->CVodeQuadInit(c->memory, powers, c->energy) == CV_SUCCESS &&
         c->lib->CVodeSetQuadErrCon(c->memory, 1) == CV_SUCCESS &&
         c->lib->CVodeQuadSStolerances(c->memory, tolerance, tolerance) == CV_SUCCESS;
}

// Restarts CVODES at the current state of the simulation. Called at the beginning of a piece and after a change of coordinates.
// False: CVODES reports an error.
static bool restart_solver(od_cvodes *c) {
  memcpy(c->lib->N_VGetArrayPointer(c->x), od_sim_state(c->sim), (size_t)od_plant_nx(c->plant) * sizeof(double));
  return c->lib->CVodeReInit(c->memory, od_sim_time(c->sim), c->x) == CV_SUCCESS;
}

od_cvodes *od_cvodes_new(od_sim *sim, const od_plant *plant, const od_machine *machine, double tolerance) {
  const od_sundials *lib = od_sundials_load(NULL);
  OD_OWNED(od_cvodes_free) od_cvodes *c = lib ? od_calloc(1, sizeof *c) : NULL;
  if (!c) return NULL;
  int nx = od_plant_nx(plant), nq = plant->nq > 0 ? plant->nq : 1;
  *c = (od_cvodes){.lib = lib, .sim = sim, .plant = plant, .machine = machine, .tolerance = tolerance};
  c->piece_end = c->end = INFINITY;
  c->taken_at = od_sim_time(sim);
  if (c->lib->SUNContext_Create(NULL, &c->context) == 0) {
    c->memory = c->lib->CVodeCreate(CV_BDF, c->context);
    c->x = c->lib->N_VNew_Serial(nx, c->context);
    c->energy = c->lib->N_VNew_Serial(nq, c->context);
    c->matrix = c->lib->SUNDenseMatrix(nx, nx, c->context);
    if (c->x && c->matrix) c->solver = c->lib->SUNLinSol_Dense(c->x, c->matrix, c->context);
  }
  c->u = OD_TAKE(&c->arena, double, plant->nu);
  c->jacobian = OD_TAKE_MATRIX(&c->arena, double, nx, nx);
  c->first_energy = OD_TAKE(&c->arena, double, nq);
  c->guard = OD_TAKE(&c->arena, double, od_plant_guards(plant));
  bool ok = c->memory && c->x && c->energy && c->matrix && c->solver && od_arena_status(&c->arena) == OD_OK;
  return ok && start_solver(c) ? OD_GIVE(c) : NULL;
}

void od_cvodes_free(od_cvodes *c) {
  if (!c) return;
  if (c->memory) c->lib->CVodeFree(&c->memory);
  if (c->solver) c->lib->SUNLinSolFree(c->solver);
  if (c->matrix) c->lib->SUNMatDestroy(c->matrix);
  if (c->x) c->lib->N_VDestroy(c->x);
  if (c->energy) c->lib->N_VDestroy(c->energy);
  if (c->context) c->lib->SUNContext_Free(&c->context);
  od_arena_free(&c->arena);
  od_free(c);
}

// Returns a text for the failure code `flag` of CVODES. Used if the machine has given no status.
static const char *reason(const od_cvodes *c, int flag) {
  switch (flag) {
    case CV_TOO_MUCH_ACC: return "the tolerance is below the precision of floating-point numbers";
    case CV_ERR_FAILURE: return "no step is short enough for the tolerance";
    case CV_CONV_FAILURE: return "an iteration did not converge even in very short steps";
    default: return c->lib->CVodeGetReturnFlagName(flag);
  }
}

// Takes one internal step within a smooth piece that ends at t. The coordinates may change between internal steps. Fails with
// OD_NOT_CONVERGED and a message if CVODES stops, or with a status of od_sim_set() or od_sim_sample().
static od_status advance_piece(od_cvodes *c, double t, od_error *err) {
  double reached = od_sim_time(c->sim);
  c->lib->CVodeSetStopTime(c->memory, t);
  c->status = OD_OK;
  int flag = c->lib->CVode(c->memory, t, c->x, &reached, CV_ONE_STEP);
  if (flag < 0)
    return od_fail(err, c->status != OD_OK ? c->status : OD_NOT_CONVERGED, "CVODES stopped at %.6g s: %s", reached,
                   c->status != OD_OK ? od_status_text(c->status) : reason(c, flag));
  if (c->plant->nq) c->lib->CVodeGetQuad(c->memory, &reached, c->energy);
  double *energy = od_sim_at(c->sim, c->sim->energy);
  for (int i = 0; i < c->plant->nq; i++) energy[i] = c->first_energy[i] + c->lib->N_VGetArrayPointer(c->energy)[i];
  od_status status = move_to(c, reached, c->x);
  bool switched = false;
  if (status == OD_OK && flag == CV_ROOT_RETURN) status = od_sim_sample(c->sim, NULL, NULL, &switched);
  if (switched) c->piece_end = NAN;  // CVODES restarts at the next piece
  return status;
}

void od_cvodes_watch(od_cvodes *c, double end, bool (*keeps_going)(void *user), void *user) {
  c->end = end;
  c->keeps_going = keeps_going;
  c->user = user;
}

void od_cvodes_after_steps(od_cvodes *c, od_status (*stepped)(void *user)) {
  c->stepped = stepped;
}

// Called before each internal step. Fails if the caller interrupts the run. Also fails if the rest of the run needs more than
// OD_MOST_STEPS steps of the current length, which is measured over PACE_INTERVAL steps. `end`: used if the end of the run is not
// known.
static od_status check_pace(od_cvodes *c, double end, od_error *err) {
  double t = od_sim_time(c->sim);
  if (c->keeps_going && !c->keeps_going(c->user)) return od_fail(err, OD_INTERRUPTED, "interrupted at %.6g s", t);
  if (c->taken < PACE_INTERVAL) return OD_OK;
  c->taken = 0;
  double step = (t - c->taken_at) / PACE_INTERVAL, needed = ((isfinite(c->end) ? c->end : end) - t) / step;
  c->taken_at = t;
  if (needed <= OD_MOST_STEPS) return OD_OK;
  if (!(step > 0))
    return od_fail(err, OD_NOT_CONVERGED, "time cannot advance: CVODES stays at %.17g s; choose another integrator", t);
  return od_fail(
      err, OD_NOT_CONVERGED,
      "CVODES takes steps of %.3g s at %.6g s and would need %.3g steps; the limit is %.0e. Part of the machine is too "
      "fast: check for an implausible stiffness, mass or volume, or choose another integrator",
      step, t, needed, OD_MOST_STEPS);
}

// Takes samples and switches modes at the end of a piece, with the inputs of the next piece: a jump of the inputs may switch a
// mode. Fails with a status of od_sim_set_inputs() or od_sim_sample().
static od_status take_samples(od_cvodes *c, double t) {
  if (c->plant->margins == 0 && t < od_sim_next_sample(c->sim) * (1 - 1e-12)) return OD_OK;
  bool changed;
  if (c->machine && c->plant->nu) od_machine_inputs(c->machine, t, c->u);
  od_status status = c->plant->nu ? od_sim_set_inputs(c->sim, c->u) : OD_OK;
  if (status == OD_OK) status = od_sim_sample(c->sim, NULL, NULL, &changed);
  if (status == OD_OK && changed) c->piece_end = NAN;  // CVODES restarts at the next piece
  return status;
}

od_status od_cvodes_advance(od_cvodes *c, double t, od_error *err) {
  while (od_sim_time(c->sim) < t) {
    od_status status = check_pace(c, t, err);
    if (status != OD_OK) return status;
    double next = c->machine && c->plant->nu ? od_machine_next_break(c->machine, od_sim_time(c->sim)) : INFINITY;
    next = fmin(next, od_sim_next_sample(c->sim));
    bool restart = c->piece_end != next;
    c->piece_end = next;
    bool changed = false;
    // The current point belongs to the piece that starts here.
    inputs_at(c, od_sim_time(c->sim), c->u);
    status = od_sim_set_inputs(c->sim, c->u);
    if (status == OD_OK) status = od_sim_repartition(c->sim, NULL, &changed);
    if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
    if (restart || changed) {
      long done = 0;
      c->lib->CVodeGetNumSteps(c->memory, &done);
      c->steps += done;
      if (c->stepped) status = c->stepped(c->user);
      if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
      if (!restart_solver(c))
        return od_fail(err, OD_NO_MEMORY, "CVODES could not restart at %.6g s; choose another integrator",
                       od_sim_time(c->sim));
      if (c->plant->nq) {
        memcpy(c->first_energy, od_sim_energy(c->sim), (size_t)c->plant->nq * sizeof(double));
        c->lib->N_VConst(0, c->energy);
        c->lib->CVodeQuadReInit(c->memory, c->energy);
      }
    }
    double end = fmin(t, next);
    // CVODES rejects a piece that is shorter than round-off, so the piece is skipped.
    if (end - od_sim_time(c->sim) < 1e-13 * (1 + fabs(end))) {
      status = move_to(c, end, c->x);
      if (status == OD_OK) status = take_samples(c, end);
      if (status != OD_OK) return od_fail(err, status, "%s", od_status_text(status));
      continue;
    }
    status = advance_piece(c, end, err);
    c->taken += od_sim_time(c->sim) < end;
    if (status == OD_OK && c->stepped) status = c->stepped(c->user);
    if (status == OD_OK && od_sim_time(c->sim) >= end) status = take_samples(c, end);
    if (status != OD_OK) return status;
  }
  // If the inputs jump at t, the simulation continues with the values after the jump.
  if (c->plant->nu == 0 || !c->machine) return OD_OK;
  od_machine_inputs(c->machine, t, c->u);
  return od_sim_set_inputs(c->sim, c->u);
}

long od_cvodes_steps(const od_cvodes *c) {
  long done = 0;
  c->lib->CVodeGetNumSteps(c->memory, &done);
  return c->steps + done;
}
