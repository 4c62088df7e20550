// Simulations step by step. Inputs, outputs, state and rates are arrays in the memory of the simulation: they are bound once, and a
// step copies nothing.
#include <math.h>

#include "oleodyn_python.h"

typedef struct simulation {
  PyObject_HEAD od_python_plant plant;
  od_sim *sim;
  od_advance *advance;  // created by the first call of advance()
  double tolerance, longest;
  PyArrayObject *y;
  const od_integrator *integrator;  // the chosen one; NULL: the trapezoidal rule for step(), tr-bdf2 for advance()
  bool is_started;
  bool has_events;        // samples or modes
  od_released *released;  // of the running advance
  bool is_busy;           // a thread works without the lock of the interpreter
} simulation;

static PyObject *failed(const simulation *s, od_status status) {
  char text[160];
  if (PyErr_Occurred()) return NULL;
  if (!s->is_started) return od_raise(status, "the simulation is not started; call start()");
  snprintf(text, sizeof text, "at %.9g s: %s", od_sim_time(s->sim), od_status_text(status));
  return od_raise(status, text);
}
#define CHECKED(call)                                \
  do {                                               \
    od_status checked = (call);                      \
    if (checked != OD_OK) return failed(s, checked); \
  } while (0)

// Returns whether no other thread works with the simulation, else false with an exception.
static bool is_free(const simulation *s) {
  if (s->is_busy)
    PyErr_SetString(PyExc_RuntimeError, "another thread steps this simulation; each thread needs its own simulation");
  return !s->is_busy;
}
// Converts the length of a step. Returns a negative number with an exception.
static double step_length(PyObject *value) {
  double h = PyFloat_AsDouble(value);
  if (h == -1 && PyErr_Occurred()) return -1;
  if (h > 0 && isfinite(h)) return h;
  PyErr_Format(PyExc_ValueError, "the step is %S; expected a positive number of seconds", value);
  return -1;
}

// ---- creation

static void dealloc(PyObject *self) {
  simulation *s = (simulation *)self;
  od_advance_free(s->advance);
  od_sim_free(s->sim);
  od_python_plant_clear(&s->plant);
  Py_XDECREF(s->y);
  Py_TYPE(self)->tp_free(self);
}

static PyObject *new_simulation(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *words[] = {"machine", "outputs", "parameters", "integrator", "tolerance", "longest", NULL};
  PyObject *machine, *outputs, *parameters;
  const char *name = NULL;
  double tolerance = 0, longest = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO|zdd", words, &machine, &outputs, &parameters, &name,
                                   &tolerance, &longest))
    return NULL;
  const od_integrator *integrator = od_integrator_argument(name);
  simulation *s = integrator ? (simulation *)type->tp_alloc(type, 0) : NULL;
  if (!s) return NULL;
  s->tolerance = tolerance, s->longest = longest;
  bool ok = od_python_plant_make(&s->plant, machine, outputs, parameters);
  if (ok) {
    s->y = od_array(s->plant.plant->ny, -1);
    s->sim = od_sim_new(s->plant.plant);
    if (!s->sim) PyErr_NoMemory();
    ok = s->sim && s->y;
  }
  if (ok) {
    od_sim_set_integrator(s->sim, integrator);
    s->integrator = name ? integrator : NULL;
    return (PyObject *)s;
  }
  Py_DECREF(s);
  return NULL;
}

// ---- motion

// Ends the use of the advance; the next advance() creates another one.
static void drop_advance(simulation *s) {
  if (s->advance && !s->integrator) od_sim_set_integrator(s->sim, od_integrator_at(0));
  od_advance_free(s->advance);
  s->advance = NULL;
}

