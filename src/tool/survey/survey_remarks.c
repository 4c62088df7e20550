// Remarks about a surveyed log. A fault is a warning. Other facts that explain a channel are remarks without a warning.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "document/ranges.h"
#include "document/unit_parse.h"
#include "io/display.h"
#include "io/time_unit.h"
#include "io/wording.h"
#include "logs/log_times.h"
#include "survey/log_survey.h"

void od_survey_remarks_free(od_survey_remarks *r) {
  od_arena_free(&r->memory);
  *r = (od_survey_remarks){0};
}

static void add(od_survey_remarks *r, od_survey_remark remark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(od_survey_remarks *r, od_survey_remark remark, const char *format, ...) {
  char text[1200];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  remark.text = od_arena_text(&r->memory, text);
  od_survey_remark *longer = od_arena_extend(&r->memory, r->item, r->count, sizeof *longer);
  if (!longer || !remark.text) return;
  r->item = longer;
  longer[r->count++] = remark;
}

// A value of a channel in a display unit, or in the unit of the file.
static od_display_text shown(const od_surveyed_channel *c, double value) {
  if (c->si) return od_display_quantity(od_surveyed_value(c, value), c->si);
  od_display_text t;
  snprintf(t.text, sizeof t.text, "%.6g %.60s", value, c->unit);
  return t;
}

static od_display_text shown_difference(const od_surveyed_channel *c, double value) {
  if (c->si) return od_display_quantity(od_surveyed_difference(c, value), c->si);
  od_display_text t;
  snprintf(t.text, sizeof t.text, "%.4g %.60s", value, c->unit);
  return t;
}

// --- Times --------------------------------------------------------------------------------------------------------

static void judge_timing(const od_survey_group *g, const char *advice, od_survey_remarks *r) {
  const od_timing *t = &g->timing;
  char of[140] = "";
  if (g->name) snprintf(of, sizeof of, " of %.100s", g->name);
  if (t->decreasing > 0)
    add(r, (od_survey_remark){true, "log.time_decreasing", -1, t->decreasing, t->dropped_at, "Decreasing times:", NULL},
        "%s%s %s earlier than the previous row; the first of these rows has the time %.9g s. Commands need increasing times: sort or split the file%s.",
        od_count(t->decreasing, "row").text, of, od_form(t->decreasing, "is", "are"), t->dropped_at, advice);
  if (t->repeated > 0)
    add(r, (od_survey_remark){true, "log.repeated_times", -1, t->repeated, t->repeated_at, "Repeated times:", NULL},
        "%s%s %s the time of the previous row; the first of these rows has the time %.9g s. Commands keep the first row of each time.",
        od_count(t->repeated, "row").text, of, od_form(t->repeated, "has", "have"), t->repeated_at);
  if (t->gaps > 0)
    add(r, (od_survey_remark){true, "log.gaps", -1, t->gaps, t->longest_at, "Gaps:", NULL},
        "%s%s without rows, each longer than %s, %s in total; the longest gap begins at %.9g s and lasts %s.",
        od_count(t->gaps, "gap").text, of, od_duration_text(t->gap_limit, 3).text,
        od_duration_text(t->missing_time, 4).text, t->longest_at, od_duration_text(t->longest, 4).text);
  if (t->jitter > 0.05 * t->interval && t->count > 16)
    add(r, (od_survey_remark){false, "log.jitter", -1, 0, NAN, "Irregular times:", NULL},
        "the median interval between rows%s is %s, with a robust standard deviation of %s. Some methods need equal intervals; write a resampled log with --resample.",
        of, od_duration_text(t->interval, 4).text, od_duration_text(t->jitter, 3).text);
}

// Remarks about the unit of the times: the name of the column contains a shorter unit, or the times are a date in a shorter unit.
static void judge_time_unit(const od_log_survey *s, od_survey_remarks *r) {
  static const struct {
    double least;
    const char *unit;
  } dates[] = {{1e17, "ns"}, {1e14, "us"}, {1e11, "ms"}};
  const od_channel *time = &s->plan->time;
  if (time->at < 0) return;
  const char *name = s->head->name[time->at], *unit = time->file_unit ? time->file_unit : s->head->unit[time->at];
  double apart = NAN;
  for (int i = 0; i < s->groups; i++) apart = fmin(apart, s->group[i].timing.interval);
  od_time_ambiguity a = od_time_ambiguity_of(name, unit, s->path, apart, NULL);
  if (a.text[0] != '\0') {
    add(r, (od_survey_remark){true, "log.time_unit", -1, 0, NAN, "Unit of the time:", NULL}, "%s", a.text);
    return;
  }
  for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
    if (!(s->begin >= dates[i].least)) continue;
    add(r, (od_survey_remark){true, "log.time_unit", -1, 0, NAN, "Unit of the time:", NULL},
        "the times begin at %.6g s, 3000 years or more after 1970. If they are dates in %s, write 'time: {column: %.100s, unit: %s}' under 'data', or give --map time='%.100s':%s.",
        s->begin, dates[i].unit, name, dates[i].unit, name, dates[i].unit);
    return;
  }
}

