// The layouts of all blocks of memory: work memory of a model and of its plant, simulation, advance, observer, linearizing filter, smoother, and
// of plants around a plant.
//
// Oracle: the sizes that the headers document, written here again. Areas follow each other without an overlap, with gaps for the alignment only,
// up to the size of the block; so an area that is too small or too large is found.
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "integrate/integrators.h"
#include "integrate/sim_block.h"
#include "oleodyn/advance.h"
#include "observe/deviation_filter.h"
#include "observe/filters.h"
#include "observe/smoother.h"
#include "oleodyn/observer.h"
#include "plant/model_plant_work.h"
#include "plant/plant_in_arena.h"
#include "support/machines.h"
#include "support/random_machine.h"

enum { MOST_AREAS = 120, PARAMETERS = 5, SENSORS = 3 };

typedef struct area {
  size_t begin, size;
} area;
typedef struct areas {
  area list[MOST_AREAS];
  int count;
} areas;

static void add(areas *a, size_t begin, size_t size) {
  assert_true(a->count < MOST_AREAS);
  a->list[a->count++] = (area){begin, size};
}
static int by_place(const void *a, const void *b) {
  const area *p = a, *q = b;
  if (p->begin != q->begin) return p->begin < q->begin ? -1 : 1;
  return p->size < q->size ? -1 : p->size > q->size;
}
// The areas fill a block from `begin` to `end`; each begins at a multiple of `unit`.
static void fills(areas *a, size_t begin, size_t end, size_t unit) {
  qsort(a->list, (size_t)a->count, sizeof *a->list, by_place);
  for (int i = 0; i <= a->count; i++) {
    size_t here = i < a->count ? a->list[i].begin : end;
    assert_int_equal(here, (begin + unit - 1) / unit * unit);
    begin = here + (i < a->count ? a->list[i].size : 0);
  }
}

// ---- the work memory of a model

static void count_scalars(areas *a, const od_model *m) {
  const od_layout *l = &m->layout;
  int nd = m->planar ? 2 : 3, nv = m->planar ? 3 : 6, nr = m->planar ? 2 : 9, ni = m->planar ? 4 : 10,
      n = m->coordinates;
  int rank = m->rows < n ? m->rows : n;
  const struct {
    int at, size;
  } list[] = {
      {l->theta, m->numbers},
      {l->gravity, 3},
      {l->reference, nd},
      {l->offset, nd * m->links},
      {l->axis, nd * m->links},
      {l->inertia, ni * m->links},
      {l->point, nd * m->points},
      {l->closure_u, nd * m->closures},
      {l->closure_w, nd * m->closures},
      {l->closure_dot, m->closures},
      {l->direction, 3 * m->loads},
      {l->chart, OD_CHART_SIZE * m->charts},
      {l->z, n},
      {l->zd, n},
      {l->zdd, n},
      {l->u, m->signals + m->measures},
      {l->angle, m->links},
      {l->rotation, nr * m->links},
      {l->position, nd * m->links},
      {l->S, nv * m->links},
      {l->Sd, nv * m->links},
      {l->V, nv * m->links},
      {l->bias, nv * m->links},
      {l->A, nv * m->links},
      {l->ground_inertia, ni * m->links},
      {l->F, nv * m->links},
      {l->phi, m->rows},
      {l->jacobian, m->entries},
      {l->lu, rank * rank},
      {l->R, rank * n},
      {l->curl, rank},
      {l->lambda, m->rows},
      {l->tau, n},
      {l->scratch, 2 * n + m->rows},
      {l->line, OD_LINE_SCALARS(nd) * m->actuators},
      {l->length, m->actuators},
      {l->speed, m->actuators},
      {l->force, m->actuators},
      {l->c, m->states},
      {l->rate, m->states},
      {l->pressure, m->nodes},
      {l->inflow, m->nodes},
      {l->volume, m->nodes},
      {l->largest, m->nodes},
      {l->compliance, m->nodes},
      {l->modulus, m->nodes},
      {l->stiffness, m->nodes},
      {l->oil, OD_OIL_STATES},
      {l->one, 1},
      {l->nothing, 1},
      {l->time, 1},
      {l->junction_flow, m->junctions},
      {l->junction_through, m->junctions},
      {l->junction_step, m->junctions},
      {l->junction_before, m->junctions},
      {l->junction_start, m->junctions},
      {l->junction_sum, m->junctions},
      {l->in, m->join.ins},
      {l->out, m->join.outs},
      {l->kept, m->join.kept},
      {l->report, m->join.reports},
      {l->held, m->jumps},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) add(a, (size_t)list[i].at, (size_t)list[i].size);
  for (int i = 0; i < m->join.at_junction.groups; i++) {
    const od_junction_group *g = &m->join.at_junction.group[i];
    add(a, (size_t)g->matrix, (size_t)(g->count * g->count));
  }
}

