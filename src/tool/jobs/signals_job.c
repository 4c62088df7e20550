// The job signals: computes the inputs of a machine over time, without a simulation.
#include "jobs/job.h"
#include "machine/input_series.h"
#include "memory/owned.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "machine/machine.h"
#include "machine/machine_result.h"
#include "report/picture_figures.h"

enum { MOST_ROWS = 10000000 };

typedef struct arguments {
  const char *time, *step;
  od_load_arguments load;
} arguments;

// Chooses time and step from the options, else from the defaults. Returns OD_GO_ON, or the outcome after reporting an
// error.
static int choose_times(od_job *job, const arguments *a, od_input_series *f) {
  od_input_series_usual_times(f->machine, &f->time, &f->step);
  if (!od_setting_quantity(job, "time", a->time, "s", &f->time) ||
      !od_setting_quantity(job, "step", a->step, "s", &f->step))
    return OD_JOB_BAD_INPUT;
  od_error err = {0};
  if (od_machine_input_count(f->machine) == 0)
    od_job_error(job, "%s has no inputs; expected a machine file with a section 'inputs'", od_machine_file(f->machine));
  else if (!(f->time > 0))
    od_job_error(job, "%s has no run time and no input that ends; give --time", od_machine_file(f->machine));
  else if (f->time / f->step > MOST_ROWS)
    od_job_error(job, "found %.3g rows, expected at most %d million; give a longer --step", f->time / f->step,
                 MOST_ROWS / 1000000);
  else if (od_machine_check_pace(f->machine, f->time, &err) != OD_OK)
    od_job_error(job, "%s", err.text);
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}

static int show(od_job *job, od_input_series *f) {
  od_error err = {0};
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  od_status status = od_input_series_find(f, od_job_progress, job);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_SCOPED(od_result_free) od_result result = od_input_series_result(f);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = od_machine_caption(f->machine)};
  od_picture_add_table(&picture, f->table, NULL);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {
      .table = &f->table, .result = &result, .write[OD_FILE_PLOT] = od_input_series_write_plot, .user = f};
  return od_job_finish(job, &contents, NULL);
}

static const char details[] =
    "Evaluates the inputs of a machine without a simulation. The rows contain values and exact slopes. Breaks are the times\nat which values, slopes or second derivatives jump. Reversals are the times at which values change their sign."
    "\n\n"
    "Examples\n"
    "  oleodyn signals trajectory.yaml --variant complete --plot v.svg\n"
    "  oleodyn signals trajectory.yaml --step '0.1 ms' --csv v.csv --json times.json\n";

int od_kind_signals(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"time", OD_OPTION_TEXT, "T", "end time; default: the run time of the file, else the end of the longest input",
       &a.time},
      {"step", OD_OPTION_TEXT, "H", "time between rows; default: the step of the file, else 1 ms", &a.step},
      OD_LOAD_OPTIONS(&a.load),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.table = "values and slopes",
                                     .file[OD_FILE_JSON] = "extremes, breaks and reversals",
                                     .file[OD_FILE_PLOT] = "values and slopes",
                                     .file[OD_FILE_REPORT] = "extremes, breaks, reversals and charts",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_SCOPED(od_input_series_free) od_input_series f = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(od_job_load_machine(job, files.text[0], &a.load, &machine));
  f.machine = machine;
  OD_TRY(choose_times(job, &a, &f));
  OD_TRY(od_job_prepare_files(job));
  return show(job, &f);
}
