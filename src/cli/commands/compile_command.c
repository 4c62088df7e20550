// oleodyn compile: writes the image of a machine.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "io/atomic_file.h"
#include "io/inputs_read.h"
#include "io/json.h"
#include "io/wording.h"
#include "machine/machine.h"
#include "machine/machine_image.h"
#include "machine/machine_info.h"
#include "memory/owned.h"
#include "memory/scoped.h"
#include "options/open_machine.h"
#include "options/options.h"
#include "options/result_files.h"
#include "terminal/exit_codes.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"

OD_OWNED_POINTER(void, free);

static const char details[] =
    "Every command that takes a machine file takes an image too: the image contains the texts of the machine file, its\n"
    "included files and its logs. C programs use an image in place (oleodyn/image.h). Images for controllers have no\n"
    "texts and no names: outputs and numbers are reached by index. The same files and options give the same bytes.\n";

// Writes the image to a file that appears complete or not at all. Returns false after a message.
static bool write_image(const char *path, const void *image, size_t size) {
  od_error err = {0};
  od_atomic_file file;
  const char *input = od_inputs_find(path);
  if (input) {
    od_cli_error("--output: '%s' is an input of this command (%s); choose another file", path, input);
    return false;
  }
  od_status status = od_atomic_open(&file, path, &err);
  if (status == OD_OK && fwrite(image, 1, size, file.file) != size) {
    od_atomic_discard(&file);
    status = od_fail(&err, OD_IO, "the file cannot be written");
  } else if (status == OD_OK) {
    status = od_atomic_commit(&file, &err);
  }
  if (status != OD_OK) od_cli_error("cannot write '%s': %s", path, err.text);
  return status == OD_OK;
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
  od_result_set(&r, "files_read", od_files_read_json());
  od_result_line(&r, "%s: %s; %zu bytes (model %zu, names %zu, machine file %zu), fingerprint %s", path, text,
                 facts->size, facts->model, facts->names, facts->machine, fingerprint);
  return r;
}

int od_command_compile(int argc, char **argv) {
  bool as_json = false, without_names = false, without_machine = false;
  const char *path = NULL;
  od_load_arguments load = {0};
  const od_option options[] = {
      {"output", OD_OPTION_TEXT, "FILE", "the image; also -o FILE (usual suffix: .odm)", &path},
      OD_LOAD_OPTIONS(&load),
      {"without-machine", OD_OPTION_FLAG, NULL,
       "leave out the texts of the machine file: for programs; commands refuse such an image", &without_machine},
      {"without-names", OD_OPTION_FLAG, NULL, "leave out the texts, all names and all units: for controllers",
       &without_names},
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options), .shared = {.as_json = &as_json}};
  od_words files = {0};
  static char long_name[] = "--output";
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "-o") == 0) argv[i] = long_name;
  OD_TRY(od_options_parse_counted(&usage, argc, argv, 1, 1, &files));
  if (!path) {
    od_cli_error("--output is missing; expected the name of the image, such as -o machine.odm");
    return OD_EXIT_BAD_INPUT;
  }
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_OWNED(free) void *image = NULL;
  size_t size = 0;
  const od_load_options how = od_load_options_of(&load);
  od_machine_image_parts parts = without_names     ? OD_IMAGE_WITHOUT_NAMES
                                 : without_machine ? OD_IMAGE_WITHOUT_MACHINE
                                                   : OD_IMAGE_COMPLETE;
  od_messages *messages = od_messages_new();
  OD_TRY(od_cli_loaded(messages, od_machine_compile(files.text[0], &how, parts, &image, &size, &machine, messages)));
  od_image_facts facts;
  if (od_image_get_facts(image, size, &facts, NULL) != OD_OK || !write_image(path, image, size)) return OD_EXIT_FAILED;
  OD_SCOPED(od_result_free) od_result r = describe(machine, path, &facts);
  return od_show_either(&r, as_json);
}
