#include "survey/survey_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "io/json.h"
#include "io/wording.h"

// --- Tables -------------------------------------------------------------------------------------------------------

static void show_groups(const od_log_survey *s, od_result *r) {
  static const od_result_column columns[] = {{"group", "rows of", OD_CELL_TEXT},
                                             {"rows", "rows", OD_CELL_WHOLE},
                                             {"interval", "interval", OD_CELL_TEXT},
                                             {"rate", "rate [Hz]", OD_CELL_PLAIN, 4},
                                             {"jitter", "jitter", OD_CELL_TEXT},
                                             {"gaps", "gaps", OD_CELL_WHOLE},
                                             {"longest", "longest interval", OD_CELL_TEXT},
                                             {"longest_at", "at [s]", OD_CELL_PLAIN, 9},
                                             {"repeated", "repeated", OD_CELL_WHOLE},
                                             {"decreasing", "decreasing", OD_CELL_WHOLE}};
  od_result_heading(r, "Times");
  od_result_table *t = od_result_add_table(r, "groups", columns, sizeof columns / sizeof *columns);
  for (int i = 0; i < s->groups; i++) {
    const od_survey_group *g = &s->group[i];
    const od_timing *x = &g->timing;
    od_result_add_row(t, NULL, NAN);
    od_result_cell_text(t, g->name ? g->name : "the file");
    od_result_cell(t, (double)g->rows);
    od_result_cell_shown(t, x->interval, isnan(x->interval) ? "-" : od_duration_text(x->interval, 5).text);
    od_result_cell(t, 1 / x->interval);
    od_result_cell_shown(t, x->jitter,
                         isnan(x->jitter) ? "-"
                         : x->jitter == 0 ? "0"
                                          : od_duration_text(x->jitter, 3).text);
    od_result_cell(t, (double)x->gaps);
    od_result_mark(t, x->gaps > 0);
    od_result_cell_shown(t, x->longest, x->longest > 0 ? od_duration_text(x->longest, 4).text : "-");
    od_result_cell(t, x->longest > 0 ? x->longest_at : (double)NAN);
    od_result_cell(t, (double)x->repeated);
    od_result_mark(t, x->repeated > 0);
    od_result_cell(t, (double)x->decreasing);
    od_result_mark(t, x->decreasing > 0);
    od_result_row_set(t, "begin", od_json_number(x->first));
    od_result_row_set(t, "end", od_json_number(x->last));
    od_result_row_set(t, "gap_limit", od_json_number(x->gap_limit));
  }
}

static json_t *spikes_json(const od_surveyed_channel *c) {
  json_t *list = json_array();
  for (long i = 0; i < c->facts.spikes && i < OD_SURVEY_LISTED; i++) {
    const od_spike *x = &c->facts.spike[i];
    json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "time", od_json_number(x->time), "value",
                                          od_json_number(od_surveyed_value(c, x->value)), "height",
                                          od_json_number(od_surveyed_difference(c, x->height))));
  }
  return list;
}

static json_t *stuck_json(const od_surveyed_channel *c) {
  json_t *list = json_array();
  for (int i = 0; i < c->facts.stuck; i++) {
    const od_stretch *x = &c->facts.stuck_run[i];
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:o, s:I}", "begin", od_json_number(x->begin), "end", od_json_number(x->end),
                        "value", od_json_number(od_surveyed_value(c, x->value)), "samples", (json_int_t)x->length));
  }
  return list;
}

// Adds the facts of a channel that are not in the table.
static void add_details(const od_log_survey *s, const od_surveyed_channel *c, od_result_table *t) {
  const od_channel_survey *f = &c->facts;
  double all = f->values > 0 ? (double)f->values : (double)NAN;
  od_result_row_set(t, "file_unit", od_json_text(c->unit));
  od_result_row_set(t, "group", od_json_text(s->group[c->group].name));
  od_result_row_set(t, "comment", od_json_text(c->comment));
  od_result_row_set(t, "column", json_integer(c->column + 1));
  od_result_row_set(t, "interval", od_json_number(f->timing.interval));
  od_result_row_set(t, "jitter", od_json_number(f->timing.jitter));
  od_result_row_set(t, "gaps", json_integer(f->timing.gaps));
  od_result_row_set(t, "longest", od_json_number(f->timing.longest));
  od_result_row_set(t, "longest_at", od_json_number(f->timing.longest > 0 ? f->timing.longest_at : (double)NAN));
  od_result_row_set(t, "infinite", json_integer(f->infinite));
  od_result_row_set(t, "levels", f->levels <= OD_SURVEY_STATES ? json_integer(f->levels) : json_null());
  od_result_row_set(t, "is_state", json_boolean(f->is_state));
  od_result_row_set(t, "is_constant", json_boolean(f->is_constant));
  od_result_row_set(t, "repeats", json_integer(f->repeats));
  od_result_row_set(t, "spikes", json_integer(f->spikes));
  od_result_row_set(t, "first_spikes", spikes_json(c));
  od_result_row_set(t, "stuck", stuck_json(c));
  od_result_row_set(t, "at_min", od_json_number((double)f->low.at / all));
  od_result_row_set(t, "at_max", od_json_number((double)f->high.at / all));
  od_result_row_set(t, "saturated_low", json_boolean(f->low.is_saturated));
  od_result_row_set(t, "saturated_high", json_boolean(f->high.is_saturated));
  od_result_row_set(t, "code_low", json_boolean(f->low.is_code));
  od_result_row_set(t, "code_high", json_boolean(f->high.is_code));
}

