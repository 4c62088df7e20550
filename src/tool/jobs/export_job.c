// The job export: writes a machine or an observer for use in other programs.
#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "document/text_file.h"
#include "export/c_program.h"
#include "export/fmu.h"
#include "export/folder.h"
#include "export/trial.h"
#include "io/wording.h"
#include "jobs/job.h"
#include "jobs/open_machine.h"
#include "jobs/select_outputs.h"
#include "jobs/setting_values.h"
#include "machine/machine_image.h"
#include "memory/owned.h"

static const char details[] =
    "A machine file gives a simulation, an experiment gives its observer. The folder of --c compiles by itself with any\n"
    "C11 compiler: the machine as constant data, the needed sources of the core, a header with init, step and outputs,\n"
    "and a test with expected numbers. No function allocates memory.\n"
    "--fmu 2 or --fmu 3 writes a functional mock-up unit for other programs (FMI 2.0 or 3.0): co-simulation, and model\n"
    "exchange if the machine has no sampled parts, with sources and binaries for Linux and Windows. An input that the\n"
    "importing program does not set has the value of the signal in the machine file (docs/export.md).\n";

typedef struct arguments {
  const char *folder, *fmu, *file, *name, *step;
  od_words outputs, parameters;
  bool no_names, single;
  od_load_arguments load;
} arguments;

// The file of the export.
typedef struct source {
  od_machine *machine;
  od_experiment *experiment;  // one of the two is NULL
} source;

static void free_source(source *s) {
  od_machine_free(s->machine);
  od_experiment_free(s->experiment);
}

// Loads an experiment or a machine, according to the sections of the file.
static int load(od_job *job, const char *path, const arguments *a, source *s) {
  od_messages *messages = od_messages_new();
  if (!messages) return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
  char *text = NULL;
  od_content content = {0};
  od_status status = OD_OK;
  bool is_image = od_machine_is_image(path);
  if (!is_image) status = od_text_file_read(path, &text, &content.length, messages);
  content.text = text;
  od_file_kind kind = status == OD_OK && !is_image ? od_document_kind(path, content) : OD_FILE_MACHINE;
  od_load_options how = od_load_options_of(&a->load);
  how.content = content;
  if (status == OD_OK && kind == OD_FILE_EXPERIMENT) {
    const od_experiment_options options = {
        .set = how.set, .set_count = how.set_count, .variant = how.variant, .content = content};
    status = od_experiment_load(path, &options, &s->experiment, messages);
  } else if (status == OD_OK) {
    status = od_machine_load(path, &how, &s->machine, messages);
  }
  od_free(text);
  return od_job_loaded(job, messages, status);
}

// Splits the comma-separated lists of an option into words.
static int split(od_job *job, const od_words *lists, od_words *words) {
  for (int i = 0; i < lists->count; i++)
    for (const char *at = lists->text[i]; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
      const char *word = od_arena_format(&job->arena, "%.*s", (int)strcspn(at, ","), at);
      if (!word || !od_words_append(words, &job->arena, word))
        return od_job_end_early(job, OD_NO_MEMORY, &(od_error){0});
    }
  return OD_GO_ON;
}

// Returns the last part of a path.
static const char *last_part(od_job *job, const char *path) {
  size_t end = strlen(path);
  while (end > 1 && path[end - 1] == '/') end--;
  size_t begin = end;
  while (begin > 0 && path[begin - 1] != '/') begin--;
  const char *name = od_arena_format(&job->arena, "%.*s", (int)(end - begin), path + begin);
  return name ? name : "machine";
}

// Returns the name of a file without its folder, up to the first dot; NULL if an allocation fails.
static const char *stem(od_job *job, const char *path) {
  const char *name = last_part(job, path);
  return od_arena_format(&job->arena, "%.*s", (int)strcspn(name, "."), name);
}

