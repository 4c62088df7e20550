// A driver of FMUs: runs each given FMU and compares its outputs with the rows of `oleodyn simulate`, to the bit. Oracle: the program itself,
// whose run has no part of FMI.
//
//   drive [--some] VERSION LIBRARY TOKEN TOLERANCE ROWS.csv FIRST [VERSION LIBRARY ...]
//   drive --refuse VERSION LIBRARY TOKEN TOLERANCE ROWS.csv FIRST
//   drive --exchange VERSION LIBRARY TOKEN INPUTS STATES FIRST_STATE ROWS.csv FIRST PARAMETERS
//   drive --observer VERSION LIBRARY TOKEN INPUTS SENSORS OUTPUTS PARAMETERS ROWS.csv
//
// FIRST is the value reference of the first output; the outputs follow in the order of the columns. Prints the number of compared values.
//
// Without option, all FMUs are interleaved, each with three instances: one is a row behind the first, one begins in the middle of the run
// with a saved and serialized state. At the end the first instance returns to the saved state. --some: at most 400 rows.
//
// --refuse: calls in the wrong order and with wrong arguments fail with an error and a message, and the instance can be reset afterward.
// --exchange: a machine is integrated by a Runge-Kutta rule with events, which gives the rows within 1e-5 of their range (with inputs and
// kinks within steps: 1e-3); directional derivatives of derivatives and outputs, along states, inputs and tunable parameters, are the
// difference quotients of their values.
// --observer: an observer gets the samples of the rows of `oleodyn observe` and estimates the same, apart from the round-off of times; a
// second instance continues from a saved state with the same bits.
//
// Compiled for Windows, the driver runs the binaries for Windows. Outputs then differ by at most 1e-12 of their largest value, because another
// C library computes the functions of mathematics.
#define _GNU_SOURCE
#if defined _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FMI2_TYPES_ONLY
#define FMI3_TYPES_ONLY
#include "export/files/fmi/fmi2.h"
#include "export/files/fmi/fmi3.h"

enum { MOST_UNITS = 4, INSTANCES = 3, SOME_ROWS = 400, REPEATED_ROWS = 20 };

typedef struct unit {
  int version;
  const char *token;
  double tolerance;
  uint32_t first;
  struct {
#define MEMBER2(name) fmi2##name##TYPE *name;
    FMI2_FUNCTIONS(MEMBER2)
  } f2;
  struct {
#define MEMBER3(name) fmi3##name##TYPE *name;
    FMI3_FUNCTIONS(MEMBER3)
  } f3;
  double *row;   // rows x (1 + outputs)
  double *size;  // largest value of each output
  long rows, outputs;
  double end;  // time of the last row, s
  void *instance[INSTANCES];
} unit;

static long compared, messages;
static bool expects_messages;

static _Noreturn void stop(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(1);
}

// ---- the system

#if defined _WIN32
static const double limit = 1e-12;
#define dlopen(path, flags)  ((void *)LoadLibraryA(path))
#define dlsym(library, name) ((void *)(intptr_t)GetProcAddress((HMODULE)library, name))
#define dlerror()            "the library cannot be loaded"

// Reads a line of at most 100000 bytes.
static long getline(char **line, size_t *size, FILE *file) {
  *size = 100000;
  if (!*line) *line = malloc(*size);
  return *line && fgets(*line, (int)*size, file) ? (long)strlen(*line) : -1;
}
#else
static const double limit = 0;
#endif

// ---- callbacks

static void write_log2(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                       fmi2String message, ...) {
  (void)environment, (void)status, (void)category;
  messages++;
  if (expects_messages) return;
  va_list list;
  va_start(list, message);
  fprintf(stderr, "%s: ", name);
  vfprintf(stderr, message, list);
  fputc('\n', stderr);
  va_end(list);
}
static void write_log3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                       fmi3String message) {
  (void)environment, (void)status, (void)category;
  messages++;
  if (!expects_messages) fprintf(stderr, "%s\n", message);
}
static const fmi2CallbackFunctions callbacks = {write_log2, calloc, free, NULL, NULL};

// ---- both versions

static void check(int status, const char *what) {
  if (status != 0) stop("%s: status %d", what, status);
}

