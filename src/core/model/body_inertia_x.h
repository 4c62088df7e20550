// Mass properties of a body from the numbers of its shape. Compiled for the scalars of base/scalar_x.h.

// Computes mass, center and inertia about the center (xx yy zz xy xz yz) of a body, in its own frame.
static void body_inertia(const od_body *body, const od_x *theta, od_x *mass, od_x c[3], od_x J[6]) {
  const od_x *q = theta + body->number;
  od_x m = q[0];
  *mass = m;
  for (int i = 0; i < 3; i++) c[i] = 0;
  for (int i = 0; i < 6; i++) J[i] = 0;
  switch (body->shape) {
    case OD_SHAPE_GENERAL:
      for (int i = 0; i < 3; i++) c[i] = q[1 + i];
      for (int i = 0; i < 6; i++) J[i] = q[4 + i];
      break;
    case OD_SHAPE_BEAM:
      c[0] = q[1] / 2;
      J[1] = J[2] = m * q[1] * q[1] / 12;
      break;
    case OD_SHAPE_CYLINDER:
      c[0] = q[1] / 2;
      J[0] = m * q[2] * q[2] / 2;
      J[1] = J[2] = m * (3 * q[2] * q[2] + q[1] * q[1]) / 12;
      break;
    case OD_SHAPE_POINT:
      for (int i = 0; i < 3; i++) c[i] = q[1 + i];
      break;
    case OD_SHAPE_BOX:
      for (int i = 0; i < 3; i++) c[i] = q[4 + i];
      J[0] = m * (q[2] * q[2] + q[3] * q[3]) / 12;
      J[1] = m * (q[1] * q[1] + q[3] * q[3]) / 12;
      J[2] = m * (q[1] * q[1] + q[2] * q[2]) / 12;
      break;
  }
}
