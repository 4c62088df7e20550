// Imported FMUs as blocks of machines. The FMUs are made here from tests/fmus. Oracles: the same laws as blocks of the core, closed
// forms of a bouncing ball, exact messages. The published outputs of independent FMUs are compared in docs/fmu-import.md.
#include "support/test.h"

#ifdef OD_HAS_FMU
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zip.h>

#include "machine/machine.h"
#include "model/model.h"
#include "oleodyn/integrator.h"
#include "oleodyn/machine.h"
#include "oleodyn/sim.h"
#include "support/program.h"

// ---- archives

// Adds a file to an archive: the content of `path`, or the text.
static void add(zip_t *archive, const char *name, const char *path, const char *text) {
  zip_source_t *source =
      path ? zip_source_file(archive, path, 0, -1) : zip_source_buffer(archive, text, strlen(text), 0);
  assert_non_null(source);
  assert_true(zip_file_add(archive, name, source, ZIP_FL_OVERWRITE) >= 0);
}

static zip_t *create(scratch *s, const char *name) {
  int reason;
  zip_t *archive = zip_open(scratch_path(s, name), ZIP_CREATE | ZIP_TRUNCATE, &reason);
  assert_non_null(archive);
  return archive;
}

// Makes an FMU from a description, in which `from` is replaced by `to`, and a binary under the name of a platform.
static void make_fmu(scratch *s, const char *name, const char *description, const char *from, const char *to,
                     const char *binary, const char *place) {
  char path[600], file[600];
  snprintf(path, sizeof path, OD_SOURCE_DIR "/tests/fmus/%s", description);
  char *xml = scratch_read(path), *text = calloc(1, strlen(xml) + strlen(to) + 1);
  const char *at = from[0] ? strstr(xml, from) : xml;
  assert_non_null(at);
  sprintf(text, "%.*s%s%s", (int)(at - xml), xml, to, at + strlen(from));
  zip_t *archive = create(s, name);
  add(archive, "modelDescription.xml", NULL, text);
  snprintf(file, sizeof file, OD_FMU_FOLDER "/%s", binary);
  add(archive, place, file, NULL);
  assert_int_equal(zip_close(archive), 0);
  free(xml);
  free(text);
}

#if defined __x86_64__
#define PLATFORM_2 "linux64"
#define PLATFORM_3 "x86_64-linux"
#else
#define PLATFORM_2 "aarch64-linux"
#define PLATFORM_3 "aarch64-linux"
#endif

static int setup(void **state) {
  int code = scratch_setup(state);
  scratch *s = *state;
  static const char place[] = "binaries/" PLATFORM_2 "/oscillator.so";
  make_fmu(s, "oscillator.fmu", "oscillator.xml", "", "", "oscillator.so", place);
  make_fmu(s, "saving.fmu", "oscillator.xml", "canHandleVariableCommunicationStepSize",
           "canGetAndSetFMUstate=\"true\" canSerializeFMUstate", "saving.so", place);
  make_fmu(s, "plain.fmu", "oscillator.xml", "providesDirectionalDerivative=\"true\"", "", "oscillator.so", place);
  make_fmu(s, "ball.fmu", "ball.xml", "", "", "ball.so", "binaries/" PLATFORM_3 "/ball.so");
  return code;
}

// ---- machines

static const char input[] = "inputs: {F: {unit: N, chirp: {amplitude: 5 N, from: 0.1 Hz, to: 3 Hz, duration: 4 s}}}\n";
static const char native[] =
    "blocks:\n"
    "  a: {type: formula, inputs: {F: F, s: position, v: velocity}, formula: \"(F - k*s - d*v)/m\",\n"
    "      parameters: {m: 3 kg, k: 60 N/m, d: 2 N s/m}}\n"
    "  velocity: {type: integrator, input: a, unit: m/s}\n"
    "  position: {type: integrator, input: velocity, unit: m}\n"
    "initial: {position.integral: 0.1 m}\n"
    "run: {time: 4 s, step: 5 ms, outputs: [position, velocity]}\n"
    "variants: {wrong: {blocks: {a: {parameters: {k: 40 N/m, d: 1 N s/m}}}}}\n";

