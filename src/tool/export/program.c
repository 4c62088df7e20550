#include "export/program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/sample_source.h"
#include "experiment/sensor.h"
#include "export/c_text.h"
#include "machine/machine.h"
#include "machine/run_plan.h"
#include "memory/owned.h"
#include "mechanics/partition.h"
#include "integrate/integrators.h"
#include "integrate/sim_block.h"
#include "model/model_parts.h"
#include "plant/assembly.h"
#include "plant/inner_plant.h"
#include "plant/model_plant.h"
#include "plant/model_plant_work.h"
#include "plant/plant_in_arena.h"
#include "plant/real_derivatives.h"

enum { TEST_STEPS = 50 };
static const size_t first_memory = 1 << 20, most_memory = (size_t)1 << 32;

void od_export_program_free(od_export_program *p) {
  od_arena_free(&p->arena);
}

static od_status no_memory(od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory");
}

// ---- what machines and experiments share

static od_status describe(od_export_program *p, const od_machine *machine, const od_export_options *options,
                          const char *path, od_error *err) {
  const char *foreign = od_model_foreign_block(od_machine_model(machine));
  if (foreign)
    return od_fail(
        err, OD_BAD_INPUT,
        "the block '%s' has a law of an FMU or of a program, which an export cannot contain; write the law as a "
        "formula block",
        foreign);
  p->model = *od_machine_model(machine);
  p->file = path;
  p->machine = machine;
  p->name = od_c_name(&p->arena, options->name, false, NULL, 0);
  p->inputs = od_machine_input_count(machine);
  p->input = OD_TAKE(&p->arena, od_exported_name, p->inputs);
  if (!p->name || !p->input) return no_memory(err);
  for (int i = 0; i < p->inputs; i++)
    p->input[i] = (od_exported_name){od_machine_input_name(machine, i), od_machine_input_unit(machine, i)};
  return OD_OK;
}

// ---- the test run

od_status od_export_create_run(od_export_program *p, od_embedded_run **run, od_error *err) {
  od_status status = OD_NO_MEMORY;
  for (size_t size = first_memory; status == OD_NO_MEMORY && size <= most_memory; size *= 4) {
    od_arena_place mark = od_arena_mark(&p->arena);
    void *memory = od_arena_take(&p->arena, size);
    if (!memory) return no_memory(err);
    status = od_embedded_init(&p->d, memory, size, run);
    if (status == OD_NO_MEMORY) od_arena_return(&p->arena, mark);
  }
  return status == OD_OK ? OD_OK
                         : od_fail(err, status, "the exported program cannot start: %s", od_status_text(status));
}

// Returns the size of the part of the run's memory that oleodyn needs and the exported program does not need, bytes: memory for all integrators and
// for complex numbers. An observer has a second simulation for trials, with the same parts.
static size_t excess(const od_export_program *p, od_embedded_run *run) {
  const od_plant *plant = od_embedded_plant(run);
  const od_sim *sim = od_embedded_sim(run);
  void *work = od_sim_work(od_embedded_sim(run));
  const od_plant *innermost = od_innermost_plant(plant, &work);
  size_t columns = p->d.observer ? od_most_columns(plant) : 0, own = p->d.integrator->scratch(plant, columns);
  size_t more = (od_integrators_scratch(plant, columns) - own) * sizeof(double) / 16 * 16;
  if (!p->needs_complex) more += od_model_plant_complex_bytes(innermost) / 16 * 16;
  if (!p->d.observer) return more;
  // With constant noise, the second simulation shares its memory with a covariance.
  size_t n = (size_t)(od_plant_nx(plant) + plant->np), shared = p->observer.noise ? n * n * sizeof(double) : 0;
  size_t second = od_sim_bytes(sim) > shared + more ? more
                  : od_sim_bytes(sim) > shared      ? od_sim_bytes(sim) - shared
                                                    : 0;
  return more + second / 16 * 16;
}

