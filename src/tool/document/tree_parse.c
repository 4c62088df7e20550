// Converts libfyaml's events to the flat tree.
//
// Events have three advantages over libfyaml's documents: without recursion, nesting cannot overflow the stack; aliases need no
// copies; every node keeps its place. Readers visit the values that an alias repeats, so there is a limit for aliases.
#include "document/tree.h"

#include <libfyaml.h>
#include <string.h>

#include "base/allocate.h"
#include "document/index.h"
#include "io/bundle.h"
#include "memory/scoped.h"

enum { LONGEST_TEXT = 16384, MOST_REPEATED = 1000000 };

typedef struct tree_builder {
  od_tree *tree;
  const char *file, *text;
  size_t length;
  od_arena *texts, *scratch;  // scratch: memory of the anchors
  od_messages *messages;
  int open[OD_TREE_DEEPEST], last[OD_TREE_DEEPEST];  // open containers, and the last child of each
  int depth;
  int documents;
  int origin;
  od_index anchors;
  od_status status;
} tree_builder;

static od_place place_of(const tree_builder *b, int node) {
  return (od_place){b->file, b->tree->node[node].line, b->tree->node[node].column};
}

static void fail(tree_builder *b, od_place place, const char *text) {
  od_messages_add(b->messages, place, "%s", text);
  b->status = OD_BAD_INPUT;
}

// Returns whether the next child of a map is a key: children with even indices are keys.
static bool is_key_position(const tree_builder *b) {
  if (b->depth == 0) return false;
  const od_tree_node *parent = &b->tree->node[b->open[b->depth - 1]];
  return parent->kind == OD_TREE_MAP && parent->count % 2 == 0;
}

// Appends a node to the open container; `back` is subtracted from the column of the mark. A node without a mark (an omitted value)
// has the place of the previous node, such as its key. Returns the index of the node, or -1 if an allocation fails.
static int add_node(tree_builder *b, od_tree_kind kind, const struct fy_mark *mark, int back) {
  od_tree *tree = b->tree;
  int index = od_tree_add(tree, (od_tree_node){.kind = kind,
                                               .line = 1,
                                               .column = 1,
                                               .text = "",
                                               .first = -1,
                                               .next = -1,
                                               .target = -1,
                                               .origin = b->origin});
  if (index < 0) {
    b->status = OD_NO_MEMORY;
    return -1;
  }
  od_tree_node *node = &tree->node[index];
  if (mark != NULL) {
    node->line = mark->line + 1;
    node->column = mark->column + 1 - back;
  } else if (index > 0) {
    node->line = tree->node[index - 1].line;
    node->column = tree->node[index - 1].column;
  }
  if (b->depth == 0) {
    tree->root = index;
    return index;
  }
  int parent = b->open[b->depth - 1];
  if (b->last[b->depth - 1] < 0)
    tree->node[parent].first = index;
  else
    tree->node[b->last[b->depth - 1]].next = index;
  b->last[b->depth - 1] = index;
  tree->node[parent].count++;
  return index;
}

// Stores the node of an anchor for aliases.
static void remember_anchor(tree_builder *b, struct fy_token *anchor, int node) {
  if (anchor == NULL || node < 0) return;
  size_t length = 0;
  const char *name = fy_token_get_text(anchor, &length);
  if (name == NULL) return;
  if (!od_index_add(&b->anchors, b->scratch, od_texts_copy(b->scratch, name, length), node)) b->status = OD_NO_MEMORY;
}

static void open_container(tree_builder *b, od_tree_kind kind, const struct fy_mark *mark, struct fy_token *anchor) {
  bool is_key = is_key_position(b);
  int node = add_node(b, kind, mark, 0);
  if (node < 0) return;
  if (is_key) {
    fail(b, place_of(b, node), "found a list or a map, expected a key");
  } else if (b->depth == OD_TREE_DEEPEST) {
    char text[80];
    snprintf(text, sizeof text, "the value is nested deeper than %d levels; use fewer levels", OD_TREE_DEEPEST);
    fail(b, place_of(b, node), text);
  } else {
    b->open[b->depth] = node;
    b->last[b->depth] = -1;
    b->depth++;
    remember_anchor(b, anchor, node);
  }
}

// Returns whether an unquoted text at the end of a file without a final line end may be incomplete.
static bool may_be_cut_off(const tree_builder *b, struct fy_token *token) {
  const struct fy_mark *end = fy_token_end_mark(token);
  size_t at = end != NULL ? end->input_pos : b->length;
  while (at < b->length && (b->text[at] == ' ' || b->text[at] == '\t')) at++;
  return end != NULL && at == b->length;
}