static PyObject *start(PyObject *self, PyObject *arguments) {
  simulation *s = (simulation *)self;
  double t = 0, margin = INFINITY;
  if (!PyArg_ParseTuple(arguments, "|d", &t) || !is_free(s)) return NULL;
  drop_advance(s);
  od_law_forget();
  od_python_plant_file_inputs(&s->plant, t);
  od_status status = od_sim_start(s->sim, t, od_doubles(s->plant.u));
  if (status != OD_OK) return od_raise(status, "the start of the simulation failed");
  s->is_started = true;
  if (od_sim_margin(s->sim, &margin) != OD_OK) margin = 0;
  s->has_events = isfinite(od_sim_next_sample(s->sim)) || isfinite(margin);
  Py_RETURN_NONE;
}

// Takes a step, and what is due at its end: samples, switches, a change of coordinates.
static od_status take_step(simulation *s, double h) {
  bool changed;
  od_status status = od_sim_step(s->sim, h, od_doubles(s->plant.u));
  if (status == OD_OK && s->has_events) status = od_sim_sample(s->sim, NULL, NULL, &changed);
  return status == OD_OK ? od_sim_repartition(s->sim, NULL, &changed) : status;
}

// Takes several steps without the lock of the interpreter.
static od_status take_steps(simulation *s, double h, long steps) {
  od_released released;
  od_status status = OD_OK;
  s->is_busy = true;
  od_release(&released);
  for (long i = 0; i < steps && status == OD_OK; i++) {
    status = take_step(s, h);
    if ((i & 63) == 63 && !od_released_check(&released, NULL, NULL)) status = OD_INTERRUPTED;
  }
  od_retake(&released);
  s->is_busy = false;
  return status;
}

static PyObject *step(PyObject *self, PyObject *const *argument, Py_ssize_t count) {
  simulation *s = (simulation *)self;
  if (count < 1 || count > 2) {
    PyErr_SetString(PyExc_TypeError, "expected step(h) or step(h, count)");
    return NULL;
  }
  double h = step_length(argument[0]);
  long steps = h > 0 && count > 1 ? PyLong_AsLong(argument[1]) : 1;
  if (PyErr_Occurred() || !is_free(s)) return NULL;
  if (steps < 0) return PyErr_Format(PyExc_ValueError, "count is %ld; expected 0 or more", steps);
  if (s->advance) drop_advance(s);
  CHECKED(steps == 1 ? take_step(s, h) : take_steps(s, h, steps));
  Py_RETURN_NONE;
}

// Ends an advance after Ctrl-C, before a step, so that the next advance() continues.
static od_status watch(void *user, od_moment moment, od_sim *sim, double h) {
  (void)sim, (void)h;
  od_released **released = user;
  return moment != OD_MOMENT_BEGIN || od_released_check(*released, NULL, NULL) ? OD_OK : OD_INTERRUPTED;
}

// Creates the advance. Returns false with an exception.
static bool make_advance(simulation *s) {
  const od_advance_options options = {
      .tolerance = s->tolerance, .longest = s->longest, .watch = watch, .watcher = &s->released};
  if (!s->integrator) od_sim_set_integrator(s->sim, od_integrator_find("tr-bdf2"));
  s->advance = od_advance_new(s->sim, &options);
  if (!s->advance)
    PyErr_Format(PyExc_ValueError, "the integrator %s has no error estimate; advance() needs tr-bdf2, or use step()",
                 s->integrator ? s->integrator->name : "");
  return s->advance != NULL;
}

static PyObject *advance(PyObject *self, PyObject *time) {
  simulation *s = (simulation *)self;
  double t = PyFloat_AsDouble(time);
  if ((t == -1 && PyErr_Occurred()) || !is_free(s)) return NULL;
  if (s->is_started && !(t >= od_sim_time(s->sim) && isfinite(t)))
    return PyErr_Format(PyExc_ValueError, "the time is %S s; expected the time of the simulation or a later time",
                        time);
  CHECKED(s->is_started ? od_sim_set_inputs(s->sim, od_doubles(s->plant.u)) : OD_BAD_ARGUMENT);
  if (!s->advance && !make_advance(s)) return NULL;
  od_released released;
  s->released = &released;
  s->is_busy = true;
  od_release(&released);
  od_status status = od_sim_advance_up_to(s->advance, t);
  od_retake(&released);
  s->is_busy = false;
  if (status != OD_OK) drop_advance(s);  // an advance does not accept a time before that of its last call
  CHECKED(status);
  Py_RETURN_NONE;
}

