// Gaussian: S = exp(-(v/vs)^2), with a film that follows the speed.
#define OD_STRIBECK_N(q)         2
#define OD_STRIBECK_LOG_VB_VS(q) X(log_vb_vs_exponential)(q->vb, q->vs, 2)
#define OD_LAW_SHAPE             OD_STRIBECK_EXPONENTIAL
#define OD_ELEMENT_FILE          "friction/gaussian.c"
#include "friction/steady_stribeck_x.h"

#ifndef OD_ELEMENT_TEXT
OD_FRICTION_LAW(gaussian, "gaussian", "steady friction with a Gaussian Stribeck curve");
#endif
