// oleodyn inverse: the forces, pressures and flows that a prescribed motion requires.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "options/inverse_motion.h"
#include "options/open_machine.h"
#include "options/option_values.h"
#include "terminal/print_verdict.h"
#include "terminal/progress.h"
#include "options/result_files.h"
#include "options/select_outputs.h"
#include "terminal/show_result.h"
#include "terminal/terminal.h"
#include "document/suggest.h"
#include "inverse/inverse_result.h"
#include "machine/machine.h"

typedef struct arguments {
  od_motion_arguments motion;
  od_words drives, outputs;
  const char *back, *sum, *pump, *limit;
  od_files files;
  od_load_arguments load;
  bool si, quiet;
} arguments;

typedef struct findings {
  const od_machine *machine;
  od_motion_plan motion;
  od_drive *drive;
  od_selection outputs;
  od_inverse_options options;
  od_inverse_result result;
  od_error error;  // the reason of an early stop
} findings;

// --- Drives -------------------------------------------------------------------------------------------------------

static bool find_drive(const od_machine *machine, const char *name, od_drive *out) {
  const od_model *m = od_machine_model(machine);
  if (od_inverse_find_drive(machine, name, out)) return true;
  od_nearest nearest = od_nearest_to(name);
  for (int i = 0; i < m->instances; i++) od_nearest_try(&nearest, m->instance[i].name);
  for (int i = 0; i < m->loads; i++) od_nearest_try(&nearest, m->load[i].name);
  for (int i = 0; i < m->joints; i++) od_nearest_try(&nearest, m->joint[i].name);
  od_cli_error(
      "--drive: '%s' is no cylinder, motor, force or torque, and no revolute or prismatic joint that closes no loop%s",
      name, od_nearest_suggestion(&nearest).text);
  return false;
}

static int choose_drives(const arguments *a, findings *f) {
  const od_model *m = od_machine_model(f->machine);
  int room = m->instances + m->loads + m->joints + m->freedom + a->drives.count, count = 0;
  bool ok = true;
  f->drive = calloc((size_t)room + 1, sizeof *f->drive);
  if (!f->drive) return OD_EXIT_FAILED;
  for (int i = 0; i < a->drives.count; i++) {
    char *copy = strdup(a->drives.text[i]), *rest = NULL;
    for (char *name = copy ? strtok_r(copy, ", ", &rest) : NULL; name; name = strtok_r(NULL, ", ", &rest)) {
      ok = find_drive(f->machine, name, &f->drive[count]) && ok;
      for (int k = 0; ok && k < count; k++)
        if (f->drive[k].kind == f->drive[count].kind && f->drive[k].index == f->drive[count].index) {
          od_cli_error("--drive: '%s' is named twice", name);
          ok = false;
        }
      if (count < room) count += ok;
    }
    free(copy);
  }
  if (!ok) return OD_EXIT_BAD_INPUT;
  if (a->drives.count == 0) count = od_inverse_usual_drives(f->machine, f->drive, room);
  if (a->drives.count == 0 && count == 0)
    count = od_inverse_joint_drives(f->machine, f->motion.moved, f->motion.count - f->motion.loose, f->drive);
  f->options.drive = f->drive;
  f->options.drives = count;
  int driven = m->freedom - f->motion.loose;
  if (f->motion.loose && count > driven) {
    od_cli_error(
        "%d drives for %d quantit%s to drive: with --free there must be as many as that; name them with --drive", count,
        driven, driven == 1 ? "y" : "ies");
    return OD_EXIT_BAD_INPUT;
  }
  if (count >= driven) return -1;
  od_cli_error(
      "%d drive%s cannot move %d degree%s of freedom as they please; name what drives with --drive: cylinders, motors, forces, "
      "torques or joints",
      count, count == 1 ? "" : "s", driven, driven == 1 ? "" : "s");
  return OD_EXIT_BAD_INPUT;
}

// --- Pressures ----------------------------------------------------------------------------------------------------

