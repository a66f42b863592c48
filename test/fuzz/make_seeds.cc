// SPDX-License-Identifier: Apache-2.0
//
// Writes the seeds of the corpus: what the engine itself makes, small. To be run again when a format
// changes (the inputs that found bugs, whose names begin with "found-", stay).
//
//   fuzz_seeds --corpus=test/fuzz/corpus

#include <filesystem>
#include <fstream>

#include "api/wide_column_codec.h"
#include "compassdb/preset.h"
#include "compassdb/table.h"
#include "copies/backup_meta.h"
#include "env/rocksdb/env_adapter.h"
#include "format/file_names.h"
#include "fuzz/archive.h"
#include "fuzz/fuzz_target.h"
#include "log/log_writer.h"
#include "manifest/manifest.h"
#include "manifest/table_file.h"
#include "options/options_file.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "support/flags.h"
#include "support/sealed_env.h"
#include "table/block/block_io.h"
#include "table/directory/directory.h"
#include "table/directory/separator_index.h"
#include "table/piece/order_page.h"
#include "table/piece/piece_format.h"
#include "tableless/overflow/overflow_run.h"
#include "tableless/page/page_format.h"
#include "tableless/page/page_journal.h"
#include "trace/trace_format.h"
#include "util/coding.h"
#include "util/compression.h"
#include "util/elias_fano.h"
#include "util/random.h"
#include "wal/wal_writer.h"

namespace compassdb_test {
namespace {

using namespace compassdb;

void Must(const Status& s) {
  if (s.ok()) return;
  fprintf(stderr, "%s\n", s.ToString().c_str());
  exit(1);
}

std::string Number(uint64_t v, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(v >> (8 * i)));
  return out;
}

class Seeds {
 public:
  explicit Seeds(std::string corpus) : corpus_(std::move(corpus)) {
    for (const FuzzTarget& target : FuzzTargets()) {
      const std::filesystem::path dir = std::filesystem::path(corpus_) / target.name;
      std::filesystem::create_directories(dir);
      for (const auto& entry : std::filesystem::directory_iterator(dir)) {
        if (entry.path().filename().string().rfind("seed-", 0) == 0) std::filesystem::remove(entry.path());
      }
    }
  }
  void Write(const std::string& target, const std::string& name, const Slice& bytes) const {
    FUZZ_CHECK(FindFuzzTarget(target) != nullptr);
    std::ofstream out(std::filesystem::path(corpus_) / target / ("seed-" + name), std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    FUZZ_CHECK(out.good());
  }

 private:
  const std::string corpus_;
};

std::string Key(int i) {
  char key[16];
  snprintf(key, sizeof(key), "key%06d", i);
  return key;
}

rocksdb::WriteBatch SomeBatch() {
  rocksdb::WriteBatch batch;
  Must(batch.Put("key000001", "value"));
  Must(batch.Delete("key000002"));
  Must(batch.SingleDelete("key000003"));
  Must(batch.Merge("key000004", "operand"));
  Must(batch.DeleteRange("key000005", "key000009"));
  Must(batch.PutLogData("blob"));
  return batch;
}

// One log over another, and one that was to be, but has no header yet.
void RecycledLogSeed(const Seeds& seeds, const std::string& batch) {
  MemoryFileSystem fs;
  Must(fs.CreateDir("/db"));
  std::vector<FileContents> logs;
  std::string bytes;
  WalHeader header;
  std::unique_ptr<WalWriter> writer;
  for (header.number = 3; header.number < 5; ++header.number) {
    Must(WalWriter::Create(&fs, "/db", FileOptions(), header, &writer));
    for (int i = 0; i < 4; ++i) Must(writer->AddBatch(batch));
    Must(writer->Close());
  }
  header.number = 7;
  Must(WalWriter::CreateOver(&fs, "/db", 3, FileOptions(), header, &writer));
  for (int i = 0; i < 2; ++i) Must(writer->AddBatch(batch));
  Must(writer->Close());
  for (uint64_t number : {7, 4}) {
    Must(ReadFileToString(&fs, WalFileName("/db", number), &bytes));
    logs.emplace_back("", bytes);
  }
  seeds.Write("wal", "recycled", PackFiles(logs));
}

// What RocksDB wrote (test/rocksdb_files/make_testdata.py).
void RocksDbSeeds(const Seeds& seeds) {
  const auto tables = std::filesystem::path(__FILE__).parent_path() / "../../src/rocksdb_files/testdata";
  for (const auto& dir : {tables, tables / "external"}) {
    for (const auto& entry : std::filesystem::directory_iterator(dir)) {
      const std::string name = entry.path().stem();
      // The target's order is the other one.
      if (entry.path().extension() != ".sst" || name.find("reverse") != name.npos) continue;
      std::string bytes;
      Must(ReadFileToString(PosixFileSystem(), entry.path(), &bytes));
      seeds.Write("rocksdb_table", (dir == tables ? "" : "external_") + name, bytes);
    }
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tables / "databases")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".log") && !name.starts_with("MANIFEST")) continue;
    std::string bytes;
    Must(ReadFileToString(PosixFileSystem(), entry.path(), &bytes));
    seeds.Write("rocksdb_log", entry.path().parent_path().filename().string() + "_" + name, bytes);
  }
}

