#include "fmu/fmu_import.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "fmu/fmu_moments.h"
#include "fmu/fmu_session.h"
#include "io/temporary_folder.h"
#include "memory/scoped.h"

// Event indicators count as crossed beyond this value (hysteresis of the standard), so that an indicator of zero is not an event.
static const double indicator_tolerance = 1e-12;
static const double difference_step = 6e-6;  // relative step of differences with respect to parameters

// A process with its instance: the parameters and the token of the instance; token -1: not started.
typedef struct worker {
  od_fmu_session session;
  double *q, token;
  od_fmu_situation situation;  // model exchange
  struct worker *next;
} worker;

struct od_fmu_import {
  od_arena arena;
  char *path, *folder;
  const char *name;
  double limit;
  od_fmu_description d;
  od_fmu_wiring w;
  od_foreign_law law;
  od_fmu_moments *moments;
  double *initial, *nominal, *start_input;
  int indicators;        // number of event indicators; 0 in co-simulation
  size_t room;           // bytes for a state of the FMU in saved states
  pthread_mutex_t lock;  // protects the following members
  worker *idle;
  char failure[OD_HELPER_TEXT];
};

// ---- the file

od_status od_fmu_import_open(const char *path, double limit, od_fmu_import **out, od_error *err) {
  od_fmu_import *m = *out = od_calloc(1, sizeof *m);
  if (!m) return od_fail(err, OD_NO_MEMORY, "out of memory");
  m->limit = limit;
  m->name = "the FMU";
  pthread_mutex_init(&m->lock, NULL);
  od_status status = od_temporary_folder_make("oleodyn-fmu", &m->folder, err);
  worker *w = od_calloc(1, sizeof *w);
  m->path = od_strdup(path);
  if (status == OD_OK && (!w || !m->path)) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK) status = od_fmu_session_begin(&w->session, path, m->folder, true, limit, &m->arena, &m->d, err);
  if (status == OD_OK) {
    m->idle = w;
    return OD_OK;
  }
  od_free(w);
  od_fmu_import_close(m);
  *out = NULL;
  return status;
}

static void free_worker(worker *w) {
  od_fmu_session_end(&w->session);
  od_free(w->q);
  od_free(w->situation.indicator);
  od_free(w);
}

void od_fmu_import_close(od_fmu_import *m) {
  if (!m) return;
  while (m->idle) {
    worker *next = m->idle->next;
    free_worker(m->idle);
    m->idle = next;
  }
  if (m->folder) od_folder_remove(m->folder);
  od_free(m->folder);
  od_fmu_moments_free(m->moments);
  pthread_mutex_destroy(&m->lock);
  od_free(m->path);
  od_arena_free(&m->arena);
  od_free(m);
}

const od_fmu_description *od_fmu_import_description(const od_fmu_import *m) {
  return &m->d;
}

const char *od_fmu_import_kind(const od_fmu_import *m, const od_foreign_law *law) {
  static const char *const kinds[2][OD_FMU_INTERFACES] = {{"FMI 2.0, model exchange", "FMI 2.0, co-simulation"},
                                                          {"FMI 3.0, model exchange", "FMI 3.0, co-simulation"}};
  return law == &m->law ? kinds[m->d.version == 3][m->w.interface] : NULL;
}

bool od_fmu_import_has_derivatives(const od_fmu_import *m) {
  return m->law.tangent != NULL;
}

void od_fmu_import_name(od_fmu_import *m, const char *name) {
  const char *copy = od_arena_text(&m->arena, name);
  if (copy) m->name = copy;
}

// The first failure of a run, for messages.
static const char *failure(void *context) {
  const od_fmu_import *m = context;
  return m->failure[0] ? m->failure : NULL;
}

// ---- workers

static double to_fmu(const od_fmu_signal *s, double value) {
  return (value - s->offset) / s->factor;
}
static double from_fmu(const od_fmu_signal *s, double value) {
  return s->factor * value + s->offset;
}

