// Loads the noise of an experiment file: the structure of the process noise, and full covariances.
//
//  mechanical  forces and masses are inexact: white acceleration (eq. 30 of source 1 in docs/theory.md)
//  coupled     also independent changes of pressures and parameters (eq. 31)
//  matrix      any covariance of outputs
//
// A full covariance is {of: [names], matrix: [[...], ...]}. The unit of an entry is the product of the units of the two outputs.
#include <math.h>
#include <string.h>

#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "experiment/sensor.h"
#include "math/dense.h"

// --- Full covariances ---------------------------------------------------------------------------------------------

static const od_key matrix_keys[] = {
    {"of", OD_TEXTS, NULL, "outputs, one for each row and column", .fallback = OD_REQUIRED},
    {"matrix", OD_ROWS, NULL,
     "covariance of the outputs; the unit of an entry is the product of the units of its two outputs",
     .fallback = OD_REQUIRED}};
const od_section_class od_matrix_section = {"matrix", "a covariance of outputs", OD_KEYS(matrix_keys)};

static const od_key noise_keys[] = {
    {"structure", OD_CHOICE, "coupled|mechanical|matrix",
     "structure of the noise. `mechanical`: accelerations. `coupled`: accelerations, pressures and"
     " parameters. `matrix`: the covariance `process` of outputs"},
    {"pressures", OD_NUMBER, "Pa", "standard deviation of the change of each pressure per step", OD_NOT_NEGATIVE, 0},
    {"acceleration", OD_NUMBER, "1",
     "white acceleration of each coordinate: standard deviation of the change of its rate in one second, SI",
     OD_NOT_NEGATIVE, 0},
    {"process", OD_SECTION, NULL, "covariance of the changes of outputs per step, for `structure: matrix`",
     .inside = &od_matrix_section},
};
const od_section_class od_noise_section = {"noise", "process noise", OD_KEYS(noise_keys)};
const od_section_class od_truth_noise_section = {"true noise", "process noise of the true machine, or `same`",
                                                 OD_KEYS(noise_keys), .or_word = true};

static bool is_list(const od_loader *ld, int node) {
  return node >= 0 && ld->tree.node[node].kind == OD_TREE_LIST;
}

int od_matrix_count(const od_loader *ld, int node) {
  int of = od_map_find(ld, node, "of");
  return is_list(ld, of) ? ld->tree.node[of].count : 0;
}

bool od_is_matrix(const od_loader *ld, int node) {
  return od_map_find(ld, node, "of") >= 0 || od_map_find(ld, node, "matrix") >= 0;
}

// Returns the product of two units: "Pa^2", "m Pa", "m m/s".
static const char *product_unit(od_loader *ld, const char *a, const char *b) {
  if (strcmp(a, "1") == 0) return b;
  if (strcmp(b, "1") == 0) return a;
  if (strcmp(a, b) == 0 && !strpbrk(a, "/ ^0123456789")) return od_format(ld, "%s^2", a);
  return od_format(ld, "%s %s", a, b);
}

// Reads the names of the outputs, and stores their nodes and their indices in the model. Returns false after adding
// messages.
static bool read_names(od_experiment_loader *xl, int node, od_output_covariance *t) {
  od_loader *ld = &xl->ld;
  int *entry = t->entry;
  bool sound = od_read_list(ld, node, "of", "a list of outputs", t->count, entry);
  for (int i = 0; sound && i < t->count; i++) {
    const char *name = od_read_text(ld, entry[i], "of", "the name of an output");
    t->output[i] = name ? od_find_output(xl, entry[i]) : -1;
    for (int j = 0; j < i && t->output[i] >= 0; j++) {
      if (t->output[j] != t->output[i]) continue;
      od_complain(ld, entry[i], "'%s' is given twice; remove one entry", od_excerpt(ld, name));
      t->output[i] = -1;
    }
  }
  for (int i = 0; sound && i < t->count; i++) sound = t->output[i] >= 0;
  return sound;
}