// Writes the faults of a channel in a few words: "2 spikes, stuck".
static void words_of(const od_surveyed_channel *c, char *text, size_t size) {
  const od_channel_survey *f = &c->facts;
  od_name_list list = {.most = 8};
  if (c->flaw) od_name_list_add(&list, "text");
  if (f->spikes > 0) od_name_list_add(&list, "%s", od_count(f->spikes, "spike").text);
  if (f->stuck > 0) od_name_list_add(&list, "stuck");
  if (f->low.is_saturated || f->high.is_saturated) od_name_list_add(&list, "saturated");
  if (f->low.is_code || f->high.is_code) od_name_list_add(&list, "code");
  if (f->is_constant) od_name_list_add(&list, "constant");
  if (f->is_state && !f->is_constant) od_name_list_add(&list, "%s", od_count(f->levels, "state").text);
  snprintf(text, size, "%s", list.count > 0 ? od_name_list_text(&list) : "");
}

static void show_channels(const od_log_survey *s, od_result *r) {
  static const od_result_column columns[] = {
      {"name", "channel", OD_CELL_TEXT},       {"unit", "unit", OD_CELL_UNIT},
      {"values", "values", OD_CELL_WHOLE},     {"missing", "missing", OD_CELL_WHOLE},
      {"min", "least", OD_CELL_NUMBER, 5},     {"max", "greatest", OD_CELL_NUMBER, 5},
      {"mean", "mean", OD_CELL_NUMBER, 5},     {"std", "std", OD_CELL_NUMBER, 3},
      {"noise", "noise", OD_CELL_NUMBER, 2},   {"resolution", "resolution", OD_CELL_NUMBER, 3},
      {"rate", "rate [Hz]", OD_CELL_PLAIN, 4}, {NULL, "", OD_CELL_REMARK}};
  od_result_heading(r, "Channels");
  od_result_table *t = od_result_add_table(r, "channels", columns, sizeof columns / sizeof *columns);
  for (int i = 0; i < s->channels; i++) {
    const od_surveyed_channel *c = &s->channel[i];
    const od_channel_survey *f = &c->facts;
    bool has = f->values > 0;
    double size = has ? fmax(fabs(od_surveyed_value(c, f->min)), fabs(od_surveyed_value(c, f->max))) : (double)NAN;
    char words[200];
    words_of(c, words, sizeof words);
    od_result_add_row(t, od_surveyed_unit(c), size);
    if (i > 0 && c->group != s->channel[i - 1].group) od_result_begin_group(t);
    od_result_cell_text(t, c->name);
    od_result_cell(t, (double)f->values);
    od_result_cell(t, (double)f->missing);
    od_result_mark(t, f->missing > 0);
    od_result_cell(t, has ? od_surveyed_value(c, f->min) : (double)NAN);
    od_result_cell(t, has ? od_surveyed_value(c, f->max) : (double)NAN);
    od_result_cell(t, od_surveyed_value(c, f->mean));
    od_result_cell(t, od_surveyed_difference(c, f->deviation));
    od_result_cell(t, od_surveyed_difference(c, f->noise));
    od_result_cell(t, od_surveyed_difference(c, f->resolution));
    od_result_cell(t, 1 / f->timing.interval);
    od_result_cell_text(t, words);
    add_details(s, c, t);
  }
}

// --- Remarks ------------------------------------------------------------------------------------------------------

// The data have the form of the findings of runs (findings/findings_result.c), so pages show them in the same way.
static json_t *remark_json(const od_log_survey *s, const od_survey_remark *x) {
  char title[80];
  snprintf(title, sizeof title, "%.*s", (int)strcspn(x->lead, ":"), x->lead);
  json_t *item = json_pack("{s:s, s:s, s:s, s:o}", "code", x->code, "severity", x->is_warning ? "warning" : "note",
                           "title", title, "text", od_json_text(x->text));
  if (x->channel >= 0) json_object_set_new(item, "output", od_json_text(s->channel[x->channel].name));
  if (!isnan(x->time)) json_object_set_new(item, "at", od_json_number(x->time));
  if (x->count > 0) json_object_set_new(item, "count", json_integer(x->count));
  return item;
}