static void send_values(worker *w, const od_fmu_signal *s, int count, const double *value) {
  for (int i = 0; i < count; i++) {
    double v = to_fmu(&s[i], value[i]);
    od_fmu_send(&w->session, &v, 1);
  }
}
static void send_changes(worker *w, const od_fmu_signal *s, int count, const double *change) {
  for (int i = 0; i < count; i++) {
    double v = change[i] / s[i].factor;
    od_fmu_send(&w->session, &v, 1);
  }
}
static void receive_values(worker *w, const od_fmu_signal *s, int count, double *value) {
  od_fmu_receive(&w->session, value, count);
  for (int i = 0; i < count; i++) value[i] = from_fmu(&s[i], value[i]);
}
static void receive_changes(worker *w, const od_fmu_signal *s, int count, double *change) {
  od_fmu_receive(&w->session, change, count);
  for (int i = 0; i < count; i++) change[i] *= s[i].factor;
}

static void send_variables(worker *w, const od_fmu_signal *s, int count) {
  od_channel_put_number(&w->session.helper.channel, (uint64_t)count);
  for (int i = 0; i < count; i++) od_channel_put_number(&w->session.helper.channel, (uint64_t)s[i].variable);
}

// Loads the binary in a worker. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status open_binary(od_fmu_import *m, worker *w, od_error *err) {
  w->q = od_calloc((size_t)m->w.parameters + 1, sizeof *w->q);
  w->situation.indicator = od_calloc((size_t)m->d.indicators + 1, sizeof *w->situation.indicator);
  w->token = -1;
  if (!w->q || !w->situation.indicator) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_fmu_request_begin(&w->session, OD_FMU_OPEN);
  od_channel_put_number(&w->session.helper.channel, m->w.interface);
  send_variables(w, m->w.input, m->w.inputs);
  send_variables(w, m->w.parameter, m->w.parameters);
  send_variables(w, m->w.output, m->w.outputs);
  return od_fmu_ask(&w->session, err);
}

// Stores the first failure, with the time.
static void keep_failure(od_fmu_import *m, double t, const char *text) {
  pthread_mutex_lock(&m->lock);
  if (!m->failure[0]) snprintf(m->failure, sizeof m->failure, "%s %s, at %.6g s", m->name, text, t);
  pthread_mutex_unlock(&m->lock);
}

// Returns a worker that no other thread uses, if possible one at the moment of the token with these parameters. Returns NULL if
// no worker can be started.
static worker *take_worker(od_fmu_import *m, double token, const double *q, od_error *err) {
  pthread_mutex_lock(&m->lock);
  worker **best = &m->idle;
  for (worker **at = &m->idle; *at; at = &(*at)->next) {
    if ((*at)->token != token || memcmp((*at)->q, q, (size_t)m->w.parameters * sizeof *q) != 0) continue;
    best = at;
    break;
  }
  worker *w = *best;
  if (w) *best = w->next;
  pthread_mutex_unlock(&m->lock);
  if (w) return w;
  w = od_calloc(1, sizeof *w);
  if (!w) return NULL;
  od_status status = od_fmu_session_begin(&w->session, m->path, m->folder, false, m->limit, NULL, NULL, err);
  if (status == OD_OK) status = open_binary(m, w, err);
  if (status == OD_OK) return w;
  free_worker(w);
  return NULL;
}

// Gives a worker back. A worker whose process has ended remains in the list, so that each thread causes at most one crash of the FMU.
static void give_worker(od_fmu_import *m, worker *w) {
  pthread_mutex_lock(&m->lock);
  w->next = m->idle;
  m->idle = w;
  pthread_mutex_unlock(&m->lock);
}

// ---- the state of an instance

static void receive_situation(const od_fmu_import *m, worker *w) {
  od_fmu_receive(&w->session, &w->situation.next_event, 1);
  od_fmu_receive(&w->session, w->situation.indicator, m->d.indicators);
}