static void warn_of_end(tree_builder *b, int node) {
  od_messages_say(b->messages, true, place_of(b, node),
                  "the file ends within this line; check whether the file is complete");
}

static void add_scalar(tree_builder *b, const struct fy_event *event) {
  struct fy_token *token = event->scalar.value;
  size_t length = 0;
  const char *text = token != NULL ? fy_token_get_text(token, &length) : NULL;
  if (text == NULL) text = "", length = 0;
  enum fy_scalar_style style = token != NULL ? fy_token_scalar_style(token) : FYSS_PLAIN;
  bool quoted = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
  bool is_empty = length == 0 || (length == 1 && text[0] == '~') || (length == 4 && memcmp(text, "null", 4) == 0);
  bool is_null = is_empty && style == FYSS_PLAIN && !is_key_position(b);
  // libfyaml's mark of a quoted text is after the opening quote.
  int node = add_node(b, is_null ? OD_TREE_NULL : OD_TREE_TEXT, token != NULL ? fy_token_start_mark(token) : NULL,
                      quoted ? 1 : 0);
  if (node < 0) return;
  if (length > LONGEST_TEXT) {
    od_messages_add(b->messages, place_of(b, node), "found a text of %zu bytes; a value has at most %d bytes", length,
                    LONGEST_TEXT);
    b->status = OD_BAD_INPUT;
    return;
  }
  b->tree->node[node].text = od_texts_copy(b->texts, text, length);
  if (length > 0 && style == FYSS_PLAIN && may_be_cut_off(b, token)) warn_of_end(b, node);
  if (memchr(text, '\0', length) != NULL) fail(b, place_of(b, node), "found a zero character, expected text");
  remember_anchor(b, event->scalar.anchor, node);
}

static void add_alias(tree_builder *b, struct fy_event *event) {
  bool is_key = is_key_position(b);
  int node = add_node(b, OD_TREE_ALIAS, fy_event_start_mark(event), 0);
  if (node < 0) return;
  size_t length = 0;
  const char *text = fy_token_get_text(event->alias.anchor, &length);
  const char *name = od_texts_copy(b->scratch, text != NULL ? text : "", text != NULL ? length : 0);
  int target = od_index_find(&b->anchors, name);
  bool around = false;  // an alias inside its own target would cause an endless recursion
  for (int i = 0; i < b->depth; i++) around = around || b->open[i] == target;
  if (is_key) {
    fail(b, place_of(b, node), "found an alias, expected a key");
  } else if (target < 0 || around) {
    od_messages_add(b->messages, place_of(b, node),
                    around ? "the alias '*%s' is inside the value that the alias repeats; remove the alias"
                           : "there is no anchor '&%s' before this alias; define the anchor first",
                    name);
    b->status = OD_BAD_INPUT;
  }
  b->tree->node[node].target = target >= 0 ? target : node;
  if (b->status != OD_OK) return;
  int left = MOST_REPEATED - b->tree->repeated;
  b->tree->repeated += od_tree_weigh(b->tree, target, left + 1);
  if (b->tree->repeated <= MOST_REPEATED) return;
  od_messages_add(
      b->messages, place_of(b, node),
      "at '*%s', the aliases repeat more than 1 million values, or are nested deeper than %d levels; use fewer aliases",
      name, OD_TREE_DEEPEST);
  b->status = OD_BAD_INPUT;
}

static void take_event(tree_builder *b, struct fy_event *event) {
  switch (event->type) {
    case FYET_DOCUMENT_START:
      if (b->documents++ > 0) {
        const struct fy_mark *mark = fy_event_start_mark(event);
        fail(b, (od_place){b->file, mark != NULL ? mark->line + 1 : 0, mark != NULL ? mark->column + 1 : 0},
             "a second YAML document begins here; expected one document per file");
      }
      break;
    case FYET_MAPPING_START:
      open_container(b, OD_TREE_MAP, fy_event_start_mark(event), event->mapping_start.anchor);
      break;
    case FYET_SEQUENCE_START:
      open_container(b, OD_TREE_LIST, fy_event_start_mark(event), event->sequence_start.anchor);
      break;
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END: {
      od_tree_node *node = &b->tree->node[b->open[--b->depth]];
      if (node->kind == OD_TREE_MAP) node->count /= 2;  // each entry of a map has two children, key and value
      break;
    }
    case FYET_SCALAR: add_scalar(b, event); break;
    case FYET_ALIAS: add_alias(b, event); break;
    default: break;
  }
}

