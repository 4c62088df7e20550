// A verdict on the trustworthiness of a result, with reasons. Code that computes a result adds remarks. The terminal, JSON and the
// report show the remarks with the same text.
#ifndef OD_IO_VERDICT_H
#define OD_IO_VERDICT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "oleodyn/result.h"

typedef struct od_remark {
  od_trust trust;    // effect of the remark on the verdict
  const char *code;  // for programs: "step.long"; a constant of the program
  char *lead;        // for people: "Step too long:"
  char *text;        // for people: one or more sentences after the lead
} od_remark;

typedef struct od_verdict {
  od_trust trust;  // the worst trust of all remarks
  od_remark *remark;
  int count;
  od_arena arena;  // owns the remarks
} od_verdict;

// Adds a remark. Returns false if an allocation fails; the verdict still includes the trust of the remark. Callers that add several
// remarks may call od_verdict_is_complete() once instead.
bool od_verdict_add(od_verdict *v, od_trust trust, const char *code, const char *lead, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// Returns whether there is a remark with this code.
bool od_verdict_has(const od_verdict *v, const char *code);
// Returns whether all remarks were stored; false if an allocation failed.
bool od_verdict_is_complete(const od_verdict *v);
// Marks the verdict as incomplete. Call this function if an allocation fails before a remark can be checked.
void od_verdict_set_incomplete(od_verdict *v);
void od_verdict_free(od_verdict *v);

// Returns the verdict as JSON, which the caller owns, for example
//  {"trust": "doubtful", "remarks": [{"trust": "doubtful", "code": "step.long", "text": "Step too long: ..."}]}
json_t *od_verdict_json(const od_verdict *v);

#endif