// Starts the instance at time t. result receives the outputs (co-simulation) or the states (model exchange), nominal the nominal values of the states
// (model exchange). Fails with OD_BAD_INPUT or OD_IO.
static od_status start(const od_fmu_import *m, worker *w, double t, const double *q, const double *u, double *result,
                       double *nominal, od_fmu_memory *memory, od_error *err) {
  w->token = -1;
  od_fmu_request_begin(&w->session, OD_FMU_START);
  od_fmu_send(&w->session, &t, 1);
  send_values(w, m->w.parameter, m->w.parameters, q);
  send_values(w, m->w.input, m->w.inputs, u);
  od_status status = od_fmu_ask(&w->session, err);
  if (status != OD_OK) return status;
  if (m->w.interface == OD_FMU_MODEL_EXCHANGE) {
    receive_values(w, m->w.state, m->d.states, result);
    receive_changes(w, m->w.state, m->d.states, nominal);
    receive_situation(m, w);
  } else {
    receive_values(w, m->w.output, m->w.outputs, result);
  }
  od_fmu_receive_memory(&w->session, memory);
  status = od_fmu_answered(&w->session, err);
  if (status == OD_OK) memcpy(w->q, q, (size_t)m->w.parameters * sizeof *q);
  if (status == OD_OK) w->token = 0;
  return status;
}

static od_status restore(const od_fmu_import *m, worker *w, const double *q, const od_fmu_memory *memory,
                         od_error *err) {
  od_fmu_request_begin(&w->session, OD_FMU_RESTORE);
  od_channel_put_number(&w->session.helper.channel, memory->size);
  od_channel_put(&w->session.helper.channel, memory->bytes, memory->size);
  send_values(w, m->w.parameter, m->w.parameters, q);
  return od_fmu_ask(&w->session, err);
}

// Performs the event at a point. next: states after the event. Fails with OD_BAD_INPUT or OD_IO.
static od_status event(const od_fmu_import *m, worker *w, double t, const double *x, const double *u, double *next,
                       od_fmu_memory *memory, od_error *err) {
  w->token = -1;
  od_fmu_request_begin(&w->session, OD_FMU_EVENT);
  od_fmu_send(&w->session, &t, 1);
  send_values(w, m->w.state, m->d.states, x);
  send_values(w, m->w.input, m->w.inputs, u);
  od_status status = od_fmu_ask(&w->session, err);
  if (status != OD_OK) return status;
  receive_values(w, m->w.state, m->d.states, next);
  receive_situation(m, w);
  od_fmu_receive_memory(&w->session, memory);
  return od_fmu_answered(&w->session, err);
}

// Takes a step of co-simulation from time t to t + h, then sets the inputs u. Fails with OD_BAD_INPUT or OD_IO.
static od_status step(const od_fmu_import *m, worker *w, double t, double h, const double *u, double *y,
                      od_fmu_memory *memory, od_error *err) {
  const double from[] = {t, h};
  w->token = -1;
  od_fmu_request_begin(&w->session, OD_FMU_STEP);
  od_fmu_send(&w->session, from, 2);
  send_values(w, m->w.input, m->w.inputs, u);
  od_status status = od_fmu_ask(&w->session, err);
  if (status != OD_OK) return status;
  receive_values(w, m->w.output, m->w.outputs, y);
  od_fmu_receive_memory(&w->session, memory);
  return od_fmu_answered(&w->session, err);
}

// Moves a worker from the moment before to this moment: restores the saved state, or repeats the step or the event. Fails with
// OD_BAD_INPUT or OD_IO.
static od_status move(const od_fmu_import *m, worker *w, const od_fmu_moment *moment, const double *q, od_error *err) {
  double result[OD_MOST_FOREIGN_STATES], nominal[OD_MOST_FOREIGN_STATES];
  od_fmu_memory unused = {0};
  od_status status = OD_OK;
  bool exchange = m->w.interface == OD_FMU_MODEL_EXCHANGE;
  if (moment->memory.bytes) {
    if (w->token < 0) status = start(m, w, 0, q, m->start_input, result, nominal, &unused, err);
    if (status == OD_OK) status = restore(m, w, q, &moment->memory, err);
    if (exchange) od_fmu_situation_copy(&w->situation, &moment->situation, m->d.indicators);
  } else if (exchange) {
    status = event(m, w, moment->t, moment->x, moment->u, result, &unused, err);
  } else if (moment->parent > 0) {
    status = step(m, w, moment->t - moment->step, moment->step, moment->u, result, &unused, err);
  } else {
    status = start(m, w, moment->t, q, moment->u, result, nominal, &unused, err);
  }
  od_free(unused.bytes);
  return status;
}

