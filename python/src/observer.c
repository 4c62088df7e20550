// Observers: a filter beside a machine. The sensors are the first outputs; NaN in y: this sensor has no value.
#include <math.h>

#include "oleodyn_python.h"

typedef struct observer {
  PyObject_HEAD od_python_plant plant;
  od_observer *observer;
  int sensors;
  PyArrayObject *y, *values;       // sensors that the caller writes; the same padded with NaN for the other outputs
  PyArrayObject *outputs, *sigma;  // estimated outputs and their standard deviations
  PyArrayObject *noise, *low, *high;
  bool is_started;
} observer;

static int states(const observer *o) {
  return od_plant_nx(o->plant.plant);
}
static int size(const observer *o) {
  return states(o) + o->plant.plant->np;
}

static PyObject *failed(const observer *o, od_status status) {
  char text[160];
  if (status == OD_BAD_ARGUMENT)
    return od_raise(status, o->is_started ? "the covariance failed at an earlier sample; call start() again"
                                          : "the observer is not started; call start() with the initial covariance");
  snprintf(text, sizeof text, "at %.9g s: %s", od_observer_time(o->observer), od_status_text(status));
  return od_raise(status, text);
}

static void dealloc(PyObject *self) {
  observer *o = (observer *)self;
  od_observer_free(o->observer);
  od_python_plant_clear(&o->plant);
  Py_XDECREF(o->y);
  Py_XDECREF(o->values);
  Py_XDECREF(o->outputs);
  Py_XDECREF(o->sigma);
  Py_XDECREF(o->noise);
  Py_XDECREF(o->low);
  Py_XDECREF(o->high);
  Py_TYPE(self)->tp_free(self);
}

// Raises an error that lists the filters. Returns false.
static bool no_filter(const char *name) {
  char list[400] = "";
  for (int i = 0; od_filter_at(i); i++) {
    size_t length = strlen(list);
    snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", od_filter_at(i)->name);
  }
  PyErr_Format(PyExc_ValueError, "there is no filter '%s'; the filters are %s", name, list);
  return false;
}

// Creates the observer of the options. noise: standard deviations of the sensors.
static bool create(observer *o, PyObject *noise, PyObject *low, PyObject *high, const char *filter, double gate) {
  const od_plant *plant = o->plant.plant;
  PyArrayObject *given = od_matrix_argument(noise, "sigma", o->sensors, -1);
  if (!given) return false;
  o->y = od_array(o->sensors, -1);
  o->values = od_array(plant->ny, -1);
  o->outputs = od_array(plant->ny, -1);
  o->sigma = od_array(plant->ny, -1);
  o->noise = od_array(plant->ny, -1);
  if (low != Py_None) o->low = od_matrix_argument(low, "low", plant->np, -1);
  if (high != Py_None) o->high = od_matrix_argument(high, "high", plant->np, -1);
  for (int i = 0; i < o->sensors; i++)
    if (!(od_doubles(given)[i] > 0 && isfinite(od_doubles(given)[i])))
      PyErr_SetString(PyExc_ValueError, "standard deviations of sensors must be positive");
  bool ok = o->y && o->values && o->outputs && o->sigma && o->noise && !PyErr_Occurred();
  for (int i = 0; ok && i < plant->ny; i++) {
    od_doubles(o->noise)[i] = i < o->sensors ? od_doubles(given)[i] : 1;
    od_doubles(o->values)[i] = NAN;
    if (i < o->sensors) od_doubles(o->y)[i] = NAN;
  }
  Py_DECREF(given);
  if (!ok) return false;
  const od_observer_options options = {.filter = filter ? od_filter_find(filter) : NULL,
                                       .sensor_sigma = od_doubles(o->noise),
                                       .gate = gate,
                                       .low = o->low ? od_doubles(o->low) : NULL,
                                       .high = o->high ? od_doubles(o->high) : NULL};
  if (filter && !options.filter) {
    return no_filter(filter);
  }
  od_error err = {0};
  if (od_observer_check(&options, &err) != OD_OK) {
    PyErr_SetString(PyExc_ValueError, err.text);
    return false;
  }
  o->observer = od_observer_new(plant, &options);
  if (!o->observer) PyErr_NoMemory();
  return o->observer != NULL;
}

static PyObject *new_observer(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *words[] = {"machine", "outputs", "sensors", "parameters", "sigma",
                          "low",     "high",    "filter",  "gate",       NULL};
  PyObject *machine, *outputs, *parameters, *sigma, *low = Py_None, *high = Py_None;
  int sensors;
  const char *filter = NULL;
  double gate = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOiOO|OOzd", words, &machine, &outputs, &sensors, &parameters,
                                   &sigma, &low, &high, &filter, &gate))
    return NULL;
  observer *o = (observer *)type->tp_alloc(type, 0);
  if (!o) return NULL;
  o->sensors = sensors;
  bool ok = od_python_plant_make(&o->plant, machine, outputs, parameters);
  if (ok && (sensors < 0 || sensors > o->plant.plant->ny)) {
    PyErr_Format(PyExc_ValueError, "found %d sensors among %d outputs", sensors, o->plant.plant->ny);
    ok = false;
  }
  if (ok && create(o, sigma, low, high, filter, gate)) return (PyObject *)o;
  Py_DECREF(o);
  return NULL;
}

