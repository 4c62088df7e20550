// A list of names in a sentence: "a, b, c and 4 more".
#ifndef OD_IO_NAME_LIST_H
#define OD_IO_NAME_LIST_H

typedef struct od_name_list {
  int most;   // largest number of names to be shown
  int count;  // number of names added
  int shown;  // number of names in the text
  char text[1000];
} od_name_list;

// Adds a name or a phrase. Names beyond `most`, and names that do not fit into the text, are only counted.
void od_name_list_add(od_name_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Returns the whole list. Call once, after all names have been added.
const char *od_name_list_text(od_name_list *list);

#endif