static void put_machines(scratch *s, const char *fmu) {
  char text[2000];
  snprintf(text, sizeof text, "machine: Native\n%s%s", input, native);
  scratch_put(s, "native.yaml", text);
  snprintf(
      text, sizeof text,
      "machine: FMU\n%s"
      "blocks:\n"
      "  o: {type: fmu, file: %s, inputs: {force: F}, parameters: {mass: 3 kg, stiffness: 60 N/m, damping: 2 N s/m}}\n"
      "run: {time: 4 s, step: 5 ms, outputs: [o.position, o.velocity]}\n"
      "variants: {wrong: {blocks: {o: {parameters: {stiffness: 40 N/m, damping: 1 N s/m}}}}}\n",
      input, fmu);
  scratch_put(s, "fmu.yaml", text);
}

static od_machine *load(scratch *s, const char *name) {
  od_machine *machine = NULL;
  od_messages *messages = od_messages_new();
  if (od_machine_load(scratch_path(s, name), NULL, &machine, messages) != OD_OK)
    fail_msg("%s", od_messages_count(messages) ? od_messages_get(messages, 0)->text : "no message");
  od_messages_free(messages);
  return machine;
}

// A simulation with two outputs and three parameters.
typedef struct lone {
  od_machine *machine;
  od_plant *plant;
  od_sim *sim;
} lone;

static lone begin(scratch *s, const char *file, const char *const output[2], const char *const parameter[3]) {
  lone l = {load(s, file), NULL, NULL};
  int y[2], p[3];
  for (int i = 0; i < 2; i++) y[i] = od_machine_output_find(l.machine, output[i]);
  for (int i = 0; i < 3; i++) p[i] = od_machine_number_find(l.machine, parameter[i]);
  assert_int_equal(od_machine_plant(l.machine, y, 2, p, 3, &l.plant, NULL), OD_OK);
  l.sim = od_sim_new(l.plant);
  return l;
}

static void end(lone *l) {
  od_sim_free(l->sim);
  od_plant_free(l->plant);
  od_machine_free(l->machine);
}

static lone begin_fmu(scratch *s) {
  return begin(s, "fmu.yaml", (const char *const[]){"o.position", "o.velocity"},
               (const char *const[]){"o.parameters.mass", "o.parameters.stiffness", "o.parameters.damping"});
}
// The states of the native machine are in the order of its blocks: velocity, position.
static lone begin_native(scratch *s) {
  return begin(s, "native.yaml", (const char *const[]){"position", "velocity"},
               (const char *const[]){"a.parameters.m", "a.parameters.k", "a.parameters.d"});
}

// ---- model exchange

// Derivatives at a point: of rates, outputs and a step. Differences replace the derivatives of the second FMU.
static void derivatives_are_those_of_native_blocks(void **state) {
  static const char *const files[] = {"oscillator.fmu", "plain.fmu"};
  for (int kind = 0; kind < 2; kind++) {
    put_machines(*state, files[kind]);
    lone a = begin_fmu(*state), b = begin_native(*state);
    double bound = kind ? 1e-7 : 1e-12, u = 2, xa[] = {0.3, -0.5}, xb[] = {-0.5, 0.3};
    double f[2], fa[4], ua[2], pa[6], fb[4], ub[2], pb[6], ha[4], hb[4];
    assert_int_equal(od_sim_start(a.sim, 0, &u), OD_OK);
    assert_int_equal(od_sim_start(b.sim, 0, &u), OD_OK);
    near(od_sim_state(a.sim)[0], 0.1, 0);
    assert_int_equal(od_sim_set(a.sim, 0, xa, &u), OD_OK);
    assert_int_equal(od_sim_set(b.sim, 0, xb, &u), OD_OK);
    assert_int_equal(od_sim_derivatives(a.sim, f, fa, ua, pa), OD_OK);
    assert_int_equal(od_sim_derivatives(b.sim, f, fb, ub, pb), OD_OK);
    assert_int_equal(od_sim_output_jacobians(a.sim, ha, NULL, NULL), OD_OK);
    assert_int_equal(od_sim_output_jacobians(b.sim, hb, NULL, NULL), OD_OK);
    for (int i = 0; i < 2; i++) {
      near_scaled(ua[i], ub[1 - i], bound, 1);
      for (int j = 0; j < 2; j++) near_scaled(fa[2 * i + j], fb[2 * (1 - i) + 1 - j], bound, 1);
      for (int j = 0; j < 2; j++) near_scaled(ha[2 * i + j], hb[2 * i + 1 - j], bound, 1);
      for (int j = 0; j < 3; j++) near_scaled(pa[3 * i + j], pb[3 * (1 - i) + j], 1e-7, 1);  // always differences
    }
    end(&a);
    end(&b);
  }
}

