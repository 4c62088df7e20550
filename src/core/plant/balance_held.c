// Held positions of a static balance.
#include <math.h>

#include "plant/balance.h"
#include "plant/model_plant_work.h"

void od_balance_gradient(const od_balance *b, const od_output *o, double *row) {
  const od_plant_data *d = od_plant_data_of(b->t->plant);
  od_work_parts p = od_work_parts_of(d, b->t->work);
  od_model_plant_prepare_tangents(d, &p);
  od_directions v = clear_directions(b->t->plant, &p);
  for (int k = 0; k < b->n; k++) {
    v.dz[k] = 1;
    od_mechanics(d->m)->tangent_motion(d->m, p.in, p.w, v.dz, v.dzd, v.dzdd, NULL, OD_LEVEL_POSITION);
    row[k] = od_model_output_change(d->m, p.w, o, v.dc, v.du, NULL);
    v.dz[k] = 0;
  }
}

static double value_of(const od_balance *b, const od_output *o) {
  return od_model_output_value(od_balance_model(b), od_model_plant_scalars(b->t->plant, b->t->work), o);
}

void od_balance_conditions(void *user, void *work, double *r, double *rz) {
  const od_balance *b = user;
  (void)work;
  for (int i = 0; i < b->helds; i++) {
    r[i] = value_of(b, &b->held[i].output) - b->held[i].value;
    od_balance_gradient(b, &b->held[i].output, rz + i * b->n);
  }
}

// Orthonormal directions of motion that the chosen conditions fix.
typedef struct basis {
  double *vector;
  int rank;
} basis;

// Adds the direction of motion that a condition on an output fixes. Returns false if the directions in `known` already
// fix the output.
static bool add_direction(const od_balance *b, basis *known, const od_output *o) {
  int n = b->n;
  double *v = known->vector + known->rank * n, before = 0, after = 0;
  if (known->rank >= n) return false;
  od_balance_gradient(b, o, v);
  for (int k = 0; k < n; k++) {
    v[k] *= od_model_coordinate_unit(od_balance_model(b), od_balance_coordinate(b, k));
    before += v[k] * v[k];
  }
  for (int again = 0; again < 2; again++)
    for (int i = 0; i < known->rank; i++) {
      const double *q = known->vector + i * n;
      double dot = 0;
      for (int k = 0; k < n; k++) dot += q[k] * v[k];
      for (int k = 0; k < n; k++) v[k] -= dot * q[k];
    }
  for (int k = 0; k < n; k++) after += v[k] * v[k];
  if (!(after > 1e-16 * before)) return false;
  for (int k = 0; k < n; k++) v[k] /= sqrt(after);
  known->rank++;
  return true;
}

static bool is_balanced(const od_balance *b, int coordinate) {
  for (int i = 0; i < b->s->balances; i++)
    if (od_balance_is_coordinate(&b->s->balanced[i]) && b->s->balanced[i].output.index == coordinate) return true;
  return false;
}

bool od_balance_choose_held(od_balance *b) {
  od_assembly *s = b->s;
  basis known = {b->work, 0};
  for (int i = 0; i < s->positions; i++)
    if (add_direction(b, &known, &s->at_position[i].output)) b->held[b->helds++] = s->at_position[i];
  bool ok = true;
  for (int i = 0; i < s->balances; i++) {
    if (!od_balance_is_coordinate(&s->balanced[i]) || add_direction(b, &known, &s->balanced[i].output)) continue;
    od_build_report(
        s->b, OD_ABOUT_INITIAL, s->balanced[i].initial,
        "'%s' cannot be balanced: the loops, the exact values and the coordinates that are balanced first already determine this coordinate;"
        " the machine has %d degree%s of freedom",
        od_balance_name(b, s->balanced[i].initial), b->n, b->n == 1 ? "" : "s");
    ok = false;
  }
  for (int j = 0; j < s->m->coordinates && ok; j++) {
    od_output o = {.kind = OD_OUT_COORDINATE, .index = j};
    if (!is_balanced(b, j) && add_direction(b, &known, &o))
      b->held[b->helds++] = (od_condition){s->initial_of_z[j], o, value_of(b, &o)};
  }
  return ok;
}

od_output od_balance_length(const od_balance *b, int instance) {
  return (od_output){.kind = OD_OUT_LENGTH, .index = od_balance_model(b)->instance[instance].actuator, .second = -1};
}

bool od_balance_check_held_cylinders(od_balance *b) {
  const od_model *m = od_balance_model(b);
  basis known = {b->work, 0};
  bool ok = true;
  for (int i = 0; i < b->helds; i++) add_direction(b, &known, &b->held[i].output);
  for (int i = 0, rank = known.rank; i < m->instances; i++, known.rank = rank) {
    if (!od_instance_has_reach(m, &m->instance[i])) continue;
    od_output length = od_balance_length(b, i);
    if (!add_direction(b, &known, &length)) ok = od_assembly_check_reach(b->s, i, value_of(b, &length)) && ok;
  }
  return ok;
}
