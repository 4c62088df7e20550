#include "simulate/run_laws.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/sim_block.h"
#include "io/display.h"
#include "io/wording.h"
#include "machine/below_zero.h"
#include "machine/machine.h"
#include "model/joint_types.h"
#include "model/model.h"
#include "plant/inverse.h"
#include "simulate/run_state.h"

// Largest number of remarks of one kind; largest number of samples of a delay's input.
enum { MOST_SHOWN = 6, MOST_SAMPLES = 1 << 14 };
// Limit of a pressure, relative to the shut-off pressure of the pump. Higher pressures get a remark.
static const double overshoot = 1.2;
static const double high_pressure = 1e8;  // limit of a pressure, Pa; higher pressures get a remark
static const double air = 1.01325e5;      // atmospheric pressure, Pa
static const double least_creep = 1e-5;   // shortest distance that is reported, m or rad
// Speed below which the friction force is negligible, relative to the transition speed.
static const double least_share = 0.01;
// Limit of the wave of the highest mode, multiplied by the number of modes, relative to the range of the pressures.
// Larger waves get a remark.
static const double mode_share = 0.1;

static const od_run_range no_range = {INFINITY, -INFINITY};

static double width(od_run_range r) {
  return r.high > r.low ? r.high - r.low : 0;
}

// Friction without states. y[0]: position, y[1]: speed.
typedef struct creep {
  int instance, y;
  double transition;  // speed below which the friction force is proportional to speed, m/s or rad/s
  od_run_range position;
  double begin, from;         // time and position at the start of the current interval below `transition`; NAN: none
  double moved, first, last;  // the interval with the longest distance: its distance, and its start and end, s
} creep;

// A contact with friction. y[0]: normal force, y[1] to y[3]: velocity of the contact point. Below the speed `slip`, friction is
// proportional to the speed along the plane.
typedef struct slide {
  int load, y;
  double slip, normal[3];
  double begin, distance;     // the current interval below `slip`: its start, s (NAN: none), and distance, m
  double moved, first, last;  // the interval with the longest distance: its distance, m, and its start and end, s
} slide;

// A delay with a Pade approximation. y[0]: input, y[1]: output. Holds samples of the input over the time of the delay.
typedef struct delay {
  int block, y;
  double time;
  double *sample;  // times and values of samples of the input
  // Number of samples; index of the oldest sample in use; rows per sample; rows since the last sample.
  int count, first, stride, skipped;
  od_run_range input;
  double sum, seconds, most;  // integral of the deviation, its duration, the largest deviation
} delay;

typedef struct line {
  int instance, modes;
  double impedance;  // pressure of a wave divided by its flow, Pa s/m3
  double highest;    // largest flow of the highest mode, m3/s
  od_run_range pressure[2];
} line;

typedef struct rod {
  int instance;
  double area[2];
  double most;  // largest force of the pressures on the piston, N
} rod;

// A pump with a shut-off pressure, above which it delivers no flow.
typedef struct pump {
  int instance, node;  // node: the node at the outlet of the pump
  double bound;        // limit of the pressure at this node, Pa
  bool beyond;         // whether the pressure was above the limit
  double worst, when;  // the highest pressure, Pa, and its time, s
} pump;

struct od_run_laws {
  const od_model *m;
  od_plant *plant;         // the same machine with the watched outputs; NULL: no output is watched
  double *value;           // values of the watched outputs
  int outputs, *output;    // indices of the watched outputs; the pressures of all nodes come first
  double *highest, *when;  // highest pressure of each node, Pa, and its time, s
  int *inflow;             // per node: index of the junction's inflow among the outputs, or -1
  double *drawn;           // volume that was drawn from the node at zero pressure, m3
  creep *creep;
  slide *slide;
  delay *delay;
  line *line;
  rod *rod;
  pump *pump;
  od_below_zero *signal;  // watched signals; their values follow the values of all other outputs
  int creeps, slides, delays, lines, rods, pumps, signals;
  double time;  // time of the last row, s; NAN: none
};

// ---- watched laws

static int find_output(const od_model *m, od_output_kind what, int index) {
  for (int i = 0; i < m->outputs; i++)
    if (m->output[i].kind == what && m->output[i].index == index) return i;
  return -1;
}

