// A strict XML reader for tests, independent of the code that writes XML.
#ifndef OD_TEST_XML_H
#define OD_TEST_XML_H

#include <stdbool.h>
#include <stddef.h>

// Whether the text is one well-formed element (after a DOCTYPE, if any): tags nest and match by name, attributes are quoted
// and come once, every & begins one of XML's own entities, no < in attributes, text in UTF-8 without control characters.
// On failure `what` contains the reason and the place.
bool xml_well_formed(const char *text, char *what, size_t size);

#endif
