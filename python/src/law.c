// Laws of blocks that are functions of Python, for machine files with `type: foreign` (oleodyn/foreign.h).
//
// Machines refer to the laws that they were loaded with, so laws are never freed. A law with the same name replaces the old law for
// machines that are loaded later.
#include <stdio.h>

#include "oleodyn_python.h"

enum { MOST_ARGUMENTS = 400, TIME = -1 };

typedef struct python_law {
  od_foreign_law law;
  PyObject *function;
  PyObject *names;        // tuple of all texts, kept alive for the arrays below
  PyObject *keywords;     // tuple with the names of the numbers, which the function takes by keyword
  const char **name;      // inputs, then states, then numbers
  double *initial;        // of the states
  int *order, positions;  // positional arguments: TIME, or an index of inputs, then states
  char failure[300];
  struct python_law *next;
} python_law;

// All registered laws, also replaced ones.
static python_law *laws;

// The exception of a law that failed, and one that must end the work: KeyboardInterrupt or SystemExit. Only used with the lock.
static PyObject *failed_with, *pending;
static long long calls;

PyObject *od_law_calls(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  return PyLong_FromLongLong(calls);
}

PyObject *od_law_failure(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  PyObject *exception = failed_with ? failed_with : Py_NewRef(Py_None);
  failed_with = NULL;
  return exception;
}

void od_law_forget(void) {
  Py_CLEAR(failed_with);
}

bool od_law_interrupted(void) {
  if (!pending) return false;
  if (!PyErr_Occurred()) PyErr_SetObject((PyObject *)Py_TYPE(pending), pending);
  Py_CLEAR(pending);
  return true;
}

// Keeps the exception of the interpreter, the first one of a run.
static void keep_exception(python_law *l) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback && value) PyException_SetTraceback(value, traceback);
  Py_XDECREF(traceback);
  Py_XDECREF(type);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  const char *why = text ? PyUnicode_AsUTF8(text) : NULL;
  snprintf(l->failure, sizeof l->failure, "%s: %s", value ? Py_TYPE(value)->tp_name : "error", why ? why : "");
  Py_XDECREF(text);
  PyErr_Clear();
  PyObject **place = value && PyObject_IsInstance(value, PyExc_Exception) == 1 ? &failed_with : &pending;
  if (!*place)
    *place = value;
  else
    Py_XDECREF(value);
}

// ---- calls

// Returns the arguments of the function as new floats: those with a position, then the numbers. Returns false with an exception.
static bool arguments_of(const python_law *l, const od_foreign_point *at, PyObject **argument) {
  int count = l->positions + l->law.numbers;
  for (int i = 0; i < count; i++) {
    int k = i < l->positions ? l->order[i] : 0;
    double value = i >= l->positions   ? at->q[i - l->positions]
                   : k == TIME         ? at->t
                   : k < l->law.inputs ? at->u[k]
                                       : at->x[k - l->law.inputs];
    argument[i] = PyFloat_FromDouble(value);
    if (argument[i]) continue;
    while (i-- > 0) Py_DECREF(argument[i]);
    return false;
  }
  return true;
}

// Converts a number, or a list of `count` numbers. Returns false with an exception.
static bool numbers_of(PyObject *value, const char *what, int count, double *out) {
  if (count == 1 && !PySequence_Check(value)) {
    out[0] = PyFloat_AsDouble(value);
    return !PyErr_Occurred();
  }
  PyObject *items = PySequence_Fast(value, what);
  if (items && PySequence_Fast_GET_SIZE(items) != count)
    PyErr_Format(PyExc_ValueError, "the law returned %zd numbers; expected %d: %s", PySequence_Fast_GET_SIZE(items),
                 count, what);
  for (int i = 0; items && i < count && !PyErr_Occurred(); i++)
    out[i] = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(items, i));
  Py_XDECREF(items);
  return !PyErr_Occurred();
}

// Calls the function: the output y, and the rates of the states or the states after the sample. The caller has the lock.
static bool call(python_law *l, const od_foreign_point *at, double *y, double *states) {
  PyObject *argument[MOST_ARGUMENTS];
  if (!arguments_of(l, at, argument)) return false;
  PyObject *result = PyObject_Vectorcall(l->function, argument, (size_t)l->positions, l->keywords);
  for (int i = 0; i < l->positions + l->law.numbers; i++) Py_DECREF(argument[i]);
  if (!result) return false;
  bool ok = true;
  if (l->law.states == 0) {
    *y = PyFloat_AsDouble(result);
    ok = !PyErr_Occurred();
  } else if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) != 2) {
    PyErr_SetString(PyExc_TypeError, l->law.sample ? "a sampled law with states must return (output, next states)"
                                                   : "a law with states must return (output, rates of the states)");
    ok = false;
  } else {
    *y = PyFloat_AsDouble(PyTuple_GET_ITEM(result, 0));
    ok = !PyErr_Occurred() && numbers_of(PyTuple_GET_ITEM(result, 1), "one for each state", l->law.states, states);
  }
  Py_DECREF(result);
  return ok;
}