static int find_field(const od_element_description *c, const char *key) {
  for (int i = 0; i < c->field_count; i++)
    if (strcmp(c->fields[i].key, key) == 0) return i;
  return -1;
}

static int add_output(od_run_laws *l, int output) {
  l->output[l->outputs] = output;
  return l->outputs++;
}

// Adds the pressures of all nodes, in their order, and the inflows of junctions.
static void add_nodes(od_run_laws *l) {
  const od_model *m = l->m;
  l->outputs = m->nodes;
  for (int i = 0; i < m->nodes; i++) l->inflow[i] = -1;
  for (int i = 0; i < m->outputs; i++) {
    const od_output *o = &m->output[i];
    if (o->kind == OD_OUT_NODE_PRESSURE) l->output[o->index] = i;
    if (o->kind == OD_OUT_NODE_INFLOW && m->node[o->index].junction >= 0) l->inflow[o->index] = add_output(l, i);
  }
}

// Watches instance i if it is friction without states in a joint or an actuator.
static void add_creep(od_run_laws *l, int i) {
  const od_model *m = l->m;
  const od_instance *e = &m->instance[i];
  const od_element_description *c = od_instance_description(m, e);
  if (!c->inside || strcmp(c->inside, "friction") != 0 || c->states[0].name) return;
  int turning = find_field(c, "v0"), field = turning >= 0 ? turning : find_field(c, "vs");
  int coordinate = e->joint >= 0 ? m->joint[e->joint].coordinate : -1;
  int position =
      e->joint >= 0 ? find_output(m, OD_OUT_COORDINATE, coordinate) : find_output(m, OD_OUT_LENGTH, e->actuator);
  int speed =
      e->joint >= 0 ? find_output(m, OD_OUT_COORDINATE_RATE, coordinate) : find_output(m, OD_OUT_SPEED, e->actuator);
  if (field < 0 || position < 0 || speed < 0) return;
  l->creep[l->creeps++] = (creep){.instance = i,
                                  .y = add_output(l, position),
                                  .transition = m->theta[e->number + field],
                                  .position = no_range,
                                  .begin = NAN};
  add_output(l, speed);
}

// Watches load i if it is a contact with friction.
static void add_slide(od_run_laws *l, int i) {
  const od_model *m = l->m;
  const od_load *load = &m->load[i];
  const double *q = m->theta + load->number;
  if (load->kind != OD_LOAD_CONTACT || !(q[OD_CONTACT_FRICTION] > 0)) return;
  int velocity = find_output(m, OD_OUT_POINT_VELOCITY, load->point);  // three consecutive outputs
  if (velocity < 0) return;
  slide s = {.load = i, .y = add_output(l, find_output(m, OD_OUT_LOAD, i)), .slip = q[OD_CONTACT_SLIP], .begin = NAN};
  double size = sqrt(q[OD_CONTACT_NORMAL] * q[OD_CONTACT_NORMAL] + q[OD_CONTACT_NORMAL + 1] * q[OD_CONTACT_NORMAL + 1] +
                     q[OD_CONTACT_NORMAL + 2] * q[OD_CONTACT_NORMAL + 2]);
  for (int k = 0; k < 3; k++) {
    s.normal[k] = q[OD_CONTACT_NORMAL + k] / size;
    add_output(l, velocity + k);
  }
  l->slide[l->slides++] = s;
}

// Watches block i if it is a delay that is not sampled.
static void add_delay(od_run_laws *l, int i, od_arena *arena) {
  const od_model *m = l->m;
  const od_block *b = &m->block[i];
  if (strcmp(od_block_class_of(od_block_spec_in(m, b))->type, "delay") != 0 || b->sample > 0) return;
  const od_block_line *from = &m->block_line[b->line];
  int input = find_output(m, OD_OUT_INPUT, from->source);
  int output = find_output(m, OD_OUT_INPUT, b->signal);
  if (input < 0 || output < 0) return;
  l->delay[l->delays++] = (delay){.block = i,
                                  .y = add_output(l, input),
                                  .time = m->theta[b->number],
                                  .sample = OD_TAKE(arena, double, 2 * MOST_SAMPLES),
                                  .stride = 1,
                                  .input = no_range};
  add_output(l, output);
}