// Fills the program from the file. Rejects --outputs and --parameters for experiments, and --float for machines. Returns OD_GO_ON, or
// the outcome after reporting an error.
static int describe(od_job *job, const arguments *a, const source *s, od_export_program *p) {
  od_words parameters = {0};
  OD_SCOPED(od_selection_free) od_selection selection = {0};
  od_export_options options = {.name = a->name  ? a->name
                                       : a->fmu ? stem(job, a->file)
                                                : last_part(job, a->folder),
                               .single = a->single,
                               .is_fmu = a->fmu != NULL};
  if (!od_setting_quantity(job, "step", a->step, "s", &options.period)) return OD_JOB_BAD_INPUT;
  if (s->experiment && (a->outputs.count || a->parameters.count)) {
    od_job_error(job, "--%s: an observer has the outputs and parameters of its experiment file; change the file",
                 a->outputs.count ? "outputs" : "parameters");
    return OD_JOB_BAD_INPUT;
  }
  if (s->machine && a->single) {
    od_job_error(
        job,
        "--float: a simulation in single precision drifts away; give an experiment, whose observer corrects the drift");
    return OD_JOB_BAD_INPUT;
  }
  OD_TRY(split(job, &a->parameters, &parameters));
  options.parameter = parameters.text, options.parameters = parameters.count;
  if (s->machine) OD_TRY(od_select_outputs(job, s->machine, &a->outputs, &selection));
  options.output = selection.index, options.outputs = selection.count;
  od_error err = {0};
  od_status status = s->experiment ? od_export_experiment(s->experiment, &options, p, &err)
                                   : od_export_machine(s->machine, &options, p, &err);
  return status == OD_OK ? OD_GO_ON : od_job_end_early(job, status, &err);
}

// Returns a report with the numbers of an export.
static od_result report_numbers(const od_export_program *p) {
  od_result r = od_result_new("Export", p->title);
  bool observes = p->d.observer != NULL;
  od_result_text(&r, "name", p->name);
  od_result_text(&r, "kind", observes ? "observer" : "simulation");
  od_result_set(&r, "period", json_real(p->d.period));
  od_result_set(&r, "states", json_integer(p->states));
  od_result_set(&r, "parameters", json_integer(p->parameters));
  od_result_set(&r, "inputs", json_integer(p->inputs));
  od_result_set(&r, "sensors", json_integer(p->sensors));
  od_result_set(&r, "outputs", json_integer(p->d.outputs));
  return r;
}

static od_result report(const od_export_program *p, const od_trial *trial, const char *folder) {
  od_result r = report_numbers(p);
  bool observes = p->d.observer != NULL;
  od_result_text(&r, "folder", folder);
  od_result_set(&r, "memory_bytes", json_integer((json_int_t)p->run.memory));
  od_result_line(&r, "%s: %s with %s, %s and %s, one step each %s", folder, observes ? "an observer" : "a simulation",
                 od_count(p->states, "state").text, od_count(p->inputs, "input").text,
                 od_count(p->d.outputs, "output").text, od_duration_text(p->d.period, 4).text);
  od_result_line(&r, "memory: %zu bytes; `make -C %s check` compiles the folder and compares a run of %s",
                 p->run.memory, folder, od_count(p->run.steps, "step").text);
  if (p->single) {
    od_result_set(&r, "single_difference_sigmas", json_real(trial->difference));
    od_result_set(&r, "single_samples", json_integer(trial->samples));
    od_result_line(&r,
                   "single precision: at most %.2g standard deviations from double precision in %s of the experiment",
                   trial->difference, od_count((int)trial->samples, "sample").text);
  }
  od_result_text(&r, "precision", p->single ? "single" : "double");
  return r;
}

