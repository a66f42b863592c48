// SPDX-License-Identifier: Apache-2.0
// Compiled with RocksDB's headers and linked with our library: objects of registered classes. The templates of
// object_registry.h lay out and read what the library keeps.
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/utilities/object_registry.h>

#include <cstdio>

using namespace rocksdb;

class Mine final : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice*, const Slice& value, std::string* result, Logger*) const override {
    *result = value.ToString();
    return true;
  }
  const char* Name() const override { return "Mine"; }
};

#define CHECK(condition)                                              \
  do {                                                                \
    if (condition) break;                                             \
    fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
    return 1;                                                         \
  } while (false)

int main() {
  auto library = std::make_shared<ObjectLibrary>("library");
  library->AddFactory<MergeOperator>(ObjectLibrary::PatternEntry("mine").AddSeparator(":"),
                                     [](const std::string&, std::unique_ptr<MergeOperator>* guard, std::string*) {
                                       guard->reset(new Mine);
                                       return guard->get();
                                     });
  size_t types = 0;
  CHECK(library->GetFactoryCount(&types) == 1 && types == 1);
  const auto registry = ObjectRegistry::NewInstance();
  registry->AddLibrary(library);
  std::shared_ptr<MergeOperator> made, known;
  CHECK(registry->NewSharedObject<MergeOperator>("mine:1", &made).ok());
  ConfigOptions config;
  config.registry = registry;
  CHECK(MergeOperator::CreateFromString(config, "mine:2", &made).ok());
  CHECK(made->Name() == std::string("Mine"));
  CHECK(registry->GetOrCreateManagedObject<MergeOperator>("mine:3", &made).ok());
  CHECK(registry->GetOrCreateManagedObject<MergeOperator>("mine:3", &known).ok());
  CHECK(made == known);
  CHECK(registry->GetManagedObject<MergeOperator>("mine:3") == made);
  return 0;
}