// Takes the steps of the test run, and records its results and the largest counts. Fails with OD_NO_MEMORY, or with a status of
// od_export_create_run(), od_embedded_step() or od_embedded_outputs().
static od_status run_test(od_export_program *p, od_error *err) {
  od_embedded_run *run = NULL;
  od_status status = od_export_create_run(p, &run, err);
  if (status != OD_OK) return status;
  od_export_run *r = &p->run;
  p->states = od_plant_nx(od_embedded_plant(run));
  r->own_memory = od_embedded_used(run);
  r->memory = r->own_memory - excess(p, run);
  od_sim_counts before = {0};
  for (int i = 0; i < r->steps && status == OD_OK; i++) {
    status = od_embedded_step(run, r->u + i * p->inputs, r->y + i * p->sensors);
    od_sim_counts now = od_sim_count(od_embedded_sim(run));
    if (i > 0 && now.residuals - before.residuals > r->residuals) r->residuals = now.residuals - before.residuals;
    if (i > 0 && now.matrices - before.matrices > r->matrices) r->matrices = now.matrices - before.matrices;
    before = now;
  }
  r->output = OD_TAKE(&p->arena, double, p->d.outputs);
  r->sigma = p->d.observer ? OD_TAKE(&p->arena, double, p->d.outputs) : NULL;
  r->parameter = OD_TAKE(&p->arena, double, p->parameters);
  if (od_arena_status(&p->arena) != OD_OK) return no_memory(err);
  if (status == OD_OK) status = od_embedded_outputs(run, r->output, r->sigma);
  if (status == OD_OK) od_embedded_parameters(run, r->parameter, NULL);
  if (status == OD_OK) return OD_OK;
  return od_fail(err, status, "the test run of the export failed at %.6g s: %s", od_embedded_time(run),
                 od_status_text(status));
}

// Takes the chosen outputs of the machine as the outputs of the model. Returns false if an allocation fails.
static bool trim_outputs(od_export_program *p, const int *chosen) {
  int count = p->d.outputs, *index = OD_TAKE(&p->arena, int, count);
  od_output *output = OD_TAKE(&p->arena, od_output, count);
  for (int i = 0; i < count && index && output; i++) {
    output[i] = p->model.output[chosen[i]];
    index[i] = i;
  }
  p->model.output = output;
  p->model.outputs = count;
  p->model.output_order = NULL;
  p->d.output = index;
  p->d.model = &p->model;
  return index && output;
}

// Gives state i of the model exchange a name and a unit, unless it has a name already.
static void name_state(od_export_program *p, int i, const char *name, const char *unit) {
  if (!p->exchange.state[i].name) p->exchange.state[i] = (od_exported_name){name, unit ? unit : "1"};
}

// Names the states of the model exchange. A state has the name and unit of the output that is equal to it. In a machine with loops the
// positions that are states may change in an event, so they are numbered, as are states without such an output.
static bool name_states(od_export_program *p, const od_plant *plant) {
  const od_model *m = od_machine_model(p->machine);
  int nx = od_plant_nx(plant), nz = plant->nz;
  bool fixed = m->closures == 0 && m->charts == 0;
  p->exchange.state = OD_TAKE(&p->arena, od_exported_name, p->exchange.states);
  for (int i = 0; p->exchange.state && i < od_model_output_count(m); i++) {
    const od_output *o = &m->output[i];
    int state = od_assembly_first_order_state(m, o), at = state < 0 ? -1 : 2 * nz + state;
    if (fixed && o->kind == OD_OUT_COORDINATE) at = o->index;
    if (fixed && o->kind == OD_OUT_COORDINATE_RATE) at = nz + o->index;
    if (at >= 0) name_state(p, at, od_machine_output_name(p->machine, i), od_machine_output_unit(p->machine, i));
  }
  for (int i = 0; p->exchange.state && i < p->exchange.states; i++) {
    const char *kind = i < nz ? "position" : i < 2 * nz ? "rate" : i < nx ? "state" : "energy";
    int first = i < nz ? 0 : i < 2 * nz ? nz : i < nx ? 2 * nz : nx;
    name_state(p, i, od_arena_format(&p->arena, "%s[%d]", kind, i - first + 1), i < nx ? "1" : "J");
  }
  return od_arena_status(&p->arena) == OD_OK;
}

