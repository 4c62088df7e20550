// cmocka with the headers it needs before it. Every test includes this one.
#ifndef OD_SUPPORT_TEST_H
#define OD_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
