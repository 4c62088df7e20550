// Functions that the files of all findings share: words for times, spans and values, and the test whether a condition
// is reported.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "findings/findings_work.h"
#include "io/wording.h"

static od_word time_text(double t, int digits) {
  od_word p;
  snprintf(p.text, sizeof p.text, "%.90s s", od_time_text(t, digits).text);
  return p;
}

od_word od_time_words(const od_findings *f, double t) {
  return time_text(t, od_time_digits(od_findings_time(f)));
}

// The times of a span as texts, with enough digits to distinguish both times.
typedef struct span_times {
  od_word from, to;
} span_times;

static span_times times_of(const od_findings *f, const od_span *s) {
  span_times x = {od_time_words(f, s->from), od_time_words(f, s->to)};
  for (int digits = od_time_digits(od_findings_time(f)); digits < 6 && strcmp(x.from.text, x.to.text) == 0;)
    digits++, x = (span_times){time_text(s->from, digits), time_text(s->to, digits)};
  return x;
}

od_word od_value_words(double value, const char *si) {
  od_word p;
  od_display shown = od_display_unit(si, value);
  double number = value * shown.factor;
  snprintf(p.text, sizeof p.text, fabs(number) >= 999.5 && fabs(number) < 1e7 ? "%.0f%s%.60s" : "%.3g%s%.60s", number,
           shown.unit[0] ? " " : "", shown.unit);
  return p;
}

od_word od_percent_words(double part) {
  od_word p;
  snprintf(p.text, sizeof p.text, fabs(part) >= 0.0995 ? "%.0f %%" : "%.2g %%", 100 * part);
  return p;
}

od_phrase od_span_words(const od_findings *f, const od_condition_record *r) {
  od_phrase p;
  const double start = f->record->start, end = f->record->end, near = 1e-6 * (end - start);
  const od_span *s = &r->longest;
  span_times times = times_of(f, s);
  bool from_start = s->from <= start + near, to_end = s->to >= end - near;
  if (r->count > 1)
    snprintf(p.text, sizeof p.text, "%ld times, for %s in total, longest from %s to %s", r->count,
             od_duration_text(r->total, 3).text, times.from.text, times.to.text);
  else if (from_start && to_end)
    snprintf(p.text, sizeof p.text, "during the whole run");
  else if (from_start)
    snprintf(p.text, sizeof p.text, "from the start to %s", times.to.text);
  else if (to_end)
    snprintf(p.text, sizeof p.text, "from %s to the end of the run", times.from.text);
  else
    snprintf(p.text, sizeof p.text, "from %s to %s", times.from.text, times.to.text);
  return p;
}

od_phrase od_others_words(const od_findings *f, const int *index, int count) {
  od_phrase p = {""};
  od_name_list names = {.most = 3};
  if (count == 0) return p;
  for (int i = 0; i < count; i++) od_name_list_add(&names, "%.40s", f->followed[index[i]].owner);
  snprintf(p.text, sizeof p.text, " The same holds for %.170s.", od_name_list_text(&names));
  return p;
}

bool od_followed_matters(const od_findings *f, int i) {
  const od_followed *w = &f->followed[i];
  const od_condition_record *r = &f->record->condition[i];
  long begins = r->count - r->held_at_start;
  double longest = isnan(r->longest.to) ? 0 : r->longest.to - r->longest.from;
  switch (w->type) {
    // A pump that starts fully swung out needs a few time constants to swing back.
    case OD_FIND_PUMP_LIMIT: return longest > fmax(5 * (isnan(w->scale) ? 0 : w->scale), 0.01);
    case OD_FIND_DRIVE_LIMIT: return longest > 0.01;
    case OD_FIND_RELIEF:
      return r->total > 1e-3 && r->high > fmax(2e-3 * w->limit, 1e3) && r->with[OD_WITH_OUTPUT].at_high > 0;
    case OD_FIND_STROKE: return begins > 0 && fabs(r->with[OD_WITH_OUTPUT].begin) > 1e-3;
    case OD_FIND_STOP: return begins > 0;
    // The part was filled only if it once contained ten times the limit.
    case OD_FIND_EMPTY: return begins > 0 && r->low < -9 * fabs(w->limit);
    case OD_FIND_FULL:
    case OD_FIND_HOT: return r->count > 0;
    case OD_FIND_SPOOL:
    case OD_FIND_COMMAND: return longest > 0.02;
    case OD_FIND_CHATTER: return r->count >= 10 && r->count - 1 > 10 * (r->now.from - r->first.from);
    case OD_FIND_SLACK: return begins > 0 && r->total > 0.01;
    case OD_FIND_SLIP:
    case OD_FIND_CAVITATION: return r->total > 1e-3;
    default: return false;
  }
}

// --- Findings of a type ------------------------------------------------------------------------------------------------

enum {
  MOST_SHOWN = 3
};  // largest number of findings with the same code; the last finding also names the remaining
    // parts

// Followed rules of one type that are reported, the longest total time first.
typedef struct chosen {
  int *index, count;
} chosen;

static double size_of(const od_findings *f, int i) {
  return f->record->condition[i].total;
}

static chosen choose(const od_findings *f, od_rule_type type, od_arena *arena) {
  chosen c = {OD_TAKE(arena, int, f->followed_count), 0};
  for (int i = 0; c.index && i < f->followed_count; i++) {
    if (f->followed[i].type != type || !od_followed_matters(f, i)) continue;
    int at = c.count++;
    for (; at > 0 && size_of(f, c.index[at - 1]) < size_of(f, i); at--) c.index[at] = c.index[at - 1];
    c.index[at] = i;
  }
  return c;
}

int od_find_all(od_findings *f, od_rule_type type, void (*write)(od_findings *f, const od_found *x)) {
  OD_SCRATCH(scratch);
  chosen c = choose(f, type, &scratch);
  for (int i = 0; i < c.count && i < MOST_SHOWN; i++) {
    od_found x = {&f->followed[c.index[i]], &f->record->condition[c.index[i]], "", ""};
    bool last = i == MOST_SHOWN - 1;
    snprintf(x.span, sizeof x.span, "%s", od_span_words(f, x.r).text);
    if (last) snprintf(x.others, sizeof x.others, "%s", od_others_words(f, c.index + i + 1, c.count - i - 1).text);
    write(f, &x);
  }
  return c.count;
}
