#include "experiment/record.h"

#include <string.h>

#include "base/allocate.h"

od_record *od_record_new(long rows, int sensors, int inputs) {
  OD_OWNED(od_record_free) od_record *r = od_calloc(1, sizeof *r);
  if (!r) return NULL;
  *r = (od_record){.rows = rows, .sensors = sensors, .inputs = inputs};
  r->t = OD_TAKE(&r->memory, double, rows);
  r->y = OD_TAKE_MATRIX(&r->memory, double, rows, sensors);
  r->u = OD_TAKE_MATRIX(&r->memory, double, rows, inputs);
  r->u_after = OD_TAKE_MATRIX(&r->memory, double, rows, inputs);
  return od_arena_status(&r->memory) == OD_OK ? OD_GIVE(r) : NULL;
}

void od_record_free(od_record *r) {
  if (!r) return;
  od_arena_free(&r->memory);
  od_free(r);
}

od_status od_record_take(const od_experiment *e, long most, od_record **out, od_error *err) {
  OD_SCOPED(od_sample_source_free) od_sample_source source = {0};
  *out = NULL;
  od_status status = od_sample_source_of(e, &source, err);
  if (status != OD_OK) return status;
  long capacity = e->log ? e->log->rows : (long)ceil(e->time / e->step) + 2, row = 0;
  if (capacity > most) capacity = most;
  OD_OWNED(od_record_free) od_record *r = od_record_new(capacity, e->sensors, od_machine_input_count(e->model));
  if (!r) return od_fail(err, OD_NO_MEMORY, "out of memory");
  size_t ns = (size_t)r->sensors, nu = (size_t)r->inputs;
  for (; row < capacity; row++) {
    od_sample s;
    bool more = true;
    status = source.next(source.self, &s, &more, err);
    if (status != OD_OK) return status;
    if (!more) break;
    r->t[row] = s.t;
    memcpy(r->y + (size_t)row * ns, s.y, ns * sizeof *r->y);
    if (nu) memcpy(r->u + (size_t)row * nu, s.u, nu * sizeof *r->u);
    if (nu) memcpy(r->u_after + (size_t)row * nu, s.u_after ? s.u_after : s.u, nu * sizeof *r->u);
  }
  r->rows = row;
  *out = OD_GIVE(r);
  return OD_OK;
}

double od_record_range(const od_record *r, int column) {
  double low = INFINITY, high = -INFINITY;
  for (long k = 0; k < r->rows; k++) {
    double x = column < r->sensors ? r->y[k * r->sensors + column] : r->u[k * r->inputs + column - r->sensors];
    low = fmin(low, x), high = fmax(high, x);
  }
  return high > low ? high - low : 0;
}

double od_record_step(const od_record *r) {
  return (r->t[r->rows - 1] - r->t[0]) / fmax((double)(r->rows - 1), 1);
}

// --- Faults undone ------------------------------------------------------------------------------------------------

// Computes value = (value - offset) / factor in all rows of a column.
static void rescale(od_record *r, int column, double offset, double factor) {
  int ns = r->sensors, nu = r->inputs;
  for (long k = 0; k < r->rows; k++) {
    if (column < ns) {
      r->y[k * ns + column] = (r->y[k * ns + column] - offset) / factor;
      continue;
    }
    double *u[] = {&r->u[k * nu + column - ns], &r->u_after[k * nu + column - ns]};
    for (int i = 0; i < 2; i++) *u[i] = (*u[i] - offset) / factor;
  }
}

// Shifts a column: the value in row k is replaced by the value in row k + late. Beyond the ends of the record, sensors
// have no values, and inputs keep the value at the end.
static void shift(const od_record *from, od_record *to, int column, long late) {
  int ns = from->sensors, nu = from->inputs;
  for (long k = 0; k < from->rows; k++) {
    long at = k + late;
    bool inside = at >= 0 && at < from->rows;
    if (at < 0) at = 0;
    if (at >= from->rows) at = from->rows - 1;
    if (column < ns) {
      to->y[k * ns + column] = inside ? from->y[at * ns + column] : (double)NAN;
    } else {
      int i = column - ns;
      to->u[k * nu + i] = from->u[at * nu + i];
      to->u_after[k * nu + i] = inside ? from->u_after[at * nu + i] : from->u[at * nu + i];
    }
  }
}

