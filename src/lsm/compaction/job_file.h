// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "store/job_file.h"
#include "store/store.h"
#include "table/directory/directory.h"
#include "table/piece/piece_builder.h"

namespace compassdb {

// Reports a file of the value store, if it was created.
void ReportValueFile(const JobFile& file, const VersionEdit& edit, JobReport* report);

// The files of a flush or compaction: one for tables, one for values, each created when there is something to
// write.
struct JobFiles {
  JobFiles(const StoreContext* context, const StoreOptions* options, size_t path, bool flush, JobObserver* observer)
      : tables(context, options, path, flush, observer),
        values(context, options, path, flush, observer, /*values=*/true) {}
  // Several threads write into them; see CompactionFileWriter::Share. Their writers hold runs of values.
  void Share(size_t most_held) {
    tables.Share(most_held);
    values.Share(0);
  }
  // One sync for each that was created. The edit names their contents.
  Status Finish(VersionEdit* edit, JobReport* report);
  // The destructor returns the finished files to the ledger, as if unfinished.
  void Abandon() {
    tables.Abandon();
    values.Abandon();
  }

  JobFile tables, values;
};

// Sorts entries by (h1, h2) and, within a key, higher piece first.
void SortEntries(std::vector<DirectoryEntry>* entries);

// How the family's perfect hash functions are built.
perfect_hash::BuildOptions FunctionOptions(const StoreContext& context,
                                           const StoreOptions& options);

// Builds the directory of `meta` (its pieces are set) from sorted, distinct
// entries, writes it into `file` and fills meta's directory fields. For
// `fingerprints` see BuildDirectory.
Status WriteTableDirectory(std::span<const DirectoryEntry> entries, uint32_t fingerprints,
                           const perfect_hash::BuildOptions& function, JobFile* file,
                           TphMeta* meta);

// How pieces of the family on this level are built.
PieceBuildOptions PieceOptions(const StoreContext& context, const StoreOptions& options,
                               const FilterPlace& place);

// Makes a table of a piece that was written into `file` with these tombstones, all of its keys
// live: sets id, bounds, piece and, unless options.filter_index, directory of `meta`.
Status WriteOnePieceTable(const StoreContext& context, const StoreOptions& options,
                          const PieceMeta& piece, const PieceHashes& hashes,
                          const std::vector<RangeTombstone>& tombstones, uint32_t fingerprints,
                          JobFile* file, TphMeta* meta);

// Sets meta's bounds and sequences to cover the piece and its tombstones.
void ExtendBounds(const Comparator* cmp, const PieceMeta& piece,
                  const std::vector<RangeTombstone>& tombstones, bool first, TphMeta* meta);

}  // namespace compassdb
