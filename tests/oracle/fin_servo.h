// A fin servo written by hand: valve-controlled cylinder in a position loop with three correction elements; nine
// states, one input (V), one output (m), eight parameters. Zhao and Wang, Acta Aeronautica et Astronautica Sinica 34
// (2013) 187-196, eq. 14, with its first row completed by the control error. The numbers that the paper does not print
// are chosen to agree with its descriptions.
#ifndef ORACLE_FIN_SERVO_H
#define ORACLE_FIN_SERVO_H

#include "oleodyn/plant.h"

enum { ORACLE_FIN_SERVO_STATES = 9, ORACLE_FIN_SERVO_PARAMETERS = 8 };

typedef struct oracle_fin_servo_constants {
  double T1, T2, T3, T4, T5, xi3, xi4, Ki, Kiq, Kd, Ap, Vt;
} oracle_fin_servo_constants;
extern const oracle_fin_servo_constants oracle_fin_servo_values;

// omega_s, xi_s, beta_e, K_c, C_tc, B_t, m_t, K_L: the paper's first and identified values (its tables 1 and 2).
extern const char *const oracle_fin_servo_names[ORACLE_FIN_SERVO_PARAMETERS];
extern const double oracle_fin_servo_first[ORACLE_FIN_SERVO_PARAMETERS];
extern const double oracle_fin_servo_identified[ORACLE_FIN_SERVO_PARAMETERS];

// The equations as a plant's function, at rest, with the identified parameters.
od_function oracle_fin_servo(void);

// The paper's input: 1 to 100 Hz in steps of 1 Hz, three periods each, 0.2 V; returns the number of samples at 0.5 ms.
// u may be NULL.
int oracle_fin_servo_sweep(double *u);
static const double oracle_fin_servo_step = 0.5e-3;

#endif
