// Statuses and messages of the library as exceptions and warnings. The classes are in oleodyn/errors.py.
#include "oleodyn_python.h"

static PyObject *call(const char *function, const char *format, ...) {
  PyObject *module = PyImport_ImportModule("oleodyn.errors");
  if (!module) return NULL;
  PyObject *callable = PyObject_GetAttrString(module, function), *result = NULL;
  Py_DECREF(module);
  if (!callable) return NULL;
  va_list list;
  va_start(list, format);
  PyObject *arguments = Py_VaBuildValue(format, list);
  va_end(list);
  if (arguments) result = PyObject_CallObject(callable, arguments);
  Py_XDECREF(arguments);
  Py_DECREF(callable);
  return result;
}

PyObject *od_raise(od_status status, const char *text) {
  if (od_law_interrupted()) return NULL;
  if (status == OD_NO_MEMORY) return PyErr_NoMemory();
  if (status == OD_INTERRUPTED) {
    if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    return NULL;
  }
  PyObject *error = call("of_status", "(iss)", (int)status, od_status_text(status), text ? text : "");
  if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_XDECREF(error);
  return NULL;
}

PyObject *od_messages_list(const od_messages *messages) {
  int count = od_messages_count(messages);
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    const od_message *m = od_messages_get(messages, i);
    PyObject *item = Py_BuildValue("(ziisO)", m->file, m->line, m->column, m->text, m->is_warning ? Py_True : Py_False);
    if (item)
      PyList_SET_ITEM(list, i, item);
    else
      Py_CLEAR(list);
  }
  return list;
}

bool od_report_messages(const od_messages *messages) {
  PyObject *list = od_messages_list(messages);
  PyObject *error = list ? call("report", "(O)", list) : NULL;
  Py_XDECREF(list);
  if (!error) return false;
  bool is_error = error != Py_None;
  if (is_error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
  Py_DECREF(error);
  return !is_error;
}
