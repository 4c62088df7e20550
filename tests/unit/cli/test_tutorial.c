// The tutorial docs/tutorial-log.md: its files and commands, in order, in an empty folder with its log. Every command succeeds, and
// its output contains the shown lines in their order. Numbers agree to a few percent, because their last digits depend on the
// compiler.
#include "support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/program.h"

// Returns whether two words are equal, or are numbers that are about equal.
static bool same_word(const char *a, const char *b) {
  char *end_a, *end_b;
  double x = strtod(a, &end_a), y = strtod(b, &end_b);
  if (*end_a || *end_b || end_a == a || end_b == b) return strcmp(a, b) == 0;
  double size = fmax(fabs(x), fabs(y));
  return fabs(x - y) <= (size < 0.2 ? 0.5 : 0.1) * size;
}

// Compares two lines word by word. A shown line may end with "...".
static bool same_line(const char *shown, const char *printed) {
  char a[1000], b[2000], *rest_a = NULL, *rest_b = NULL;
  snprintf(a, sizeof a, "%s", shown);
  snprintf(b, sizeof b, "%s", printed);
  char *x = strtok_r(a, " ", &rest_a), *y = strtok_r(b, " ", &rest_b);
  for (; x && y; x = strtok_r(NULL, " ", &rest_a), y = strtok_r(NULL, " ", &rest_b)) {
    if (!strcmp(x, "...")) return true;
    if (!same_word(x, y)) return false;
  }
  return !x && !y;
}

// Finds a shown line in the output, after *from. Moves *from behind the line.
static bool find_line(char **from, const char *shown) {
  for (char *line = *from; line && *line;) {
    char *end = strchr(line, '\n'), text[2000];
    snprintf(text, sizeof text, "%.*s", end ? (int)(end - line) : (int)strlen(line), line);
    line = end ? end + 1 : line + strlen(line);
    if (!same_line(shown, text)) continue;
    *from = line;
    return true;
  }
  return false;
}

// Reads the next line of the text into `line`. False: the text has ended.
static bool next_line(const char **text, char line[1000]) {
  if (!**text) return false;
  const char *end = strchr(*text, '\n');
  snprintf(line, 1000, "%.*s", end ? (int)(end - *text) : (int)strlen(*text), *text);
  *text = end ? end + 1 : *text + strlen(*text);
  return true;
}

static void test_tutorial(void **state) {
  scratch *s = *state;
  char *log = scratch_read(OD_SOURCE_DIR "/docs/tutorial/log.csv"),
       *page = scratch_read(OD_SOURCE_DIR "/docs/tutorial-log.md");
  scratch_put(s, "log.csv", log);
  char line[1000], name[100] = "";
  const char *at = page;
  int files = 0, commands = 0, lines = 0;
  outcome o = {0};
  char *rest = NULL;
  while (next_line(&at, line)) {
    const char *save = strstr(line, "ave this as `"), *prompt = "    $ ";
    if (save) sscanf(save, "ave this as `%99[^`]`", name);
    if (strcmp(line, "```yaml") == 0) {
      const char *end = strstr(at, "```");
      assert_true(end && name[0]);
      scratch_write(s, name, at, (size_t)(end - at));
      at = end + 4;
      files++;
    } else if (strncmp(line, prompt, strlen(prompt)) == 0) {
      forget(o);
      const char *program = line + strlen(prompt);
      bool is_own = strncmp(program, "oleodyn ", 8) == 0;
      o = is_own ? run(s, "%s", program + 8) : run(s, "version >/dev/null && %s", program);
      ends_with(o, 0);
      rest = o.out;
      commands++;
    } else if (strncmp(line, "    ", 4) == 0 && rest) {
      if (!find_line(&rest, line)) fail_msg("the tutorial shows\n%s\nbut the output is\n%s", line, o.out);
      lines++;
    } else {
      rest = NULL;
    }
  }
  forget(o);
  assert_true(files == 4 && commands >= 12 && lines >= 30);
  free(log);
  free(page);
}

static void test_comparison(void **state) {
  (void)state;
  assert_true(same_line("  a 1.00 kg", "a  1.02 kg") && same_line("cut off ...", "cut off here"));
  assert_false(same_line("a 1 kg", "a 1.3 kg") || same_line("a 1", "a 1 kg") || same_line("sound", "doubtful"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_comparison),
                                     cmocka_unit_test_setup_teardown(test_tutorial, scratch_setup, scratch_teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