static PyObject *set(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *words[] = {"state", "parameters", "time", NULL};
  simulation *s = (simulation *)self;
  PyObject *state = Py_None, *parameters = Py_None, *time = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OOO", words, &state, &parameters, &time)) return NULL;
  if (!is_free(s)) return NULL;
  if (!s->is_started) return failed(s, OD_BAD_ARGUMENT);
  const od_plant *plant = s->plant.plant;
  PyArrayObject *x = state == Py_None ? NULL : od_matrix_argument(state, "state", od_plant_nx(plant), -1), *p = NULL;
  if (state != Py_None && !x) return NULL;
  if (parameters != Py_None && !(p = od_matrix_argument(parameters, "parameters", plant->np, -1))) {
    Py_XDECREF(x);
    return NULL;
  }
  double t = time == Py_None ? od_sim_time(s->sim) : PyFloat_AsDouble(time);
  if (p) od_python_parameters_check(&s->plant, od_doubles(p), 1);
  od_status status = OD_OK;
  if (!PyErr_Occurred()) {
    const double *u = od_doubles(s->plant.u);
    if (x && p)
      status = od_sim_set_with_parameters(s->sim, t, od_doubles(x), u, od_doubles(p));
    else if (x || time != Py_None)
      status = od_sim_set(s->sim, t, x ? od_doubles(x) : od_sim_state(s->sim), u);
    else if (p)
      status = od_sim_set_parameters(s->sim, od_doubles(p));
    if (status == OD_OK && p && !x && time != Py_None) status = od_sim_set_parameters(s->sim, od_doubles(p));
  }
  Py_XDECREF(x);
  Py_XDECREF(p);
  if (PyErr_Occurred()) return NULL;
  CHECKED(status);
  Py_RETURN_NONE;
}

static PyObject *file_inputs(PyObject *self, PyObject *time) {
  simulation *s = (simulation *)self;
  double t = PyFloat_AsDouble(time);
  if (PyErr_Occurred()) return NULL;
  od_python_plant_file_inputs(&s->plant, t);
  Py_RETURN_NONE;
}

static PyObject *outputs(PyObject *self, PyObject *none) {
  (void)none;
  simulation *s = (simulation *)self;
  if (!is_free(s)) return NULL;
  CHECKED(od_sim_outputs(s->sim, od_doubles(s->y)));
  return Py_NewRef(s->y);
}

// ---- derivatives

// Returns the arrays as a tuple and gives up the references to them; NULL if one is missing.
static PyObject *tuple_of(PyArrayObject **array, int count, od_status status, const simulation *s) {
  PyObject *tuple = status == OD_OK ? PyTuple_New(count) : NULL;
  for (int i = 0; i < count; i++)
    if (tuple)
      PyTuple_SET_ITEM(tuple, i, (PyObject *)array[i]);
    else
      Py_XDECREF(array[i]);
  return tuple || PyErr_Occurred() ? tuple : failed(s, status);
}
static double *doubles_of(PyArrayObject *array) {
  return array ? od_doubles(array) : NULL;
}

static PyObject *step_with_derivatives(PyObject *self, PyObject *length) {
  simulation *s = (simulation *)self;
  double h = step_length(length);
  if (PyErr_Occurred() || !is_free(s)) return NULL;
  drop_advance(s);
  npy_intp nx = od_plant_nx(s->plant.plant), nu = s->plant.plant->nu, np = s->plant.plant->np;
  PyArrayObject *a[] = {od_array(nx, nx), od_array(nx, nu), od_array(nx, nu), od_array(nx, np)};
  od_status status = OD_NO_MEMORY;
  if (a[0] && a[1] && a[2] && a[3])
    status = od_sim_step_with_jacobians(s->sim, h, od_doubles(s->plant.u), doubles_of(a[0]), doubles_of(a[1]),
                                        doubles_of(a[2]), doubles_of(a[3]));
  return tuple_of(a, 4, status, s);
}

