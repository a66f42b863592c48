// SPDX-License-Identifier: Apache-2.0
#include "db/jobs/ingester.h"

#include <gtest/gtest.h>

#include "db/families/options_files.h"
#include "db/testing/jobs_test_util.h"

namespace compassdb {
namespace {

class IngesterTest : public ::testing::Test, protected JobsHarness, protected FamilyObserver {
 protected:
  IngesterTest() {
    Open();
    handles_.MakeDefault(db.families.ById(0));
  }
  ~IngesterTest() override {
    jobs.Close();
    manager_.Close();
  }
  void FamilyChanged(const std::shared_ptr<ColumnFamily>&) override {}
  Status FamiliesChanged() override { return options_files_.Write(); }

  // A file with one record.
  std::string MakeFile(const std::string& key) {
    const std::string path = "/db/outside-" + key;
    PieceBuildOptions build;
    build.comparator = rocksdb::BytewiseComparator();
    std::unique_ptr<TableFileWriter> writer;
    TableFileInfo info;
    info.comparator = build.comparator->Name();
    std::string internal_key;
    AppendInternalKey(&internal_key, key, 0, kTypeValue);
    EXPECT_TRUE(TableFileWriter::Create(&db.fs, path, build, &writer, nullptr).ok());
    EXPECT_TRUE(writer->Add(internal_key, "v").ok());
    EXPECT_TRUE(writer->Finish(/*time=*/1, &info).ok());
    return path;
  }
  Status Ingest(const std::string& path, const rocksdb::IngestExternalFileOptions& options = {}) {
    rocksdb::IngestExternalFileArg arg;
    arg.column_family = handles_.default_handle();
    arg.external_files = {path};
    arg.options = options;
    return ingester_.Ingest({arg});
  }
  uint64_t Tables() {
    ReadStatePin state(db.family()->read_state());
    uint64_t tables = 0;
    for (const LevelStats& level : state->view->Levels()) tables += level.tables;
    return tables;
  }

  FamilyFactory factory_{config, /*ownership=*/nullptr, db.context, snapshots, space, &db.mu};
  OptionsFiles options_files_{config, /*ownership=*/nullptr, &db.mu, db.families, commits, db.ledger};
  ManifestState manifest_state_{&db.mu, db.families, db.ledger, front};
  FamilyHandles handles_{config, listeners, space};
  FamilyManager manager_{config,      &db.mu,   front,    errors, commits, manifest_state_,
                         db.families, factory_, handles_, space,  *this,   *this};
  Flusher flusher_{environment, front, *this, jobs};
  Ingester ingester_{environment, front, jobs, flusher_, manager_};
};

TEST_F(IngesterTest, InvisibleRecordsTakeNoSequence) {
  ASSERT_TRUE(Ingest(MakeFile("k")).ok());
  EXPECT_EQ(Tables(), 1u);
  EXPECT_EQ(TablesAt(0), 0u);
  EXPECT_EQ(front.last_sequence, 0u);
  ASSERT_TRUE(Ingest(MakeFile("k")).ok());  // hides the other
  EXPECT_EQ(front.last_sequence, 1u);
}

TEST_F(IngesterTest, ASnapshotDoesNotSeeTheRecords) {
  const rocksdb::Snapshot* const snapshot = snapshots.New(/*time=*/1);
  ASSERT_TRUE(Ingest(MakeFile("k")).ok());
  EXPECT_EQ(front.last_sequence, 1u);
  snapshots.Release(snapshot);
}

TEST_F(IngesterTest, MemTablesInTheRangeAreFlushedFirst) {
  db.Put("other", "v");
  front.last_sequence = 5;
  ASSERT_TRUE(Ingest(MakeFile("k")).ok());
  EXPECT_EQ(Tables(), 1u);
  db.Put("k", "older");
  rocksdb::IngestExternalFileOptions options;
  options.allow_blocking_flush = false;
  EXPECT_TRUE(Ingest(MakeFile("k"), options).IsInvalidArgument());
  EXPECT_EQ(Tables(), 1u);
  ASSERT_TRUE(Ingest(MakeFile("k")).ok());
  EXPECT_EQ(Tables(), 3u);
}

TEST_F(IngesterTest, WhatCannotBeCommittedIsNotThere) {
  const std::string path = MakeFile("k");
  db.fs.FailAll(FaultOp::kSync, "MANIFEST", Status::IOError("injected"));
  EXPECT_TRUE(Ingest(path).IsIOError());
  EXPECT_EQ(Tables(), 0u);
  EXPECT_TRUE(errors.writes_refused());
  db.fs.ClearFaults();
  MutexLock lock(&db.mu);
  EXPECT_TRUE(commits.Rotate().ok());  // it may be closed now
}

TEST_F(IngesterTest, AFamilyThatCannotBeImportedIsNone) {
  rocksdb::ExportImportFilesMetaData metadata;
  metadata.db_comparator_name = rocksdb::BytewiseComparator()->Name();
  metadata.files.resize(1);
  metadata.files[0].db_path = "/db";
  metadata.files[0].name = "missing";
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  EXPECT_FALSE(ingester_.Import({}, "imported", {}, metadata, &handle).ok());
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(db.families.ByName("imported"), nullptr);
}

}  // namespace
}  // namespace compassdb
