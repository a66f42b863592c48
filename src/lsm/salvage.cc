// SPDX-License-Identifier: Apache-2.0
// LsmStore::Salvage: every table and every run of values is read. Damaged tables are rewritten
// (table_salvage.h). If anything is lost, so are tables that name missing values: dead records may become visible.
#include <algorithm>

#include "lsm/lsm_store_impl.h"
#include "lsm/table_salvage.h"
#include "lsm/version/value_references.h"
#include "table/piece/piece_salvage.h"
#include "value_store/value_gc.h"
#include "value_store/value_ref.h"

namespace compassdb {

class LsmStore::Salvager {
 public:
  Salvager(LsmStore* store, const VersionEdit& recovered, SalvageReport* report)
      : store_(store), recovered_(recovered), report_(report) {}

  Status Run(VersionEdit* edit, bool* changed) {
    Status s = CheckTables();
    const bool records_lost = lost_;
    if (s.ok()) s = CheckValues();
    if (s.ok() && records_lost) s = FindSupersededValues();
    if (!s.ok()) return s;
    if (good_->expected() && !lost_) s = CheckReferences();
    const bool resolve = lost_ && (good_->expected() || !recovered_.added_values.empty());
    if (s.ok() && resolve) s = FindTablesWithLostValues();
    if (s.ok()) s = Rewrite(resolve, edit);
    *changed = !edit->deleted.empty() || !edit->deleted_values.empty();
    return s;
  }

 private:
  void Log(const std::string& line) const {
    if (store_->context_->log_info) {
      store_->context_->log_info("repair: of [" + store_->options_.column_family_name + "] " + line);
    }
  }

  // Reads all of it; *why is the damage.
  Status CheckTable(const VersionEdit::Added& added, TableRef* table, Status* why) {
    OpenPieces pieces;
    *why = store_->OpenTable(added.tph, added.level, &pieces, table);
    if (why->ok()) *why = (*table)->tph().Load();
    if (why->ok()) *why = (*table)->tph().Verify();
    bool newer = false;
    for (const TphPiece& piece : added.tph.pieces) {
      if (!why->IsNotSupported() || newer) break;
      const Status s = IsOfNewerVersion(*store_->table_context_, *piece.meta, &newer);
      if (!s.ok() && !IsDamage(s)) newer = true;  // it is not known
    }
    return why->ok() || IsDamage(*why) || (why->IsNotSupported() && !newer) ? Status::OK() : *why;
  }

  Status CheckTables() {
    for (const VersionEdit::Added& added : recovered_.added) {
      Found found{&added, nullptr, false};
      Status why;
      if (Status s = CheckTable(added, &found.table, &why); !s.ok()) return s;
      if (!why.ok()) {
        Log("table " + std::to_string(added.tph.tph_id) + " on level " + std::to_string(added.level) +
            " is damaged: " + why.ToString());
        found.damaged = lost_ = true;
        found.table = nullptr;
      }
      tables_.push_back(std::move(found));
    }
    return Status::OK();
  }

  Status CheckValues() {
    std::vector<ValueRunRef> good;
    for (ValueRunRef& run : store_->values_.Prepare(recovered_)) {
      const Status why = run->Verify();
      if (why.ok()) {
        good.push_back(std::move(run));
        continue;
      }
      if (!IsDamage(why)) return why;
      Log("the values of run " + std::to_string(run->meta().run_id) + " are damaged: " + why.ToString());
      lost_ = true;
      bad_.push_back(std::move(run));
    }
    good_ = store_->values_.VersionOf(std::move(good));
    return Status::OK();
  }

  // If a record is lost, an older one of its key may become visible. Its group still has the notice of the newer
  // record, so the next collection would drop the older one's value.
  Status FindSupersededValues() {
    for (const ValueVersion::Group& g : good_->Groups()) {
      if (Status s = FindSuperseded(g.group, good_->RunsOf(g.group), &superseded_); !s.ok()) return s;
    }
    std::sort(superseded_.begin(), superseded_.end());
    return Status::OK();
  }

