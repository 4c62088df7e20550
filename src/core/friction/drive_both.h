// The steps of driven laws (drive_x.h), built for real and for complex numbers.
#ifndef OD_FRICTION_DRIVE_BOTH_H
#define OD_FRICTION_DRIVE_BOTH_H

#include "friction/drive.h"

#include "base/scalar_x.h"
#include "elements/laws_x.h"
#include "friction/family_x.h"
#include "friction/drive_x.h"
#define OD_COMPLEX
#include "base/scalar_x.h"
#include "elements/laws_x.h"
#include "friction/family_x.h"
#include "friction/drive_x.h"
#undef OD_COMPLEX

#endif
