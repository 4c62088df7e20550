// Memory of a predictor, checks of its options, and the choice of the rule.
#include "predict/predict.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "predict/predictor.h"
#include "io/wording.h"

const char *od_rule_name(od_rule rule) {
  return rule.exact ? "exact" : rule.integrator ? rule.integrator->name : od_integrator_at(0)->name;
}

static bool take_memory(od_predictor *pr) {
  int nx = pr->nx, ny = pr->ny, np = pr->np, columns = pr->columns;
  struct piece {
    double **to;
    int count;
  } pieces[] = {{&pr->p, np},
                {&pr->x0, nx},
                {&pr->S, nx * columns},
                {&pr->own_p, np},
                {&pr->own_x0, nx},
                {&pr->F, nx * nx},
                {&pr->Gp, nx * np},
                {&pr->hx, ny * nx},
                {&pr->hp, ny * np},
                {&pr->scratch, 3 * nx + nx * columns},
                {&pr->u, pr->nu},
                {&pr->y, OD_PREDICTED_BLOCK * ny},
                {&pr->dy, OD_PREDICTED_BLOCK * ny * columns}};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
    *pieces[i].to = OD_TAKE(&pr->arena, double, pieces[i].count);
  pr->pivot = OD_TAKE(&pr->arena, int, nx);
  return od_arena_status(&pr->arena) == OD_OK && (!pr->rule.exact || od_exact_new(pr));
}

static od_status check_log(const od_logged_inputs *log, od_rule rule, int nu, od_error *err) {
  if (log->count < 1) return od_fail(err, OD_BAD_ARGUMENT, "a log needs at least one sample; give a log with rows");
  if (nu > 0 && !log->u)
    return od_fail(err, OD_BAD_ARGUMENT, "the plant has %s, but the log has no inputs; give the inputs of the log",
                   od_count(nu, "input").text);
  if (!log->times)
    return log->step > 0 && isfinite(log->step) && isfinite(log->start)
               ? OD_OK
               : od_fail(err, OD_BAD_ARGUMENT, "the step of a log is %g s; expected a positive number", log->step);
  double step = log->count > 1 ? (log->times[log->count - 1] - log->times[0]) / (log->count - 1) : 1;
  for (int k = 0; k + 1 < log->count; k++) {
    double h = log->times[k + 1] - log->times[k];
    if (!(h > 0))
      return od_fail(err, OD_BAD_ARGUMENT,
                     "times of a log do not increase from sample %d to sample %d; expected increasing times", k, k + 1);
    if (rule.exact && !(fabs(h - step) <= 1e-6 * step))
      return od_fail(
          err, OD_BAD_ARGUMENT,
          "exact discretization needs uniform times; the step to sample %d is %g s, but the mean step is %g s. "
          "Resample the log",
          k + 1, h, step);
  }
  return OD_OK;
}

static od_status check_options(const od_plant *plant, const od_predictor_options *o, od_error *err) {
  if (o->substeps < 0 || o->free_count < 0 || o->bound < 0)
    return od_fail(err, OD_BAD_ARGUMENT,
                   "substeps is %d, free_count is %d, bound is %g; expected zero or more for each", o->substeps,
                   o->free_count, o->bound);
  if (o->steady && o->free_count)
    return od_fail(err, OD_BAD_ARGUMENT, "an initial state cannot be both steady and free; choose one of the two");
  for (int i = 0; i < o->free_count; i++)
    if (o->free_states[i] < 0 || o->free_states[i] >= od_plant_nx(plant))
      return od_fail(err, OD_BAD_ARGUMENT, "found the free state %d, expected 0 to %d", o->free_states[i],
                     od_plant_nx(plant) - 1);
  return OD_OK;
}

// Reads the plant's own parameters and initial state; for the exact rule also checks that the plant is linear. Fails with a
// status of od_sim_start() or od_linear_find().
static od_status look_at_plant(od_predictor *pr, od_error *err) {
  double t = od_log_time(&pr->log, 0);
  od_status status = od_sim_start(pr->sim, t, pr->log.u);
  if (status != OD_OK)
    return od_fail(err, status, "the initial state of the plant cannot be computed: %s", od_status_text(status));
  od_sim_parameters(pr->sim, pr->own_p);
  memcpy(pr->own_x0, od_sim_state(pr->sim), (size_t)pr->nx * sizeof *pr->own_x0);
  if (!pr->rule.exact) return OD_OK;
  for (int k = 0; k < pr->log.count; k++)
    for (int i = 0; i < pr->nu; i++) pr->u[i] = fmax(pr->u[i], fabs(pr->log.u[k * pr->nu + i]));
  status = od_linear_find(&pr->linear, pr->sim, t, pr->u, NULL, false);
  if (status == OD_NOT_AVAILABLE)
    return od_fail(err, status,
                   "exact discretization needs a plant that is linear in its states and inputs; choose an integrator");
  return status == OD_OK ? OD_OK : od_fail(err, status, "%s", od_status_text(status));
}

