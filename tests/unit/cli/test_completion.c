// oleodyn completion: the scripts are valid, and the shells propose commands, options, values and files. zsh and fish are tested
// where they are installed.
#include "support/test.h"

#include <string.h>
#include <sys/stat.h>

#include "oleodyn/oleodyn.h"
#include "support/program.h"
#include "support/skipping.h"

// Runs a shell script in the scratch folder, and returns its output.
static char *shell(scratch *s, const char *interpreter, const char *script) {
  scratch_put(s, "script", script);
  char command[1000];
  snprintf(command, sizeof command, "cd %s && %s ./script >.out 2>.err </dev/null", s->folder, interpreter);
  int code = system(command);
  char *err = scratch_read(scratch_path(s, ".err"));
  if (code != 0 || err[0]) fail_msg("%s: code %d\n%s", interpreter, code, err);
  free(err);
  return scratch_read(scratch_path(s, ".out"));
}

static void write_script(scratch *s, const char *name) {
  outcome o = run(s, "completion %s", name);
  ends_with(o, 0);
  scratch_put(s, "completion", o.out);
  forget(o);
}

// The proposals of bash for a line of words; the last word is completed.
static char *proposals(scratch *s, const char *words) {
  char script[2000];
  snprintf(script, sizeof script,
           "source ./completion\nCOMP_WORDS=(oleodyn %s)\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_oleodyn\n"
           "printf '%%s\\n' \"${COMPREPLY[@]}\" | sort\n",
           words);
  return shell(s, "bash", script);
}

static void proposes(scratch *s, const char *words, const char *expected) {
  char *found = proposals(s, words);
  if (strcmp(found, expected) != 0) fail_msg("%s: found\n%sexpected\n%s", words, found, expected);
  free(found);
}

static void test_bash(void **state) {
  scratch *s = *state;
  write_script(s, "bash");
  scratch_put(s, "crane.yaml", "");
  scratch_put(s, "crane two.yml", "");
  scratch_put(s, "log.csv", "");
  proposes(s, "sim", "simulate\n");
  proposes(s, "fri", "friction\nfriction-fit\n");
  proposes(s, "simulate --integ", "--integrator\n");
  proposes(s, "simulate --integrator t", "tr-bdf2\ntrapezoid\n");
  proposes(s, "new x --template s", "scissor-lift\nservo-axis\n");
  proposes(s, "simulate c", "crane two.yml\ncrane.yaml\n");
  proposes(s, "simulate l", "\n");  // a log is not a machine
  proposes(s, "frf l", "log.csv\n");
  proposes(s, "simulate --csv l", "log.csv\n");
  proposes(s, "simulate --time ''", "\n");
  proposes(s, "help obs", "observe\n");
  proposes(s, "completion f", "fish\n");
}

// All options of all commands are in all scripts.
static void test_all_options(void **state) {
  scratch *s = *state;
  static const char *const shells[] = {"bash", "zsh", "fish"};
  for (int k = 0; k < 3; k++) {
    outcome o = run(s, "completion %s", shells[k]);
    ends_with(o, 0);
    for (int i = 0; i < od_job_kind_count(); i++) {
      od_job *job = od_job_new(od_job_kind_name(i));
      says(o.out, od_job_kind_name(i));
      for (int n = 0; n < od_job_option_count(job); n++) {
        char text[100];
        snprintf(text, sizeof text, k == 2 ? "-l %s" : "--%s", od_job_option_at(job, n).name);
        says(o.out, text);
      }
      od_job_free(job);
    }
    forget(o);
  }
}

static bool is_installed(const char *program) {
  char command[100];
  snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
  return system(command) == 0;
}

static void test_zsh(void **state) {
  scratch *s = *state;
  if (!is_installed("zsh")) skip_test("no package: zsh");
  write_script(s, "zsh");
  free(shell(s, "zsh", "autoload -U compinit\ncompinit -D -u\nsource ./completion\n[[ -n $_comps[oleodyn] ]]\n"));
}

static void test_fish(void **state) {
  scratch *s = *state;
  if (!is_installed("fish")) skip_test("no package: fish");
  write_script(s, "fish");
  char *found = shell(s, "fish", "source ./completion\ncomplete -C'oleodyn simulate --integrator t'\n");
  says(found, "tr-bdf2");
  free(found);
}

static void test_mistakes(void **state) {
  scratch *s = *state;
  ends_and_says(run(s, "completion"), 2, "found no shell, expected bash, zsh or fish");
  ends_and_says(run(s, "completion csh"), 2, "found 'csh', expected bash, zsh or fish");
  outcome o = run(s, "completion --help");
  ends_with(o, 0);
  says(o.out, "source <(oleodyn completion bash)");
  forget(o);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_bash), TEST(test_all_options), TEST(test_zsh), TEST(test_fish),
                                     TEST(test_mistakes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