static void count_real_scalars(areas *a, const od_model *m) {
  const od_layout *l = &m->layout;
  const od_lane_places *p = &l->lanes;
  int nd = m->planar ? 2 : 3, nv = m->planar ? 3 : 6, n = m->coordinates;
  const struct {
    int at, lane, size;
  } tangents[] = {
      {l->dX, p->dX, nv * m->links},
      {l->dS, p->dS, nv * m->links},
      {l->dV, p->dV, nv * m->links},
      {l->dA, p->dA, nv * m->links},
      {l->dF, p->dF, nv * m->links},
      {l->dz, p->dz, n},
      {l->dzd, p->dzd, n},
      {l->dzdd, p->dzdd, n},
      {l->dtau, p->dtau, n},
      {l->dline, p->dline, OD_LINE_TANGENT_SCALARS(nd) * m->actuators},
      {l->dlength, p->dlength, m->actuators},
      {l->dspeed, p->dspeed, m->actuators},
      {l->dforce, p->dforce, m->actuators},
      {l->dscratch, p->dscratch, 2 * n + m->rows},
  };
  for (size_t i = 0; i < sizeof tangents / sizeof *tangents; i++) {
    add(a, (size_t)tangents[i].at, (size_t)tangents[i].size);
    if (OD_LANES_PAY) add(a, (size_t)tangents[i].lane, (size_t)(OD_LANES * tangents[i].size));
  }
  const struct {
    int at, size;
  } list[] = {
      {l->slope, m->join.slopes},
      {l->junction_change, m->junctions},
      {l->pressure_gain, m->nodes},
      {l->target_gain, 2 * m->join.outs},
      {l->by_temperature, m->join.reservoir >= 0 ? m->join.outs : 0},
      {l->length_map, m->length_rows * n},
      {l->block_slope, m->block_slopes},
      {l->drive, (n + m->circuit_states) * m->drives},
      {l->signal_line, m->signals + m->measures},
      {l->block_rate, m->states},
      {l->switch_stored, m->switchers},
      {l->switch_loss, m->switchers},
      {l->sampled, m->samplers},
      {l->ring, m->rings},
      {l->before_sample, m->switchers + 3 * m->samplers},
      {l->force_row, m->actuators * (m->circuit_states + m->signals + m->junctions + 3)},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) add(a, (size_t)list[i].at, (size_t)list[i].size);
}

