// The modes of an instance of an FMU.
#ifndef OD_FMI_MODE_H
#define OD_FMI_MODE_H

typedef enum mode {
  INSTANTIATED = 1,
  INITIALIZING = 2,
  STEPPING = 4,
  FAILED = 8,
  TERMINATED = 16,
  IN_EVENT = 32,  // model exchange
  IN_CONTINUOUS_TIME = 64,
} mode;
enum { SAVABLE = INSTANTIATED | INITIALIZING | STEPPING | TERMINATED | IN_EVENT | IN_CONTINUOUS_TIME };

#endif