void LogSeeds(const Seeds& seeds) {
  const std::string batch = SomeBatch().Data();
  seeds.Write("write_batch", "all-kinds", batch);
  MemoryFileSystem fs;
  Must(fs.CreateDir("/db"));
  std::string bytes;
  {
    std::unique_ptr<WritableFile> file;
    Must(fs.NewWritableFile("/log", FileOptions(), &file));
    LogWriter writer(std::move(file), "/log", 7);
    for (const size_t n : {3, 40000, 0, 100}) Must(writer.AddRecord(std::string(n, 'r')));
    Must(writer.Close());
    Must(ReadFileToString(&fs, "/log", &bytes));
    seeds.Write("record_log", "fragments", bytes);
    seeds.Write("record_log", "one", Slice(bytes.data(), 14));
  }
  for (const auto compression : {rocksdb::kNoCompression, rocksdb::kZSTD}) {
    WalHeader header;
    header.number = 7;
    header.compression = compression;
    std::vector<FileContents> logs;
    std::unique_ptr<WalWriter> writer;
    for (uint64_t number = 7; number < 9; ++number) {
      Must(WalWriter::Create(&fs, "/db", FileOptions(), header, &writer));
      for (int i = 0; i < 3; ++i) Must(writer->AddBatch(batch));
      Must(writer->Close());
      header = writer->SuccessorHeader(number + 1);
      Must(ReadFileToString(&fs, WalFileName("/db", number), &bytes));
      logs.emplace_back("", bytes);
    }
    seeds.Write("wal", compression == rocksdb::kNoCompression ? "plain" : "compressed", PackFiles(logs));
  }
  RecycledLogSeed(seeds, batch);
}

void SealedSeeds(const Seeds& seeds) {
  const auto fs = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<rocksdb::Env> base = NewEnvForFileSystem(fs), env = SealedEnvOver(base.get());
  std::unique_ptr<rocksdb::WritableFile> file;
  Must(env->NewWritableFile("/file", &file, rocksdb::EnvOptions()));
  for (const size_t n : {1, 100, 4096, 5000, 3}) {
    Must(file->Append(std::string(n, 's')));
    Must(file->Flush());
  }
  Must(file->Close());
  std::string bytes;
  Must(ReadFileToString(fs.get(), "/file", &bytes));
  seeds.Write("sealed_file", "segments", bytes);
  seeds.Write("sealed_file", "one", Slice(bytes.data(), kSealedHeader + 20 + 1 + 16));
}

