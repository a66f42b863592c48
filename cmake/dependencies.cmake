# Libraries from the distribution; scripts/install-deps installs them.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(HIGHWAY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(URING REQUIRED IMPORTED_TARGET liburing)
find_library(SNAPPY_LIBRARY snappy REQUIRED)
set(COMPASSDB_EXTERNAL PkgConfig::XXHASH PkgConfig::LZ4 PkgConfig::ZSTD PkgConfig::HIGHWAY PkgConfig::URING
    ${SNAPPY_LIBRARY} Threads::Threads)
if(COMPASSDB_TESTS)
  find_package(GTest REQUIRED)
endif()
