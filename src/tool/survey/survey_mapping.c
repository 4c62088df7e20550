// The proposed mapping of a surveyed log, as a table and as the section 'data' of an experiment file.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "io/json.h"
#include "io/text_stream.h"
#include "io/time_unit.h"
#include "io/utf8.h"
#include "survey/propose_mapping.h"

// --- YAML ---------------------------------------------------------------------------------------------------------

// Writes a text as a YAML value: plain if this is safe, else in double quotes.
static void write_value(FILE *to, const char *text) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-%";
  bool is_plain =
      text[0] != '\0' && strchr(safe, text[0]) && !strchr("-%./", text[0]) && text[strspn(text, safe)] == '\0';
  // Words that YAML reads as truth values.
  static const char *const words[] = {"y",     "Y",    "n",   "N",  "yes", "no",  "on",   "off",   "true",
                                      "false", "null", "Yes", "No", "On",  "Off", "True", "False", "Null"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) is_plain = is_plain && strcmp(words[i], text) != 0;
  if (is_plain) {
    fputs(text, to);
    return;
  }
  fputc('"', to);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(to, "\\%c", *c);
    else if (*c < 0x20 || *c == 0x7f)
      fprintf(to, "\\x%02x", *c);
    else
      fputc(*c, to);
  }
  fputc('"', to);
}

// Writes a column: its name, or its number if several columns have this name, or if the name is a number or no text of one line.
static void write_column(FILE *to, const od_log_survey *s, int column) {
  int same = 0;
  for (int i = 0; i < s->head->columns; i++) same += !strcmp(s->head->name[i], s->head->name[column]);
  // A name that consists of digits looks like the number of a column, and YAML allows only text. In both cases the
  // number of the column is written.
  const char *name = s->head->name[column];
  bool is_plain_text = od_utf8_is_text(name) && !strpbrk(name, "\t\r\n") && name[strspn(name, "0123456789")] != '\0';
  if (same > 1 || !is_plain_text)
    fprintf(to, "%d", column + 1);
  else
    write_value(to, s->head->name[column]);
}

// Writes a column and its unit. unit NULL: writes only the column, because the file has the unit.
static void write_column_with(FILE *to, const od_log_survey *s, int column, const char *unit) {
  if (unit) fputs("{column: ", to);
  write_column(to, s, column);
  if (!unit) return;
  fputs(", unit: ", to);
  write_value(to, unit);
  fputc('}', to);
}

// Writes a key with a list of texts in YAML.
static void write_list(FILE *to, const char *key, const char *const *texts) {
  if (!texts || !*texts) return;
  fprintf(to, "  %s: [", key);
  for (int i = 0; texts[i]; i++) {
    if (i > 0) fputs(", ", to);
    write_value(to, texts[i]);
  }
  fputs("]\n", to);
}

// Writes the times and the settings that options gave.
static void write_settings(FILE *to, const od_log_survey *s) {
  const od_log_plan *plan = s->plan;
  if (plan->interval > 0) {
    fprintf(to, "  interval: %.15g s\n", plan->interval);
  } else {
    const char *name = s->head->name[plan->time.at], *named = od_time_unit_named(name);
    // Given times of the start and the end are in the unit that the log was read with.
    bool is_read_as =
        plan->time.file_unit || s->head->unit[plan->time.at][0] != '\0' || isfinite(plan->start) || isfinite(plan->end);
    fputs("  time: ", to);
    write_column_with(to, s, plan->time.at, is_read_as ? plan->time.file_unit : named);
    fputs(named && !is_read_as ? "  # unit in the name\n" : "\n", to);
  }
  // Options extend the part by a small tolerance. Eleven digits remove this tolerance.
  if (isfinite(plan->start)) fprintf(to, "  start: %.11g s\n", plan->start);
  if (isfinite(plan->end)) fprintf(to, "  end: %.11g s\n", plan->end);
  if (plan->skip > 0) fprintf(to, "  skip: %d\n", plan->skip);
  if (plan->hold != OD_LOG_LINEAR) fprintf(to, "  hold: %s\n", od_log_hold_words[plan->hold]);
  write_list(to, "missing", plan->missing);
  write_list(to, "database", plan->databases);
}

static void write_channels(FILE *to, const od_log_survey *s, const od_map_target *targets, const od_mapping *m) {
  bool has_channel = false;
  fputs("  channels:\n", to);
  for (int i = 0; i < m->count; i++) {
    const od_map_proposal *p = &m->proposal[i];
    const od_surveyed_channel *c = &s->channel[p->column];
    has_channel = has_channel || !p->is_ambiguous;
    // An ambiguous column is written as a comment.
    fputs(p->is_ambiguous ? "    # ambiguous: " : "    ", to);
    write_value(to, targets[p->target].name);
    fputs(": ", to);
    write_column_with(to, s, c->column, p->unit ? p->unit : c->has_given_unit ? c->unit : NULL);
    fprintf(to, "  # %.2f: %s\n", p->score, p->reason);
    for (int k = 0; k < p->alternatives; k++) {
      fputs("    #   or ", to);
      write_value(to, targets[p->alternative[k]].name);
      fprintf(to, " (%.2f)\n", p->alternative_score[k]);
    }
  }
  // A map without entries must be written as {}.
  if (!has_channel) fputs("    {}\n", to);
}

