// The job study: runs the cases of a study many times on all cores and prints statistics.
#include <stdio.h>
#include <string.h>

#include "jobs/job.h"
#include "io/inputs_read.h"
#include "io/json.h"
#include "memory/scoped.h"
#include "oleodyn/version.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "report/picture_figures.h"
#include "study/study_summary.h"
#include "study/study_team.h"

typedef struct arguments {
  const char *seeds, *threads, *part;
  od_words only, merge;
  od_team team;
} arguments;

static int load(od_job *job, const char *path, const arguments *a, od_study **s) {
  unsigned long long seeds = 0;
  if (!od_setting_whole(job, "seeds", a->seeds, &seeds)) return OD_JOB_BAD_INPUT;
  if (a->seeds && (seeds < 1 || seeds > 1000000000)) {
    od_job_error(job, "--seeds: found %s, expected 1 to 1000 million", a->seeds);
    return OD_JOB_BAD_INPUT;
  }
  const od_study_options options = {.seeds = (long)seeds, .only = a->only.text, .only_count = a->only.count};
  od_messages *messages = od_messages_new();
  od_status status = messages ? od_study_load(path, &options, s, messages) : OD_NO_MEMORY;
  return od_job_loaded(job, messages, status);
}

// --- Parts --------------------------------------------------------------------------------------------------------

// Reads "K/N". Returns OD_GO_ON, or the outcome after reporting an error.
static int read_part(od_job *job, const char *text, od_study_part *part) {
  int end = 0;
  if (sscanf(text, "%d/%d%n", &part->number, &part->count, &end) == 2 && text[end] == '\0' && part->number >= 1 &&
      part->number <= part->count && part->count <= OD_MOST_PARTS)
    return OD_GO_ON;
  od_job_error(job, "--part: found %s, expected K/N with K from 1 to N and N up to %d, such as 3/16", text,
               OD_MOST_PARTS);
  return OD_JOB_BAD_INPUT;
}

static int check_parts(od_job *job, const arguments *a) {
  const char *wrong = NULL;
  if (a->part && a->team.size > 1)
    wrong = "--part: MPI already distributes the runs to its processes; leave out --part";
  else if (a->part && !job->files.path[OD_FILE_VALUES])
    wrong = "--part requires --values FILE for the values of its runs; --merge combines these files";
  else if (a->merge.count && (a->part || job->files.path[OD_FILE_VALUES]))
    wrong = "--merge excludes --part and --values, because --merge makes no runs; remove these options";
  else if (a->part && job->files.path[OD_FILE_JSON])
    wrong = "--json is not possible with --part; give --json with --merge";
  else if (a->part && (job->files.path[OD_FILE_PLOT] || job->files.path[OD_FILE_REPORT]))
    wrong = "--plot and --report are not possible with --part; give them with --merge";
  if (!wrong) return OD_GO_ON;
  od_job_error(job, "%s", wrong);
  return OD_JOB_BAD_INPUT;
}

// Computes the fingerprint of everything that determines the results of the runs: the files, the version of the
// program, the number of seeds and the selection of cases. Returns false if a file cannot be read.
static bool find_fingerprint(const od_job *job, const arguments *a, uint64_t *fingerprint) {
  if (!od_inputs_fingerprint(&job->inputs, fingerprint)) return false;
  const char *texts[] = {od_version(), a->seeds ? a->seeds : ""};
  for (int i = 0; i < 2 + a->only.count; i++)
    *fingerprint = od_fingerprint_with(*fingerprint, i < 2 ? texts[i] : a->only.text[i - 2]);
  return true;
}

// --- Files --------------------------------------------------------------------------------------------------------

typedef struct finished_study {
  const od_study *study;
  const od_study_result *result;
  const od_result *summary;
} finished_study;

// Writes only the rows of the summary. Fails with OD_IO or OD_NO_MEMORY.
static od_status write_json(const void *user, const char *path, od_error *err) {
  return od_json_write(json_object_get(((const finished_study *)user)->summary->data, "rows"), path, err);
}

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const finished_study *f = user;
  return od_study_plot(f->study, f->result, path, err);
}

// Prints the rows and writes the files. Returns the outcome.
static int write_rows(od_job *job, const arguments *a, const od_study *s, const od_study_result *r) {
  OD_SCOPED(od_result_free) od_result summary = od_study_summary(s, r, a->merge.count);
  const finished_study f = {s, r, &summary};
  OD_SCOPED(od_picture_free) od_picture picture = {.title = s->title, .subtitle = "values of the runs"};
  od_picture_add_study(&picture, r);
  od_result_add_picture(&summary, "Charts", &picture);
  const od_file_contents contents = {.result = &summary,
                                     .picture = &picture,
                                     .summary_always = true,
                                     .write[OD_FILE_JSON] = write_json,
                                     .write[OD_FILE_PLOT] = od_study_has_quantiles(r) ? write_plot : NULL,
                                     .user = &f};
  return od_job_finish(job, &contents, NULL);
}

