// Rollouts: many simulations of one machine in one call, on all cores, without the lock of the interpreter. Each rollout depends only on
// its own arguments, so the number of threads does not change a bit.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "oleodyn_python.h"

typedef struct batch {
  const od_machine *machine;
  const od_plant *plant;
  const od_integrator *integrator;
  long count, steps;
  double h;
  const double *x, *u, *p;      // initial states, inputs, parameters; NULL: the values of the file
  long x_step, u_step, p_step;  // doubles from one rollout to the next; 0: shared by all rollouts
  double *y;
  int *status;
  atomic_long next;
  atomic_bool stop;
  pthread_mutex_t mutex;
  pthread_cond_t ended;
  int running;
} batch;

// One rollout at a time: its inputs.
typedef struct worker {
  batch *b;
  const double *u;  // (steps + 1) x nu, or NULL
} worker;

// Inputs between two rows are linear. A row is an input at a step's end, so that a row is met exactly.
static void inputs_at(const void *user, double t, double *u) {
  const worker *w = user;
  const batch *b = w->b;
  int nu = b->plant->nu;
  long row = (long)floor(t / b->h + 1e-9);
  if (row < 0) row = 0;
  if (row >= b->steps) row = b->steps - (b->steps > 0);
  double part = t / b->h - (double)row;
  if (fabs(part) < 1e-9) part = 0;
  if (fabs(part - 1) < 1e-9) part = 1;
  const double *from = w->u + row * nu, *to = b->steps > 0 ? from + nu : from;
  for (int i = 0; i < nu; i++) u[i] = part == 0 ? from[i] : part == 1 ? to[i] : from[i] + part * (to[i] - from[i]);
}

// Computes rollout i with the simulation and the memory of a thread.
static od_status roll(worker *w, long i, od_sim *sim, double *u, void *memory) {
  batch *b = w->b;
  const od_plant *plant = b->plant;
  double *y = b->y + i * (b->steps + 1) * plant->ny;
  w->u = b->u ? b->u + i * b->u_step : NULL;
  od_advance_options options = {.step = b->h};
  options.inputs = w->u ? (od_input_source){.user = w, .inputs = inputs_at} : od_machine_input_source(b->machine);
  options.inputs.inputs(options.inputs.user, 0, u);
  od_sim_set_integrator(sim, b->integrator);
  od_status status = od_sim_start(sim, 0, u);
  if (status == OD_OK && b->p) status = od_sim_set_parameters(sim, b->p + i * b->p_step);
  if (status == OD_OK && b->x) status = od_sim_set(sim, 0, b->x + i * b->x_step, u);
  od_advance *advance = status == OD_OK ? od_advance_init(memory, sim, &options) : NULL;
  if (status == OD_OK && !advance) status = OD_NO_MEMORY;
  od_sim *at = sim;
  for (long k = 0; k <= b->steps && status == OD_OK; k++) {
    if (k > 0) status = od_sim_advance(advance, (double)k * b->h, &at);
    if (status == OD_OK) status = od_sim_outputs(at, y + k * plant->ny);
    if ((k & 255) == 255 && b->stop) status = OD_INTERRUPTED;
    if (status != OD_OK && status != OD_INTERRUPTED)
      for (long j = k * plant->ny; j < (b->steps + 1) * plant->ny; j++) y[j] = NAN;
  }
  return status;
}

static void *work(void *user) {
  worker w = {.b = user};
  batch *b = user;
  od_sim *sim = od_sim_plain_new(b->plant);
  double *u = calloc((size_t)b->plant->nu + 1, sizeof *u);
  const od_advance_options options = {.step = b->h, .inputs = od_machine_input_source(b->machine)};
  size_t bytes = sim ? (od_advance_size(sim, &options) + 15) / 16 * 16 : 0;
  void *memory = sim ? aligned_alloc(16, bytes ? bytes : 16) : NULL;
  for (long i; !b->stop && (i = atomic_fetch_add(&b->next, 1)) < b->count;)
    b->status[i] = (int)(sim && u && memory ? roll(&w, i, sim, u, memory) : OD_NO_MEMORY);
  free(memory);
  free(u);
  od_sim_free(sim);
  pthread_mutex_lock(&b->mutex);
  b->running--;
  pthread_cond_signal(&b->ended);
  pthread_mutex_unlock(&b->mutex);
  return NULL;
}

// Waits for the threads, and checks signals meanwhile. Returns false if an exception is set.
static bool wait_for(batch *b) {
  bool ok = true;
  for (int running = 1; running;) {
    struct timespec until;
    Py_BEGIN_ALLOW_THREADS clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_mutex_lock(&b->mutex);
    if (b->running) pthread_cond_timedwait(&b->ended, &b->mutex, &until);
    running = b->running;
    pthread_mutex_unlock(&b->mutex);
    Py_END_ALLOW_THREADS if (ok && (PyErr_CheckSignals() != 0 || od_law_interrupted())) {
      ok = false;
      b->stop = true;
    }
  }
  return ok;
}

