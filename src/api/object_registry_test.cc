// SPDX-License-Identifier: Apache-2.0
#include "rocksdb/utilities/object_registry.h"

#include <gtest/gtest.h>

#include "api/registered.h"
#include "rocksdb/comparator.h"
#include "rocksdb/merge_operator.h"

namespace rocksdb {
namespace {

using Pattern = ObjectLibrary::PatternEntry;

TEST(PatternEntry, Matches) {
  EXPECT_TRUE(Pattern("A").Matches("A"));
  EXPECT_FALSE(Pattern("A").Matches("AB"));
  EXPECT_TRUE(Pattern("A").AnotherName("B").Matches("B"));
  const Pattern number = Pattern("A", false).AddNumber(":");
  EXPECT_TRUE(number.Matches("A:12"));
  EXPECT_TRUE(number.Matches("A:-12"));
  for (const char* no : {"A", "A:", "A:1x", "A:1.5", "A:-", "A:+1", "A: 1", "B:1", ""}) {
    EXPECT_FALSE(number.Matches(no)) << no;
  }
  const Pattern decimal = Pattern("A", false).AddNumber(":", false);
  for (const char* yes : {"A:1.5", "A:15", "A:1.", "A:.5"}) EXPECT_TRUE(decimal.Matches(yes)) << yes;
  for (const char* no : {"A:.", "A:1.5.2", "A:1e5"}) EXPECT_FALSE(decimal.Matches(no)) << no;
  const Pattern text = Pattern("A").AddSeparator("://");
  EXPECT_TRUE(text.Matches("A"));
  EXPECT_TRUE(text.Matches("A://x"));
  EXPECT_FALSE(text.Matches("A://"));
  EXPECT_TRUE(Pattern("A").AddSeparator("://", false).Matches("A://"));
  const Pattern two = Pattern("A", false).AddSeparator("@").AddSeparator("#");
  EXPECT_TRUE(two.Matches("A@12#3"));
  EXPECT_FALSE(two.Matches("A@#3"));
  EXPECT_FALSE(two.Matches("A@12"));
  EXPECT_TRUE(Pattern("A", false).AddSuffix(".end").Matches("A.end"));
  EXPECT_FALSE(Pattern("A", false).AddSuffix(".end").Matches("A"));
  EXPECT_TRUE(Pattern::AsIndividualId("A").Matches("A@0x1#2"));
}

TEST(PatternEntry, TheNextSeparatorIsTheFirstOneThatFollows) {
  const Pattern suffix = Pattern("A", false).AddSeparator(" ").AddSuffix("!");
  EXPECT_TRUE(suffix.Matches("A b!"));
  EXPECT_TRUE(suffix.Matches("A !!"));  // after at least one character
  EXPECT_FALSE(suffix.Matches("A b!!"));
  const Pattern numbers = Pattern("A", false).AddNumber(":", false).AddNumber(".");
  EXPECT_TRUE(numbers.Matches("A:1.2"));
  EXPECT_FALSE(numbers.Matches("A:1.2.3"));
  const Pattern text = Pattern("A", false).AddSeparator(":", false).AddNumber("@");
  EXPECT_TRUE(text.Matches("A:b@1"));
  EXPECT_FALSE(text.Matches("A:b@c@1"));
  EXPECT_TRUE(Pattern("A", false).AddNumber(":").AddSuffix("0").Matches("A:50"));
}

class Mine : public AssociativeMergeOperator {
 public:
  explicit Mine(std::string id) : id_(std::move(id)) {}
  bool Merge(const Slice&, const Slice*, const Slice& value, std::string* result,
             Logger*) const override {
    *result = value.ToString();
    return true;
  }
  const char* Name() const override { return "Mine"; }
  std::string GetId() const override { return id_; }