// Finds out whether other programs can integrate the states of a machine. The energies of the machine are additional states of the model exchange.
// Fails with OD_NO_MEMORY.
static od_status find_exchange(od_export_program *p, const od_plant *plant, od_error *err) {
  const od_model *m = &p->model;
  char *reason = p->exchange.reason;
  size_t size = sizeof p->exchange.reason;
  if (od_model_samplers(m) > 0)
    snprintf(reason, size, "the block '%.60s' is sampled", od_model_text(m, m->block[m->sampler[0]].name));
  else if (plant->jumps > 0)
    snprintf(reason, size, "a law jumps, and only the integrators of oleodyn follow motions along a jump");
  p->exchange.is_possible = !*reason;
  if (*reason) return OD_OK;
  int nx = od_plant_nx(plant), nz = plant->nz;
  p->exchange.states = nx + plant->nq;
  p->exchange.indicators = plant->margins + plant->zeros;
  for (int i = 0; i < plant->scales; i++) p->exchange.indicators += plant->scale_knots[i];
  double *nominal = p->exchange.nominal = OD_TAKE(&p->arena, double, nx + plant->nq);
  if (!nominal || !name_states(p, plant)) return no_memory(err);
  // Typical sizes: 0.1 m or rad, 1 m/s or rad/s, the change of a pressure or spool in a millisecond, 1 kJ.
  for (int i = 0; i < nx + plant->nq; i++)
    nominal[i] = i < nz ? 0.1 : i < 2 * nz ? 1 : i < nx ? 1e-3 * (plant->scale ? plant->scale[i - nz] : 1) : 1e3;
  return OD_OK;
}

// Finds out whether derivatives of the plant need complex numbers. Fails with OD_BAD_ARGUMENT if a chosen number cannot be a parameter, with
// OD_NOT_AVAILABLE or with OD_NO_MEMORY.
static od_status find_needs(od_export_program *p, bool is_fmu, od_error *err) {
  OD_SCRATCH(scratch);
  const od_plant_choice choice = {p->d.output, p->d.outputs, p->d.number, p->d.numbers};
  od_plant *plant = NULL;
  od_error ignored = {0};
  od_status status = od_model_plant_in(&scratch, &p->model, choice, &plant, err);
  if (status != OD_OK) return status;
  const od_plant_data *d = od_plant_data_of(plant);
  if (is_fmu) {
    // Importers may ask for derivatives of all outputs.
    p->needs_complex = od_model_plant_check_real(d, &ignored) != OD_OK || od_model_plant_observes_in_complex(d);
    return p->d.observer ? OD_OK : find_exchange(p, plant, err);
  }
  p->needs_complex =
      p->d.observer ? od_model_plant_observes_in_complex(d) : od_model_plant_check_real(d, &ignored) != OD_OK;
  return status;
}

// ---- a machine

static od_status choose_outputs(od_export_program *p, const od_machine *machine, const od_export_options *options,
                                od_error *err) {
  int *output = OD_TAKE(&p->arena, int, od_machine_output_count(machine)), count = options->outputs;
  if (!output) return no_memory(err);
  if (options->output)
    memcpy(output, options->output, (size_t)count * sizeof *output);
  else
    count = od_machine_default_outputs(machine, output);
  p->output = OD_TAKE(&p->arena, od_exported_name, count);
  if (!p->output) return no_memory(err);
  for (int i = 0; i < count; i++)
    p->output[i] =
        (od_exported_name){od_machine_output_name(machine, output[i]), od_machine_output_unit(machine, output[i])};
  p->d.outputs = count;
  return trim_outputs(p, output) ? OD_OK : no_memory(err);
}

