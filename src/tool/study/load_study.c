// Loads a study file: its cases, and the experiment of each case.
//
// If the experiment's loader reports a variant or a number from the study, the message gets the place of the case in the study
// file. Errors in the experiment file are listed after the errors in the study file.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "document/document.h"
#include "document/file_kind.h"
#include "document/quantities.h"
#include "document/suggest.h"
#include "memory/owned.h"
#include "study/cases.h"
#include "study/study.h"

const char *const od_origin_names[] = {[OD_PUBLISHED] = "published", [OD_REFERENCE] = "reference"};

// --- Tables -------------------------------------------------------------------------------------------------------

static const char *transfer_method(int i) {
  return od_transfer_methods[i];
}

static const od_key case_keys[] = {
    {"experiment", OD_TEXT, NULL, "experiment, fit or friction file; path relative to this file",
     .otherwise = "required except with `do: simulate`"},
    {"machine", OD_TEXT, NULL, "machine file of a simulation (`do: simulate`); path relative to this file"},
    {"do", OD_CHOICE, "observe|fit|predict|tf|simulate|friction",
     "kind of the case. `observe`: observer. `fit`: fit of parameters. `predict`: prediction with the start values. `tf`: fit of a "
     "transfer function. `simulate`: simulation of a machine. `friction`: fit of a friction law"},
    {"truth", OD_TEXT, NULL, "variant of the machine that is used as the true machine"},
    {"variant", OD_TEXT, NULL, "variant of the experiment"},
    {"variants", OD_TEXTS, NULL, "list of variants, with one case for each variant"},
    {"filter", OD_TEXT, NULL, "name of a filter that replaces the experiment's filter (`do: observe`)"},
    {"set", OD_NUMBER_MAP, NULL, "new values of numbers of the experiment or the machine, by path"},
    {"seeds", OD_WHOLE, "1", "number of runs of this case", OD_POSITIVE, 0, {1, 1e9}, "setting of the study"},
    {"start", OD_CHOICE, "model|random", "start of each run", .otherwise = "setting of the study"},
    {"published", OD_NUMBER_MAP, NULL, "values of metrics that are printed in a publication, for comparison"},
    {"reference", OD_NUMBER_MAP, NULL, "values of metrics that another program computed, for comparison"},
    {"method", OD_CHOICE, NULL, "fitting method of the transfer function (`do: tf`)", .fallback = OD_TRANSFER_VF,
     .choice = transfer_method},
    {"order",
     OD_WHOLE,
     "1",
     "order of the transfer function",
     OD_POSITIVE,
     OD_REQUIRED,
     {1, OD_TRANSFER_MOST},
     "required with `do: tf`"},
    {"values", OD_SECTION_MAP, NULL, "values computed from the runs of this case", .otherwise = "setting of the study",
     .inside = &od_value_section},
    {"draw", OD_SECTION_MAP, NULL, "numbers of the machine that each run of a simulation draws at random",
     .inside = &od_draw_section},
};
static const od_section_class case_section = {"case", "case of a study", OD_KEYS(case_keys)};

static const od_key file_keys[] = {
    {"study", OD_TEXT, NULL, "title of the study", .otherwise = "the name of the file"},
    {"include", OD_TEXTS, NULL, "files over which this file is merged; paths are relative to this file"},
    {"seeds",
     OD_WHOLE,
     "1",
     "number of runs of each case; the seeds are `first_seed`, `first_seed` + 1, ...",
     OD_POSITIVE,
     100,
     {1, 1e9}},
    {"first_seed", OD_WHOLE, "1", "first seed", OD_NOT_NEGATIVE, 1, {0, 9007199254740992.0}},
    {"start", OD_CHOICE, "model|random",
     "start of each run. `model`: the observer starts at the initial state of its model. `random`: each seed draws a "
     "start. Outputs of the experiment's `initial` and parameters are drawn around their true values, with the "
     "standard deviations of the experiment. A start is drawn again if it is impossible for the machine (a negative "
     "pressure), if outputs hardly determine the state (near a dead center), or if it is outside the bounds"},
    {"cost", OD_FLAG, NULL,
     "whether processor times are measured: observers have a row `us_per_step`, the median time of"
     " a step; friction fits have a row `seconds`, the median time of a fit. Only these rows "
     "depend on the computer"},
    {"cases", OD_SECTION_MAP, NULL, "cases of the study", .fallback = OD_REQUIRED, .inside = &case_section},
    {"transfer", OD_SECTION, NULL, "stepped sine of cases with `do: tf`", .inside = &od_transfer_section},
    {"values", OD_SECTION_MAP, NULL, "values computed from the runs of simulations", .inside = &od_value_section},
};
const od_section_class od_study_section = {"study", "study file", OD_KEYS(file_keys)};

