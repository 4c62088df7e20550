// The job draw: writes pictures of a machine and of its circuit as SVG, without a simulation.
#include <stdio.h>
#include <string.h>

#include "io/atomic_file.h"
#include "io/svg.h"
#include "jobs/job.h"
#include "jobs/open_machine.h"
#include "machine/machine.h"
#include "memory/owned.h"
#include "memory/scoped.h"
#include "scene/scene.h"

static const char details[] =
    "The picture shows the machine at its initial state. A machine that cannot be assembled, or has no initial values, is\n"
    "drawn at the positions that were found; a loop that does not close is red. The section 'look' of the file gives\n"
    "bodies their shapes. Without file names, the picture has the name of the machine file with the suffix .svg.\n";

typedef struct pictures {
  const od_scene *scene;
  od_scene_picture picture;
} pictures;

static od_status write_machine(const void *user, const char *path, od_error *err) {
  const pictures *p = user;
  od_atomic_file file;
  if (!p->scene) return OD_NOT_AVAILABLE;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  od_scene_svg_with(p->scene, NULL, &p->picture, file.file);
  return od_atomic_commit(&file, err);
}

// Describes the pictures; also names the loops that do not close.
static od_result describe(const od_machine *machine, const od_scene *scene) {
  od_result r = od_result_new("Pictures", od_machine_title(machine));
  const od_scene_gap *gap = NULL;
  od_result_text(&r, "title", od_machine_title(machine));
  od_result_text(&r, "file", od_machine_file(machine));
  od_result_text(&r, "problem", od_machine_lacks_initial_state(machine));
  od_result_set(&r, "machine", scene ? od_scene_json(scene) : json_null());
  int gaps = scene ? od_scene_gaps(scene, &gap) : 0;
  for (int i = 0; i < gaps; i++) {
    if (gap[i].is_rod)
      od_result_line(&r, "rod '%s' does not fit: it is %.3g m too long or too short", gap[i].name, gap[i].size);
    else
      od_result_line(&r, "the loop at joint '%s' does not close: its points are %.3g m apart", gap[i].name,
                     gap[i].size);
  }
  return r;
}

// Returns the default name of the picture: "crane.svg" for "cranes/crane.yaml"; NULL if an allocation fails.
static const char *default_name(od_arena *arena, const char *machine_file) {
  const char *slash = strrchr(machine_file, '/'), *name = slash ? slash + 1 : machine_file, *dot = strrchr(name, '.');
  int length = (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name));
  return od_arena_format(arena, "%.*s.svg", length, name);
}

int od_kind_draw(od_job *job) {
  pictures p = {.picture = {.is_alone = true}};
  od_load_arguments load = {0};
  const od_option options[] = {
      {"machine", OD_OPTION_TEXT, "FILE.svg", "the picture of the machine; also -o FILE.svg",
       &job->files.path[OD_FILE_MACHINE_PICTURE]},
      {"names", OD_OPTION_FLAG, NULL, "write the names of bodies and cylinders", &p.picture.names},
      OD_LOAD_OPTIONS(&load),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "the shapes of all parts", .quiet = true}};
  od_words files = {0};
  OD_SCRATCH(scratch);
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(od_job_load_without_state(job, files.text[0], &load, &machine));
  od_error err = {0};
  od_status status = od_scene_make(machine, &scratch, &p.scene, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  if (!p.scene) {
    od_job_error(job, "%s has nothing to draw: the machine has no bodies", files.text[0]);
    return OD_JOB_BAD_INPUT;
  }
  const char **path = &job->files.path[OD_FILE_MACHINE_PICTURE];
  if (!*path && !job->files.path[OD_FILE_JSON]) *path = default_name(&job->arena, files.text[0]);
  OD_TRY(od_job_prepare_files(job));
  OD_SCOPED(od_result_free) od_result r = describe(machine, p.scene);
  const od_file_contents contents = {.result = &r, .write[OD_FILE_MACHINE_PICTURE] = write_machine, .user = &p};
  return od_job_finish(job, &contents, NULL);
}
