// What the other headers begin and end with: names for C++, and which functions leave the shared library. It is built with
// everything hidden; OD_API marks what is public.
#ifndef OLEODYN_EXPORT_H
#define OLEODYN_EXPORT_H

#if defined __GNUC__
#define OD_API __attribute__((visibility("default")))
#else
#define OD_API
#endif

#ifdef __cplusplus
#define OD_BEGIN_C extern "C" {
#define OD_END_C   }
#else
#define OD_BEGIN_C
#define OD_END_C
#endif

#endif