// Reads row i of the matrix. number receives the indices of the entries in the document's table of numbers. Returns
// false after adding messages, or if out of memory.
static bool read_row(od_experiment_loader *xl, int node, const char *path, int i, od_output_covariance *t,
                     int *number) {
  od_loader *ld = &xl->ld;
  int n = t->count, *entry = OD_TAKE(&xl->memory, int, n);
  const char *label = od_format(ld, "matrix[%d]", i);
  if (!entry ||
      !od_read_list(ld, node, label, od_format(ld, "a list of %d numbers, one for each output of 'of'", n), n, entry))
    return false;
  for (int j = 0; j < n; j++) {
    const char *a = od_machine_output_unit(xl->e->model, t->output[i]);
    const char *b = od_machine_output_unit(xl->e->model, t->output[j]);
    od_field field = {od_format(ld, "%s[%d]", label, j), product_unit(ld, a, b), i == j ? OD_POSITIVE : OD_ANY, NAN};
    number[i * n + j] = od_read_number(ld, entry[j], od_format(ld, "%s.%s", path, field.key), &field,
                                       od_place_of(ld, node), OD_IN_LOADER);
    t->covariance[i * n + j] = od_number_value(ld, number[i * n + j]);
  }
  return true;
}

// Checks that the matrix is symmetric and positive semidefinite, or positive definite if `definite`. Computes its Cholesky factor.
static void check_matrix(od_experiment_loader *xl, int node, bool definite, od_output_covariance *t,
                         const int *number) {
  od_loader *ld = &xl->ld;
  int n = t->count;
  double *C = t->covariance;
  bool symmetric = true;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      double a = C[i * n + j], b = C[j * n + i], size = sqrt(C[i * n + i] * C[j * n + j]);
      C[i * n + j] = C[j * n + i] = (a + b) / 2;
      if (fabs(a - b) <= 1e-9 * size) continue;
      od_complain_number(ld, number[i * n + j],
                         "matrix[%d][%d] is %.6g, but matrix[%d][%d] is %.6g; expected a symmetric matrix", i, j, a, j,
                         i, b);
      symmetric = false;
    }
  int rank = symmetric ? od_cholesky(n, C, t->factor) : n;
  if (rank < 0)
    od_complain(
        ld, node,
        "the matrix has a negative eigenvalue; expected a positive semidefinite covariance: check the signs and sizes of the entries beside the diagonal");
  else if (rank < n && definite)
    od_complain(
        ld, node,
        "the matrix is singular: its rank is %d, expected %d; the noise of a sensor must not be determined by the noise of other sensors",
        rank, n);
}

// Allocates the memory of a covariance of `count` outputs. Returns false if out of memory.
static bool take_covariance(od_experiment_loader *xl, int node, int count, od_output_covariance *t) {
  od_arena *memory = &xl->e->memory;
  *t = (od_output_covariance){.count = count,
                              .output = OD_TAKE(memory, int, count),
                              .covariance = OD_TAKE_MATRIX(memory, double, count, count),
                              .factor = OD_TAKE_MATRIX(memory, double, count, count),
                              .node = node,
                              .entry = OD_TAKE(memory, int, count)};
  return od_arena_status(memory) == OD_OK;
}

bool od_read_output_covariance(od_experiment_loader *xl, int node, const char *path, bool definite,
                               od_output_covariance *t) {
  od_loader *ld = &xl->ld;
  int before = od_messages_errors(ld->messages);
  od_section section = od_section_open(ld, node, node, path, path, &od_matrix_section);
  int of = od_section_need(ld, &section, "of"), matrix = od_section_need(ld, &section, "matrix");
  int n = is_list(ld, of) ? ld->tree.node[of].count : 0, *rows = OD_TAKE(&xl->memory, int, n);
  int *number = OD_TAKE_MATRIX(&xl->memory, int, n, n);
  if (!rows || !number || !take_covariance(xl, node, n, t)) return false;
  bool is_square =
      matrix >= 0 && is_list(ld, of) &&
      od_read_list(ld, matrix, "matrix", od_format(ld, "a list of %d rows, one for each output of 'of'", n), n, rows);
  if (!read_names(xl, of, t) || !is_square) return false;
  for (int i = 0; i < n; i++)
    if (!read_row(xl, rows[i], path, i, t, number)) return false;
  if (od_messages_errors(ld->messages) == before) check_matrix(xl, matrix, definite, t, number);
  return od_messages_errors(ld->messages) == before;
}

bool od_read_watched_covariance(od_experiment_loader *xl, int node, const char *path, od_output_covariance *t) {
  if (!od_read_output_covariance(xl, node, path, false, t)) return false;
  for (int i = 0; i < t->count; i++)
    if ((t->output[i] = od_watch(xl, t->entry[i])) < 0) {
      t->count = 0;
      return false;
    }
  return true;
}