static const char *const kinds[] = {"observe", "fit", "predict", "tf", "simulate", "friction", NULL};
enum { OBSERVE, FIT, PREDICT, TF, SIMULATE, FRICTION };

typedef struct study_loader {
  od_loader ld;
  od_study *s;
  const od_study_options *options;
  od_messages *foreign;
  long seeds;  // default for the cases of the file
  uint64_t first_seed;
  bool random_start, timed;
  bool has_sweep;  // whether the file has the section 'transfer', stored in `sweep`
  od_tf_wish sweep;
  od_simulate_wish values;  // default for the runs of the study
  od_nearest *nearest;      // for each name in --case, the nearest name of a case
} study_loader;

// The settings of a case for its experiment.
typedef struct wish {
  const char *name;  // name of the experiment file, as written in the study
  int key;
  const char *file;  // path of the experiment file
  int kind;          // the kind of case
  od_experiment_options options;
  od_tf_wish tf;
  od_simulate_wish values;
} wish;

static bool is_out_of_memory(const study_loader *sl) {
  return od_lacks_memory(&sl->ld) || od_arena_status(&sl->s->memory) != OD_OK;
}

// --- Parts of a case ----------------------------------------------------------------------------------------------

// Reads the numbers that a case changes. The study owns the list.
static void read_sets(study_loader *sl, int node, wish *w) {
  od_loader *ld = &sl->ld;
  const char **set = OD_TAKE(&sl->s->memory, const char *, node >= 0 ? ld->tree.node[node].count : 0);
  if (!set) return;
  for (int key = od_first(ld, node, "numbers"); key >= 0; key = od_next(ld, key)) {
    const char *value = od_read_text(ld, od_value(ld, key), od_text_of(ld, key), "a number or a quantity");
    if (value) set[w->options.set_count++] = od_format(ld, "%s=%s", od_text_of(ld, key), value);
  }
  w->options.set = set;
}

// Reads the known values of a case's metrics from one origin.
static void read_known(study_loader *sl, const od_section *section, const char *case_name, od_origin origin) {
  od_loader *ld = &sl->ld;
  int node = od_section_get(ld, section, od_origin_names[origin]);
  for (int key = od_first(ld, node, "metrics and their values"); key >= 0; key = od_next(ld, key)) {
    od_study *s = sl->s;
    const char *metric = od_text_of(ld, key);
    const od_field field = {metric, "1", OD_ANY, NAN};
    const char *path = od_format(ld, "cases.%s.%s.%s", case_name, od_origin_names[origin], metric);
    int number = od_read_number(ld, od_value(ld, key), path, &field, od_place_of(ld, key), OD_IN_LOADER);
    od_known_value *list = od_arena_extend(&s->memory, s->known, s->known_count, sizeof *list);
    if (!list) return;
    s->known = list;
    list[s->known_count++] =
        (od_known_value){case_name, metric, origin, od_number_value(ld, number), od_place_of(ld, key)};
  }
}

// --- Experiments --------------------------------------------------------------------------------------------------

// Adds a message of the experiment's loader to the messages of the study. A message about a setting of the study, or about a
// missing file, gets the place of the case.
static void pass_on(study_loader *sl, const wish *w, const od_message *m) {
  if (m->file && m->line == 0 && strcmp(m->file, w->file) == 0)
    od_complain(&sl->ld, w->key, "%s: %s", od_excerpt(&sl->ld, w->name), m->text);
  else if (m->file && strncmp(m->file, "--", 2) == 0)
    od_messages_say(sl->ld.messages, m->is_warning, od_place_of(&sl->ld, w->key), "%s: %s", m->file + 2, m->text);
  else
    od_messages_say(sl->foreign, m->is_warning, (od_place){m->file, m->line, m->column}, "%s", m->text);
}

