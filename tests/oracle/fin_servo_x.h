// The nine state equations, once for real and once for complex numbers (scalar, NAME).
static int NAME(const scalar *x, scalar u, const scalar *p, scalar *dx) {
  const oracle_fin_servo_constants c = oracle_fin_servo_values;
  scalar omega = p[0], xi = p[1], beta = p[2], Kc = p[3], Ctc = p[4], Bt = p[5], mt = p[6], KL = p[7];
  scalar ud = c.Kd * x[6], uf = ud * c.T1 / c.T2 + x[8], du = u - uf;
  scalar u1 = du * c.T3 / c.T4 + x[0], u2 = u1 + 2 * (c.xi3 - c.xi4) * c.T5 * x[2];
  scalar ia = c.Ki * u2, QL = x[3] - Kc * x[5];
  dx[0] = ((1 - c.T3 / c.T4) * du - x[0]) / c.T4;
  dx[1] = x[2];
  dx[2] = (u1 - 2 * c.xi4 * c.T5 * x[2] - x[1]) / (c.T5 * c.T5);
  dx[3] = x[4];
  dx[4] = omega * omega * (c.Kiq * ia - 2 * xi / omega * x[4] - x[3]);
  dx[5] = 4 * beta / c.Vt * (QL - Ctc * x[5] - c.Ap * x[7]);
  dx[6] = x[7];
  dx[7] = (c.Ap * x[5] - Bt * x[7] - KL * x[6]) / mt;
  dx[8] = (ud * (1 - c.T1 / c.T2) - x[8]) / c.T2;
  return 0;
}
