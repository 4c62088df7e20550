# Writes files as tables of bytes into a C file.
#   cmake -D OUTPUT=C_FILE -D HEADER=INCLUDED_HEADER -D FOLDER=FOLDER "-DFILES=NAME=FILE;..." -P embed.cmake
#     NAME[] and NAME_size for each file
#   cmake -D OUTPUT=C_FILE -D HEADER=INCLUDED_HEADER -D FOLDER=FOLDER -D TABLE=TYPE:NAME -D LINE=NAME=FILE -P embed.cmake
#     NAME[] of this type: folder, name, bytes and size of each file in a folder of FOLDER, in the order of names; the last row is empty.
#     The text NAME: the first line of a file.

# Sets `bytes` to the bytes of a file as C numbers, twenty per line, with a zero at the end, and `size` to their number without it.
function(read_bytes path)
  file(READ ${path} hex HEX)
  string(LENGTH "${hex}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(REGEX REPLACE "(....................................................................................................)" "\\1\n" hex "${hex}")
  set(bytes "${hex}0" PARENT_SCOPE)
  set(size ${size} PARENT_SCOPE)
endfunction()

set(text "// Made by scripts/embed.cmake.\n#include \"${HEADER}\"\n\n#include <stddef.h>\n")
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]+)=(.+)$" entry "${entry}")
  set(name ${CMAKE_MATCH_1})
  read_bytes(${FOLDER}/${CMAKE_MATCH_2})
  string(APPEND text "\nconst unsigned char ${name}[] = {\n${bytes}};\nconst size_t ${name}_size = ${size};\n")
endforeach()
if(TABLE)
  string(REGEX MATCH "^(.+):(.+)$" table "${TABLE}")
  set(type ${CMAKE_MATCH_1})
  set(table ${CMAKE_MATCH_2})
  set(rows)
  set(number 0)
  file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*/*)
  list(SORT files)
  foreach(path ${files})
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(name ${path} NAME)
    read_bytes(${FOLDER}/${path})
    string(APPEND text "\nstatic const unsigned char file_${number}[] = {\n${bytes}};\n")
    string(APPEND rows "    {\"${folder}\", \"${name}\", file_${number}, ${size}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  string(APPEND text "\nconst ${type} ${table}[] = {\n${rows}    {NULL, NULL, NULL, 0},\n};\n")
endif()
if(LINE)
  string(REGEX MATCH "^([^=]+)=(.+)$" line "${LINE}")
  file(STRINGS ${FOLDER}/${CMAKE_MATCH_2} line LIMIT_COUNT 1)
  string(APPEND text "\nconst char *const ${CMAKE_MATCH_1} = \"${line}\";\n")
endif()
file(WRITE ${OUTPUT} "${text}")
