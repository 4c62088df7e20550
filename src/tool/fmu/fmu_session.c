#include "fmu/fmu_session.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/allocate.h"
#include "memory/scoped.h"

// Limit of the first answer, after unpacking and reading the description, s. A longer limit of requests replaces this limit.
static const double first_limit = 60;
// The helper itself reports a request that exceeds the limit. After this additional time, s, the caller ends the helper.
static const double grace = 2;

void od_fmu_session_end(od_fmu_session *s) {
  int end;
  if (!s->is_open) return;
  s->is_open = false;
  close(s->helper.channel.socket);
  kill(s->helper.process, SIGKILL);
  while (waitpid(s->helper.process, &end, 0) < 0 && errno == EINTR) continue;
}

// Ends a session whose answer did not arrive. Fails with OD_IO.
static od_status lost(od_fmu_session *s, od_error *err) {
  bool late = s->helper.channel.is_late;
  od_fmu_session_end(s);
  return late ? od_fail(err, OD_IO, "took longer than %g s", s->limit) : od_fail(err, OD_IO, "ended its process");
}

static od_status take_answer(od_fmu_session *s, od_error *err) {
  od_channel *c = &s->helper.channel;
  char text[OD_HELPER_TEXT];
  uint64_t part = od_channel_take_number(c, OD_FMU_DIED);
  if (part == OD_FMU_DONE) return OD_OK;
  if ((part != OD_FMU_FAILED && part != OD_FMU_DIED) || !od_channel_take_text(c, text, sizeof text))
    return lost(s, err);
  if (part == OD_FMU_DIED) od_fmu_session_end(s);
  return od_fail(err, part == OD_FMU_DIED ? OD_IO : OD_BAD_INPUT, "%s", text);
}

od_status od_fmu_session_begin(od_fmu_session *s, const char *path, const char *folder, bool unpack, double limit,
                               od_arena *arena, od_fmu_description *description, od_error *err) {
  *s = (od_fmu_session){.helper = {.name = "oleodyn-fmu"}, .limit = limit};
  od_status status = od_helper_start(&s->helper, OD_HELPER_FMU, path, err);
  if (status != OD_OK) {
    od_error why = *err;
    return od_fail(err, status, "%.380s; it is built where the packages libexpat1-dev and libzip-dev are installed",
                   why.text);
  }
  od_channel *c = &s->helper.channel;
  s->is_open = true;
  od_channel_put_text(c, folder);
  od_channel_put_number(c, unpack);
  od_fmu_send(s, &limit, 1);
  od_channel_flush(c);
  c->limit = (limit > first_limit ? limit : first_limit) + grace;
  uint64_t protocol = od_channel_take_number(c, UINT64_MAX);
  if (!c->broken && protocol != OD_HELPER_PROTOCOL) {
    od_fmu_session_end(s);
    return od_fail(err, OD_IO, "the program oleodyn-fmu belongs to another version of oleodyn; install oleodyn again");
  }
  status = take_answer(s, err);
  OD_SCRATCH(scratch);
  od_fmu_description unused;
  if (status == OD_OK && !od_fmu_take_description(c, arena ? arena : &scratch, description ? description : &unused))
    status = od_fail(err, OD_BAD_INPUT,
                     "the description of the FMU could not be received; check the FMU with another program");
  c->limit = limit + grace;
  if (status != OD_OK) od_fmu_session_end(s);
  return status;
}

void od_fmu_request_begin(od_fmu_session *s, od_fmu_request request) {
  od_channel_put_number(&s->helper.channel, request);
}

void od_fmu_send(od_fmu_session *s, const double *list, int count) {
  od_channel_put(&s->helper.channel, list, (size_t)count * sizeof *list);
}

od_status od_fmu_ask(od_fmu_session *s, od_error *err) {
  if (!s->is_open) return od_fail(err, OD_IO, "has ended");
  od_channel_flush(&s->helper.channel);
  s->helper.channel.broken = false;  // a helper that ended may have sent the reason
  return take_answer(s, err);
}

void od_fmu_receive(od_fmu_session *s, double *list, int count) {
  od_channel_take(&s->helper.channel, list, (size_t)count * sizeof *list);
}

void od_fmu_receive_memory(od_fmu_session *s, od_fmu_memory *memory) {
  od_channel *c = &s->helper.channel;
  *memory = (od_fmu_memory){.size = (size_t)od_channel_take_number(c, OD_FMU_MOST_MEMORY)};
  if (memory->size == 0) return;
  memory->bytes = od_malloc(memory->size);
  if (!memory->bytes) c->broken = true;
  if (!c->broken) od_channel_take(c, memory->bytes, memory->size);
  if (!c->broken) return;
  od_free(memory->bytes);
  *memory = (od_fmu_memory){0};
}

od_status od_fmu_answered(od_fmu_session *s, od_error *err) {
  return s->helper.channel.broken ? lost(s, err) : OD_OK;
}