// ---- estimation

static PyObject *start(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *words[] = {"covariance", "state", "parameters", "time", NULL};
  observer *o = (observer *)self;
  PyObject *covariance, *state = Py_None, *parameters = Py_None;
  double t = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOd", words, &covariance, &state, &parameters, &t))
    return NULL;
  PyArrayObject *P = od_matrix_argument(covariance, "covariance", size(o), size(o)), *x = NULL, *p = NULL;
  bool ok = P && (state == Py_None || (x = od_matrix_argument(state, "state", states(o), -1))) &&
            (parameters == Py_None || (p = od_matrix_argument(parameters, "parameters", o->plant.plant->np, -1)));
  od_status status = OD_OK;
  if (ok && p) ok = od_python_parameters_check(&o->plant, od_doubles(p), 1);
  if (ok) {
    od_python_plant_file_inputs(&o->plant, t);
    status = od_observer_start(o->observer, t, x ? od_doubles(x) : NULL, p ? od_doubles(p) : NULL, od_doubles(P),
                               od_doubles(o->plant.u));
  }
  Py_XDECREF(P);
  Py_XDECREF(x);
  Py_XDECREF(p);
  if (!ok) return NULL;
  o->is_started = status == OD_OK;
  if (status == OD_BAD_ARGUMENT || status == OD_NOT_FINITE)
    return od_raise(
        OD_BAD_ARGUMENT,
        "the observer cannot start: the covariance must be finite, symmetric and without negative eigenvalues");
  if (status != OD_OK) return od_raise(status, "the start of the observer failed");
  Py_RETURN_NONE;
}

static PyObject *predict(PyObject *self, PyObject *const *argument, Py_ssize_t count) {
  observer *o = (observer *)self;
  if (count < 1 || count > 2) {
    PyErr_SetString(PyExc_TypeError, "expected predict(h) or predict(h, noise)");
    return NULL;
  }
  double h = PyFloat_AsDouble(argument[0]);
  if (h == -1 && PyErr_Occurred()) return NULL;
  if (!(h > 0 && isfinite(h)))
    return PyErr_Format(PyExc_ValueError, "the step is %S; expected a positive number of seconds", argument[0]);
  const double *u = od_doubles(o->plant.u);
  od_status status;
  if (count == 1 || argument[1] == Py_None) {
    status = od_observer_predict(o->observer, h, u, NULL, NULL);
  } else {
    bool is_matrix = PyArray_Check(argument[1]) && PyArray_NDIM((PyArrayObject *)argument[1]) == 2;
    PyArrayObject *noise = od_matrix_argument(argument[1], "noise", size(o), is_matrix ? size(o) : -1);
    if (!noise) return NULL;
    double *q = od_doubles(noise);
    status = od_observer_predict(o->observer, h, u, is_matrix ? q : NULL, is_matrix ? NULL : q);
    Py_DECREF(noise);
  }
  if (status != OD_OK) return failed(o, status);
  Py_RETURN_NONE;
}

static PyObject *correct(PyObject *self, PyObject *none) {
  (void)none;
  observer *o = (observer *)self;
  memcpy(od_doubles(o->values), od_doubles(o->y), (size_t)o->sensors * sizeof(double));
  od_status status = od_observer_correct(o->observer, od_doubles(o->values));
  if (status != OD_OK) return failed(o, status);
  Py_RETURN_NONE;
}

static PyObject *outputs(PyObject *self, PyObject *none) {
  (void)none;
  observer *o = (observer *)self;
  od_status status = od_observer_outputs(o->observer, od_doubles(o->outputs), od_doubles(o->sigma));
  if (status != OD_OK) return failed(o, status);
  return Py_BuildValue("(OO)", o->outputs, o->sigma);
}

static PyObject *inflate(PyObject *self, PyObject *factor) {
  double f = PyFloat_AsDouble(factor);
  if (PyErr_Occurred()) return NULL;
  od_observer_inflate(((observer *)self)->observer, f);
  Py_RETURN_NONE;
}

// ---- properties