// Loads the file of a case with the function of its kind, and passes on the messages.
static void load_case(study_loader *sl, const wish *w, od_case *c) {
  OD_OWNED(od_messages_free) od_messages *messages = od_messages_new();
  od_status status = !messages ? OD_NO_MEMORY
                     : w->kind == SIMULATE
                         ? od_simulate_case_load(c, &sl->ld, w->file, &w->options, w->values, messages)
                     : w->kind == OBSERVE  ? od_observe_case_load(c, w->file, &w->options, messages)
                     : w->kind == TF       ? od_tf_case_load(c, w->file, &w->options, &w->tf, messages)
                     : w->kind == FRICTION ? od_friction_case_load(c, w->file, &w->options, messages)
                                           : od_fit_case_load(c, w->file, &w->options, w->kind == PREDICT, messages);
  if (status == OD_NO_MEMORY) sl->ld.no_memory = true;
  for (int i = 0; messages && i < od_messages_count(messages); i++) pass_on(sl, w, od_messages_get(messages, i));
}

// --- Cases --------------------------------------------------------------------------------------------------------

static long read_seeds(study_loader *sl, const od_section *section, long otherwise) {
  od_field field = od_key_field(section, "seeds");
  field.fallback = (double)otherwise;
  int number = od_read_fields(&sl->ld, section, &field, 1, OD_IN_LOADER);
  long seeds = (long)od_read_whole(&sl->ld, number, "seeds", 1, 1e9);
  return sl->options->seeds > 0 ? sl->options->seeds : seeds;
}

static bool read_start(study_loader *sl, const od_section *section, bool otherwise) {
  bool given = od_section_get(&sl->ld, section, "start") >= 0;
  return given ? od_key_choice(&sl->ld, section, "start") == 1 : otherwise;
}

// Adds a case and loads its file. Does nothing if --case selects only other cases.
static void add_case(study_loader *sl, const char *name, const od_section *section, wish *w, od_case like) {
  const od_study_options *o = sl->options;
  bool is_wanted = o->only_count == 0;
  for (int i = 0; i < o->only_count; i++) {
    is_wanted = is_wanted || !strcmp(o->only[i], name);
    od_nearest_try(&sl->nearest[i], name);
  }
  if (!is_wanted) return;
  od_case *c = od_study_add_case(sl->s);
  if (!c) return;
  *c = like;
  c->name = name;
  for (int i = 0; i < OD_ORIGINS; i++) read_known(sl, section, name, (od_origin)i);
  load_case(sl, w, c);
}

// Adds a case for each variant of a list.
static void read_variants(study_loader *sl, int node, const char *name, const od_section *section, wish *w,
                          od_case like) {
  od_loader *ld = &sl->ld;
  if (ld->tree.node[node].kind != OD_TREE_LIST) {
    od_complain(ld, node, "found %s, expected a list of the experiment's variants", od_describe(ld, node));
    return;
  }
  for (int entry = ld->tree.node[node].first; entry >= 0; entry = ld->tree.node[entry].next) {
    w->options.variant = od_read_text(ld, entry, "variants", "the name of a variant");
    if (w->options.variant) add_case(sl, od_format(ld, "%s/%s", name, w->options.variant), section, w, like);
  }
}

// Reads the keys 'method' and 'order'. Only transfer functions have these keys. A transfer function requires the
// study's stepped sine.
static void read_transfer(study_loader *sl, const od_section *section, wish *w) {
  od_loader *ld = &sl->ld;
  int method = od_section_get(ld, section, "method"), order = od_section_get(ld, section, "order");
  w->tf = sl->sweep;
  if (w->kind != TF) {
    if (method >= 0 || order >= 0)
      od_complain(ld, method >= 0 ? method : order,
                  "'method' and 'order' are allowed only with 'do: tf'; remove these keys");
    return;
  }
  if (!sl->has_sweep)
    od_complain(ld, w->key, "'do: tf' requires the section 'transfer' of the study, with the stepped sine");
  od_tf_wish_read_case(ld, section, &w->tf);
}

