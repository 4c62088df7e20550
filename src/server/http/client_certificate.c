#include "http/client_certificate.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

const char od_tls_priorities[] = "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

enum { MOST_FILE = 262144 };

od_status od_public_file_read(const char *path, const char *what, od_arena *memory, char **content, od_error *err) {
  *content = NULL;
  FILE *file = fopen(path, "rbe");
  if (!file) return od_fail(err, OD_BAD_INPUT, "cannot open the %s %s: %s", what, path, strerror(errno));
  char *text = OD_TAKE(memory, char, MOST_FILE + 1);
  const size_t size = text ? fread(text, 1, MOST_FILE, file) : 0;
  const bool failed = ferror(file) != 0;
  fclose(file);
  if (!text) return od_fail(err, OD_NO_MEMORY, "out of memory");
  if (failed || size == MOST_FILE)
    return od_fail(err, OD_BAD_INPUT, "cannot read the %s %s; expected a readable file of less than 256 KiB", what,
                   path);
  *content = text;
  return OD_OK;
}

static gnutls_datum_t datum(const char *text) {
  return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

od_status od_tls_check(const od_twin_page *page, const char *certificate, const char *key, const char *authority,
                       od_error *err) {
  gnutls_certificate_credentials_t credentials;
  if (gnutls_certificate_allocate_credentials(&credentials) != GNUTLS_E_SUCCESS)
    return od_fail(err, OD_NO_MEMORY, "out of memory");
  const gnutls_datum_t c = datum(certificate), k = datum(key);
  int result = gnutls_certificate_set_x509_key_mem(credentials, &c, &k, GNUTLS_X509_FMT_PEM);
  od_status status = OD_OK;
  if (result < 0)
    status = od_fail(
        err, OD_BAD_INPUT,
        "the certificate %s and the key %s cannot be used: %s; expected a certificate and its key in PEM format",
        page->certificate_file, page->key_file, gnutls_strerror(result));
  if (status == OD_OK && authority) {
    const gnutls_datum_t a = datum(authority);
    result = gnutls_certificate_set_x509_trust_mem(credentials, &a, GNUTLS_X509_FMT_PEM);
    if (result < 1)
      status = od_fail(err, OD_BAD_INPUT, "%s has no certificate of an authority: %s", page->client_ca_file,
                       result < 0 ? gnutls_strerror(result) : "no certificate was found");
  }
  gnutls_certificate_free_credentials(credentials);
  return status;
}

bool od_client_certificate(struct MHD_Connection *connection, od_certificate_name *name) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  unsigned flaws = 1, count = 0;
  if (!info || !info->tls_session) return false;
  gnutls_session_t session = info->tls_session;
  const gnutls_datum_t *list = gnutls_certificate_get_peers(session, &count);
  gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (void *)GNUTLS_KP_TLS_WWW_CLIENT};
  if (!list || count == 0 || gnutls_certificate_verify_peers(session, &purpose, 1, &flaws) != GNUTLS_E_SUCCESS ||
      flaws != 0)
    return false;
  gnutls_x509_crt_t certificate;
  size_t size = sizeof name->text;
  snprintf(name->text, sizeof name->text, "certificate");
  if (gnutls_x509_crt_init(&certificate) != GNUTLS_E_SUCCESS) return false;
  char text[sizeof name->text];
  if (gnutls_x509_crt_import(certificate, &list[0], GNUTLS_X509_FMT_DER) == GNUTLS_E_SUCCESS &&
      gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, text, &size) == GNUTLS_E_SUCCESS &&
      strlen(text) > 0)
    snprintf(name->text, sizeof name->text, "%s", text);
  gnutls_x509_crt_deinit(certificate);
  return true;
}