static PyObject *get_time(PyObject *self, void *unused) {
  (void)unused;
  return PyFloat_FromDouble(od_observer_time(((observer *)self)->observer));
}
static PyObject *get_u(PyObject *self, void *unused) {
  (void)unused;
  return Py_NewRef(((observer *)self)->plant.u);
}
static PyObject *get_y(PyObject *self, void *unused) {
  (void)unused;
  return Py_NewRef(((observer *)self)->y);
}
static int set_u(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  return od_assign(((observer *)self)->plant.u, value, "u");
}
static int set_y(PyObject *self, PyObject *value, void *unused) {
  (void)unused;
  return od_assign(((observer *)self)->y, value, "y");
}
static PyObject *get_state(PyObject *self, void *unused) {
  (void)unused;
  observer *o = (observer *)self;
  return od_view(self, od_observer_state(o->observer), states(o), -1, 1, false);
}
static PyObject *get_parameters(PyObject *self, void *unused) {
  (void)unused;
  observer *o = (observer *)self;
  return od_view(self, od_observer_parameters(o->observer), o->plant.plant->np, -1, 1, false);
}
static PyObject *get_parameter_sigma(PyObject *self, void *unused) {
  (void)unused;
  observer *o = (observer *)self;
  PyArrayObject *sigma = od_array(o->plant.plant->np, -1);
  for (int i = 0; sigma && i < o->plant.plant->np; i++)
    od_doubles(sigma)[i] = od_observer_parameter_sigma(o->observer, i);
  return (PyObject *)sigma;
}
static PyObject *get_covariance(PyObject *self, void *unused) {
  (void)unused;
  observer *o = (observer *)self;
  return od_view(self, od_observer_covariance(o->observer), size(o), size(o), size(o), false);
}
static PyObject *get_nis(PyObject *self, void *unused) {
  (void)unused;
  int used = 0;
  double nis = od_observer_nis(((observer *)self)->observer, &used);
  return Py_BuildValue("(di)", nis, used);
}
static PyObject *get_innovations(PyObject *self, void *unused) {
  (void)unused;
  static const char *const uses[] = {"used", "missing", "gated", "frozen"};
  observer *o = (observer *)self;
  const od_innovation *i = od_observer_innovations(o->observer);
  PyObject *list = PyList_New(o->sensors);
  for (int k = 0; list && k < o->sensors; k++) {
    PyObject *item = Py_BuildValue("(dds)", i[k].value, i[k].sigma, uses[i[k].use]);
    if (!item) Py_CLEAR(list);
    if (item) PyList_SET_ITEM(list, k, item);
  }
  return list;
}
static PyObject *get_settled(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(od_observer_settled(((observer *)self)->observer));
}

static PyGetSetDef getters[] = {
    {"time", get_time, NULL, "Time of the estimate, s.", NULL},
    {"u", get_u, set_u, "Inputs at the end of the next step, SI: write to this array. An assignment copies the values.",
     NULL},
    {"y", get_y, set_y,
     "Values of the sensors for correct(), SI; NaN: the sensor has no value. Write to this array. An assignment copies the values.",
     NULL},
    {"state", get_state, NULL, "Estimated state, a read-only view.", NULL},
    {"parameters", get_parameters, NULL, "Estimated parameters, a read-only view, SI.", NULL},
    {"parameter_sigma", get_parameter_sigma, NULL, "Standard deviations of the parameters.", NULL},
    {"covariance", get_covariance, NULL, "Covariance of states and parameters, a read-only view.", NULL},
    {"nis", get_nis, NULL, "Normalized innovation squared of the last correction, and its dimension.", NULL},
    {"innovations", get_innovations, NULL, "(value, standard deviation, use) of each sensor in the last correction.",
     NULL},
    {"settled", get_settled, NULL, "Whether the standard deviations pass the filter's own test of reliability.", NULL},
    {0},
};
static PyMethodDef methods[] = {
    {"start", (PyCFunction)(void (*)(void))start, METH_VARARGS | METH_KEYWORDS,
     "start($self, covariance, state=None, parameters=None, time=0)\n--\n\nSets the estimate and the covariance of its errors."},
    {"predict", (PyCFunction)(void (*)(void))predict, METH_FASTCALL,
     "predict($self, h, noise=None, /)\n--\n\nPredicts over h seconds to the inputs u. noise: covariance of the process noise of this step, or its "
     "diagonal."},
    {"correct", correct, METH_NOARGS, "correct($self, /)\n--\n\nCorrects the estimate with the sensors y."},
    {"outputs", outputs, METH_NOARGS,
     "outputs($self, /)\n--\n\nReturns the estimated outputs and their standard deviations."},
    {"inflate", inflate, METH_O, "inflate($self, factor, /)\n--\n\nMultiplies the standard deviations of the states."},
    {0},
};

PyTypeObject od_python_observer_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "oleodyn._core.Observer",
    .tp_basicsize = sizeof(observer),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Observer(machine, outputs, sensors, parameters, sigma, low=None, high=None, filter=None, gate=0)",
    .tp_getset = getters,
    .tp_methods = methods,
    .tp_new = new_observer,
};
