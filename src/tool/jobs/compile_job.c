// The job compile: writes the image of a machine.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "io/wording.h"
#include "jobs/job.h"
#include "jobs/open_machine.h"
#include "machine/core_parts.h"
#include "machine/machine.h"
#include "machine/machine_image.h"
#include "machine/machine_info.h"
#include "memory/owned.h"
#include "memory/scoped.h"

OD_OWNED_POINTER(void, od_free);

static const char details[] =
    "Every command that takes a machine file also takes an image: the image contains the texts of the machine file, its\n"
    "included files and its logs. C programs use an image in place (oleodyn/image.h). Images for controllers have no\n"
    "texts and no names: outputs and numbers are reached by index. The same files and options give the same bytes.\n";

typedef struct compiled {
  const void *image;
  size_t size;
  const od_machine *machine;
} compiled;

static od_status write_image(const void *user, const char *path, od_error *err) {
  const compiled *c = user;
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  if (fwrite(c->image, 1, c->size, file.file) == c->size) return od_atomic_commit(&file, err);
  od_atomic_discard(&file);
  return od_fail(err, OD_IO, "%s cannot be written; check the folder and the free space", path);
}

static od_status write_parts(const void *user, const char *path, od_error *err) {
  const compiled *c = user;
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  if (od_core_parts_write(od_machine_model(c->machine), file.file)) return od_atomic_commit(&file, err);
  od_atomic_discard(&file);
  return od_fail(err, OD_NO_MEMORY, "out of memory");
}

static od_result describe(const od_machine *machine, const char *path, const od_image_facts *facts) {
  od_result r = od_result_new("Compile", od_machine_title(machine));
  const od_model *m = od_machine_model(machine);
  char text[200];
  od_model_facts counts = od_model_get_facts(m);
  od_facts_text(&counts, text, sizeof text);
  od_result_text(&r, "file", path);
  od_result_set(&r, "bytes",
                json_pack("{s:I, s:I, s:I, s:I}", "all", (json_int_t)facts->size, "model", (json_int_t)facts->model,
                          "names", (json_int_t)facts->names, "machine", (json_int_t)facts->machine));
  char fingerprint[20];
  snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, facts->fingerprint);
  od_result_text(&r, "fingerprint", fingerprint);
  od_result_set(&r, "view_bytes", json_integer((json_int_t)facts->view));
  od_result_set(&r, "numbers", json_integer(m->numbers));
  od_result_set(&r, "outputs", json_integer(m->outputs));
  od_result_set(&r, "inputs", json_integer(m->inputs));
  od_facts_json(&counts, r.data);
  od_result_line(&r, "%s: %s; %zu bytes (model %zu, names %zu, machine file %zu), fingerprint %s", path, text,
                 facts->size, facts->model, facts->names, facts->machine, fingerprint);
  return r;
}

int od_kind_compile(od_job *job) {
  bool without_names = false, without_machine = false;
  od_load_arguments load = {0};
  const od_option options[] = {
      {"image", OD_OPTION_TEXT, "FILE", "the image; also -o FILE (usual suffix: .odm)",
       &job->files.path[OD_FILE_IMAGE]},
      {"parts", OD_OPTION_TEXT, "FILE",
       "a C header with the parts of the core that the model needs (docs/controllers.md)",
       &job->files.path[OD_FILE_PARTS]},
      OD_LOAD_OPTIONS(&load),
      {"without-machine", OD_OPTION_FLAG, NULL,
       "leave out the texts of the machine file, for use in programs; commands reject such an image", &without_machine},
      {"without-names", OD_OPTION_FLAG, NULL, "leave out the texts, all names and all units: for controllers",
       &without_names},
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "sizes, counts and the fingerprint", .is_json_alone = true}};
  od_words files = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  const char *path = job->files.path[OD_FILE_IMAGE];
  if (!path) {
    od_job_error(job, "--image is missing; expected the name of the image, such as -o machine.odm");
    return OD_JOB_BAD_INPUT;
  }
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_OWNED(od_free) void *image = NULL;
  compiled c = {0};
  const od_load_options how = od_load_options_of(&load);
  od_machine_image_parts parts = without_names     ? OD_IMAGE_WITHOUT_NAMES
                                 : without_machine ? OD_IMAGE_WITHOUT_MACHINE
                                                   : OD_IMAGE_COMPLETE;
  od_messages *messages = od_messages_new();
  od_status status =
      messages ? od_machine_compile(files.text[0], &how, parts, &image, &c.size, &machine, messages) : OD_NO_MEMORY;
  OD_TRY(od_job_loaded(job, messages, status));
  OD_TRY(od_job_prepare_files(job));
  od_image_facts facts;
  od_error err = {0};
  status = od_image_get_facts(image, c.size, &facts, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  c.image = image, c.machine = machine;
  OD_SCOPED(od_result_free) od_result r = describe(machine, path, &facts);
  const od_file_contents contents = {
      .result = &r, .write[OD_FILE_IMAGE] = write_image, .write[OD_FILE_PARTS] = write_parts, .user = &c};
  return od_job_finish(job, &contents, NULL);
}