static void runs_are_those_of_native_blocks(void **state) {
  put_machines(*state, "oscillator.fmu");
  lone a = begin_fmu(*state), b = begin_native(*state);
  double u = 0, ya[2], yb[2];
  assert_int_equal(od_sim_start(a.sim, 0, &u), OD_OK);
  assert_int_equal(od_sim_start(b.sim, 0, &u), OD_OK);
  for (int i = 0; i < 400; i++) {
    od_machine_inputs(a.machine, 1e-2 * (i + 1), &u);
    assert_int_equal(od_sim_step(a.sim, 1e-2, &u), OD_OK);
    assert_int_equal(od_sim_step(b.sim, 1e-2, &u), OD_OK);
  }
  assert_int_equal(od_sim_outputs(a.sim, ya), OD_OK);
  assert_int_equal(od_sim_outputs(b.sim, yb), OD_OK);
  near(ya[0], yb[0], 1e-12);
  near(ya[1], yb[1], 1e-12);
  assert_string_equal(od_machine_output_unit(a.machine, od_machine_output_find(a.machine, "o.velocity")), "m/s");
  end(&a);
  end(&b);
}

// Writes a log of the native machine with noise.
static void put_log(scratch *s) {
  lone b = begin_native(s);
  FILE *f = fopen(scratch_path(s, "log.csv"), "w");
  double u = 0, y[2];
  od_machine_inputs(b.machine, 0, &u);
  assert_int_equal(od_sim_start(b.sim, 0, &u), OD_OK);
  fprintf(f, "time,force,measured\n");
  for (int i = 0; i <= 400; i++) {
    assert_int_equal(od_sim_outputs(b.sim, y), OD_OK);
    fprintf(f, "%.17g,%.17g,%.17g\n", 1e-2 * i, u, y[0] + 1e-3 * sin(777.0 * i * i));
    od_machine_inputs(b.machine, 1e-2 * (i + 1), &u);
    assert_int_equal(od_sim_step(b.sim, 1e-2, &u), OD_OK);
  }
  fclose(f);
  end(&b);
}

static json_t *fit(scratch *s, const char *machine, const char *output, const char *first, const char *second) {
  char text[900];
  snprintf(text, sizeof text,
           "machine: %s\nmodel: {variant: wrong}\ndata: {file: log.csv, channels: {F: force, %s: measured}}\n"
           "sensors: {%s: {sigma: 1 mm}}\nfit: {integrator: trapezoid}\nstep: 10 ms\n"
           "parameters: {%s: {low: 10 N/m, high: 200 N/m}, %s: {low: 0.1 N s/m, high: 20 N s/m}}\n",
           machine, output, output, first, second);
  scratch_put(s, "fit.yaml", text);
  outcome o = run(s, "fit fit.yaml --json found.json");
  if (o.code != 0 && o.code != 3) fail_msg("%s%s", o.out, o.err);
  forget(o);
  json_t *found = json_load_file(scratch_path(s, "found.json"), 0, NULL);
  assert_non_null(found);
  return found;
}

static double estimate(json_t *found, int i, const char *key) {
  json_t *parameters = json_object_get(found, "parameters");
  return json_number_value(json_object_get(json_array_get(parameters, (size_t)i), key));
}

static void fits_are_those_of_native_blocks(void **state) {
  scratch *s = *state;
  put_machines(s, "oscillator.fmu");
  put_log(s);
  json_t *a = fit(s, "fmu.yaml", "o.position", "o.parameters.stiffness", "o.parameters.damping");
  json_t *b = fit(s, "native.yaml", "position", "a.parameters.k", "a.parameters.d");
  for (int i = 0; i < 2; i++) {
    double want = estimate(b, i, "estimate"), sigma = estimate(b, i, "sigma");
    print_message("fit: %.9g, native %.9g, standard deviation %.3g\n", estimate(a, i, "estimate"), want, sigma);
    assert_true(want > 0 && sigma > 0);
    near(estimate(a, i, "estimate"), want, 1e-3 * sigma);
    near(estimate(a, i, "sigma"), sigma, 1e-3 * sigma);
  }
  near_relative(estimate(a, 0, "estimate"), 60, 0.01);
  json_decref(a);
  json_decref(b);
}

