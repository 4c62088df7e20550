// The export of an FMU: sources and their description in a temporary folder, compiled there, then one ZIP file.
#include "export/fmu.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "base/byte_hash.h"
#include "export/c_model.h"
#include "export/c_program.h"
#include "export/c_signals.h"
#include "export/c_text.h"
#include "export/compile_library.h"
#include "export/fmu_zip.h"
#include "io/atomic_file.h"
#include "io/temporary_folder.h"
#include "io/text_stream.h"
#include "machine/machine.h"
#include "machine/saved_state.h"
#include "memory/owned.h"
#include "oleodyn/version.h"

typedef struct exporter {
  od_fmu fmu;
  const od_fmu_options *options;
  od_arena arena;
  const char *root;  // the temporary folder
} exporter;

static od_status no_memory(od_error *err) {
  return od_fail(err, OD_NO_MEMORY, "out of memory");
}

// ---- the sources

// Functions of the core that fmu_machine.c and fmu_observer.c call.
static const char *const machine_roots[] = {"od_arena_over",
                                            "od_embedded_make_plant",
                                            "od_sim_init",
                                            "od_sim_start",
                                            "od_sim_set_inputs",
                                            "od_sim_parameters",
                                            "od_sim_outputs",
                                            "od_sim_set_parameters",
                                            "od_advance_init",
                                            "od_sim_advance",
                                            "od_sim_advance_up_to",
                                            "od_advance_save",
                                            "od_advance_restore",
                                            "od_signal_value",
                                            "od_signal_next_break",
                                            "od_sim_set",
                                            "od_sim_set_with_parameters",
                                            "od_sim_state",
                                            "od_sim_rates",
                                            "od_sim_energy",
                                            "od_sim_guards",
                                            "od_sim_sample",
                                            "od_sim_repartition",
                                            "od_sim_derivatives",
                                            "od_sim_output_jacobians",
                                            "od_status_text",
                                            NULL};

static const char *const observer_roots[] = {"od_arena_over",
                                             "od_embedded_make_plant",
                                             "od_embedded_observer_options",
                                             "od_embedded_start_observer",
                                             "od_embedded_predict",
                                             "od_observer_size",
                                             "od_observer_init",
                                             "od_observer_check",
                                             "od_observer_correct",
                                             "od_observer_outputs",
                                             "od_observer_parameters",
                                             "od_observer_parameter_sigma",
                                             "od_observer_nis",
                                             "od_observer_save",
                                             "od_observer_restore",
                                             "od_status_text",
                                             NULL};

// Headers of the core that the files of FMUs include.
static const char *const headers[] = {"include/oleodyn/embedded.h",
                                      "include/oleodyn/advance.h",
                                      "src/embedded/embedded_parts.h",
                                      "src/model/model.h",
                                      "src/signals/signal_table.h",
                                      "src/integrate/sim_block.h",
                                      NULL};

