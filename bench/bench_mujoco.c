// The freely swinging four-bar in MuJoCo (2.2 or later in that line): three hinges about z and one "connect" constraint
// between coupler and rocker. MuJoCo's constraints are soft; solref sets their stiffness: a time constant of 20 ms
// unless a hardness is given. Without MuJoCo the functions are empty.
#include "fourbar_subjects.h"

#ifndef OD_HAVE_MUJOCO

const char *bench_mujoco_version(void) {
  return 0;
}

int bench_mujoco_new(bench_subject *subject, const bench_reference *reference, int mode, double step, double hardness) {
  (void)subject, (void)reference, (void)mode, (void)step, (void)hardness;
  return -1;
}

#else

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

// The bars are slender; the inertia about their own axis has no effect but must be positive.
static const char mjcf[] =
    "<mujoco>"
    "<compiler angle='radian'/>"
    "<size njmax='50' nconmax='10'/>"
    "<option timestep='%.17g' integrator='%s' gravity='0 -9.81 0'/>"
    "<worldbody>"
    "  <body name='crank' euler='0 0 %.17g'>"
    "    <joint type='hinge' axis='0 0 1'/><inertial pos='1 0 0' mass='100' diaginertia='0.001 %.17g %.17g'/>"
    "    <body name='coupler' pos='2 0 0' euler='0 0 %.17g'>"
    "      <joint type='hinge' axis='0 0 1'/><inertial pos='4 0 0' mass='400' diaginertia='0.001 %.17g %.17g'/>"
    "    </body>"
    "  </body>"
    "  <body name='rocker' pos='10 0 0' euler='0 0 %.17g'>"
    "    <joint type='hinge' axis='0 0 1'/><inertial pos='2.5 0 0' mass='250' diaginertia='0.001 %.17g %.17g'/>"
    "  </body>"
    "</worldbody>"
    "<equality><connect body1='coupler' body2='rocker' anchor='8 0 0' %s/></equality>"
    "</mujoco>";

typedef struct swing {
  mjModel *model;
  mjData *data;
  int coupler, mode;
} swing;

const char *bench_mujoco_version(void) {
  return mj_versionString();
}

static void quiet(const char *text) {
  (void)text;
}

static int start(void *self) {
  swing *s = self;
  mj_resetData(s->model, s->data);
  // Differences are taken in the middle of the swing.
  if (s->mode == BENCH_FORWARD_DIFFERENCES || s->mode == BENCH_CENTRED_DIFFERENCES)
    for (int i = 0; i < 500; i++) mj_step(s->model, s->data);
  return 0;
}

static int advance(void *self, int steps) {
  swing *s = self;
  for (int i = 0; i < steps; i++) mj_step(s->model, s->data);
  // MuJoCo restarts a run that diverges; such a run does not count as a result.
  for (int i = 0; i < mjNWARNING; i++)
    if (s->data->warning[i].number > 0) return -1;
  return 0;
}

// The transition matrix at one state, repeatedly; the state does not change. The time includes one step, because MuJoCo
// takes differences from it.
static int difference(void *self, int times) {
  swing *s = self;
  double A[6 * 6];
  const mjtByte centred = s->mode == BENCH_CENTRED_DIFFERENCES;
  for (int i = 0; i < times; i++) mjd_transitionFD(s->model, s->data, 1e-6, centred, A, NULL, NULL, NULL);
  return 0;
}

static void ends(void *self, double xy[4]) {
  swing *s = self;
  mj_kinematics(s->model, s->data);
  const mjtNum *origin = s->data->xpos + 3 * s->coupler, *turn = s->data->xmat + 9 * s->coupler;
  xy[0] = origin[0], xy[1] = origin[1];
  xy[2] = origin[0] + 8 * turn[0], xy[3] = origin[1] + 8 * turn[3];
}

static void destroy(void *self) {
  swing *s = self;
  mj_deleteData(s->data);
  mj_deleteModel(s->model);
  free(s);
}

int bench_mujoco_new(bench_subject *subject, const bench_reference *reference, int mode, double step, double hardness) {
  // Otherwise MuJoCo writes its warnings into a file in the working directory.
  mju_user_warning = quiet;

  // Direct stiffness and damping (negative solref), critically damped; impedance close to 1.
  char constraint[128] = "", xml[4096], message[512] = "";
  if (hardness > 0)
    snprintf(constraint, sizeof constraint, "solref='%.17g %.17g' solimp='0.9999 0.9999 0.001'", -hardness,
             -2 * sqrt(hardness));
  const double *angle = reference->angle, i1 = 100 * 4 / 12.0, i2 = 400 * 64 / 12.0, i3 = 250 * 25 / 12.0;
  snprintf(xml, sizeof xml, mjcf, step, mode == BENCH_RK4 ? "RK4" : "Euler", angle[0], i1, i1, angle[1] - angle[0], i2,
           i2, angle[2], i3, i3, constraint);

  // MuJoCo reads from its virtual file system.
  swing *s = calloc(1, sizeof *s);
  mjVFS *files = malloc(sizeof *files);
  if (s == NULL || files == NULL) {
    free(s), free(files);
    return -1;
  }
  mj_defaultVFS(files);
  mj_makeEmptyFileVFS(files, "fourbar.xml", (int)strlen(xml) + 1);
  memcpy(files->filedata[mj_findFileVFS(files, "fourbar.xml")], xml, strlen(xml) + 1);
  s->model = mj_loadXML("fourbar.xml", files, message, sizeof message);
  mj_deleteVFS(files);
  free(files);
  if (s->model == NULL) {
    fprintf(stderr, "MuJoCo: %s\n", message);
    free(s);
    return -1;
  }
  s->data = mj_makeData(s->model);
  s->coupler = mj_name2id(s->model, mjOBJ_BODY, "coupler");
  s->mode = mode;

  static const char *const names[] = {"semi-implicit Euler", "RK4", "transitionFD, forward", "transitionFD, centred"};
  const int moves = mode == BENCH_EULER || mode == BENCH_RK4;
  *subject = (bench_subject){.step = step,
                             .self = s,
                             .start = start,
                             .advance = moves ? advance : difference,
                             .ends = moves ? ends : NULL,
                             .destroy = destroy};
  snprintf(subject->name, sizeof subject->name, "MuJoCo %s%s", names[mode], !moves ? "" : hardness > 0 ? ", hard" : "");
  return 0;
}

#endif