void od_covariance_of_sigmas(od_experiment_loader *xl, int node, od_output_covariance *t) {
  const od_experiment *e = xl->e;
  int n = 0;
  for (int i = 0; i < e->watches; i++) n += e->watched[i].sigma > 0;
  if (!take_covariance(xl, node, n, t)) return;
  for (int i = 0, r = 0; i < e->watches; i++) {
    double sigma = e->watched[i].sigma;
    if (!(sigma > 0)) continue;
    t->output[r] = i;
    t->entry[r] = xl->watched_key[i];
    t->covariance[r * (n + 1)] = sigma * sigma;
    t->factor[r++ * (n + 1)] = sigma;
  }
}

// --- The noise of sensors -----------------------------------------------------------------------------------------

void od_load_sensor_noise(od_experiment_loader *xl, int node) {
  if (node < 0) return;
  if (xl->options->more)
    od_complain(&xl->ld, node, "the sensors of a fit have independent noise; expected a 'sigma' for each sensor");
  else
    xl->correlated_is_wrong = !od_read_output_covariance(xl, node, "sensor_noise", true, &xl->correlated);
}

double od_correlated_sigma(const od_experiment_loader *xl, const char *sensor) {
  const od_output_covariance *t = &xl->correlated;
  // After errors in 'sensor_noise', its sensors are not known; 1 is a placeholder.
  if (xl->correlated_is_wrong) return 1;
  for (int i = 0; i < t->count; i++)
    if (t->output[i] == od_machine_output_find(xl->e->model, sensor)) return sqrt(t->covariance[i * (t->count + 1)]);
  return NAN;
}

// Finds the sensor of each output of 'sensor_noise'. Adds messages about missing sensors and about noise that is not gaussian. Returns
// false if a sensor is missing.
static bool find_sensors(od_experiment_loader *xl, int *sensor) {
  const od_experiment *e = xl->e;
  bool found = true;
  for (int i = 0; i < xl->correlated.count; i++) {
    const char *name = od_machine_output_name(e->model, xl->correlated.output[i]);
    sensor[i] = -1;
    for (int k = 0; k < e->sensors; k++)
      if (strcmp(e->sensor[k].name, name) == 0) sensor[i] = k;
    if (sensor[i] < 0)
      od_complain(&xl->ld, xl->correlated.entry[i],
                  "there is no sensor '%s'; expected an output of the section 'sensors'", name);
    else if (e->sensor[sensor[i]].noise != OD_NOISE_GAUSSIAN)
      od_complain(&xl->ld, xl->correlated.entry[i],
                  "the noise of '%s' is not gaussian; expected gaussian noise, which can be correlated with the noise "
                  "of other sensors",
                  name);
    found = found && sensor[i] >= 0;
  }
  return found;
}

// Checks the sensors if noise is correlated: all sensors must have white noise with an absolute sigma, and no key
// 'assume'.
static void check_plain(od_experiment_loader *xl) {
  for (int i = 0; i < xl->e->sensors; i++) {
    const od_sensor *s = &xl->e->sensor[i];
    const char *what = s->of                                      ? s->of->name
                       : s->time_constant > 0 || s->frequency > 0 ? "colored noise"
                       : s->relative > 0                          ? "noise relative to its signal"
                       : s->assume > 0                            ? "'assume'"
                                                                  : NULL;
    if (what)
      od_complain(&xl->ld, xl->watched_key[i],
                  "the sensor '%s' has %s, which is not possible with 'sensor_noise'; remove one of the two", s->name,
                  what);
  }
}

void od_fill_sensor_covariance(od_experiment_loader *xl) {
  od_experiment *e = xl->e;
  const od_output_covariance *t = &xl->correlated;
  int ny = e->sensors;
  if (t->count == 0 || od_has_errors(&xl->ld)) return;
  check_plain(xl);
  int *sensor = OD_TAKE(&xl->memory, int, t->count);
  double *R = OD_TAKE_MATRIX(&e->memory, double, ny, ny), *factor = OD_TAKE_MATRIX(&e->memory, double, ny, ny);
  if (!sensor || !R || !factor || !find_sensors(xl, sensor)) return;
  for (int i = 0; i < ny; i++) R[i * (ny + 1)] = e->sensor[i].sigma * e->sensor[i].sigma;
  for (int i = 0; i < t->count; i++)
    for (int j = 0; j < t->count; j++) R[sensor[i] * ny + sensor[j]] = t->covariance[i * t->count + j];
  od_cholesky(ny, R, factor);
  e->sensor_covariance = R;
  e->sensor_factor = factor;
}