// Lists columns without an input or output, and inputs of the machine without a column.
static void write_others(FILE *to, const od_log_survey *s, const od_map_target *targets, int target_count,
                         const od_mapping *m) {
  bool any = false;
  for (int i = 0; i < s->channels; i++) {
    bool has = false;
    for (int k = 0; k < m->count; k++) has = has || m->proposal[k].column == i;
    if (has) continue;
    fputs(any ? ", " : "  # columns without a proposal: ", to);
    write_value(to, s->channel[i].name);
    any = true;
  }
  if (any) fputc('\n', to);
  any = false;
  for (int i = 0; i < target_count; i++) {
    bool has = !targets[i].is_input;
    for (int k = 0; k < m->count; k++) has = has || (m->proposal[k].target == i && !m->proposal[k].is_ambiguous);
    if (has) continue;
    fputs(any ? ", " : "  # inputs without a proposal: ", to);
    write_value(to, targets[i].name);
    any = true;
  }
  if (any) fputc('\n', to);
}

// Returns the section 'data', freed with od_free(); NULL: out of memory.
static char *section_of(const od_log_survey *s, const od_map_target *targets, int target_count, const od_mapping *m) {
  od_text_stream text;
  od_text_stream_open(&text);
  if (!text.to) return NULL;
  fputs("data:\n  file: ", text.to);
  write_value(text.to, s->path);
  fputc('\n', text.to);
  write_settings(text.to, s);
  write_channels(text.to, s, targets, m);
  write_others(text.to, s, targets, target_count, m);
  return od_text_stream_close(&text);
}

// --- Result -------------------------------------------------------------------------------------------------------

static void show_proposals(const od_log_survey *s, const od_map_target *targets, const od_mapping *m, od_result *r) {
  static const od_result_column columns[] = {{"column", "column", OD_CELL_CODE},
                                             {"target", "input or output", OD_CELL_CODE},
                                             {"score", "score", OD_CELL_PLAIN, 2},
                                             {"ambiguous", NULL, OD_CELL_TEXT},
                                             {"reason", "reason", OD_CELL_TEXT}};
  od_result_table *t = od_result_add_table(r, "mapping", columns, sizeof columns / sizeof *columns);
  for (int i = 0; i < m->count; i++) {
    const od_map_proposal *p = &m->proposal[i];
    json_t *others = json_array();
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, s->channel[p->column].name);
    od_result_cell_text(t, targets[p->target].name);
    od_result_cell(t, p->score);
    od_result_mark(t, p->is_ambiguous);
    od_result_cell_text(t, p->is_ambiguous ? "yes" : "no");
    od_result_cell_text(t, p->reason);
    for (int k = 0; k < p->alternatives; k++)
      json_array_append_new(others, od_json_text(targets[p->alternative[k]].name));
    od_result_row_set(t, "unit", od_json_text(p->unit));
    od_result_row_set(t, "alternatives", others);
  }
}

od_status od_log_survey_map(const od_log_survey *s, const od_map_target *targets, int target_count,
                            const char *for_what, od_result *r, od_error *err) {
  OD_SCRATCH(scratch);
  OD_SCOPED(od_mapping_free) od_mapping mapping = {0};
  od_map_column *columns = OD_TAKE(&scratch, od_map_column, s->channels);
  if (!columns) return od_fail(err, OD_NO_MEMORY, "out of memory");
  for (int i = 0; i < s->channels; i++) {
    const od_surveyed_channel *c = &s->channel[i];
    bool has = c->facts.values > 0;
    columns[i] = (od_map_column){c->name, c->unit, has ? c->facts.min : (double)NAN, has ? c->facts.max : (double)NAN};
  }
  od_status status = od_mapping_propose(columns, s->channels, targets, target_count, &mapping, err);
  if (status != OD_OK) return status;
  char *section = section_of(s, targets, target_count, &mapping);
  if (!section) return od_fail(err, OD_NO_MEMORY, "out of memory");
  od_result_section(r, "Mapping");
  od_result_heading(r, "Proposed columns for %s%s", for_what, mapping.count > 0 ? "" : ": none");
  show_proposals(s, targets, &mapping, r);
  od_result_text(r, "section", section);
  od_result_heading(r, "Section for an experiment file");
  od_result_code(r, section);
  od_free(section);
  return OD_OK;
}
