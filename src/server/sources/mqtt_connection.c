#include "sources/mqtt_connection.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "io/once.h"

static void begin_library(void) {
  mosquitto_lib_init();
}

// Reads the first line of a file with a password. Messages do not contain the password. Fails with OD_BAD_INPUT or OD_IO.
static od_status read_password(const char *path, char *password, size_t size, od_error *err) {
  FILE *file = fopen(path, "r");
  if (!file) return od_fail(err, OD_IO, "cannot read %s: %s", path, strerror(errno));
  const bool any = fgets(password, (int)size, file) != NULL;
  fclose(file);
  if (!any) return od_fail(err, OD_BAD_INPUT, "%s is empty; expected a password in the first line", path);
  password[strcspn(password, "\r\n")] = '\0';
  return OD_OK;
}

static od_status set_up(struct mosquitto *m, const od_twin_broker *b, od_error *err) {
  char password[1024] = "";
  mosquitto_int_option(m, MOSQ_OPT_TCP_NODELAY, 1);
  od_status status = b->password_file ? read_password(b->password_file, password, sizeof password, err) : OD_OK;
  if (status != OD_OK) return status;
  int result = b->user ? mosquitto_username_pw_set(m, b->user, b->password_file ? password : NULL) : MOSQ_ERR_SUCCESS;
  memset(password, 0, sizeof password);
  if (result == MOSQ_ERR_SUCCESS && b->ca_file) result = mosquitto_tls_set(m, b->ca_file, NULL, NULL, NULL, NULL);
  if (result == MOSQ_ERR_SUCCESS) return OD_OK;
  return od_fail(err, OD_BAD_INPUT, "the connection to %s cannot be set up: %s", b->host, mosquitto_strerror(result));
}

od_status od_mqtt_new(const od_twin_broker *broker, bool keeps, void *user, struct mosquitto **out, od_error *err) {
  static od_once begun = OD_ONCE;
  od_call_once(&begun, begin_library);
  struct mosquitto *m = mosquitto_new(broker->client, !keeps, user);
  *out = NULL;
  if (!m)
    return od_fail(err, OD_NO_MEMORY, "the client '%s' of the broker cannot be created: %s", broker->client,
                   strerror(errno));
  od_status status = set_up(m, broker, err);
  if (status == OD_OK)
    *out = m;
  else
    mosquitto_destroy(m);
  return status;
}

void od_mqtt_free(struct mosquitto *m) {
  if (m) mosquitto_destroy(m);
}