// Brings a worker to the start: in co-simulation, the first step starts the instance. Fails with OD_BAD_INPUT or OD_IO.
static od_status bring_to_start(const od_fmu_import *m, worker *w, const double *q, od_error *err) {
  double x[OD_MOST_FOREIGN_STATES], nominal[OD_MOST_FOREIGN_STATES];
  od_fmu_memory unused = {0};
  if (m->w.interface == OD_FMU_CO_SIMULATION || w->token == 0) return OD_OK;
  return start(m, w, 0, q, m->start_input, x, nominal, &unused, err);
}

// Brings a worker to the moment of a token, with these parameters: from its current moment, the last moment with a saved state, or
// the start. All moments after that one are repeated. Fails with OD_BAD_INPUT, OD_IO or OD_NO_MEMORY.
static od_status bring(const od_fmu_import *m, worker *w, double token, const double *q, od_error *err) {
  if (memcmp(w->q, q, (size_t)m->w.parameters * sizeof *q) != 0) w->token = -1;
  if (w->token == token) return OD_OK;
  OD_SCRATCH(scratch);
  od_status status = OD_OK;
  double *chain = NULL, at = token;
  int count = 0;
  for (bool saved = false; at > 0 && at != w->token && !saved; count++) {
    od_fmu_moment moment;
    double *list = od_arena_extend(&scratch, chain, count, sizeof *list);
    if (!list) return od_fail(err, OD_NO_MEMORY, "out of memory");
    chain = list;
    if (!od_fmu_moment_get(m->moments, at, &moment))
      return od_fail(err, OD_BAD_INPUT, "the state at an earlier time is not stored; start the run at its beginning");
    chain[count] = at;
    at = moment.parent;
    saved = moment.memory.bytes != NULL;
    od_fmu_moment_done(&moment);
  }
  // A saved state needs a started instance, but not the moment before.
  if (at == 0 || count == 0) status = bring_to_start(m, w, q, err);
  while (count > 0 && status == OD_OK) {
    od_fmu_moment moment;
    if (!od_fmu_moment_get(m->moments, chain[--count], &moment)) return od_fail(err, OD_NO_MEMORY, "out of memory");
    status = move(m, w, &moment, q, err);
    od_fmu_moment_done(&moment);
    if (status == OD_OK) w->token = chain[count];
  }
  if (status == OD_OK) memcpy(w->q, q, (size_t)m->w.parameters * sizeof *q);
  return status;
}

// ---- the law

// A call of the law: a worker at the moment of the token.
typedef struct call {
  od_fmu_import *m;
  worker *w;
  double t, token;
  od_error err;
} call;

static od_status begin(call *c, void *context, const od_foreign_point *at) {
  od_fmu_import *m = context;
  *c = (call){.m = m, .t = at->t};
  c->token = m->law.tokens ? round(at->x[m->law.states - 1]) : 0;
  if (!isfinite(c->token) || c->token < 0) return OD_NOT_FINITE;
  for (int i = 0; i < m->law.states; i++)
    if (!isfinite(at->x[i])) return OD_NOT_FINITE;
  for (int i = 0; i < m->w.inputs; i++)
    if (!isfinite(at->u[i])) return OD_NOT_FINITE;
  c->w = take_worker(m, c->token, at->q, &c->err);
  if (!c->w) {
    keep_failure(m, at->t, c->err.text[0] ? c->err.text : "out of memory");
    return OD_NOT_FINITE;
  }
  return m->w.interface == OD_FMU_CO_SIMULATION ? OD_OK : bring(m, c->w, c->token, at->q, &c->err);
}

