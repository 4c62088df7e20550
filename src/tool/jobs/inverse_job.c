// The job inverse: computes the forces, pressures and flows that a prescribed motion requires.
#include <math.h>
#include <string.h>

#include "jobs/job.h"
#include "document/suggest.h"
#include "inverse/inverse_run.h"
#include "io/wording.h"
#include "machine/machine.h"
#include "memory/owned.h"
#include "jobs/inverse_motion.h"
#include "jobs/open_machine.h"
#include "jobs/setting_values.h"
#include "jobs/select_outputs.h"
#include "machine/machine_result.h"
#include "report/picture_figures.h"

typedef struct arguments {
  od_motion_arguments motion;
  od_words drives, outputs;
  const char *back, *sum, *pump, *limit;
  od_load_arguments load;
} arguments;

typedef struct findings {
  od_arena arena;
  const od_machine *machine;
  od_motion_plan motion;
  od_selection outputs;
  od_inverse_options options;
  od_inverse_result result;
} findings;

static void free_findings(findings *f) {
  od_inverse_result_free(&f->result);
  od_motion_plan_free(&f->motion);
  od_selection_free(&f->outputs);
  od_arena_free(&f->arena);
}

// --- Drives -------------------------------------------------------------------------------------------------------

// Finds a drive by name. Returns false after reporting an error.
static bool find_drive(od_job *job, const od_machine *machine, const char *name, od_drive *out) {
  const od_model *m = od_machine_model(machine);
  if (od_inverse_find_drive(machine, name, out)) return true;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < m->instances + m->loads + m->joints; i++) {
    const int load = i - m->instances, joint = load - m->loads;
    const char *other = od_model_text(m, joint >= 0  ? m->joint[joint].name
                                         : load >= 0 ? m->load[load].name
                                                     : m->instance[i].name);
    od_drive drive;
    if (od_inverse_find_drive(machine, other, &drive)) od_nearest_try(&nearest, other);
  }
  od_job_error(
      job,
      "--drive: '%s' is not a cylinder, motor, displacement unit, force or torque, nor a revolute, prismatic or screw joint of the tree%s",
      name, od_nearest_suggestion(&nearest, "'oleodyn info FILE' lists the elements").text);
  return false;
}