static void set_lags(const od_log_survey *s, od_result *r) {
  json_t *list = json_array();
  for (int i = 0; i < s->lags.lags; i++) {
    const od_survey_lag *x = &s->lags.lag[i];
    json_array_append_new(
        list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "first", od_json_text(s->channel[x->first].name), "second",
                        od_json_text(s->channel[x->second].name), "lag", od_json_number(x->lag.lag), "sigma",
                        od_json_number(x->lag.sigma), "correlation", od_json_number(x->lag.correlation), "at_zero",
                        od_json_number(x->lag.at_zero)));
  }
  od_result_set(r, "lags", list);
}

static void show_remarks(const od_log_survey *s, const od_survey_remarks *remarks, od_result *r) {
  json_t *list = json_array();
  od_result_audience(r, OD_FOR_TERMINAL);
  od_result_heading(r, remarks->count > 0 ? "Findings" : "Findings: none");
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < remarks->count; i++) {
      const od_survey_remark *x = &remarks->item[i];
      if (x->is_warning != (pass == 0)) continue;
      od_result_finding(r, x->is_warning ? OD_DOUBTFUL : OD_SOUND, x->lead, "%s", x->text);
      json_array_append_new(list, remark_json(s, x));
    }
  od_result_audience(r, OD_FOR_ALL);
  od_result_set(r, "findings", list);
}

void od_log_survey_show(const od_log_survey *s, const od_survey_remarks *remarks, od_result *r) {
  const char *date = od_row_reader_start_time(s->file), *format = od_row_reader_format(s->file)->name;
  od_result_text(r, "file", s->path);
  od_result_text(r, "format", format);
  od_result_text(r, "start_time", date);
  od_result_whole(r, "rows", s->rows);
  od_result_number(r, "begin", s->begin);
  od_result_number(r, "end", s->finish);
  od_result_text(r, "time_column", s->plan->time.at >= 0 ? s->head->name[s->plan->time.at] : NULL);
  od_result_fact(r, "format", "%s", format);
  od_result_fact(r, "rows", "%ld", s->rows);
  od_result_fact(r, "channels", "%d%s", s->channels, s->unselected > 0 ? " selected" : "");
  od_result_fact(r, "time", "%.9g s to %.9g s, %s%s%s", s->begin, s->finish,
                 od_duration_text(s->finish - s->begin, 5).text, date ? ", from " : "", date ? date : "");
  show_remarks(s, remarks, r);
  set_lags(s, r);
  od_result_section(r, "Channels");
  show_groups(s, r);
  show_channels(s, r);
}

// --- Picture ------------------------------------------------------------------------------------------------------

static void add_channel(od_picture *p, const od_log_survey *s, const od_surveyed_channel *c) {
  const od_channel_survey *f = &c->facts;
  double *x = OD_TAKE(&p->arena, double, 3 * OD_ENVELOPE_INTERVALS),
         *y = OD_TAKE(&p->arena, double, 3 * OD_ENVELOPE_INTERVALS);
  if (!x || !y) return;
  int points = od_envelope_points(&c->envelope, x, y);
  for (int i = 0; i < points; i++) y[i] = od_surveyed_value(c, y[i]);
  char title[300], note[200];
  const char *group = s->group[c->group].name;
  snprintf(title, sizeof title, "%s%.100s%.150s", group ? group : "", group ? ": " : "", c->name);
  words_of(c, note, sizeof note);
  od_panel *panel = od_picture_add(p, (od_panel){.title = title,
                                                 .note = note[0] != '\0' ? note : NULL,
                                                 .x_name = "time",
                                                 .x_unit = "s",
                                                 .y_unit = od_surveyed_unit(c)});
  od_panel_add(p, panel,
               (od_panel_line){.label = c->name, .as = OD_AS_LINE, .x = {x, points, 1, 1}, .y = {y, points, 1, 1}});
  for (long i = 0; i < f->spikes && i < OD_SURVEY_LISTED; i++)
    od_panel_mark_point(p, panel, f->spike[i].time, od_surveyed_value(c, f->spike[i].value), OD_MARK_CROSS,
                        i == 0 ? "spike" : "");
  for (int i = 0; i < f->stuck; i++)
    od_panel_mark_point(p, panel, f->stuck_run[i].begin, od_surveyed_value(c, f->stuck_run[i].value), OD_MARK_RING,
                        i == 0 ? "stuck" : "");
  if (f->low.is_saturated) od_panel_level(p, panel, od_surveyed_value(c, f->min), "saturated");
  if (f->high.is_saturated) od_panel_level(p, panel, od_surveyed_value(c, f->max), "saturated");
}

int od_picture_add_survey(od_picture *p, const od_log_survey *s, int most) {
  int drawn = 0, left = 0;
  for (int i = 0; i < s->channels; i++) {
    const od_surveyed_channel *c = &s->channel[i];
    if (c->facts.values < 2 || !c->envelope.low) continue;
    if (drawn == most) {
      left++;
      continue;
    }
    add_channel(p, s, c);
    drawn++;
  }
  return left;
}