// Ends a call: gives the worker back and stores the reason of a failure. Returns OD_OK, or OD_NOT_FINITE for any failure.
static od_status finish(call *c, od_status status) {
  if (status != OD_OK && c->err.text[0]) keep_failure(c->m, c->t, c->err.text);
  if (status != OD_OK && c->w) c->w->token = -1;
  if (c->w) give_worker(c->m, c->w);
  return status == OD_OK ? OD_OK : OD_NOT_FINITE;
}

static void send_point(const call *c, const od_foreign_point *at) {
  od_fmu_send(&c->w->session, &at->t, 1);
  send_values(c->w, c->m->w.state, c->m->d.states, at->x);
  send_values(c->w, c->m->w.input, c->m->w.inputs, at->u);
}

static od_status ask(call *c, od_fmu_request request, const od_foreign_point *at) {
  od_fmu_request_begin(&c->w->session, request);
  send_point(c, at);
  return od_fmu_ask(&c->w->session, &c->err);
}

static od_status values(void *context, const od_foreign_point *at, double *y, double *rate) {
  call c;
  od_status status = begin(&c, context, at);
  if (status == OD_OK) status = ask(&c, OD_FMU_VALUES, at);
  if (status == OD_OK) {
    receive_values(c.w, c.m->w.output, c.m->w.outputs, y);
    receive_changes(c.w, c.m->w.state, c.m->d.states, rate);
    status = od_fmu_answered(&c.w->session, &c.err);
  }
  return finish(&c, status);
}

// Adds the change with the parameters, by central differences: a changed parameter needs a new start of the FMU. Fails with OD_NOT_FINITE.
static od_status add_parameters(const od_fmu_import *m, const od_foreign_point *at, const od_foreign_point *along,
                                double *dy, double *drate) {
  double q[OD_FMU_MOST_PARAMETERS], y[2][OD_MOST_FOREIGN_OUTPUTS], rate[2][OD_MOST_FOREIGN_STATES];
  od_foreign_point moved = {at->t, at->x, at->u, q};
  memcpy(q, at->q, (size_t)m->w.parameters * sizeof *q);
  for (int j = 0; j < m->w.parameters; j++) {
    if (along->q[j] == 0) continue;
    double h = difference_step * (q[j] != 0 ? fabs(q[j]) : 1), high = at->q[j] + h, low = at->q[j] - h;
    q[j] = high;
    od_status status = values((void *)(uintptr_t)m, &moved, y[0], rate[0]);
    q[j] = low;
    if (status == OD_OK) status = values((void *)(uintptr_t)m, &moved, y[1], rate[1]);
    q[j] = at->q[j];
    if (status != OD_OK) return status;
    for (int i = 0; i < m->w.outputs; i++) dy[i] += along->q[j] * (y[0][i] - y[1][i]) / (high - low);
    for (int i = 0; i < m->d.states; i++) drate[i] += along->q[j] * (rate[0][i] - rate[1][i]) / (high - low);
  }
  return OD_OK;
}

static od_status tangent(void *context, const od_foreign_point *at, const od_foreign_point *along, double *dy,
                         double *drate) {
  call c;
  od_status status = begin(&c, context, at);
  if (status == OD_OK) {
    od_fmu_request_begin(&c.w->session, OD_FMU_TANGENT);
    send_point(&c, at);
    send_changes(c.w, c.m->w.state, c.m->d.states, along->x);
    send_changes(c.w, c.m->w.input, c.m->w.inputs, along->u);
    status = od_fmu_ask(&c.w->session, &c.err);
  }
  if (status == OD_OK) {
    receive_changes(c.w, c.m->w.output, c.m->w.outputs, dy);
    receive_changes(c.w, c.m->w.state, c.m->d.states, drate);
    status = od_fmu_answered(&c.w->session, &c.err);
  }
  status = finish(&c, status);
  return status == OD_OK ? add_parameters(c.m, at, along, dy, drate) : status;
}