od_status od_predictor_new(const od_plant *plant, const od_logged_inputs *log, const od_predictor_options *o,
                           od_predictor **out, od_error *err) {
  *out = NULL;
  od_status status = check_log(log, o->rule, plant->nu, err);
  if (status == OD_OK) status = check_options(plant, o, err);
  if (status != OD_OK) return status;
  od_predictor *pr = od_calloc(1, sizeof *pr);
  if (!pr) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *pr = (od_predictor){.plant = plant,
                       .log = *log,
                       .rule = o->rule,
                       .hold = o->hold,
                       .substeps = o->substeps ? o->substeps : 1,
                       .nx = od_plant_nx(plant),
                       .nu = plant->nu,
                       .ny = plant->ny,
                       .np = plant->np,
                       .columns = plant->np + o->free_count,
                       .steady = o->steady,
                       .dense = o->dense,
                       .free_count = o->free_count,
                       .keeps_going = o->keeps_going,
                       .user = o->user,
                       .bound = o->bound > 0 ? o->bound : 1e12};
  if (log->times && log->count > 1) pr->log.step = (log->times[log->count - 1] - log->times[0]) / (log->count - 1);
  pr->sim = od_sim_new(plant);
  if (pr->sim && o->rule.integrator) od_sim_set_integrator(pr->sim, o->rule.integrator);
  pr->free_states = OD_TAKE(&pr->arena, int, o->free_count);
  if (!pr->sim || !pr->free_states || !take_memory(pr)) {
    od_predictor_free(pr);
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  }
  if (!pr->log.u) pr->log.u = pr->u;  // no inputs: a valid address that is never read
  for (int i = 0; i < o->free_count; i++) pr->free_states[i] = o->free_states[i];
  pr->whole = pr->log;
  status = look_at_plant(pr, err);
  if (status != OD_OK) {
    od_predictor_free(pr);
    return status;
  }
  *out = pr;
  return OD_OK;
}

od_status od_predictor_of_model(const od_prediction_model *model, od_predictor **out, od_error *err) {
  od_predictor *pr = *out = od_calloc(1, sizeof *pr);
  if (!pr) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *pr = (od_predictor){.model = *model, .ny = model->outputs, .np = model->parameters, .columns = model->parameters};
  return OD_OK;
}

// Predicts all rows of a model that is not a plant. Then passes the rows on in blocks. Fails with OD_NO_MEMORY or a status of the
// model.
static od_status predict_model_rows(od_predictor *pr, const double *p, const double *x0, const od_predict_wish *wish) {
  int every = wish->every > 0 ? wish->every : 1, rows = pr->model.rows;
  size_t ny = (size_t)pr->ny, values = (size_t)rows * ny, width = ny * (size_t)pr->columns;
  if (!pr->model_y) pr->model_y = OD_TAKE(&pr->arena, double, values);
  if (!pr->model_dy && wish->sensitivities) pr->model_dy = OD_TAKE_MATRIX(&pr->arena, double, rows, width);
  if (od_arena_status(&pr->arena) != OD_OK) return OD_NO_MEMORY;
  double *dy = wish->sensitivities ? pr->model_dy : NULL;
  od_status status = pr->model.predict(pr->model.user, p, x0, pr->model_y, dy);
  // Omitted rows are overwritten, so that the rows of a block are adjacent.
  for (int first = 0; first < rows && status == OD_OK; first += OD_PREDICTED_BLOCK * every) {
    double *y = pr->model_y + (size_t)first * ny, *block_dy = dy ? dy + (size_t)first * width : NULL;
    int count = 0;
    for (; count < OD_PREDICTED_BLOCK && first + count * every < rows; count++) {
      size_t from = (size_t)(count * every), to = (size_t)count;
      if (from == to) continue;
      memcpy(y + to * ny, y + from * ny, ny * sizeof *y);
      if (dy) memcpy(block_dy + to * width, block_dy + from * width, width * sizeof *dy);
    }
    const od_predicted block = {.first = first, .count = count, .every = every, .y = y, .dy = block_dy};
    wish->take(wish->user, &block);
  }
  return status;
}

