#include "oracle/position_servo.h"

#include <cvodes/cvodes.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stddef.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { SPOOL_RATE = SERVO_XV + 1, INTEGRAL, RELIEF };

static const double pi = 3.14159265358979323846;

static double clip(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}
// sqrt with the sign of its argument.
static double root(double dp) {
  return copysign(sqrt(fabs(dp)), dp);
}

// Cavitating oil has no pressure: flows and forces use zero.
static int rates(sunrealtype t, N_Vector state, N_Vector rate, void *user) {
  (void)user;
  const double *x = N_VGetArrayPointer(state), tank = 1e5, area = 1e-3, dead = 3e-4, bulk = 1e9;
  double *dx = N_VGetArrayPointer(rate);
  double pa = fmax(x[SERVO_PA], 0), pb = fmax(x[SERVO_PB], 0), pp = fmax(x[SERVO_PP], 0);
  // Controller and spool. The step of the reference is a break, at which the solver restarts.
  double error = (t < 1 - 1e-12 ? 0.2 : 0.7) - x[SERVO_X];
  double u = clip(0.0264249 * error + 0.000672426 * x[INTEGRAL], -0.01, 0.01);
  dx[INTEGRAL] = error;
  dx[SERVO_XV] = x[SPOOL_RATE];
  dx[SPOOL_RATE] = 200.0 * 200 * (u - x[SERVO_XV]) - 400 * x[SPOOL_RATE];
  // Valve.
  double K = 0.67 * pi * 0.01 * sqrt(2.0 / 890), ahead = K * fmax(x[SERVO_XV] - 1e-4, 0),
         back = K * fmax(-x[SERVO_XV] - 1e-4, 0);
  double p_a = ahead * root(pp - pa), p_b = back * root(pp - pb), a_t = back * root(pa - tank),
         b_t = ahead * root(pb - tank);
  // Relief valve.
  double nominal = sqrt(7e6), Cs = nominal / 1e-8, Cf = 1 / (1e-8 * nominal);
  double open = clip((pp - 2e7) / (Cs + Cf * (pp - tank)), 0, 0.01 / nominal);
  dx[RELIEF] = (open - x[RELIEF]) / 1e-3;
  double relief = x[RELIEF] * root(pp - tank), pump = 200 / (2 * pi) * 25e-5 - 1e-12 * (pp - tank);
  // Volumes and load.
  dx[SERVO_PP] = bulk / 1e-3 * (pump - relief - p_a - p_b);
  dx[SERVO_PA] = bulk / (dead + area * x[SERVO_X]) * (p_a - a_t - area * x[SERVO_V]);
  dx[SERVO_PB] = bulk / (dead + area * (1 - x[SERVO_X])) * (p_b - b_t + area * x[SERVO_V]);
  dx[SERVO_X] = x[SERVO_V];
  dx[SERVO_V] = (area * (pa - pb) - 100 * x[SERVO_X]) / 100;
  return 0;
}

static int solve(void *memory, N_Vector x, double row, int rows, double *out) {
  double t = 0;
  if (CVodeSetStopTime(memory, 1)) return -1;
  for (int i = 0; i < rows; i++) {
    if (i && CVode(memory, i * row, x, &t, CV_NORMAL) < 0) return -1;
    for (int k = 0; k < SERVO_STATES; k++) out[i * SERVO_STATES + k] = NV_Ith_S(x, k);
    if (t > 1 - 1e-9 && t < 1 + 1e-9 && (CVodeReInit(memory, t, x) || CVodeSetStopTime(memory, rows * row))) return -1;
  }
  return 0;
}

int position_servo_solve(double tolerance, double row, int rows, double *out) {
  static const double size[SERVO_STATES] = {1, 1, 1e7, 1e7, 1e7, 1e-2, 1, 1, 1e-6};
  SUNContext context = NULL;
  SUNContext_Create(NULL, &context);
  N_Vector x = N_VNew_Serial(SERVO_STATES, context), absolute = N_VNew_Serial(SERVO_STATES, context);
  SUNMatrix matrix = SUNDenseMatrix(SERVO_STATES, SERVO_STATES, context);
  SUNLinearSolver solver = SUNLinSol_Dense(x, matrix, context);
  void *memory = CVodeCreate(CV_BDF, context);
  N_VConst(0, x);
  for (int k = SERVO_PA; k <= SERVO_PP; k++) NV_Ith_S(x, k) = 1e5;
  for (int k = 0; k < SERVO_STATES; k++) NV_Ith_S(absolute, k) = tolerance * size[k];
  int code = CVodeInit(memory, rates, 0, x) || CVodeSVtolerances(memory, tolerance, absolute) ||
                     CVodeSetLinearSolver(memory, solver, matrix) || CVodeSetMaxNumSteps(memory, 10000000)
                 ? -1
                 : solve(memory, x, row, rows, out);
  CVodeFree(&memory);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(absolute);
  N_VDestroy(x);
  SUNContext_Free(&context);
  return code;
}
