// SPDX-License-Identifier: Apache-2.0
// Journals and overflow runs: round trip, every flipped bit, every cut.
#include <gtest/gtest.h>

#include "env/sim/memory_file_system.h"
#include "format/file_names.h"
#include "tableless/overflow/overflow_batch.h"
#include "tableless/page/page_format.h"
#include "tableless/page/page_journal.h"
#include "util/random.h"

namespace compassdb {
namespace {

constexpr uint32_t kPageBytes = 4096;

class PageRunsTest : public ::testing::Test {
 protected:
  PageRunsTest() { EXPECT_TRUE(fs_.CreateDir("/db").ok()); }
  std::unique_ptr<CompactionFileWriter> NewFile(uint64_t number) {
    std::unique_ptr<CompactionFileWriter> file;
    EXPECT_TRUE(CompactionFileWriter::Create(&fs_, PieceFileName("/db", number), number, number * 1000003,
                                             FileOptions(), &file)
                    .ok());
    return file;
  }
  // The file with other bytes under the same name.
  void Replace(uint64_t number, const std::string& bytes) {
    std::unique_ptr<WritableFile> file;
    ASSERT_TRUE(fs_.NewWritableFile(PieceFileName("/db", number), FileOptions(), &file).ok());
    ASSERT_TRUE(file->Append(bytes).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  std::string Bytes(uint64_t number) {
    std::string bytes;
    EXPECT_TRUE(ReadFileToString(&fs_, PieceFileName("/db", number), &bytes).ok());
    return bytes;
  }

  MemoryFileSystem fs_;
};

PageRunMeta WriteJournal(CompactionFileWriter* file, std::vector<std::string>* images) {
  PageJournalWriter writer(file, {11, 12});
  for (uint32_t section = 0; section < 2; ++section) {
    std::string buffer;
    std::vector<PageJournalWriter::Image> places;
    for (uint64_t page = 0; page < 5; ++page) {
      const size_t begin = buffer.size();
      PageBuilder builder(&buffer);
      const std::string value(10 * page, 'v');
      builder.Add({"key", value, page, false});
      builder.Finish(11 + section, 3 * page, 0);
      places.push_back({3 * page, static_cast<uint32_t>(begin), static_cast<uint32_t>(buffer.size() - begin)});
      images->push_back(buffer.substr(begin));
    }
    EXPECT_TRUE(writer.Append(section, places, buffer).ok());
  }
  PageRunMeta meta;
  EXPECT_TRUE(writer.Finish(7, &meta).ok());
  EXPECT_TRUE(file->Finish().ok());
  return meta;
}

TEST_F(PageRunsTest, JournalsGiveImagesBack) {
  std::vector<std::string> images;
  auto file = NewFile(1);
  const PageRunMeta meta = WriteJournal(file.get(), &images);
  FileCache files(&fs_, "/db", FileOptions(), 0);
  ExtentLedger ledger(&fs_, &files, 0);
  PageJournalRef journal;
  Status s = PageJournal::Open(&files, &ledger, meta, kPageBytes, &journal);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(journal->size(), 10u);
  std::string room;
  Slice image;
  PageJournal::Place place;
  for (uint32_t section = 0; section < 2; ++section) {
    for (uint64_t page = 0; page < 15; ++page) {
      const bool there = journal->Find(section, 11 + section, page, &place);
      ASSERT_EQ(there, page % 3 == 0);
      if (!there) continue;
      ASSERT_TRUE(journal->Read(place, &room, &image).ok());
      EXPECT_EQ(image, Slice(images[section * 5 + page / 3]));
    }
  }
  // Of a section that was rehashed since.
  EXPECT_FALSE(journal->Find(0, 99, 0, &place));
  EXPECT_FALSE(journal->Find(2, 11, 0, &place));
}

// Hostile files with right checksums.
TEST_F(PageRunsTest, ImagesFitTheirPages) {
  std::vector<std::string> images;
  auto file = NewFile(1);
  const PageRunMeta meta = WriteJournal(file.get(), &images);
  FileCache files(&fs_, "/db", FileOptions(), 0);
  ExtentLedger ledger(&fs_, &files, 0);
  PageJournalRef journal;
  const auto most = static_cast<uint32_t>(images.back().size());
  EXPECT_TRUE(PageJournal::Open(&files, &ledger, meta, most, &journal).ok());
  const Status larger = PageJournal::Open(&files, &ledger, meta, most - 1, &journal);
  EXPECT_TRUE(larger.IsCorruption()) << larger.ToString();
  PageSectionMeta section;
  section.section = 1;
  section.file_number = 12;
  section.pages = 13;  // one more than the last page that has an image
  EXPECT_TRUE(journal->CheckPages(section).ok());
  section.pages = 12;
  const std::string fewer = journal->CheckPages(section).ToString();
  EXPECT_NE(fewer.find("an image of page 12 of section 1, which has 12"), std::string::npos) << fewer;
  EXPECT_NE(fewer.find("/db/000001.ph"), std::string::npos) << fewer;
  section.file_number = 13;  // rehashed since
  EXPECT_TRUE(journal->CheckPages(section).ok());
}

TEST_F(PageRunsTest, DamagedJournalsAreNoticed) {
  std::vector<std::string> images;
  auto file = NewFile(1);
  const PageRunMeta meta = WriteJournal(file.get(), &images);
  const std::string bytes = Bytes(1);
  const auto survives = [&] {
    FileCache files(&fs_, "/db", FileOptions(), 0);
    ExtentLedger ledger(&fs_, &files, 0);
    PageJournalRef journal;
    if (!PageJournal::Open(&files, &ledger, meta, kPageBytes, &journal).ok()) return false;
    for (size_t i = 0; i < journal->size(); ++i) {
      std::string room;
      Slice image, records;
      if (!journal->Read(journal->place(i), &room, &image).ok()) return false;
      const uint32_t section = SectionOfKey(journal->key(i));
      if (!CheckPage(image, journal->section_file(section), PageOfKey(journal->key(i)), &records).ok()) {
        return false;
      }
    }
    return true;
  };
  ASSERT_TRUE(survives());
  for (size_t i = meta.extent.offset; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    Replace(1, damaged);
    EXPECT_FALSE(survives()) << i;
    if (i % 7 != 0) continue;
    Replace(1, bytes.substr(0, i));
    EXPECT_FALSE(survives()) << "cut at " << i;
  }
}

TEST_F(PageRunsTest, OverflowIndexFollowsRuns) {
  FileCache files(&fs_, "/db", FileOptions(), 0);
  ExtentLedger ledger(&fs_, &files, 0);
  const auto hasher = [](const Slice& key) {
    KeyHash hash = KeyHasher(3)(key);
    hash.h1 %= 40;  // several keys for each
    return hash;
  };
  Random rnd(5);
  std::map<std::string, std::string> model;
  OverflowIndexRef index = std::make_shared<const OverflowIndex>();
  for (uint64_t number = 1; number <= 6; ++number) {
    auto file = NewFile(number);
    OverflowRunWriter writer(file.get(), hasher, [number] { return number; });
    OverflowEntryNames replaced;
    std::vector<std::pair<OverflowEntry, std::string>> entries;  // and their values
    for (int i = 0; i < 200; ++i) {
      const std::string key = "key" + std::to_string(rnd.Uniform(150));
      OverflowBatch batch;
      PageRecord old;
      OverflowEntryNames::value_type name;
      ASSERT_EQ(batch.Add(*index, hasher(key)), !index->EntriesOf(hasher(key)).empty());
      batch.Read();
      if (batch.Find(key, hasher(key), &old, &name).ok()) replaced.push_back(name);
      const std::string value(rnd.Uniform(50), static_cast<char>('a' + i % 26));
      OverflowEntry entry;
      entry.removal = rnd.Uniform(3) == 0;
      entry.section = static_cast<uint32_t>(i);
      entry.record.sequence = number * 1000 + i;
      entries.emplace_back(entry, key + (entry.removal ? "" : value));
      entries.back().first.record.user_key = Slice(nullptr, key.size());
      if (entry.removal) {
        model.erase(key);
      } else {
        model[key] = value;
      }
    }
    std::sort(replaced.begin(), replaced.end());
    replaced.erase(std::unique(replaced.begin(), replaced.end()), replaced.end());
    if (number % 2 == 0) writer.Replace(replaced);
    for (auto& [entry, bytes] : entries) {
      const size_t key_size = entry.record.user_key.size();
      entry.record.user_key = Slice(bytes.data(), key_size);
      entry.record.value = Slice(bytes.data() + key_size, bytes.size() - key_size);
      ASSERT_TRUE(writer.Add(entry).ok());
    }
    std::vector<PageRunMeta> metas;
    ASSERT_TRUE(writer.Finish(&metas).ok());
    ASSERT_EQ(metas.size(), 1u);
    ASSERT_TRUE(file->Finish().ok());
    const auto run = std::make_shared<OverflowRun>(&files, &ledger, metas.front());
    OverflowList list;
    Status s = run->List(hasher, &list);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(list.slots.size(), 200u);
    EXPECT_EQ(list.replaced, number % 2 == 0 ? replaced : OverflowEntryNames());
    OverflowIndexBuilder builder(index);
    for (const OverflowSlot& slot : list.slots) ASSERT_TRUE(builder.Apply(run, slot, list.replaced).ok());
    // The list says what a walk over the entries finds; runs of before have none.
    PageRunMeta unlisted = metas.front();
    unlisted.kind = PageRunKind::kOverflow;
    unlisted.extent.length = list.slots.back().place.offset + list.slots.back().place.size;
    OverflowList walked;
    ASSERT_TRUE(OverflowRun(&files, &ledger, unlisted).List(hasher, &walked).ok());
    ASSERT_EQ(walked.slots.size(), list.slots.size());
    for (size_t i = 0; i < list.slots.size(); ++i) {
      const OverflowSlot &a = list.slots[i], &b = walked.slots[i];
      ASSERT_EQ(std::tuple(a.hash, a.place.offset, a.place.size, a.section, a.removal),
                std::tuple(b.hash, b.place.offset, b.place.size, b.section, b.removal)) << i;
      ASSERT_EQ(a.section, i);
    }
    index = builder.Finish();
    ASSERT_EQ(OverflowIndexBuilder(index).Finish(), index);  // nothing to change, nothing copied
    ASSERT_EQ(index->entries().size(), model.size());
    ASSERT_TRUE(std::is_sorted(index->entries().begin(), index->entries().end(),
                               [](const auto& a, const auto& b) { return a.hash < b.hash; }));
    OverflowBatch batch;
    for (int k = 0; k < 150; k += 2) batch.Add(*index, hasher("key" + std::to_string(k)));
    batch.Read();
    for (int k = 0; k < 150; ++k) {
      const std::string key = "key" + std::to_string(k);
      std::string room;
      PageRecord record;
      s = index->Find(key, hasher(key), &room, &record);
      ASSERT_EQ(s.ok(), model.count(key) != 0) << s.ToString();
      if (s.ok()) {
        ASSERT_EQ(record.value.ToString(), model[key]);
      }
      if (k % 2 != 0) continue;
      s = batch.Find(key, hasher(key), &record);
      ASSERT_EQ(s.ok(), model.count(key) != 0) << s.ToString();
      if (s.ok()) {
        ASSERT_EQ(record.value.ToString(), model[key]);
      }
    }
  }
}

// A record of any size has a run, and what is cut is found again.
TEST_F(PageRunsTest, LongOverflowRunsAreCut) {
  TEST_SetMaxOverflowRunBytes(1000);
  auto file = NewFile(1);
  uint64_t next = 10;
  OverflowRunWriter writer(file.get(), KeyHasher(3), [&next] { return next++; });
  for (int i = 0; i < 20; ++i) {
    OverflowEntry entry;
    const std::string key = "key" + std::to_string(i);
    const std::string value(i == 7 ? 5000 : 300, static_cast<char>('a' + i));
    entry.record = {key, value, 7, false};
    ASSERT_TRUE(writer.Add(entry).ok());
  }
  std::vector<PageRunMeta> metas;
  ASSERT_TRUE(writer.Finish(&metas).ok());
  TEST_SetMaxOverflowRunBytes(0);
  ASSERT_TRUE(file->Finish().ok());
  ASSERT_EQ(metas.size(), 8u);
  FileCache files(&fs_, "/db", FileOptions(), 0);
  ExtentLedger ledger(&fs_, &files, 0);
  int found = 0;
  for (size_t i = 0; i < metas.size(); ++i) {
    EXPECT_EQ(metas[i].run_id, 10 + i);
    const auto run = std::make_shared<OverflowRun>(&files, &ledger, metas[i]);
    const Status s = run->Scan([&](const OverflowPlace&, const OverflowEntry& entry) {
      EXPECT_EQ(entry.record.user_key, "key" + std::to_string(found));
      EXPECT_EQ(entry.record.value, std::string(found == 7 ? 5000 : 300, static_cast<char>('a' + found)));
      ++found;
      return Status::OK();
    });
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  EXPECT_EQ(found, 20);
}

TEST_F(PageRunsTest, DamagedOverflowRunsAreNoticed) {
  auto file = NewFile(1);
  OverflowRunWriter writer(file.get(), KeyHasher(3), [] { return 1; });
  writer.Replace({{0, 17}, {0, 40}});
  for (int i = 0; i < 5; ++i) {
    OverflowEntry entry;
    const std::string key = "key" + std::to_string(i);
    const std::string value(20, 'v');
    entry.record = {key, value, 7, i == 2};
    entry.removal = i == 3;
    ASSERT_TRUE(writer.Add(entry).ok());
  }
  std::vector<PageRunMeta> metas;
  ASSERT_TRUE(writer.Finish(&metas).ok());
  const PageRunMeta meta = metas.front();
  ASSERT_TRUE(file->Finish().ok());
  const std::string bytes = Bytes(1);
  const auto survives = [&] {
    FileCache files(&fs_, "/db", FileOptions(), 0);
    ExtentLedger ledger(&fs_, &files, 0);
    const auto run = std::make_shared<OverflowRun>(&files, &ledger, meta);
    OverflowIndex::Entry first;
    first.run_id = meta.run_id;
    first.place = {0, static_cast<uint32_t>(meta.extent.length)};  // more than the first entry
    OverflowBatch batch;
    batch.Add(OverflowIndex({first}, {run}), KeyHash());
    batch.Read();
    PageRecord record;
    EXPECT_FALSE(batch.Find("key0", KeyHash(), &record).ok());
    return run->Scan([](const OverflowPlace&, const OverflowEntry&) { return Status::OK(); }).ok();
  };
  ASSERT_TRUE(survives());
  for (size_t i = meta.extent.offset; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    Replace(1, damaged);
    EXPECT_FALSE(survives()) << i;
    Replace(1, bytes.substr(0, i));
    EXPECT_FALSE(survives()) << "cut at " << i;
  }
}

}  // namespace
}  // namespace compassdb