// Takes all numbers that can change while the program runs. Fails with OD_NO_MEMORY.
static od_status choose_all_parameters(od_export_program *p, const od_machine *machine, od_error *err) {
  int count = od_machine_number_count(machine), *number = OD_TAKE(&p->arena, int, count),
      *index = OD_TAKE(&p->arena, int, count);
  p->parameter = OD_TAKE(&p->arena, od_exported_name, count);
  if (!number || !index || !p->parameter) return no_memory(err);
  for (int i = 0; i < count; i++) {
    int theta = od_machine_number_theta(machine, i);
    if (theta < 0 || !od_machine_number_is_free(machine, i) || od_model_plant_fixes(&p->model, theta)) continue;
    od_number n = od_machine_number(machine, i);
    p->parameter[p->parameters] = (od_exported_name){n.path, n.unit};
    index[p->parameters] = i;
    number[p->parameters++] = theta;
  }
  p->d.number = number, p->parameter_number = index;
  p->d.numbers = p->parameters;
  return OD_OK;
}

static od_status choose_parameters(od_export_program *p, const od_machine *machine, const od_export_options *options,
                                   od_error *err) {
  if (options->is_fmu && options->parameters == 0) return choose_all_parameters(p, machine, err);
  int *number = OD_TAKE(&p->arena, int, options->parameters), *index = OD_TAKE(&p->arena, int, options->parameters);
  p->parameter = OD_TAKE(&p->arena, od_exported_name, options->parameters);
  if (!number || !index || !p->parameter) return no_memory(err);
  for (int i = 0; i < options->parameters; i++) {
    const char *path = options->parameter[i];
    int found = od_machine_number_find(machine, path);
    if (found < 0)
      return od_fail(err, OD_BAD_INPUT,
                     "--parameters: the machine has no number '%s'; 'oleodyn info FILE' lists all numbers", path);
    number[i] = od_machine_number_theta(machine, found);
    if (number[i] < 0)
      return od_fail(
          err, OD_BAD_INPUT,
          "--parameters: '%s' is not a number of the model and cannot be set in an export; give a number of the model",
          path);
    od_number n = od_machine_number(machine, found);
    p->parameter[i] = (od_exported_name){n.path, n.unit};
    index[i] = found;
  }
  p->d.number = number, p->parameter_number = index;
  p->d.numbers = p->parameters = options->parameters;
  return OD_OK;
}

// Chooses integrator and steps of an FMU, so that the outputs are those of `oleodyn simulate`. Fails with OD_BAD_INPUT.
static od_status choose_run(od_export_program *p, const od_machine *machine, const od_export_options *options,
                            od_error *err) {
  const od_run_wishes wishes = {.step = options->period};
  const od_run_choice c = od_machine_choose_run(machine, &wishes);
  const od_integrator *integrator = od_integrator_find(c.integrator);
  if (!integrator)
    return od_fail(err, OD_BAD_INPUT,
                   "the integrator '%s' is not available in FMUs; choose another 'integrator' in the section 'run'",
                   c.integrator);
  if (c.time > 0) {
    od_status status = od_machine_check_run(machine, &c, err);
    if (status != OD_OK) return status;
  }
  p->plan.length = c.time > 0 ? c.time : 0;
  p->plan.row = c.time > 0 && !c.adaptive ? od_step_grid_of(c.time, c.step).length : c.step;
  p->plan.tolerance = c.tolerance > 0 ? c.tolerance : OD_ADAPTIVE_TOLERANCE;
  p->plan.longest = OD_LONGEST_STEP;
  p->d.integrator = integrator;
  p->d.period = c.adaptive ? 0 : p->plan.row;
  return OD_OK;
}