static void model_areas(const od_model *m) {
  const od_layout *l = &m->layout;
  int n = m->coordinates, rank = m->rows < n ? m->rows : n,
      width = 2 * m->actuators + m->circuit_states + m->signals + m->junctions + 1;
  areas a = {.count = 0};
  count_scalars(&a, m);
  fills(&a, 0, (size_t)l->scalars, 1);
  assert_int_equal(l->force_width, m->circuit_states + m->signals + m->junctions + 3);
  assert_int_equal(l->rate_width, width);
  if (!m->join.row_start) {  // dense rows
    a.count = 0;
    count_real_scalars(&a, m);
    for (int i = 0; i < m->join.at_junction.groups; i++) {
      const od_junction_group *g = &m->join.at_junction.group[i];
      assert_int_equal(g->columns, width);
      assert_int_equal(g->width, width + g->count);
      add(&a, (size_t)g->row, (size_t)(g->count * g->width));
    }
    add(&a, (size_t)l->rate_row, (size_t)(m->circuit_states * width));
    fills(&a, (size_t)l->scalars, (size_t)l->scalars_real, 1);
  }
  const struct {
    int at, size;
  } list[] = {{l->dependent, n},           {l->independent, n},      {l->kept_row, m->rows},
              {l->lu_start, rank + 1},     {l->lu_diagonal, rank},   {l->lu_column, rank * rank},
              {l->lu_source, rank * rank}, {l->rhs_start, rank + 1}, {l->rhs_column, m->entries},
              {l->rhs_source, m->entries}};
  a.count = 0;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) add(&a, (size_t)list[i].at, (size_t)list[i].size);
  fills(&a, 0, (size_t)l->integers, 1);
}

// ---- the blocks

static const size_t d = sizeof(double);

static void plant_areas(const od_plant *plant) {
  const od_plant_data *p = od_plant_data_of(plant);
  const od_model *m = p->m;
  size_t nz = (size_t)plant->nz, nc = (size_t)plant->nc, np = (size_t)plant->np, n = (size_t)m->coordinates;
  size_t in = (size_t)m->inputs, signals = (size_t)(m->signals + m->measures);
  areas a = {.count = 0};
  add(&a, p->scalars, (size_t)m->layout.scalars_real * d);
  add(&a, p->integers, (size_t)m->layout.integers * sizeof(int));
  size_t directions = 4 * nz + 2 * nc + signals, changes = od_partition_rank(m) > 0 ? 2 * n * (2 * nz + np) : 0;
  size_t column = nc + (size_t)m->actuators + (size_t)m->jumps;
  add(&a, p->scratch,
      (directions + changes + od_partition_doubles(m) + od_model_choice_doubles(m) + column +
       od_model_plant_lane_doubles(plant)) *
          d);
  add(&a, p->point, (2 * nz + nc + nz + nc + in) * d);
  add(&a, p->kept, n * d);
  add(&a, p->sparse, (size_t)(m->step.sparse.values + m->step.sparse.n) * d);
  add(&a, p->changed_values, od_model_plant_change_doubles(p) * d);
  size_t point = (size_t)m->layout.scalars + (2 * nz + nc) + 2 * (nz + nc) + in;
  add(&a, p->complex_scalars, np || plant->jumps || p->reactions || od_model_switchers(m) ? point * 2 * d : 0);
  add(&a, p->tree, m->newton == OD_NEWTON_TREE ? od_model_plant_tree_size(p) : 0);
  fills(&a, sizeof(od_work_header), plant->work_size, 16);
}

static void sim_areas(const od_plant *plant, bool plain) {
  od_sim *s = plain ? od_sim_plain_new(plant) : od_sim_new(plant);
  size_t nx = (size_t)od_plant_nx(plant), nk = (size_t)od_plant_nk(plant), nu = (size_t)plant->nu,
         np = (size_t)plant->np, nq = (size_t)plant->nq, jumps = (size_t)plant->jumps, inner = np > jumps ? np : jumps;
  size_t columns = plain ? 0 : nx + inner + 2 * nu, rows = plain ? 0 : nk;
  bool dense = !plain || !plant->ops->step_factors;
  areas a = {.count = 0};
  const struct {
    size_t at, doubles;
  } list[] = {{s->x, nx},
              {s->k, nk},
              {s->k_before, nk},
              {s->k_earlier, nk},
              {s->u, nu},
              {s->energy, nq},
              {s->power, nq},
              {s->power_next, nq},
              {s->curve, nk},
              {s->x_next, nx},
              {s->k_next, nk},
              {s->base, nx},
              {s->g, nk},
              {s->matrix, dense ? nk * nk : 0},
              {s->careful, 3 * nk},
              {s->kx, rows * nx},
              {s->ku, rows * nu},
              {s->kp, rows * inner},
              {s->gx, rows * nx},
              {s->gu, rows * nu},
              {s->gp, rows * inner},
              {s->rate_matrix, dense ? 2 * nk * nk + nk : 0},
              {s->right, rows * columns},
              {s->inside, (size_t)od_integrators_inside() * nu},
              {s->scratch, od_integrators_scratch(plant, columns)},
              {s->guards, (size_t)od_plant_guards(plant)},
              {s->before_set, nx + nk + nu + nq + np},
              {s->held, 2 * jumps},
              {s->jump_start, jumps},
              {s->slide, od_slide_doubles(plant, plain)}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) add(&a, list[i].at, list[i].doubles * d);
  add(&a, s->pivot, (2 * nk + 1) * sizeof(int));
  add(&a, s->work, plant->work_size);
  fills(&a, sizeof *s, od_sim_bytes(s), 16);
  assert_int_equal(od_sim_bytes(s), plain ? od_sim_plain_size(plant) : od_sim_size(plant));
  od_sim_free(s);
}