// ---- events: bounces at the event indicator, a lift to 1 m at the time event

static void events(void **state) {
  scratch *s = *state;
  scratch_put(s, "ball.yaml",
              "machine: Ball\nblocks: {b: {type: fmu, file: ball.fmu, parameters: {e: 0.6}}}\n"
              "run: {time: 2 s, tolerance: 1e-8, outputs: [b.h, b.v, b.bounces]}\n");
  expect_code(run(s, "simulate ball.yaml --json - --csv ball.csv"), 0);
  char *text = scratch_read(scratch_path(s, "ball.csv"));
  double t, h, v, count, t1 = sqrt(2 / 9.81), t2 = t1 * (1 + 2 * 0.6), t3 = t2 + 2 * 0.36 * t1;
  int rows = 0;
  for (char *line = strchr(text, '\n'); line && sscanf(line + 1, "%lf,%lf,%lf,%lf", &t, &h, &v, &count) == 4;
       line = strchr(line + 1, '\n')) {
    double from = t < t1 ? 0 : t < t2 ? t1 : t < t3 ? t2 : 0, v0 = t < t1 ? 0 : t < t2 ? 0.6 : 0.36;
    double at = t - from, up = v0 * 9.81 * t1, want = (t < t1 ? 1 : 0) + up * at - 0.5 * 9.81 * at * at;
    if (t < t3 - 1e-3) near(h, want, 2e-6);
    if (t < t3 - 1e-3 && fabs(t - t1) > 1e-3 && fabs(t - t2) > 1e-3) near(count, t < t1 ? 0 : t < t2 ? 1 : 2, 0);
    if (t > 1.501 && t < 1.9) near(h, 1 - 0.5 * 9.81 * (t - 1.5) * (t - 1.5), 2e-6);
    rows++;
  }
  assert_int_equal(rows, 2001);
  free(text);
}

// ---- co-simulation: the closed recursion of the FMU, with the input of the sample before; and states that are set back

static void co_simulation(void **state) {
  static const char *const files[] = {"oscillator.fmu", "saving.fmu"};
  scratch *s = *state;
  for (int kind = 0; kind < 2; kind++) {
    char text[400];
    snprintf(text, sizeof text,
             "machine: Steps\ninputs: {F: {unit: N, constant: 0 N}}\n"
             "blocks: {o: {type: fmu, file: %s, sample: 20 ms, inputs: {force: F}, parameters: {mass: 3 kg}}}\n",
             files[kind]);
    scratch_put(s, "steps.yaml", text);
    lone l = {load(s, "steps.yaml"), NULL, NULL};
    int output = od_machine_output_find(l.machine, "o.position");
    assert_int_equal(od_machine_plant(l.machine, &output, 1, NULL, 0, &l.plant, NULL), OD_OK);
    l.sim = od_sim_new(l.plant);
    od_sim *kept = malloc(od_sim_size(l.plant));
    double u = 0, y, position = 0.1, velocity = 0, force = 0, saved[2] = {0};
    bool changed;
    assert_int_equal(od_sim_start(l.sim, 0, &u), OD_OK);
    for (int i = 0; i < 60; i++) {
      if (i == 20) memcpy(kept, l.sim, od_sim_size(l.plant)), saved[0] = position, saved[1] = velocity;
      if (i == 40) memcpy(l.sim, kept, od_sim_size(l.plant)), position = saved[0], velocity = saved[1];
      for (int k = 0; k < 100; k++) {
        velocity += 2e-4 * (force - 50 * position - velocity) / 3;
        position += 2e-4 * velocity;
      }
      force = cos(i % 40);
      assert_int_equal(od_sim_step(l.sim, 2e-2, &force), OD_OK);
      assert_int_equal(od_sim_sample(l.sim, NULL, NULL, &changed), OD_OK);
      assert_int_equal(od_sim_outputs(l.sim, &y), OD_OK);
      near(y, position, 1e-12);
      if (i == 19) force = cos(19);
      if (i == 39) force = cos(19);
    }
    free(kept);
    end(&l);
  }
}

// ---- checkpoints: the rows of a resumed run have the same bits; an FMU that cannot save its state is refused

