// The job frf: computes the frequency response of a machine, or estimates a response from a log.
#include "jobs/job.h"
#include "memory/scoped.h"
#include "frequency/frequency_pictures.h"
#include "jobs/response_source.h"
#include "report/picture_figures.h"

typedef struct arguments {
  od_response_arguments source;
} arguments;

typedef struct findings {
  const od_response *r;
  const char *path;
} findings;

static od_status write_plot(const void *user, const char *path, od_error *err) {
  const findings *found = user;
  return od_response_write_plot(found->r, found->path, path, err);
}

static const char details[] =
    "FILE is a machine file (.yaml) or an image, which is linearized at its initial state, or a log of any format.\n"
    "For a log, choose the method by the shape of the input:\n"
    "  --sine    stepped sine: sine and offset are fitted by least squares to the settled part of each frequency\n"
    "  --period  multisine: averages over whole periods\n"
    "Without these options the response is computed from averaged spectra, with coherence. Intervals are 95 % confidence\n"
    "intervals. For a stepped sine, the intervals are computed from the spectrum next to each frequency, so the noise need\nnot be white. Such intervals require at least two settled periods. Units are SI."
    "\n\n"
    "Examples\n"
    "  oleodyn frf servo.yaml --input u_i --output piston.position --low 1 --high 100 --plot servo.svg\n"
    "  oleodyn frf sweep.csv --input u_i --output piston.position --sine 1:100:1 --periods 3 --csv -\n"
    "  oleodyn frf noise.mat --input valve --output pressure --length 4096 --json -\n";

int od_kind_frf(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      OD_RESPONSE_OPTIONS(&a.source),
  };
  const od_usage usage = {"FILE", details, OD_OPTIONS(options),
                          .shared = {.table = "the points",
                                     .file[OD_FILE_JSON] = "the findings",
                                     .file[OD_FILE_PLOT] = "amplitude and phase",
                                     .file[OD_FILE_REPORT] = "amplitude, phase and coherence",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_SCOPED(od_response_free) od_response r = {0};
  OD_TRY(od_job_begin(job, &usage, 0, 1, &files));
  const char *path = NULL;
  OD_TRY(od_response_path(job, &files, &a.source, &path));
  OD_TRY(od_job_check_files(job));
  OD_TRY(od_response_open(job, path, &a.source, &r));
  OD_TRY(od_job_check_inputs(job));
  OD_OWNED(od_table_free) od_table *table = od_response_table(&r);
  OD_SCOPED(od_result_free) od_result result = od_response_result(&r, path);
  const findings found = {&r, path};
  OD_SCOPED(od_picture_free) od_picture picture = {.title = path, .subtitle = r.how};
  od_picture_add_named_response(&picture, &r);
  od_result_add_picture(&result, "Charts", &picture);
  const bool in_terminal = od_job_draws_in_terminal(job);
  const od_file_contents contents = {.table = &table,
                                     .result = &result,
                                     .picture = &picture,
                                     .summary_always = true,
                                     .write[OD_FILE_PLOT] = in_terminal ? NULL : write_plot,
                                     .user = &found};
  return od_job_finish(job, &contents, NULL);
}