static void judge_times(const od_log_survey *s, od_survey_remarks *r) {
  judge_time_unit(s, r);
  if (s->rows_without_time > 0)
    add(r, (od_survey_remark){true, "log.no_time", -1, s->rows_without_time, NAN, "Rows without a time:", NULL},
        "%s %s no time and %s ignored.", od_count(s->rows_without_time, "row").text,
        od_form(s->rows_without_time, "has", "have"), od_form(s->rows_without_time, "is", "are"));
  if (s->is_cut)
    add(r, (od_survey_remark){true, "log.cut", -1, 0, s->finish, "Incomplete file:", NULL},
        "the file ends within a row, at about %.9g s.", s->finish);
  char advice[200];
  od_log_time_advice(s->head, &s->plan->time, s->plan->has_section, advice, sizeof advice);
  for (int i = 0; i < s->groups; i++) judge_timing(&s->group[i], advice, r);
}

// --- Channels -----------------------------------------------------------------------------------------------------

static void judge_unit(const od_surveyed_channel *c, int i, od_survey_remarks *r) {
  // Usual values of machine files (document/ranges.h), and the unit of values outside of this range.
  static const struct {
    const char *si;
    od_limits limits;
    const char *instead;
  } usual[] = {{"Pa", OD_RANGE_PRESSURE, "bar"}, {"K", OD_RANGE_TEMPERATURE, "degC"}, {"m", OD_RANGE_POSITION, "mm"}};
  if (c->facts.values == 0) return;
  if (c->unit[0] != '\0' && !c->si) {
    const char *instead = od_units_suggest(c->unit);
    add(r, (od_survey_remark){true, "log.unit_unknown", i, 0, NAN, "Unknown unit:", NULL},
        "the unit '%.60s' of %.100s is unknown%s%s%s Give the unit under 'data', or with --map NAME=COLUMN:UNIT.",
        c->unit, c->name, instead ? "; did you mean '" : "", instead ? instead : "", instead ? "'?" : ".");
    return;
  }
  double most = fmax(fabs(od_surveyed_value(c, c->facts.min)), fabs(od_surveyed_value(c, c->facts.max)));
  for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
    if (!c->si || strcmp(c->si, usual[k].si) != 0 || most == 0) continue;
    double low = usual[k].limits.usual_low, high = usual[k].limits.usual_high;
    if (most <= high && (most >= low || low <= 0)) continue;
    add(r, (od_survey_remark){true, "log.unit_unlikely", i, 0, NAN, "Unlikely unit:", NULL},
        "the largest magnitude of %.100s is %.4g %s, which is unusual. Is the unit %s?", c->name, most, c->si,
        usual[k].instead);
  }
}

static void judge_spikes(const od_surveyed_channel *c, int i, od_survey_remarks *r) {
  const od_channel_survey *f = &c->facts;
  if (f->spikes == 0) return;
  od_name_list times = {.most = 5};
  for (long k = 0; k < f->spikes && k < OD_SURVEY_LISTED; k++)
    od_name_list_add(&times, "%.9g s (%s)", f->spike[k].time, shown(c, f->spike[k].value).text);
  if (f->spikes > OD_SURVEY_LISTED) times.count += (int)fmin(1e9, (double)(f->spikes - OD_SURVEY_LISTED));
  add(r, (od_survey_remark){true, "log.spikes", i, f->spikes, f->spike[0].time, "Spikes:", NULL},
      "%.100s has %s, at %s.", c->name, od_count(f->spikes, "spike").text, od_name_list_text(&times));
}

static void judge_stuck(const od_surveyed_channel *c, int i, od_survey_remarks *r) {
  const od_channel_survey *f = &c->facts;
  if (f->stuck == 0) return;
  const od_stretch *most = &f->stuck_run[0];
  for (int k = 1; k < f->stuck; k++)
    if (f->stuck_run[k].length > most->length) most = &f->stuck_run[k];
  add(r, (od_survey_remark){true, "log.stuck", i, f->stuck, most->begin, "Stuck:", NULL},
      "%.100s has %s without noise; the longest stretch has %s of %s, from %.9g s to %.9g s. The noise of the channel, %s, explains at most %ld equal samples.",
      c->name, od_count(f->stuck, "stretch").text, od_count(most->length, "sample").text, shown(c, most->value).text,
      most->begin, most->end, shown_difference(c, f->noise).text, f->stuck_limit);
}