static PyObject *derivatives(PyObject *self, PyObject *none) {
  (void)none;
  simulation *s = (simulation *)self;
  if (!is_free(s)) return NULL;
  npy_intp nx = od_plant_nx(s->plant.plant), nu = s->plant.plant->nu, np = s->plant.plant->np;
  PyArrayObject *a[] = {od_array(nx, -1), od_array(nx, nx), od_array(nx, nu), od_array(nx, np)};
  od_status status = OD_NO_MEMORY;
  if (a[0] && a[1] && a[2] && a[3])
    status = od_sim_derivatives(s->sim, doubles_of(a[0]), doubles_of(a[1]), doubles_of(a[2]), doubles_of(a[3]));
  return tuple_of(a, 4, status, s);
}

static PyObject *output_derivatives(PyObject *self, PyObject *none) {
  (void)none;
  simulation *s = (simulation *)self;
  if (!is_free(s)) return NULL;
  npy_intp nx = od_plant_nx(s->plant.plant), nu = s->plant.plant->nu, np = s->plant.plant->np, ny = s->plant.plant->ny;
  PyArrayObject *a[] = {od_array(ny, nx), od_array(ny, nu), od_array(ny, np)};
  od_status status = OD_NO_MEMORY;
  if (a[0] && a[1] && a[2])
    status = od_sim_output_jacobians(s->sim, doubles_of(a[0]), doubles_of(a[1]), doubles_of(a[2]));
  return tuple_of(a, 3, status, s);
}

// ---- saved states

static PyObject *save(PyObject *self, PyObject *none) {
  (void)none;
  simulation *s = (simulation *)self;
  if (!is_free(s)) return NULL;
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)od_sim_save_size(s->sim));
  od_status status = bytes ? od_sim_save(s->sim, PyBytes_AS_STRING(bytes)) : OD_NO_MEMORY;
  if (status == OD_OK) return bytes;
  Py_XDECREF(bytes);
  return failed(s, status);
}

static PyObject *restore(PyObject *self, PyObject *saved) {
  simulation *s = (simulation *)self;
  Py_buffer from;
  if (!is_free(s)) return NULL;
  if (PyObject_GetBuffer(saved, &from, PyBUF_SIMPLE) != 0) return NULL;
  void *aligned = aligned_alloc(16, ((size_t)from.len + 15) / 16 * 16);
  od_error err = {0};
  od_status status = OD_NO_MEMORY;
  if (aligned) {
    memcpy(aligned, from.buf, (size_t)from.len);
    status = od_sim_restore(s->sim, aligned, (size_t)from.len, &err);
  }
  free(aligned);
  PyBuffer_Release(&from);
  if (status != OD_OK) return od_raise(status, err.text);
  drop_advance(s);
  s->is_started = true;
  const double *u = od_sim_inputs(s->sim);
  memcpy(od_doubles(s->plant.u), u, (size_t)s->plant.plant->nu * sizeof *u);
  Py_RETURN_NONE;
}

// ---- properties

static PyObject *get_time(PyObject *self, void *unused) {
  (void)unused;
  return PyFloat_FromDouble(od_sim_time(((simulation *)self)->sim));
}
static PyObject *get_u(PyObject *self, void *unused) {
  (void)unused;
  return Py_NewRef(((simulation *)self)->plant.u);
}
static int set_u(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  return od_assign(((simulation *)self)->plant.u, value, "u");
}
static PyObject *get_y(PyObject *self, void *unused) {
  (void)unused;
  return Py_NewRef(((simulation *)self)->y);
}
static PyObject *get_state(PyObject *self, void *unused) {
  (void)unused;
  simulation *s = (simulation *)self;
  return od_view(self, od_sim_state(s->sim), od_plant_nx(s->plant.plant), -1, 1, false);
}
static PyObject *get_rates(PyObject *self, void *unused) {
  (void)unused;
  simulation *s = (simulation *)self;
  return od_view(self, od_sim_rates(s->sim), od_plant_nk(s->plant.plant), -1, 1, false);
}
static PyObject *get_parameters(PyObject *self, void *unused) {
  (void)unused;
  simulation *s = (simulation *)self;
  PyArrayObject *p = od_array(s->plant.plant->np, -1);
  if (p) od_sim_parameters(s->sim, od_doubles(p));
  return (PyObject *)p;
}
static PyObject *get_counts(PyObject *self, void *unused) {
  (void)unused;
  const od_sim_counts c = od_sim_count(((simulation *)self)->sim);
  return Py_BuildValue("{slslslsl}", "steps", c.steps, "residuals", c.residuals, "matrices", c.matrices, "repartitions",
                       c.repartitions);
}

