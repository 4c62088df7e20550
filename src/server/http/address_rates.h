// Limits of requests and of failed logins per address: a table of buckets. Each bucket contains permits, which grow with time.
#ifndef OD_HTTP_ADDRESS_RATES_H
#define OD_HTTP_ADDRESS_RATES_H

#include <stdbool.h>
#include <sys/socket.h>

// An address as 16 bytes; of IPv6 only the network (64 bits).
typedef struct od_address {
  unsigned char bytes[16];
} od_address;
od_address od_address_of(const struct sockaddr *a);

enum { OD_RATE_SETS = 256, OD_RATE_WAYS = 4 };

typedef struct od_rate_entry {
  od_address address;
  double last;              // time of the last change, s; 0: the entry is free
  double requests, logins;  // permits that remain
} od_rate_entry;

typedef struct od_rates {
  double requests;  // requests per second
  od_rate_entry entry[OD_RATE_SETS][OD_RATE_WAYS];
} od_rates;

// Failed logins: at most OD_LOGINS at once, then one in OD_LOGIN_INTERVAL seconds. Requests: at most as many at once as are allowed in OD_BURST_S
// seconds.
enum { OD_LOGINS = 10, OD_LOGIN_INTERVAL = 6, OD_BURST_S = 4 };

// Takes a permit for a request. Returns false if the address has no permit. now: monotonic time, s.
bool od_rates_request(od_rates *r, const od_address *a, double now);
// Returns whether the address has a permit for a login; od_rates_failed_login() takes the permit after a failed login.
bool od_rates_may_login(od_rates *r, const od_address *a, double now);
void od_rates_failed_login(od_rates *r, const od_address *a, double now);

#endif
