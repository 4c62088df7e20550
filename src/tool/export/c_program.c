// Writes the folder of an export for controllers or of the sources of an FMU: the files of the templates in files/controller or files/fmi, whose
// fields this file prints, and the needed sources of the core.
#include "export/c_program.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "export/c_model.h"
#include "export/c_text.h"
#include "export/core_sources.h"
#include "export/files.h"
#include "export/single.h"
#include "export/template.h"
#include "io/atomic_file.h"
#include "integrate/integrators.h"
#include "io/number.h"
#include "io/text_stream.h"
#include "machine/core_parts.h"
#include "observe/filters.h"
#include "oleodyn/version.h"

typedef struct writer {
  const od_c_export *x;
  const od_export_program *p;
  od_arena arena;
  const od_c_use *use;
  const char *upper;     // the name of the program in capitals
  const char **written;  // C sources
  int count;
} writer;

static const char *const controller_roots[] = {"od_embedded_step", NULL};
static const od_c_use for_controllers = {.templates = "controller", .roots = controller_roots};

// ---- fields: names

// Prints an enumeration of quantities, with their names and units.
static void print_enum(FILE *to, writer *w, const char *kind, const char *what, const od_exported_name *item,
                       int count) {
  const char **taken = OD_TAKE(&w->arena, const char *, count);
  if (count == 0) return;
  fprintf(to, "\n// %s, in SI units\nenum {\n", what);
  for (int i = 0; i < count && taken; i++) {
    taken[i] = od_c_name(&w->arena, item[i].name, true, taken, i);
    if (!taken[i]) return;
    fprintf(to, "  %s_%s_%s = %d,  // ", w->upper, kind, taken[i], i);
    od_c_comment(to, item[i].name);
    fputs(", ", to);
    od_c_comment(to, item[i].unit);
    fputc('\n', to);
  }
  fputs("};", to);
}

static void print_names(FILE *to, writer *w) {
  const od_export_program *p = w->p;
  print_enum(to, w, "IN", "Inputs", p->input, p->inputs);
  if (p->inputs) fputc('\n', to);
  print_enum(to, w, "OUT", "Outputs", p->output, p->d.outputs);
  if (p->parameters) fputc('\n', to);
  print_enum(to, w, "PARAMETER", "Parameters", p->parameter, p->parameters);
}

// Filters and integrators and their names in C.
typedef struct listed {
  const char *name;
  const void *table;
} listed;
#define LIST_FILTER(name)     {#name, &od_filter_##name},
#define LIST_INTEGRATOR(name) {#name, &od_integrator_##name},
static const listed filters[] = {OD_FILTERS(LIST_FILTER){NULL, NULL}};
static const listed integrators[] = {OD_INTEGRATORS(LIST_INTEGRATOR){NULL, NULL}};

// Returns the name in C of a filter or integrator; "" if it is not in the list.
static const char *part_of(const listed *list, const void *table) {
  while (list->name && list->table != table) list++;
  return list->name ? list->name : "";
}
static bool is_listed(const listed *list, const char *name) {
  while (list->name && strcmp(list->name, name) != 0) list++;
  return list->name != NULL;
}

// ---- fields: tables

// Prints the selection from the model: outputs, numbers and calibrations of sensors.
static void print_chosen(FILE *to, writer *w) {
  const od_embedded *d = &w->p->d;
  od_c_integers(to, "output", d->output, d->outputs);
  od_c_integers(to, "number", d->number, d->numbers);
  if (d->calibrations) fputs("static const od_calibration calibration[] = {", to);
  for (int i = 0; i < d->calibrations; i++)
    fprintf(to, "%s{%d, %s}", i ? ", " : "", d->calibration[i].output,
            d->calibration[i].kind == OD_CALIBRATE_BIAS ? "OD_CALIBRATE_BIAS" : "OD_CALIBRATE_SCALE");
  if (d->calibrations) fputs("};\n", to);
}

// Counts the entries of the upper triangle that are not zero.
static int count_entries(const double *P, int n) {
  int count = 0;
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) count += P[i * n + j] != 0;
  return count;
}

