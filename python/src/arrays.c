// NumPy arrays of doubles.
#include "oleodyn_python.h"

PyArrayObject *od_array(npy_intp rows, npy_intp columns) {
  npy_intp shape[2] = {rows, columns};
  return (PyArrayObject *)PyArray_ZEROS(columns < 0 ? 1 : 2, shape, NPY_DOUBLE, 0);
}

double *od_doubles(PyArrayObject *array) {
  return PyArray_DATA(array);
}

PyObject *od_view(PyObject *owner, const double *data, npy_intp rows, npy_intp columns, npy_intp row_step,
                  bool is_writable) {
  npy_intp shape[2] = {rows, columns}, step[2] = {row_step * (npy_intp)sizeof(double), sizeof(double)};
  int flags = is_writable ? NPY_ARRAY_WRITEABLE : 0;
  PyObject *view =
      PyArray_New(&PyArray_Type, columns < 0 ? 1 : 2, shape, NPY_DOUBLE, step, (void *)data, 0, flags, NULL);
  if (!view) return NULL;
  PyArray_UpdateFlags((PyArrayObject *)view, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED);
  Py_INCREF(owner);
  if (PyArray_SetBaseObject((PyArrayObject *)view, owner) == 0) return view;
  Py_DECREF(view);
  return NULL;
}

PyArrayObject *od_matrix_argument(PyObject *value, const char *name, npy_intp rows, npy_intp columns) {
  int dimensions = columns < 0 ? 1 : 2;
  PyArrayObject *array =
      (PyArrayObject *)PyArray_FROMANY(value, NPY_DOUBLE, dimensions, dimensions, NPY_ARRAY_IN_ARRAY);
  if (!array) return NULL;
  npy_intp *found = PyArray_SHAPE(array);
  if (found[0] == rows && (columns < 0 || found[1] == columns)) return array;
  if (columns < 0)
    PyErr_Format(PyExc_ValueError, "%s has %zd values; expected %zd", name, found[0], rows);
  else
    PyErr_Format(PyExc_ValueError, "%s has the shape (%zd, %zd); expected (%zd, %zd)", name, found[0], found[1], rows,
                 columns);
  Py_DECREF(array);
  return NULL;
}

int od_assign(PyArrayObject *to, PyObject *value, const char *name) {
  if (!value) {
    PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", name);
    return -1;
  }
  npy_intp count = PyArray_SIZE(to);
  double single = PyFloat_Check(value) || PyLong_Check(value) ? PyFloat_AsDouble(value) : 0;
  if (PyErr_Occurred()) return -1;
  if (count == 1 && (PyFloat_Check(value) || PyLong_Check(value))) {
    *od_doubles(to) = single;
    return 0;
  }
  PyArrayObject *from = od_matrix_argument(value, name, count, -1);
  if (!from) return -1;
  memcpy(od_doubles(to), od_doubles(from), (size_t)count * sizeof(double));
  Py_DECREF(from);
  return 0;
}

bool od_indices(PyObject *sequence, const char *name, int **list, int *count) {
  *list = NULL, *count = 0;
  if (!sequence || sequence == Py_None) return true;
  PyObject *items = PySequence_Fast(sequence, name);
  if (!items) return false;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(items);
  *list = PyMem_Calloc((size_t)n + 1, sizeof **list);
  bool ok = *list != NULL;
  if (!ok) PyErr_NoMemory();
  for (Py_ssize_t i = 0; i < n && ok; i++) {
    (*list)[i] = (int)PyLong_AsLong(PySequence_Fast_GET_ITEM(items, i));
    ok = !PyErr_Occurred();
  }
  *count = (int)n;
  Py_DECREF(items);
  return ok;
}
