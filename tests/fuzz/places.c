// Values of another kind at every place of every file: a list, a map, a text, a number or nothing instead of the expected
// kind.
//
// Usage: places EVERY FILE... loads every EVERY-th of these files; with 1, or with OD_TORTURE in the environment, all. A file is loaded
// under its own name, so that related files are found. Each must be rejected with a message, or be loaded. The program ends by a signal
// if a load crashes or takes too long; the present text is then in the file fuzz-crash.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "document/document.h"
#include "document/text_file.h"
#include "experiment/experiment.h"
#include "friction_fit/friction_plan.h"
#include "fuzz/fuzz.h"
#include "identify/fit.h"
#include "machine/machine.h"
#include "study/study.h"

enum { PATIENCE = 60 };  // s, for one load; sanitizers and busy computers are slow

static const char *const replacements[] = {
    "[7]", "[]", "[[7, x], [{a: 7}]]", "{}", "{a: 7}", "{a: [7]}", "gibber", "'m'", "7", "-1e300", "null", "''"};
enum { REPLACEMENTS = sizeof replacements / sizeof *replacements, MOST_VARIANTS = 40 };

typedef struct seed {
  const char *path;
  od_file_kind kind;
  od_tree tree;
  od_arena texts;
  const char *variant[MOST_VARIANTS];
  int variants;
} seed;

static const char *present;
static size_t present_length;
static long executions, loaded;

static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];  // sanitizers have their own handlers, which report more

static void keep_input(int signal_number) {
  int file = open("fuzz-crash", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ssize_t written = file >= 0 && present ? write(file, present, present_length) : 0;
  (void)written;  // it crashes in any case
  for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
  if (signal_number == SIGALRM) abort();
  // The faulty instruction is repeated when this function returns, and ends the program.
}

// --- Writing a tree -------------------------------------------------------------------------------------------------

static void print_text(FILE *to, const char *text) {
  fputc('"', to);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c < ' ')
      fprintf(to, "\\x%02x", *c);
    else
      fprintf(to, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  }
  fputc('"', to);
}

// The value with another one at one of its places.
static void print_value(FILE *to, const od_tree *tree, int node, int place, const char *replacement) {
  node = od_tree_value(tree, node);
  const od_tree_node *n = &tree->node[node];
  if (node == place) {
    fputs(replacement, to);
  } else if (n->kind == OD_TREE_TEXT) {
    print_text(to, n->text);
  } else if (n->kind == OD_TREE_NULL) {
    fputs("null", to);
  } else {
    bool map = n->kind == OD_TREE_MAP, key = map;
    fputc(map ? '{' : '[', to);
    for (int child = n->first; child >= 0; child = tree->node[child].next, key = map && !key) {
      if (key)
        print_text(to, tree->node[child].text);
      else
        print_value(to, tree, child, place, replacement);
      fputs(key ? ": " : ",\n", to);
    }
    fputc(map ? '}' : ']', to);
  }
}

// --- Loading --------------------------------------------------------------------------------------------------------

// Loads a text as one kind of file, checks the result, and frees it.
#define LOAD(type, load, release)              \
  do {                                         \
    type *made = NULL;                         \
    od_messages *messages = od_messages_new(); \
    od_status status = load;                   \
    loaded += made != NULL;                    \
    fuzz_judge(status, made, messages);        \
    release(made);                             \
  } while (0)

static void load_as(od_file_kind kind, const char *path, const char *variant, od_content content) {
  const od_experiment_options experiment = {.variant = variant, .content = content};
  const od_friction_options friction = {.variant = variant, .content = content};
  const od_study_options study = {.content = content};
  const od_load_options machine = {.variant = variant, .content = content};
  executions++;
  switch (kind) {
    case OD_FILE_FIT: LOAD(od_fit_plan, od_fit_plan_load(path, &experiment, &made, messages), od_fit_plan_free); break;
    case OD_FILE_EXPERIMENT:
      LOAD(od_experiment, od_experiment_load(path, &experiment, &made, messages), od_experiment_free);
      break;
    case OD_FILE_FRICTION:
      LOAD(od_friction_plan, od_friction_plan_load(path, &friction, &made, messages), od_friction_plan_free);
      break;
    case OD_FILE_STUDY: LOAD(od_study, od_study_load(path, &study, &made, messages), od_study_free); break;
    default: LOAD(od_machine, od_machine_load(path, &machine, &made, messages), od_machine_free);
  }
}