static od_status slopes(void *context, const od_foreign_point *at, double *by) {
  call c;
  od_status status = begin(&c, context, at);
  const od_fmu_wiring *w = &c.m->w;
  int states = c.m->d.states, columns = states + w->inputs, all = c.m->law.states + w->inputs;
  double row[OD_MOST_FOREIGN_STATES + OD_MOST_BLOCK_INPUTS];
  if (status == OD_OK) status = ask(&c, OD_FMU_SLOPES, at);
  for (int i = 0; i < w->outputs + states && status == OD_OK; i++) {
    double up = i < w->outputs ? w->output[i].factor : w->state[i - w->outputs].factor;
    od_fmu_receive(&c.w->session, row, columns);
    for (int j = 0; j < states; j++) by[i * all + j] = row[j] * up / w->state[j].factor;
    for (int j = 0; j < w->inputs; j++) by[i * all + c.m->law.states + j] = row[states + j] * up / w->input[j].factor;
  }
  if (status == OD_OK) status = od_fmu_answered(&c.w->session, &c.err);
  return finish(&c, status);
}

static od_status margin(void *context, const od_foreign_point *at, double *margin) {
  call c;
  od_status status = begin(&c, context, at);
  int count = c.m->d.indicators;
  *margin = INFINITY;
  if (status == OD_OK && count > 0) {
    double *z = od_malloc((size_t)count * sizeof *z);
    status = z ? ask(&c, OD_FMU_INDICATORS, at) : OD_NO_MEMORY;
    if (status == OD_OK) od_fmu_receive(&c.w->session, z, count);
    if (status == OD_OK) status = od_fmu_answered(&c.w->session, &c.err);
    for (int i = 0; i < count && status == OD_OK; i++)
      *margin = fmin(*margin, (c.w->situation.indicator[i] > 0 ? z[i] : -z[i]) + indicator_tolerance);
    od_free(z);
  }
  if (status == OD_OK) *margin = fmin(*margin, c.w->situation.next_event - at->t);
  if (status == OD_OK && isinf(*margin)) *margin = 1e300;
  return finish(&c, status);
}

static od_status switch_states(void *context, const od_foreign_point *at, double *next) {
  call c;
  od_fmu_memory memory = {0};
  od_status status = begin(&c, context, at);
  double t = at->t, *token = next + c.m->law.states - 1;
  // The search for the event ends within round-off of its time.
  if (status == OD_OK && c.w->situation.next_event > t && c.w->situation.next_event - t < 1e-9 * (1 + fabs(t)))
    t = c.w->situation.next_event;
  if (status == OD_OK) status = event(c.m, c.w, t, at->x, at->u, next, &memory, &c.err);
  if (status == OD_OK) {
    od_fmu_moment moment = {.parent = c.token,
                            .t = t,
                            .x = (double *)(uintptr_t)at->x,
                            .u = (double *)(uintptr_t)at->u,
                            .situation = c.w->situation,
                            .memory = memory};
    c.w->token = *token = od_fmu_moment_add(c.m->moments, &moment);
    if (*token < 0) status = od_fail(&c.err, OD_NO_MEMORY, "out of memory");
  } else {
    od_free(memory.bytes);
  }
  return finish(&c, status);
}

static od_status sample(void *context, const od_foreign_point *at, double *next, double *y) {
  call c;
  od_fmu_memory memory = {0};
  double nominal[1];
  od_status status = begin(&c, context, at);
  od_fmu_import *m = c.m;
  od_fmu_moment moment = {.parent = c.token, .t = at->t, .u = (double *)(uintptr_t)at->u};
  if (status == OD_OK && c.token > 0) {
    double before;
    status =
        od_fmu_moment_time(m->moments, c.token, &before)
            ? bring(m, c.w, c.token, at->q, &c.err)
            : od_fail(&c.err, OD_BAD_INPUT, "the state of a saved run is not stored; start the run at its beginning");
    // Sampling times are multiples of the period; the difference would have the round-off of the times.
    double periods = round((at->t - before) / m->w.sample);
    moment.step = periods >= 1 ? periods * m->w.sample : m->w.sample;
    if (status == OD_OK) status = step(m, c.w, at->t - moment.step, moment.step, at->u, y, &memory, &c.err);
  } else if (status == OD_OK) {
    status = start(m, c.w, at->t, at->q, at->u, y, nominal, &memory, &c.err);
  }
  if (status == OD_OK) {
    moment.memory = memory;
    c.w->token = next[0] = od_fmu_moment_add(m->moments, &moment);
    if (next[0] < 0) status = od_fail(&c.err, OD_NO_MEMORY, "out of memory");
  } else {
    od_free(memory.bytes);
  }
  return finish(&c, status);
}

