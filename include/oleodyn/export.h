// Macros of the other headers: C linkage for C++, and OD_API, which marks the public functions. The shared library exports only
// functions with OD_API. With OD_PRINTF_FORMAT, compilers compare a format with its arguments.
#ifndef OLEODYN_EXPORT_H
#define OLEODYN_EXPORT_H

// Builds that make the core a hidden part of another library define OD_API as nothing.
#ifndef OD_API
#if defined __GNUC__
#define OD_API __attribute__((visibility("default")))
#else
#define OD_API
#endif
#endif

#if defined __GNUC__
#define OD_PRINTF_FORMAT(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define OD_PRINTF_FORMAT(format_at, first_at)
#endif

#ifdef __cplusplus
#define OD_BEGIN_C extern "C" {
#define OD_END_C   }
#else
#define OD_BEGIN_C
#define OD_END_C
#endif

#endif