void TraceSeed(const Seeds& seeds) {
  std::string trace, payload;
  const auto add = [&](rocksdb::TraceType type) {
    EncodeTraceRecord(1000 + trace.size(), type, payload, &trace);
    payload.clear();
  };
  payload = TraceHeader();
  add(rocksdb::kTraceBegin);
  EncodeTracedWrite(SomeBatch().Data(), &payload);
  add(rocksdb::kTraceWrite);
  EncodeTracedGet(1, "key", &payload);
  add(rocksdb::kTraceGet);
  EncodeTracedSeek(0, "key", "a", "z", &payload);
  add(rocksdb::kTraceIteratorSeek);
  EncodeTracedSeek(0, "key", "", "z", &payload);
  add(rocksdb::kTraceIteratorSeekForPrev);
  const Slice keys[] = {"one", "two", ""};
  EncodeTracedMultiGet({0, 1, 0}, 3, keys, &payload);
  add(rocksdb::kTraceMultiGet);
  add(rocksdb::kTraceEnd);
  seeds.Write("trace", "all-kinds", trace);
}

void SmallSeeds(const Seeds& seeds) {
  BackupMeta meta;
  meta.timestamp = 1700000000;
  meta.app_metadata = "app";
  meta.files.push_back({"000007.ph", "shared/7", 99999, 123, {{4096, 16384}}});
  seeds.Write("backup_meta", "one-file", EncodeBackupMeta(meta));
  std::string bytes;
  Must(EncodeWideColumns({{"", "default"}, {"a", "1"}, {"b", std::string(200, 'b')}}, &bytes));
  seeds.Write("wide_columns", "three", bytes);
  for (int type = 0; type < 8; ++type) {
    const auto compression = static_cast<rocksdb::CompressionType>(type);
    if (!CompressionTypeSupported(compression) || !Compress(compression, 1, std::string(3000, 'c') + "tail", &bytes)) continue;
    seeds.Write("decompress", std::to_string(type), Number(static_cast<uint64_t>(type), 1) + bytes);
  }
  rocksdb::DBOptions db;
  rocksdb::ColumnFamilyOptions family;
  std::string text;
  Must(rocksdb::GetStringFromDBOptions(&text, db));
  seeds.Write("option_string", "db", text);
  Must(rocksdb::GetStringFromColumnFamilyOptions(&text, family));
  seeds.Write("option_string", "family", text);
  seeds.Write("option_string", "table",
              "block_size=4096;filter_policy=ribbonfilter:10;block_cache={capacity=1M;num_shard_bits=2};table_factory={id=CompassTable;max_pieces=8}");
  for (const auto kind : {perfect_hash::Kind::kPilot, perfect_hash::Kind::kCpHash}) {
    for (const size_t n : {0, 3, 300, 5000}) {
      compassdb::Random random(n);
      std::vector<uint64_t> hashes(n);
      for (uint64_t& hash : hashes) hash = random.Next();
      const std::string name = (kind == perfect_hash::Kind::kPilot ? "pilot-" : "cp-") + std::to_string(n);
      FUZZ_CHECK(perfect_hash::Build(hashes, {.kind = kind}, &bytes).ok);
      seeds.Write("perfect_hash", name, bytes);
      std::vector<DirectoryEntry> entries;
      for (size_t i = 0; i < n; ++i) entries.push_back({hashes[i], random.Next(), static_cast<uint32_t>(i % 3)});
      std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.h1 < b.h1; });
      if (n > 10) entries[5].h1 = entries[6].h1;
      FUZZ_CHECK(BuildDirectory(entries, 3, kBottomFingerprints, {.kind = kind, .seed = 3}, &bytes));
      seeds.Write("directory", name, bytes);
    }
  }
  for (const bool ribbon : {false, true}) {
    FilterOptions options;
    options.new_bits = [&](const FilterPlace&) { return ribbon ? NewRibbonBuilder(10000) : NewBloomBuilder(10000); };
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(5));
    auto builder = TableFilterBuilder::New(options, {});
    for (int i = 0; i < 900; ++i) builder->Add(Key(i));
    seeds.Write("filter", ribbon ? "ribbon" : "bloom", builder->Finish());
  }
  bytes.clear();
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 700; ++i) numbers.push_back(i * i);
  EncodeEliasFano(numbers, &bytes);
  seeds.Write("elias_fano", "squares", Number(1000, 3) + bytes);
}

