// The layout of a machine's work memory.
#include "model/layout.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/wide.h"
#include "model/model.h"

// Returns the offset of `count` entries and advances *end. *end becomes -1 if offsets do not fit an int.
static int take(int *end, long long count) {
  int begin = *end;
  *end = begin < 0 || count > INT_MAX - begin ? -1 : begin + (int)count;
  return begin;
}

// The places of junction groups, which are fields of the model's tables. sets: place_group() sets the places; otherwise it compares
// them with the layout. differ: whether a place differs.
typedef struct groups {
  bool sets, differ;
} groups;
static void place_group(groups *g, int *place, int value) {
  if (g->sets)
    *place = value;
  else
    g->differ = g->differ || *place != value;
}

// Places the scalars that the real and the complex build of the kernels share. Returns the end offset.
static int place_scalars(const od_model *m, od_layout *l, groups *at) {
  int nd = m->planar ? OD_PLANAR_ND : OD_SPATIAL_ND, nv = m->planar ? OD_PLANAR_NV : OD_SPATIAL_NV;
  int nr = m->planar ? OD_PLANAR_NR : OD_SPATIAL_NR, ni = m->planar ? OD_PLANAR_NI : OD_SPATIAL_NI;
  int n = m->coordinates, rank = n < m->rows ? n : m->rows, end = 0;
  l->theta = take(&end, m->numbers);
  l->gravity = take(&end, 3);  // in a planar machine, the component normal to the plane is last
  l->reference = take(&end, nd);
  l->offset = take(&end, m->links * nd);
  l->axis = take(&end, m->links * nd);
  l->inertia = take(&end, m->links * ni);
  l->point = take(&end, m->points * nd);
  l->closure_u = take(&end, m->closures * nd);
  l->closure_w = take(&end, m->closures * nd);
  l->closure_dot = take(&end, m->closures);
  l->direction = take(&end, m->loads * 3);
  l->chart = take(&end, m->charts * OD_CHART_SIZE);
  l->z = take(&end, n);
  l->zd = take(&end, n);
  l->zdd = take(&end, n);
  l->u = take(&end, m->signals + m->measures);
  l->angle = take(&end, m->links);
  l->rotation = take(&end, m->links * nr);
  l->position = take(&end, m->links * nd);
  l->S = take(&end, m->links * nv);
  l->Sd = take(&end, m->links * nv);
  l->V = take(&end, m->links * nv);
  l->bias = take(&end, m->links * nv);
  l->A = take(&end, m->links * nv);
  l->ground_inertia = take(&end, m->links * ni);
  l->F = take(&end, m->links * nv);
  l->phi = take(&end, m->rows);
  l->jacobian = take(&end, m->entries);
  l->lu = take(&end, (long long)rank * rank);
  l->R = take(&end, (long long)rank * n);
  l->curl = take(&end, rank);
  l->lambda = take(&end, m->rows);
  l->tau = take(&end, n);
  l->scratch = take(&end, 2 * n + m->rows);
  l->line = take(&end, (long long)m->actuators * OD_LINE_SCALARS(nd));
  l->length = take(&end, m->actuators);
  l->speed = take(&end, m->actuators);
  l->force = take(&end, m->actuators);
  l->c = take(&end, m->states);
  l->rate = take(&end, m->states);
  l->pressure = take(&end, m->nodes);
  l->inflow = take(&end, m->nodes);
  l->volume = take(&end, m->nodes);
  l->largest = take(&end, m->nodes);
  l->compliance = take(&end, m->nodes);
  l->modulus = take(&end, m->nodes);
  l->stiffness = take(&end, m->nodes);
  l->oil = take(&end, OD_OIL_STATES);
  l->one = take(&end, 1);
  l->nothing = take(&end, 1);
  l->junction_flow = take(&end, m->junctions);
  l->junction_through = take(&end, m->junctions);
  l->junction_step = take(&end, m->junctions);
  l->junction_before = take(&end, m->junctions);
  l->junction_start = take(&end, m->junctions);
  l->junction_sum = take(&end, m->junctions);
  for (int i = 0; i < m->join.at_junction.groups; i++) {
    od_junction_group *g = &m->join.at_junction.group[i];
    place_group(at, &g->matrix, take(&end, (long long)g->count * g->count));
  }
  l->in = take(&end, m->join.ins);
  l->out = take(&end, m->join.outs);
  l->kept = take(&end, m->join.kept);
  l->report = take(&end, m->join.reports);
  l->held = take(&end, m->jumps);
  l->time = take(&end, 1);
  return end;
}

// Places the tangents in lanes: the same tangents in the same order, with OD_LANES lanes per entry.
static void place_lanes(od_layout *l, int begin) {
  const int one[] = {l->dX,   l->dS,   l->dV,    l->dA,      l->dF,     l->dz,     l->dzd,
                     l->dzdd, l->dtau, l->dline, l->dlength, l->dspeed, l->dforce, l->dscratch};
  od_lane_places *p = &l->lanes;
  int *const lanes[] = {&p->dX,   &p->dS,   &p->dV,    &p->dA,      &p->dF,     &p->dz,     &p->dzd,
                        &p->dzdd, &p->dtau, &p->dline, &p->dlength, &p->dspeed, &p->dforce, &p->dscratch};
  for (size_t i = 0; i < sizeof one / sizeof *one; i++) *lanes[i] = begin + OD_LANES * (one[i] - l->dX);
}