static od_status evaluate(python_law *l, const od_foreign_point *at, double *y, double *states) {
  PyGILState_STATE lock = PyGILState_Ensure();
  calls++;
  bool ok = !pending && !PyErr_Occurred() && call(l, at, y, states);
  if (!ok && !pending && PyErr_Occurred()) keep_exception(l);
  PyGILState_Release(lock);
  return ok ? OD_OK : OD_NOT_FINITE;
}

static od_status values(void *context, const od_foreign_point *at, double *y, double *rate) {
  return evaluate(context, at, y, rate);
}
static od_status sample(void *context, const od_foreign_point *at, double *next, double *y) {
  return evaluate(context, at, y, next);
}
static const char *failure(void *context) {
  const python_law *l = context;
  return l->failure[0] && failed_with ? l->failure : NULL;
}

// ---- registration

// Fills the names, which belong to the tuple `names`. Returns false with an exception.
static bool take_names(python_law *l) {
  Py_ssize_t count = PyTuple_GET_SIZE(l->names);
  l->name = PyMem_Calloc((size_t)count + 1, sizeof *l->name);
  if (!l->name) return PyErr_NoMemory() != NULL;
  for (Py_ssize_t i = 0; i < count; i++)
    if (!(l->name[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(l->names, i)))) return false;
  return true;
}

// Frees a law that is not registered.
static void drop(python_law *l) {
  Py_XDECREF(l->function);
  Py_XDECREF(l->names);
  Py_XDECREF(l->keywords);
  PyMem_Free(l->name);
  PyMem_Free(l->initial);
  PyMem_Free(l->order);
  PyMem_RawFree(l);
}

// Completes a law whose objects are set. Returns false with an exception.
static bool complete(python_law *l, const char *name, PyObject *initial, bool is_sampled, const char *remark) {
  od_foreign_law *w = &l->law;
  if (!take_names(l) || !(l->initial = PyMem_Calloc((size_t)w->states + 1, sizeof *l->initial))) return false;
  if (w->states > 0 && !numbers_of(initial, "one initial value for each state", w->states, l->initial)) return false;
  if (l->positions + w->numbers > MOST_ARGUMENTS) {
    PyErr_SetString(PyExc_ValueError, "a law has too many arguments");
    return false;
  }
  w->context = l;
  w->outputs = 1;
  w->state_name = w->states > 0 ? l->name + w->inputs : NULL;
  w->initial = l->initial;
  w->values = is_sampled ? NULL : values;
  w->sample = is_sampled ? sample : NULL;
  w->failure = failure;
  const od_named_law named = {
      .name = name, .law = w, .input_name = l->name, .number_name = l->name + w->inputs + w->states, .remark = remark};
  od_status status = od_law_register(&named);
  if (status != OD_OK)
    od_raise(
        status,
        "the law cannot be registered; it may have 32 inputs, 32 states (one less if it is sampled) and 300 parameters");
  return status == OD_OK;
}

PyObject *od_python_register_law(PyObject *module, PyObject *arguments) {
  (void)module;
  PyObject *name, *function, *names, *keywords, *order, *initial, *remark;
  int inputs, states, is_sampled;
  if (!PyArg_ParseTuple(arguments, "UOO!iiO!OOpU", &name, &function, &PyTuple_Type, &names, &inputs, &states,
                        &PyTuple_Type, &keywords, &order, &initial, &is_sampled, &remark))
    return NULL;
  python_law *l = PyMem_RawCalloc(1, sizeof *l);
  if (!l) return PyErr_NoMemory();
  l->function = Py_NewRef(function), l->names = Py_NewRef(names), l->keywords = Py_NewRef(keywords);
  l->law.inputs = inputs, l->law.states = states, l->law.numbers = (int)PyTuple_GET_SIZE(keywords);
  bool ok = od_indices(order, "order must be a list of numbers", &l->order, &l->positions) &&
            complete(l, PyUnicode_AsUTF8(name), initial, is_sampled, PyUnicode_AsUTF8(remark));
  if (!ok) {
    drop(l);
    return NULL;
  }
  l->next = laws;
  laws = l;
  Py_INCREF(name);  // the list of laws refers to both texts
  Py_INCREF(remark);
  Py_RETURN_NONE;
}
