# Warnings and instrumentation that every target of the project is built with.
add_library(compassdb_flags INTERFACE)
target_compile_options(compassdb_flags INTERFACE -Wall -Wextra -Wno-unused-parameter -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(compassdb_flags INTERFACE -Wthread-safety -Werror=thread-safety)
endif()
target_include_directories(compassdb_flags INTERFACE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 takes the short buffer of a std::string in `a + b` for its end (GCC's bug 105651).
  target_compile_options(compassdb_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(COMPASSDB_SANITIZE)
  target_compile_options(compassdb_flags INTERFACE -fsanitize=${COMPASSDB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(compassdb_flags INTERFACE -fsanitize=${COMPASSDB_SANITIZE})
endif()
if(COMPASSDB_COVERAGE)
  target_compile_options(compassdb_flags INTERFACE -fprofile-instr-generate -fcoverage-mapping -O1)
  target_link_options(compassdb_flags INTERFACE -fprofile-instr-generate)
endif()

# ccache and a fast linker, where they are installed.
find_program(COMPASSDB_CCACHE ccache)
if(COMPASSDB_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the checkout are taken as relative ones, so that every checkout, a copy of the tree
  # with a seeded defect too, has its objects from the one cache. Sloppiness: what precompiled headers need (no file
  # defines macros before them, or uses the time).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true
      CCACHE_SLOPPINESS=pch_defines,time_macros ${COMPASSDB_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
find_program(COMPASSDB_MOLD mold)
if(COMPASSDB_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
