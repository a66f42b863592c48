// SPDX-License-Identifier: Apache-2.0
// Backups, checkpoints and table files.
#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class CopiesTest : public Database {};

TEST_F(CopiesTest, Backups) {
  Open();
  Put("a", "1");
  rocksdb_backup_engine_options_t* const backup = rocksdb_backup_engine_options_create("/nowhere");
  rocksdb_backup_engine_options_set_backup_dir(backup, path("backup").c_str());
  rocksdb_env_t* const env = rocksdb_create_default_env();
  rocksdb_backup_engine_t* engine = rocksdb_backup_engine_open_opts(backup, env, Error());
  ASSERT_NE(engine, nullptr);
  rocksdb_backup_engine_create_new_backup(engine, db_, Error());
  Put("a", "2");
  rocksdb_backup_engine_create_new_backup_flush(engine, db_, 1, Error());
  Put("a", "3");
  rocksdb_backup_engine_create_new_backup(engine, db_, Error());
  rocksdb_backup_engine_purge_old_backups(engine, 2, Error());
  rocksdb_backup_engine_close(engine);
  Close();

  engine = rocksdb_backup_engine_open(options_, path("backup").c_str(), Error());
  const rocksdb_backup_engine_info_t* const info = rocksdb_backup_engine_get_backup_info(engine);
  ASSERT_EQ(rocksdb_backup_engine_info_count(info), 2);
  EXPECT_EQ(rocksdb_backup_engine_info_backup_id(info, 0), 2u);
  EXPECT_GT(rocksdb_backup_engine_info_timestamp(info, 0), 0);
  EXPECT_GT(rocksdb_backup_engine_info_size(info, 0), 0u);
  EXPECT_GT(rocksdb_backup_engine_info_number_files(info, 0), 0u);
  rocksdb_backup_engine_info_destroy(info);
  rocksdb_backup_engine_verify_backup(engine, 2, Error());
  Error error;
  rocksdb_backup_engine_verify_backup(engine, 1, error);
  EXPECT_NE(error.Take(), "");

  rocksdb_restore_options_t* const restore = rocksdb_restore_options_create();
  rocksdb_restore_options_set_keep_log_files(restore, 0);
  rocksdb_backup_engine_restore_db_from_backup(engine, path().c_str(), path().c_str(), restore, 2, Error());
  Open();
  EXPECT_EQ(Get("a"), "2");
  Close();
  rocksdb_backup_engine_restore_db_from_latest_backup(engine, path().c_str(), path().c_str(), restore, Error());
  Open();
  EXPECT_EQ(Get("a"), "3");
  rocksdb_restore_options_destroy(restore);
  rocksdb_backup_engine_close(engine);
  rocksdb_env_destroy(env);
  rocksdb_backup_engine_options_destroy(backup);
}

TEST_F(CopiesTest, Checkpoints) {
  Open();
  Put("a", "1");
  rocksdb_checkpoint_t* const checkpoint = rocksdb_checkpoint_object_create(db_, Error());
  rocksdb_checkpoint_create(checkpoint, path("copy").c_str(), 0, Error());
  Error error;
  rocksdb_checkpoint_create(checkpoint, path("copy").c_str(), 0, error);
  EXPECT_NE(error.Take(), "");
  rocksdb_checkpoint_object_destroy(checkpoint);
  Put("a", "2");
  rocksdb_t* const copy = rocksdb_open(options_, path("copy").c_str(), Error());
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(GetFrom(copy, "a"), "1");
  rocksdb_close(copy);
}

TEST_F(CopiesTest, TablesInAnotherDirectory) {
  rocksdb_dbpath_t* const tables = rocksdb_dbpath_create(path("tables").c_str(), 1 << 20);
  const rocksdb_dbpath_t* paths[] = {tables};
  rocksdb_options_set_db_paths(options_, paths, 1);
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  rocksdb_compact_range(db_, nullptr, 0, nullptr, 0);
  Close();

  // They are not in the directory of the database.
  rocksdb_options_set_db_paths(options_, nullptr, 0);
  Error error;
  EXPECT_EQ(rocksdb_open(options_, path().c_str(), error), nullptr);
  EXPECT_NE(error.Take(), "");
  rocksdb_options_set_db_paths(options_, paths, 1);
  Open();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
  Close();
  rocksdb_destroy_db(options_, path().c_str(), Error());
  rocksdb_options_set_create_if_missing(options_, 0);
  EXPECT_EQ(rocksdb_open(options_, path().c_str(), error), nullptr);
  EXPECT_NE(error.Take(), "");
  rocksdb_dbpath_destroy(tables);
}

TEST_F(CopiesTest, TableFiles) {
  Open();
  Put("a", "old");
  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* const writer = rocksdb_sstfilewriter_create(env, options_);
  const std::string file = path("file");
  rocksdb_sstfilewriter_open(writer, file.c_str(), Error());
  rocksdb_sstfilewriter_put(writer, "a", 1, "new", 3, Error());
  rocksdb_sstfilewriter_add(writer, "b", 1, "2", 1, Error());
  rocksdb_sstfilewriter_delete(writer, "c", 1, Error());
  Error error;
  rocksdb_sstfilewriter_put(writer, "a", 1, "again", 5, error);
  EXPECT_NE(error.Take(), "");
  rocksdb_sstfilewriter_finish(writer, Error());
  uint64_t size = 0;
  rocksdb_sstfilewriter_file_size(writer, &size);
  EXPECT_GT(size, 0u);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);

  rocksdb_ingestexternalfileoptions_t* const ingest = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingestexternalfileoptions_set_move_files(ingest, 1);
  const char* const files[] = {file.c_str()};
  rocksdb_ingest_external_file(db_, files, 1, ingest, Error());
  EXPECT_EQ(Get("a"), "new");
  EXPECT_EQ(Get("b"), "2");
  rocksdb_ingest_external_file(db_, files, 1, ingest, error);
  EXPECT_NE(error.Take(), "");
  rocksdb_ingestexternalfileoptions_destroy(ingest);
}

}  // namespace
}  // namespace c_api