od_status od_export_machine(const od_machine *machine, const od_export_options *options, od_export_program *out,
                            od_error *err) {
  *out = (od_export_program){.title = od_machine_title(machine)};
  od_export_program *p = out;
  const od_run_defaults *run = od_machine_run(machine);
  const char *integrator = run->integrator && od_integrator_find(run->integrator) ? run->integrator : NULL;
  p->d.period = options->period > 0 ? options->period : run->adaptive ? 0 : run->step;
  if (!(p->d.period > 0) && !options->is_fmu)
    return od_fail(err, OD_BAD_INPUT,
                   "the machine has no fixed step; give the time between two steps, for example --step 1ms");
  p->d.integrator = integrator ? od_integrator_find(integrator) : od_integrator_at(0);
  od_status status = options->is_fmu ? choose_run(p, machine, options, err) : OD_OK;
  p->integrator = p->d.integrator->name;
  if (status == OD_OK) status = describe(p, machine, options, od_machine_file(machine), err);
  if (status == OD_OK) status = choose_outputs(p, machine, options, err);
  if (status == OD_OK) status = choose_parameters(p, machine, options, err);
  if (status == OD_OK) status = find_needs(p, options->is_fmu, err);
  if (status != OD_OK) return status;
  p->states = 2 * p->model.freedom + p->model.states;
  double *start = OD_TAKE(&p->arena, double, p->inputs);
  if (!start) return no_memory(err);
  od_machine_inputs(machine, 0, start);
  p->start_input = start;
  if (options->is_fmu) return OD_OK;
  p->run.steps = TEST_STEPS;
  p->run.u = OD_TAKE_MATRIX(&p->arena, double, TEST_STEPS, p->inputs);
  p->run.y = OD_TAKE(&p->arena, double, 0);
  if (!p->run.u || !p->run.y) return no_memory(err);
  for (int i = 0; i < TEST_STEPS; i++) od_machine_inputs(machine, i * p->d.period, p->run.u + i * p->inputs);
  return run_test(p, err);
}

// ---- an experiment

// Copies the plant's outputs, its parameters and the calibrations of its sensors. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status choose_plant(od_export_program *p, const od_experiment *e, od_error *err) {
  int *output = OD_TAKE(&p->arena, int, e->outputs), *number = OD_TAKE(&p->arena, int, e->parameters);
  od_calibration *calibration = OD_TAKE(&p->arena, od_calibration, e->parameters);
  p->output = OD_TAKE(&p->arena, od_exported_name, e->outputs);
  p->parameter = OD_TAKE(&p->arena, od_exported_name, e->parameters);
  if (od_arena_status(&p->arena) != OD_OK) return no_memory(err);
  for (int i = 0; i < e->watches; i++) {
    const od_watched *w = &e->watched[i];
    output[i] = output[w->row] = w->model_output;
    p->output[i] = p->output[w->row] = (od_exported_name){w->name, w->unit};
  }
  for (int i = 0; i < e->parameters; i++) {
    const od_estimated *q = &e->parameter[i];
    p->parameter[i] = (od_exported_name){q->path, q->unit};
    if (q->sensor >= 0) {
      calibration[p->d.calibrations++] =
          (od_calibration){q->sensor, q->calibrated == OD_SENSOR_SCALE ? OD_CALIBRATE_SCALE : OD_CALIBRATE_BIAS};
      continue;
    }
    number[p->d.numbers] = od_machine_number_theta(e->model, q->number);
    if (number[p->d.numbers++] < 0)
      return od_fail(err, OD_BAD_INPUT,
                     "the parameter '%s' is a constant of the machine file; an exported observer can estimate only "
                     "numbers of elements and sensors",
                     q->path);
  }
  p->d.outputs = e->outputs;
  p->d.number = number, p->d.calibration = calibration;
  p->parameters = e->parameters;
  return trim_outputs(p, output) ? OD_OK : no_memory(err);
}

