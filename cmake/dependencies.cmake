# Libraries from the distribution; scripts/install-deps installs them.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
# What else a program that links the static library has to link: by pkg-config names, and without.
set(COMPASSDB_PC_REQUIRES "libxxhash liblz4 libzstd libhwy liburing libcrypto")
set(COMPASSDB_PC_LIBS "-lsnappy -lstdc++ -lm -lpthread")
set(COMPASSDB_LINK_NAMES "xxhash;lz4;zstd;hwy;uring;crypto;snappy")
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(HIGHWAY REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(URING REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
find_library(SNAPPY_LIBRARY snappy REQUIRED)
set(COMPASSDB_EXTERNAL PkgConfig::XXHASH PkgConfig::LZ4 PkgConfig::ZSTD PkgConfig::HIGHWAY PkgConfig::URING PkgConfig::CRYPTO
    ${SNAPPY_LIBRARY} Threads::Threads)
if(COMPASSDB_TESTS)
  find_package(GTest REQUIRED)
endif()
