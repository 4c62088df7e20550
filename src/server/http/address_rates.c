#include "http/address_rates.h"

#include <math.h>
#include <netinet/in.h>
#include <string.h>

od_address od_address_of(const struct sockaddr *a) {
  od_address out = {{0}};
  if (a && a->sa_family == AF_INET) memcpy(out.bytes + 8, &((const struct sockaddr_in *)a)->sin_addr, 4);
  if (a && a->sa_family == AF_INET6) memcpy(out.bytes, &((const struct sockaddr_in6 *)a)->sin6_addr, 8);
  return out;
}

// Returns the entry of an address, and adds the permits for the time since its last change. A new address takes the entry of its
// set that was used least recently.
static od_rate_entry *entry_of(od_rates *r, const od_address *a, double now) {
  unsigned hash = 2166136261u;
  for (size_t i = 0; i < sizeof a->bytes; i++) hash = (hash ^ a->bytes[i]) * 16777619u;
  od_rate_entry *set = r->entry[(hash ^ hash >> 16) % OD_RATE_SETS], *found = set;
  for (int i = 0; i < OD_RATE_WAYS; i++) {
    if (set[i].last > 0 && memcmp(&set[i].address, a, sizeof *a) == 0) {
      const double passed = fmax(now - set[i].last, 0);
      set[i].requests = fmin(set[i].requests + passed * r->requests, OD_BURST_S * r->requests);
      set[i].logins = fmin(set[i].logins + passed / OD_LOGIN_INTERVAL, OD_LOGINS);
      set[i].last = now;
      return &set[i];
    }
    if (set[i].last < found->last) found = &set[i];
  }
  *found = (od_rate_entry){*a, now, OD_BURST_S * r->requests, OD_LOGINS};
  return found;
}

bool od_rates_request(od_rates *r, const od_address *a, double now) {
  od_rate_entry *e = entry_of(r, a, now);
  if (e->requests < 1) return false;
  e->requests -= 1;
  return true;
}

bool od_rates_may_login(od_rates *r, const od_address *a, double now) {
  return entry_of(r, a, now)->logins >= 1;
}

void od_rates_failed_login(od_rates *r, const od_address *a, double now) {
  entry_of(r, a, now)->logins -= 1;
}
