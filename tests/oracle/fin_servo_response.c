#include "oracle/fin_servo_response.h"

oracle_servo oracle_servo_table(int table) {
  oracle_servo f = {.T1 = 0.002,
                    .T2 = 0.006,
                    .T3 = 0.004,
                    .T4 = 0.001,
                    .T5 = 0.002,
                    .xi3 = 0.2,
                    .xi4 = 0.9,
                    .Ki = 0.028,
                    .Kiq = 6e-3,
                    .Kd = 200,
                    .Ap = 4.5e-4,
                    .Vt = 7e-5};
  f.omega_s = table == 1 ? 750 : 643.3607;
  f.xi_s = table == 1 ? 0.6 : 0.8794;
  f.beta_e = table == 1 ? 7e8 : 7.1328e8;
  f.K_c = table == 1 ? 2.1e-12 : 8.9768e-12;
  f.C_tc = table == 1 ? 2.1e-14 : 8.7655e-13;
  f.B_t = table == 1 ? 10 : 121.35;
  f.m_t = table == 1 ? 16.26 : 13.5;
  f.K_L = table == 1 ? 1.835e5 : 1.0114e5;
  return f;
}

double complex oracle_servo_response(const oracle_servo *f, double complex s) {
  double complex ce1 = (f->T1 * s + 1) / (f->T2 * s + 1);
  double complex ce2 = (f->T3 * s + 1) / (f->T4 * s + 1);
  double complex ce3 =
      (f->T5 * f->T5 * s * s + 2 * f->xi3 * f->T5 * s + 1) / (f->T5 * f->T5 * s * s + 2 * f->xi4 * f->T5 * s + 1);
  double complex flow = f->Kiq * f->Ki / (s * s / (f->omega_s * f->omega_s) + 2 * f->xi_s * s / f->omega_s + 1);
  // Q0 = Ap s y + (Kc + Ctc + Vt/(4 beta) s) pL and Ap pL = (mt s^2 + Bt s + KL) y
  double complex load = (f->m_t * s * s + f->B_t * s + f->K_L) / f->Ap;
  double complex cylinder = 1 / (f->Ap * s + (f->K_c + f->C_tc + f->Vt / (4 * f->beta_e) * s) * load);
  double complex forward = ce2 * ce3 * flow * cylinder;
  return forward / (1 + forward * f->Kd * ce1);
}