static PyObject *get_has_events(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((simulation *)self)->has_events);
}

static PyGetSetDef getters[] = {
    {"time", get_time, NULL, "Current time, s.", NULL},
    {"u", get_u, set_u, "Inputs at the end of the next step, SI: write to this array. An assignment copies the values.",
     NULL},
    {"y", get_y, NULL, "Outputs of the last call of outputs(), SI.", NULL},
    {"state", get_state, NULL,
     "State, a read-only view; its coordinates can change between steps (machines with loops).", NULL},
    {"rates", get_rates, NULL, "Rates, a read-only view.", NULL},
    {"parameters", get_parameters, NULL, "A copy of the free parameters, SI.", NULL},
    {"has_events", get_has_events, NULL, "Whether the machine has sampled blocks or modes that switch.", NULL},
    {"counts", get_counts, NULL, "Numbers of steps, evaluations, matrices and changes of coordinates since the start.",
     NULL},
    {0},
};
static PyMethodDef methods[] = {
    {"start", start, METH_VARARGS,
     "start($self, t=0, /)\n--\n\nSets the initial state of the file, and the inputs of the file at time t."},
    {"step", (PyCFunction)(void (*)(void))step, METH_FASTCALL,
     "step($self, h, count=1, /)\n--\n\nTakes steps of h seconds. The inputs change linearly to u within the first step. Several steps release the lock of "
     "the interpreter."},
    {"advance", advance, METH_O,
     "advance($self, t, /)\n--\n\nAdvances to time t with controlled steps of tr-bdf2 and constant inputs u. Releases the lock of the interpreter."},
    {"set", (PyCFunction)(void (*)(void))set, METH_VARARGS | METH_KEYWORDS,
     "set($self, state=None, parameters=None, time=None)\n--\n\nSets these values and keeps the others."},
    {"file_inputs", file_inputs, METH_O,
     "file_inputs($self, t, /)\n--\n\nCopies the inputs of the file at time t to u."},
    {"outputs", outputs, METH_NOARGS, "outputs($self, /)\n--\n\nComputes the outputs at the current point; returns y."},
    {"step_with_derivatives", step_with_derivatives, METH_O,
     "step_with_derivatives($self, h, /)\n--\n\nTakes one step and returns the exact derivatives of the new state with respect to the old state, the "
     "old inputs, the new inputs and the parameters."},
    {"derivatives", derivatives, METH_NOARGS,
     "derivatives($self, /)\n--\n\nReturns x' and its derivatives with respect to x, u and p."},
    {"output_derivatives", output_derivatives, METH_NOARGS,
     "output_derivatives($self, /)\n--\n\nReturns the derivatives of the outputs with respect to x, u and p."},
    {"save", save, METH_NOARGS, "save($self, /)\n--\n\nReturns the state as bytes, for this machine in any process."},
    {"restore", restore, METH_O, "restore($self, saved, /)\n--\n\nRestores a state of save()."},
    {0},
};

PyTypeObject od_python_simulation_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "oleodyn._core.Simulation",
    .tp_basicsize = sizeof(simulation),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Simulation(machine, outputs, parameters, integrator=None, tolerance=0, longest=0)",
    .tp_getset = getters,
    .tp_methods = methods,
    .tp_new = new_simulation,
};