 private:
  const std::string id_;
};

void AddMine(ObjectLibrary* library) {
  library->AddFactory<MergeOperator>(
      Pattern("Mine").AddNumber("."),
      [](const std::string& id, std::unique_ptr<MergeOperator>* guard, std::string* message) {
        if (id == "Mine.13") {
          *message = "no luck";
          return static_cast<MergeOperator*>(nullptr);
        }
        guard->reset(new Mine(id));
        return guard->get();
      });
}

TEST(ObjectRegistry, MakesObjects) {
  auto registry = ObjectRegistry::NewInstance();
  AddMine(registry->AddLibrary("mine").get());
  std::shared_ptr<MergeOperator> shared;
  std::unique_ptr<MergeOperator> unique;
  MergeOperator* raw = nullptr;
  EXPECT_TRUE(registry->NewSharedObject("Mine.1", &shared).ok());
  EXPECT_EQ(shared->GetId(), "Mine.1");
  EXPECT_TRUE(registry->NewUniqueObject("Mine", &unique).ok());
  EXPECT_TRUE(registry->NewStaticObject("Mine", &raw).IsInvalidArgument());
  EXPECT_TRUE(registry->NewSharedObject("Other", &shared).IsNotSupported());
  Status s = registry->NewSharedObject("Mine.13", &shared);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("no luck"), std::string::npos);
  // Children see what parents have, not the other way round.
  auto child = ObjectRegistry::NewInstance(registry);
  EXPECT_TRUE(child->NewSharedObject("Mine.1", &shared).ok());
  EXPECT_TRUE(ObjectRegistry::Default()->NewSharedObject("Mine.1", &shared).IsNotSupported());
  EXPECT_EQ(child->GetFactoryCount("MergeOperator"), 1u);
  std::vector<std::string> names{"replaced"};
  child->GetFactoryNames("MergeOperator", &names);
  EXPECT_EQ(names, std::vector<std::string>{"Mine"});
}

TEST(ObjectRegistry, SharesManagedObjects) {
  auto registry = ObjectRegistry::NewInstance();
  AddMine(registry->AddLibrary("mine").get());
  std::shared_ptr<MergeOperator> a, b;
  ASSERT_TRUE(registry->GetOrCreateManagedObject("Mine.1", &a).ok());
  ASSERT_TRUE(registry->GetOrCreateManagedObject("Mine.1", &b).ok());
  EXPECT_EQ(a, b);
  EXPECT_EQ(registry->GetManagedObject<MergeOperator>("Mine.1"), a);
  std::vector<std::shared_ptr<MergeOperator>> all;
  ASSERT_TRUE(registry->ListManagedObjects(&all).ok());
  EXPECT_EQ(all.size(), 1u);
  auto other = std::make_shared<Mine>("Mine.1");
  EXPECT_TRUE(registry->SetManagedObject<MergeOperator>(other).IsInvalidArgument());
  a.reset(), b.reset(), all.clear();
  EXPECT_EQ(registry->GetManagedObject<MergeOperator>("Mine.1"), nullptr);
  EXPECT_TRUE(registry->SetManagedObject<MergeOperator>(other).ok());
}

TEST(ObjectRegistry, PluginsRegisterOnce) {
  auto registry = ObjectRegistry::NewInstance();
  const RegistrarFunc registrar = [](ObjectLibrary& library, const std::string&) {
    AddMine(&library);
    return 1;
  };
  EXPECT_EQ(registry->RegisterPlugin("", registrar), -1);
  EXPECT_EQ(registry->RegisterPlugin("p", nullptr), -1);
  EXPECT_EQ(registry->RegisterPlugin("p", registrar), 1);
  EXPECT_EQ(registry->RegisterPlugin("p", registrar), -1);
  EXPECT_EQ(registry->GetFactoryCount("MergeOperator"), 1u);
}

TEST(ObjectRegistry, CreateFromStringAsksIt) {
  ConfigOptions config;
  config.registry = ObjectRegistry::NewInstance();
  config.ignore_unsupported_options = false;
  std::shared_ptr<MergeOperator> op;
  EXPECT_TRUE(MergeOperator::CreateFromString(config, "Mine.7", &op).IsNotSupported());
  AddMine(config.registry->AddLibrary("mine").get());
  ASSERT_TRUE(MergeOperator::CreateFromString(config, "Mine.7", &op).ok());
  EXPECT_EQ(op->GetId(), "Mine.7");
  config.registry->AddLibrary("order")->AddFactory<const Comparator>(
      "upside-down", [](const std::string&, std::unique_ptr<const Comparator>*, std::string*) {
        return ReverseBytewiseComparator();
      });
  const Comparator* comparator = nullptr;
  ASSERT_TRUE(Comparator::CreateFromString(config, "upside-down", &comparator).ok());
  EXPECT_EQ(comparator, ReverseBytewiseComparator());
}

}  // namespace
}  // namespace rocksdb