// Reads the keys 'values' and 'draw'. Only simulated runs have these keys.
static void read_values(study_loader *sl, const od_section *section, wish *w) {
  int node = od_section_get(&sl->ld, section, "values");
  w->values = sl->values;
  if (node >= 0 && w->kind == SIMULATE) {
    w->values = (od_simulate_wish){0};
    w->values.value = od_value_wishes_read(&sl->ld, node, &sl->s->memory, &w->values.values);
  }
  if (node >= 0 && w->kind >= 0 && w->kind != SIMULATE)
    od_complain(&sl->ld, node, "'values' is allowed only with 'do: simulate'; remove this key");
  int draw = od_section_get(&sl->ld, section, "draw");
  if (draw >= 0 && w->kind == SIMULATE)
    w->values.drawn = od_draws_read(&sl->ld, draw, &sl->s->memory, &w->values.draws);
  if (draw >= 0 && w->kind >= 0 && w->kind != SIMULATE)
    od_complain(&sl->ld, draw, "'draw' is allowed only with 'do: simulate'; remove this key");
}

// Reads the key 'filter'. Only observers have a filter.
static void read_filter(study_loader *sl, const od_section *section, wish *w) {
  int node = od_section_get(&sl->ld, section, "filter");
  w->options.filter = od_read_text(&sl->ld, node, "filter", "the name of a filter");
  if (node >= 0 && w->kind >= 0 && w->kind != OBSERVE)
    od_complain(&sl->ld, node, "'filter' is allowed only with 'do: observe'; remove this key");
}

// Reads the name of an experiment file, or of a machine file to simulate. A simulation has no 'truth' and no 'start', and 'seeds'
// only with 'draw'.
static const char *read_file_name(study_loader *sl, const od_section *section, int kind) {
  static const char *const random[] = {"truth", "seeds", "start"};
  od_loader *ld = &sl->ld;
  const char *key = kind == SIMULATE ? "machine" : "experiment", *other = kind == SIMULATE ? "experiment" : "machine";
  int wrong = od_section_get(ld, section, other);
  if (wrong >= 0 && kind >= 0)
    od_complain(ld, wrong, "a case with 'do: %s' requires '%s' instead of '%s'", kinds[kind], key, other);
  for (int i = 0; kind == SIMULATE && i < 3; i++) {
    int node = od_section_get(ld, section, random[i]);
    bool seeds = strcmp(random[i], "seeds") == 0;
    if (node >= 0 && seeds && od_section_get(ld, section, "draw") < 0)
      od_complain(ld, node, "'seeds' of a simulation requires 'draw'; without 'draw' the simulation runs once");
    else if (node >= 0 && !seeds)
      od_complain(ld, node, "'%s' is not allowed with 'do: simulate'; remove this key", random[i]);
  }
  int node = wrong >= 0 && kind >= 0 ? od_section_get(ld, section, key) : od_section_need(ld, section, key);
  return od_read_text(ld, node, key, kind == SIMULATE ? "a machine file" : "an experiment file");
}

// Reads a case and adds it, or adds a case for each of its variants.
static void read_case(study_loader *sl, int key) {
  od_loader *ld = &sl->ld;
  const char *name = od_text_of(ld, key);
  od_section section = od_section_open(ld, od_value(ld, key), key, od_format(ld, "cases.%s", name),
                                       od_format(ld, "the case '%s'", od_excerpt(ld, name)), &case_section);
  if (section.map < 0) return;
  wish w = {.key = key};
  w.options.truth = od_read_text(ld, od_section_get(ld, &section, "truth"), "truth", "the name of a variant");
  w.options.variant = od_read_text(ld, od_section_get(ld, &section, "variant"), "variant", "the name of a variant");
  w.kind = od_key_choice(ld, &section, "do");
  const char *file = read_file_name(sl, &section, w.kind);
  read_transfer(sl, &section, &w);
  read_values(sl, &section, &w);
  read_filter(sl, &section, &w);
  read_sets(sl, od_section_get(ld, &section, "set"), &w);
  od_case like = {.runs = read_seeds(sl, &section, sl->seeds),
                  .first_seed = sl->first_seed,
                  .timed = sl->timed,
                  .random_start = read_start(sl, &section, sl->random_start)};
  int variants = od_section_get(ld, &section, "variants");
  if (file && w.kind >= 0 && !is_out_of_memory(sl)) {
    w.name = file;
    w.file = od_document_beside(ld, od_section_get(ld, &section, w.kind == SIMULATE ? "machine" : "experiment"), file);
    if (variants >= 0)
      read_variants(sl, variants, name, &section, &w, like);
    else
      add_case(sl, name, &section, &w, like);
  }
}

