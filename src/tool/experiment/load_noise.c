// Loads the noise of an experiment file: the structure of the process noise, and full covariances.
//
//  mechanical  forces and masses are inexact: a white acceleration (eq. 30 of source 1 in docs/theory.md)
//  coupled     also independent changes of pressures and parameters (eq. 31)
//  matrix      any covariance of outputs
//
// A full covariance is {of: [names], matrix: [[...], ...]}. The unit of an entry is the product of the units of the two outputs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_loader.h"
#include "experiment/experiment_sections.h"
#include "experiment/sensor_class.h"
#include "math/dense.h"

// --- A covariance in full -----------------------------------------------------------------------------------------

static const od_key matrix_keys[] = {
    {"of", OD_TEXTS, NULL, "outputs", .fallback = OD_REQUIRED},
    {"matrix", OD_ROWS, NULL, "their covariance, each entry in the product of two outputs' units",
     .fallback = OD_REQUIRED}};
const od_section_class od_matrix_section = {"matrix", "a covariance of outputs", OD_KEYS(matrix_keys)};

static const od_key noise_keys[] = {
    {"structure", OD_CHOICE, "coupled|mechanical|matrix", "what is noisy"},
    {"pressures", OD_NUMBER, "Pa", "standard deviation of the change of each pressure per step", OD_NOT_NEGATIVE, 0},
    {"acceleration", OD_NUMBER, "1", "standard deviation of the accelerations, relative", OD_NOT_NEGATIVE, 0},
    {"process", OD_SECTION, NULL, "the covariance of outputs per step (`structure: matrix`)",
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

// "Pa^2", "m Pa", "m m/s"
static const char *product_unit(od_loader *ld, const char *a, const char *b) {
  if (strcmp(a, "1") == 0) return b;
  if (strcmp(b, "1") == 0) return a;
  if (strcmp(a, b) == 0 && !strpbrk(a, "/ ^0123456789")) return od_format(ld, "%s^2", a);
  return od_format(ld, "%s %s", a, b);
}

// Reads the names of the outputs: their nodes, and their indices in the model.
static bool read_names(od_experiment_loader *xl, int node, od_output_covariance *t, int *entry) {
  od_loader *ld = &xl->ld;
  bool sound = od_read_list(ld, node, "of", "a list of outputs", t->count, entry);
  for (int i = 0; sound && i < t->count; i++) {
    const char *name = od_read_text(ld, entry[i], "of", "the name of an output");
    t->output[i] = name ? od_find_output(xl, entry[i]) : -1;
    for (int j = 0; j < i && t->output[i] >= 0; j++) {
      if (t->output[j] != t->output[i]) continue;
      od_complain(ld, entry[i], "'%s' is given twice", od_excerpt(ld, name));
      t->output[i] = -1;
    }
  }
  for (int i = 0; sound && i < t->count; i++) sound = t->output[i] >= 0;
  return sound;
}

static bool read_row(od_experiment_loader *xl, int node, const char *path, int i, od_output_covariance *t,
                     int *number) {
  od_loader *ld = &xl->ld;
  int n = t->count, *entry = calloc((size_t)n + 1, sizeof *entry);
  const char *label = od_format(ld, "matrix[%d]", i);
  if (!entry) ld->no_memory = true;
  bool sound = entry && od_read_list(ld, node, label,
                                     od_format(ld, "a list of as many numbers as 'of' has outputs: %d", n), n, entry);
  for (int j = 0; sound && j < n; j++) {
    const char *a = od_machine_output_unit(xl->e->model, t->output[i]);
    const char *b = od_machine_output_unit(xl->e->model, t->output[j]);
    od_field field = {od_format(ld, "%s[%d]", label, j), product_unit(ld, a, b), i == j ? OD_POSITIVE : OD_ANY, NAN};
    number[i * n + j] = od_read_number(ld, entry[j], od_format(ld, "%s.%s", path, field.key), &field,
                                       od_place_of(ld, node), OD_IN_LOADER);
    t->covariance[i * n + j] = od_number_value(ld, number[i * n + j]);
  }
  free(entry);
  return sound;
}

// Checks that the matrix is symmetric and a covariance.
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
                         "matrix[%d][%d] is %.6g, but matrix[%d][%d] is %.6g; a covariance is symmetric", i, j, a, j, i,
                         b);
      symmetric = false;
    }
  int rank = symmetric ? od_cholesky(n, C, t->factor) : n;
  if (rank < 0)
    od_complain(ld, node, "the matrix is no covariance; it has a negative eigenvalue");
  else if (rank < n && definite)
    od_complain(ld, node, "the matrix is singular; noise of sensors needs a positive definite one");
}

static bool make_room(od_output_covariance *t, int **entry, int count) {
  size_t n = (size_t)count;
  *t = (od_output_covariance){.count = count};
  t->output = calloc(n + 1, sizeof *t->output);
  t->covariance = calloc(n * n + 1, sizeof *t->covariance);
  t->factor = calloc(n * n + 1, sizeof *t->factor);
  *entry = calloc(n + 1, sizeof **entry);
  return t->output && t->covariance && t->factor && *entry;
}

