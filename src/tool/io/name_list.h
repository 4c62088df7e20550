// Names one after another in a sentence: "a, b, c and 4 more".
#ifndef OD_IO_NAME_LIST_H
#define OD_IO_NAME_LIST_H

typedef struct od_name_list {
  int most;   // names to be shown
  int count;  // names that were added,
  int shown;  // and those that are in the text
  char text[1000];
} od_name_list;

// Adds a name, or what is said of it. What comes after the most, or does not fit, is only counted.
void od_name_list_add(od_name_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The whole list; to be called once, when all names are in it.
const char *od_name_list_text(od_name_list *list);

#endif
