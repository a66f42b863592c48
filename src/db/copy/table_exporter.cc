// SPDX-License-Identifier: Apache-2.0
#include "db/copy/table_exporter.h"

#include "api/wide_column_codec.h"
#include "db/families/column_family_handle.h"
#include "iter/merging_iterator.h"
#include "manifest/table_file.h"

namespace compassdb {
namespace {

// The records of a family that is changed in place, for an export. Its pages have only the current version of a key,
// and a version in the key store may be in the page already. Forward only; one consistent state.
class ShownIterator final : public InternalIterator {
 public:
  ShownIterator(Reader* reader, ColumnFamilyHandle* family, SequenceNumber sequence) : sequence_(sequence) {
    ReadOptions options;
    options.total_order_seek = true;
    options.fill_cache = false;
    iter_.reset(reader->NewIterator(options, family));
  }
  bool Valid() const override { return iter_->Valid() && status_.ok(); }
  void SeekToFirst() override { iter_->SeekToFirst(), Update(); }
  void SeekToLast() override { Refuse(); }
  void Seek(const Slice&) override { Refuse(); }
  void SeekForPrev(const Slice&) override { Refuse(); }
  void Next() override { iter_->Next(), Update(); }
  void Prev() override { Refuse(); }
  Slice key() const override { return key_; }
  Slice value() const override { return value_; }
  Status status() const override { return status_.ok() ? iter_->status() : status_; }