// Scales the time of the sensors: each row contains the measurements of the row that is nearest in the scaled time.
static void scale_clock(const od_record *from, od_record *to, double part) {
  size_t ns = (size_t)from->sensors;
  long at = 0;
  for (long k = 0; k < from->rows; k++) {
    double t = from->t[0] + (from->t[k] - from->t[0]) * (1 + part);
    while (at + 1 < from->rows && fabs(from->t[at + 1] - t) <= fabs(from->t[at] - t)) at++;
    bool inside = t <= 1.5 * from->t[from->rows - 1] - 0.5 * from->t[from->rows - 2];
    for (size_t i = 0; i < ns; i++) to->y[(size_t)k * ns + i] = inside ? from->y[(size_t)at * ns + i] : (double)NAN;
  }
}

// Exchanges two columns, both of sensors or both of inputs.
static void swap_columns(od_record *r, int a, int b) {
  int ns = r->sensors, nu = r->inputs;
  for (long k = 0; k < r->rows; k++) {
    double *of = a < ns ? r->y + k * ns : r->u + k * nu - ns, kept = of[a];
    of[a] = of[b], of[b] = kept;
    if (a < ns) continue;
    of = r->u_after + k * nu - ns, kept = of[a];
    of[a] = of[b], of[b] = kept;
  }
}

// Changes the inputs so that each input keeps its value until the next row.
static void hold_inputs(const od_record *from, od_record *to) {
  size_t row = (size_t)from->inputs * sizeof *from->u;
  for (long k = 1; k < from->rows && row > 0; k++)
    memcpy(to->u + k * from->inputs, from->u_after + (k - 1) * from->inputs, row);
}

void od_record_undo(const od_record *from, const od_fault *f, const od_experiment *e, od_record *to) {
  size_t n = (size_t)from->rows;
  memcpy(to->t, from->t, n * sizeof *to->t);
  memcpy(to->y, from->y, n * (size_t)from->sensors * sizeof *to->y);
  if (from->inputs) memcpy(to->u, from->u, n * (size_t)from->inputs * sizeof *to->u);
  if (from->inputs) memcpy(to->u_after, from->u_after, n * (size_t)from->inputs * sizeof *to->u);
  to->rows = from->rows;
  switch (f->kind) {
    case OD_FAULT_DELAY:
      for (int c = 0; c < from->sensors + from->inputs; c++)
        if (c == f->column || (f->column == OD_ALL_COLUMNS && c >= from->sensors))
          shift(from, to, c, lround(f->amount));
      break;
    case OD_FAULT_OFFSET: rescale(to, f->column, f->amount, 1); break;
    case OD_FAULT_SCALE:
    case OD_FAULT_SIGN:
    case OD_FAULT_UNIT: rescale(to, f->column, 0, f->amount); break;
    case OD_FAULT_SWAP: swap_columns(to, f->column, f->other); break;
    case OD_FAULT_GAUGE:
      for (int c = 0; c < from->sensors; c++)
        if (c == f->column || (f->column == OD_ALL_COLUMNS && !strcmp(e->sensor[c].unit, "Pa")))
          rescale(to, c, -f->amount, 1);
      break;
    case OD_FAULT_CLOCK:
      if (f->other)
        scale_clock(from, to, f->amount);
      else
        for (long k = 0; k < from->rows; k++) to->t[k] = from->t[0] + (from->t[k] - from->t[0]) / (1 + f->amount);
      break;
    case OD_FAULT_HOLD: hold_inputs(from, to); break;
    default: break;
  }
}

// --- A source of samples ------------------------------------------------------------------------------------------

typedef struct replay {
  const od_record *r;
  long at;
} replay;

static od_status next(void *self, od_sample *out, bool *more, od_error *err) {
  replay *m = self;
  const od_record *r = m->r;
  (void)err;
  *more = m->at < r->rows;
  if (!*more) return OD_OK;
  long k = m->at++;
  const double *u = r->u + k * r->inputs, *after = r->u_after + k * r->inputs;
  bool jumps = r->inputs > 0 && memcmp(u, after, (size_t)r->inputs * sizeof *u) != 0;
  *out = (od_sample){.t = r->t[k], .u = u, .u_after = jumps ? after : NULL, .y = r->y + k * r->sensors};
  return OD_OK;
}

od_status od_sample_source_record(const od_record *r, double step, od_sample_source *out) {
  *out = (od_sample_source){.next = next, .step = step, .begin = r->t[0], .end = r->t[r->rows - 1]};
  replay *m = out->self = OD_TAKE(&out->memory, replay, 1);
  if (m) m->r = r;
  return od_arena_status(&out->memory);
}