static int choose_pressures(const arguments *a, findings *f) {
  od_inverse_options *o = &f->options;
  bool ok = true;
  if (a->back && a->sum) {
    od_cli_error("--back-pressure and --pressure-sum are two rules; give one");
    ok = false;
  }
  o->rule = a->sum ? OD_RULE_SUM : OD_RULE_BACK;
  ok = od_option_any_quantity("back-pressure", a->back, "Pa", &o->pressure) && ok;
  ok = od_option_quantity("pressure-sum", a->sum, "Pa", &o->pressure) && ok;
  ok = od_option_quantity("pressure-limit", a->limit, "Pa", &o->pressure_limit) && ok;
  o->pump_flow = od_inverse_pump_flow(f->machine);
  ok = od_option_quantity("pump-flow", a->pump, "m3/s", &o->pump_flow) && ok;
  if (ok && !(o->pressure >= 0 && isfinite(o->pressure))) {
    od_cli_error("--back-pressure: '%s' is not a pressure of zero or more", a->back);
    ok = false;
  }
  return ok ? -1 : OD_EXIT_BAD_INPUT;
}

static int choose_outputs(const arguments *a, findings *f) {
  const od_model *m = od_machine_model(f->machine);
  if (a->outputs.count == 0) return -1;
  int code = od_select_outputs(f->machine, &a->outputs, &f->outputs);
  for (int i = 0; code < 0 && i < f->outputs.count; i++)
    if (!od_inverse_has_output(&m->output[f->outputs.index[i]])) {
      od_cli_error(
          "--output: %s follows from states of the circuit, which a prescribed motion does not decide; positions, speeds, "
          "accelerations, lengths, forces along them and what joints and rods carry are known",
          m->output[f->outputs.index[i]].name);
      code = OD_EXIT_BAD_INPUT;
    }
  f->options.outputs = f->outputs.index;
  f->options.output_count = f->outputs.count;
  return code;
}

// --- The command --------------------------------------------------------------------------------------------------

static int run_and_write(const arguments *a, findings *f) {
  od_inverse_options *o = &f->options;
  o->begin = f->motion.begin, o->end = f->motion.end, o->step = f->motion.step;
  o->loose = f->motion.loose;
  o->moves = f->motion.count, o->moved = f->motion.moved, o->motion = f->motion.motion;
  od_progress progress = od_progress_start(a->quiet);
  o->progress = od_progress_tick;
  o->user = &progress;
  od_status status = od_inverse_run(f->machine, o, &f->result, &f->error);
  od_progress_end(&progress);
  o->user = NULL;
  if (!od_time_doubt_remark(&f->motion.doubt, &f->result.verdict) && status == OD_OK)
    status = od_fail(&f->error, OD_NO_MEMORY, "memory ran out");
  bool any = f->result.table && f->result.table->rows > 0, ok = true;
  if (any) {
    FILE *notes = od_files_notes(&a->files, a->quiet);
    const od_inverse_findings found = {f->machine, o, &f->result, status == OD_OK ? NULL : f->error.text};
    od_result result = od_inverse_findings_result(&found);
    od_show_result(&result, notes == stdout ? notes : NULL);
    const od_file_contents contents = {.table = f->result.table,
                                       .result = &result,
                                       .write[OD_FILE_PLOT] = od_inverse_findings_write_plot,
                                       .user = &found};
    ok = od_files_write(&a->files, &contents, notes);
    od_result_free(&result);
  }
  if (status != OD_OK) {
    od_cli_error("%s", f->error.text);
    if (any && ok && !a->quiet &&
        (a->files.path[OD_FILE_CSV] || a->files.path[OD_FILE_MAT] || a->files.path[OD_FILE_JSON] ||
         a->files.path[OD_FILE_PLOT]))
      fprintf(stderr, "oleodyn: the files are complete up to there: %ld rows\n", f->result.table->rows);
    return od_exit_code(status);
  }
  return ok ? od_cli_verdict_exit(&f->result.verdict) : OD_EXIT_FAILED;
}

static const char details[] =
    "Inverse dynamics: as many quantities are prescribed as the machine has degrees of freedom (joint coordinates, lengths of cylinders,\n"
    "points, angles of bodies), each by an input of the machine, a constant, or a column of a log; what --free names moves on its own\n"
    "instead. What the drives must do for that\n"
    "is computed row by row: forces and torques, and for cylinders and motors pressures and flows. Drives are the cylinders and\n"
    "motors of the machine; without any, forces and torques with an input; else the joints whose coordinates are prescribed.\n\n"
    "Oil of a cylinder: with --back-pressure (the usual rule, 0 bar unless given) the chamber that does not work has that pressure, with\n"
    "--pressure-sum both add up to a constant. Flows leave out the compression of the oil; the verdict tells where that matters.\n"
    "Friction with states acts as in steady motion.\n\n"
    "The exit code is 3 where the machine cannot do the motion: beyond a stroke, more flow or pressure than there is.\n\n"
    "Examples\n"
    "  oleodyn inverse crane.yaml --move lift.length=wanted --back-pressure '5 bar' --csv needs.csv\n"
    "  oleodyn inverse arm.yaml --log motion.csv --drive shoulder,elbow --output 'A.force' --json -\n";

