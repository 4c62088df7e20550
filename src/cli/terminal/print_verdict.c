#include "terminal/print_verdict.h"

#include "terminal/exit_codes.h"
#include "terminal/terminal.h"

void od_cli_verdict(const od_verdict *v, FILE *to) {
  if (to) fprintf(to, "verdict: %s\n", od_trust_text(v->trust));
  for (int i = 0; i < v->count; i++) {
    const od_remark *r = &v->remark[i];
    if (to)
      fprintf(to, "  %s %s\n", r->lead, r->text);
    else if (r->trust > OD_SOUND)
      od_cli_warning("%s %s", r->lead, r->text);
  }
}

int od_cli_verdict_exit(const od_verdict *v) {
  return v->trust == OD_UNSOUND ? OD_EXIT_UNSOUND : OD_EXIT_OK;
}
