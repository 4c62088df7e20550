// The state of machines, and events, as JSON.
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "http/live.h"
#include "io/clock.h"
#include "io/json.h"

double od_clock_offset(const od_machine_status *s) {
  return s->clock - s->t;
}

// Writes the trust and the text of a verdict, which is a JSON text.
static void put_short_verdict(FILE *to, const char *verdict) {
  json_t *object = verdict ? json_loads(verdict, 0, NULL) : NULL;
  const char *trust = json_string_value(json_object_get(object, "trust"));
  const char *text = json_string_value(json_object_get(object, "text"));
  if (trust) {
    fputs("{\"trust\":", to);
    od_put_text(to, trust);
    fputs(",\"text\":", to);
    od_put_text(to, text ? text : "");
    putc('}', to);
  } else {
    fputs("null", to);
  }
  json_decref(object);
}

void od_put_status(FILE *to, od_door *d, int machine) {
  static const char *const states[] = {"waiting", "running", "silent", "ended", "failed"};
  const od_shown_machine *m = &d->board->machine[machine];
  long alarms, verdicts;
  const od_machine_status s = od_board_status(d->board, machine, &alarms);
  fputs("{\"name\":", to);
  od_put_text(to, m->settings->name);
  fputs(",\"title\":", to);
  od_put_text(to, m->settings->e->title);
  fprintf(to, ",\"state\":\"%s\",\"t\":", states[s.state]);
  od_put_time(to, s.t);
  fputs(",\"clock\":", to);
  od_put_time(to, s.clock);
  fputs(",\"offset\":", to);
  od_put_time(to, od_clock_offset(&s));
  fputs(",\"age\":", to);
  od_put_value(to, isnan(s.clock) ? s.clock : fmax(od_clock_now() - s.clock, 0));
  fputs(",\"rate\":", to);
  od_put_value(to, s.rate);
  fputs(",\"latency\":", to);
  if (isnan(s.latency)) {
    fputs("null", to);
  } else {
    fputs("{\"mean\":", to);
    od_put_value(to, s.latency);
    fputs(",\"p99\":", to);
    od_put_value(to, s.latency_99);
    putc('}', to);
  }
  fputs(",\"counts\":{", to);
  const char *comma = "";
#define PUT_COUNT(name) fprintf(to, "%s\"" #name "\":%ld", comma, s.name), comma = ",";
  OD_SHOWN_COUNTS(PUT_COUNT)
#undef PUT_COUNT
  fprintf(to, "},\"alarms\":%ld,\"verdict\":", alarms);
  char *verdict = od_board_verdict(d->board, machine, &verdicts);
  put_short_verdict(to, verdict);
  od_free(verdict);
  fputs(",\"history\":", to);
  const od_history_span span = od_live_span(d, machine);
  if (!isnan(span.last)) {
    fputs("{\"first\":", to);
    od_put_time(to, span.first);
    fputs(",\"last\":", to);
    od_put_time(to, span.last);
    putc('}', to);
  } else {
    fputs("null", to);
  }
  putc('}', to);
}

void od_put_event(FILE *to, const od_door *d, const od_shown_event *e) {
  static const char *const severities[] = {"note", "warning", "alarm"};
  fprintf(to, "{\"id\":%lld,\"machine\":", (long long)e->id);
  if (e->machine >= 0)
    od_put_text(to, d->twin->machine[e->machine].name);
  else
    fputs("null", to);
  fputs(",\"t\":", to);
  od_put_time(to, e->t);
  fputs(",\"clock\":", to);
  od_put_time(to, e->clock);
  fputs(",\"kind\":", to);
  od_put_text(to, e->kind);
  fprintf(to, ",\"severity\":\"%s\",\"text\":", severities[od_weight_of_event(e->kind)]);
  od_put_text(to, e->text);
  fputs(",\"acknowledged\":", to);
  od_put_time(to, e->acknowledged);
  putc('}', to);
}

od_shown_event od_shown_event_of(const od_door *d, const od_history_event *e) {
  od_shown_event out = {.id = e->id, .machine = -1, .t = e->t, .clock = e->clock, .acknowledged = e->acknowledged};
  for (int i = 0; e->machine && i < d->twin->machines; i++)
    if (strcmp(d->twin->machine[i].name, e->machine) == 0) out.machine = i;
  snprintf(out.kind, sizeof out.kind, "%s", e->kind);
  snprintf(out.text, sizeof out.text, "%s", e->text);
  return out;
}