static void checkpoints(void **state) {
  scratch *s = *state;
  char text[400];
  for (int saves = 0; saves < 2; saves++) {
    snprintf(text, sizeof text,
             "machine: Steps\nblocks: {o: {type: fmu, file: %s, sample: 10 ms}}\nrun: {time: 1 s, step: 5 ms}\n",
             saves ? "saving.fmu" : "oscillator.fmu");
    scratch_put(s, "steps.yaml", text);
    expect_code(run(s, "simulate steps.yaml --csv full.csv --quiet"), 0);
    expect_code(run(s, "simulate steps.yaml --checkpoint half.ck --time 0.5 --csv first.csv --quiet"), 0);
    outcome o = run(s, "simulate steps.yaml --resume half.ck --csv rest.csv --quiet");
    if (!saves) {
      assert_int_not_equal(o.code, 0);
      says(o.err, "the state of a saved run is not stored");
    } else {
      ends_with(o, 0);
      char *full = scratch_read(scratch_path(s, "full.csv")), *first = scratch_read(scratch_path(s, "first.csv"));
      char *rest = scratch_read(scratch_path(s, "rest.csv"));
      size_t length = strlen(first);
      assert_true(strncmp(full, first, length) == 0);
      assert_string_equal(full + length, strchr(rest, '\n') + 1);
      free(full), free(first), free(rest);
    }
    forget(o);
  }
}

static void info_has_the_interface(void **state) {
  scratch *s = *state;
  scratch_put(s, "kinds.yaml",
              "machine: Kinds\nblocks:\n  a: {type: fmu, file: oscillator.fmu}\n"
              "  b: {type: fmu, file: oscillator.fmu, sample: 10 ms}\nrun: {time: 1 s}\n");
  outcome o = run(s, "info kinds.yaml");
  assert_int_equal(o.code, 0);
  says(o.out, "a  fmu    FMI 2.0, model exchange\n");
  says(o.out, "b  fmu    FMI 2.0, co-simulation, every 10 ms\n");
  forget(o);
}

static void no_exports(void **state) {
  scratch *s = *state;
  put_machines(s, "oscillator.fmu");
  ends_and_says(run(s, "export --c folder fmu.yaml"), 2, "which an export cannot contain");
  ends_and_says(run(s, "compile fmu.yaml -o fmu.odm"), 2, "which an image cannot contain");
}

// ---- faults

static void faults_end_with_a_place(void **state) {
  static const struct {
    const char *keys, *says;
  } wrong[] = {
      {"parameters: {fault: 1}", "wrong.yaml:2: the FMU 'oscillator.fmu' crashed in fmi2GetDerivatives, at 0.1"},
      {"parameters: {fault: 3}", "returned Error from fmi2GetDerivatives, at 0.1"},
      {"parameters: {fault: 4}", "ended its process, at 0.1"},
      {"parameters: {fault: 5}",
       "wrong.yaml:2:31: error: the FMU 'oscillator.fmu' crashed in fmi2ExitInitializationMode"},
      {"sample: 10 ms, parameters: {fault: 1}", "crashed in fmi2DoStep, at 0.1"},
      {"time_limit: 0.3 s, parameters: {fault: 2}", "took longer than the time limit of 0.3 s in fmi2GetDerivatives"},
      {"time_limit: 0.3 s, sample: 10 ms, parameters: {fault: 2}",
       "took longer than the time limit of 0.3 s in fmi2DoStep"},
  };
  scratch *s = *state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[600];
    snprintf(text, sizeof text,
             "machine: Wrong\nblocks: {o: {type: fmu, file: oscillator.fmu, %s}}\nrun: {time: 1 s}\n", wrong[i].keys);
    scratch_put(s, "wrong.yaml", text);
    time_t begin = time(NULL);
    outcome o = run(s, "simulate wrong.yaml");
    assert_true(o.code == 1 || o.code == 2);
    says(o.err, wrong[i].says);
    assert_true(time(NULL) - begin < 60);
    forget(o);
  }
}

// ---- signals

// Returns the number of folders of FMUs in a folder.
static int count_folders(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  assert_non_null(folder);
  for (struct dirent *e; (e = readdir(folder));) count += strncmp(e->d_name, "oleodyn-fmu", 11) == 0;
  closedir(folder);
  return count;
}
static void wait_for_folders(const char *path, int count) {
  for (int i = 0; i < 300 && count_folders(path) != count; i++)
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  assert_int_equal(count_folders(path), count);
}

