# Perfect hash functions against each other. The helper for crates is built by
# the program itself, on demand; no other build needs it.
file(GLOB PERFECT_HASH_BENCH CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/perfect_hash/*.cc)
add_executable(perfect_hash_bench ${PERFECT_HASH_BENCH})
target_compile_options(perfect_hash_bench PRIVATE -Wall -Wextra)
target_compile_definitions(perfect_hash_bench PRIVATE
  PERFECT_HASH_RIVALS_BUILD="${CMAKE_CURRENT_LIST_DIR}/perfect_hash/rivals/build")
target_link_libraries(perfect_hash_bench PRIVATE compassdb_perfect_hash)
set_target_properties(perfect_hash_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