// Reports names in --case that the study does not contain.
static void check_only(study_loader *sl) {
  const od_study_options *o = sl->options;
  for (int i = 0; i < o->only_count; i++) {
    bool found = false;
    for (int c = 0; c < sl->s->cases; c++) found = found || !strcmp(sl->s->item[c].name, o->only[i]);
    if (found) continue;
    od_messages_add(sl->ld.messages, (od_place){.file = "--case"}, "the study has no case '%s'%s", o->only[i],
                    od_nearest_suggestion(&sl->nearest[i], NULL).text);
  }
}

static od_status read_file(void *user) {
  study_loader *sl = user;
  od_loader *ld = &sl->ld;
  if (od_is_other_kind(ld, OD_FILE_STUDY)) return OD_BAD_INPUT;
  od_section file = od_document_root(ld, "a study", "'cases'", &od_study_section);
  if (file.map < 0) return OD_BAD_INPUT;
  const char *title = od_read_text(ld, od_section_get(ld, &file, "study"), "study", "a title");
  sl->s->title = title ? title : sl->s->path;
  sl->seeds = read_seeds(sl, &file, 100);
  sl->first_seed = (uint64_t)od_key_whole(ld, &file, "first_seed");
  sl->random_start = read_start(sl, &file, false);
  sl->timed = od_read_flag(ld, &file, "cost");
  int transfer = od_section_get(ld, &file, "transfer");
  sl->has_sweep = transfer >= 0;
  if (sl->has_sweep) od_tf_wish_read_sweep(ld, transfer, &sl->sweep);
  int values = od_section_get(ld, &file, "values");
  if (values >= 0) sl->values.value = od_value_wishes_read(ld, values, &sl->s->memory, &sl->values.values);
  sl->nearest = OD_TAKE(&ld->document->arena, od_nearest, sl->options->only_count);
  if (!sl->nearest) return OD_NO_MEMORY;
  for (int i = 0; i < sl->options->only_count; i++) sl->nearest[i] = od_nearest_to(sl->options->only[i]);
  int cases = od_section_need(ld, &file, "cases");
  for (int key = od_first(ld, cases, "cases"); key >= 0; key = od_next(ld, key)) read_case(sl, key);
  if (cases >= 0 && ld->tree.node[cases].kind == OD_TREE_MAP && ld->tree.node[cases].count == 0)
    od_complain(ld, cases, "found no case, expected at least one case");
  if (is_out_of_memory(sl)) return OD_NO_MEMORY;
  if (!od_has_errors(ld)) check_only(sl);  // a case with errors has no name
  return od_has_errors(ld) || od_messages_errors(sl->foreign) > 0 ? OD_BAD_INPUT : OD_OK;
}

od_status od_study_load(const char *path, const od_study_options *options, od_study **out, od_messages *messages) {
  static const od_study_options none = {0};
  OD_OWNED(od_study_free) od_study *s = od_calloc(1, sizeof *s);
  od_messages *foreign = od_messages_new();
  od_status status = OD_NO_MEMORY;
  int first = od_messages_count(messages);
  *out = NULL;
  if (s && foreign) {
    study_loader sl = {.s = s, .options = options ? options : &none, .foreign = foreign};
    sl.ld = od_document_start(path, sl.options->content, messages);
    s->file = sl.ld.document;
    if (s->file) {
      s->path = s->file->file;
      status = od_document_load(&sl.ld, NULL, 0, read_file, &sl);
    }
  }
  od_document_end(messages, first, foreign, status, path);
  if (status == OD_OK) *out = OD_GIVE(s);
  return status;
}

od_case *od_study_add_case(od_study *s) {
  od_case *list = od_arena_extend(&s->memory, s->item, s->cases, sizeof *list);
  if (!list) return NULL;
  s->item = list;
  list[s->cases] = (od_case){0};
  return &list[s->cases++];
}

void od_study_clear(od_study *s) {
  for (int i = 0; i < s->cases; i++) od_case_free(&s->item[i]);
  od_arena_free(&s->memory);
  od_document_free(s->file);
}

void od_study_free(od_study *s) {
  if (!s) return;
  od_study_clear(s);
  od_free(s);
}
