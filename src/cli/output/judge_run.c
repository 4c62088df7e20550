#include "output/judge_run.h"

#include <stdlib.h>

#include "terminal/exit_codes.h"
#include "terminal/terminal.h"

int od_cli_judge_prepare(const od_machine *machine, double time, od_selection *outputs) {
  int *needed = calloc((size_t)od_machine_output_count(machine) + 1, sizeof *needed);
  od_error err = {0};
  bool ok = needed && od_selection_add(outputs, needed, needed ? od_judge_outputs(machine, needed) : 0);
  free(needed);
  if (!ok) {
    od_cli_error("memory ran out");
    return OD_EXIT_FAILED;
  }
  int count, code = -1;
  const od_requirement *q = od_machine_requirements(machine, &count);
  for (int i = 0; i < count; i++) {
    if (od_judge_covers(&q[i], time)) continue;
    od_judge_fail_uncovered(machine, &q[i], time, &err);
    od_cli_error("%s, or run without requirements (--no-requirements)", err.text);
    code = OD_EXIT_BAD_INPUT;
  }
  return code;
}

static void print_table(const od_judgement *j, int count, FILE *to) {
  static const char *const titles[] = {"requirement", "required", "reached", "at", "left", "outcome"};
  enum { COLUMNS = 6 };
  int width[COLUMNS];
  od_judgement_text *words = calloc((size_t)count + 1, sizeof *words);
  if (!words) return;
  for (int c = 0; c < COLUMNS; c++) width[c] = od_text_width(titles[c]);
  for (int i = -1; i < count; i++) {
    if (i >= 0) words[i] = od_judgement_words(&j[i]);
    for (int c = 0; i >= 0 && c < COLUMNS; c++) {
      const char *cell[] = {j[i].requirement->name, words[i].required,
                            words[i].reached,       words[i].at,
                            words[i].left,          od_outcome_text(j[i].outcome)};
      width[c] = od_text_widest(width[c], cell[c]);
    }
  }
  for (int i = -1; i < count; i++) {
    const char *cell[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) cell[c] = titles[c];
    if (i >= 0) {
      const char *row[] = {j[i].requirement->name, words[i].required,
                           words[i].reached,       words[i].at,
                           words[i].left,          od_outcome_text(j[i].outcome)};
      for (int c = 0; c < COLUMNS; c++) cell[c] = row[c];
    }
    for (int c = 0; c < COLUMNS; c++) {
      fprintf(to, "  ");
      if (c + 1 < COLUMNS)
        od_print_padded(to, cell[c], width[c]);
      else
        fprintf(to, "%s", cell[c]);
    }
    fprintf(to, "\n");
  }
  free(words);
}

void od_cli_judge_print(const od_judge *judge, FILE *to) {
  int count;
  const od_judgement *j = od_judge_results(judge, &count);
  if (count == 0) return;
  if (to) print_table(j, count, to);
  for (int i = 0; i < count; i++) {
    const od_requirement *q = j[i].requirement;
    if (to && (j[i].outcome != OD_PASS || j[i].note[0]))
      fprintf(to, "  %s: %s%s%s%s%s\n", q->name, od_outcome_text(j[i].outcome), q->text ? ". " : "",
              q->text ? q->text : "", j[i].note[0] ? "; " : "", j[i].note);
    else if (!to && j[i].outcome != OD_PASS)
      od_cli_warning("requirement '%s': %s, required %s, reached %s%s%s", q->name, od_outcome_text(j[i].outcome),
                     od_judgement_words(&j[i]).required, od_judgement_words(&j[i]).reached, j[i].note[0] ? "; " : "",
                     j[i].note);
  }
}

int od_cli_judge_exit(const od_judge *judge) {
  return od_judge_outcome(judge) == OD_PASS ? OD_EXIT_OK : OD_EXIT_UNMET;
}