// Writes an FMU, and the report of the export.
static int export_fmu(od_job *job, const arguments *a, const od_export_program *p) {
  od_error err = {0};
  od_fmu_result done;
  const od_fmu_options options = {
      .version = a->fmu[0] - '0', .path = a->file, .names = !a->no_names, .progress = od_job_progress, .user = job};
  od_status status = od_fmu_write(p, &options, &done, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_SCOPED(od_result_free) od_result r = report_numbers(p);
  od_result_text(&r, "file", a->file);
  od_result_text(&r, "fmi_version", a->fmu);
  od_result_text(&r, "token", done.token);
  od_result_set(&r, "sources", json_integer(done.sources));
  od_result_set(&r, "bytes", json_integer((json_int_t)done.bytes));
  od_result_set(&r, "windows", json_boolean(done.has_windows));
  od_result_line(&r, "%s: FMI %s.0, %s with %s, %s, %s and %s", a->file, a->fmu,
                 p->d.observer ? "an observer" : "a machine", od_count(p->states, "state").text,
                 od_count(p->inputs, "input").text, od_count(p->d.outputs, "output").text,
                 od_count(p->parameters, "parameter").text);
  od_result_set(&r, "model_exchange", json_boolean(p->exchange.is_possible));
  od_result_line(&r, "%s, with sources and binaries for Linux%s",
                 p->exchange.is_possible ? "co-simulation and model exchange" : "co-simulation",
                 done.has_windows ? " and Windows" : "");
  if (*p->exchange.reason) od_result_line(&r, "no model exchange: %s", p->exchange.reason);
  if (!done.has_windows) od_result_line(&r, "no binary for Windows: the package gcc-mingw-w64-x86-64 is not installed");
  const od_file_contents contents = {.result = &r};
  return od_job_finish(job, &contents, NULL);
}

int od_kind_export(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"c", OD_OPTION_TEXT, "DIR", "the folder with C sources for a controller; an earlier export is replaced",
       &a.folder},
      {"fmu", OD_OPTION_TEXT, "2|3", "an FMU of this version of FMI for other simulation programs", &a.fmu},
      {"file", OD_OPTION_TEXT, "FILE", "the file of the FMU; default: the name of the machine file with .fmu", &a.file},
      {"name", OD_OPTION_TEXT, "NAME", "beginning of the names in C; default: the name of the folder or FMU", &a.name},
      {"outputs", OD_OPTION_LIST, "LIST", "outputs of a machine: names, patterns or all (repeatable)", &a.outputs},
      {"parameters", OD_OPTION_LIST, "LIST", "numbers of a machine that can be set in the export (repeatable)",
       &a.parameters},
      {"step", OD_OPTION_TEXT, "H", "time between two steps; default: the step of the file", &a.step},
      {"float", OD_OPTION_FLAG, NULL,
       "single precision, for observers; refused if the estimates differ by more than 0.1 standard deviations",
       &a.single},
      {"no-names", OD_OPTION_FLAG, NULL, "no comments with the names of the machine's numbers", &a.no_names},
      OD_LOAD_OPTIONS(&a.load),
  };
  const od_usage usage = {"FILE", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "names, sizes and counts", .is_json_alone = true}};
  od_words files = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  if (!a.folder == !a.fmu) {
    od_job_error(job, a.folder
                          ? "--c and --fmu exclude each other; give only one of these options"
                          : "--c or --fmu is missing; expected the name of a folder, such as --c controller, or the "
                            "version of an FMU, --fmu 2 or --fmu 3");
    return OD_JOB_BAD_INPUT;
  }
  if (a.fmu && strcmp(a.fmu, "2") != 0 && strcmp(a.fmu, "3") != 0) {
    od_job_error(job, "--fmu: '%s' is not a version; expected 2 or 3", a.fmu);
    return OD_JOB_BAD_INPUT;
  }
  if (a.fmu && a.single) {
    od_job_error(job, "--float: an FMU has numbers in double precision; --float belongs to --c");
    return OD_JOB_BAD_INPUT;
  }
  if (a.fmu && !a.file) a.file = od_arena_format(&job->arena, "%s.fmu", stem(job, files.text[0]));
  OD_SCOPED(free_source) source s = {0};
  OD_TRY(load(job, files.text[0], &a, &s));
  OD_TRY(od_job_prepare_files(job));
  OD_SCOPED(od_export_program_free) od_export_program p = {0};
  OD_TRY(describe(job, &a, &s, &p));
  if (a.fmu) return export_fmu(job, &a, &p);
  od_error err = {0};
  od_folder folder;
  od_trial trial = {0};
  od_status status = od_folder_begin(&folder, a.folder, &err);
  const od_c_export x = {.program = &p, .folder = folder.temporary, .names = !a.no_names};
  if (status == OD_OK) {
    status = od_c_export_write(&x, &err);
    if (status == OD_OK && a.single) {
      status = od_trial_run(&p, s.experiment, folder.temporary, &trial, &err);
      if (status == OD_OK) status = od_c_export_write(&x, &err);  // again, with the memory in single precision
    }
    if (status == OD_OK) status = od_folder_commit(&folder, &err);
    od_folder_discard(&folder);
  }
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_SCOPED(od_result_free) od_result r = report(&p, &trial, a.folder);
  const od_file_contents contents = {.result = &r};
  return od_job_finish(job, &contents, NULL);
}