// Prints the entries of the upper triangle of a covariance that are not zero, and their indices.
static void print_covariance(FILE *to, writer *w, const double *P, int n) {
  int count = count_entries(P, n), at = 0, *index = OD_TAKE(&w->arena, int, count);
  double *value = OD_TAKE(&w->arena, double, count);
  for (int i = 0; i < n && index && value; i++)
    for (int j = i; j < n; j++)
      if (P[i * n + j] != 0) index[at] = i * n + j, value[at++] = P[i * n + j];
  if (!index || !value) return;
  od_c_integers(to, "initial_entry", index, count);
  od_c_numbers(to, "initial_covariance", value, count);
}

static void print_observer(FILE *to, writer *w) {
  const od_embedded_observer *o = &w->p->observer;
  int ny = w->p->d.outputs, np = w->p->parameters, n = w->p->states + np;
  od_c_numbers(to, "choice", o->choice, OD_MOST_FILTER_OPTIONS);
  od_c_numbers(to, "sensor_low", o->low, o->sensors);
  od_c_numbers(to, "sensor_high", o->high, o->sensors);
  od_c_numbers(to, "sensor_sigma", o->sigma, ny);
  if (o->covariance) od_c_numbers(to, "sensor_covariance", o->covariance, (long)ny * ny);
  od_c_integers(to, "frozen", o->frozen, ny);
  od_c_numbers(to, "least", o->least, np);
  od_c_numbers(to, "most", o->most, np);
  od_c_numbers(to, "start", o->start, np);
  print_covariance(to, w, o->P, n);
  if (o->noise)
    od_c_numbers(to, "process_noise", o->noise, (long)o->noise_rows * n);
  else
    od_c_numbers(to, "process_noise", o->Q, (long)n * n);
  od_c_integers(to, "given_output", o->given_output, o->given);
  od_c_numbers(to, "given_covariance", o->given_covariance, (long)o->given * o->given);
}

static void print_run(FILE *to, writer *w) {
  const od_export_program *p = w->p;
  const od_export_run *r = &p->run;
  od_c_numbers(to, "input", r->u, (long)r->steps * p->inputs);
  if (p->d.observer) od_c_numbers(to, "sensor", r->y, (long)r->steps * p->sensors);
  od_c_numbers(to, "expected", r->output, p->d.outputs);
  if (p->d.observer) od_c_numbers(to, "expected_sigma", r->sigma, p->d.outputs);
  if (p->d.observer && p->parameters) od_c_numbers(to, "expected_parameter", r->parameter, p->parameters);
}

static void print_model(FILE *to, writer *w) {
  const char *name = od_arena_format(&w->arena, "%s_model", w->p->name);
  if (name) od_c_model(to, &w->p->model, name, w->x->names);
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), of_end = strlen(end);
  return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

// Parts of the core that programs may lack (base/parts.h), and the sources of these parts. Sources are listed only if a program without the part and
// without these sources also links without optimization.
static const struct {
  const char *part, *begin, *end;  // beginning and end of the paths of the sources; NULL: none
} left_out[] = {
    {"complex", "src/", "_complex.c"},
    {"observer", "src/observe/", ".c"},
    {"observer", "src/embedded/embedded_observer", ".c"},
    {"simulation", "src/integrate/advance", ".c"},
    {"simulation", "src/integrate/step_control", ".c"},
    {"save", "src/plant/model_plant_save", ".c"},
    {"allocation", NULL, NULL},
    {"calibrations", "src/plant/calibrated_plant", ".c"},
    {"joseph", "src/observe/covariance_joseph", ".c"},
    {"changes", "src/observe/change_watch", ".c"},
    {"shifts", NULL, NULL},
    {"messages", "src/base/text", ".c"},
};

static bool lacks_part(const writer *w, const char *part) {
  const od_export_program *p = w->p;
  static const char *const always[] = {"allocation", "changes"};
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    if (strcmp(part, always[i]) == 0) return true;
  if (strcmp(part, "save") == 0) return !w->use->saves;
  if (strcmp(part, "messages") == 0) return !w->use->messages;
  if (strcmp(part, "complex") == 0) return !p->needs_complex;
  if (strcmp(part, "observer") == 0) return !p->d.observer;
  if (strcmp(part, "simulation") == 0) return p->d.observer;
  if (strcmp(part, "calibrations") == 0) return p->d.calibrations == 0;
  if (strcmp(part, "shifts") == 0)
    return !p->filter || strcmp(part_of(filters, p->observer.filter), "relinearizing") != 0;
  if (strcmp(part, "joseph") == 0) return p->observer.form != OD_FORM_JOSEPH;
  return false;
}

