// The fin servo of cases/fin-servo as the transfer functions (1) to (12) of its paper, multiplied out by hand: from the
// voltage u_i to the piston's position y at one frequency.
#ifndef ORACLE_FIN_SERVO_RESPONSE_H
#define ORACLE_FIN_SERVO_RESPONSE_H

#include <complex.h>

typedef struct oracle_servo {
  double T1, T2, T3, T4, T5, xi3, xi4, Ki, Kiq, Kd, Ap, Vt;  // known
  double omega_s, xi_s, beta_e, K_c, C_tc, B_t, m_t, K_L;    // identified in the paper
} oracle_servo;

// The constants of the case with the identified numbers of Table 1 (where the identification starts) or Table 2.
oracle_servo oracle_servo_table(int table);

double complex oracle_servo_response(const oracle_servo *f, double complex s);

#endif
