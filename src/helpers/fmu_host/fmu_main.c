// oleodyn-fmu: unpacks an FMU, loads its binary and calls its functions for liboleodyn (fmu/fmu_session.h has the conversation). The
// binary may crash or never return: then this program reports the running function of the FMU and ends.
#define _GNU_SOURCE  // prctl()
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmu_host/fmu_archive.h"
#include "fmu_host/fmu_instance.h"
#include "fmu/fmu_session.h"
#include "fmu_host/model_description.h"
#include "io/temporary_folder.h"
#include "memory/scoped.h"
#include "oleodyn/version.h"

typedef struct server {
  od_channel channel;
  od_arena arena;
  od_fmu_description d;
  od_fmu f;
  char path[OD_HELPER_PATH], folder[OD_HELPER_PATH];
  double limit;
  double *q, *u, *x, *dx, *du, *y, *dy, *rate, *drate, *z, *nominal;
  char *bytes;  // the last state that the FMU saved
  size_t size;
} server;

// ---- crashes and time limits

static char late[80];  // the text of a call that needs too much time

// Sends OD_FMU_DIED and a text. Calls only functions that are safe in handlers of signals.
static void die(int signal) {
  struct {
    uint64_t part, length;
    char text[OD_HELPER_TEXT];
  } answer = {.part = OD_FMU_DIED};
  const char *parts[] = {signal == SIGALRM ? late : "crashed", " in ", od_fmu_running};
  size_t length = 0;
  if (!od_fmu_running[0]) parts[1] = "";
  for (int i = 0; i < 3; i++)
    for (const char *at = parts[i]; *at && length < sizeof answer.text; at++) answer.text[length++] = *at;
  answer.length = length;
  size_t size = 2 * sizeof answer.part + length;
  for (const char *at = (const char *)&answer; size > 0;) {
    ssize_t written = write(STDIN_FILENO, at, size);
    if (written <= 0) break;
    at += written, size -= (size_t)written;
  }
  _exit(3);
}

// A signal that ends the caller, such as Ctrl-C: the caller writes partial results. A call of the FMU may take another half of a
// second, since the caller waits for it.
static void hurry(int signal) {
  static const char text[] = "was interrupted";
  (void)signal;
  if (!od_fmu_running[0]) return;
  for (size_t i = 0; i < sizeof text; i++) late[i] = text[i];
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 500000}}, NULL);
}

static void set_handlers(void) {
  static char stack[1 << 16];  // a crash may be an exhausted stack
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGSYS, SIGXFSZ};
  static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction crash = {.sa_handler = die, .sa_flags = SA_ONSTACK};
  sigemptyset(&crash.sa_mask);
  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigaction(crashes[i], &crash, NULL);
  // This program ends with its caller.
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) signal(endings[i], hurry);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

// Ends the program after this time; 0: never.
static void set_alarm(double seconds) {
  if (seconds > 0) snprintf(late, sizeof late, "took longer than the time limit of %g s", seconds);
  struct itimerval timer = {.it_value = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds)))}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

// ---- the folder of the unpacked files

// Waits until the process `caller` ends and then removes the folder. Ends before if the caller removes the folder itself.
static _Noreturn void watch_caller(pid_t caller, const char *folder) {
  int process = (int)syscall(SYS_pidfd_open, caller, 0), changes = inotify_init();
  struct pollfd wait[] = {{.fd = process, .events = POLLIN}, {.fd = changes, .events = POLLIN}};
  bool is_there = changes >= 0 && inotify_add_watch(changes, folder, IN_DELETE_SELF) >= 0;
  if (process >= 0 && is_there)
    while (poll(wait, 2, -1) < 0) continue;
  if (kill(caller, 0) != 0 || (process >= 0 && wait[0].revents)) od_folder_remove(folder);
  _exit(0);
}

// Starts a process that removes the folder after a caller that was killed. Its parent is not this program, which may end earlier.
static void guard_folder(pid_t caller, const char *folder) {
  pid_t child = fork();
  if (child == 0) {
    if (fork() != 0) _exit(0);
    setsid();
    prctl(PR_SET_PDEATHSIG, 0);
    for (int i = 0; i < 3; i++) close(i);
    watch_caller(caller, folder);
  }
  while (child > 0 && waitpid(child, NULL, 0) < 0) continue;
}

// ---- requests

static void take_doubles(server *s, double *to, int count) {
  od_channel_take(&s->channel, to, (size_t)count * sizeof *to);
}
static void put_doubles(server *s, const double *from, int count) {
  od_channel_put(&s->channel, from, (size_t)count * sizeof *from);
}