static void print_parts(FILE *to, writer *w) {
  const od_export_program *p = w->p;
  fputs(
      "// Clang warns of members that an initializer leaves out; C sets them to zero.\n#if defined __clang__\n"
      "#pragma clang diagnostic ignored \"-Wmissing-field-initializers\"\n#endif\n",
      to);
  od_core_parts_print(&p->model, p->needs_complex, to);
  fputs("#define OD_FILTERS(PART)", to);
  if (p->filter) fprintf(to, " PART(%s)", part_of(filters, p->observer.filter));
  fprintf(to, "\n#define OD_INTEGRATORS(PART) PART(%s)", part_of(integrators, p->d.integrator));
  fputc('\n', to);
  for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
    const char *part = left_out[i].part;
    if (strcmp(part, "complex") == 0 || !lacks_part(w, part) || (i > 0 && strcmp(part, left_out[i - 1].part) == 0))
      continue;
    fputs("#define OD_WITHOUT_", to);
    for (; *part; part++) fputc(toupper((unsigned char)*part), to);
    fputc('\n', to);
  }
}

// ---- all fields

static void print_number(FILE *to, double value) {
  char text[OD_NUMBER_SIZE];
  od_number_format(text, value);
  fputs(text, to);
}
static void print_bits(FILE *to, double value) {
  char text[OD_C_NUMBER_SIZE];
  od_c_number(text, value);
  fputs(text, to);
}