 private:
  void Refuse() { status_ = Status::NotSupported("an export only goes forward"); }
  void Update() {
    if (!Valid()) return;
    const rocksdb::WideColumns& columns = iter_->columns();
    const bool plain = columns.size() == 1 && columns.front().name() == rocksdb::kDefaultWideColumnName;
    key_.clear();
    AppendInternalKey(&key_, iter_->key(), sequence_, plain ? kTypeValue : kTypeWideColumnEntity);
    value_.clear();
    if (plain) {
      value_.assign(iter_->value().data(), iter_->value().size());
    } else {
      status_ = EncodeWideColumns(columns, &value_);
    }
  }
  const SequenceNumber sequence_;
  std::unique_ptr<rocksdb::Iterator> iter_;
  std::string key_, value_;
  Status status_;
};

// Describes the finished file at `path`.
void DescribeExport(const std::string& path, const TableFileWriter& writer, const TphMeta& table,
                    rocksdb::LiveFileMetaData* metadata) {
  const size_t slash = path.rfind('/');
  metadata->name = path.substr(slash);
  metadata->relative_filename = path.substr(slash + 1);
  metadata->db_path = metadata->directory = path.substr(0, slash);
  metadata->size = writer.Bytes();
  const rocksdb::FileChecksumGenerator* const sum = writer.checksum();
  metadata->file_checksum = sum == nullptr ? rocksdb::kUnknownFileChecksum : sum->GetChecksum();
  metadata->file_checksum_func_name =
      sum == nullptr ? rocksdb::kUnknownFileChecksumFuncName : sum->Name();
  metadata->smallestkey = table.smallest;
  metadata->largestkey = table.largest;
  metadata->smallest_seqno = table.smallest_seq;
  metadata->largest_seqno = table.largest_seq;
  metadata->num_entries = table.NumRecords();
}

// Adds tombstones up to sequence `last`.
void AddRangeTombstones(const RangeTombstoneSet& tombstones, SequenceNumber last, TableFileWriter* writer) {
  for (const auto& list : tombstones.lists()) {
    for (const RangeTombstoneList::Fragment& f : list->fragments()) {
      for (size_t i = 0; i < f.sequences.size(); ++i) {
        if (f.sequences[i] > last) continue;
        RangeTombstone t{f.start, f.end, f.sequences[i]};
        if (!f.timestamps.empty()) t.timestamp = f.timestamps[i];
        writer->AddRangeTombstone(t);
      }
    }
  }
}

BlockReadOptions ExportRead() {
  BlockReadOptions read;
  read.fill_cache = false;
  read.whole_piece = true;
  return read;
}

}  // namespace

struct TableExporter::Source {
  std::shared_ptr<ColumnFamily> family;
  std::shared_ptr<const StoreView> view;
  std::vector<std::shared_ptr<MemTable>> memtables;  // only of a reader, which cannot flush
  InternalIteratorPtr records;
  std::unique_ptr<RangeTombstoneSet> tombstones;
  SequenceNumber last = kMaxSequenceNumber;  // newer records are left out
};

Status TableExporter::Export(ColumnFamilyHandle* handle, const std::string& path,
                             rocksdb::LiveFileMetaData* metadata, bool* written) {
  Source source;
  if (Status s = Open(handle, &source); !s.ok()) return s;
  *written = source.records->Valid() || !source.tombstones->empty();
  if (!*written) return Status::OK();
  Status s = Write(source, path, metadata);
  *written = s.ok();
  return s;
}

Status TableExporter::Open(ColumnFamilyHandle* handle, Source* source) const {
  source->family = SharedFamilyOf(handle);
  const ColumnFamily& family = *source->family;
  {
    ReadStatePin state(source->family->read_state());
    source->view = source->family->read_state()->ViewOf(*state);
    if (read_only_) {
      source->memtables = state->immutables;
      source->memtables.push_back(state->mem);
    }
  }
  const SequenceNumber shown = last_sequence_.load(std::memory_order_acquire);
  if (read_only_) source->last = shown;  // a secondary may have read more
  source->tombstones = std::make_unique<RangeTombstoneSet>(family.user_comparator());
  if (family.store()->options().pages.enabled) {
    source->records = std::make_unique<ShownIterator>(&reader_, handle, shown);
  } else {
    std::vector<InternalIteratorPtr> children;
    for (const auto& mem : source->memtables) {
      children.push_back(mem->NewIterator());
      if (mem->num_range_deletes() > 0) source->tombstones->Add(mem->RangeTombstones());
    }
    if (Status s = source->view->AddIterators(ExportRead(), &children, source->tombstones.get()); !s.ok()) return s;
    source->records = NewMergingIterator(family.comparator(), std::move(children));
  }
  source->records->SeekToFirst();
  return source->records->status();
}

Status TableExporter::Write(const Source& source, const std::string& path,
                            rocksdb::LiveFileMetaData* metadata) const {
  const ColumnFamily& family = *source.family;
  PieceBuildOptions build;
  build.comparator = family.user_comparator();
  build.block_size = family.store()->options().block_size;
  build.compression = rocksdb::kLZ4Compression;
  std::unique_ptr<TableFileWriter> writer;
  std::unique_ptr<rocksdb::FileChecksumGenerator> checksum;
  if (const auto& factory = config_.options.file_checksum_gen_factory; factory != nullptr) {
    checksum = factory->CreateFileChecksumGenerator({path, ""});
  }
  Status s = TableFileWriter::Create(config_.fs, path, build, &writer, std::move(checksum));
  // References have no meaning outside of this database: their values are exported.
  const std::unique_ptr<ValueResolver> values = source.view->NewValueResolver(ExportRead());
  std::string key;
  InternalIterator* const records = source.records.get();
  for (; s.ok() && records->Valid(); records->Next()) {
    if (ExtractSequence(records->key()) > source.last) continue;
    if (ExtractType(records->key()) != kTypeBlobIndex) {
      s = writer->Add(records->key(), records->value());
      continue;
    }
    const Slice user_key = ExtractUserKey(records->key());
    rocksdb::PinnableSlice value;
    s = values == nullptr ? Status::NotFound() : values->Resolve(user_key, records->value(), &value);
    if (s.IsNotFound()) {  // collected: no reader sees this record
      s = Status::OK();
      continue;
    }
    if (!s.ok()) break;
    key.clear();
    AppendInternalKey(&key, user_key, ExtractSequence(records->key()), kTypeValue);
    s = writer->Add(key, value);
  }
  if (s.ok()) s = records->status();
  if (!s.ok()) return s;
  AddRangeTombstones(*source.tombstones, source.last, writer.get());
  TableFileInfo info;
  info.comparator = family.user_comparator()->Name();
  s = writer->Finish(config_.clock->NowMicros() / 1000000, &info);
  if (!s.ok()) return s;
  DescribeExport(path, *writer, info.table, metadata);
  metadata->column_family_name = family.name();
  metadata->level = family.store()->options().num_levels - 1;
  return s;
}

}  // namespace compassdb
