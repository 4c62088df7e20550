// A conversation with the helper program oleodyn-fmu, which loads the binary of an FMU. One process has one instance of the FMU, so
// threads use several sessions. If the binary crashes or exceeds the time limit, the session ends and the caller gets an error with
// the function of the FMU.
//
// The conversation (io/channel.h): OD_HELPER_FMU, path, folder for the unpacked files, whether the helper unpacks, time limit of a
// request in s; the helper answers with its protocol, OD_FMU_DONE and the description. Then requests with their arguments; lists of
// numbers have the lengths of the description or of OD_FMU_OPEN. Each answer begins with OD_FMU_DONE or with OD_FMU_FAILED and a text.
//
//   request            arguments                                          answer
//   OD_FMU_OPEN        interface; variables: inputs, parameters, outputs
//   OD_FMU_START       t, parameters, inputs                              model exchange: states, nominal values, situation, memory
//                                                                         co-simulation: outputs, memory
//   OD_FMU_VALUES      t, states, inputs                                  outputs, rates
//   OD_FMU_TANGENT     t, states, inputs; changes of states, inputs       changes of outputs and rates
//   OD_FMU_SLOPES      t, states, inputs                                  derivatives of outputs and rates, by rows
//   OD_FMU_INDICATORS  t, states, inputs                                  event indicators
//   OD_FMU_EVENT       t, states, inputs                                  states, situation, memory
//   OD_FMU_STEP        t, step, inputs at the end of the step             outputs, memory
//   OD_FMU_RESTORE     memory, parameters
//   memory: number of bytes, bytes (0: the FMU cannot save its state). Situation: time of the next time event, event indicators
#ifndef OD_FMU_SESSION_H
#define OD_FMU_SESSION_H

#include "fmu/fmu_description.h"
#include "io/helper.h"

typedef enum od_fmu_request {
  OD_FMU_OPEN = 1,
  OD_FMU_START,
  OD_FMU_VALUES,
  OD_FMU_TANGENT,
  OD_FMU_SLOPES,
  OD_FMU_INDICATORS,
  OD_FMU_EVENT,
  OD_FMU_STEP,
  OD_FMU_RESTORE,
  OD_FMU_REQUESTS
} od_fmu_request;
enum { OD_FMU_DONE = 1, OD_FMU_FAILED, OD_FMU_DIED };  // DIED: the process ends after the text
enum { OD_FMU_MOST_MEMORY = 256 << 20 };               // bytes of a saved state

// The state that an FMU saves.
typedef struct od_fmu_memory {
  char *bytes;  // NULL: the FMU cannot save its state
  size_t size;
} od_fmu_memory;

typedef struct od_fmu_session {
  od_helper helper;
  bool is_open;  // whether the process runs
  double limit;  // time limit of a request, s
} od_fmu_session;

// Starts the helper. `unpack`: the folder is empty; otherwise another session has unpacked the files. The description has memory from
// the arena; NULL: not wanted. After a failure, `s` needs no end. Fails with OD_BAD_INPUT if the file is not a supported FMU, and
// with OD_IO if the helper fails.
od_status od_fmu_session_begin(od_fmu_session *s, const char *path, const char *folder, bool unpack, double limit,
                               od_arena *arena, od_fmu_description *description, od_error *err);
// Ends the process.
void od_fmu_session_end(od_fmu_session *s);

// Begin a request, send a list, and send the request. od_fmu_ask() returns OD_OK if the answer begins with OD_FMU_DONE; otherwise the
// status OD_BAD_INPUT (the FMU failed, but the process runs), or OD_IO (the process has ended), and the reason.
void od_fmu_request_begin(od_fmu_session *s, od_fmu_request request);
void od_fmu_send(od_fmu_session *s, const double *list, int count);
od_status od_fmu_ask(od_fmu_session *s, od_error *err);
// Receives a list; a missing list breaks the channel, which od_fmu_answered() reports.
void od_fmu_receive(od_fmu_session *s, double *list, int count);
void od_fmu_receive_memory(od_fmu_session *s, od_fmu_memory *memory);
od_status od_fmu_answered(od_fmu_session *s, od_error *err);

#endif