void od_predictor_free(od_predictor *pr) {
  if (!pr) return;
  if (pr->model.release) pr->model.release(pr->model.user);
  od_sim_free(pr->sim);
  od_arena_free(&pr->arena);
  od_free(pr);
}

int od_predictor_columns(const od_predictor *pr) {
  return pr->columns;
}
void od_predictor_window(od_predictor *pr, int first, int count) {
  pr->log = pr->whole;
  pr->log.count = count;
  pr->log.start = od_log_time(&pr->whole, first);
  if (pr->whole.times) pr->log.times = pr->whole.times + first;
  pr->log.u = pr->whole.u + (size_t)first * (size_t)pr->nu;
}

bool od_predictor_end(const od_predictor *pr, double *x, double *S) {
  memcpy(x, od_sim_state(pr->sim), (size_t)pr->nx * sizeof *x);
  if (S) memcpy(S, pr->S, (size_t)(pr->nx * pr->columns) * sizeof *S);
  return !pr->changed;
}

bool od_predictor_used_modes(const od_predictor *pr) {
  return pr->used_modes;
}

bool od_predictor_leaps(const od_predictor *pr) {
  return pr->rule.exact && !pr->dense;
}

void od_give_rows(od_predictor *pr) {
  int every = pr->wish.every;
  const od_predicted rows = {.first = pr->given * every,
                             .count = pr->filled,
                             .every = every,
                             .y = pr->y,
                             .dy = pr->wish.sensitivities ? pr->dy : NULL};
  if (rows.count > 0) pr->wish.take(pr->wish.user, &rows);
  pr->given += pr->filled;
  pr->filled = 0;
}

void od_row_is_predicted(od_predictor *pr) {
  if (++pr->filled == OD_PREDICTED_BLOCK) od_give_rows(pr);
}

od_status od_predict_rows(od_predictor *pr, const double *p, const double *x0, const od_predict_wish *wish) {
  if (pr->model.predict) return predict_model_rows(pr, p, x0, wish);
  if (pr->np) memcpy(pr->p, p ? p : pr->own_p, (size_t)pr->np * sizeof *pr->p);
  x0 = x0 ? x0 : pr->own_x0;
  if (wish->every < 0 || wish->every > OD_PREDICT_MOST_EVERY) return OD_BAD_ARGUMENT;
  pr->wish = *wish;
  pr->wish.every = wish->every > 0 ? wish->every : 1;
  pr->wish.sensitivities = wish->sensitivities && pr->columns > 0;
  pr->given = pr->filled = 0;
  pr->used_modes = pr->changed = false;
  pr->steps = 0;  // the first step calls keeps_going, so no prediction begins after an interrupt
  for (int i = 0; i < pr->np; i++)
    if (!isfinite(pr->p[i])) return OD_NOT_FINITE;
  od_status status = OD_OK;
  if (pr->rule.exact) {
    status = od_predict_exactly(pr, x0);
  } else {
    status = od_start_prediction(pr, x0, pr->wish.sensitivities);
    if (status == OD_OK) status = od_predict_marching(pr);
  }
  if (status == OD_OK) od_give_rows(pr);
  return status;
}

// User data of the function that copies all rows consecutively.
typedef struct rows_of {
  double *y, *dy;
  int ny, columns;
} rows_of;

static void keep_rows(void *user, const od_predicted *rows) {
  const rows_of *to = user;
  size_t ny = (size_t)to->ny, first = (size_t)rows->first * ny, count = (size_t)rows->count * ny,
         columns = (size_t)to->columns;
  if (count == 0) return;
  memcpy(to->y + first, rows->y, count * sizeof *to->y);
  if (rows->dy) memcpy(to->dy + first * columns, rows->dy, count * columns * sizeof *to->dy);
}

od_status od_predict(od_predictor *pr, const double *p, const double *x0, double *y, double *dy) {
  if (pr->model.predict) return pr->model.predict(pr->model.user, p, x0, y, dy);
  rows_of to = {y, dy, pr->ny, pr->columns};
  const od_predict_wish wish = {.sensitivities = dy != NULL, .take = keep_rows, .user = &to};
  return od_predict_rows(pr, p, x0, &wish);
}
