// Findings, phases and events in the result of a run: lists in the data, and a short list on the terminal.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "findings/findings.h"
#include "io/json.h"

enum { MOST_LINES = 8 };  // largest number of findings on the terminal

// Sets a time, unless the time is NAN.
static void set_time(json_t *item, const char *key, double t) {
  if (!isnan(t)) json_object_set_new(item, key, od_json_number(t));
}

// Sets a text, unless it is empty.
static void set_text(json_t *item, const char *key, const char *text) {
  if (*text) json_object_set_new(item, key, od_json_text(text));
}

static json_t *findings_json(const od_findings *f) {
  int count;
  const od_finding *x = od_findings_list(f, &count);
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    json_t *item = json_pack("{s:s, s:s}", "code", x[i].code, "severity", od_severity_text(x[i].severity));
    set_text(item, "owner", x[i].owner);
    set_text(item, "output", x[i].output);
    set_time(item, "from", x[i].from);
    set_time(item, "to", x[i].to);
    set_time(item, "at", x[i].at);
    json_object_set_new(item, "title", od_json_text(x[i].title));
    json_object_set_new(item, "text", od_json_text(x[i].text));
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *phases_json(const od_findings *f) {
  int count;
  const od_phase *x = od_findings_phases(f, &count);
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    json_t *item = json_object();
    set_time(item, "from", x[i].from);
    set_time(item, "to", x[i].to);
    json_object_set_new(item, "name", od_json_text(x[i].name));
    json_object_set_new(item, "source", od_json_text(x[i].source));
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *events_json(const od_findings *f) {
  int count;
  const od_happening *x = od_findings_events(f, &count);
  json_t *list = json_array();
  for (int i = 0; i < count; i++) {
    json_t *item = json_object();
    set_time(item, "at", x[i].at);
    json_object_set_new(item, "name", od_json_text(x[i].name));
    set_text(item, "owner", x[i].owner);
    json_object_set_new(item, "code", od_json_text(x[i].code));
    json_array_append_new(list, item);
  }
  return list;
}

// Returns whether the terminal shows a finding. Requirements have a separate table, and the verdict has a remark about
// cavitation.
static bool is_on_terminal(const od_finding *x, const od_verdict *verdict) {
  bool is_remark = false;
  for (int i = 0; i < verdict->count; i++) is_remark = is_remark || strcmp(verdict->remark[i].code, x->code) == 0;
  return !is_remark && strncmp(x->code, "requirement.", strlen("requirement.")) != 0;
}

void od_add_findings(od_result *r, const od_findings *f, const od_verdict *verdict) {
  int count, shown = 0, all = 0;
  const od_finding *x = od_findings_list(f, &count);
  od_result_set(r, "findings", findings_json(f));
  od_result_set(r, "phases", phases_json(f));
  od_result_set(r, "events", events_json(f));
  for (int i = 0; i < count; i++) all += is_on_terminal(&x[i], verdict);
  if (all == 0) return;
  od_result_audience(r, OD_FOR_TERMINAL);
  od_result_line(r, "findings:");
  for (int i = 0; i < count && shown < MOST_LINES; i++) {
    char lead[200];
    if (!is_on_terminal(&x[i], verdict)) continue;
    shown++;
    snprintf(lead, sizeof lead, "%s: %.150s.", od_severity_text(x[i].severity), x[i].title);
    od_result_finding(r, OD_SOUND, lead, "%s", x[i].text);
  }
  if (all > shown) od_result_line(r, "  %d more in the report", all - shown);
  od_result_audience(r, OD_FOR_ALL);
}