static int choose_drives(od_job *job, const arguments *a, findings *f) {
  const od_model *m = od_machine_model(f->machine);
  int room = m->instances + m->loads + m->joints + m->freedom, count = 0;
  od_drive *drive = OD_TAKE(&f->arena, od_drive, room + 1);
  OD_TRY(od_job_has_memory(job, &f->arena));
  bool ok = true;
  for (int i = 0; i < a->drives.count; i++) {
    char *rest = NULL, *list = od_arena_text(&f->arena, a->drives.text[i]);
    for (char *name = strtok_r(list ? list : (char[]){""}, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
      if (!find_drive(job, f->machine, name, &drive[count])) {
        ok = false;
        continue;
      }
      bool is_new = true;
      for (int k = 0; k < count; k++)
        is_new = is_new && !(drive[k].kind == drive[count].kind && drive[k].index == drive[count].index);
      if (!is_new) od_job_error(job, "--drive: '%s' is named twice; name each drive once", name);
      ok = ok && is_new;
      count += is_new;
    }
  }
  if (!ok) return OD_JOB_BAD_INPUT;
  if (a->drives.count == 0) count = od_inverse_usual_drives(f->machine, drive, room);
  if (a->drives.count == 0 && count == 0)
    count = od_inverse_joint_drives(f->machine, f->motion.moved, f->motion.count - f->motion.loose, drive);
  f->options.drive = drive;
  f->options.drives = count;
  int driven = m->freedom - f->motion.loose;
  if (f->motion.loose && count > driven)
    od_job_error(job, "found %s for %s. With --passive both numbers must be equal; name the drives with --drive",
                 od_count(count, "drive").text, od_count(driven, "driven quantity").text);
  else if (count < driven)
    od_job_error(
        job,
        "%s cannot move %s; name more drives with --drive: cylinders, motors, displacement units, forces, torques or "
        "joints",
        od_count(count, "drive").text, od_count(driven, "degree of freedom").text);
  else
    return OD_GO_ON;
  return OD_JOB_BAD_INPUT;
}

// --- Pressures ----------------------------------------------------------------------------------------------------

static int choose_pressures(od_job *job, const arguments *a, findings *f) {
  od_inverse_options *o = &f->options;
  bool ok = true;
  if (a->back && a->sum) {
    od_job_error(
        job, "--back-pressure and --pressure-sum are two rules for the same pressures; give only one of these options");
    ok = false;
  }
  o->rule = a->sum ? OD_RULE_SUM : OD_RULE_BACK;
  ok = od_setting_any_quantity(job, "back-pressure", a->back, "Pa", &o->pressure) && ok;
  ok = od_setting_quantity(job, "pressure-sum", a->sum, "Pa", &o->pressure) && ok;
  ok = od_setting_quantity(job, "pressure-limit", a->limit, "Pa", &o->pressure_limit) && ok;
  o->pump_flow = od_inverse_pump_flow(f->machine);
  ok = od_setting_quantity(job, "pump-flow", a->pump, "m3/s", &o->pump_flow) && ok;
  if (ok && !(o->pressure >= 0 && isfinite(o->pressure))) {
    od_job_error(job, "--back-pressure: found '%s', expected a pressure of zero or more", a->back);
    ok = false;
  }
  return ok ? OD_GO_ON : OD_JOB_BAD_INPUT;
}

static int choose_outputs(od_job *job, const arguments *a, findings *f) {
  const od_model *m = od_machine_model(f->machine);
  int code = OD_GO_ON;
  if (a->outputs.count == 0) return OD_GO_ON;
  OD_TRY(od_select_outputs(job, f->machine, &a->outputs, &f->outputs));
  for (int i = 0; i < f->outputs.count; i++) {
    if (od_inverse_has_output(&m->output[f->outputs.index[i]])) continue;
    od_job_error(
        job,
        "--output: %s depends on states of the circuit, which a prescribed motion does not determine; expected a "
        "position, speed, acceleration, length, force along a length, or reaction of a joint or rod",
        od_model_text(m, m->output[f->outputs.index[i]].name));
    code = OD_JOB_BAD_INPUT;
  }
  f->options.outputs = f->outputs.index;
  f->options.output_count = f->outputs.count;
  return code;
}

// --- The command --------------------------------------------------------------------------------------------------

static int run_and_write(od_job *job, findings *f) {
  od_inverse_options *o = &f->options;
  od_error err = {0};
  o->begin = f->motion.begin, o->end = f->motion.end, o->step = f->motion.step;
  o->loose = f->motion.loose;
  o->moves = f->motion.count, o->moved = f->motion.moved, o->motion = f->motion.motion;
  od_job_begin_stage(job, OD_STAGE_COMPUTE);
  o->progress = od_job_progress;
  o->user = job;
  od_status status = od_inverse_run(f->machine, o, &f->result, &err);
  od_job_begin_stage(job, OD_STAGE_FINISH);
  od_time_facts_remark(&f->motion.times, &f->result.verdict);
  if (!f->result.table || f->result.table->rows == 0) return od_job_end_early(job, status, &err);
  const od_inverse_findings found = {f->machine, o, &f->result, status == OD_OK ? NULL : err.text};
  OD_SCOPED(od_result_free) od_result result = od_inverse_findings_result(&found);
  OD_SCOPED(od_picture_free) od_picture picture = {.title = od_machine_caption(f->machine)};
  od_picture_add_table(&picture, f->result.table, NULL);
  od_result_add_picture(&result, "Charts", &picture);
  const od_file_contents contents = {.table = &f->result.table,
                                     .result = &result,
                                     .write[OD_FILE_PLOT] = od_inverse_findings_write_plot,
                                     .user = &found,
                                     .status = status,
                                     .err = &err,
                                     .is_over_time = true};
  return od_job_finish(job, &contents, &f->result.verdict);
}

static const char details[] =
    "Inverse dynamics: the number of prescribed quantities equals the number of degrees of freedom. Quantities are joint\n"
    "coordinates, lengths of cylinders, points and angles of bodies. Each quantity follows an input of the machine, a constant,\n"
    "or a column of a log. Joint coordinates in --passive move freely instead. Columns of --data have the names of quantities,\n"
    "or --map assigns the names; all these columns are prescribed, or only the columns that --move names.\n\n"
    "The efforts of the drives are computed row by row: forces and torques, and for cylinders, motors and displacement\n"
    "units also pressures and flows. The default drives are all these elements; else the forces and torques with an\n"
    "input; else the joints whose coordinates are prescribed.\n\n"
    "With --back-pressure (default: 0 bar) the passive chamber has this pressure; with --pressure-sum both pressures add up\n"
    "to this value. Flows do not include the compression of the oil; the verdict reports whether the compression matters.\n"
    "Friction laws with states have the force of steady motion.\n\n"
    "The exit code is 3 if the machine cannot follow the motion, because a stroke, the flow or the pressure is insufficient.\n\n"
    "Examples\n"
    "  oleodyn inverse crane.yaml --move lift.length=wanted --back-pressure '5 bar' --csv needs.csv\n"
    "  oleodyn inverse arm.yaml --data motion.csv --drive shoulder,elbow --output 'A.force' --json -\n";

int od_kind_inverse(od_job *job) {
  arguments a = {0};
  const od_option options[] = {
      {"move", OD_OPTION_LIST, "QUANTITY=INPUT",
       "prescribe a position by an input of the machine or a value ('30 deg'); a QUANTITY\nalone follows its column of --data (repeatable)",
       &a.motion.moves},
      {"passive", OD_OPTION_LIST, "NAME,...",
       "joint coordinates that move freely from the initial state on, such as the swing of a\nload (repeatable)",
       &a.motion.loose},
      {"smooth", OD_OPTION_TEXT, "F",
       "with --data: highest frequency of the motion that smoothing preserves ('10 Hz');\ndefault: by cross-validation",
       &a.motion.smooth},
      {"drive", OD_OPTION_LIST, "NAME,...", "drives: cylinders, motors, forces, torques or joints (repeatable)",
       &a.drives},
      {"time", OD_OPTION_TEXT, "T", "duration of the motion; default: from the log, else from the file",
       &a.motion.time},
      {"step", OD_OPTION_TEXT, "H", "time between rows; default: from the log, else from the file, else 1 ms",
       &a.motion.step},
      {"back-pressure", OD_OPTION_TEXT, "P",
       "pressure of the passive chamber of a cylinder without a tank; default: 0 bar", &a.back},
      {"pressure-sum", OD_OPTION_TEXT, "P", "sum of the pressures of both chambers, instead of --back-pressure",
       &a.sum},
      {"pump-flow", OD_OPTION_TEXT, "Q",
       "available flow; a higher demand is reported; default: the flow of the machine's pumps", &a.pump},
      {"pressure-limit", OD_OPTION_TEXT, "P",
       "highest allowed chamber pressure; higher pressures are reported; default: no limit", &a.limit},
      {"output", OD_OPTION_LIST, "NAME,...", "further outputs of the mechanism, such as joint forces (repeatable)",
       &a.outputs},
      OD_LOG_OPTIONS(&a.motion.log),
      OD_LOAD_OPTIONS(&a.load),
  };
  const od_usage usage = {"MACHINE", details, OD_OPTIONS(options),
                          .shared = {.table = "all rows",
                                     .file[OD_FILE_JSON] = "peaks and the verdict",
                                     .file[OD_FILE_PLOT] = "all rows",
                                     .file[OD_FILE_REPORT] = "peaks, the verdict and charts",
                                     .si = true,
                                     .quiet = true}};
  od_words files = {0};
  OD_OWNED(od_machine_free) od_machine *machine = NULL;
  OD_SCOPED(free_findings) findings f = {0};
  OD_TRY(od_job_begin(job, &usage, 1, 1, &files));
  OD_TRY(od_job_load_machine(job, files.text[0], &a.load, &machine));
  f.machine = machine;
  OD_TRY(od_motion_plan_make(job, machine, &a.motion, &f.motion));
  OD_TRY(choose_drives(job, &a, &f));
  OD_TRY(choose_pressures(job, &a, &f));
  OD_TRY(choose_outputs(job, &a, &f));
  OD_TRY(od_job_prepare_files(job));
  return run_and_write(job, &f);
}
