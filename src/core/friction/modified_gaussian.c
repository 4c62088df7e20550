// Modified Gaussian: S = exp(-|v/vs|^n), with a film that follows the speed.
#define OD_STRIBECK_HAS_N
#define OD_STRIBECK_N(q)         q->n
#define OD_STRIBECK_LOG_VB_VS(q) X(log_vb_vs_exponential)(q->vb, q->vs, q->n)
#define OD_LAW_SHAPE             OD_STRIBECK_EXPONENTIAL
#define OD_ELEMENT_FILE          "friction/modified_gaussian.c"
#include "friction/steady_stribeck_x.h"

#ifndef OD_ELEMENT_TEXT
OD_FRICTION_LAW(modified_gaussian, "modified-gaussian", "steady friction with the Stribeck curve exp(-(v/vs)^n)");
#endif