// The memory of the filter is the last area of an observer.
static void observer_areas(const od_plant *plant, const od_observer_options *options) {
  od_observer *o = od_observer_new(plant, options);
  const od_linear *l = od_observer_linear(o);
  size_t nx = (size_t)od_plant_nx(plant), np = (size_t)plant->np, ny = (size_t)plant->ny, n = nx + np;
  areas a = {.count = 0};
  const struct {
    size_t at, doubles;
  } list[] = {{o->P, n * n},
              {o->P_out, n * n},
              {o->scratch, (size_t)od_covariance_scratch((int)nx, (int)np)},
              {o->kept, (size_t)od_covariance_kept((int)nx, (int)np)},
              {o->map, nx * nx},
              {o->map_p, nx * np},
              {o->p, np},
              {o->low, np},
              {o->high, np},
              {o->bias, n},
              {o->sigma, ny},
              {o->R, ny * ny},
              {o->probe_x, 4 * n + 2 * ny},
              {o->declared_C, nx * nx},
              {l->A, nx * nx},
              {l->y, ny},
              {l->hx, ny * nx},
              {l->hp, ny * np},
              {l->h, n},
              {l->g, n},
              {l->gain, OD_MOST_WAITING * n},
              {l->prior, n},
              {l->moved, n},
              {l->delta, n},
              {l->prior_bias, n},
              {l->L, ny * ny},
              {l->D, ny},
              {l->own_h, ny * n},
              {l->own_y, ny}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) add(&a, list[i].at, list[i].doubles * d);
  const area others[] = {{o->sim, od_sim_size(plant)},
                         {o->probe, od_sim_size(plant)},
                         {o->present, ny},
                         {o->at_edge, ny},
                         {o->innovation, ny * sizeof(od_innovation)},
                         {o->guard, ny * sizeof(od_guard)},
                         {o->rules, ny * sizeof(od_guard_rules)},
                         {o->spread, ny * sizeof(od_spread)},
                         {o->declared_output, nx * sizeof(int)},
                         {o->linear, sizeof(od_linear)},
                         {l->at, n * sizeof(int)},
                         {o->memory, o->filter->memory(plant, options)}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) add(&a, others[i].begin, others[i].size);
  fills(&a, sizeof *o, od_observer_block_size(o), 16);
  assert_int_equal(o->probe_size, od_sim_size(plant));
  assert_int_equal(od_observer_size(plant, options), od_observer_block_size(o));
  od_observer_free(o);
}