static bool done(server *s) {
  od_channel_put_number(&s->channel, OD_FMU_DONE);
  return true;
}

static void take_list(server *s, od_fmu_list *list) {
  int variables = s->d.variables;
  list->count = (int)od_channel_take_number(&s->channel, (uint64_t)variables);
  list->variable = OD_TAKE(&s->arena, int, list->count);
  list->reference = OD_TAKE(&s->arena, uint32_t, list->count);
  for (int i = 0; i < list->count && list->variable && list->reference; i++) {
    list->variable[i] = (int)od_channel_take_number(&s->channel, (uint64_t)variables - 1);
    list->reference[i] = s->d.variable[list->variable[i]].reference;
  }
}

static bool open_binary(server *s) {
  od_fmu *f = &s->f;
  od_fmu_interface interface = (od_fmu_interface)od_channel_take_number(&s->channel, OD_FMU_INTERFACES - 1);
  take_list(s, &f->input);
  take_list(s, &f->parameter);
  take_list(s, &f->output);
  int states = s->d.states, columns = states + f->input.count, rows = states + f->output.count;
  f->derivative = (od_fmu_list){states, s->d.derivative, OD_TAKE(&s->arena, uint32_t, states)};
  for (int i = 0; i < states && f->derivative.reference; i++)
    f->derivative.reference[i] = s->d.variable[s->d.derivative[i]].reference;
  s->q = OD_TAKE(&s->arena, double, f->parameter.count);
  s->u = OD_TAKE(&s->arena, double, f->input.count);
  s->du = OD_TAKE(&s->arena, double, columns);
  s->x = OD_TAKE(&s->arena, double, states);
  s->dx = OD_TAKE(&s->arena, double, states);
  s->y = OD_TAKE(&s->arena, double, f->output.count);
  s->dy = OD_TAKE(&s->arena, double, rows);
  s->rate = OD_TAKE(&s->arena, double, states);
  s->drate = OD_TAKE(&s->arena, double, states);
  s->nominal = OD_TAKE(&s->arena, double, states);
  s->z = OD_TAKE(&s->arena, double, s->d.indicators);
  if (s->channel.broken || od_arena_status(&s->arena) != OD_OK) return false;
  return od_fmu_load(f, &s->d, interface, s->folder) && done(s);
}

// Takes the state that the FMU saves. Requests compute everything before they send the first result, because an answer that has
// begun cannot become a failure.
static bool save_memory(server *s) {
  const od_fmu_ability *a = &s->d.ability[s->f.interface];
  free(s->bytes);
  s->bytes = NULL, s->size = 0;
  if (!a->saves_state || !a->serializes) return true;
  if (!s->f.fmi->save(&s->f, &s->bytes, &s->size)) return false;
  if (s->size > OD_FMU_MOST_MEMORY) s->size = 0;
  return true;
}

static void put_memory(server *s) {
  od_channel_put_number(&s->channel, s->size);
  od_channel_put(&s->channel, s->bytes, s->size);
}

static bool has_not_ended(server *s) {
  if (s->f.ended) snprintf(s->f.error, sizeof s->f.error, "asked to end the simulation");
  return !s->f.ended;
}

static void put_situation(server *s) {
  put_doubles(s, &s->f.next_event, 1);
  put_doubles(s, s->z, s->d.indicators);
}

static bool start_instance(server *s) {
  od_fmu *f = &s->f;
  double t;
  take_doubles(s, &t, 1);
  take_doubles(s, s->q, f->parameter.count);
  take_doubles(s, s->u, f->input.count);
  if (f->instance) f->fmi->free_instance(f);
  if (!f->fmi->instantiate(f) || !f->fmi->start(f, t, s->q, s->u) || !has_not_ended(s)) return false;
  if (f->interface == OD_FMU_CO_SIMULATION) {
    if (!od_fmu_get_list(f, &f->output, s->y) || !save_memory(s)) return false;
    done(s);
    put_doubles(s, s->y, f->output.count);
    put_memory(s);
    return true;
  }
  if (!f->fmi->get_states(f, s->x, s->nominal) || !f->fmi->get_indicators(f, s->z) || !save_memory(s)) return false;
  done(s);
  put_doubles(s, s->x, s->d.states);
  put_doubles(s, s->nominal, s->d.states);
  put_situation(s);
  put_memory(s);
  return true;
}

static bool set_point(server *s) {
  double t;
  take_doubles(s, &t, 1);
  take_doubles(s, s->x, s->d.states);
  take_doubles(s, s->u, s->f.input.count);
  return s->f.fmi->set_point(&s->f, t, s->x) && od_fmu_set_list(&s->f, &s->f.input, s->u);
}

