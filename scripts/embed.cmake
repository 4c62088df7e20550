# Writes files as tables of bytes into a C file: NAME[] and NAME_size for each "NAME=FILE" of FILES.
# Usage: cmake -D OUTPUT=C_FILE -D HEADER=INCLUDED_HEADER -D FOLDER=FOLDER_OF_FILES "-DFILES=NAME=FILE;..." -P embed.cmake
set(text "// Made by scripts/embed.cmake.\n#include \"${HEADER}\"\n")
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]+)=(.+)$" entry "${entry}")
  set(name ${CMAKE_MATCH_1})
  file(READ ${FOLDER}/${CMAKE_MATCH_2} bytes HEX)
  string(LENGTH "${bytes}" size)
  math(EXPR size "${size} / 2")
  # Twenty bytes per line.
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(....................................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND text "\nconst unsigned char ${name}[] = {\n${bytes}0};\nconst size_t ${name}_size = ${size};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