// --- The command --------------------------------------------------------------------------------------------------

static int run_and_write(od_job *job, arguments *a, od_study *s) {
  OD_OWNED(od_study_result_free) od_study_result *result = NULL;
  od_error err = {0};
  od_study_run_options options = {
      .values = job->files.path[OD_FILE_VALUES], .merge = a->merge.text, .merge_count = a->merge.count};
  if (!od_setting_threads(job, a->threads, &options.threads)) return OD_JOB_BAD_INPUT;
  if (a->part) OD_TRY(read_part(job, a->part, &options.part));
  if (a->team.size > 1) {
    options.part = (od_study_part){.number = a->team.rank + 1, .count = a->team.size};
    options.team = &a->team;
  }
  if ((job->files.path[OD_FILE_VALUES] || a->merge.count) && !find_fingerprint(job, a, &options.fingerprint)) {
    od_job_error(job, "a file of the study can no longer be read; check the files and run the study again");
    return OD_JOB_FAILED;
  }
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  options.progress = od_job_progress;
  options.user = job;
  od_status status = od_study_run(s, &options, &result, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  int code = OD_JOB_DONE;
  if (result && !a->part)
    code = write_rows(job, a, s, result);
  else if (result && !job->quiet)
    od_job_say(job, OD_MESSAGE_NOTE, "wrote %s: %ld of %ld runs of part %s", job->files.path[OD_FILE_VALUES],
               result->done, result->all, a->part);
  return status == OD_OK ? code : od_job_end_early(job, status, &err);
}

// Loads and runs the study. Returns the outcome.
static int run_study(od_job *job, arguments *a, const char *path) {
  OD_OWNED(od_study_free) od_study *s = NULL;
  OD_TRY(check_parts(job, a));
  // Under MPI only the first process prints and writes.
  if (a->team.rank > 0) job->files = (od_files){0}, job->quiet = true;
  OD_TRY(load(job, path, a, &s));
  OD_TRY(od_job_prepare_files(job));
  return a->merge.count && a->team.rank > 0 ? OD_JOB_DONE : run_and_write(job, a, s);
}

static const char details[] =
    "The study file lists cases: experiments, possibly in a variant or with other numbers, and their numbers of seeds. Every\n"
    "metric is printed with its 99 % sampling interval, and with the Cramer-Rao bound, the published value and the reference\n"
    "value (of another program) if they exist. For coverage, NEES and NIS the interval belongs to a consistent filter; a star\n"
    "marks values outside this interval. The same seeds give the same bits with any number of threads.\n\n"
    "On a cluster each job runs a part, K/N, and writes the values of its runs; --merge combines the files. The rows are\n"
    "equal to the rows of a run of the whole study, to the last bit on computers of the same kind. Missing runs of parts that\n"
    "were not completed are listed, so that they can be run again.\n\n"
    "If the program was built with MPI and is started by MPI (mpirun -n 16 oleodyn study ...), the processes share the runs.\n\n"
    "Examples\n"
    "  oleodyn study study.yaml --json rows.json\n"
    "  oleodyn study study.yaml --seeds 20 --case 3-S1\n"
    "  oleodyn study study.yaml --part 3/16 --values part-3.json\n"
    "  oleodyn study study.yaml --merge part-1.json --merge part-2.json ... --json rows.json\n";

int od_kind_study(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"seeds", OD_OPTION_TEXT, "N", "number of runs of each case; default: from the file", &a.seeds},
      {"case", OD_OPTION_LIST, "NAME", "run only this case (repeatable); default: all cases", &a.only},
      {"threads", OD_OPTION_TEXT, "N", "number of threads; default: the number of cores", &a.threads},
      {"part", OD_OPTION_TEXT, "K/N", "make only every Nth run, beginning with run K; requires --values", &a.part},
      {"values", OD_OPTION_TEXT, "FILE", "write the values of each run, for --merge", &job->files.path[OD_FILE_VALUES]},
      {"merge", OD_OPTION_LIST, "FILE", "make no runs; use the values in this file (repeatable)", &a.merge},
  };
  const od_usage usage = {
      "STUDY", details, OD_OPTIONS(options),
      .shared = {.file[OD_FILE_JSON] = "the rows",
                 .file[OD_FILE_PLOT] = "histograms of the runs; for cases with drawn numbers, quantiles",
                 .file[OD_FILE_REPORT] = "the rows and histograms",
                 .si = true,
                 .quiet = true}};
  od_words files = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  a.team = od_team_begin();
  int code = run_study(job, &a, files.text[0]);
  od_team_end(&a.team, code);
  return code;
}
