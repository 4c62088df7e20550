// The job draw: writes pictures of a machine and of its circuit as SVG, without a simulation.
#include <stdio.h>
#include <string.h>

#include "circuit/diagram.h"
#include "io/atomic_file.h"
#include "jobs/job.h"
#include "jobs/open_machine.h"
#include "machine/machine.h"
#include "memory/owned.h"
#include "memory/scoped.h"
#include "scene/scene.h"

static const char details[] =
    "The picture shows the machine at its initial state. A machine that cannot be assembled, or has no initial values, is\n"
    "drawn at the positions that were found; a loop that does not close is red. The section 'look' of the file gives\n"
    "bodies their shapes. -o crane.svg writes the machine to crane.svg and its circuit to crane-circuit.svg. Without file\n"
    "names, the pictures have the name of the machine file.\n";

typedef struct pictures {
  const od_scene *scene;      // NULL: no bodies
  const od_circuit *circuit;  // NULL: no circuit
  od_scene_picture look;
} pictures;

static od_status write_machine(const void *user, const char *path, od_error *err) {
  const pictures *p = user;
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  od_scene_svg_with(p->scene, NULL, &p->look, file.file);
  return od_atomic_commit(&file, err);
}

static od_status write_circuit(const void *user, const char *path, od_error *err) {
  const pictures *p = user;
  od_atomic_file file;
  od_status status = od_atomic_open(&file, path, err);
  if (status != OD_OK) return status;
  od_circuit_svg_file(p->circuit, file.file);
  return od_atomic_commit(&file, err);
}

// Describes the pictures; also names the loops that do not close.
static od_result describe(const od_machine *machine, const pictures *p) {
  od_result r = od_result_new("Pictures", od_machine_title(machine));
  const od_scene_gap *gap = NULL;
  od_result_text(&r, "title", od_machine_title(machine));
  od_result_text(&r, "file", od_machine_file(machine));
  od_result_text(&r, "problem", od_machine_lacks_initial_state(machine));
  od_result_set(&r, "scene", p->scene ? od_scene_json(p->scene) : json_null());
  od_result_set(&r, "circuit", p->circuit ? od_circuit_json(p->circuit) : json_null());
  int gaps = p->scene ? od_scene_gaps(p->scene, &gap) : 0;
  for (int i = 0; i < gaps; i++)
    od_result_line(&r, "The loop through %s '%s' does not close: a gap of %.3g m, red in the picture.",
                   gap[i].is_rod ? "rod" : "joint", gap[i].name, gap[i].size);
  return r;
}

// Returns the name of a picture: the path without its suffix, and an ending; NULL if an allocation fails.
static const char *name_of(od_arena *arena, const char *path, const char *ending) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  const char *name = slash ? slash + 1 : path;
  int length = (int)(dot && dot != name ? (size_t)(dot - path) : strlen(path));
  return od_arena_format(arena, "%.*s%s", length, path, ending);
}

// Chooses the names of the pictures if neither --machine nor --circuit is given.
static void choose_names(od_job *job, const pictures *p, const char *output, const char *machine_file) {
  const char **machine = &job->files.path[OD_FILE_MACHINE_PICTURE],
             **circuit = &job->files.path[OD_FILE_CIRCUIT_PICTURE];
  const char *slash = strrchr(machine_file, '/'), *name = slash ? slash + 1 : machine_file;
  if (*machine || *circuit || (!output && job->files.path[OD_FILE_JSON])) return;
  if (!output) output = name_of(&job->arena, name, ".svg");
  if (!output) return;
  if (p->scene) *machine = output;
  if (p->circuit) *circuit = p->scene ? name_of(&job->arena, output, "-circuit.svg") : output;
}

// Checks that the options for file names are compatible with each other and with the machine. Returns OD_GO_ON, or the
// outcome after reporting an error.
static int check_names(od_job *job, const pictures *p, const char *output, const char *machine_file) {
  const char *machine = job->files.path[OD_FILE_MACHINE_PICTURE], *circuit = job->files.path[OD_FILE_CIRCUIT_PICTURE];
  if (output && (machine || circuit))
    od_job_error(job,
                 "--drawing cannot be used with --machine or --circuit; give the file names with these two options");
  else if (machine && !p->scene)
    od_job_error(job, "%s has no bodies, so there is no picture for --machine; remove this option", machine_file);
  else if (circuit && !p->circuit)
    od_job_error(job, "%s has no circuit, so there is no picture for --circuit; remove this option", machine_file);
  else if (!p->scene && !p->circuit)
    od_job_error(job, "%s has nothing to draw: expected a machine with bodies or a circuit", machine_file);
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}

int od_kind_draw(od_job *job) {
  pictures p = {.look = {.is_alone = true}};
  const char *output = NULL;
  od_load_arguments load = {0};
  const od_option options[] = {
      {"drawing", OD_OPTION_TEXT, "FILE.svg", "the pictures; also -o FILE.svg", &output},
      {"machine", OD_OPTION_TEXT, "FILE.svg", "the picture of the machine", &job->files.path[OD_FILE_MACHINE_PICTURE]},
      {"circuit", OD_OPTION_TEXT, "FILE.svg", "the picture of the circuit", &job->files.path[OD_FILE_CIRCUIT_PICTURE]},
      {"names", OD_OPTION_FLAG, NULL, "write the names of bodies and cylinders", &p.look.names},
      OD_LOAD_OPTIONS(&load),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.file[OD_FILE_JSON] = "shapes and positions of all parts", .quiet = true}};
  od_words files = {0};
  OD_SCRATCH(scratch);
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(od_job_load_without_state(job, files.text[0], &load, &machine));
  od_error err = {0};
  od_status status = od_scene_make(machine, &scratch, &p.scene, &err);
  if (status == OD_OK) status = od_circuit_make(machine, &scratch, &p.circuit, &err);
  if (status != OD_OK) return od_job_end_early(job, status, &err);
  OD_TRY(check_names(job, &p, output, files.text[0]));
  choose_names(job, &p, output, files.text[0]);
  OD_TRY(od_job_has_memory(job, &job->arena));
  OD_TRY(od_job_prepare_files(job));
  OD_SCOPED(od_result_free) od_result r = describe(machine, &p);
  const od_file_contents contents = {.result = &r,
                                     .write[OD_FILE_MACHINE_PICTURE] = write_machine,
                                     .write[OD_FILE_CIRCUIT_PICTURE] = write_circuit,
                                     .user = &p};
  return od_job_finish(job, &contents, NULL);
}