static bool compute_values(server *s) {
  od_fmu *f = &s->f;
  if (!set_point(s) || !f->fmi->get_rates(f, s->rate) || !od_fmu_get_list(f, &f->output, s->y)) return false;
  done(s);
  put_doubles(s, s->y, f->output.count);
  put_doubles(s, s->rate, s->d.states);
  return true;
}

// Computes changes of outputs and rates by the directional derivatives of the FMU. An output that is a state has the change of the state,
// because FMUs need not have derivatives of states. Outputs of other types than Real (FMI 3: Float64) do not change.
static bool compute_tangent(server *s) {
  OD_SCRATCH(scratch);
  od_fmu *f = &s->f;
  int states = s->d.states, inputs = f->input.count, outputs = f->output.count, unknowns = 0, knowns = 0;
  uint32_t *unknown = OD_TAKE(&scratch, uint32_t, outputs + states),
           *known = OD_TAKE(&scratch, uint32_t, states + inputs);
  double *change = OD_TAKE(&scratch, double, states + inputs), *result = OD_TAKE(&scratch, double, outputs + states);
  if (od_arena_status(&scratch) != OD_OK) return false;
  for (int i = 0; i < states + inputs; i++) {
    double d = i < states ? s->dx[i] : s->du[i - states];
    if (d == 0) continue;
    known[knowns] = i < states ? s->d.variable[s->d.state[i]].reference : f->input.reference[i - states];
    change[knowns++] = d;
  }
  for (int i = 0; i < outputs; i++) {
    const od_fmu_variable *v = &s->d.variable[f->output.variable[i]];
    bool is_known = v->type != OD_FMU_REAL;
    s->dy[i] = 0;
    for (int k = 0; k < states && !is_known; k++)
      if (s->d.variable[s->d.state[k]].reference == v->reference) s->dy[i] = s->dx[k], is_known = true;
    if (!is_known) s->dy[i] = NAN, unknown[unknowns++] = v->reference;
  }
  for (int i = 0; i < states; i++) unknown[unknowns++] = f->derivative.reference[i];
  if (knowns > 0 && unknowns > 0 && !f->fmi->directional(f, unknown, unknowns, known, knowns, change, result))
    return false;
  int at = 0;
  for (int i = 0; i < outputs; i++)
    if (isnan(s->dy[i])) s->dy[i] = knowns > 0 ? result[at++] : 0;
  for (int i = 0; i < states; i++) s->drate[i] = knowns > 0 ? result[at++] : 0;
  return true;
}

static bool tangent(server *s) {
  bool good = set_point(s);
  take_doubles(s, s->dx, s->d.states);
  take_doubles(s, s->du, s->f.input.count);
  if (!good || !compute_tangent(s)) return false;
  done(s);
  put_doubles(s, s->dy, s->f.output.count);
  put_doubles(s, s->drate, s->d.states);
  return true;
}

static bool slopes(server *s) {
  OD_SCRATCH(scratch);
  int states = s->d.states, inputs = s->f.input.count, outputs = s->f.output.count, columns = states + inputs;
  double *by = OD_TAKE_MATRIX(&scratch, double, outputs + states, columns);
  if (!set_point(s) || !by) return false;
  memset(s->dx, 0, (size_t)states * sizeof *s->dx);
  memset(s->du, 0, (size_t)inputs * sizeof *s->du);
  for (int j = 0; j < columns; j++) {
    double *moved = j < states ? &s->dx[j] : &s->du[j - states];
    *moved = 1;
    bool good = compute_tangent(s);
    *moved = 0;
    if (!good) return false;
    for (int i = 0; i < outputs; i++) by[i * columns + j] = s->dy[i];
    for (int i = 0; i < states; i++) by[(outputs + i) * columns + j] = s->drate[i];
  }
  done(s);
  put_doubles(s, by, (outputs + states) * columns);
  return true;
}

static bool indicators(server *s) {
  if (!set_point(s) || !s->f.fmi->get_indicators(&s->f, s->z)) return false;
  done(s);
  put_doubles(s, s->z, s->d.indicators);
  return true;
}

static bool event(server *s) {
  if (!set_point(s) || !s->f.fmi->event(&s->f) || !has_not_ended(s)) return false;
  if (!s->f.fmi->get_states(&s->f, s->x, NULL) || !s->f.fmi->get_indicators(&s->f, s->z) || !save_memory(s))
    return false;
  done(s);
  put_doubles(s, s->x, s->d.states);
  put_situation(s);
  put_memory(s);
  return true;
}

