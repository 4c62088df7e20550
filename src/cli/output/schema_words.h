// Short words for the kinds of schema_table.h, for the files that have its tables.
#ifndef OD_OUTPUT_SCHEMA_WORDS_H
#define OD_OUTPUT_SCHEMA_WORDS_H

#include "output/schema_table.h"

#define NUMBER     OD_SCHEMA_NUMBER
#define NUMBERS    OD_SCHEMA_NUMBERS
#define TABLE      OD_SCHEMA_TABLE
#define TEXT       OD_SCHEMA_TEXT
#define TEXTS      OD_SCHEMA_TEXTS
#define WHOLE      OD_SCHEMA_WHOLE
#define FLAG       OD_SCHEMA_FLAG
#define CHOICE     OD_SCHEMA_CHOICE
#define PART       OD_SCHEMA_PART
#define PARTS      OD_SCHEMA_PARTS
#define MAP        OD_SCHEMA_MAP
#define NUMBER_MAP OD_SCHEMA_NUMBER_MAP

#endif