// Returns the reason why an observer of this experiment cannot be exported, or NULL.
static const char *obstacle(const od_experiment *e) {
  if (od_filter_find(e->filter->name) != e->filter)
    return "its filter is a reference for comparisons; use 'ekf', 'iterated-ekf' or another filter for machines in operation";
  const od_model *m = od_machine_model(e->model);
  bool may_repartition = od_partition_rank(m) > 0 || od_model_charts(m) > 0;
  for (int i = 0; i < e->parameters; i++)
    if (e->parameter[i].jump > 0)
      return "it detects sudden changes of parameters ('change'), which only 'oleodyn observe' does";
  if (e->process_noise && may_repartition)
    return "its process noise is given in terms of outputs of a machine with loops or spherical joints; give the noise of "
           "pressures and accelerations instead";
  if (e->uncorrected) return "it uses no measurements";
  return NULL;
}

// Returns the reason why an observer cannot be exported in single precision, or NULL.
static const char *obstacle_of_floats(const od_experiment *e) {
  const od_model *m = od_machine_model(e->model);
  if (e->form != OD_FORM_SQUARE_ROOT)
    return "--float needs the square-root form of the covariance; a covariance itself has too few digits in single precision";
  if (od_model_samplers(m)) return "--float: the machine has sampled blocks, whose times need double precision";
  if (m->operations) return "--float: the machine has formulas, whose tables are in double precision";
  return NULL;
}

// The noise of a period is constant, so an observer with a filter that supports constant noise stores the rows of its root only.
// Fails with OD_BAD_INPUT or OD_NO_MEMORY.
static od_status choose_noise(od_export_program *p, int n, od_error *err) {
  od_embedded_observer *o = &p->observer;
  if (o->form != OD_FORM_SQUARE_ROOT || !o->filter->constant_noise) return OD_OK;
  double *rows = OD_TAKE_MATRIX(&p->arena, double, n, n);
  if (!rows) return no_memory(err);
  o->noise_rows = od_observer_noise_rows(n - p->parameters, p->parameters, o->Q, rows);
  if (o->noise_rows < 0)
    return od_fail(err, OD_BAD_INPUT,
                   "the covariance of the process noise is not positive semidefinite; correct the section 'noise'");
  o->noise = rows;
  return OD_OK;
}

// Copies the settings of the observer. Fails with OD_BAD_INPUT, OD_NOT_AVAILABLE or OD_NO_MEMORY.
static od_status choose_observer(od_export_program *p, const od_experiment *e, od_error *err) {
  od_arena *a = &p->arena;
  OD_OWNED(od_plant_free) od_plant *plant = NULL;
  od_status status = od_experiment_plant(e, &plant, err);
  if (status != OD_OK) return status;
  int ny = e->outputs, np = e->parameters, n = od_plant_nx(plant) + np, given = e->initial.count;
  double *low = OD_TAKE(a, double, e->sensors), *high = OD_TAKE(a, double, e->sensors), *sigma = OD_TAKE(a, double, ny);
  double *covariance = e->sensor_covariance ? OD_TAKE_MATRIX(a, double, ny, ny) : NULL;
  double *least = OD_TAKE(a, double, np), *most = OD_TAKE(a, double, np), *start = OD_TAKE(a, double, np);
  double *P = OD_TAKE_MATRIX(a, double, n, n), *Q = OD_TAKE_MATRIX(a, double, n, n);
  int *frozen = OD_TAKE(a, int, ny), *row = OD_TAKE(a, int, given);
  if (od_arena_status(a) != OD_OK) return no_memory(err);
  for (int i = 0; i < ny; i++) sigma[i] = i < e->sensors ? od_sensor_sigma(&e->sensor[i]) : 1;
  for (int i = 0; i < e->sensors; i++) {
    const od_sensor *s = &e->sensor[i];
    bool has_range = !(s->of && s->of->integrate) && s->low < s->high;
    low[i] = has_range ? s->low : 0, high[i] = has_range ? s->high : 0;
    frozen[i] = s->frozen;
  }
  for (int i = 0; i < np; i++) {
    least[i] = fmax(e->parameter[i].low, e->parameter[i].least);
    most[i] = fmin(e->parameter[i].high, e->parameter[i].most);
    start[i] = e->parameter[i].start;
  }
  for (int i = 0; i < given; i++) row[i] = e->watched[e->initial.output[i]].row;
  if (covariance) od_experiment_sensor_covariance(e, covariance);
  memcpy(P, e->covariance, (size_t)(n * n) * sizeof *P);
  od_experiment_process_noise(e, plant, p->d.period, e->process_noise, Q);
  p->observer = (od_embedded_observer){.filter = e->filter,
                                       .choice = e->filter_choice,
                                       .form = e->form,
                                       .gate = e->gate,
                                       .patience = e->patience,
                                       .sensors = e->sensors,
                                       .low = low,
                                       .high = high,
                                       .sigma = sigma,
                                       .covariance = covariance,
                                       .frozen = frozen,
                                       .least = least,
                                       .most = most,
                                       .start = start,
                                       .P = P,
                                       .Q = Q,
                                       .given = given,
                                       .given_output = row,
                                       .given_covariance = e->initial.covariance};
  p->d.observer = &p->observer;
  return choose_noise(p, n, err);
}