  // Nothing is damaged, but a file may have been removed before.
  Status CheckReferences() {
    const StoreOptions& options = store_->options_;
    std::vector<std::vector<TableRef>> levels(static_cast<size_t>(std::max(2, options.num_levels)));
    for (const Found& found : tables_) {
      const auto level = static_cast<size_t>(found.added->level);
      if (level >= levels.size()) levels.resize(level + 1);
      levels[level].push_back(found.table);
    }
    for (size_t level = 0; level < levels.size(); ++level) store_->SortLevel(level, &levels[level]);
    const LsmVersion version(store_->table_context_, std::move(levels), store_->counters_, &store_->accounting_,
                             store_->context_->hasher, good_, options.keep_last_level);
    const Status s = CheckValueReferences(version, options.comparator, store_->context_->hasher);
    if (s.ok() || !IsDamage(s)) return s;
    Log(s.ToString());
    lost_ = true;
    return Status::OK();
  }

  Status FindTablesWithLostValues() {
    BlockReadOptions read;
    read.fill_cache = false;
    read.whole_piece = true;
    for (Found& found : tables_) {
      if (found.damaged) continue;
      const InternalIteratorPtr it = found.table->tph().NewIterator(read);
      for (it->SeekToFirst(); it->Valid() && !found.damaged; it->Next()) {
        if (ExtractType(it->key()) != kTypeBlobIndex) continue;
        ValueRef ref;
        bool there = false;
        if (ref.Parse(it->value())) {
          const Slice user_key = ExtractUserKey(it->key());
          Status s = good_->Has(store_->context_->hasher(user_key), ref.number, &there);
          if (!s.ok()) return s;
        }
        found.damaged = !there || std::binary_search(superseded_.begin(), superseded_.end(), ref.number);
      }
      if (!it->status().ok()) return it->status();
    }
    return Status::OK();
  }

  Status Rewrite(bool resolve, VersionEdit* edit) {
    for (const ValueRunRef& run : bad_) {
      edit->deleted_values.push_back(run->meta().run_id);
      bool found = false;
      Status s = OpenInSpiteOfDamage(store_->context_->files, run->meta().extent.file_number,
                                     run->meta().file_id, &found);
      if (!s.ok()) return s;
    }
    ValueSalvage values(good_.get(), bad_, &superseded_);
    TableSalvage writer(store_->context_, &store_->options_, store_->table_context_, resolve ? &values : nullptr);
    for (const Found& found : tables_) {
      if (!found.damaged) {
        ++report_->tables;
        continue;
      }
      const TphMeta& old = found.added->tph;
      std::optional<TphMeta> meta;
      if (Status s = writer.Rewrite(found.added->level, old, &meta, report_); !s.ok()) return s;
      edit->deleted.push_back({found.added->level, old.tph_id});
      Log("table " + std::to_string(old.tph_id) + (meta ? " is rewritten: " : " is lost: ") +
          std::to_string(meta ? meta->NumRecords() : 0) + " of " + std::to_string(old.NumRecords()) + " records");
      ++(meta ? report_->rewritten_tables : report_->lost_tables);
      if (meta) edit->added.push_back({found.added->level, std::move(*meta)});
    }
    return writer.Finish(edit);
  }

  struct Found {
    const VersionEdit::Added* added;
    TableRef table;  // null if it is damaged
    bool damaged;    // or names values that are missing, or will be
  };
  LsmStore* const store_;
  const VersionEdit& recovered_;
  SalvageReport* const report_;
  bool lost_ = false;
  std::vector<Found> tables_;
  std::vector<ValueRunRef> bad_;
  std::vector<uint64_t> superseded_;  // numbers, ascending
  std::shared_ptr<const ValueVersion> good_;
};

Status LsmStore::Salvage(const VersionEdit& recovered, VersionEdit* edit, bool* changed, SalvageReport* report) {
  if (recovered.page_geometry) {
    return Status::InvalidArgument("column family " + options_.column_family_name,
                                   "is table-less: it is opened with store=tableless only");
  }
  return Salvager(this, recovered, report).Run(edit, changed);
}

}  // namespace compassdb