static bool run_threads(batch *b, int threads) {
  pthread_t *thread = PyMem_Calloc((size_t)threads, sizeof *thread);
  if (!thread) return PyErr_NoMemory() != NULL;
  pthread_mutex_init(&b->mutex, NULL);
  pthread_cond_init(&b->ended, NULL);
  int started = 0;
  b->running = threads;
  while (started < threads && pthread_create(&thread[started], NULL, work, b) == 0) started++;
  pthread_mutex_lock(&b->mutex);
  b->running -= threads - started;
  pthread_mutex_unlock(&b->mutex);
  od_law_forget();
  bool ok = started > 0;
  if (!ok) PyErr_SetString(PyExc_RuntimeError, "no thread could be started");
  if (ok) ok = wait_for(b);
  for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
  pthread_cond_destroy(&b->ended);
  pthread_mutex_destroy(&b->mutex);
  PyMem_Free(thread);
  return ok;
}

// Returns an argument as an array in which the first dimension, that of the rollouts, may be missing. NULL without an exception: not
// given.
static PyArrayObject *shared_argument(PyObject *value, const char *name, long count, npy_intp rows, npy_intp columns,
                                      long *step) {
  *step = 0;
  if (value == Py_None) return NULL;
  int inner = columns < 0 ? 1 : 2;
  PyArrayObject *a = (PyArrayObject *)PyArray_FROMANY(value, NPY_DOUBLE, inner, inner + 1, NPY_ARRAY_IN_ARRAY);
  if (!a) return NULL;
  int first = PyArray_NDIM(a) - inner;
  const npy_intp *shape = PyArray_SHAPE(a);
  if ((first && shape[0] != count) || shape[first] != rows || (inner == 2 && shape[first + 1] != columns)) {
    if (columns < 0)
      PyErr_Format(PyExc_ValueError, "%s must have the shape (%zd,) or (%ld, %zd)", name, rows, count, rows);
    else
      PyErr_Format(PyExc_ValueError, "%s must have the shape (%zd, %zd) or (%ld, %zd, %zd)", name, rows, columns, count,
                   rows, columns);
    Py_DECREF(a);
    return NULL;
  }
  if (first) *step = (long)(rows * (columns < 0 ? 1 : columns));
  return a;
}

// Checks the sizes of a batch. Returns false with an exception.
static bool check_sizes(const batch *b, int threads) {
  if (b->count < 0 || b->steps < 0 || threads < 1)
    PyErr_Format(PyExc_ValueError,
                 "count is %ld, steps is %ld, threads is %d; expected 0 or more, 0 or more, 1 or more", b->count,
                 b->steps, threads);
  else if (!(b->h > 0) || !isfinite(b->h))
    PyErr_SetString(PyExc_ValueError, "step must be a positive number of seconds");
  return !PyErr_Occurred();
}

PyObject *od_python_rollout(PyObject *module, PyObject *arguments, PyObject *keywords) {
  (void)module;
  static char *words[] = {"machine", "outputs", "parameters", "count",      "steps",   "step",
                          "state",   "inputs",  "numbers",    "integrator", "threads", NULL};
  PyObject *machine, *outputs, *parameters, *state, *inputs, *numbers, *result = NULL;
  const char *integrator;
  int threads;
  batch b = {0};
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOlldOOOzi", words, &machine, &outputs, &parameters, &b.count,
                                   &b.steps, &b.h, &state, &inputs, &numbers, &integrator, &threads))
    return NULL;
  if (!check_sizes(&b, threads)) return NULL;
  if (threads > b.count) threads = b.count > 0 ? (int)b.count : 1;
  od_python_plant plant = {0};
  b.machine = od_machine_of(machine);
  b.integrator = od_integrator_argument(integrator);
  if (!b.machine || !b.integrator || !od_python_plant_make(&plant, machine, outputs, parameters)) {
    od_python_plant_clear(&plant);
    return NULL;
  }
  b.plant = plant.plant;
  PyArrayObject *x = shared_argument(state, "state", b.count, od_plant_nx(b.plant), -1, &b.x_step), *u = NULL,
                *p = NULL, *y = NULL, *status = NULL;
  if (!PyErr_Occurred()) u = shared_argument(inputs, "inputs", b.count, b.steps + 1, b.plant->nu, &b.u_step);
  if (!PyErr_Occurred()) p = shared_argument(numbers, "numbers", b.count, b.plant->np, -1, &b.p_step);
  if (p) od_python_parameters_check(&plant, od_doubles(p), b.p_step ? b.count : 1);
  if (!PyErr_Occurred()) {
    npy_intp shape[] = {b.count, b.steps + 1, b.plant->ny};
    y = (PyArrayObject *)PyArray_EMPTY(3, shape, NPY_DOUBLE, 0);
    status = (PyArrayObject *)PyArray_ZEROS(1, shape, NPY_INT, 0);
  }
  if (y && status) {
    b.x = x ? od_doubles(x) : NULL, b.u = u ? od_doubles(u) : NULL, b.p = p ? od_doubles(p) : NULL;
    b.y = od_doubles(y), b.status = PyArray_DATA(status);
    if (run_threads(&b, threads)) result = Py_BuildValue("(OO)", y, status);
  }
  Py_XDECREF(x);
  Py_XDECREF(u);
  Py_XDECREF(p);
  Py_XDECREF(y);
  Py_XDECREF(status);
  od_python_plant_clear(&plant);
  return result;
}