// Places the scalars of the real build only: tangents, derivatives, samples. Returns the end offset.
static int place_real_scalars(const od_model *m, od_layout *l, groups *at, int end) {
  int nd = m->planar ? OD_PLANAR_ND : OD_SPATIAL_ND, nv = m->planar ? OD_PLANAR_NV : OD_SPATIAL_NV;
  int n = m->coordinates;
  l->dX = take(&end, m->links * nv);
  l->dS = take(&end, m->links * nv);
  l->dV = take(&end, m->links * nv);
  l->dA = take(&end, m->links * nv);
  l->dF = take(&end, m->links * nv);
  l->dz = take(&end, n);
  l->dzd = take(&end, n);
  l->dzdd = take(&end, n);
  l->dtau = take(&end, n);
  l->dline = take(&end, (long long)m->actuators * OD_LINE_TANGENT_SCALARS(nd));
  l->dlength = take(&end, m->actuators);
  l->dspeed = take(&end, m->actuators);
  l->dforce = take(&end, m->actuators);
  l->dscratch = take(&end, 2 * n + m->rows);
  // Processors that do not use lanes have the same layout, so that an image fits all processors.
  place_lanes(l, take(&end, (long long)OD_LANES * (end - l->dX)));
  l->slope = take(&end, m->join.slopes);
  l->junction_change = take(&end, m->junctions);
  l->pressure_gain = take(&end, m->nodes);
  l->target_gain = take(&end, 2 * m->join.outs);
  l->by_temperature = take(&end, m->join.reservoir >= 0 ? m->join.outs : 0);
  l->length_map = take(&end, (long long)m->length_rows * n);
  l->block_slope = take(&end, m->block_slopes);
  l->drive = take(&end, (long long)(n + m->circuit_states) * m->drives);
  l->signal_line = take(&end, m->signals + m->measures);
  l->block_rate = take(&end, m->states);
  l->switch_stored = take(&end, m->switchers);
  l->switch_loss = take(&end, m->switchers);
  l->sampled = take(&end, m->samplers);
  l->ring = take(&end, m->rings);
  l->before_sample = take(&end, m->switchers + 3 * m->samplers);
  // Rows of derivatives. The rows of rates are last, because od_join_rows() shortens them in large circuits.
  l->force_width = 2 + m->circuit_states + m->signals + m->junctions + 1;
  l->force_row = take(&end, (long long)m->actuators * l->force_width);
  l->rate_width = 2 * m->actuators + m->circuit_states + m->signals + m->junctions + 1;
  for (int i = 0; i < m->join.at_junction.groups; i++) {
    od_junction_group *g = &m->join.at_junction.group[i];
    if (at->sets) g->columns = l->rate_width, g->column = -1;
    bool is_full = m->join.row_starts == 0;
    if (!at->sets && (is_full ? g->columns != l->rate_width : g->columns > l->rate_width)) at->differ = true;
    if (!at->sets && is_full != (g->column < 0)) at->differ = true;
    place_group(at, &g->width, g->columns + g->count);
    place_group(at, &g->row, take(&end, (long long)g->count * g->width));
  }
  // One more scalar after sparse rows, for derivatives with respect to constants.
  long long rates = m->join.row_starts > 0 ? m->join.row_columns + 1LL : (long long)m->circuit_states * l->rate_width;
  l->rate_row = take(&end, rates);
  return end;
}

// Places the integers of the work memory. Returns their count.
static int place_integers(const od_model *m, od_layout *l) {
  int n = m->coordinates, rank = n < m->rows ? n : m->rows, end = 0;
  l->dependent = take(&end, n);
  l->independent = take(&end, n);
  l->kept_row = take(&end, m->rows);
  l->lu_start = take(&end, rank + 1);
  l->lu_diagonal = take(&end, rank);
  l->lu_column = take(&end, (long long)rank * rank);
  l->lu_source = take(&end, (long long)rank * rank);
  l->rhs_start = take(&end, rank + 1);
  l->rhs_column = take(&end, m->entries);
  l->rhs_source = take(&end, m->entries);
  return end;
}

static bool lay_out(const od_model *m, od_layout *l, groups *at) {
  l->scalars = place_scalars(m, l, at);
  l->scalars_real = place_real_scalars(m, l, at, l->scalars);
  l->integers = place_integers(m, l);
  return l->scalars_real >= 0 && l->integers >= 0 && !at->differ;
}

bool od_layout_fill(const od_model *m, od_layout *l) {
  return lay_out(m, l, &(groups){.sets = true});
}
bool od_layout_check(const od_model *m, od_layout *l) {
  return lay_out(m, l, &(groups){.sets = false});
}
