// The extension module oleodyn._core: what its files share. Objects are thin: each one owns a handle of the public API. Texts,
// names and results are made in Python (python/oleodyn).
//
// Arrays are NumPy arrays of C doubles. An array that an object lends out refers to the memory of this object and keeps the object
// alive, so nothing is copied.
#ifndef OLEODYN_PYTHON_H
#define OLEODYN_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API  NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL oleodyn_numpy
#ifndef OD_DEFINES_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "oleodyn/oleodyn.h"

// ---- Errors (errors.c)

// Raises the exception of a status: MemoryError, KeyboardInterrupt, InputError or SimulationError. Returns NULL.
PyObject *od_raise(od_status status, const char *text);
// Returns a list of tuples (file, line, column, text, is_warning), or NULL with an exception.
PyObject *od_messages_list(const od_messages *messages);
// Warns about the warnings and raises InputError if there are errors. Returns whether there is no error and no exception.
bool od_report_messages(const od_messages *messages);

// ---- Work without the lock of the interpreter (released.c)

// A stretch of C code during which other threads of Python run, and Ctrl-C is noticed.
typedef struct od_released {
  PyThreadState *thread;
  double last;  // time of the last check of signals, s
  bool failed;  // whether an exception is set
} od_released;
// Gives up the lock; od_retake() takes the lock again and returns whether no exception is set.
void od_release(od_released *r);
bool od_retake(od_released *r);
// Returns whether the work may continue. At most every 50 ms this call takes the lock, checks signals and calls `also` with `user` (NULL:
// nothing), which may set an exception.
bool od_released_check(od_released *r, void (*also)(void *user), void *user);

// ---- Arrays (arrays.c)

// Creates an array of zeros. `columns` below 0: a vector.
PyArrayObject *od_array(npy_intp rows, npy_intp columns);
// Returns a view of doubles in the memory of `owner`, with steps between rows and columns in doubles; columns below 0: a vector.
PyObject *od_view(PyObject *owner, const double *data, npy_intp rows, npy_intp columns, npy_intp row_step,
                  bool is_writable);
// Converts an argument to an array of doubles with this shape: one row for each entry of `shape`. NULL with an exception that names the
// argument.
PyArrayObject *od_matrix_argument(PyObject *value, const char *name, npy_intp rows, npy_intp columns);
double *od_doubles(PyArrayObject *array);
// Copies a value that the caller assigns to an attribute ("u", "y") to the array of this attribute. Returns 0, or -1 with an exception.
int od_assign(PyArrayObject *to, PyObject *value, const char *name);
// Copies the integers of a sequence. Returns false with an exception. Free *list with PyMem_Free().
bool od_indices(PyObject *sequence, const char *name, int **list, int *count);

// ---- Types

extern PyTypeObject od_python_machine_type, od_python_table_type, od_python_simulation_type, od_python_observer_type;
// Returns the machine of a Machine object, or NULL with an exception.
const od_machine *od_machine_of(PyObject *object);
// Returns a Table object for the table of a job. The object takes over the job, also on failure.
PyObject *od_table_of_job(od_job *job);

// The plant of an object with chosen outputs and parameters, and the values of its inputs.
typedef struct od_python_plant {
  PyObject *machine;
  od_plant *plant;
  PyArrayObject *u;  // inputs
  int *parameter;    // numbers of the machine that are free parameters
} od_python_plant;
// Creates the plant. Returns false with an exception.
bool od_python_plant_make(od_python_plant *p, PyObject *machine, PyObject *outputs, PyObject *parameters);
void od_python_plant_clear(od_python_plant *p);
// Checks `rows` rows of free parameters against their possible ranges. Returns false with an exception that names the first wrong number.
bool od_python_parameters_check(const od_python_plant *p, const double *values, long rows);
// Sets the inputs to the values of the machine file at time t.
void od_python_plant_file_inputs(const od_python_plant *p, double t);
// Returns the integrator with this name (NULL: the first one), or NULL with an exception.
const od_integrator *od_integrator_argument(const char *name);

// ---- Laws in Python (law.c)

// If a law was interrupted by Ctrl-C or sys.exit(), sets this exception and returns true.
bool od_law_interrupted(void);
// Forgets the exception of a law that failed, at the start of a run.
void od_law_forget(void);

// ---- Functions of the module

PyObject *od_python_register_law(PyObject *module, PyObject *arguments);
// Returns the number of calls of laws so far.
PyObject *od_law_calls(PyObject *module, PyObject *none);
// Returns the first exception that a law raised since the start of the run, or None.
PyObject *od_law_failure(PyObject *module, PyObject *none);

PyObject *od_python_run_job(PyObject *module, PyObject *arguments, PyObject *keywords);
PyObject *od_python_job_kinds(PyObject *module, PyObject *none);
PyObject *od_python_job_options(PyObject *module, PyObject *kind);
PyObject *od_python_open_table(PyObject *module, PyObject *path);
PyObject *od_python_rollout(PyObject *module, PyObject *arguments, PyObject *keywords);

#endif