// ---- saved states

// The memory of a token in a saved state, followed by the event indicators and `room` bytes for the state of the FMU.
typedef struct saved_memory {
  double token;  // -1: the memory is not saved
  double t, next_event;
  uint64_t size;
} saved_memory;
static const double most_token = 1e15;

static void save_memory(void *context, const double *x, void *memory) {
  const od_fmu_import *m = context;
  saved_memory head = {.token = round(x[m->law.states - 1])};
  size_t indicators = (size_t)m->indicators * sizeof(double);
  od_fmu_moment moment;
  char *at = (char *)memory + sizeof head;
  memset(memory, 0, m->law.memory_size);
  if (head.token > 0 && od_fmu_moment_get(m->moments, head.token, &moment)) {
    head.t = moment.t, head.next_event = moment.situation.next_event, head.size = moment.memory.size;
    if (indicators) memcpy(at, moment.situation.indicator, indicators);
    if (head.size == 0 || head.size > m->room) head.token = -1;
    if (head.token > 0) memcpy(at + indicators, moment.memory.bytes, head.size);
    od_fmu_moment_done(&moment);
  } else if (head.token != 0) {
    head.token = -1;
  }
  memcpy(memory, &head, sizeof head);
}

static bool restore_memory(void *context, const void *memory, double *x) {
  od_fmu_import *m = context;
  saved_memory head;
  memcpy(&head, memory, sizeof head);
  bool possible = head.token == -1 || (head.token >= 0 && head.token <= most_token && head.token == floor(head.token));
  if (!possible || head.size > m->room || !isfinite(head.t) || isnan(head.next_event)) return false;
  if (head.token > 0 && head.size == 0) return false;
  if (!x || head.token <= 0) return true;
  size_t indicators = (size_t)m->indicators * sizeof(double);
  const char *at = (const char *)memory + sizeof head;
  OD_SCRATCH(scratch);
  double *z = OD_TAKE(&scratch, double, m->indicators);
  od_fmu_moment moment = {.t = head.t, .situation = {head.next_event, z}, .memory = {od_malloc(head.size), head.size}};
  if (!z || !moment.memory.bytes) return od_free(moment.memory.bytes), false;
  memcpy(z, at, indicators);
  memcpy(moment.memory.bytes, at + indicators, head.size);
  x[m->law.states - 1] = od_fmu_moment_take_up(m->moments, &moment, head.token);
  return true;
}

// Makes states of the law savable, with room for a state of the FMU like the one at the start.
static void make_savable(od_fmu_import *m, size_t size) {
  if (size == 0) return;
  m->room = size + size / 4 + 256;
  m->law.memory_size = sizeof(saved_memory) + (size_t)m->indicators * sizeof(double) + m->room;
  m->law.save_memory = save_memory;
  m->law.restore_memory = restore_memory;
}

// ---- construction

// Returns a copy of a list in the arena.
static const od_fmu_signal *copy_signals(od_fmu_import *m, const od_fmu_signal *list, int count) {
  od_fmu_signal *copy = OD_TAKE(&m->arena, od_fmu_signal, count);
  if (copy && count) memcpy(copy, list, (size_t)count * sizeof *copy);
  return copy;
}