// Of pages that are in no database.
void PageSeeds(const Seeds& seeds) {
  MemoryFileSystem fs;
  Must(fs.CreateDir("/db"));
  std::unique_ptr<CompactionFileWriter> file;
  Must(CompactionFileWriter::Create(&fs, PieceFileName("/db", 7), 7, 77, FileOptions(), &file));
  std::string image;
  PageBuilder builder(&image);
  builder.Add({"key", "value", 5, false});
  builder.Add({"other", std::string(300, 'o'), 6, true});
  builder.Finish(11, 3, 5);
  seeds.Write("page", "two-records", image);
  std::string padded = image;
  padded.resize(4096);
  seeds.Write("page", "padded", padded);
  VersionEdit edit;
  PageJournalWriter journal(file.get(), {11, 12});
  Must(journal.Append(0, {{3, 0, static_cast<uint32_t>(image.size())}}, image));
  Must(journal.Finish(20, &edit.added_page_runs.emplace_back()));
  OverflowRunWriter overflow(file.get(), KeyHasher(7), [] { return 21; });
  overflow.Replace({{19, 40}});
  for (const bool removal : {false, true, false}) {
    OverflowEntry entry;
    entry.section = 1;
    entry.record = {"key", removal ? "" : "overflowing", 9, false};
    entry.removal = removal;
    Must(overflow.Add(entry));
  }
  Must(overflow.Finish(&edit.added_page_runs));
  Must(file->Finish());
  std::string encoded, bytes;
  edit.EncodeTo(&encoded);
  Must(ReadFileToString(&fs, PieceFileName("/db", 7), &bytes));
  seeds.Write("page_runs", "journal-and-overflow", PackFiles({{"edit", encoded}, {"000007.ph", bytes}}));
}

// A database of each preset, and what is in its files.
class Layout {
 public:
  Layout(const Seeds& seeds, std::string name) : seeds_(seeds), name_(std::move(name)) {}

  void Run(const Preset* preset, rocksdb::CompressionType compression, bool reverse) {
    Make(preset, compression, reverse);
    std::vector<std::string> children;
    Must(fs_->GetChildren("/db", &children));
    std::vector<FileContents> all, tables;
    for (const std::string& child : children) {
      std::string bytes;
      uint64_t number = 0;
      FileType type;
      if (!ParseFileName(child, &number, &type) || type == FileType::kInfoLog || type == FileType::kLock) continue;
      Must(ReadFileToString(fs_.get(), "/db/" + child, &bytes));
      if (bytes.empty()) continue;
      if (type == FileType::kOptions) {
        seeds_.Write("options_file", name_, bytes);
        continue;
      }
      all.emplace_back(child, bytes);
      if (type == FileType::kPieceFile) tables.emplace_back(child, bytes);
      if (type == FileType::kCurrent) seeds_.Write("current", "current", bytes);
    }
    // Opened, for reading only, and repaired.
    constexpr uint64_t kModes[] = {2, 1 + 16, 2 + 4 + 32};
    const bool tableless = preset != nullptr && *preset == Preset::kTableless;
    const uint64_t mode = kModes[name_.size() % 3] | (reverse ? 64 : 0) | (tableless ? 128 : 0);
    seeds_.Write("database", name_ + "-" + std::to_string(mode), Number(mode, 1) + PackFiles(all));
    uint64_t manifest = 0;
    Must(Manifest::ReadCurrent(fs_.get(), "/db", &manifest));
    VersionEdit state;
    std::vector<VersionEdit> first;
    Must(Manifest::Replay(fs_.get(), "/db", manifest, [&](const EditRecord& edits) {
      const bool is_first = first.empty();
      for (const VersionEdit& edit : edits) {
        if (is_first) first.push_back(edit);
        if (edit.hash_seed) state.hash_seed = edit.hash_seed;
        for (const VersionEdit::Deleted& gone : edit.deleted) {
          std::erase_if(state.added, [&](const auto& added) { return added.tph.tph_id == gone.tph_id; });
        }
        for (const uint64_t gone : edit.deleted_values) {
          std::erase_if(state.added_values, [&](const auto& run) { return run.run_id == gone; });
        }
        state.added.insert(state.added.end(), edit.added.begin(), edit.added.end());
        state.added_values.insert(state.added_values.end(), edit.added_values.begin(), edit.added_values.end());
      }
      return Status::OK();
    }));
    std::string bytes;
    EncodeEdits(first, &bytes);
    seeds_.Write("version_edit", name_, bytes);
    bytes.clear();
    state.comparator = (reverse ? rocksdb::ReverseBytewiseComparator() : rocksdb::BytewiseComparator())->Name();
    state.EncodeTo(&bytes);
    tables.insert(tables.begin(), {"edit", bytes});
    seeds_.Write("tables", name_, PackFiles(tables));
    std::unique_ptr<Manifest> written;
    Must(Manifest::Create(fs_.get(), "/db", 5, first, &written));
    Must(written->Append(first));
    Must(written->Close());
    Must(ReadFileToString(fs_.get(), ManifestFileName("/db", 5), &bytes));
    seeds_.Write("manifest", name_, bytes);
    for (const VersionEdit::Added& added : state.added) {
      for (const TphPiece& piece : added.tph.pieces) Sections(*piece.meta);
    }
  }