// A sample: step, diagonal, inputs at both ends, noise of states and parameters, sensors. A slope: F, then innovations, rows and gains.
static void smoother_areas(const od_plant *plant, const od_observer_options *options) {
  const int window = 20;
  const double choice[] = {[OD_SMOOTHER_WINDOW] = window, [OD_SMOOTHER_SPREAD] = 1, [OD_SMOOTHER_WIDEN] = 1};
  od_observer_options own = *options;
  own.filter = &od_filter_relinearizing;
  own.choice = choice;
  od_observer *o = od_observer_new(plant, &own);
  size_t nx = (size_t)od_plant_nx(plant), np = (size_t)plant->np, ny = (size_t)plant->ny, nu = (size_t)plant->nu,
         n = nx + np;
  double *u = calloc(nu + 1, d), *P = calloc(n * n, d);
  for (size_t i = 0; i < n; i++) P[i * n + i] = 1;
  assert_int_equal(od_observer_start(o, 0, NULL, NULL, P, u), OD_OK);
  free(u), free(P);
  const od_smoother *s = od_observer_memory(o);
  size_t samples = window + 1, sample = 2 + 2 * nu + nx * nx + np + ny, slope = nx * n + ny * (1 + 2 * n);
  assert_int_equal(s->capacity, window);
  assert_int_equal(s->sample_doubles, sample);
  assert_int_equal(s->slope_doubles, slope);
  areas a = {.count = 0};
  const struct {
    size_t at, doubles;
  } list[] = {{s->sample, 3 * samples * sample},
              {s->slope, samples * slope},
              {s->now, samples * n},
              {s->next, samples * n},
              {s->alternative, samples * n},
              {s->start_P, n * n},
              {s->start_mean, n},
              {s->start_bias, n},
              {s->end_P, n * n},
              {s->end_delta, n},
              {s->end_bias, n},
              {s->jump, nx * nx},
              {s->jump_p, nx * np},
              {s->lambda, n},
              {s->work, 10 * n},
              {s->Q, n * n},
              {s->y, ny},
              {s->noise_kept, nx * nx + np + 1},
              {s->noise, n * n},
              {s->declared_C, nx * nx},
              {s->declared_y, nx},
              {s->declared_x, nx},
              {s->declared_H, 3 * nx * nx}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) add(&a, list[i].at, list[i].doubles * d);
  own.filter = &od_filter_iterated_ekf;
  own.choice = NULL;
  const area others[] = {{s->start_sim, od_sim_size(plant)},         {s->end_sim, od_sim_size(plant)},
                         {s->live, od_iterated_size(plant)},         {s->declared_output, nx * sizeof(int)},
                         {s->declared_state, nx * sizeof(int)},      {s->declared_pivot, nx * sizeof(int)},
                         {s->worker, od_observer_size(plant, &own)}, {s->plain, od_observer_size(plant, &own)}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) add(&a, others[i].begin, others[i].size);
  own.filter = &od_filter_relinearizing;
  own.choice = choice;
  fills(&a, sizeof *s, od_smoother_size(plant, &own), 16);
  od_observer_free(o);
}

// The arrays of filters that use trial states, for a number of trials; then a copy of the simulation.
static void deviation_areas(const od_plant *plant, const od_observer_options *options, size_t most) {
  od_observer *o = od_observer_new(plant, options);
  size_t nx = (size_t)od_plant_nx(plant), np = (size_t)plant->np, ny = (size_t)plant->ny, n = nx + np;
  const od_deviations r = od_deviations_of(o, (int)most);
  const char *memory = od_observer_memory(o);
  const struct {
    const double *at;
    size_t doubles;
  } list[] = {{r.row, most * (n + ny)},
              {r.expected, ny},
              {r.root, n * n},
              {r.from, n},
              {r.to, n},
              {r.up, (nx + ny) * n},
              {r.down, (nx + ny) * n},
              {r.S, ny * ny},
              {r.T, ny * ny},
              {r.C, n * ny},
              {r.K, n * ny},
              {r.value, ny},
              {r.narrow, (most + ny + 1) * n}};
  areas a = {.count = 0};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    add(&a, (size_t)((const char *)list[i].at - memory), list[i].doubles * d);
  size_t begin = (size_t)((const char *)r.begin - memory), doubles = 0;
  for (int i = 0; i < a.count; i++) doubles += a.list[i].size;
  fills(&a, 0, doubles, 8);
  assert_int_equal(begin, (doubles + 15) / 16 * 16);
  assert_int_equal(od_deviations_size(plant, (int)most), begin + od_sim_size(plant));
  od_observer_free(o);
}