static void load(unit *u, const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) stop("%s", dlerror());
#define FIND2(name)                                     \
  *(void **)&u->f2.name = dlsym(library, "fmi2" #name); \
  if (u->version == 2 && !u->f2.name) stop("%s has no function fmi2" #name, path);
#define FIND3(name)                                     \
  *(void **)&u->f3.name = dlsym(library, "fmi3" #name); \
  if (u->version == 3 && !u->f3.name) stop("%s has no function fmi3" #name, path);
  FMI2_FUNCTIONS(FIND2)
  FMI3_FUNCTIONS(FIND3)
}

// Creates an instance and initializes it.
static void *begin(unit *u) {
  if (u->version == 2) {
    fmi2Component c = u->f2.Instantiate("it", fmi2CoSimulation, u->token, NULL, &callbacks, fmi2False, fmi2True);
    if (!c) stop("there is no instance");
    check(u->f2.SetupExperiment(c, u->tolerance > 0, u->tolerance, 0, fmi2True, u->end), "SetupExperiment");
    check(u->f2.EnterInitializationMode(c), "EnterInitializationMode");
    check(u->f2.ExitInitializationMode(c), "ExitInitializationMode");
    return c;
  }
  fmi3Instance i =
      u->f3.InstantiateCoSimulation("it", u->token, NULL, false, true, false, false, NULL, 0, NULL, write_log3, NULL);
  if (!i) stop("there is no instance");
  check(u->f3.EnterInitializationMode(i, u->tolerance > 0, u->tolerance, 0, true, u->end), "EnterInitializationMode");
  check(u->f3.ExitInitializationMode(i), "ExitInitializationMode");
  return i;
}

static void step(unit *u, void *i, double t, double h) {
  bool event = false, ends = false, early = false;
  double last = 0;
  check(u->version == 2 ? (int)u->f2.DoStep(i, t, h, fmi2True)
                        : (int)u->f3.DoStep(i, t, h, true, &event, &ends, &early, &last),
        "DoStep");
  if (event || ends || early) stop("the step ended early");
}

static void get(unit *u, void *i, const uint32_t *vr, size_t count, double *y) {
  check(u->version == 2 ? (int)u->f2.GetReal(i, vr, count, y) : (int)u->f3.GetFloat64(i, vr, count, y, count), "get");
}

// Saves the state of one instance and restores another with its bytes.
static void copy_state(unit *u, void *from, void *to) {
  void *state = NULL, *read = NULL;
  size_t size = 0;
  if (u->version == 2) {
    check(u->f2.GetFMUstate(from, &state), "GetFMUstate");
    check(u->f2.SerializedFMUstateSize(from, state, &size), "SerializedFMUstateSize");
    char *bytes = malloc(size);
    check(u->f2.SerializeFMUstate(from, state, bytes, size), "SerializeFMUstate");
    check(u->f2.FreeFMUstate(from, &state), "FreeFMUstate");
    check(u->f2.DeSerializeFMUstate(to, bytes, size, &read), "DeSerializeFMUstate");
    check(u->f2.SetFMUstate(to, read), "SetFMUstate");
    check(u->f2.FreeFMUstate(to, &read), "FreeFMUstate");
    free(bytes);
  } else {
    check(u->f3.GetFMUState(from, &state), "GetFMUState");
    check(u->f3.SerializedFMUStateSize(from, state, &size), "SerializedFMUStateSize");
    uint8_t *bytes = malloc(size);
    check(u->f3.SerializeFMUState(from, state, bytes, size), "SerializeFMUState");
    check(u->f3.FreeFMUState(from, &state), "FreeFMUState");
    check(u->f3.DeserializeFMUState(to, bytes, size, &read), "DeserializeFMUState");
    check(u->f3.SetFMUState(to, read), "SetFMUState");
    check(u->f3.FreeFMUState(to, &read), "FreeFMUState");
    free(bytes);
  }
  if (state || read) stop("a freed state is not NULL");
}

static void end(unit *u, void *i) {
  check(u->version == 2 ? (int)u->f2.Terminate(i) : (int)u->f3.Terminate(i), "Terminate");
  if (u->version == 2)
    u->f2.FreeInstance(i);
  else
    u->f3.FreeInstance(i);
}

// ---- rows

static void read_rows(unit *u, const char *path, bool some) {
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t size = 0;
  if (!file || getline(&line, &size, file) < 0) stop("%s cannot be read", path);
  for (const char *c = line; *c; c++) u->outputs += *c == ',';
  long columns = 1 + u->outputs;
  while (getline(&line, &size, file) > 0) {
    u->end = strtod(line, NULL);
    if (some && u->rows == SOME_ROWS) continue;
    u->row = realloc(u->row, (size_t)((u->rows + 1) * columns) * sizeof *u->row);
    char *at = line;
    for (long k = 0; k < columns; k++, at += *at == ',') u->row[u->rows * columns + k] = strtod(at, &at);
    u->size = u->size ? u->size : calloc((size_t)columns, sizeof *u->size);
    for (long k = 0; k < u->outputs; k++) u->size[k] = fmax(u->size[k], fabs(u->row[u->rows * columns + 1 + k]));
    u->rows++;
  }
  free(line);
  fclose(file);
}

// Compares the outputs of an instance with a row.
static void compare(unit *u, void *i, long row) {
  const double *wanted = u->row + row * (1 + u->outputs);
  double *y = malloc((size_t)(u->outputs + 1) * sizeof *y);
  uint32_t *vr = malloc((size_t)(u->outputs + 1) * sizeof *vr);
  for (long k = 0; k < u->outputs; k++) vr[k] = u->first + (uint32_t)k;
  get(u, i, vr, (size_t)u->outputs, y);
  for (long k = 0; k < u->outputs; k++, compared++)
    if (memcmp(&y[k], &wanted[1 + k], sizeof *y) != 0 && !(fabs(y[k] - wanted[1 + k]) <= limit * u->size[k]))
      stop("FMI %d: output %ld in row %ld (%.17g s): %.17g, expected %.17g", u->version, k, row, wanted[0], y[k],
           wanted[1 + k]);
  free(y);
  free(vr);
}

// Steps to a row and compares.
static void advance(unit *u, void *i, long row) {
  long columns = 1 + u->outputs;
  double t = u->row[(row - 1) * columns];
  step(u, i, t, u->row[row * columns] - t);
  compare(u, i, row);
}

// Takes one row of all instances of a unit. Instance 1 is a row behind; instance 2 begins in the middle.
static void advance_all(unit *u, long row) {
  if (row < u->rows) advance(u, u->instance[0], row);
  if (row > 1 && row <= u->rows) advance(u, u->instance[1], row - 1);
  if (row > u->rows / 2 && row < u->rows) advance(u, u->instance[2], row);
  if (row == u->rows / 2) copy_state(u, u->instance[0], u->instance[2]);
}

// ---- refusals

// Checks that a call failed with an error and a message.
static void refused(int status, const char *what) {
  if (status != fmi2Error) stop("%s: status %d, expected an error", what, status);
  if (messages == 0) stop("%s: no message", what);
  messages = 0;
}

static void refuse_2(unit *u) {
  const double end = u->end, h = u->row[1 + u->outputs], nan = strtod("nan", NULL);
  const uint32_t output = u->first, unknown = 1000000;
  double value = 0;
  int number = 0;
  fmi2EventInfo info;
  fmi2Boolean flag;
  if (u->f2.Instantiate("it", fmi2CoSimulation, "wrong", NULL, &callbacks, 0, 0)) stop("a wrong token is accepted");
  refused(fmi2Error, "token");
  if (u->f2.Instantiate("", fmi2CoSimulation, u->token, NULL, &callbacks, 0, 0)) stop("no name is accepted");
  if (u->f2.Instantiate("it", fmi2CoSimulation, u->token, NULL, NULL, 0, 0) == NULL) stop("callbacks are optional");
  fmi2Component c = u->f2.Instantiate("it", fmi2CoSimulation, u->token, NULL, &callbacks, 0, 0);
  messages = 0;
  refused(u->f2.DoStep(c, 0, h, 1), "step before the start");
  refused(u->f2.GetReal(c, &output, 1, &value), "get before the start");
  refused(u->f2.ExitInitializationMode(c), "exit before enter");
  refused(u->f2.Terminate(c), "terminate before the start");
  refused(u->f2.SetupExperiment(c, 0, 0, nan, 0, 0), "start time");
  check(u->f2.SetupExperiment(c, 0, 0, 0, 1, end), "setup");
  check(u->f2.EnterInitializationMode(c), "enter");
  refused(u->f2.SetupExperiment(c, 0, 0, 0, 1, end), "setup again");
  refused(u->f2.EnterInitializationMode(c), "enter again");
  check(u->f2.ExitInitializationMode(c), "exit");
  refused(u->f2.DoStep(c, h, h, 1), "step from another time");
  refused(u->f2.DoStep(c, 0, -h, 1), "step backward");
  refused(u->f2.DoStep(c, 0, 0, 1), "step of length 0");
  refused(u->f2.DoStep(c, 0, 2 * end, 1), "step beyond the stop time");
  refused(u->f2.GetReal(c, &unknown, 1, &value), "unknown variable");
  refused(u->f2.GetInteger(c, &output, 1, &number), "variable of another type");
  refused(u->f2.SetReal(c, &output, 1, &value), "output is set");
  refused(u->f2.SetReal(c, &(uint32_t){1}, 1, &nan), "not a number");
  refused(u->f2.EnterEventMode(c), "event mode");
  refused(u->f2.NewDiscreteStates(c, &info), "discrete states");
  refused(u->f2.CompletedIntegratorStep(c, 1, &flag, &flag), "completed step");
  refused(u->f2.CancelStep(c), "cancel");
  refused(u->f2.SetFMUstate(c, NULL), "no state");
  void *state = NULL;
  char bytes[64] = {0};
  refused(u->f2.DeSerializeFMUstate(c, bytes, sizeof bytes, &state), "damaged state");
  compare(u, c, 0);
  advance(u, c, 1);
  check(u->f2.Terminate(c), "terminate");
  refused(u->f2.DoStep(c, h, h, 1), "step after the end");
  check(u->f2.Reset(c), "reset");
  check(u->f2.SetupExperiment(c, u->tolerance > 0, u->tolerance, 0, 1, end), "setup");
  check(u->f2.EnterInitializationMode(c), "enter");
  check(u->f2.ExitInitializationMode(c), "exit");
  for (long row = 1; row < 10; row++) advance(u, c, row);
  check(u->f2.Terminate(c), "terminate");
  u->f2.FreeInstance(c);
  if (strcmp(u->f2.GetVersion(), "2.0") != 0 || strcmp(u->f2.GetTypesPlatform(), "default") != 0) stop("version");
}

static void refuse_3(unit *u) {
  const double end = u->end, h = u->row[1 + u->outputs], nan = strtod("nan", NULL);
  const uint32_t output = u->first, unknown = 1000000;
  double value = 0, last = 0;
  int32_t number = 0;
  bool e, t, r;
  if (u->f3.InstantiateCoSimulation("it", "wrong", NULL, 0, 0, 0, 0, NULL, 0, NULL, write_log3, NULL))
    stop("a wrong token is accepted");
  refused(fmi3Error, "token");
  if (u->f3.InstantiateCoSimulation("it", u->token, NULL, 0, 0, true, 0, NULL, 0, NULL, write_log3, NULL))
    stop("event mode is accepted");
  refused(fmi3Error, "event mode");
  if (u->f3.InstantiateScheduledExecution("it", u->token, NULL, 0, 0, NULL, write_log3, NULL, NULL, NULL))
    stop("scheduled execution is accepted");
  fmi3Instance i = u->f3.InstantiateCoSimulation("it", u->token, NULL, 0, 0, 0, 0, NULL, 0, NULL, write_log3, NULL);
  messages = 0;
  refused(u->f3.DoStep(i, 0, h, 1, &e, &t, &r, &last), "step before the start");
  refused(u->f3.ExitInitializationMode(i), "exit before enter");
  refused(u->f3.Terminate(i), "terminate before the start");
  check(u->f3.EnterInitializationMode(i, 0, 0, 0, 1, end), "enter");
  refused(u->f3.EnterInitializationMode(i, 0, 0, 0, 1, end), "enter again");
  check(u->f3.ExitInitializationMode(i), "exit");
  refused(u->f3.DoStep(i, h, h, 1, &e, &t, &r, &last), "step from another time");
  refused(u->f3.DoStep(i, 0, -h, 1, &e, &t, &r, &last), "step backward");
  refused(u->f3.DoStep(i, 0, 2 * end, 1, &e, &t, &r, &last), "step beyond the stop time");
  refused(u->f3.GetFloat64(i, &unknown, 1, &value, 1), "unknown variable");
  refused(u->f3.GetInt32(i, &output, 1, &number, 1), "variable of another type");
  refused(u->f3.SetFloat64(i, &output, 1, &value, 1), "output is set");
  refused(u->f3.SetFloat64(i, &(uint32_t){1}, 1, &nan, 1), "not a number");
  refused(u->f3.EnterEventMode(i), "event mode");
  refused(u->f3.EnterConfigurationMode(i), "configuration mode");
  refused(u->f3.SetFMUState(i, NULL), "no state");
  void *state = NULL;
  uint8_t bytes[64] = {0};
  refused(u->f3.DeserializeFMUState(i, bytes, sizeof bytes, &state), "damaged state");
  compare(u, i, 0);
  advance(u, i, 1);
  check(u->f3.Terminate(i), "terminate");
  refused(u->f3.DoStep(i, h, h, 1, &e, &t, &r, &last), "step after the end");
  check(u->f3.Reset(i), "reset");
  check(u->f3.EnterInitializationMode(i, u->tolerance > 0, u->tolerance, 0, 1, end), "enter");
  check(u->f3.ExitInitializationMode(i), "exit");
  for (long row = 1; row < 10; row++) advance(u, i, row);
  check(u->f3.Terminate(i), "terminate");
  u->f3.FreeInstance(i);
  if (strcmp(u->f3.GetVersion(), "3.0") != 0) stop("version");
}

// ---- observers

enum { OBSERVED_ROWS = 600, MOST_COLUMNS = 200 };

typedef struct observer_rows {
  int inputs, sensors, outputs, parameters;
  int nis, input;                           // columns
  double row[OBSERVED_ROWS][MOST_COLUMNS];  // NAN: no value
  int rows;
} observer_rows;

// Reads a row; empty fields are NAN.
static int read_fields(char *line, double *value) {
  int count = 0;
  for (char *at = line; *at && *at != '\n' && count < MOST_COLUMNS; at += *at == ',') {
    char *after = at;
    value[count++] = *at == ',' ? NAN : strtod(at, &after);
    at = after;
  }
  return count;
}

static void read_observer(observer_rows *o, const char *path) {
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t size = 0;
  if (!file || getline(&line, &size, file) < 0) stop("%s cannot be read", path);
  int column = 0;
  o->nis = o->input = -1;
  for (char *at = strtok(line, ","); at; at = strtok(NULL, ","), column++) {
    if (strcmp(at, "nis") == 0) o->nis = column;
    if (strncmp(at, "input.", 6) == 0 && o->input < 0) o->input = column;
  }
  if (o->nis < 0 || (o->inputs && o->input < 0)) stop("%s: no nis or no inputs", path);
  while (o->rows < OBSERVED_ROWS && getline(&line, &size, file) > 0)
    if (read_fields(line, o->row[o->rows++]) < o->nis) stop("%s: short row", path);
  free(line);
  fclose(file);
}

// Sets inputs, values and validity of a row.
static void set_sample(unit *u, void *i, const observer_rows *o, const double *row) {
  for (int k = 0; k < o->inputs; k++) {
    const uint32_t vr = 1 + (uint32_t)k;
    const double value = row[o->input + k];
    check(u->version == 2 ? (int)u->f2.SetReal(i, &vr, 1, &value) : (int)u->f3.SetFloat64(i, &vr, 1, &value, 1),
          "input");
  }
  for (int k = 0; k < o->sensors; k++) {
    const uint32_t vr = 1 + (uint32_t)(o->inputs + k), of_valid = vr + (uint32_t)o->sensors;
    const bool is_valid = !isnan(row[1 + k]);
    const int number = is_valid;
    const double value = is_valid ? row[1 + k] : 0;
    check(u->version == 2 ? (int)u->f2.SetReal(i, &vr, 1, &value) : (int)u->f3.SetFloat64(i, &vr, 1, &value, 1),
          "sensor");
    check(u->version == 2 ? (int)u->f2.SetBoolean(i, &of_valid, 1, &number)
                          : (int)u->f3.SetBoolean(i, &of_valid, 1, &is_valid, 1),
          "validity");
  }
}

static void expect(double value, double wanted, double slack, const char *what, int index, int row) {
  compared++;
  if (!(fabs(value - wanted) <= slack)) stop("%s %d in row %d: %.17g, expected %.17g", what, index, row, value, wanted);
}

static void compare_estimates(unit *u, void *i, const observer_rows *o, int row) {
  const double *wanted = o->row[row] + 1 + o->sensors;
  uint32_t vr = 1 + (uint32_t)(o->inputs + 2 * o->sensors);
  double value[MOST_COLUMNS];
  uint32_t list[MOST_COLUMNS];
  size_t count = 2 * (size_t)(o->outputs + o->parameters) + 1;
  for (size_t k = 0; k < count; k++) list[k] = vr + (uint32_t)k;
  get(u, i, list, count, value);
  for (int k = 0; k < o->outputs; k++) {
    expect(value[k], wanted[4 * k], 1e-9 * wanted[4 * k + 1], "estimate", k, row);
    expect(value[o->outputs + k], wanted[4 * k + 1], 1e-9 * wanted[4 * k + 1], "sigma", k, row);
  }
  for (int k = 0; k < o->parameters; k++) {
    const double *p = wanted + 4 * o->outputs + 2 * k, *at = value + 2 * o->outputs + k;
    expect(at[0], p[0], 1e-9 * p[1], "parameter", k, row);
    expect(at[o->parameters], p[1], 1e-9 * p[1], "sigma of parameter", k, row);
  }
  double nis = isnan(o->row[row][o->nis]) ? 0 : o->row[row][o->nis];
  expect(value[count - 1], nis, 1e-6 * (1 + nis), "nis", 0, row);
  const uint32_t of_status = vr + (uint32_t)count + 1;
  int status = -1;
  check(u->version == 2 ? (int)u->f2.GetInteger(i, &of_status, 1, &status)
                        : (int)u->f3.GetInt32(i, &of_status, 1, &status, 1),
        "status");
  expect(status, 0, 0, "status", 0, row);
}

static void *begin_observer(unit *u, const observer_rows *o) {
  if (u->version == 2) {
    fmi2Component c = u->f2.Instantiate("it", fmi2CoSimulation, u->token, NULL, &callbacks, 0, 0);
    if (!c) stop("there is no instance");
    check(u->f2.SetupExperiment(c, 0, 0, 0, 0, 0), "SetupExperiment");
    check(u->f2.EnterInitializationMode(c), "EnterInitializationMode");
    set_sample(u, c, o, o->row[0]);
    check(u->f2.ExitInitializationMode(c), "ExitInitializationMode");
    return c;
  }
  fmi3Instance i = u->f3.InstantiateCoSimulation("it", u->token, NULL, 0, 0, 0, 0, NULL, 0, NULL, write_log3, NULL);
  if (!i) stop("there is no instance");
  check(u->f3.EnterInitializationMode(i, 0, 0, 0, 0, 0), "EnterInitializationMode");
  set_sample(u, i, o, o->row[0]);
  check(u->f3.ExitInitializationMode(i), "ExitInitializationMode");
  return i;
}

static void drive_observer(unit *u, char **argument) {
  static observer_rows o;
  o.inputs = atoi(argument[0]), o.sensors = atoi(argument[1]), o.outputs = atoi(argument[2]),
  o.parameters = atoi(argument[3]);
  read_observer(&o, argument[4]);
  void *first = begin_observer(u, &o), *second = begin_observer(u, &o);
  compare_estimates(u, first, &o, 0);
  for (int row = 1; row < o.rows; row++) {
    double t = o.row[row - 1][0], h = o.row[row][0] - t;
    set_sample(u, first, &o, o.row[row]);
    step(u, first, t, h);
    compare_estimates(u, first, &o, row);
    if (row == o.rows / 2) copy_state(u, first, second);
    if (row <= o.rows / 2) continue;
    set_sample(u, second, &o, o.row[row]);
    step(u, second, t, h);
    const uint32_t vr = 1 + (uint32_t)(o.inputs + 2 * o.sensors);
    double a = 0, b = 1;
    get(u, first, &vr, 1, &a);
    get(u, second, &vr, 1, &b);
    if (memcmp(&a, &b, sizeof a) != 0) stop("the restored observer differs in row %d", row);
  }
  end(u, first);
  end(u, second);
  printf("%ld values\n", compared);
}

// ---- model exchange

enum { MOST_STATES = 100, MOST_OUTPUTS = 100, MOST_UNKNOWNS = 200, PARTS = 20, EXCHANGED_ROWS = 220 };

typedef struct exchanged {
  unit *u;
  void *i;
  size_t states, inputs, parameters;
  uint32_t first_state;
} exchanged;

static void set_point(const exchanged *e, double t, const double *x) {
  unit *u = e->u;
  check(u->version == 2 ? (int)u->f2.SetTime(e->i, t) : (int)u->f3.SetTime(e->i, t), "SetTime");
  check(u->version == 2 ? (int)u->f2.SetContinuousStates(e->i, x, e->states)
                        : (int)u->f3.SetContinuousStates(e->i, x, e->states),
        "SetContinuousStates");
}
static void derivatives(const exchanged *e, double t, const double *x, double *dx) {
  unit *u = e->u;
  set_point(e, t, x);
  check(u->version == 2 ? (int)u->f2.GetDerivatives(e->i, dx, e->states)
                        : (int)u->f3.GetContinuousStateDerivatives(e->i, dx, e->states),
        "derivatives");
}
static void states(const exchanged *e, double *x) {
  unit *u = e->u;
  check(u->version == 2 ? (int)u->f2.GetContinuousStates(e->i, x, e->states)
                        : (int)u->f3.GetContinuousStates(e->i, x, e->states),
        "states");
}

// Handles an event; continuous time follows. Returns the time of the next event.
static double event(const exchanged *e) {
  unit *u = e->u;
  bool again = true, ends, nominals, moved, has_next = false;
  double next = 0;
  for (int k = 0; again && k < 10; k++) {
    if (u->version == 3) {
      check(u->f3.UpdateDiscreteStates(e->i, &again, &ends, &nominals, &moved, &has_next, &next),
            "UpdateDiscreteStates");
    } else {
      fmi2EventInfo info;
      check(u->f2.NewDiscreteStates(e->i, &info), "NewDiscreteStates");
      again = info.newDiscreteStatesNeeded, has_next = info.nextEventTimeDefined, next = info.nextEventTime;
    }
  }
  check(u->version == 2 ? (int)u->f2.EnterContinuousTimeMode(e->i) : (int)u->f3.EnterContinuousTimeMode(e->i),
        "EnterContinuousTimeMode");
  return has_next ? next : INFINITY;
}
static void enter_event(const exchanged *e) {
  unit *u = e->u;
  check(u->version == 2 ? (int)u->f2.EnterEventMode(e->i) : (int)u->f3.EnterEventMode(e->i), "EnterEventMode");
}

// Takes a step of the classical Runge-Kutta rule.
static void runge_kutta(const exchanged *e, double t, double h, double *x) {
  static const double at[] = {0, 0.5, 0.5, 1}, weight[] = {1, 2, 2, 1};
  double k[4][MOST_STATES], point[MOST_STATES], sum[MOST_STATES] = {0};
  for (int stage = 0; stage < 4; stage++) {
    for (size_t i = 0; i < e->states; i++) point[i] = x[i] + (stage ? at[stage] * h * k[stage - 1][i] : 0);
    derivatives(e, t + at[stage] * h, point, k[stage]);
    for (size_t i = 0; i < e->states; i++) sum[i] += weight[stage] * k[stage][i];
  }
  for (size_t i = 0; i < e->states; i++) x[i] += h / 6 * sum[i];
  set_point(e, t + h, x);
  fmi2Boolean wanted = 0, ends = 0;
  bool wants = false, stops = false;
  if (e->u->version == 2)
    check(e->u->f2.CompletedIntegratorStep(e->i, 1, &wanted, &ends), "CompletedIntegratorStep");
  else
    check(e->u->f3.CompletedIntegratorStep(e->i, true, &wants, &stops), "CompletedIntegratorStep");
  if (!wanted && !wants) return;
  enter_event(e);
  event(e);
  states(e, x);
}

// Computes all derivatives and outputs at a point, with another value of a variable (0: none).
static void values(const exchanged *e, double t, const double *x, uint32_t moved, double value, double *all) {
  unit *u = e->u;
  uint32_t vr[MOST_OUTPUTS];
  if (moved)
    check(u->version == 2 ? (int)u->f2.SetReal(e->i, &moved, 1, &value)
                          : (int)u->f3.SetFloat64(e->i, &moved, 1, &value, 1),
          "set");
  derivatives(e, t, x, all);
  for (long k = 0; k < u->outputs; k++) vr[k] = u->first + (uint32_t)k;
  get(u, e->i, vr, (size_t)u->outputs, all + e->states);
}

// Compares the directional derivatives of all derivatives and outputs along one variable with difference quotients of the values.
static void compare_slope(const exchanged *e, double t, const double *x, uint32_t by, long state, double now) {
  unit *u = e->u;
  double all[MOST_UNKNOWNS], low[MOST_UNKNOWNS], high[MOST_UNKNOWNS], slope[MOST_UNKNOWNS], point[MOST_STATES];
  uint32_t of[MOST_UNKNOWNS];
  const size_t count = e->states + (size_t)u->outputs;
  const double seed = 2, h = 1e-6 * (fabs(now) + (state < 0 ? 0 : 1e-3)), ends[2] = {now + h, now - h};
  double *side[2] = {high, low};
  for (size_t i = 0; i < count; i++)
    of[i] = i < e->states ? e->first_state + (uint32_t)(e->states + i) : u->first + (uint32_t)(i - e->states);
  for (int k = 0; k < 2; k++) {
    memcpy(point, x, e->states * sizeof *point);
    if (state >= 0) point[state] = ends[k];
    values(e, t, point, state < 0 ? by : 0, ends[k], side[k]);
  }
  values(e, t, x, state < 0 ? by : 0, now, all);
  check(u->version == 2 ? (int)u->f2.GetDirectionalDerivative(e->i, of, count, &by, 1, &seed, slope)
                        : (int)u->f3.GetDirectionalDerivative(e->i, of, count, &by, 1, &seed, 1, slope, count),
        "GetDirectionalDerivative");
  for (size_t i = 0; i < count; i++) {
    double wanted = seed * (high[i] - low[i]) / (2 * h), noise = 1e-11 * fabs(all[i]) / h;
    expect(slope[i], wanted, 1e-4 * fabs(wanted) + noise + 1e-6, "slope", (int)i, (int)by);
  }
}

// Compares slopes along each state, input and tunable parameter that is not zero. The inputs follow their signals again afterward.
static void compare_slopes(const exchanged *e, double t, const double *x) {
  unit *u = e->u;
  void *state = NULL;
  check(u->version == 2 ? (int)u->f2.GetFMUstate(e->i, &state) : (int)u->f3.GetFMUState(e->i, &state), "GetFMUState");
  for (size_t k = 0; k < e->states; k++) compare_slope(e, t, x, e->first_state + (uint32_t)k, (long)k, x[k]);
  for (size_t k = 0; k < e->inputs + e->parameters; k++) {
    const uint32_t by = k < e->inputs ? 1 + (uint32_t)k : u->first + (uint32_t)((size_t)u->outputs + k - e->inputs);
    double now;
    get(u, e->i, &by, 1, &now);
    if (now != 0) compare_slope(e, t, x, by, -1, now);
  }
  check(u->version == 2 ? (int)u->f2.SetFMUstate(e->i, state) : (int)u->f3.SetFMUState(e->i, state), "SetFMUState");
  check(u->version == 2 ? (int)u->f2.FreeFMUstate(e->i, &state) : (int)u->f3.FreeFMUState(e->i, &state),
        "FreeFMUState");
}

static void drive_exchange(unit *u, char **argument) {
  exchanged e = {.u = u, .inputs = (size_t)atoi(argument[0]), .states = (size_t)atoi(argument[1])};
  e.first_state = (uint32_t)strtoul(argument[2], NULL, 10);
  read_rows(u, argument[3], false);
  u->first = (uint32_t)strtoul(argument[4], NULL, 10);
  e.parameters = (size_t)atoi(argument[5]);
  if (u->version == 2) {
    e.i = u->f2.Instantiate("it", fmi2ModelExchange, u->token, NULL, &callbacks, 0, 0);
    if (!e.i) stop("there is no instance");
    check(u->f2.SetupExperiment(e.i, 0, 0, 0, 0, 0), "SetupExperiment");
    check(u->f2.EnterInitializationMode(e.i), "EnterInitializationMode");
    check(u->f2.ExitInitializationMode(e.i), "ExitInitializationMode");
  } else {
    e.i = u->f3.InstantiateModelExchange("it", u->token, NULL, 0, 0, NULL, write_log3);
    if (!e.i) stop("there is no instance");
    check(u->f3.EnterInitializationMode(e.i, 0, 0, 0, 0, 0), "EnterInitializationMode");
    check(u->f3.ExitInitializationMode(e.i), "ExitInitializationMode");
  }
  double next = event(&e), x[MOST_STATES], nominal[MOST_STATES], span[MOST_COLUMNS], y[MOST_COLUMNS];
  uint32_t vr[MOST_COLUMNS];
  check(u->version == 2 ? (int)u->f2.GetNominalsOfContinuousStates(e.i, nominal, e.states)
                        : (int)u->f3.GetNominalsOfContinuousStates(e.i, nominal, e.states),
        "nominals");
  for (size_t i = 0; i < e.states; i++)
    if (!(nominal[i] > 0)) stop("nominal %zu is %g", i, nominal[i]);
  for (long k = 0; k < u->outputs; k++) {
    double low = INFINITY, high = -INFINITY;
    for (long row = 0; row < u->rows; row++) {
      low = fmin(low, u->row[row * (1 + u->outputs) + 1 + k]);
      high = fmax(high, u->row[row * (1 + u->outputs) + 1 + k]);
    }
    span[k] = high - low;
    vr[k] = u->first + (uint32_t)k;
  }
  states(&e, x);
  long rows = u->rows < EXCHANGED_ROWS ? u->rows : EXCHANGED_ROWS;
  for (long row = 1; row < rows; row++) {
    double t = u->row[(row - 1) * (1 + u->outputs)], to = u->row[row * (1 + u->outputs)], h = (to - t) / PARTS;
    for (int part = 0; part < PARTS; part++) {
      double at = t + part * h;
      if (next > at + 1e-9 * h && next < at + h * (1 + 1e-9)) {  // a time event within the step
        runge_kutta(&e, at, next - at, x);
        enter_event(&e);
        double time = next;
        next = event(&e);
        states(&e, x);
        if (at + h - time > 1e-9 * h) runge_kutta(&e, time, at + h - time, x);
      } else {
        runge_kutta(&e, at, h, x);
      }
    }
    get(u, e.i, vr, (size_t)u->outputs, y);
    for (long k = 0; k < u->outputs; k++)
      expect(y[k], u->row[row * (1 + u->outputs) + 1 + k], (e.inputs ? 1e-3 : 1e-5) * span[k] + 1e-6, "output", (int)k,
             (int)row);
    if (e.inputs && row % 100 == 0) compare_slopes(&e, to, x);
  }
  end(u, e.i);
  free(u->row);
  free(u->size);
  printf("%ld values\n", compared);
}

int main(int argc, char **argv) {
  static unit units[MOST_UNITS];
  int count = 0, k = 1;
  if (argc == 11 && strcmp(argv[1], "--exchange") == 0) {
    units[0].version = atoi(argv[2]);
    units[0].token = argv[4];
    load(&units[0], argv[3]);
    drive_exchange(&units[0], argv + 5);
    return compared > 0 ? 0 : 1;
  }
  if (argc == 10 && strcmp(argv[1], "--observer") == 0) {
    units[0].version = atoi(argv[2]);
    units[0].token = argv[4];
    load(&units[0], argv[3]);
    drive_observer(&units[0], argv + 5);
    return compared > 0 ? 0 : 1;
  }
  bool some = argc > 1 && strcmp(argv[1], "--some") == 0;
  expects_messages = argc > 1 && strcmp(argv[1], "--refuse") == 0;
  for (k += some || expects_messages; k + 6 <= argc && count < MOST_UNITS; k += 6) {
    unit *u = &units[count++];
    u->version = atoi(argv[k]);
    u->token = argv[k + 2];
    u->tolerance = strtod(argv[k + 3], NULL);
    u->first = (uint32_t)strtoul(argv[k + 5], NULL, 10);
    read_rows(u, argv[k + 4], some);
    load(u, argv[k + 1]);
  }
  if (count == 0 || k != argc) stop("usage: drive [--some] VERSION LIBRARY TOKEN TOLERANCE ROWS.csv FIRST ...");
  if (expects_messages) {
    units[0].version == 2 ? refuse_2(&units[0]) : refuse_3(&units[0]);
    free(units[0].row);
    free(units[0].size);
    return 0;
  }
  long most = 0;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < INSTANCES; j++)
      units[i].instance[j] = begin(&units[i]), compare(&units[i], units[i].instance[j], 0);
    if (units[i].rows > most) most = units[i].rows;
  }
  for (long row = 1; row <= most; row++)
    for (int i = 0; i < count; i++) advance_all(&units[i], row);
  for (int i = 0; i < count; i++) {
    unit *u = &units[i];
    // The instance that ran to the end goes back.
    void *fresh = begin(u);
    long middle = u->rows / 2, last = middle + REPEATED_ROWS < u->rows ? middle + REPEATED_ROWS : u->rows - 1;
    for (long row = 1; row <= middle; row++) advance(u, fresh, row);
    copy_state(u, fresh, u->instance[0]);
    for (long row = middle + 1; row <= last; row++) advance(u, u->instance[0], row);
    end(u, fresh);
    for (int j = 0; j < INSTANCES; j++) end(u, u->instance[j]);
    free(u->row);
    free(u->size);
  }
  printf("%ld values\n", compared);
  return compared > 0 ? 0 : 1;
}
