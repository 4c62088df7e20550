// Modified Lorentzian: S = 1/(1 + |v/vs|^n), with a film that follows the speed.
#define OD_STRIBECK_HAS_N
#define OD_STRIBECK_N(q)         q->n
#define OD_STRIBECK_LOG_VB_VS(q) X(log_vb_vs_lorentzian)(q->vb, q->vs, q->n, 0.06 / (q->n * q->n))
#define OD_LAW_SHAPE             OD_STRIBECK_LORENTZIAN
#define OD_ELEMENT_FILE          "friction/modified_lorentzian.c"
#include "friction/steady_stribeck_x.h"

#ifndef OD_ELEMENT_TEXT
OD_FRICTION_LAW(modified_lorentzian, "modified-lorentzian", "steady friction with the Stribeck curve 1/(1 + (v/vs)^n)");
#endif
