// SPDX-License-Identifier: Apache-2.0
#include "api/option_string.h"

#include <gtest/gtest.h>

#include "api/named_options.h"
#include "rocksdb/config_options.h"
#include "rocksdb/customizable.h"

namespace compassdb {
namespace {

using rocksdb::ConfigOptions;
using rocksdb::Customizable;
using rocksdb::Status;

TEST(OptionStringTest, SplitsNamesAndValues) {
  OptionMap map;
  ASSERT_TRUE(ParseOptionString(" a = 1 ; b={x=1; y={z=2}} ;c=; ", &map).ok());
  EXPECT_EQ((OptionMap{{"a", "1"}, {"b", "x=1; y={z=2}"}, {"c", ""}}), map);
  ASSERT_TRUE(ParseOptionString("{{a=1}}", &map).ok());
  EXPECT_EQ((OptionMap{{"a", "1"}}), map);
  ASSERT_TRUE(ParseOptionString("", &map).ok());
  EXPECT_TRUE(map.empty());
}

TEST(OptionStringTest, NamesWhatIsWrong) {
  OptionMap map;
  for (const char* bad : {"a", "a;b=1", "=1", "a={1", "a={1}x;b=2", "{a=1};b=2", "a=1;{b=2}",
                          "{a=1", "a=1;;", ";a=1", ";", " ", "{}"}) {
    EXPECT_TRUE(ParseOptionString(bad, &map).IsInvalidArgument()) << bad;
  }
}

TEST(OptionStringTest, ObjectsHaveAnId) {
  std::string id;
  OptionMap map;
  ParseObjectString("x", "d", &id, &map);
  EXPECT_EQ("x", id);
  ParseObjectString("id=x;a=1", "d", &id, &map);
  EXPECT_EQ("x", id);
  EXPECT_EQ((OptionMap{{"a", "1"}}), map);
  ParseObjectString("a=1", "d", &id, &map);
  EXPECT_EQ("d", id);
  for (const char* whole : {"a=1", "id=x;{"}) {
    ParseObjectString(whole, "", &id, &map);
    EXPECT_EQ(whole, id);
    EXPECT_TRUE(map.empty());
  }
  for (const char* none : {"", "nullptr", "id=nullptr"}) {
    ParseObjectString(none, "d", &id, &map);
    EXPECT_EQ("", id);
  }
}

// A class with two options.
class Point : public Customizable, public NamedOptions {
 public:
  const char* Name() const override { return "Point"; }
  std::string x = "1";
  std::string y = "2";

 protected:
  Status ParseNamedOption(const ConfigOptions& config, const std::string& name,
                          const std::string& value) override {
    if (value == "bad") return Status::InvalidArgument("bad value", name);
    if (name == "x") return x = value, Status::OK();
    if (name == "y") return y = value, Status::OK();
    return Status::NotFound("no option of this name", name);
  }
  void ListNamedOptions(const ConfigOptions&,
                        NamedValues* options) const override {
    options->emplace_back("x", x);
    options->emplace_back("y", y);
  }
};

TEST(ConfigurableTest, ReadsWhatItWrites) {
  const ConfigOptions config;
  Point a;
  ASSERT_TRUE(a.ConfigureFromString(config, "x=a;b; y={c;d}").IsInvalidArgument());
  ASSERT_TRUE(a.ConfigureFromString(config, "x={a=1;b=2}; Point.y=7").ok());
  EXPECT_EQ("a=1;b=2", a.x);
  EXPECT_EQ("7", a.y);
  std::string text;
  ASSERT_TRUE(a.GetOptionString(config, &text).ok());
  EXPECT_EQ("id=Point;x={a=1;b=2};y=7;", text);
  std::string id;
  OptionMap map;
  ParseObjectString(text, "", &id, &map);
  Point b;
  std::string mismatch;
  EXPECT_FALSE(a.AreEquivalent(config, &b, &mismatch));
  EXPECT_EQ("x", mismatch);
  ASSERT_TRUE(b.ConfigureFromMap(config, map).ok());
  EXPECT_TRUE(a.AreEquivalent(config, &b, &mismatch));
}

TEST(ConfigurableTest, UnknownNamesAreErrorsUnlessIgnored) {
  ConfigOptions config;
  Point p;
  EXPECT_TRUE(p.ConfigureOption(config, "z", "1").IsNotFound());
  EXPECT_TRUE(p.ConfigureOption(config, "x", "bad").IsInvalidArgument());
  OptionMap unused;
  ASSERT_TRUE(p.ConfigureFromMap(config, {{"x", "5"}, {"z", "1"}}, &unused).ok());
  EXPECT_EQ((OptionMap{{"z", "1"}}), unused);
  EXPECT_EQ("5", p.x);
  config.ignore_unknown_options = true;
  EXPECT_TRUE(p.ConfigureOption(config, "z", "1").ok());
  std::string value;
  EXPECT_TRUE(p.GetOption(config, "x", &value).ok());
  EXPECT_EQ("5", value);
  EXPECT_TRUE(p.GetOption(config, "z", &value).IsNotFound());
}

}  // namespace
}  // namespace compassdb
