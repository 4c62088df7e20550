// oleodyn new: every template is complete. check, simulate, observe and fit run and are sound, the estimates contain the numbers of
// the variant 'real', and a number of each machine agrees with a calculation by hand.
#include "support/test.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "oleodyn/oleodyn.h"
#include "support/program.h"

static const double pi = 3.14159265358979323846, g = 9.81;

// Runs a job and returns the job, whose result is sound. The caller frees the job.
static od_job *sound_job(const char *kind, const char *path) {
  od_job *job = od_job_new(kind);
  assert_int_equal(od_job_add_file(job, path), OD_OK);
  od_job_outcome ended = od_job_run(job);
  const od_result *r = od_job_result(job);
  if (ended != OD_JOB_DONE || !r) fail_msg("%s %s: outcome %d", kind, path, ended);
  if (od_result_trust(r) != OD_SOUND) fail_msg("%s %s: %s", kind, path, od_result_remark_at(r, 0).text);
  return job;
}

// Makes a folder from a template, in the scratch folder. Returns the path of a file of the new folder.
static const char *make(scratch *s, const char *template_name, const char *file) {
  static char path[1000];
  outcome o = run(s, "new %s --template %s --quiet", template_name, template_name);
  ends_with(o, 0);
  forget(o);
  snprintf(path, sizeof path, "%s/%s/%s", s->folder, template_name, file);
  return path;
}

static void remove_folder(scratch *s, const char *name) {
  char command[1200];
  snprintf(command, sizeof command, "rm -r '%s/%s'", s->folder, name);
  assert_int_equal(system(command), 0);
}

// --- All templates ----------------------------------------------------------------------------------------------------

static int is_shown(const struct dirent *e) {
  return e->d_name[0] != '.' && !strchr(e->d_name, '.');
}

// The list of the program equals the folder, and every template runs.
static void test_every_template(void **state) {
  scratch *s = *state;
  struct dirent **entry;
  int count = scandir(OD_SOURCE_DIR "/templates", &entry, is_shown, alphasort);
  assert_true(count >= 6);
  outcome o = run(s, "new --list --json");
  ends_with(o, 0);
  json_t *list = json_loads(o.out, 0, NULL), *templates = json_object_get(list, "templates");
  assert_int_equal(json_array_size(templates), count);
  for (int i = 0; i < count; i++) {
    const char *name = entry[i]->d_name;
    const json_t *row = json_array_get(templates, (size_t)i);
    assert_string_equal(json_string_value(json_object_get(row, "name")), name);
    assert_true(strlen(json_string_value(json_object_get(row, "description"))) > 20);
    const char *path = make(s, name, "");
    char file[1100];
    o = run(s, "check %s/machine.yaml %s/observe.yaml %s/fit.yaml", name, name, name);
    ends_with(o, 0);
    assert_string_equal(o.err, "");
    forget(o);
    static const char *const steps[][2] = {
        {"simulate", "machine.yaml"}, {"observe", "observe.yaml"}, {"fit", "fit.yaml"}};
    for (int k = 0; k < 3; k++) {
      snprintf(file, sizeof file, "%s%s", path, steps[k][1]);
      od_job_free(sound_job(steps[k][0], file));
    }
    // The log is a log of the observer as well.
    expect_code(run(s, "observe %s/observe.yaml --data %s/log.csv --quiet", name, name), 0);
    remove_folder(s, name);
    free(entry[i]);
  }
  free(entry);
  json_decref(list);
}

// The estimates of a fit contain the true numbers: the numbers of the variant 'real'.
static void test_estimates(void **state) {
  scratch *s = *state;
  static const struct {
    const char *template_name, *parameter;
    double truth;
  } rows[] = {{"crane", "payload.mass", 620},
              {"winch", "load.mass", 2300},
              {"scissor-lift", "platform.mass", 950},
              {"servo-axis", "load.mass", 340},
              {"excavator", "bucket.mass", 480},
              {"hydrostatic-drive", "vehicle.mass", 6800},
              {"press", "cylinder.leakage", 0.06e-3 / 60 / 1e5}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    od_job *job = sound_job("fit", make(s, rows[i].template_name, "fit.yaml"));
    const od_result *r = od_job_result(job);
    double value = NAN, sigma = NAN;
    for (int k = 0; k < od_result_get_count(r, "parameters"); k++) {
      char path[100];
      snprintf(path, sizeof path, "parameters[%d].path", k);
      if (strcmp(od_result_get_text(r, path), rows[i].parameter) != 0) continue;
      snprintf(path, sizeof path, "parameters[%d].estimate", k);
      value = od_result_get_number(r, path);
      snprintf(path, sizeof path, "parameters[%d].sigma", k);
      sigma = od_result_get_number(r, path);
    }
    if (!(fabs(value - rows[i].truth) < 4 * sigma) || !(sigma < 0.1 * rows[i].truth))
      fail_msg("%s: %g +- %g, true %g", rows[i].template_name, value, sigma, rows[i].truth);
    od_job_free(job);
    remove_folder(s, rows[i].template_name);
  }
}

// --- Calculations by hand ---------------------------------------------------------------------------------------------

static od_job *simulated(scratch *s, const char *template_name, const char *output) {
  const char *path = make(s, template_name, "machine.yaml");
  od_job *job = od_job_new("simulate");
  od_job_add_file(job, path);
  od_job_set(job, "output", output, NULL);
  od_job_keep_table(job);
  assert_int_equal(od_job_run(job), OD_JOB_DONE);
  remove_folder(s, template_name);
  return job;
}

