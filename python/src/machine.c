// Machines: machine files that were loaded. Also plants of machines, for simulations and observers.
#include "oleodyn_python.h"

typedef struct machine {
  PyObject_HEAD od_machine *machine;
} machine;

// Returns the texts of a sequence as an array, whose entries belong to the sequence. Free the array with PyMem_Free().
static const char **text_array(PyObject *fast, Py_ssize_t count) {
  const char **text = PyMem_Calloc((size_t)count + 1, sizeof *text);
  if (!text) PyErr_NoMemory();
  for (Py_ssize_t i = 0; text && i < count; i++) {
    text[i] = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(fast, i));
    if (!text[i]) {
      PyMem_Free(text);
      return NULL;
    }
  }
  return text;
}

static od_machine *load(const char *path, const od_load_options *options) {
  od_messages *messages = od_messages_new();
  if (!messages) return (od_machine *)PyErr_NoMemory();
  od_machine *loaded = NULL;
  od_status status;
  Py_BEGIN_ALLOW_THREADS status = od_machine_load(path, options, &loaded, messages);
  Py_END_ALLOW_THREADS bool ok = od_report_messages(messages);
  od_messages_free(messages);
  if (ok && status != OD_OK) od_raise(status, path);
  if (ok && status == OD_OK) return loaded;
  od_machine_free(loaded);
  return NULL;
}

static PyObject *new_machine(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  static char *words[] = {"path", "set", "variant", "spatial", NULL};
  PyObject *path = NULL, *set = NULL;
  const char *variant = NULL;
  int spatial = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&Oz|p", words, PyUnicode_FSConverter, &path, &set, &variant,
                                   &spatial))
    return NULL;
  PyObject *fast = PySequence_Fast(set, "set must be a list of texts");
  const char **text = fast ? text_array(fast, PySequence_Fast_GET_SIZE(fast)) : NULL;
  machine *m = NULL;
  if (text) {
    const od_load_options options = {
        .set = text, .set_count = (int)PySequence_Fast_GET_SIZE(fast), .variant = variant, .spatial = spatial};
    od_machine *loaded = load(PyBytes_AS_STRING(path), &options);
    m = loaded ? (machine *)type->tp_alloc(type, 0) : NULL;
    if (m)
      m->machine = loaded;
    else
      od_machine_free(loaded);
  }
  PyMem_Free(text);
  Py_XDECREF(fast);
  Py_DECREF(path);
  return (PyObject *)m;
}

static void dealloc(PyObject *self) {
  od_machine_free(((machine *)self)->machine);
  Py_TYPE(self)->tp_free(self);
}

const od_machine *od_machine_of(PyObject *object) {
  if (PyObject_TypeCheck(object, &od_python_machine_type)) return ((machine *)object)->machine;
  PyErr_SetString(PyExc_TypeError, "expected a machine");
  return NULL;
}

// ---- properties

// Returns a list of pairs (name, unit).
static PyObject *pairs(const od_machine *m, int count, const char *(*name)(const od_machine *, int),
                       const char *(*unit)(const od_machine *, int)) {
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    PyObject *item = Py_BuildValue("(ss)", name(m, i), unit(m, i));
    if (!item) Py_CLEAR(list);
    if (item) PyList_SET_ITEM(list, i, item);
  }
  return list;
}
static PyObject *get_inputs(PyObject *self, void *unused) {
  (void)unused;
  const od_machine *m = ((machine *)self)->machine;
  return pairs(m, od_machine_input_count(m), od_machine_input_name, od_machine_input_unit);
}
static PyObject *get_outputs(PyObject *self, void *unused) {
  (void)unused;
  const od_machine *m = ((machine *)self)->machine;
  return pairs(m, od_machine_output_count(m), od_machine_output_name, od_machine_output_unit);
}
static PyObject *get_title(PyObject *self, void *unused) {
  (void)unused;
  return PyUnicode_FromString(od_machine_title(((machine *)self)->machine));
}
static PyObject *get_numbers(PyObject *self, void *unused) {
  (void)unused;
  const od_machine *m = ((machine *)self)->machine;
  int count = od_machine_number_count(m);
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    const od_number n = od_machine_number(m, i);
    PyObject *item =
        Py_BuildValue("(sdszdddd)", n.path, n.value, n.unit, n.given, n.low, n.high, n.usual_low, n.usual_high);
    if (!item) Py_CLEAR(list);
    if (item) PyList_SET_ITEM(list, i, item);
  }
  return list;
}
static PyObject *get_variants(PyObject *self, void *unused) {
  (void)unused;
  const od_machine *m = ((machine *)self)->machine;
  int count = od_machine_variant_count(m);
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    PyObject *item = PyUnicode_FromString(od_machine_variant_name(m, i));
    if (!item) Py_CLEAR(list);
    if (item) PyList_SET_ITEM(list, i, item);
  }
  return list;
}
static PyObject *default_outputs(PyObject *self, PyObject *none) {
  (void)none;
  const od_machine *m = ((machine *)self)->machine;
  int *index = PyMem_Calloc((size_t)od_machine_output_count(m) + 1, sizeof *index);
  if (!index) return PyErr_NoMemory();
  int count = od_machine_default_outputs(m, index);
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) PyList_SET_ITEM(list, i, PyLong_FromLong(index[i]));
  PyMem_Free(index);
  return list;
}
static PyObject *inputs_at(PyObject *self, PyObject *time) {
  const od_machine *m = ((machine *)self)->machine;
  double t = PyFloat_AsDouble(time);
  if (PyErr_Occurred()) return NULL;
  PyArrayObject *u = od_array(od_machine_input_count(m), -1);
  if (u) od_machine_inputs(m, t, od_doubles(u));
  return (PyObject *)u;
}

