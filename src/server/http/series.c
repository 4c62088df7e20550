// The columns of frames as series of the API, with the descriptions of report pages (docs/report-pages.md).
#include <string.h>

#include "http/live.h"

typedef struct prefix {
  const char *text, *of;
  const char *sigma;  // prefix of the column with the standard deviation, which follows; NULL: none
} prefix;

static const prefix prefixes[] = {{"measured.", "measured", NULL},
                                  {"estimate.", "estimate", "sigma."},
                                  {"innovation.", "innovation", "innovation_sigma."},
                                  {"input.", "input", NULL},
                                  {"compared.", "compared", NULL},
                                  {"true.", "truth", NULL},
                                  {"error.", "error", NULL},
                                  {"view.", "view", NULL}};

static bool is_sigma(const char *name) {
  return strncmp(name, "sigma.", 6) == 0 || strncmp(name, "innovation_sigma.", 17) == 0;
}

static bool is_parameter(const od_twin_machine *m, const char *name) {
  for (int i = 0; i < m->e->parameters; i++)
    if (strcmp(m->e->parameter[i].path, name) == 0) return true;
  return false;
}

od_column_facts od_column_facts_of(const od_twin_machine *m, const od_frame_head *head, int column) {
  const char *name = head->name[column];
  if (is_sigma(name)) return (od_column_facts){.sigma = -1};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    const prefix *p = &prefixes[i];
    const size_t length = strlen(p->text);
    if (strncmp(name, p->text, length) != 0) continue;
    const bool has_sigma = p->sigma && column + 1 < head->columns && is_sigma(head->name[column + 1]);
    const char *of = i == 1 && is_parameter(m, name + length) ? "parameter" : p->of;
    return (od_column_facts){of, name + length, has_sigma ? column + 1 : -1};
  }
  return (od_column_facts){"statistic", name, -1};
}