int od_command_inverse(int argc, char **argv) {
  arguments a = {0};
  const od_option options[] = {
      {"move", OD_OPTION_LIST, "QUANTITY=INPUT",
       "a position that follows an input of the machine or has a value ('30 deg'); a QUANTITY\nalone follows its column of --log (repeatable)",
       &a.motion.moves},
      {"free", OD_OPTION_LIST, "QUANTITY,...",
       "joint coordinates that move on their own from the initial state on, such as the swing\nof a load (repeatable)",
       &a.motion.loose},
      {"log", OD_OPTION_TEXT, "FILE",
       "CSV or MATLAB file with the motion: columns called like quantities, over time; all of\nthem, or those that --move names",
       &a.motion.log},
      {"smooth", OD_OPTION_TEXT, "F",
       "with --log: rates by polynomials over windows that pass motion up to this frequency\n('10 Hz'); default: by cross-validation",
       &a.motion.smooth},
      {"drive", OD_OPTION_LIST, "NAME,...", "what drives: cylinders, motors, forces, torques or joints (repeatable)",
       &a.drives},
      {"time", OD_OPTION_TEXT, "T", "until when; default: the log's end, else the file's run", &a.motion.time},
      {"step", OD_OPTION_TEXT, "H", "time from row to row; default: the log's, else the file's, else 1 ms",
       &a.motion.step},
      {"back-pressure", OD_OPTION_TEXT, "P", "pressure of the chamber that does not work; default 0", &a.back},
      {"pressure-sum", OD_OPTION_TEXT, "P", "pressures of both chambers add up to this instead", &a.sum},
      {"pump-flow", OD_OPTION_TEXT, "Q", "flow that there is; default: that of the machine's pumps", &a.pump},
      {"pressure-limit", OD_OPTION_TEXT, "P", "highest pressure that there may be", &a.limit},
      {"output", OD_OPTION_LIST, "NAME,...",
       "outputs of the mechanism to show besides, such as forces of joints (repeatable)", &a.outputs},
      OD_LOAD_OPTIONS(&a.load),
  };
  const od_usage usage = {"inverse",
                          "MACHINE",
                          "forces, pressures and flows that a prescribed motion needs",
                          details,
                          options,
                          (int)(sizeof options / sizeof *options),
                          .shared = {.files = &a.files,
                                     .file[OD_FILE_CSV] = "all rows",
                                     .file[OD_FILE_MAT] = "all rows",
                                     .file[OD_FILE_JSON] = "peaks and the verdict",
                                     .file[OD_FILE_PLOT] = "all rows",
                                     .si = &a.si,
                                     .quiet = &a.quiet}};
  od_words files = {0};
  od_machine *machine = NULL;
  findings f = {0};
  int code = od_options_parse_counted(&usage, argc, argv, 1, 1, &files);
  if (code < 0) code = od_cli_load(files.text[0], &a.load, &machine);
  f.machine = machine;
  if (code < 0) code = od_motion_plan_make(machine, &a.motion, &f.motion);
  if (code < 0) code = choose_drives(&a, &f);
  if (code < 0) code = choose_pressures(&a, &f);
  if (code < 0) code = choose_outputs(&a, &f);
  if (code < 0) code = od_files_check(&a.files);
  if (code < 0) code = od_files_spare(&a.files);
  if (code < 0) code = run_and_write(&a, &f);
  od_inverse_result_free(&f.result);
  od_motion_plan_free(&f.motion);
  od_selection_free(&f.outputs);
  free(f.drive);
  od_machine_free(machine);
  od_words_free(&files);
  od_words_free(&a.motion.moves);
  od_words_free(&a.motion.loose);
  od_words_free(&a.drives);
  od_words_free(&a.outputs);
  od_load_arguments_free(&a.load);
  return code;
}
