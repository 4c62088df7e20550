// Options have one spelling: the same name has the same argument in all commands, commands that compute share their options, and
// earlier names are accepted with a warning.
#include "support/test.h"

#include <string.h>

#include "oleodyn/oleodyn.h"
#include "support/program.h"

static bool has_option(const od_job *job, const char *name) {
  for (int i = 0; i < od_job_option_count(job); i++)
    if (!strcmp(od_job_option_at(job, i).name, name)) return true;
  return false;
}

// The same name means the same thing: the argument has the same form in all commands.
static void test_one_argument_per_name(void **state) {
  (void)state;
  // Laws of friction have keys, not paths. Operating points hold outputs.
  static const char *const exceptions[][2] = {
      {"friction", "set"}, {"equilibrium", "hold"}, {"linearize", "hold"}, {"bode", "hold"}, {"rga", "hold"}};
  for (int a = 0; a < od_job_kind_count(); a++) {
    od_job *x = od_job_new(od_job_kind_name(a));
    for (int b = 0; b < a; b++) {
      od_job *y = od_job_new(od_job_kind_name(b));
      for (int i = 0; i < od_job_option_count(x); i++)
        for (int k = 0; k < od_job_option_count(y); k++) {
          const od_job_option p = od_job_option_at(x, i), q = od_job_option_at(y, k);
          if (strcmp(p.name, q.name) != 0) continue;
          bool is_exception = false;
          for (size_t e = 0; e < sizeof exceptions / sizeof *exceptions; e++)
            is_exception =
                is_exception || (!strcmp(p.name, exceptions[e][1]) && (!strcmp(od_job_kind_name(a), exceptions[e][0]) ||
                                                                       !strcmp(od_job_kind_name(b), exceptions[e][0])));
          if (!is_exception && strcmp(p.argument ? p.argument : "", q.argument ? q.argument : "") != 0)
            fail_msg("--%s has the argument %s in %s and %s in %s", p.name, p.argument, od_job_kind_name(a), q.argument,
                     od_job_kind_name(b));
        }
      od_job_free(y);
    }
    od_job_free(x);
  }
}

static void test_commands_that_compute(void **state) {
  (void)state;
  static const char *const kinds[] = {"simulate", "equilibrium", "linearize", "bode",     "rga",         "inverse",
                                      "optimize", "signals",     "observe",   "tune",     "fit",         "frf",
                                      "tf",       "compare",     "study",     "friction", "friction-fit"};
  static const char *const shared[] = {"json", "plot", "report", "si", "quiet"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    od_job *job = od_job_new(kinds[i]);
    assert_non_null(job);
    for (size_t k = 0; k < sizeof shared / sizeof *shared; k++)
      if (!has_option(job, shared[k])) fail_msg("%s has no --%s", kinds[i], shared[k]);
    // Names with several meanings are not used any more.
    assert_false(has_option(job, "free") || has_option(job, "from") || has_option(job, "to"));
    od_job_free(job);
  }
}

static const char lag[] =
    "inputs: {u: {constant: 1}}\n"
    "blocks: {a: {type: first-order, input: u, gain: 2, time_constant: 0.1 s}}\n"
    "run: {time: 1 s, outputs: [a]}\n";

static void test_old_names(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.yaml", lag);
  scratch_put(s, "l.csv", "time,v\n0,1\n1,2\n2,1\n");
  static const struct {
    const char *old, *present, *remark[2];
  } pairs[] = {
      {"bode m.yaml --from u --to a --json -",
       "bode m.yaml --input u --output a --json -",
       {"the option --from is now called --input", "--to is now called --output"}},
      {"equilibrium m.yaml --hold a=1 --free u --json -",
       "equilibrium m.yaml --hold a=1 --adjust u --json -",
       {"--free is now called --adjust"}},
      {"optimize m.yaml --free a.gain=1:5 --goal a:final=3 --json -",
       "optimize m.yaml --search a.gain=1:5 --goal a:final=3 --json -",
       {"--free is now called --search"}},
      {"friction tustin --set Fs=2 --set Fc=1 --set vs=0.01 --set viscous=3 --show step --from 0.1 --to=0.2 --csv -",
       "friction tustin --set Fs=2 --set Fc=1 --set vs=0.01 --set viscous=3 --show step --speed-before 0.1 "
       "--speed-after 0.2 --csv -",
       {"--from is now called --speed-before", "--to is now called --speed-after"}},
      {"friction coulomb --set Fc=2 --set vs=0.01 --set viscous=3 --log l.csv --csv -",
       "friction coulomb --set Fc=2 --set vs=0.01 --set viscous=3 --data l.csv --csv -",
       {"--log is now called --data"}},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    outcome old = run(s, "%s", pairs[i].old), present = run(s, "%s", pairs[i].present);
    ends_with(old, 0);
    ends_with(present, 0);
    assert_string_equal(old.out, present.out);
    for (int k = 0; k < 2 && pairs[i].remark[k]; k++) says(old.err, pairs[i].remark[k]);
    assert_null(strstr(present.err, "is now called"));
    forget(old);
    forget(present);
  }
  // A name that was never an option is not accepted; help lists only present names.
  ends_and_says(run(s, "simulate m.yaml --from 3"), 2, "unknown option '--from'");
  outcome o = run(s, "bode --help");
  assert_null(strstr(o.out, "--from"));
  forget(o);
}

// JSON: a file, standard output, and standard output without a name.
static void test_json(void **state) {
  scratch *s = *state;
  scratch_put(s, "m.yaml", lag);
  outcome a = run(s, "info m.yaml --json"), b = run(s, "info --json - m.yaml"), c = run(s, "info m.yaml --json r.json");
  ends_with(a, 0);
  ends_with(b, 0);
  ends_with(c, 0);
  assert_string_equal(a.out, b.out);
  char *file = scratch_read(scratch_path(s, "r.json"));
  assert_string_equal(a.out, file);
  free(file);
  forget(a), forget(b), forget(c);
}

// The used part of a log: rows from --start to --end. Oracle: a log that has only these rows.
static void test_part_of_a_log(void **state) {
  scratch *s = *state;
  FILE *all = fopen(scratch_path(s, "all.csv"), "w"), *part = fopen(scratch_path(s, "part.csv"), "w");
  fprintf(all, "time,u,y\n"), fprintf(part, "time,u,y\n");
  double y = 0;
  for (int i = 0; i < 3000; i++) {
    double u = (i * 7919 % 101) / 50.0 - 1;
    fprintf(all, "%.3f,%.17g,%.17g\n", i * 1e-3, u, y);
    if (i >= 500 && i <= 2500) fprintf(part, "%.3f,%.17g,%.17g\n", i * 1e-3, u, y);
    y += 0.05 * (u - y);
  }
  fclose(all), fclose(part);
  outcome a = run(s, "frf all.csv --input u --start 0.5 --end '2500 ms' --csv - --quiet"),
          b = run(s, "frf part.csv --input u --csv - --quiet");
  ends_with(a, 0);
  ends_with(b, 0);
  assert_string_equal(a.out, b.out);
  forget(a), forget(b);
  a = run(s, "tf all.csv --method arx --order 1 --input u --start 0.5 --end 2.5 --csv - --quiet");
  b = run(s, "tf part.csv --method arx --order 1 --input u --csv - --quiet");
  assert_string_equal(a.out, b.out);
  forget(a), forget(b);
  ends_and_says(run(s, "frf all.csv --input u --start 2.999"), 2, "expected at least 8 rows");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_one_argument_per_name), TEST(test_commands_that_compute),
                                     TEST(test_old_names), TEST(test_json), TEST(test_part_of_a_log)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
