// Jobs: the commands of the program. The job runs without the lock of the interpreter, and takes it for messages, progress and
// signals, so that Ctrl-C stops a job.
#include <stdio.h>

#include "oleodyn_python.h"

// A running job and what it has reported.
typedef struct run {
  od_job *job;
  od_released released;
  PyObject *messages;  // list of (kind, text)
  PyObject *places;    // list of messages about files
  PyObject *progress;  // function of the caller, or NULL
  double done;         // completed part, from 0 to 1
} run;

// Take and give up the lock around work with objects.
static void lock(run *r) {
  od_retake(&r->released);
}
static void unlock(run *r) {
  r->released.failed = r->released.failed || PyErr_Occurred();
  r->released.thread = PyEval_SaveThread();
}

static void report_progress(void *user) {
  run *r = user;
  PyObject *answer = PyObject_CallFunction(r->progress, "d", r->done);
  if (answer == Py_False) PyErr_SetNone(PyExc_KeyboardInterrupt);
  Py_XDECREF(answer);
}

static bool on_progress(void *user, double done) {
  run *r = user;
  r->done = done;
  return od_released_check(&r->released, r->progress ? report_progress : NULL, r);
}

static void append(PyObject *list, PyObject *item) {
  if (item) PyList_Append(list, item);
  Py_XDECREF(item);
}

static void on_message(void *user, od_message_kind kind, const char *text) {
  static const char *const names[] = {"error", "warning", "stop", "note"};
  run *r = user;
  lock(r);
  append(r->messages, Py_BuildValue("(ss)", names[kind], text));
  unlock(r);
}

static void on_messages(void *user, const od_messages *messages) {
  run *r = user;
  lock(r);
  PyObject *list = od_messages_list(messages);
  Py_ssize_t end = PyList_GET_SIZE(r->places);
  if (list) PyList_SetSlice(r->places, end, end, list);
  Py_XDECREF(list);
  unlock(r);
}

// ---- settings

static bool add_files(od_job *job, PyObject *files) {
  PyObject *fast = PySequence_Fast(files, "files must be a list of paths");
  bool ok = fast != NULL;
  for (Py_ssize_t i = 0; ok && i < PySequence_Fast_GET_SIZE(fast); i++) {
    PyObject *bytes = NULL;
    ok = PyUnicode_FSConverter(PySequence_Fast_GET_ITEM(fast, i), &bytes);
    if (ok && od_job_add_file(job, PyBytes_AS_STRING(bytes)) != OD_OK) ok = PyErr_NoMemory() != NULL;
    Py_XDECREF(bytes);
  }
  Py_XDECREF(fast);
  return ok;
}

static bool set_options(od_job *job, PyObject *options) {
  PyObject *fast = PySequence_Fast(options, "options must be a list of pairs");
  bool ok = fast != NULL;
  for (Py_ssize_t i = 0; ok && i < PySequence_Fast_GET_SIZE(fast); i++) {
    const char *name, *value;
    od_error err = {0};
    ok = PyArg_ParseTuple(PySequence_Fast_GET_ITEM(fast, i), "sz", &name, &value);
    od_status status = ok ? od_job_set(job, name, value, &err) : OD_OK;
    if (status != OD_OK) {
      od_raise(status == OD_BAD_ARGUMENT ? OD_BAD_INPUT : status, err.text);
      ok = false;
    }
  }
  Py_XDECREF(fast);
  return ok;
}

// ---- the result

static PyObject *text_of(const od_result *result) {
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  if (!to) return PyErr_NoMemory();
  od_result_print(result, to, false);
  if (fclose(to) != 0) length = 0;
  PyObject *object = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
  free(text);
  return object;
}

static PyObject *json_of(const od_result *result) {
  char *text = od_result_json(result);
  if (!text) return PyErr_NoMemory();
  PyObject *object = PyUnicode_FromString(text);
  od_text_free(text);
  return object;
}

static PyObject *remarks_of(const od_result *result) {
  int count = od_result_remark_count(result);
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    const od_result_remark k = od_result_remark_at(result, i);
    PyObject *item = Py_BuildValue("(szzz)", od_trust_text(k.trust), k.code, k.lead, k.text);
    if (!item) Py_CLEAR(list);
    if (item) PyList_SET_ITEM(list, i, item);
  }
  return list;
}

