// Tables: named columns with units. The values are a view of the rows in the memory of the library, without a copy.
#include "oleodyn_python.h"

typedef struct table {
  PyObject_HEAD const od_table *table;
  od_table *own;  // a table that was opened, or NULL
  od_job *job;    // the job that owns the table, or NULL
} table;

static void dealloc(PyObject *self) {
  table *t = (table *)self;
  od_table_free(t->own);
  od_job_free(t->job);
  Py_TYPE(self)->tp_free(self);
}

static PyObject *new_table(const od_table *of, od_table *own, od_job *job) {
  table *t = PyObject_New(table, &od_python_table_type);
  if (!t) {
    od_table_free(own);
    od_job_free(job);
    return NULL;
  }
  t->table = of, t->own = own, t->job = job;
  return (PyObject *)t;
}

PyObject *od_table_of_job(od_job *job) {
  return new_table(od_job_table(job), NULL, job);
}

PyObject *od_python_open_table(PyObject *module, PyObject *path) {
  (void)module;
  PyObject *bytes = NULL;
  if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
  od_table *own = NULL;
  od_error err = {0};
  od_status status;
  Py_BEGIN_ALLOW_THREADS status = od_table_open(PyBytes_AS_STRING(bytes), &own, &err);
  Py_END_ALLOW_THREADS Py_DECREF(bytes);
  return status == OD_OK ? new_table(own, own, NULL) : od_raise(status, err.text);
}

static PyObject *texts(const table *t, const char *(*text)(const od_table *, int)) {
  int columns = od_table_columns(t->table);
  PyObject *tuple = PyTuple_New(columns);
  for (int i = 0; tuple && i < columns; i++) {
    const char *of = text(t->table, i);
    PyObject *item = PyUnicode_DecodeUTF8(of, (Py_ssize_t)strlen(of), "replace");
    if (!item) Py_CLEAR(tuple);
    if (item) PyTuple_SET_ITEM(tuple, i, item);
  }
  return tuple;
}
static PyObject *get_names(PyObject *self, void *unused) {
  (void)unused;
  return texts((table *)self, od_table_name);
}
static PyObject *get_units(PyObject *self, void *unused) {
  (void)unused;
  return texts((table *)self, od_table_unit);
}
static PyObject *get_values(PyObject *self, void *unused) {
  (void)unused;
  const od_table *t = ((table *)self)->table;
  int columns = od_table_columns(t);
  return od_view(self, od_table_data(t), od_table_rows(t), columns, columns, false);
}

static PyGetSetDef getters[] = {
    {"names", get_names, NULL, "Names of the columns.", NULL},
    {"units", get_units, NULL, "Units of the columns; '' if the file gives none.", NULL},
    {"values", get_values, NULL, "Rows x columns, a read-only view.", NULL},
    {0},
};

PyTypeObject od_python_table_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "oleodyn._core.Table",
    .tp_basicsize = sizeof(table),
    .tp_dealloc = dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A table in the memory of the library.",
    .tp_getset = getters,
};