// --- Process noise ------------------------------------------------------------------------------------------------

// Checks that the keys of a section suit its structure. first: index of the number 'pressures'.
static void check_structure(od_loader *ld, od_noise_structure structure, const od_section *section, int first,
                            int process) {
  static const char *const fields[] = {"pressures", "acceleration"};
  bool matrix = structure == OD_NOISE_MATRIX;
  for (int i = 0; i < 2; i++)
    if (od_number_is_given(ld, first + i) && matrix)
      od_complain_number(ld, first + i, "'structure: matrix' does not use '%s'; expected 'process' instead", fields[i]);
  if (structure == OD_NOISE_MECHANICAL && od_number_value(ld, first) > 0)
    od_complain_number(
        ld, first, "'structure: mechanical' does not use 'pressures'; remove this key, or use 'structure: coupled'");
  if (matrix)
    od_section_need(ld, section, "process");
  else if (process >= 0)
    od_complain(ld, process, "'process' needs 'structure: matrix'; add this key");
}

// Reads a section of process noise. *process: node of the key 'process'; -1: none.
static od_noise_structure read_process_noise(od_loader *ld, int node, const char *path, od_process_noise *noise,
                                             int *process) {
  od_section section = od_section_empty(&od_noise_section, ld->tree.root, path, "noise");
  if (node >= 0) section = od_section_open(ld, node, node, path, "noise", &od_noise_section);
  int first = od_read_keys(ld, &section, OD_IN_LOADER, "pressures", "acceleration", NULL);
  int choice = od_key_choice(ld, &section, "structure");
  *process = od_section_get(ld, &section, "process");
  noise->pressures = od_number_value(ld, first);
  noise->acceleration = od_number_value(ld, first + 1);
  if (choice >= 0) check_structure(ld, (od_noise_structure)choice, &section, first, *process);
  if (choice != OD_NOISE_MATRIX) *process = -1;
  return (od_noise_structure)choice;
}

void od_load_noise(od_experiment_loader *xl, int node) {
  od_process_noise noise;
  xl->structure = read_process_noise(&xl->ld, node, "noise", &noise, &xl->process);
  xl->e->pressure_noise = noise.pressures;
  xl->e->acceleration_noise = noise.acceleration;
}

// Reads 'same', or a map with the keys of the section 'noise'.
void od_load_truth_noise(od_experiment_loader *xl, int node) {
  od_loader *ld = &xl->ld;
  od_experiment *e = xl->e;
  if (node < 0) return;
  bool same = ld->tree.node[node].kind == OD_TREE_TEXT && strcmp(od_text_of(ld, node), "same") == 0;
  if (xl->options->more)
    od_complain(ld, node, "a fit has no process noise; remove this key");
  else if (!same && ld->tree.node[node].kind == OD_TREE_TEXT)
    od_complain(
        ld, node,
        "found '%s'; expected 'same' (the process noise of the observer), or a map with the keys of the section 'noise'",
        od_excerpt(ld, od_text_of(ld, node)));
  else if (same)
    e->truth_noise = (od_process_noise){.pressures = e->pressure_noise, .acceleration = e->acceleration_noise};
  else
    read_process_noise(ld, node, "truth.noise", &e->truth_noise, &xl->truth_process);
  if (same) xl->truth_process = xl->process;
  e->disturbed = xl->simulated;
}

void od_load_process(od_experiment_loader *xl) {
  od_experiment *e = xl->e;
  od_output_covariance *truth = &e->truth_noise.process;
  if (xl->process >= 0) od_read_watched_covariance(xl, xl->process, "noise.process", &e->process);
  if (xl->truth_process == xl->process && !od_has_errors(&xl->ld))
    *truth = e->process;
  else if (xl->truth_process >= 0 && xl->truth_process != xl->process)
    od_read_watched_covariance(xl, xl->truth_process, "truth.noise.process", truth);
  for (int i = 0; e->disturbed && !od_has_errors(&xl->ld) && i < truth->count; i++)
    if (e->watched[truth->output[i]].truth_output < 0)
      od_complain(&xl->ld, truth->entry[i],
                  "the true machine has no output '%s'; choose an output that both machines have",
                  e->watched[truth->output[i]].name);
}