// Prints a field of a template: a text, a count, a table or a setting. Other fields belong to the use. Returns false if no field has this name.
static bool print_field(FILE *to, const char *word, void *user) {
  writer *w = user;
  const od_export_program *p = w->p;
  const bool observes = p->d.observer != NULL;
  const struct {
    const char *word, *text;
  } texts[] = {{"name", p->name},
               {"NAME", w->upper},
               {"title", p->title && *p->title ? p->title : p->name},
               {"file", p->file},
               {"version", od_version()},
               {"what", observes ? "Observer" : "Simulation"},
               {"kind", observes ? "observer" : "simulation"},
               {"filter", part_of(filters, p->observer.filter)},
               {"integrator", part_of(integrators, p->d.integrator)},
               {"y_comment", observes ? " y: values of the sensors; NAN: no value." : ""},
               {"filter_name", p->filter},
               {"integrator_name", p->integrator},
               {"form", p->observer.form == OD_FORM_JOSEPH ? "OD_FORM_JOSEPH" : "OD_FORM_SQUARE_ROOT"},
               {"precision", p->single ? "single" : "double"},
               {"complex", p->needs_complex ? "with" : "without"}};
  const struct {
    const char *word;
    long long value;
  } counts[] = {{"inputs", p->inputs},
                {"sensors", p->sensors},
                {"outputs", p->d.outputs},
                {"parameters", p->parameters},
                {"numbers", p->d.numbers},
                {"calibrations", p->d.calibrations},
                {"states", p->states},
                {"memory", (long long)(p->run.memory + 15) / 16 * 16},
                {"steps", p->run.steps},
                {"patience", p->observer.patience},
                {"entries", p->d.observer ? count_entries(p->observer.P, p->states + p->parameters) : 0},
                {"noise_rows", p->observer.noise_rows},
                {"given", p->observer.given},
                {"residuals", p->run.residuals},
                {"matrices", p->run.matrices}};
  const struct {
    const char *word;
    void (*print)(FILE *to, writer *w);
  } tables[] = {{"names", print_names}, {"chosen", print_chosen}, {"observer", print_observer},
                {"run", print_run},     {"model", print_model},   {"parts", print_parts}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (strcmp(word, texts[i].word) == 0) return od_c_comment(to, texts[i].text), true;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (strcmp(word, counts[i].word) == 0) return fprintf(to, "%lld", counts[i].value), true;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (strcmp(word, tables[i].word) == 0) return tables[i].print(to, w), true;
  if (strcmp(word, "period") == 0) return print_number(to, p->d.period), true;
  if (strcmp(word, "period_bits") == 0) return print_bits(to, p->d.period), true;
  if (strcmp(word, "gate") == 0) return print_bits(to, p->observer.gate), true;
  return w->use->field && w->use->field(to, word, (void *)w->use->user);
}

static bool holds(const char *word, const void *user) {
  const od_export_program *p = ((const writer *)user)->p;
  bool observes = p->d.observer != NULL;
  if (strcmp(word, "observer") == 0) return observes;
  if (strcmp(word, "simulation") == 0) return !observes;
  if (strcmp(word, "estimated") == 0) return observes && p->parameters > 0;
  if (strcmp(word, "settable") == 0) return !observes && p->parameters > 0;
  if (strcmp(word, "single") == 0) return p->single;
  if (strcmp(word, "observed_double") == 0) return observes && !p->single;
  if (strcmp(word, "estimated_double") == 0) return observes && p->parameters > 0 && !p->single;
  if (strcmp(word, "estimated_single") == 0) return observes && p->parameters > 0 && p->single;
  if (strcmp(word, "double") == 0) return !p->single;
  if (strcmp(word, "correlated") == 0) return observes && p->observer.covariance;
  if (strcmp(word, "calibrated") == 0) return p->d.calibrations > 0;
  if (strcmp(word, "constant_noise") == 0) return observes && p->observer.noise;
  if (strcmp(word, "dense_noise") == 0) return observes && !p->observer.noise;
  return false;
}

// ---- files

// Returns the path of a file of the folder. The template "name.h.in" becomes "crane.h".
static const char *path_of(writer *w, const char *name) {
  bool is_own = strncmp(name, "name", 4) == 0;
  const char *slash = strchr(name, '/');
  if (w->use->is_flat && slash) name = slash + 1;
  const char *rest = is_own ? name + 4 : name;
  int length = (int)strlen(rest) - (ends_with(rest, ".in") ? 3 : 0);
  return od_arena_format(&w->arena, "%s/%s%.*s", w->x->folder, is_own ? w->p->name : "", length, rest);
}

// Makes the folders of a path below the folder of the export. Fails with OD_IO or OD_NO_MEMORY.
static od_status make_folders(writer *w, const char *path, od_error *err) {
  char *part = od_arena_text(&w->arena, path);
  if (!part) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (char *slash = part + strlen(w->x->folder); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    int made = mkdir(part, 0777), reason = errno;
    if (made != 0 && reason != EEXIST)
      return od_fail(err, OD_IO, "cannot make the folder %s: %s", part, strerror(reason));
    *slash = '/';
  }
  return OD_OK;
}

// Adds a C source to the list of the caller; NULL: the end of the list. Other files are not added. Returns false if an allocation fails.
static bool list_source(writer *w, const char *path) {
  od_arena *arena = w->x->arena;
  if (!arena || (path && !ends_with(path, ".c"))) return true;
  w->written = od_arena_extend(arena, w->written, w->count, sizeof *w->written);
  const char *name = path ? od_arena_text(arena, path + strlen(w->x->folder) + 1) : NULL;
  if (w->written) w->written[w->count++] = name;
  return w->written && (name || !path);
}

// Writes a text that was collected in memory, C source in the precision of the export. Frees the text. Fails with OD_IO or
// OD_NO_MEMORY.
static od_status write_page(writer *w, od_text_stream *page, const char *name, od_error *err) {
  const char *path = path_of(w, name);
  size_t length = 0;
  char *text = od_text_stream_close(page);
  od_atomic_file file;
  od_status status = path && text && list_source(w, path) && od_arena_status(&w->arena) == OD_OK
                         ? make_folders(w, path, err)
                         : od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK) length = page->length, status = od_atomic_open(&file, path, err);
  if (status == OD_OK) {
    if (w->p->single && (ends_with(path, ".c") || ends_with(path, ".h")))
      od_single_print(file.file, text, length);
    else
      fwrite(text, 1, length, file.file);
    status = od_atomic_commit(&file, err);
  }
  od_free(text);
  return status;
}

static od_status write_template(writer *w, const od_export_file *f, od_error *err) {
  od_text_stream page;
  od_text_stream_open(&page);
  if (!page.to) return od_fail(err, OD_NO_MEMORY, "out of memory");
  bool ok = ends_with(f->name, ".in")
                ? od_template_print(page.to, (const char *)f->bytes, f->size, print_field, holds, w)
                : fwrite(f->bytes, 1, f->size, page.to) == f->size;
  od_status status = write_page(w, &page, f->name, err);
  return ok ? status : od_fail(err, OD_IO, "the template %s is damaged", f->name);
}