static void judge_end(const od_surveyed_channel *c, int i, bool is_high, od_survey_remarks *r) {
  const od_channel_survey *f = &c->facts;
  const od_range_end *end = is_high ? &f->high : &f->low;
  double limit = is_high ? f->max : f->min;
  if (end->is_code)
    add(r, (od_survey_remark){true, "log.code", i, end->at, NAN, "Code for a missing value:", NULL},
        "%s of %.100s %s %.9g, far from all other values (the nearest other value is %.6g). If this number means a missing value, write 'missing: [%.9g]' under 'data', or give --missing %.9g.",
        od_count(end->at, "value").text, c->name, od_form(end->at, "is", "are"), limit, end->next, limit, limit);
  if (end->is_saturated)
    add(r, (od_survey_remark){true, "log.saturated", i, end->at, NAN, "Saturated:", NULL},
        "%.3g %% of the values of %.100s are the %s value, %s, without noise; up to %s in a row.",
        100 * (double)end->at / (double)f->values, c->name, is_high ? "greatest" : "least", shown(c, limit).text,
        od_count(end->longest, "value").text);
}

// Adds the remarks on a channel: missing and infinite values, gaps, constant or slow values, unit, spikes, stuck stretches, saturation.
static void judge_channel(const od_surveyed_channel *c, int i, const od_survey_group *g, od_survey_remarks *r) {
  const od_channel_survey *f = &c->facts;
  if (c->flaw) add(r, (od_survey_remark){true, "log.text", i, 0, NAN, "Not a number:", NULL}, "%.600s", c->flaw);
  if (f->values == 0 && !c->flaw && g->rows > 0)
    add(r, (od_survey_remark){true, "log.empty", i, 0, NAN, "Empty channel:", NULL}, "%.100s has no values.", c->name);
  if (f->infinite > 0)
    add(r, (od_survey_remark){true, "log.infinite", i, f->infinite, NAN, "Infinite values:", NULL},
        "%s of %.100s %s infinite and count as missing.", od_count(f->infinite, "value").text, c->name,
        od_form(f->infinite, "is", "are"));
  if (f->values > 0 && f->missing > 0 && !c->flaw)
    add(r, (od_survey_remark){true, "log.missing", i, f->missing, NAN, "Missing values:", NULL},
        "%.100s lacks %s (%.3g %%).", c->name, od_count(f->missing, "value").text,
        100 * (double)f->missing / (double)(f->missing + f->values));
  // Gaps of the rows are remarks about the group.
  if (f->timing.gaps > g->timing.gaps)
    add(r, (od_survey_remark){true, "log.gaps", i, f->timing.gaps, f->timing.longest_at, "Gaps:", NULL},
        "%.100s has %s longer than %s; the longest gap begins at %.9g s and lasts %s.", c->name,
        od_count(f->timing.gaps, "gap").text, od_duration_text(f->timing.gap_limit, 3).text, f->timing.longest_at,
        od_duration_text(f->timing.longest, 4).text);
  if (f->is_constant && f->values > 5)
    add(r, (od_survey_remark){false, "log.constant", i, 0, NAN, "Constant:", NULL}, "all values of %.100s are %s.",
        c->name, shown(c, f->min).text);
  if (f->repeats > 1)
    add(r, (od_survey_remark){false, "log.repeats", i, 0, NAN, "Slow channel:", NULL},
        "%.100s changes only once in %ld rows, so the interval of this channel is about %s.", c->name, f->repeats,
        od_duration_text((double)f->repeats * f->timing.interval, 3).text);
  judge_unit(c, i, r);
  judge_spikes(c, i, r);
  judge_stuck(c, i, r);
  judge_end(c, i, false, r);
  judge_end(c, i, true, r);
}

static void judge_lags(const od_log_survey *s, od_survey_remarks *r) {
  for (int i = 0; i < s->lags.lags; i++) {
    const od_survey_lag *x = &s->lags.lag[i];
    bool is_behind = x->lag.lag > 0;
    const od_surveyed_channel *late = &s->channel[is_behind ? x->second : x->first],
                              *early = &s->channel[is_behind ? x->first : x->second];
    add(r, (od_survey_remark){false, "log.lag", is_behind ? x->second : x->first, 0, NAN, "Lag:", NULL},
        "%.100s follows %.100s by %s with a standard deviation of %s (correlation %.3f, without lag %.3f). If both measure the same quantity and "
        "%.100s is late, write 'delay: %.4g ms' for this channel under 'data'.",
        late->name, early->name, od_duration_text(fabs(x->lag.lag), 4).text, od_duration_text(x->lag.sigma, 3).text,
        x->lag.correlation, x->lag.at_zero, late->name, 1e3 * fabs(x->lag.lag));
  }
}

// Adds the sentences of the format about parts of the file that are not read.
static void list_left_out(const od_log_survey *s, od_survey_remarks *r) {
  const char *text;
  for (int i = 0; (text = od_row_reader_remark(s->file, i)); i++)
    add(r, (od_survey_remark){true, "log.left_out", -1, 0, NAN, "Not read:", NULL}, "%.900s.", text);
}

bool od_log_survey_judge(const od_log_survey *s, od_survey_remarks *out) {
  list_left_out(s, out);
  judge_times(s, out);
  for (int i = 0; i < s->channels; i++) judge_channel(&s->channel[i], i, &s->group[s->channel[i].group], out);
  judge_lags(s, out);
  return od_arena_status(&out->memory) == OD_OK;
}
