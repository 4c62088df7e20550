#include "io/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/json.h"

const char *od_trust_text(od_trust trust) {
  static const char *const text[] = {[OD_SOUND] = "sound", [OD_DOUBTFUL] = "doubtful", [OD_UNSOUND] = "unsound"};
  return text[trust];
}

bool od_verdict_add(od_verdict *v, od_trust trust, const char *code, const char *lead, const char *format, ...) {
  char text[2000];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (trust > v->trust) v->trust = trust;
  od_remark *list = od_arena_extend(&v->arena, v->remark, v->count, sizeof *list);
  od_remark r = {trust, code, od_arena_text(&v->arena, lead), od_arena_text(&v->arena, text)};
  if (!list || !r.lead || !r.text) return false;
  v->remark = list;
  v->remark[v->count++] = r;
  return true;
}

bool od_verdict_is_complete(const od_verdict *v) {
  return od_arena_status(&v->arena) == OD_OK;
}

void od_verdict_set_incomplete(od_verdict *v) {
  v->arena.exhausted = true;
}

bool od_verdict_has(const od_verdict *v, const char *code) {
  for (int i = 0; i < v->count; i++)
    if (!strcmp(v->remark[i].code, code)) return true;
  return false;
}

void od_verdict_free(od_verdict *v) {
  od_arena_free(&v->arena);
  *v = (od_verdict){0};
}

json_t *od_verdict_json(const od_verdict *v) {
  json_t *remarks = json_array();
  for (int i = 0; i < v->count; i++) {
    const od_remark *r = &v->remark[i];
    char text[2200];
    snprintf(text, sizeof text, "%s %s", r->lead, r->text);
    json_array_append_new(remarks, json_pack("{s:s, s:s, s:o}", "trust", od_trust_text(r->trust), "code", r->code,
                                             "text", od_json_text(text)));
  }
  return json_pack("{s:s, s:o}", "trust", od_trust_text(v->trust), "remarks", remarks);
}