bool od_read_output_covariance(od_experiment_loader *xl, int node, const char *path, bool definite,
                               od_output_covariance *t, int **entry) {
  od_loader *ld = &xl->ld;
  int before = od_messages_errors(ld->messages);
  od_section section = od_section_open(ld, node, node, path, path, &od_matrix_section);
  int of = od_section_need(ld, &section, "of"), matrix = od_section_need(ld, &section, "matrix");
  int n = is_list(ld, of) ? ld->tree.node[of].count : 0, *rows = calloc((size_t)n + 1, sizeof *rows);
  int *number = calloc((size_t)n * (size_t)n + 1, sizeof *number);
  if (!rows || !number || !make_room(t, entry, n)) ld->no_memory = true;
  bool square =
      matrix >= 0 && is_list(ld, of) && rows &&
      od_read_list(ld, matrix, "matrix", od_format(ld, "a list of as many rows as 'of' has outputs: %d", n), n, rows);
  bool sound = !ld->no_memory && read_names(xl, of, t, *entry) && square;
  for (int i = 0; sound && i < n; i++) sound = read_row(xl, rows[i], path, i, t, number);
  if (sound && od_messages_errors(ld->messages) == before) check_matrix(xl, matrix, definite, t, number);
  free(rows);
  free(number);
  return sound && od_messages_errors(ld->messages) == before;
}

bool od_watch_output_covariance(od_experiment_loader *xl, od_output_covariance *t, const int *entry) {
  for (int i = 0; i < t->count; i++)
    if ((t->output[i] = od_watch(xl, entry[i])) < 0) return false;
  return true;
}

bool od_covariance_of_sigmas(const od_experiment_loader *xl, od_output_covariance *t, int **entry) {
  const od_experiment *e = xl->e;
  int n = 0;
  for (int i = 0; i < e->watches; i++) n += e->watched[i].sigma > 0;
  if (!make_room(t, entry, n)) return false;
  for (int i = 0, r = 0; i < e->watches; i++) {
    double sigma = e->watched[i].sigma;
    if (!(sigma > 0)) continue;
    t->output[r] = i;
    (*entry)[r] = xl->watched_key[i];
    t->covariance[r * (n + 1)] = sigma * sigma;
    t->factor[r++ * (n + 1)] = sigma;
  }
  return true;
}

void od_output_covariance_free(od_output_covariance *t) {
  free(t->output);
  free(t->covariance);
  free(t->factor);
}

// --- The noise of sensors -----------------------------------------------------------------------------------------

void od_load_sensor_noise(od_experiment_loader *xl, int node) {
  if (node < 0) return;
  if (xl->options->more)
    od_complain(&xl->ld, node, "a fit takes the noise of its sensors as independent; give each its 'sigma'");
  else
    xl->correlated_unsound =
        !od_read_output_covariance(xl, node, "sensor_noise", true, &xl->correlated, &xl->correlated_entry);
}

double od_correlated_sigma(const od_experiment_loader *xl, const char *sensor) {
  const od_output_covariance *t = &xl->correlated;
  // After errors in 'sensor_noise' its sensors are not known.
  if (xl->correlated_unsound) return 1;
  for (int i = 0; i < t->count; i++)
    if (t->output[i] == od_machine_output_find(xl->e->model, sensor)) return sqrt(t->covariance[i * (t->count + 1)]);
  return NAN;
}

// Finds the sensor of each output; false with messages.
static bool find_sensors(od_experiment_loader *xl, int *sensor) {
  const od_experiment *e = xl->e;
  bool found = true;
  for (int i = 0; i < xl->correlated.count; i++) {
    const char *name = od_machine_output_name(e->model, xl->correlated.output[i]);
    sensor[i] = -1;
    for (int k = 0; k < e->sensors; k++)
      if (strcmp(e->sensor[k].name, name) == 0) sensor[i] = k;
    if (sensor[i] < 0)
      od_complain(&xl->ld, xl->correlated_entry[i], "there is no sensor '%s'", name);
    else if (e->sensor[sensor[i]].noise != OD_NOISE_GAUSSIAN)
      od_complain(&xl->ld, xl->correlated_entry[i], "the noise of '%s' must be gaussian to be correlated with others",
                  name);
    found = found && sensor[i] >= 0;
  }
  return found;
}

// With correlated noise, all sensors must have white noise, and the observer assumes their sigma.
static void check_plain(od_experiment_loader *xl) {
  for (int i = 0; i < xl->e->sensors; i++) {
    const od_sensor *s = &xl->e->sensor[i];
    const char *what = s->of                                      ? s->of->name
                       : s->time_constant > 0 || s->frequency > 0 ? "coloured noise"
                       : s->relative > 0                          ? "noise relative to its signal"
                       : s->assume > 0                            ? "'assume'"
                                                                  : NULL;
    if (what)
      od_complain(&xl->ld, xl->watched_key[i], "the sensor '%s' has %s, which is not possible beside 'sensor_noise'",
                  s->name, what);
  }
}

