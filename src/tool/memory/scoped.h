// Variables that are freed at the end of their block, on every path.
//
// Three forms:
//
//   OD_SCRATCH(scratch);                               an arena for the temporary memory of a function
//   double *a = OD_TAKE(&scratch, double, n);
//
//   OD_SCOPED(od_result_free) od_result result = {0};  a struct with a function that frees its content
//
//   OD_OWNED(od_table_free) od_table *table = NULL;    a pointer; needs OD_OWNED_POINTER(od_table, od_table_free) in a header
//
// Initialize every such variable in its declaration, because the function at the end of the block reads the variable. To pass the
// ownership of a pointer to the caller, use OD_GIVE(). These macros use the attribute `cleanup` of GCC and Clang, so
// src/core, which is standard C, does not use them.
#ifndef OD_SCOPED_H
#define OD_SCOPED_H

#include "base/arena.h"

#define OD_SCOPED(free_function) __attribute__((cleanup(free_function)))
#define OD_SCRATCH(name)         OD_SCOPED(od_arena_free) od_arena name = {0}

// Defines how OD_OWNED() frees a pointer. The free function need not accept NULL.
#define OD_OWNED_POINTER(type, free_function)             \
  static inline void free_function##_at(type **pointer) { \
    if (*pointer) free_function(*pointer);                \
  }                                                       \
  struct od_arena  // requires the semicolon after the macro
#define OD_OWNED(free_function) OD_SCOPED(free_function##_at)

// Returns the value of an owned pointer and sets the pointer to NULL. The caller then frees the object.
#define OD_GIVE(pointer)                    \
  __extension__({                           \
    __typeof__(pointer) given_ = (pointer); \
    (pointer) = NULL;                       \
    given_;                                 \
  })

#endif
