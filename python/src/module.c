// The module oleodyn._core: types and functions.
#define OD_DEFINES_NUMPY
#include "oleodyn_python.h"

static PyMethodDef functions[] = {
    {"run_job", (PyCFunction)(void (*)(void))od_python_run_job, METH_VARARGS | METH_KEYWORDS,
     "run_job($module, kind, files, options, progress=None, /)\n--\n\nRuns a command and returns a dictionary."},
    {"job_kinds", od_python_job_kinds, METH_NOARGS, "job_kinds($module, /)\n--\n\nList of (name, summary)."},
    {"job_options", od_python_job_options, METH_O,
     "job_options($module, kind, /)\n--\n\nList of (name, argument, help, type, values), the names of the files, and explanations."},
    {"open_table", od_python_open_table, METH_O, "open_table($module, path, /)\n--\n\nReads a log."},
    {"rollout", (PyCFunction)(void (*)(void))od_python_rollout, METH_VARARGS | METH_KEYWORDS,
     "rollout(...): many simulations in one call."},
    {"register_law", od_python_register_law, METH_VARARGS,
     "register_law(name, function, names, inputs, states, keywords, order, initial, is_sampled, remark)"},
    {"law_calls", od_law_calls, METH_NOARGS, "law_calls(): number of calls of laws so far."},
    {"law_failure", od_law_failure, METH_NOARGS,
     "law_failure($module, /)\n--\n\nThe first exception of a law since the start of the run, or None."},
    {0},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "oleodyn._core",
                                        .m_doc = "The C library oleodyn.", .m_size = -1, .m_methods = functions};

PyMODINIT_FUNC PyInit__core(void) {
  import_array();
  static const struct {
    const char *name;
    PyTypeObject *type;
  } types[] = {{"Machine", &od_python_machine_type},
               {"Table", &od_python_table_type},
               {"Simulation", &od_python_simulation_type},
               {"Observer", &od_python_observer_type}};
  PyObject *module = PyModule_Create(&definition);
  for (size_t i = 0; module && i < sizeof types / sizeof *types; i++)
    if (PyType_Ready(types[i].type) < 0 || PyModule_AddObjectRef(module, types[i].name, (PyObject *)types[i].type) < 0)
      Py_CLEAR(module);
  if (module && PyModule_AddStringConstant(module, "version", OD_VERSION) < 0) Py_CLEAR(module);
  return module;
}