// Returns a description of the place of the innermost bracket that is open at an error; "": none. If the closing bracket is missing,
// the parser reports the error at a later place.
static const char *open_bracket(const tree_builder *b) {
  for (int i = b->depth - 1; i >= 0; i--) {
    const od_tree_node *node = &b->tree->node[b->open[i]];
    const char *line = b->text;
    for (int n = 1; n < node->line && line != NULL; n++) {
      line = strchr(line, '\n');
      if (line != NULL) line++;
    }
    if (line == NULL || node->column < 1 || strlen(line) < (size_t)node->column) continue;
    char found = line[node->column - 1];
    if (found == '{' || found == '[')
      return od_texts_format(b->scratch, "; the '%c' in line %d, column %d is not closed before this place", found,
                             node->line, node->column);
  }
  return "";
}

// Converts the errors of libfyaml to messages.
static void take_diagnostics(tree_builder *b, struct fy_diag *diag) {
  void *iterator = NULL;
  struct fy_diag_error *error;
  while ((error = fy_diag_errors_iterate(diag, &iterator)) != NULL) {
    if (error->type != FYET_ERROR) continue;
    od_messages_add(b->messages, (od_place){b->file, error->line, error->column}, "the file is not YAML: %s%s",
                    error->msg != NULL ? error->msg : "syntax error", open_bracket(b));
    b->status = OD_BAD_INPUT;
  }
  if (b->status == OD_OK) fail(b, (od_place){.file = b->file}, "the file is not YAML; check its beginning");
}

// Parses the events. libfyaml receives the text, but no file name and no stream for diagnostics, so that it prints
// nothing.
static void parse_events(tree_builder *b, struct fy_diag *diag) {
  struct fy_parse_cfg config = {
      .search_path = "",
      .flags = FYPCF_QUIET | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2,
      .diag = diag,
  };
  struct fy_parser *parser = fy_parser_create(&config);
  if (parser == NULL || fy_parser_set_string(parser, b->text, b->length) != 0) {
    if (parser != NULL) fy_parser_destroy(parser);
    b->status = OD_NO_MEMORY;
    return;
  }
  struct fy_event *event;
  while (b->status == OD_OK && (event = fy_parser_parse(parser)) != NULL) {
    take_event(b, event);
    fy_parser_event_free(parser, event);
  }
  if (b->status == OD_OK && fy_parser_get_stream_error(parser)) take_diagnostics(b, diag);
  fy_parser_destroy(parser);
}

// Warns if the file ends after "key:" or "-": the value may be missing. libfyaml has no marks of omitted values.
static void check_last_value(tree_builder *b) {
  int last = b->tree->count - 1;
  if (last < 0 || b->tree->node[last].kind != OD_TREE_NULL || b->tree->node[last].text[0] != '\0') return;
  size_t end = b->length;
  while (end > 0 && (b->text[end - 1] == ' ' || b->text[end - 1] == '\t')) end--;
  if (end > 0 && strchr(":-", b->text[end - 1]) != NULL) warn_of_end(b, last);
}

od_status od_tree_parse(od_tree *tree, const char *text, size_t length, const char *file, od_arena *texts,
                        od_messages *messages) {
  OD_SCRATCH(scratch);
  tree->root = -1;
  od_bundle_note_yaml(file);
  tree_builder b = {.tree = tree,
                    .file = file,
                    .text = text,
                    .length = length,
                    .texts = texts,
                    .scratch = &scratch,
                    .messages = messages};
  b.origin = od_tree_add_origin(tree, (od_tree_origin){.file = file, .scope = ""});
  if (b.origin < 0 || (tree->node == NULL && !od_tree_grow(tree))) return OD_NO_MEMORY;
  struct fy_diag_cfg config;
  fy_diag_cfg_default(&config);
  config.fp = NULL;
  config.colorize = false;
  struct fy_diag *diag = fy_diag_create(&config);
  if (diag == NULL) return OD_NO_MEMORY;
  fy_diag_set_collect_errors(diag, true);
  parse_events(&b, diag);
  fy_diag_destroy(diag);
  if (b.status == OD_OK) check_last_value(&b);
  if (b.status == OD_OK && (texts->exhausted || scratch.exhausted)) b.status = OD_NO_MEMORY;
  return b.status;
}