// A call that does not return for 60 s: a signal to the process group, as by Ctrl-C, ends the run within a second (here 5 s, because
// the computer may be busy). The unpacked files are removed, also after SIGKILL to the program alone.
static void signals_end_a_call(void **state) {
  scratch *s = *state;
  scratch_put(s, "hang.yaml",
              "machine: Hang\nblocks: {o: {type: fmu, file: oscillator.fmu, sample: 10 ms, time_limit: 60 s, "
              "parameters: {fault: 2}}}\nrun: {time: 1 s}\n");
  char *temporary = strdup(scratch_path(s, "temporary")), *file = strdup(scratch_path(s, "hang.yaml"));
  assert_int_equal(mkdir(temporary, 0700), 0);
  static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
  for (int i = 0; i < 3; i++) {
    int end;
    pid_t program = fork();
    if (program == 0) {
      setpgid(0, 0);
      setenv("TMPDIR", temporary, 1);
      if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
      execl(OD_BINARY, "oleodyn", "simulate", file, (char *)NULL);
      _exit(1);
    }
    wait_for_folders(temporary, 1);
    sleep(1);  // the call hangs
    time_t begin = time(NULL);
    assert_int_equal(kill(signals[i] == SIGKILL ? program : -program, signals[i]), 0);
    assert_int_equal(waitpid(program, &end, 0), program);
    assert_true(signals[i] == SIGKILL ? WIFSIGNALED(end) : WIFEXITED(end) && WEXITSTATUS(end) != 0);
    wait_for_folders(temporary, 0);
    assert_true(time(NULL) - begin <= 5);
  }
  free(temporary);
  free(file);
}

// ---- wrong files and keys: all errors with a place, exit code 2

static void expect_wrong(scratch *s, const char *keys, const char *said) {
  char text[600];
  snprintf(text, sizeof text,
           "machine: Wrong\ninputs: {F: {unit: N, constant: 1 N}, p: {unit: Pa, constant: 1 Pa}}\n"
           "blocks: {o: {type: fmu, %s}}\nrun: {time: 1 s}\n",
           keys);
  scratch_put(s, "wrong.yaml", text);
  ends_and_says(run(s, "check wrong.yaml"), 2, said);
}

static void wrong_keys(void **state) {
  scratch *s = *state;
  expect_wrong(s, "inputs: {force: F}", "needs 'file'");
  expect_wrong(s, "file: absent.fmu", "wrong.yaml:3:31: error: the FMU 'absent.fmu'");
  expect_wrong(s, "file: oscillator.fmu, inputs: {forze: F}", "the FMU has no input 'forze'; did you mean 'force'?");
  expect_wrong(s, "file: oscillator.fmu, inputs: {position: F}",
               "the variable 'position' of the FMU has the causality 'output'; expected input");
  expect_wrong(s, "file: oscillator.fmu, inputs: {force: p}",
               "'p' is in Pa, but the input 'force' of the FMU must be in N");
  expect_wrong(s, "file: oscillator.fmu, parameters: {mass: 3 m}", "mass");
  expect_wrong(s, "file: oscillator.fmu, parameters: {mas: 3 kg}",
               "the FMU has no parameter 'mas'; did you mean 'mass'?");
  expect_wrong(s, "file: oscillator.fmu, outputs: [mass]", "has the causality 'parameter'; expected output");
  expect_wrong(s, "file: oscillator.fmu, interface: model-exchange, sample: 1 ms", "model exchange has no 'sample'");
  expect_wrong(s, "file: ball.fmu, sample: 1 ms", "the FMU has no co-simulation, only model-exchange");
  expect_wrong(s, "file: oscillator.fmu, inpts: {}", "unknown key 'inpts'");
}