static od_status copy_file(writer *w, const char *from_folder, const char *name, od_error *err) {
  const char *from = od_arena_format(&w->arena, "%s/%s", from_folder, name);
  if (!from) return od_fail(err, OD_NO_MEMORY, "out of memory");
  FILE *source = fopen(from, "rb");
  if (!source) return od_fail(err, OD_IO, "%s cannot be read: %s", from, strerror(errno));
  od_text_stream page;
  od_text_stream_open(&page);
  // The header of the parts begins with the parts of the program.
  if (page.to && strcmp(name, "src/base/parts.h") == 0) print_parts(page.to, w);
  char buffer[4096];
  size_t count;
  while (page.to && (count = fread(buffer, 1, sizeof buffer, source)) > 0) fwrite(buffer, 1, count, page.to);
  bool failed = ferror(source);
  fclose(source);
  if (!page.to) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_status status = write_page(w, &page, name, err);
  return failed ? od_fail(err, OD_IO, "%s cannot be read; install oleodyn again", from) : status;
}

// ---- the sources of the core

// Returns the rest of a symbol after a prefix, or NULL.
static const char *own_part(const char *symbol, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(symbol, prefix, length) == 0 ? symbol + length : NULL;
}

static od_symbol_role role(const void *user, const char *path, const char *symbol) {
  const writer *w = user;
  const od_export_program *p = w->p;
  for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
    if (left_out[i].begin && lacks_part(w, left_out[i].part) &&
        strncmp(path, left_out[i].begin, strlen(left_out[i].begin)) == 0 && ends_with(path, left_out[i].end))
      return OD_SYMBOL_LEFT_OUT;
  const char *filter = own_part(symbol, "od_filter_"), *integrator = own_part(symbol, "od_integrator_");
  if (filter && is_listed(filters, filter))
    return strcmp(filter, part_of(filters, p->observer.filter)) == 0 ? OD_SYMBOL_ROOT : OD_SYMBOL_LEFT_OUT;
  if (integrator && is_listed(integrators, integrator))
    return strcmp(integrator, part_of(integrators, p->d.integrator)) == 0 ? OD_SYMBOL_ROOT : OD_SYMBOL_LEFT_OUT;
  // Only builds without complex numbers use these functions, so the list of symbols has no uses of them.
  bool is_real = !p->needs_complex && strcmp(path, "src/plant/real_derivatives.c") == 0;
  bool is_root = is_real;
  for (const char *const *root = w->use->roots; *root; root++) is_root = is_root || strcmp(symbol, *root) == 0;
  if (is_root) return OD_SYMBOL_ROOT;
  od_class_use use = od_core_parts_use(&p->model, symbol);
  return use == OD_CLASS_USED ? OD_SYMBOL_ROOT : use == OD_CLASS_UNUSED ? OD_SYMBOL_LEFT_OUT : OD_SYMBOL_USED;
}

od_status od_c_export_write(const od_c_export *x, od_error *err) {
  writer w = {.x = x, .p = x->program, .use = x->use ? x->use : &for_controllers};
  char *upper = od_arena_text(&w.arena, x->program->name);
  for (char *c = upper; c && *c; c++) *c = (char)toupper((unsigned char)*c);
  w.upper = upper;
  OD_SCOPED(od_core_sources_free) od_core_sources sources = {.headers = w.use->headers};
  od_status status = upper ? OD_OK : od_fail(err, OD_NO_MEMORY, "out of memory");
  if (status == OD_OK) status = od_core_sources_find(&sources, role, &w, err);
  for (int i = 0; i < sources.count && status == OD_OK; i++)
    status = copy_file(&w, sources.folder, sources.path[i], err);
  if (status == OD_OK) status = copy_file(&w, sources.folder, "LICENSE", err);
  for (const od_export_file *f = od_export_files; f->name && status == OD_OK; f++)
    if (strcmp(f->folder, w.use->templates) == 0 && !(w.use->leaves_out && w.use->leaves_out(f->name, w.use->user)))
      status = write_template(&w, f, err);
  if (status == OD_OK && x->sources && !list_source(&w, NULL)) status = od_fail(err, OD_NO_MEMORY, "out of memory");
  if (x->sources) *x->sources = w.written;
  od_arena_free(&w.arena);
  return status;
}