 private:
  void Make(const Preset* preset, rocksdb::CompressionType compression, bool reverse) {
    rocksdb::Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.compression = compression;
    options.info_log_level = rocksdb::FATAL_LEVEL;
    if (reverse) options.comparator = rocksdb::ReverseBytewiseComparator();
    rocksdb::BlockBasedTableOptions table;
    table.block_size = 300;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (preset != nullptr) Must(ApplyPreset(*preset, &options));
    options.min_write_buffer_number_to_merge = 1;
    if (auto* pieces = options.table_factory->GetOptions<PieceTableOptions>(); pieces != nullptr) {
      pieces->tableless_sections = 2;
    }
    rocksdb::DB* raw = nullptr;
    Must(rocksdb::DB::Open(options, "/db", &raw));
    const std::unique_ptr<rocksdb::DB> db(raw);
    compassdb::Random random(5);
    const auto put = [&](int i, size_t size) { Must(db->Put({}, Key(i), random.Text(size))); };
    for (int i = 0; i < 60; ++i) put(i, i % 7 == 0 ? 250 : 20);
    Must(db->Flush({}));
    Must(db->CompactRange({}, nullptr, nullptr));
    for (int i = 0; i < 60; i += 9) put(i, 30);
    Must(db->Delete({}, Key(17)));
    Must(db->DeleteRange({}, db->DefaultColumnFamily(), reverse ? Key(38) : Key(30), reverse ? Key(30) : Key(38)));
    Must(db->Flush({}));
    for (int i = 0; i < 60; i += 11) put(i, 30);
  }

  void Sections(const PieceMeta& meta) {
    std::string file;
    Must(ReadFileToString(fs_.get(), PieceFileName("/db", meta.extent.file_number), &file));
    const Slice extent(file.data() + meta.extent.offset, meta.extent.length);
    PieceFooter footer;
    const size_t tail = std::min<size_t>(extent.size(), PieceFooter::kMostBytes);
    Must(DecodeFooter(Slice(extent.data() + extent.size() - tail, tail), meta.file_id, meta.extent.offset + meta.extent.length,
                      extent.size(), "piece", &footer));
    const auto section = [&](PieceSection s) {
      const uint64_t n = footer.SectionLength(s);
      return std::string(extent.data() + footer.SectionOffset(s), n < 4 ? 0 : n - 4);
    };
    const std::string name = name_ + "-" + std::to_string(meta.piece_id);
    if (!footer.without_hashes()) seeds_.Write("piece_sections", name + "-hashes", Number(0, 1) + Number(footer.num_keys, 8) + section(PieceSection::kHashes));
    seeds_.Write("piece_sections", name + "-tombstones", Number(1, 1) + Number(footer.num_range_tombstones, 8) + section(PieceSection::kTombstones));
    seeds_.Write("piece_sections", name + "-properties", Number(2, 1) + Number(0, 8) + section(PieceSection::kProperties));
    seeds_.Write("piece_sections", name + "-footer",
                 Number(3, 1) + Number(0, 8) + Number(extent.size(), 6) + std::string(extent.data() + extent.size() - tail, tail));
    if (footer.data_order != 0) {
      seeds_.Write("hashed_index", name,
                   Number(footer.data_order - 1, 1) + Number(footer.num_blocks, 3) + Number(footer.num_keys, 4) +
                       Number(footer.data_bytes, 6) + Number(footer.order_bytes, 5) + section(PieceSection::kHashedIndex));
    } else {
      const std::string separators = section(PieceSection::kSeparators);
      const bool reverse = name_ == "reverse";
      seeds_.Write("separators", name, Number(footer.num_blocks, 3) + Number(footer.data_bytes, 6) + Number(reverse ? 1 : 0, 1) + separators);
      const KeyOrder order(reverse ? rocksdb::ReverseBytewiseComparator() : rocksdb::BytewiseComparator());
      SeparatorIndex index;
      Must(SeparatorIndex::Parse(separators, order, footer.num_blocks, footer.data_bytes, "piece", &index));
      if (footer.num_blocks > 0 && name_ != "compressed") seeds_.Write("block", name, Slice(extent.data(), index.BlockLength(0) - kBlockTrailerBytes));
    }
  }