// Archives that programs write as a stream, without going back, have sizes and checksums after the data.
static void streamed_archive(void **state) {
  scratch *s = *state;
  char command[2000];
  snprintf(command, sizeof command,
           "cd '%s' && mkdir -p s/binaries/" PLATFORM_2 " && cp " OD_SOURCE_DIR
           "/tests/fmus/oscillator.xml s/modelDescription.xml && cp " OD_FMU_FOLDER
           "/oscillator.so s/binaries/" PLATFORM_2
           " && cd s && cmake -E tar cf ../streamed.fmu --format=zip modelDescription.xml binaries",
           s->folder);
  assert_int_equal(system(command), 0);
  scratch_put(s, "streamed.yaml", "machine: S\nblocks: {o: {type: fmu, file: streamed.fmu}}\nrun: {time: 1 s}\n");
  outcome o = run(s, "check streamed.yaml");
  assert_int_equal(o.code, 0);
  forget(o);
}

static void wrong_archives(void **state) {
  scratch *s = *state;
  const char *folder = getenv("OLEODYN_HELPERS");
  char *kept = folder ? strdup(folder) : NULL;
  setenv("OLEODYN_HELPERS", s->folder, 1);
  expect_wrong(s, "file: oscillator.fmu", "the program oleodyn-fmu is missing");
  expect_wrong(s, "file: oscillator.fmu", "libexpat1-dev and libzip-dev");
  if (kept)
    setenv("OLEODYN_HELPERS", kept, 1);
  else
    unsetenv("OLEODYN_HELPERS");
  free(kept);
  static const char place[] = "binaries/" PLATFORM_2 "/oscillator.so";
  scratch_put(s, "broken.fmu", "PK this is no archive");
  expect_wrong(s, "file: broken.fmu", "cannot be read as a ZIP archive");
  zip_t *archive = create(s, "empty.fmu");
  add(archive, "readme.txt", NULL, "nothing");
  zip_close(archive);
  expect_wrong(s, "file: empty.fmu", "the archive has no file modelDescription.xml");
  make_fmu(s, "other.fmu", "oscillator.xml", "", "", "oscillator.so", "binaries/win64/oscillator.dll");
  expect_wrong(s, "file: other.fmu",
               "no binary 'binaries/" PLATFORM_2 "/oscillator.so' for this platform; it has binaries for: win64");
  make_fmu(s, "unsafe.fmu", "oscillator.xml", "", "", "oscillator.so", "resources/../../escaped");
  expect_wrong(s, "file: unsafe.fmu", "the archive contains the unsafe path 'resources/../../escaped'");
  make_fmu(s, "xml.fmu", "oscillator.xml", "<ModelVariables>", "<ModelVariables", "oscillator.so", place);
  expect_wrong(s, "file: xml.fmu", "modelDescription.xml, line ");
  make_fmu(s, "bomb.fmu", "oscillator.xml", "<fmiModelDescription",
           "<!DOCTYPE a [<!ENTITY b \"c\">]><fmiModelDescription", "oscillator.so", place);
  expect_wrong(s, "file: bomb.fmu", "found a document type");
  make_fmu(s, "start.fmu", "oscillator.xml", "start=\"", "start=\"x", "oscillator.so", place);
  expect_wrong(s, "file: start.fmu", "is not a number: 'x");
  make_fmu(s, "old.fmu", "oscillator.xml", "fmiVersion=\"2.0\"", "fmiVersion=\"1.0\"", "oscillator.so", place);
  expect_wrong(s, "file: old.fmu", "the FMU has FMI version '1.0'; expected 2.0 or 3.0");
  make_fmu(s, "token.fmu", "oscillator.xml", "{oscillator}", "{other}", "oscillator.so", place);
  expect_wrong(s, "file: token.fmu", "the FMU 'token.fmu' returned no instance from fmi2Instantiate");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_native_blocks),
      cmocka_unit_test(runs_are_those_of_native_blocks),
      cmocka_unit_test(fits_are_those_of_native_blocks),
      cmocka_unit_test(events),
      cmocka_unit_test(co_simulation),
      cmocka_unit_test(checkpoints),
      cmocka_unit_test(info_has_the_interface),
      cmocka_unit_test(no_exports),
      cmocka_unit_test(faults_end_with_a_place),
      cmocka_unit_test(signals_end_a_call),
      cmocka_unit_test(wrong_keys),
      cmocka_unit_test(streamed_archive),
      cmocka_unit_test(wrong_archives),
  };
  return cmocka_run_group_tests(tests, setup, scratch_teardown);
}

#else
#include <stdio.h>

int main(void) {
  puts("skipped: no package: libzip-dev, libexpat1-dev");
  return 77;
}
#endif
