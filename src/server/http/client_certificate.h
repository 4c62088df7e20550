// TLS of the page: checks of its files, and the certificates of readers.
#ifndef OD_HTTP_CLIENT_CERTIFICATE_H
#define OD_HTTP_CLIENT_CERTIFICATE_H

#include <microhttpd.h>
#include <stdbool.h>

#include "base/arena.h"
#include "twin/twin.h"

// TLS 1.2 and 1.3 with the ciphers that the library considers secure.
extern const char od_tls_priorities[];

// Reads a file that is not secret, such as a certificate. The arena owns the text, which ends with a zero. what: name of the file
// in messages. Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_public_file_read(const char *path, const char *what, od_arena *memory, char **content, od_error *err);
// Checks that the texts are a certificate, the key of this certificate, and the certificate of an authority (NULL: no authority).
// Fails with OD_BAD_INPUT or OD_NO_MEMORY.
od_status od_tls_check(const od_twin_page *page, const char *certificate, const char *key, const char *authority,
                       od_error *err);

// The common name of a reader's certificate.
typedef struct od_certificate_name {
  char text[64];
} od_certificate_name;
// Returns whether the connection has a certificate that the authority has signed and that is valid now. *name: its common name, or "certificate" if
// it has none or a longer one.
bool od_client_certificate(struct MHD_Connection *connection, od_certificate_name *name);

#endif