  const Seeds& seeds_;
  const std::string name_;
  std::shared_ptr<MemoryFileSystem> fs_ = std::make_shared<MemoryFileSystem>();
  std::unique_ptr<rocksdb::Env> env_ = NewEnvForFileSystem(fs_);
};

void TableFileSeed(const Seeds& seeds) {
  const auto fs = std::make_shared<MemoryFileSystem>();
  const auto env = NewEnvForFileSystem(fs);
  rocksdb::Options options;
  options.env = env.get();
  options.compression = rocksdb::kNoCompression;
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Must(writer.Open("/table.sst"));
  for (int i = 0; i < 50; ++i) Must(writer.Put(Key(i), std::string(20, 'v')));
  Must(writer.DeleteRange(Key(60), Key(70)));
  Must(writer.Finish());
  std::string bytes;
  Must(ReadFileToString(fs.get(), "/table.sst", &bytes));
  seeds.Write("table_file", "small", bytes);
}

// Pages of the reverse index, which are blocks of one or two records.
void OrderPageSeed(const Seeds& seeds) {
  const OrderWidths widths = {.block = 4, .index = 3, .difference = 7};
  std::vector<RecordPlace> places;
  std::vector<uint32_t> differences;
  for (uint32_t i = 0; i < 100; ++i) {
    places.push_back({i % 16, i % 8});
    differences.push_back(i == 0 ? 0 : 50 + i % 30);
  }
  std::string payload;
  OrderPage::Encode(places, differences, widths, &payload);
  seeds.Write("order_page", "hundred", Number(4, 1) + Number(3, 1) + Number(7, 1) + Number(100, 2) + payload);
}

}  // namespace

int Main(int argc, char** argv) {
  Flags flags(argc, argv);
  const std::string corpus = flags.String("corpus", "");
  flags.RejectUnknown();
  if (corpus.empty()) {
    fprintf(stderr, "fuzz_seeds --corpus=DIR\n");
    return 2;
  }
  const Seeds seeds(corpus);
  LogSeeds(seeds);
  RocksDbSeeds(seeds);
  SealedSeeds(seeds);
  TraceSeed(seeds);
  SmallSeeds(seeds);
  PageSeeds(seeds);
  TableFileSeed(seeds);
  OrderPageSeed(seeds);
  for (const Preset preset : AllPresets()) {
    Layout(seeds, PresetName(preset)).Run(&preset, rocksdb::kNoCompression, false);
  }
  Layout(seeds, "compressed").Run(nullptr, rocksdb::kLZ4Compression, false);
  Layout(seeds, "reverse").Run(nullptr, rocksdb::kNoCompression, true);
  return 0;
}

}  // namespace compassdb_test

int main(int argc, char** argv) { return compassdb_test::Main(argc, argv); }