// Prints a field of the templates that only FMUs have. Returns false if the field is unknown.
static bool print_field(FILE *to, const char *word, void *user) {
  const exporter *x = user;
  const od_export_program *p = x->fmu.program;
  char text[OD_C_NUMBER_SIZE];
  const struct {
    const char *word;
    double value;
  } numbers[] = {{"row_bits", p->plan.row},
                 {"end_bits", p->plan.length},
                 {"tolerance_bits", p->plan.tolerance},
                 {"longest_bits", p->plan.longest},
                 {"signal_start_bits", od_machine_start_time(p->machine)}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (strcmp(word, numbers[i].word) == 0) return od_c_number(text, numbers[i].value), fputs(text, to), true;
  if (strcmp(word, "exchanges") == 0) return fputs(p->exchange.is_possible ? "true" : "false", to), true;
  if (strcmp(word, "token") == 0) return fputs(x->fmu.token, to), true;
  if (strcmp(word, "signals") == 0) return p->d.observer ? (void)0 : od_c_signals(to, p->machine), true;
  if (strcmp(word, "fmu_model") == 0) return od_c_model(to, &p->model, "fmu_model", x->options->names), true;
  if (strcmp(word, "variables") == 0) {
    for (int k = 0; k < FMU_KINDS; k++) fprintf(to, "%s%d", k ? ", " : "", x->fmu.counts.count[k]);
    return true;
  }
  if (strcmp(word, "inputs_at_start") != 0) return false;
  od_c_numbers(to, "input_at_start", p->start_input, p->inputs + p->sensors);
  od_c_numbers(to, "nominal", p->exchange.nominal, p->exchange.states);
  fputs("static const double parameter_at_start[] = {", to);
  for (int i = 0, k = 0; i < x->fmu.variables; i++) {
    if (x->fmu.variable[i].kind != FMU_PARAMETER) continue;
    od_c_number(text, x->fmu.variable[i].start);
    fprintf(to, "%s%s", k++ ? ", " : "", text);
  }
  fputs(x->fmu.counts.count[FMU_PARAMETER] ? "};" : "0};", to);
  return true;
}

// Returns whether a file is left out: files of the other version, and files of machines in FMUs of observers or of observers in
// FMUs of machines.
static bool leaves_out(const char *name, const void *user) {
  const exporter *x = user;
  bool observes = x->fmu.program->d.observer != NULL;
  return (x->fmu.version == 2 ? strncmp(name, "fmi3.", 5) : strncmp(name, "fmi2.", 5)) == 0 ||
         strcmp(name, observes ? "fmu_machine.c" : "fmu_observer.c") == 0 ||
         (observes && (strcmp(name, "fmu_machine.h") == 0 || strcmp(name, "fmu_exchange.c") == 0));
}

static od_status write_sources(exporter *x, const char *folder, od_error *err) {
  const od_c_use use = {.templates = "fmi",
                        .roots = x->fmu.program->d.observer ? observer_roots : machine_roots,
                        .headers = headers,
                        .saves = true,
                        .messages = true,
                        .is_flat = true,
                        .field = print_field,
                        .leaves_out = leaves_out,
                        .user = x};
  const od_c_export c = {.program = x->fmu.program,
                         .folder = folder,
                         .names = x->options->names,
                         .use = &use,
                         .arena = &x->arena,
                         .sources = &x->fmu.sources};
  return od_c_export_write(&c, err);
}

// ---- the description

static od_status write_text(exporter *x, const char *name, void (*print)(const od_fmu *f, FILE *to), od_error *err) {
  const char *path = od_arena_format(&x->arena, "%s/%s", x->root, name);
  od_atomic_file file;
  od_status status = path ? od_atomic_open(&file, path, err) : no_memory(err);
  if (status != OD_OK) return status;
  print(&x->fmu, file.file);
  return od_atomic_commit(&file, err);
}

// Computes the token from everything that determines the behavior of the FMU: version of oleodyn, names, numbers and tables.
// Fails with OD_NO_MEMORY.
static od_status find_token(exporter *x, od_error *err) {
  od_text_stream page;
  od_text_stream_open(&page);
  FILE *to = page.to;
  if (!to) return no_memory(err);
  const od_export_program *p = x->fmu.program;
  fprintf(to, "%s %d %s\n", od_version(), x->fmu.version, p->integrator);
  print_field(to, "fmu_model", x);
  print_field(to, "signals", x);
  print_field(to, "inputs_at_start", x);
  od_fmu_print_description(&x->fmu, to);
  char *text = od_text_stream_close(&page);
  if (text) {
    uint64_t a = od_hash_bytes(OD_HASH_START, text, page.length),
             b = od_hash_bytes(a ^ UINT64_C(0x9e3779b97f4a7c15), text, page.length);
    snprintf(x->fmu.token, sizeof x->fmu.token,
             "{%08" PRIx32 "-%04" PRIx32 "-%04" PRIx32 "-%04" PRIx32 "-%012" PRIx64 "}", (uint32_t)(a >> 32),
             (uint32_t)(a >> 16) & 0xffff, (uint32_t)a & 0xffff, (uint32_t)(b >> 48), b & UINT64_C(0xffffffffffff));
  }
  od_free(text);
  return text ? OD_OK : no_memory(err);
}

// ---- binaries

static od_status make_folder(exporter *x, const char *name, od_error *err) {
  const char *path = od_arena_format(&x->arena, "%s/%s", x->root, name);
  if (!path) return no_memory(err);
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return OD_OK;
  return od_fail(err, OD_IO, "cannot make the folder %s: %s", path, strerror(errno));
}

static od_status compile(exporter *x, const od_compiler *compiler, const char *platform, const char *ending,
                         od_error *err) {
  const char *name = od_arena_format(&x->arena, "binaries/%s", platform);
  const char *library =
      od_arena_format(&x->arena, "%s/binaries/%s/%s.%s", x->root, platform, x->fmu.program->name, ending);
  const char *sources = od_arena_format(&x->arena, "%s/sources", x->root);
  if (!name || !library || !sources) return no_memory(err);
  od_status status = make_folder(x, "binaries", err);
  if (status == OD_OK) status = make_folder(x, name, err);
  if (status != OD_OK) return status;
  return od_compile_library(compiler, sources, x->fmu.sources, library, x->options->progress, x->options->user, err);
}

static od_status compile_all(exporter *x, od_fmu_result *out, od_error *err) {
  bool is_3 = x->fmu.version == 3;
  if (!od_compiler_is_there(&od_compiler_linux))
    return od_fail(err, OD_NOT_AVAILABLE,
                   "there is no C compiler '%s'; install the package %s, or set the environment variable CC",
                   getenv("CC") ? getenv("CC") : od_compiler_linux.command, od_compiler_linux.package);
  od_status status = compile(x, &od_compiler_linux, is_3 ? "x86_64-linux" : "linux64", "so", err);
  out->has_windows = od_compiler_is_there(&od_compiler_windows);
  if (status == OD_OK && out->has_windows)
    status = compile(x, &od_compiler_windows, is_3 ? "x86_64-windows" : "win64", "dll", err);
  return status;
}

// ---- all

static od_status write_all(exporter *x, od_fmu_result *out, od_error *err) {
  const char *sources = od_arena_format(&x->arena, "%s/sources", x->root);
  od_status status = sources ? od_fmu_list_variables(&x->fmu, &x->arena, err) : no_memory(err);
  if (status == OD_OK) status = find_token(x, err);
  if (status == OD_OK) status = make_folder(x, "sources", err);
  if (status == OD_OK) status = write_sources(x, sources, err);
  if (status == OD_OK) status = write_text(x, "modelDescription.xml", od_fmu_print_description, err);
  if (status == OD_OK && x->fmu.version == 3)
    status = write_text(x, "sources/buildDescription.xml", od_fmu_print_build, err);
  if (status == OD_OK) status = compile_all(x, out, err);
  if (status == OD_OK) status = od_zip_folder(x->root, x->options->path, &out->bytes, err);
  memcpy(out->token, x->fmu.token, sizeof out->token);
  while (x->fmu.sources && x->fmu.sources[out->sources]) out->sources++;
  return status;
}

od_status od_fmu_write(const od_export_program *program, const od_fmu_options *options, od_fmu_result *out,
                       od_error *err) {
  *out = (od_fmu_result){0};
  char *folder = NULL;
  od_status status = od_zip_load(err);
  if (status == OD_OK) status = od_temporary_folder_make("oleodyn", &folder, err);
  if (status != OD_OK) return status;
  exporter x = {.fmu = {.program = program, .version = options->version}, .options = options, .root = folder};
  status = write_all(&x, out, err);
  od_folder_remove(folder);
  od_free(folder);
  od_arena_free(&x.arena);
  return status;
}