static PyObject *next_break(PyObject *self, PyObject *time) {
  double t = PyFloat_AsDouble(time);
  if (PyErr_Occurred()) return NULL;
  return PyFloat_FromDouble(od_machine_next_break(((machine *)self)->machine, t));
}

// ---- plants

const od_integrator *od_integrator_argument(const char *name) {
  const od_integrator *found = name ? od_integrator_find(name) : od_integrator_at(0);
  if (!found) PyErr_Format(PyExc_ValueError, "there is no integrator '%s'; expected trapezoid, tr-bdf2 or rk4", name);
  return found;
}

bool od_python_plant_make(od_python_plant *p, PyObject *object, PyObject *outputs, PyObject *parameters) {
  const od_machine *m = od_machine_of(object);
  if (!m) return false;
  int *output = NULL, *parameter = NULL, no = 0, np = 0;
  od_error err = {0};
  bool ok = od_indices(outputs, "outputs must be a list of indices", &output, &no) &&
            od_indices(parameters, "parameters must be a list of indices", &parameter, &np);
  od_status status = ok ? od_machine_plant(m, output, no, parameter, np, &p->plant, &err) : OD_OK;
  PyMem_Free(output);
  p->parameter = parameter;
  if (status != OD_OK) od_raise(status, err.text);
  if (!ok || status != OD_OK) return false;
  Py_INCREF(object);
  p->machine = object;
  p->u = od_array(p->plant->nu, -1);
  return p->u != NULL;
}

void od_python_plant_clear(od_python_plant *p) {
  od_plant_free(p->plant);
  p->plant = NULL;
  PyMem_Free(p->parameter);
  p->parameter = NULL;
  Py_CLEAR(p->u);
  Py_CLEAR(p->machine);
}

bool od_python_parameters_check(const od_python_plant *p, const double *values, long rows) {
  const od_machine *m = ((machine *)p->machine)->machine;
  int np = p->plant->np;
  for (int i = 0; i < np; i++) {
    const od_number n = od_machine_number(m, p->parameter[i]);
    for (long row = 0; row < rows; row++) {
      double value = values[row * np + i];
      if ((value >= n.low && value <= n.high) || value == n.value) continue;
      char text[400], place[40] = "";
      if (rows > 1) snprintf(place, sizeof place, " in copy %ld", row);
      snprintf(text, sizeof text, "%.200s is %g %s%s, which is impossible; possible: %g to %g %s", n.path, value,
               n.unit, place, n.low, n.high, n.unit);
      od_raise(OD_BAD_INPUT, text);
      return false;
    }
  }
  return true;
}

void od_python_plant_file_inputs(const od_python_plant *p, double t) {
  od_machine_inputs(((machine *)p->machine)->machine, t, od_doubles(p->u));
}

static PyGetSetDef getters[] = {
    {"title", get_title, NULL, "Title in the machine file.", NULL},
    {"inputs", get_inputs, NULL, "List of (name, SI unit) of the inputs.", NULL},
    {"outputs", get_outputs, NULL, "List of (name, SI unit) of the outputs.", NULL},
    {"numbers", get_numbers, NULL, "List of (path, value, unit, text in the file, low, high, usual low, usual high).",
     NULL},
    {"variants", get_variants, NULL, "Names of the variants in the file.", NULL},
    {0},
};
static PyMethodDef methods[] = {
    {"default_outputs", default_outputs, METH_NOARGS, "Indices of the outputs that `oleodyn simulate` records."},
    {"next_break", next_break, METH_O, "Time of the first jump or kink of an input after a time, s; inf: none."},
    {"inputs_at", inputs_at, METH_O, "Values of the inputs at a time, from the signals of the file."},
    {0},
};

PyTypeObject od_python_machine_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "oleodyn._core.Machine",
    .tp_basicsize = sizeof(machine),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Machine(path, set, variant, spatial=False): a machine file, checked, compiled and assembled.",
    .tp_getset = getters,
    .tp_methods = methods,
    .tp_new = new_machine,
};