// Watches instance i if it is a long line.
static void add_line(od_run_laws *l, int i) {
  const od_model *m = l->m;
  const od_instance *e = &m->instance[i];
  const od_element_description *c = od_instance_description(m, e);
  if (strcmp(c->equations->name, "long line") != 0) return;
  const double *q = m->theta + e->number;
  double d = q[find_field(c, "diameter")], area = atan(1) * d * d;
  l->line[l->lines++] = (line){.instance = i,
                               .modes = (int)(q[find_field(c, "modes")] + 0.5),
                               .impedance = m->theta[m->oil + OD_OIL_DENSITY] * q[find_field(c, "sound")] / area,
                               .pressure = {no_range, no_range}};
}

// Returns whether a constant force of the machine file acts on a body at an end of the cylinder and replaces the force of the air on
// the rod: its magnitude is within 5 % of that force.
static bool has_air_force(const od_model *m, const rod *r) {
  const od_instance *e = &m->instance[r->instance];
  double expected = air * fabs(r->area[0] - r->area[1]);
  for (int i = 0; i < m->loads && e->point_a >= 0; i++) {
    const od_load *f = &m->load[i];
    if (f->kind != OD_LOAD_FORCE || f->input >= 0) continue;
    int link = m->point[f->point].link;
    bool acts = link == m->point[e->point_a].link || link == m->point[e->point_b].link;
    if (acts && fabs(fabs(m->theta[f->number]) - expected) <= 0.05 * expected) return true;
  }
  return false;
}

// Watches instance i if it is a cylinder without a force that replaces the air on its rod. Stores the areas on which the pressures
// act, m2.
static void add_rod(od_run_laws *l, int i) {
  const od_model *m = l->m;
  const od_instance *e = &m->instance[i];
  if (od_instance_description(m, e)->drives != OD_DRIVES_BY_CHAMBERS) return;
  rod r = {.instance = i};
  for (int k = 0; k < 2; k++)
    if (e->end[k] >= 0) r.area[k] = fabs(od_actuator_size(m, i, k));
  if (!has_air_force(m, &r)) l->rod[l->rods++] = r;
}

// Watches instance i if it is a pump with a shut-off pressure.
static void add_pump(od_run_laws *l, int i) {
  const od_model *m = l->m;
  const od_instance *e = &m->instance[i];
  const od_element_description *c = od_instance_description(m, e);
  if (c->shut_off.field <= 0) return;
  double shut_off = m->theta[e->number + c->shut_off.field] + m->theta[e->number + c->shut_off.range];
  double bound = overshoot * shut_off;
  l->pump[l->pumps++] = (pump){.instance = i, .node = e->end[c->shut_off.end], .bound = bound, .worst = bound};
}

// Returns whether pressures are absolute: the machine has tanks with constant pressures, and all these pressures are above half
// of the atmospheric pressure.
static bool is_absolute(const od_model *m) {
  double lowest = INFINITY;
  for (int i = 0; i < m->nodes; i++)
    if (m->node[i].kind == OD_NODE_TANK && m->node[i].input < 0) lowest = fmin(lowest, m->theta[m->node[i].number]);
  return lowest < INFINITY && lowest > air / 2;
}