void od_fill_sensor_covariance(od_experiment_loader *xl) {
  od_experiment *e = xl->e;
  const od_output_covariance *t = &xl->correlated;
  size_t ny = (size_t)e->sensors;
  if (t->count == 0 || od_has_errors(&xl->ld)) return;
  check_plain(xl);
  int *sensor = calloc((size_t)t->count + 1, sizeof *sensor);
  e->sensor_covariance = calloc(2 * ny * ny + 1, sizeof *e->sensor_covariance);
  if (!sensor || !e->sensor_covariance) {
    xl->ld.no_memory = true;
  } else if (find_sensors(xl, sensor)) {
    double *R = e->sensor_covariance;
    for (size_t i = 0; i < ny; i++) R[i * ny + i] = e->sensor[i].sigma * e->sensor[i].sigma;
    for (int i = 0; i < t->count; i++)
      for (int j = 0; j < t->count; j++) R[sensor[i] * e->sensors + sensor[j]] = t->covariance[i * t->count + j];
    e->sensor_factor = R + ny * ny;
    od_cholesky(e->sensors, R, e->sensor_factor);
  }
  free(sensor);
}

// --- Process noise ------------------------------------------------------------------------------------------------

static void check_structure(od_loader *ld, od_noise_structure structure, const od_section *section, int first,
                            int process) {
  static const char *const fields[] = {"pressures", "acceleration"};
  bool matrix = structure == OD_NOISE_MATRIX;
  for (int i = 0; i < 2; i++)
    if (od_number_is_given(ld, first + i) && matrix)
      od_complain_number(ld, first + i, "'structure: matrix' has its noise in 'process', not in '%s'", fields[i]);
  if (structure == OD_NOISE_MECHANICAL && od_number_value(ld, first) > 0)
    od_complain_number(ld, first, "'structure: mechanical' has noise of the acceleration only; 'coupled' has both");
  if (matrix)
    od_section_need(ld, section, "process");
  else if (process >= 0)
    od_complain(ld, process, "'process' needs 'structure: matrix'");
}

// Reads a section of process noise. *process: the node of its matrix, or -1.
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

// 'same', or a section like 'noise'.
void od_load_truth_noise(od_experiment_loader *xl, int node) {
  od_loader *ld = &xl->ld;
  od_experiment *e = xl->e;
  if (node < 0) return;
  bool same = ld->tree.node[node].kind == OD_TREE_TEXT && strcmp(od_text_of(ld, node), "same") == 0;
  if (xl->options->more)
    od_complain(ld, node, "the data of a fit are predicted, and nothing disturbs them; process noise is for observers");
  else if (!same && ld->tree.node[node].kind == OD_TREE_TEXT)
    od_complain(ld, node, "found '%s'; noise of the true machine is 'same', as the observer's, or a map like 'noise'",
                od_excerpt(ld, od_text_of(ld, node)));
  else if (same)
    e->truth_noise = (od_process_noise){.pressures = e->pressure_noise, .acceleration = e->acceleration_noise};
  else
    read_process_noise(ld, node, "truth.noise", &e->truth_noise, &xl->truth_process);
  if (same) xl->truth_process = xl->process;
  e->disturbed = xl->simulated;
}

static void read_process(od_experiment_loader *xl, int node, const char *path, od_output_covariance *t, int **entry) {
  if (node >= 0 && od_read_output_covariance(xl, node, path, false, t, entry) &&
      !od_watch_output_covariance(xl, t, *entry))
    t->count = 0;
}

static void copy_process(od_experiment_loader *xl, const od_output_covariance *from, const int *from_entry,
                         od_output_covariance *to, int **entry) {
  size_t n = (size_t)from->count;
  if (n == 0) return;
  if (!make_room(to, entry, from->count)) {
    xl->ld.no_memory = true;
    return;
  }
  memcpy(to->output, from->output, n * sizeof *to->output);
  memcpy(to->covariance, from->covariance, n * n * sizeof *to->covariance);
  memcpy(to->factor, from->factor, n * n * sizeof *to->factor);
  memcpy(*entry, from_entry, n * sizeof **entry);
}

void od_load_process(od_experiment_loader *xl) {
  od_experiment *e = xl->e;
  od_output_covariance *truth = &e->truth_noise.process;
  read_process(xl, xl->process, "noise.process", &e->process, &xl->process_entry);
  if (xl->truth_process != xl->process)
    read_process(xl, xl->truth_process, "truth.noise.process", truth, &xl->truth_process_entry);
  else if (!od_has_errors(&xl->ld))
    copy_process(xl, &e->process, xl->process_entry, truth, &xl->truth_process_entry);
  for (int i = 0; e->disturbed && !od_has_errors(&xl->ld) && i < truth->count; i++)
    if (e->watched[truth->output[i]].truth_output < 0)
      od_complain(&xl->ld, xl->truth_process_entry[i], "the true machine has no output '%s'",
                  e->watched[truth->output[i]].name);
}