// ---- blocks whose offsets are known inside a file only: their sizes, with a gap up to the next multiple of 16 after each area

static size_t sum_of(const size_t *bytes, int count) {
  size_t sum = 0;
  for (int i = 0; i < count; i++) sum += (bytes[i] + 15) / 16 * 16;
  return sum;
}

// An advance: its struct, of the same size for all plants, then the inputs at a point, inside a step, after a jump and of both sides; with adaptive
// steps the map of a change of coordinates and four vectors of the step control; with adaptive steps or guards three copies of the simulation and the
// memory of the search for events.
static size_t struct_of_advance;
static void advance_size(const od_plant *plant, const od_integrator *integrator, bool adaptive) {
  od_sim *sim = od_sim_new(plant);
  od_sim_set_integrator(sim, integrator);
  size_t nu = (size_t)plant->nu, nx = (size_t)od_plant_nx(plant), guards = (size_t)od_plant_guards(plant);
  size_t control = adaptive, mapped = adaptive && plant->nz > 0, copies = adaptive || guards > 0;
  const size_t list[] = {nu * d,
                         nu * (size_t)integrator->inside_count * d,
                         nu * d,
                         2 * nu * d,
                         mapped * nx * nx * d,
                         control * 4 * nx * d,
                         copies * od_sim_bytes(sim),
                         copies * od_sim_bytes(sim),
                         copies * od_sim_bytes(sim),
                         copies * (7 * guards + 2 * nu + nx + 1) * d};
  size_t size = od_advance_size(sim, &(od_advance_options){.step = adaptive ? 0 : 1e-3, .tolerance = 1e-6}),
         parts = sum_of(list, 10);
  assert_true(size > parts && size % 16 == 0);
  if (struct_of_advance == 0) struct_of_advance = size - parts;
  assert_int_equal(size - parts, struct_of_advance);
  od_sim_free(sim);
}
static void check_advance(const od_plant *plant) {
  for (int i = 0; od_integrator_at(i); i++)
    for (int adaptive = 0; adaptive < 2; adaptive++) advance_size(plant, od_integrator_at(i), adaptive);
}

// Memory of plants around a plant, as in the comments of their structs.
static void check_wrapped(const od_plant *inner) {
  size_t nx = (size_t)od_plant_nx(inner), nk = (size_t)od_plant_nk(inner), ny = (size_t)inner->ny,
         np = (size_t)inner->np, rows = nx > ny ? nx : ny;
  static const od_calibration item[] = {{0, OD_CALIBRATE_BIAS}, {0, OD_CALIBRATE_SCALE}, {0, OD_CALIBRATE_BIAS}};
  for (int count = 1; count <= 3; count++) {
    od_arena arena = {0};
    od_plant *plant = NULL;
    const size_t list[] = {(size_t)count * d, ny * d, rows * np * d, nk * np * d, inner->work_size};
    assert_int_equal(od_plant_calibrated_in(&arena, (od_plant *)inner, item, count, &plant, NULL), OD_OK);
    assert_int_equal(plant->work_size, sum_of(list, 5));
    od_arena_free(&arena);
  }
}