static void try_place(const seed *s, int place, const char *replacement) {
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  print_value(to, &s->tree, s->tree.root, place, replacement);
  fputc('\n', to);
  fclose(to);
  present = text;
  present_length = length;
  const od_content content = {text, length};
  int variant = (int)(executions % (s->variants + 1)) - 1;
  alarm(PATIENCE);
  load_as(s->kind, s->path, variant >= 0 ? s->variant[variant] : NULL, content);
  alarm(0);
  present = NULL;
  free(text);
}

// --- Seeds ----------------------------------------------------------------------------------------------------------

// False: the file is not YAML, as some files with mistakes.
static bool open_seed(seed *s, const char *path) {
  od_messages *messages = od_messages_new();
  char *text = NULL;
  size_t length = 0;
  *s = (seed){.path = path};
  bool ok = od_text_file_read(path, &text, &length, messages) == OD_OK &&
            od_tree_parse(&s->tree, text, length, path, &s->texts, messages) == OD_OK && s->tree.root >= 0;
  if (ok) s->kind = od_document_kind(path, (od_content){text, length});
  int root = ok ? od_tree_value(&s->tree, s->tree.root) : -1;
  for (int key = ok && s->tree.node[root].kind == OD_TREE_MAP ? s->tree.node[root].first : -1; key >= 0;
       key = s->tree.node[s->tree.node[key].next].next) {
    if (strcmp(s->tree.node[key].text, "variants") != 0) continue;
    int map = od_tree_value(&s->tree, s->tree.node[key].next);
    int name = s->tree.node[map].kind == OD_TREE_MAP ? s->tree.node[map].first : -1;
    for (; name >= 0 && s->variants < MOST_VARIANTS; name = s->tree.node[s->tree.node[name].next].next)
      s->variant[s->variants++] = s->tree.node[name].text;
  }
  free(text);
  od_messages_free(messages);
  return ok;
}

static void close_seed(seed *s) {
  od_tree_free(&s->tree);
  od_arena_free(&s->texts);
}

// The places of values: keys are texts that a map holds.
static bool *find_places(const od_tree *tree) {
  bool *place = calloc((size_t)tree->count + 1, sizeof *place);
  for (int i = 0; place && i < tree->count; i++) place[i] = tree->node[i].kind != OD_TREE_ALIAS;
  for (int i = 0; place && i < tree->count; i++)
    for (int key = tree->node[i].kind == OD_TREE_MAP ? tree->node[i].first : -1; key >= 0;
         key = tree->node[tree->node[key].next].next)
      place[key] = false;
  return place;
}

int main(int argc, char **argv) {
  long every = argc > 1 ? atol(argv[1]) : 0, number = 0, places = 0;
  if (every > 1 && getenv("OD_TORTURE")) every = 1;
  if (argc < 3 || every < 1) {
    fprintf(stderr, "usage: %s EVERY FILE...\n", argv[0]);
    return 2;
  }
  struct sigaction action = {.sa_handler = keep_input};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &action, &before[i]);
  for (int i = 2; i < argc; i++) {
    seed s;
    bool *place = open_seed(&s, argv[i]) ? find_places(&s.tree) : NULL;
    for (int node = 0; place && node < s.tree.count; node++) {
      places += place[node];
      for (int k = 0; place[node] && k < REPLACEMENTS; k++)
        if (number++ % every == 0) try_place(&s, node, replacements[k]);
    }
    free(place);
    close_seed(&s);
  }
  printf("%ld executions of %ld at %ld places, %ld loaded\n", executions, number, places, loaded);
  return executions > 0 ? 0 : 1;
}