// Returns a dictionary with everything that the job has produced. The table takes over the job.
static PyObject *answer(run *r, od_job_outcome outcome) {
  const od_result *result = od_job_result(r->job);
  PyObject *d = Py_BuildValue("{sisOsO}", "outcome", (int)outcome, "messages", r->messages, "places", r->places);
  if (d && result) {
    PyObject *json = json_of(result), *text = json ? text_of(result) : NULL,
             *remarks = text ? remarks_of(result) : NULL;
    bool ok = remarks && PyDict_SetItemString(d, "json", json) == 0 && PyDict_SetItemString(d, "text", text) == 0 &&
              PyDict_SetItemString(d, "remarks", remarks) == 0;
    PyObject *trust = ok ? PyUnicode_FromString(od_trust_text(od_result_trust(result))) : NULL;
    ok = trust && PyDict_SetItemString(d, "trust", trust) == 0;
    Py_XDECREF(json);
    Py_XDECREF(text);
    Py_XDECREF(remarks);
    Py_XDECREF(trust);
    if (!ok) Py_CLEAR(d);
  }
  if (d && od_job_table(r->job)) {
    PyObject *table = od_table_of_job(r->job);
    r->job = NULL;
    if (!table || PyDict_SetItemString(d, "table", table) != 0) Py_CLEAR(d);
    Py_XDECREF(table);
  }
  return d;
}

PyObject *od_python_run_job(PyObject *module, PyObject *arguments, PyObject *keywords) {
  (void)module;
  static char *words[] = {"kind", "files", "options", "progress", NULL};
  const char *kind;
  PyObject *files, *options, *progress = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sOO|O", words, &kind, &files, &options, &progress))
    return NULL;
  run r = {.job = od_job_new(kind), .progress = progress == Py_None ? NULL : progress};
  if (!r.job) return PyErr_Format(PyExc_ValueError, "there is no command '%s'", kind);
  r.messages = PyList_New(0);
  r.places = PyList_New(0);
  PyObject *d = NULL;
  if (r.messages && r.places && add_files(r.job, files) && set_options(r.job, options)) {
    const od_job_listener listener = {
        .user = &r, .progress = on_progress, .messages = on_messages, .message = on_message};
    od_job_listen(r.job, &listener);
    od_job_keep_table(r.job);
    od_law_forget();
    od_release(&r.released);
    od_job_outcome outcome = od_job_run(r.job);
    if (od_retake(&r.released)) d = answer(&r, outcome);
  }
  od_job_free(r.job);
  Py_XDECREF(r.messages);
  Py_XDECREF(r.places);
  return d;
}

// ---- descriptions

PyObject *od_python_job_kinds(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  int count = od_job_kind_count();
  PyObject *list = PyList_New(count);
  for (int i = 0; list && i < count; i++) {
    PyObject *item = Py_BuildValue("(ss)", od_job_kind_name(i), od_job_kind_summary(i));
    if (!item) Py_CLEAR(list);
    if (item) PyList_SET_ITEM(list, i, item);
  }
  return list;
}

PyObject *od_python_job_options(PyObject *module, PyObject *kind) {
  (void)module;
  static const char *const types[] = {"flag", "text", "list", "optional"};
  const char *name = PyUnicode_AsUTF8(kind);
  od_job *job = name ? od_job_new(name) : NULL;
  if (!job) return name ? PyErr_Format(PyExc_ValueError, "there is no command '%s'", name) : NULL;
  PyObject *list = PyList_New(0);
  for (int i = 0; list && i < od_job_option_count(job); i++) {
    const od_job_option o = od_job_option_at(job, i);
    append(list, Py_BuildValue("(szzsz)", o.name, o.argument, o.help, types[o.type], o.values));
    if (PyErr_Occurred()) Py_CLEAR(list);
  }
  PyObject *all = list ? Py_BuildValue("(Ozz)", list, od_job_arguments(job), od_job_details(job)) : NULL;
  Py_XDECREF(list);
  od_job_free(job);
  return all;
}
