// Results of jobs (oleodyn/job.h): a verdict with remarks, named data in SI units, and a text for people. Functions
// that read a result do not change it, so any number of threads may read the same result.
#ifndef OLEODYN_RESULT_H
#define OLEODYN_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "oleodyn/status.h"

OD_BEGIN_C

typedef struct od_result od_result;

// The trust in a result.
typedef enum od_trust {
  OD_SOUND,     // no remark reduces the trust in the result
  OD_DOUBTFUL,  // the error of the result may be larger than stated
  OD_UNSOUND,   // the result is certainly wrong
} od_trust;
// Returns "sound", "doubtful" or "unsound".
OD_API const char *od_trust_text(od_trust trust);

// A remark of a verdict. The texts belong to the result.
typedef struct od_result_remark {
  od_trust trust;    // the effect of the remark on the verdict
  const char *code;  // code for programs, such as "step.long"
  const char *lead;  // heading for users, such as "Step too long:"
  const char *text;  // one or more sentences for users
  void *reserved[2];
} od_result_remark;

// Return the worst trust of all remarks (OD_SOUND without a verdict), the number of remarks, and remark i.
OD_API od_trust od_result_trust(const od_result *result);
OD_API int od_result_remark_count(const od_result *result);
OD_API od_result_remark od_result_remark_at(const od_result *result, int i);

// Read data by a path: "verdict.trust", "rows[2].mean", "outputs[boom.angle].max". A path consists of keys of objects,
// and of entries of lists by index or name. A key that contains dots is written in quotes. The first function returns a
// number, or 1 for true and 0 for false; NaN: there is no number at the path. The second function returns a text, which
// belongs to the result; NULL: there is no text at the path. The third function returns the number of entries of a list
// or object; -1: there is none at the path.
OD_API double od_result_get_number(const od_result *result, const char *path);
OD_API const char *od_result_get_text(const od_result *result, const char *path);
OD_API long od_result_get_count(const od_result *result, const char *path);

// Returns all data as JSON, as the option --json does; NULL if an allocation fails. Free the text with od_text_free().
OD_API char *od_result_json(const od_result *result);
OD_API void od_text_free(char *text);

// Prints the headings, sentences and tables of a result in display units. is_bold: whether headings are bold, by
// terminal control codes.
OD_API void od_result_print(const od_result *result, FILE *to, bool is_bold);
// Calls `print` once for each warning, with the text of the warning.
OD_API void od_result_each_warning(const od_result *result, void (*print)(void *user, const char *text), void *user);
// Prints the headings, sentences and tables of a result as a page of Markdown.
OD_API void od_result_print_markdown(const od_result *result, FILE *to);

OD_END_C

#endif