static void on_machines(void (*check)(const od_plant *plant)) {
  // Two jumps, more than parameters.
  static const char jumping[] =
      "inputs: {d1: 0.1, d2: 0.2}\nblocks:\n"
      "  x1: {type: integrator, input: e1, gain: 1 1/s, unit: '1'}\n  x2: {type: integrator, input: e2, gain: 1 1/s, unit: '1'}\n"
      "  s1: {type: sign, input: x1}\n  s2: {type: formula, inputs: {x: x2}, formula: 'sign(x)'}\n"
      "  e1: {type: sum, inputs: [d1, s1, s2], weights: [1, -1, -0.5]}\n"
      "  e2: {type: sum, inputs: [d2, s1, s2], weights: [1, -0.5, -1]}\ninitial: {x1.integral: 0.2, x2.integral: -0.1}\n";
  od_machine *machine = od_test_machine_text(jumping);
  const int both[SENSORS] = {od_test_output(machine, "x1"), od_test_output(machine, "x2"),
                             od_test_output(machine, "s1")},
            first = 0;
  od_plant *sliding = NULL;
  assert_int_equal(od_machine_plant(machine, both, SENSORS, &first, 1, &sliding, NULL), OD_OK);
  assert_int_equal(sliding->jumps, 2);
  check(sliding);
  od_plant_free(sliding);
  od_machine_free(machine);
  bool with_loops = false, with_blocks = false, with_junctions = false, planar = false, spatial = false;
  for (unsigned long long seed = 1; seed <= 24; seed++) {
    od_model *m = od_random_machine(seed, seed % 2, seed % 3 == 0, seed % 4 != 1, seed % 5 < 3);
    if (!m) continue;
    od_plant *plant = NULL;
    int outputs[SENSORS], parameter[PARAMETERS];
    for (int i = 0; i < SENSORS; i++) outputs[i] = i * (m->outputs - 1) / SENSORS;
    for (int i = 0; i < PARAMETERS; i++) parameter[i] = i;  // gravity and the first body
    assert_int_equal(od_model_plant(m, outputs, SENSORS, parameter, PARAMETERS, &plant, NULL), OD_OK);
    if (seed % 3) assert_int_equal(od_model_plant_integrate_powers(plant), OD_OK);
    check(plant);
    with_loops = with_loops || m->rows, with_blocks = with_blocks || m->blocks;
    with_junctions = with_junctions || m->junctions, planar = planar || m->planar, spatial = spatial || !m->planar;
    od_plant_free(plant);
    od_model_free(m);
  }
  print_message("loops %d, blocks %d, junctions %d, planar %d, spatial %d\n", with_loops, with_blocks, with_junctions,
                planar, spatial);
  assert_true(with_loops && with_blocks && with_junctions && planar && spatial);
}

static void check_model(const od_plant *plant) {
  model_areas(od_plant_data_of(plant)->m);
  plant_areas(plant);
}
static void check_sim(const od_plant *plant) {
  sim_areas(plant, false);
  sim_areas(plant, true);
}
static void check_observer(const od_plant *plant) {
  const double sigma[SENSORS] = {1, 1, 1};
  const od_observer_options options = {.sensor_sigma = sigma};
  for (int i = 0; od_filter_at(i); i++) {
    od_observer_options own = options;
    own.filter = od_filter_at(i);
    observer_areas(plant, &own);
  }
  smoother_areas(plant, &options);
  for (size_t most = 1; most < 5; most++) deviation_areas(plant, &options, most);
}

static void work_memory(void **state) {
  (void)state;
  on_machines(check_model);
}
static void simulations(void **state) {
  (void)state;
  on_machines(check_sim);
}
static void observers(void **state) {
  (void)state;
  on_machines(check_observer);
}
static void advances(void **state) {
  (void)state;
  // A plant without inputs, so that the size of the struct is not mistaken by the size of inputs.
  od_machine *machine = od_test_machine_text(
      "bodies: {a: {point: {mass: 1 kg}}}\njoints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}}\n"
      "initial: {A.position: 0 m}\n");
  od_plant *plant = NULL;
  assert_int_equal(od_machine_plant(machine, NULL, 0, NULL, 0, &plant, NULL), OD_OK);
  assert_int_equal(plant->nu, 0);
  check_advance(plant);
  od_plant_free(plant);
  od_machine_free(machine);
  on_machines(check_advance);
}
static void wrapped_plants(void **state) {
  (void)state;
  on_machines(check_wrapped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(advances),    cmocka_unit_test(wrapped_plants), cmocka_unit_test(work_memory),
      cmocka_unit_test(simulations), cmocka_unit_test(observers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
