// Alarms of a machine: an event of the kind "alarm" when an estimate has been beyond a bound for some time, and an event of the
// kind "over" when the estimate is within the bounds again.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/display.h"
#include "operation/operation.h"

od_status od_alarms_init(od_machine_thread *r) {
  r->alarm = OD_TAKE(&r->memory, od_alarm_state, r->settings->alarms);
  if (!r->alarm) return OD_NO_MEMORY;
  for (int i = 0; i < r->settings->alarms; i++) r->alarm[i] = (od_alarm_state){.since = NAN};
  return OD_OK;
}

static int column_of(const od_row_head *head, const char *output) {
  for (int c = 1; c < head->columns; c++)
    if (strncmp(head->name[c], "estimate.", 9) == 0 && strcmp(head->name[c] + 9, output) == 0) return c;
  return -1;
}

static void report(od_machine_thread *r, const od_twin_alarm *a, double t, double value, bool begins) {
  char text[400];
  const bool is_above = value > a->above;
  if (begins)
    snprintf(text, sizeof text, "%.60s: %.100s is %s, %s %s", a->name, a->output,
             od_display_quantity(value, a->unit).text, is_above ? "above" : "below",
             od_display_quantity(is_above ? a->above : a->below, a->unit).text);
  else
    snprintf(text, sizeof text, "%.60s: %.100s is %s again", a->name, a->output,
             od_display_quantity(value, a->unit).text);
  od_event_list_add(&r->operation->events, r->index, t, begins ? "alarm" : "over", text);
}

void od_alarms_take(od_machine_thread *r, const od_row_head *head, const double *row) {
  for (int i = 0; i < r->settings->alarms; i++) {
    const od_twin_alarm *a = &r->settings->alarm[i];
    od_alarm_state *s = &r->alarm[i];
    if (s->column == 0) s->column = column_of(head, a->output);
    const double value = s->column > 0 ? row[s->column] : (double)NAN;
    if (isnan(value)) continue;
    const bool is_beyond = value > a->above || value < a->below;
    if (!is_beyond) {
      if (s->is_on) report(r, a, row[0], value, false);
      *s = (od_alarm_state){.column = s->column, .since = NAN};
      continue;
    }
    if (isnan(s->since)) s->since = row[0];
    if (s->is_on || row[0] - s->since < a->duration) continue;
    s->is_on = true;
    report(r, a, row[0], value, true);
  }
}