od_status od_run_laws_new(const od_machine *machine, od_arena *arena, od_run_laws **out, od_error *err) {
  const od_model *m = od_machine_model(machine);
  int signals = od_below_zero_list(m, NULL);
  long outputs = 2L * (m->nodes + m->instances + m->blocks) + 4L * m->loads + signals;
  od_run_laws *l = *out = OD_TAKE(arena, od_run_laws, 1);
  if (!l) return od_fail(err, OD_NO_MEMORY, "out of memory");
  *l = (od_run_laws){.m = m,
                     .time = NAN,
                     .value = OD_TAKE(arena, double, outputs),
                     .output = OD_TAKE(arena, int, outputs),
                     .highest = OD_TAKE(arena, double, m->nodes),
                     .when = OD_TAKE(arena, double, m->nodes),
                     .inflow = OD_TAKE(arena, int, m->nodes),
                     .drawn = OD_TAKE(arena, double, m->nodes),
                     .creep = OD_TAKE(arena, creep, m->instances),
                     .slide = OD_TAKE(arena, slide, m->loads),
                     .delay = OD_TAKE(arena, delay, m->blocks),
                     .line = OD_TAKE(arena, line, m->instances),
                     .rod = OD_TAKE(arena, rod, m->instances),
                     .pump = OD_TAKE(arena, pump, m->instances),
                     .signal = OD_TAKE(arena, od_below_zero, signals),
                     .signals = signals};
  if (od_arena_status(arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  add_nodes(l);
  for (int i = 0; i < m->instances; i++) add_creep(l, i);
  for (int i = 0; i < m->loads; i++) add_slide(l, i);
  for (int i = 0; i < m->instances; i++) add_line(l, i);
  for (int i = 0; i < m->instances && is_absolute(m); i++) add_rod(l, i);
  for (int i = 0; i < m->instances; i++) add_pump(l, i);
  for (int i = 0; i < m->blocks; i++) add_delay(l, i, arena);
  od_below_zero_list(m, l->signal);
  for (int i = 0; i < signals; i++) add_output(l, find_output(m, OD_OUT_INPUT, l->signal[i].signal));
  if (od_arena_status(arena) != OD_OK) return od_fail(err, OD_NO_MEMORY, "out of memory");
  return l->outputs > 0 ? od_machine_plant(machine, l->output, l->outputs, NULL, 0, &l->plant, err) : OD_OK;
}

void od_run_laws_end(od_run_laws *l) {
  od_plant_free(l->plant);
}

// ---- checks of each row

// Checks a row of a friction element. An interval lasts while the speed keeps its direction and is between the fraction least_share
// of the transition speed and the transition speed.
static void watch_creep(creep *c, double t, const double *y) {
  double position = y[c->y], speed = y[c->y + 1], size = fabs(speed) / c->transition;
  od_run_widen(&c->position, position);
  bool creeps = size < 1 && size > least_share;
  if (creeps && !isnan(c->begin) && (position - c->from) * speed < 0) c->begin = NAN;
  if (creeps && isnan(c->begin)) c->begin = t, c->from = position;
  if (!creeps) c->begin = NAN;
  if (!creeps || !(fabs(position - c->from) > c->moved)) return;
  c->moved = fabs(position - c->from);
  c->first = c->begin;
  c->last = t;
}

// Adds the distance since the last row while the contact is closed and slides below the speed `slip`.
static void watch_slide(slide *s, double t, double before, const double *y) {
  double across = 0, square = 0;
  for (int k = 0; k < 3; k++) across += s->normal[k] * y[s->y + 1 + k];
  for (int k = 0; k < 3; k++) square += pow(y[s->y + 1 + k] - across * s->normal[k], 2);
  double size = sqrt(square) / s->slip;
  bool creeps = y[s->y] > 0 && size < 1 && size > least_share;
  if (!creeps) {
    s->begin = NAN;
    return;
  }
  if (isnan(s->begin))
    s->begin = t, s->distance = 0;
  else
    s->distance += sqrt(square) * (t - before);
  if (s->distance > s->moved) s->moved = s->distance, s->first = s->begin, s->last = t;
}

// Stores one of `stride` samples. If the memory is full, first drops samples. If more than half of all samples are no longer used,
// drops the unused samples; otherwise drops every second sample.
static void keep_sample(delay *d, double t, double value) {
  if (d->count == MOST_SAMPLES && d->first > MOST_SAMPLES / 2) {
    d->count -= d->first;
    memmove(d->sample, d->sample + 2 * d->first, 2 * (size_t)d->count * sizeof *d->sample);
    d->first = 0;
  } else if (d->count == MOST_SAMPLES) {
    for (int i = 0; i < MOST_SAMPLES / 2; i++) memcpy(d->sample + 2 * i, d->sample + 4 * i, 2 * sizeof *d->sample);
    d->count /= 2;
    d->first /= 2;
    d->stride *= 2;
  }
  if (d->skipped++ % d->stride != 0) return;
  d->sample[2 * d->count] = t;
  d->sample[2 * d->count + 1] = value;
  d->count++;
}

// Compares the output with the input one delay earlier. Returns the distance of the output from the range of the two input samples
// around this time. Before the start, the range is from zero to the value of the input at the start.
static double deviation(delay *d, double t, double output) {
  double then = t - d->time;
  const double *s = d->sample;
  while (d->first + 1 < d->count && s[2 * (d->first + 1)] <= then) d->first++;
  bool before = then < s[2 * d->first];
  double a = before ? 0 : s[2 * d->first + 1];
  double b = before ? s[2 * d->first + 1] : d->first + 1 < d->count ? s[2 * d->first + 3] : a;
  return fmax(0, fmax(fmin(a, b) - output, output - fmax(a, b)));
}

static void watch_delay(delay *d, double t, double before, const double *y) {
  od_run_widen(&d->input, y[d->y]);
  keep_sample(d, t, y[d->y]);
  double off = deviation(d, t, y[d->y + 1]);
  if (off > d->most) d->most = off;
  if (!(t > before)) return;
  d->sum += off * (t - before);
  d->seconds += t - before;
}

// Reads the outputs from the work memory. All plants of a machine have the same layout of the work memory.
void od_run_laws_watch(od_run_laws *l, double t, od_sim *sim) {
  double *y = l->value;
  if (!l->plant || l->plant->ops->outputs(l->plant, od_sim_work(sim), od_sim_energy(sim), y) != OD_OK) return;
  const double *states = od_sim_state(sim) + 2 * l->plant->nz;
  for (int i = 0; i < l->m->nodes; i++) {
    bool is_given = l->m->node[i].kind == OD_NODE_TANK || l->m->node[i].kind == OD_NODE_SOURCE;
    if (!is_given && y[i] > l->highest[i]) l->highest[i] = y[i], l->when[i] = t;
    if (l->inflow[i] >= 0 && y[i] == 0 && t > l->time) l->drawn[i] += fmax(-y[l->inflow[i]], 0) * (t - l->time);
  }
  for (int i = 0; i < l->creeps; i++) watch_creep(&l->creep[i], t, y);
  for (int i = 0; i < l->slides; i++) watch_slide(&l->slide[i], t, l->time, y);
  for (int i = 0; i < l->delays; i++) watch_delay(&l->delay[i], t, l->time, y);
  for (int i = 0; i < l->lines; i++) {
    line *x = &l->line[i];
    const od_instance *e = &l->m->instance[x->instance];
    int state = e->state[x->modes];
    if (state >= 0) x->highest = fmax(x->highest, fabs(states[state]));
    for (int k = 0; k < 2; k++) od_run_widen(&x->pressure[k], y[e->end[k]]);
  }
  for (int i = 0; i < l->rods; i++) {
    rod *r = &l->rod[i];
    const int *end = l->m->instance[r->instance].end;
    double force = y[end[0]] * r->area[0] - (r->area[1] > 0 ? y[end[1]] * r->area[1] : 0);
    r->most = fmax(r->most, fabs(force));
  }
  for (int i = 0; i < l->signals; i++) od_below_zero_watch(&l->signal[i], t, y[l->outputs - l->signals + i]);
  for (int i = 0; i < l->pumps; i++) {
    pump *p = &l->pump[i];
    if (y[p->node] > p->worst) p->beyond = true, p->worst = y[p->node], p->when = t;
  }
  l->time = t;
}

// ---- remarks at the end of the run

// A fraction in percent as a text: rounded to two digits below 10 %, else to a whole number.
typedef struct percent {
  char text[24];
} percent;
static percent percent_of(double part) {
  percent p;
  snprintf(p.text, sizeof p.text, part < 0.0995 ? "%.2g" : "%.0f", 100 * part);
  return p;
}

// ", 12 % of the largest value"; "" if the part is not finite, because the whole is zero.
typedef struct fraction {
  char text[100];
} fraction;
static fraction share_of(double part, const char *whole) {
  fraction s = {""};
  if (isfinite(part)) snprintf(s.text, sizeof s.text, ", %s %% of %s", percent_of(part).text, whole);
  return s;
}

static void add_pressures(const od_run_laws *l, od_verdict *v) {
  int worst = 0, count = 0;
  for (int i = 0; i < l->m->nodes; i++) {
    count += l->highest[i] > high_pressure;
    if (l->highest[i] > l->highest[worst]) worst = i;
  }
  if (count == 0) return;
  char more[60] = "";
  if (count > 1)
    snprintf(more, sizeof more, " %d more node%s above this limit.", count - 1, count > 2 ? "s are" : " is");
  od_verdict_add(v, OD_SOUND, "pressure.high", "High pressure:",
                 "%s.pressure reaches %.0f bar at %.4g s. Hydraulic components are made for less than %.0f bar: "
                 "a relief valve may be missing, or a volume may have no outlet.%s",
                 od_model_text(l->m, l->m->node[worst].name), l->highest[worst] / 1e5, l->when[worst],
                 high_pressure / 1e5, more);
}

static void add_drawn(const od_run_laws *l, od_verdict *v) {
  for (int i = 0, shown = 0; i < l->m->nodes; i++)
    if (l->drawn[i] > 0 && shown++ < MOST_SHOWN)
      od_verdict_add(v, OD_SOUND, "junction.empty", "Empty junction:",
                     "elements draw %s from the junction '%s' while its pressure is zero. A junction cannot cavitate, "
                     "so the model creates this oil; replace the junction by a volume.",
                     od_display_quantity(l->drawn[i], "m3").text, od_model_text(l->m, l->m->node[i].name));
}

// Returns whether an interval lasts at least a tenth of the run. Shorter intervals also occur at the start and at the end of a
// normal motion.
static bool is_long(const od_run_laws *l, double first, double last) {
  return last - first >= 0.1 * l->time;
}

static void add_creeps(const od_run_laws *l, od_verdict *v) {
  const od_model *m = l->m;
  for (int i = 0, shown = 0; i < l->creeps; i++) {
    const creep *c = &l->creep[i];
    const od_instance *e = &m->instance[c->instance];
    const od_element_description *law = od_instance_description(m, e);
    if (c->moved < least_creep || c->moved < OD_ACCURATE * width(c->position)) continue;
    if (!is_long(l, c->first, c->last) || shown++ >= MOST_SHOWN) continue;
    bool turns = e->joint >= 0 && od_joint_turns(m->joint[e->joint].spec.type);
    od_verdict_add(
        v, OD_SOUND, "friction.creep", "Creeping friction:",
        "'%s' moves by %s from %.4g s to %.4g s, more slowly than the transition speed of its friction "
        "(%s). The law '%s' has no states: below this speed its force decreases with the speed, so a load does not stay at rest. A law with states, such as "
        "lugre, holds the load at rest; a smaller '%s' reduces the creep.",
        e->host >= 0 ? od_model_text(m, m->instance[e->host].name) : od_model_text(m, m->joint[e->joint].name),
        od_display_quantity(c->moved, turns ? "rad" : "m").text, c->first, c->last,
        od_display_quantity(c->transition, turns ? "rad/s" : "m/s").text, law->choice,
        find_field(law, "v0") >= 0 ? "v0" : "vs");
  }
}

static void add_slides(const od_run_laws *l, od_verdict *v) {
  for (int i = 0, shown = 0; i < l->slides; i++) {
    const slide *s = &l->slide[i];
    if (s->moved < least_creep || !is_long(l, s->first, s->last) || shown++ >= MOST_SHOWN) continue;
    od_verdict_add(
        v, OD_SOUND, "friction.creep", "Creeping friction:",
        "the contact '%s' slides by %s from %.4g s to %.4g s, more slowly than its 'slip' (%s). Below this "
        "speed the friction force decreases with the sliding speed, so a loaded contact does not stay at rest. A smaller 'slip' reduces the creep.",
        od_model_text(l->m, l->m->load[s->load].name), od_display_quantity(s->moved, "m").text, s->first, s->last,
        od_display_quantity(s->slip, "m/s").text);
  }
}

// Returns the frequency up to which the phase error of a Pade approximation of order n is below 0.05 rad, Hz.
static double pade_range(int n, double time) {
  double logarithm = log(0.05) + lgamma(2 * n + 1) + lgamma(2 * n + 2) - 2 * lgamma(n + 1);
  return exp(logarithm / (2 * n + 1)) / (8 * atan(1) * time);
}

static void add_delays(const od_run_laws *l, od_verdict *v) {
  for (int i = 0, shown = 0; i < l->delays; i++) {
    const delay *d = &l->delay[i];
    const od_block *b = &l->m->block[d->block];
    double span = width(d->input), mean = d->seconds > 0 ? d->sum / d->seconds : 0;
    if (!(span > 0 && mean > OD_ACCURATE * span) || shown++ >= MOST_SHOWN) continue;
    od_verdict_add(v, OD_SOUND, "delay.pade", "Delay beyond its approximation:",
                   "'%s' differs from its input %s ago by %s %% of the input's range on average and by %s %% at most. "
                   "A Pade approximation of order %d is accurate for signals up to %.2g Hz here; a delay with 'sample' "
                   "instead of 'pade' is exact.",
                   od_model_text(l->m, b->name), od_duration_text(d->time, 3).text, percent_of(mean / span).text,
                   percent_of(d->most / span).text, b->choice[0], pade_range(b->choice[0], d->time));
  }
}

static void add_lines(const od_run_laws *l, od_verdict *v) {
  for (int i = 0, shown = 0; i < l->lines; i++) {
    const line *x = &l->line[i];
    const od_instance *e = &l->m->instance[x->instance];
    double span = fmax(width(x->pressure[0]), width(x->pressure[1])), wave = x->impedance * x->highest;
    if (!(x->modes * wave > mode_share * span) || shown++ >= MOST_SHOWN) continue;
    const double *q = l->m->theta + e->number;
    const od_element_description *c = od_instance_description(l->m, e);
    double fastest = x->modes * q[find_field(c, "sound")] / (2 * q[find_field(c, "length")]);
    od_verdict_add(v, OD_SOUND, "line.modes", "Line with few modes:",
                   "the flow in the long line '%s' changes faster than its %s can resolve (up to %.3g Hz): the highest "
                   "mode has waves of %.3g bar%s. Peaks of pressure may be too high by several times this value; their "
                   "limit is Joukowsky's surge, density * sound * change of velocity.",
                   od_model_text(l->m, e->name), od_count(x->modes, "mode").text, fastest, wave / 1e5,
                   share_of(wave / span, "the range of the pressures at the ends").text);
  }
}

static void add_rods(const od_run_laws *l, od_verdict *v) {
  const rod *worst = NULL;
  double part = OD_ACCURATE;
  int count = 0;
  for (int i = 0; i < l->rods; i++) {
    const rod *r = &l->rod[i];
    double share = air * fabs(r->area[0] - r->area[1]) / r->most;  // infinite: the oil has no force
    count += share > OD_ACCURATE;
    if (share > part) part = share, worst = r;
  }
  if (!worst) return;
  char more[140] = "";
  if (count > 1)
    snprintf(more, sizeof more, " The same error occurs in %s.", od_count(count - 1, "more cylinder").text);
  const double error = air * (worst->area[0] - worst->area[1]);
  od_verdict_add(
      v, OD_SOUND, "cylinder.air", "Air on a rod:",
      "pressures are absolute in this machine, but no air pressure acts on the rod of the cylinder '%s'. The force of "
      "its oil is too %s by %.3g N%s. With pressures relative to the air (tanks at 0 bar) the force is correct.%s",
      od_model_text(l->m, l->m->instance[worst->instance].name), error > 0 ? "large" : "small", fabs(error),
      share_of(part, "the largest value").text, more);
}

static void add_pumps(const od_run_laws *l, od_verdict *v) {
  static const char code[] = "pump.beyond", lead[] = "Pressure beyond a pump's control:";
  int shown = 0;
  for (int i = 0; i < l->pumps; i++) {
    const pump *p = &l->pump[i];
    if (!p->beyond || shown++ >= MOST_SHOWN) continue;
    const od_instance *e = &l->m->instance[p->instance];
    od_verdict_add(
        v, OD_DOUBTFUL, code, lead,
        "%s.pressure reaches %s at %.4g s. The %s %s delivers no flow above %s, and the oil has no outlet: a relief "
        "valve is missing, or another element pushes the oil back.",
        od_model_text(l->m, l->m->node[p->node].name), od_display_quantity(p->worst, "Pa").text, p->when,
        od_instance_description(l->m, e)->noun, od_model_text(l->m, e->name),
        od_display_quantity(p->bound / overshoot, "Pa").text);
  }
  if (shown > MOST_SHOWN)
    od_verdict_add(v, OD_DOUBTFUL, code, lead, "the pressures of %s are also too high.",
                   od_count(shown - MOST_SHOWN, "more pump").text);
}

void od_run_laws_add_remarks(const od_run_laws *l, od_verdict *v) {
  od_below_zero_add_remarks(l->m, l->signal, l->signals, v);
  add_pressures(l, v);
  add_drawn(l, v);
  add_creeps(l, v);
  add_slides(l, v);
  add_delays(l, v);
  add_lines(l, v);
  add_rods(l, v);
  add_pumps(l, v);
}
