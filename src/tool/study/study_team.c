#include "study/study_team.h"

#ifdef OD_HAVE_MPI

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

#include "study/study_values.h"

// Returns whether MPI started the program. Otherwise MPI is not initialized, because the initialization takes longer than a small
// study.
static bool is_started_by_mpi(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALRANKID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return true;
  return false;
}

od_team od_team_begin(void) {
  od_team team = {.rank = 0, .size = 1};
  if (!is_started_by_mpi() || MPI_Init(NULL, NULL) != MPI_SUCCESS) return team;
  MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team.size);
  return team;
}

void od_team_end(const od_team *team, int code) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun && code != 0 && team->size > 1 && !team->gathered) MPI_Abort(MPI_COMM_WORLD, code);
  if (begun) MPI_Finalize();
}

// Receives the finished runs of one case, with their values, from the process with rank `from`. False: MPI failed.
static bool receive_case(od_study_values *v, const od_study *s, int index, int from, double *values, bool *done) {
  const od_case *c = &s->item[index];
  if (MPI_Recv(done, (int)c->runs, MPI_C_BOOL, from, index, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
      MPI_Recv(values, (int)c->runs * c->metrics, MPI_DOUBLE, from, index, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
          MPI_SUCCESS)
    return false;
  for (long k = 0; k < c->runs; k++) {
    if (!done[k]) continue;
    v->done[index][k] = true;
    for (int m = 0; m < c->metrics; m++) v->value[index][k * c->metrics + m] = values[k * c->metrics + m];
  }
  return true;
}

static bool exchange_case(od_team team, od_study_values *v, const od_study *s, int index) {
  const od_case *c = &s->item[index];
  if (team.rank > 0)
    return MPI_Send(v->done[index], (int)c->runs, MPI_C_BOOL, 0, index, MPI_COMM_WORLD) == MPI_SUCCESS &&
           MPI_Send(v->value[index], (int)c->runs * c->metrics, MPI_DOUBLE, 0, index, MPI_COMM_WORLD) == MPI_SUCCESS;
  OD_SCRATCH(scratch);
  double *values = OD_TAKE_MATRIX(&scratch, double, c->runs, c->metrics);
  bool *done = OD_TAKE(&scratch, bool, c->runs), ok = values && done;
  for (int from = 1; ok && from < team.size; from++) ok = receive_case(v, s, index, from, values, done);
  return ok;
}

od_status od_team_gather(od_team *team, od_study_values *v, const od_study *s, od_error *err) {
  for (int i = 0; i < s->cases && team->size > 1; i++) {
    if (s->item[i].runs > INT_MAX / (s->item[i].metrics + 1))
      return od_fail(err, OD_NOT_AVAILABLE,
                     "the case '%s' has %ld runs, too many for MPI; divide the study with --part", s->item[i].name,
                     s->item[i].runs);
    if (!exchange_case(*team, v, s, i))
      return od_fail(err, OD_IO, "the values of the case '%s' were not received; run the study again", s->item[i].name);
  }
  team->gathered = true;
  return OD_OK;
}

#else

od_team od_team_begin(void) {
  return (od_team){.rank = 0, .size = 1};
}
void od_team_end(const od_team *team, int code) {
  (void)team, (void)code;
}
od_status od_team_gather(od_team *team, od_study_values *v, const od_study *s, od_error *err) {
  (void)team, (void)v, (void)s, (void)err;
  return OD_OK;
}

#endif