// Returns the value of column c at a time, SI.
static double value_at(const od_job *job, double time, int c) {
  const od_table *t = od_job_table(job);
  for (long i = 0; i < od_table_rows(t); i++)
    if (od_table_value(t, i, 0) >= time - 1e-9) return od_table_value(t, i, c);
  fail_msg("no row at %g s", time);
  return NAN;
}

static void test_by_hand(void **state) {
  scratch *s = *state;
  // Servo axis: flow = speed x area, when pressures hardly change.
  od_job *job = simulated(s, "servo-axis", "guide.rate,valve.flow_a");
  near_relative(value_at(job, 0.7, 2), value_at(job, 0.7, 1) * 12.57e-4, 0.03);
  od_job_free(job);
  // Crane: moment of boom and payload about the heel, over the lever of 1.2 m and the area of the piston.
  job = simulated(s, "crane", "A.pressure,heel.rate");
  double piston = pi / 4 * 0.07 * 0.07, rod_side = piston - pi / 4 * 0.04 * 0.04;
  near_relative(value_at(job, 0.4, 1), g * (500 * 4 + 300 * 2) / 1.2 / piston + 1e5 * rod_side / piston, 0.01);
  od_job_free(job);
  // Scissor lift: virtual work of weight and push at 20 degrees.
  job = simulated(s, "scissor-lift", "A.pressure,pin.angle");
  double area = pi / 4 * 0.08 * 0.08, annulus = area - pi / 4 * 0.045 * 0.045;
  near_relative(value_at(job, 0.4, 1), g * (800 + 60) / tan(20 * pi / 180) / area + 1e5 * annulus / area, 0.01);
  od_job_free(job);
  // Press: speed = flow / area before the ram touches the workpiece; force = pressure x area while pressing.
  job = simulated(s, "press", "guide.rate,A.pressure,B.pressure,workpiece.force,relief.flow");
  double bore = pi / 4 * 0.1 * 0.1, ring = bore - pi / 4 * 0.07 * 0.07;
  near_relative(value_at(job, 1.6, 1), 40e-3 / 60 / bore, 0.03);
  assert_true(value_at(job, 3.1, 5) > 0);
  near_relative(-value_at(job, 3.1, 4), value_at(job, 3.1, 2) * bore - value_at(job, 3.1, 3) * ring, 0.01);
  od_job_free(job);
  // Winch: torque of the load over the displacement; speed of the drum = flow / displacement.
  job = simulated(s, "winch", "M.pressure,B.pressure,shaft.rate,motor.flow,lift.rate");
  near_relative(value_at(job, 0.4, 1) - value_at(job, 0.4, 2), 2000 * g * 0.2 * 2 * pi / 2e-3, 0.02);
  near_relative(value_at(job, 4.5, 5), value_at(job, 4.5, 3) * 0.2, 1e-6);
  near_relative(value_at(job, 4.5, 5), 40e-3 / 60 / 2e-3 * 2 * pi * 0.2, 0.04);
  od_job_free(job);
  // Hydrostatic drive: speed = flow of the pump / displacement of the motor per meter, without the leakage.
  job = simulated(s, "hydrostatic-drive", "road.rate");
  near_relative(value_at(job, 4.9, 1), 81e-3 / 60 / 5.093e-4, 0.02);
  od_job_free(job);
  // Excavator: force of the lift cylinder = moment of the arm about the foot / distance of its line from the foot.
  job = simulated(s, "excavator",
                  "lift.ram.force,boom.centre.x,stick.centre.x,bucket.centre.x,boom.lug.x,boom.lug.y,lift.ram.length");
  double moment = g * (800 * value_at(job, 0.9, 2) + 400 * value_at(job, 0.9, 3) + 350 * value_at(job, 0.9, 4));
  double x = value_at(job, 0.9, 5), y = value_at(job, 0.9, 6), length = hypot(x - 0.5, y - 1.1);
  near_relative(length, value_at(job, 0.9, 7), 1e-6);
  double distance = fabs((x - 0.5) * (1.6 - 1.1) - (y - 1.1) * (0 - 0.5)) / length;
  near_relative(fabs(value_at(job, 0.9, 1)), moment / distance, 0.01);
  od_job_free(job);
}

// --- Messages ---------------------------------------------------------------------------------------------------------

static void test_never_overwrites(void **state) {
  scratch *s = *state;
  scratch_put(s, "precious", "my work\n");
  ends_and_says(run(s, "new precious"), 2, "precious exists already, and 'new' never overwrites files");
  char *kept = scratch_read(scratch_path(s, "precious"));
  assert_string_equal(kept, "my work\n");
  free(kept);
  ends_and_says(run(s, "new none/where"), 1, "cannot make the folder none/where");
  ends_and_says(run(s, "new a --template crne"), 2, "there is no template 'crne'; did you mean 'crane'?");
  ends_and_says(run(s, "new a --template zzzzzzzz"), 2, "; expected crane,");
  ends_and_says(run(s, "new"), 2, "the name of the folder is missing");
  struct stat facts;
  assert_int_not_equal(stat(scratch_path(s, "a"), &facts), 0);
  // Two folders of one template are identical.
  make(s, "press", "");
  outcome o = run(s, "new other --template press --quiet && diff -r press other");
  ends_with(o, 0);
  forget(o);
  remove_folder(s, "press");
  remove_folder(s, "other");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
  const struct CMUnitTest tests[] = {TEST(test_every_template), TEST(test_estimates), TEST(test_by_hand),
                                     TEST(test_never_overwrites)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