// Reads the first samples of the experiment for the test run. Fails with OD_NO_MEMORY, or with a status of od_sample_source_of() or of the source.
static od_status read_samples(od_export_program *p, const od_experiment *e, od_error *err) {
  OD_SCOPED(od_sample_source_free) od_sample_source source = {0};
  od_status status = od_sample_source_of(e, &source, err);
  if (status != OD_OK) return status;
  p->run.u = OD_TAKE_MATRIX(&p->arena, double, TEST_STEPS, p->inputs);
  p->run.y = OD_TAKE_MATRIX(&p->arena, double, TEST_STEPS, p->sensors);
  if (!p->run.u || !p->run.y) return no_memory(err);
  bool more = true;
  while (p->run.steps < TEST_STEPS && status == OD_OK) {
    od_sample s;
    status = source.next(source.self, &s, &more, err);
    if (status != OD_OK || !more) break;
    int i = p->run.steps++;
    memcpy(p->run.u + i * p->inputs, s.u, (size_t)p->inputs * sizeof(double));
    memcpy(p->run.y + i * p->sensors, s.y, (size_t)p->sensors * sizeof(double));
  }
  return status;
}

od_status od_export_experiment(const od_experiment *e, const od_export_options *options, od_export_program *out,
                               od_error *err) {
  *out = (od_export_program){.title = e->title, .sensors = e->sensors};
  od_export_program *p = out;
  const char *reason = obstacle(e);
  if (!reason && options->single) reason = obstacle_of_floats(e);
  if (reason) return od_fail(err, OD_BAD_INPUT, "the observer cannot be exported: %s", reason);
  p->single = options->single;
  p->d.period = options->period > 0 ? options->period : e->step;
  p->d.integrator = e->integrator ? e->integrator : od_integrator_at(0);
  p->integrator = p->d.integrator->name;
  p->filter = e->filter->name;
  od_status status = describe(p, e->model, options, e->path, err);
  if (status == OD_OK) status = choose_plant(p, e, err);
  if (status == OD_OK) status = choose_observer(p, e, err);
  if (status == OD_OK) status = find_needs(p, options->is_fmu, err);
  if (status == OD_OK) status = read_samples(p, e, err);
  if (status == OD_OK) status = run_test(p, err);
  if (status != OD_OK) return status;
  double *start = OD_TAKE(&p->arena, double, p->inputs + p->sensors);
  if (!start) return no_memory(err);
  for (int i = 0; i < p->inputs; i++) start[i] = p->run.u[i];
  for (int i = 0; i < p->sensors; i++) start[p->inputs + i] = p->run.y[i];
  p->start_input = start;
  p->plan.row = p->d.period;
  return OD_OK;
}