static bool step(server *s) {
  od_fmu *f = &s->f;
  double at[2];
  take_doubles(s, at, 2);
  take_doubles(s, s->u, f->input.count);
  if (!f->fmi->step(f, at[0], at[1]) || !has_not_ended(s)) return false;
  if (!od_fmu_set_list(f, &f->input, s->u) || !od_fmu_get_list(f, &f->output, s->y)) return false;
  if (!save_memory(s)) return false;
  done(s);
  put_doubles(s, s->y, f->output.count);
  put_memory(s);
  return true;
}

static bool restore(server *s) {
  OD_SCRATCH(scratch);
  size_t size = (size_t)od_channel_take_number(&s->channel, OD_FMU_MOST_MEMORY);
  char *bytes = OD_TAKE(&scratch, char, (long long)size);
  if (bytes) od_channel_take(&s->channel, bytes, size);
  take_doubles(s, s->q, s->f.parameter.count);
  return bytes && s->f.fmi->restore(&s->f, bytes, size) &&
         (s->f.interface == OD_FMU_MODEL_EXCHANGE || od_fmu_tune(&s->f, s->q)) && done(s);
}

// ---- the conversation

static od_status describe(server *s, od_error *err) {
  OD_SCRATCH(scratch);
  char *xml;
  size_t size;
  od_status status = od_fmu_archive_description(s->path, &scratch, &xml, &size, err);
  return status == OD_OK ? od_fmu_read_description(xml, size, &s->arena, &s->d, err) : status;
}

static od_status unpack(server *s, od_error *err) {
  const od_fmu_ability *a = s->d.ability;
  const char *identifier = a[0].identifier ? a[0].identifier : a[1].identifier;
  return od_fmu_archive_unpack(s->path, s->folder, s->d.version, identifier, err);
}

static void put_failure(server *s, const char *text) {
  s->channel.waiting = 0;  // an answer that failed later begins again
  od_channel_put_number(&s->channel, OD_FMU_FAILED);
  od_channel_put_text(&s->channel, text);
}

static bool answer(server *s) {
  static bool (*const functions[OD_FMU_REQUESTS])(server *) = {
      [OD_FMU_OPEN] = open_binary,      [OD_FMU_START] = start_instance,
      [OD_FMU_VALUES] = compute_values, [OD_FMU_TANGENT] = tangent,
      [OD_FMU_SLOPES] = slopes,         [OD_FMU_INDICATORS] = indicators,
      [OD_FMU_EVENT] = event,           [OD_FMU_STEP] = step,
      [OD_FMU_RESTORE] = restore};
  uint64_t request = od_channel_take_number(&s->channel, OD_FMU_REQUESTS - 1);
  if (s->channel.broken || request == 0) return false;
  if (request != OD_FMU_OPEN && !s->f.fmi) return false;
  set_alarm(s->limit);
  s->f.error[0] = '\0';
  if (!functions[request](s)) put_failure(s, s->f.error[0] ? s->f.error : "ran out of memory");
  set_alarm(0);
  return od_channel_flush(&s->channel);
}

int main(int argc, char **argv) {
  static server s;
  if (argc != 2 || !strcmp(argv[1], "--version")) {
    printf("oleodyn-fmu %s: loads functional mock-up units for oleodyn, which starts this program\n", OD_VERSION);
    return argc == 2 ? 0 : 2;
  }
  pid_t caller = getppid();
  set_handlers();
  od_channel_init(&s.channel, STDIN_FILENO);
  uint64_t protocol = od_channel_take_number(&s.channel, UINT64_MAX);
  od_channel_put_number(&s.channel, OD_HELPER_PROTOCOL);
  od_channel_flush(&s.channel);
  if (protocol != OD_HELPER_PROTOCOL || od_channel_take_number(&s.channel, OD_HELPER_FMU) != OD_HELPER_FMU) _exit(1);
  od_channel_take_text(&s.channel, s.path, sizeof s.path);
  od_channel_take_text(&s.channel, s.folder, sizeof s.folder);
  bool unpacks = od_channel_take_number(&s.channel, 1);
  take_doubles(&s, &s.limit, 1);
  if (s.channel.broken) _exit(1);
  if (unpacks) guard_folder(caller, s.folder);
  od_error err = {0};
  set_alarm(fmax(60, s.limit));
  if (describe(&s, &err) != OD_OK || (unpacks && unpack(&s, &err) != OD_OK)) {
    put_failure(&s, err.text);
    od_channel_flush(&s.channel);
    _exit(0);
  }
  set_alarm(0);
  done(&s);
  od_fmu_put_description(&s.channel, &s.d);
  od_channel_flush(&s.channel);
  while (answer(&s)) continue;
  _exit(0);
}
