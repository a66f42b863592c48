# COMPASSDB_UNITY: eight files of a target are compiled at once, which takes half the time of a whole build (headers are parsed,
# and templates made, once for all of them). What a file keeps to itself needs a name of its own within the folder
# then; and a missing #include shows only without it, as `make fuzz` and a plain CMake build do.
option(COMPASSDB_UNITY "Compile several files at once" OFF)
if(COMPASSDB_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  # Instructions of one processor family are switched on for a whole file; SequentialFile and its like are
  # RocksDB's in two files, the engine's own in the others; tables of options have columns of short names.
  set_source_files_properties(src/util/hash_avx2.cc src/env/rocksdb/env_as_file_system.cc src/env/rocksdb/composite_env.cc
    src/options/db_option_table.cc src/options/family_option_table.cc src/options/table_option_tables.cc
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # It needs the types of all that a file mentions, and a lower folder's test would need what is defined above.
  if(COMPASSDB_SANITIZE MATCHES undefined)
    target_compile_options(compassdb_flags INTERFACE -fno-sanitize=vptr)
  endif()
endif()
# compassdb_without_unity(TARGET): files of the target have names in common.
function(compassdb_without_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
endfunction()
