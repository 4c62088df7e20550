#include "report/interactive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "io/helper.h"
#include "io/json.h"

#define ENGINE "oleodyn-engine.wasm"
enum { LARGEST_ENGINE = 64 << 20 };

void od_interactive_free(od_interactive *i) {
  od_records_free(&i->machine);
  od_free(i->engine);
  *i = (od_interactive){0};
}

// Reads an open file completely. Fails with OD_IO or OD_NO_MEMORY.
static od_status read_all(od_interactive *i, FILE *file, const char *path, od_error *err) {
  for (size_t room = 1 << 22;; room *= 2) {
    unsigned char *larger = room <= LARGEST_ENGINE ? od_realloc(i->engine, room) : NULL;
    if (!larger) return od_fail(err, OD_NO_MEMORY, "out of memory while reading %.300s", path);
    i->engine = larger;
    i->engine_size += fread(i->engine + i->engine_size, 1, room - i->engine_size, file);
    if (i->engine_size < room) break;
  }
  if (ferror(file)) return od_fail(err, OD_IO, "cannot read %.300s: %s", path, strerror(errno));
  bool is_engine = i->engine_size > 8 && memcmp(i->engine, "\0asm", 4) == 0;
  return is_engine ? OD_OK : od_fail(err, OD_IO, "%.300s is not a WebAssembly file; run 'make wasm' again", path);
}

od_status od_interactive_read_engine(od_interactive *i, od_error *err) {
  char path[OD_HELPER_PATH_SIZE];
  if (!od_helper_find_file(path, ENGINE))
    return od_fail(err, OD_IO,
                   "the file " ENGINE
                   " is missing: this build of oleodyn has no engine for pages that compute; 'make wasm' builds it");
  FILE *file = fopen(path, "rb");
  if (!file) return od_fail(err, OD_IO, "cannot read %.300s: %s", path, strerror(errno));
  od_status status = read_all(i, file, path, err);
  fclose(file);
  return status;
}

od_status od_interactive_store(od_interactive *i, const od_machine *machine, const od_bundle *files,
                               const od_run_options *options, const od_run_views *views, od_error *err) {
  OD_SCRATCH(scratch);
  od_status status = od_stored_run_check(files, options, err);
  if (status != OD_OK) return status;
  // Lists the outputs of the pictures, of the charts and of the run, each output once.
  int *watched = OD_TAKE(&scratch, int, views->outputs + options->output_count), count = views->outputs;
  if (!watched) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (count > 0) memcpy(watched, views->output, (size_t)count * sizeof *watched);
  for (int k = 0; k < options->output_count; k++) {
    int j = 0;
    while (j < count && watched[j] != options->outputs[k]) j++;
    if (j == count) watched[count++] = options->outputs[k];
  }
  od_stored_run_append(&i->machine, machine, files, options, watched, count);
  return i->machine.no_memory ? od_fail(err, OD_NO_MEMORY, "out of memory") : OD_OK;
}

void od_interactive_draw(const od_interactive *i, const od_machine *machine, od_page *page) {
  json_t *sliders = json_array();
  for (int k = 0; k < i->sliders; k++) json_array_append_new(sliders, od_json_text(i->slider[k]));
  json_t *all = json_pack("{s:o, s:o}", "file", od_json_text(od_machine_file(machine)), "sliders", sliders);
  if (!od_page_require(page, all != NULL)) return;
  od_page_data_set(od_page_get_data(page), "interactive", all);
  od_page_add_bytes(page, "engine", i->engine, i->engine_size);
  od_page_add_bytes(page, "stored-machine", i->machine.bytes, i->machine.size);
}