// Tries the derivatives of the FMU at the start. Some FMUs declare derivatives but do not have all of them. Returns false if a derivative is missing
// or not finite.
static bool try_derivatives(od_fmu_import *m, const double *x, const double *u, const double *q) {
  double by[(OD_MOST_FOREIGN_OUTPUTS + OD_MOST_FOREIGN_STATES) * (OD_MOST_FOREIGN_STATES + OD_MOST_BLOCK_INPUTS)];
  od_foreign_point at = {0, x, u, q};
  if (!m->d.ability[OD_FMU_MODEL_EXCHANGE].has_derivatives) return false;
  bool good = slopes(m, &at, by) == OD_OK;
  if (!good && !m->idle->session.is_open) return false;  // a crash, which the caller reports
  int count = (m->w.outputs + m->d.states) * (m->law.states + m->w.inputs);
  for (int i = 0; i < count && good; i++) good = isfinite(by[i]);
  m->failure[0] = '\0';
  return good;
}

static bool has_events(const od_fmu_import *m, const worker *w) {
  return m->d.indicators > 0 || isfinite(w->situation.next_event);
}

od_foreign_law *od_fmu_import_law(od_fmu_import *m, const od_fmu_wiring *wiring, od_error *err) {
  bool exchange = wiring->interface == OD_FMU_MODEL_EXCHANGE;
  worker *w = m->idle;
  double x[OD_MOST_FOREIGN_STATES] = {0}, nominal[OD_MOST_FOREIGN_STATES] = {0};
  od_fmu_memory unused = {0};
  m->w = *wiring;
  m->w.input = copy_signals(m, wiring->input, wiring->inputs);
  m->w.parameter = copy_signals(m, wiring->parameter, wiring->parameters);
  m->w.output = copy_signals(m, wiring->output, wiring->outputs);
  m->w.state = copy_signals(m, wiring->state, m->d.states);
  m->initial = OD_TAKE(&m->arena, double, m->d.states + 1);
  m->nominal = OD_TAKE(&m->arena, double, m->d.states + 1);
  double *u = m->start_input = OD_TAKE(&m->arena, double, wiring->inputs);
  m->moments = od_fmu_moments_new(exchange ? m->d.states : 0, wiring->inputs, exchange ? m->d.indicators : 0);
  if (od_arena_status(&m->arena) != OD_OK || !m->moments) return od_fail(err, OD_NO_MEMORY, "out of memory"), NULL;
  for (int i = 0; i < wiring->inputs; i++) u[i] = from_fmu(&m->w.input[i], m->d.variable[m->w.input[i].variable].start);
  m->law = (od_foreign_law){.context = m,
                            .inputs = wiring->inputs,
                            .outputs = wiring->outputs,
                            .numbers = wiring->parameters,
                            .states = exchange ? m->d.states : 1,
                            .tokens = exchange ? 0 : 1,
                            .failure = failure};
  if (open_binary(m, w, err) != OD_OK) return NULL;
  od_status status = start(m, w, 0, wiring->value, u, exchange ? x : nominal, exchange ? nominal : x, &unused, err);
  od_free(unused.bytes);
  if (status != OD_OK) return NULL;
  m->indicators = exchange ? m->d.indicators : 0;
  if (!exchange) {
    m->law.sample = sample;
    make_savable(m, unused.size);
    return &m->law;
  }
  memcpy(m->initial, x, (size_t)m->d.states * sizeof *x);
  for (int i = 0; i < m->d.states; i++) m->nominal[i] = fabs(nominal[i]);
  m->law.initial = m->initial;
  m->law.nominal = m->nominal;
  m->law.values = values;
  if (try_derivatives(m, x, u, wiring->value)) m->law.tangent = tangent, m->law.slopes = slopes;
  if (m->failure[0]) return od_fail(err, OD_BAD_INPUT, "%s", m->failure), NULL;
  if (!has_events(m, w)) return &m->law;
  m->law.states++;
  m->law.tokens = 1;
  m->law.margin = margin;
  m->law.switch_states = switch_states;
  make_savable(m, unused.size);
  return &m->law;
}
