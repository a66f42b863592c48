// SPDX-License-Identifier: Apache-2.0
#include "c_api/c_api_test.h"

namespace c_api {
namespace {

class TransactionTest : public Database {
 protected:
  TransactionTest()
      : db_options_(rocksdb_transactiondb_options_create()), txn_options_(rocksdb_transaction_options_create()) {}
  ~TransactionTest() override {
    if (txn_db_ != nullptr) rocksdb_transactiondb_close(txn_db_);
    rocksdb_transaction_options_destroy(txn_options_);
    rocksdb_transactiondb_options_destroy(db_options_);
  }

  void OpenTransactions() {
    txn_db_ = rocksdb_transactiondb_open(options_, db_options_, path().c_str(), Error());
    ASSERT_NE(txn_db_, nullptr);
  }
  rocksdb_transaction_t* Begin(rocksdb_transaction_t* old = nullptr) {
    return rocksdb_transaction_begin(txn_db_, write_, txn_options_, old);
  }
  std::string Committed(const std::string& key) {
    size_t size = 0;
    char* const value = rocksdb_transactiondb_get(txn_db_, read_, C_BYTES(key), &size, Error());
    return Take(value, size);
  }
  std::string GetIn(rocksdb_transaction_t* txn, const std::string& key) {
    size_t size = 0;
    char* const value = rocksdb_transaction_get(txn, read_, C_BYTES(key), &size, Error());
    return Take(value, size);
  }

  rocksdb_transactiondb_options_t* const db_options_;
  rocksdb_transaction_options_t* const txn_options_;
  rocksdb_transactiondb_t* txn_db_ = nullptr;
};

TEST_F(TransactionTest, CommitAndRollBack) {
  OpenTransactions();
  rocksdb_transactiondb_put(txn_db_, write_, "a", 1, "1", 1, Error());
  rocksdb_transaction_t* txn = Begin();
  rocksdb_transaction_put(txn, "a", 1, "2", 1, Error());
  rocksdb_transaction_put(txn, "b", 1, "2", 1, Error());
  EXPECT_EQ(GetIn(txn, "a"), "2");
  EXPECT_EQ(Take(rocksdb_transaction_get_pinned(txn, read_, "b", 1, Error())), "2");
  EXPECT_EQ(Committed("a"), "1");
  rocksdb_transaction_set_savepoint(txn);
  rocksdb_transaction_delete(txn, "b", 1, Error());
  EXPECT_EQ(GetIn(txn, "b"), "(null)");
  rocksdb_transaction_rollback_to_savepoint(txn, Error());
  rocksdb_iterator_t* const iter = rocksdb_transaction_create_iterator(txn, read_);
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "a=2 b=2 ");
  rocksdb_transaction_commit(txn, Error());
  EXPECT_EQ(Committed("a"), "2");
  EXPECT_EQ(Take(rocksdb_transactiondb_get_pinned(txn_db_, read_, "b", 1, Error())), "2");

  // The handle, used again.
  EXPECT_EQ(Begin(txn), txn);
  rocksdb_transaction_put(txn, "a", 1, "3", 1, Error());
  rocksdb_transaction_rollback(txn, Error());
  EXPECT_EQ(Committed("a"), "2");
  rocksdb_transaction_destroy(txn);
}

TEST_F(TransactionTest, Locks) {
  OpenTransactions();
  rocksdb_transactiondb_put(txn_db_, write_, "a", 1, "1", 1, Error());
  rocksdb_transaction_options_set_lock_timeout(txn_options_, 1);
  rocksdb_transaction_t* const one = Begin();
  rocksdb_transaction_t* const two = Begin();
  size_t size = 0;
  char* const value = rocksdb_transaction_get_for_update(one, read_, "a", 1, &size, 1, Error());
  EXPECT_EQ(Take(value, size), "1");
  Error error;
  rocksdb_transaction_put(two, "a", 1, "2", 1, error);
  EXPECT_NE(error.Take().find("Timeout"), std::string::npos);
  EXPECT_EQ(rocksdb_transaction_get_pinned_for_update(two, read_, "a", 1, 1, error), nullptr);
  EXPECT_NE(error.Take(), "");
  rocksdb_transaction_commit(one, Error());
  EXPECT_EQ(Take(rocksdb_transaction_get_pinned_for_update(two, read_, "a", 1, 0, Error())), "1");
  rocksdb_transaction_destroy(one);
  rocksdb_transaction_destroy(two);
}

TEST_F(TransactionTest, Snapshots) {
  OpenTransactions();
  rocksdb_transactiondb_put(txn_db_, write_, "a", 1, "1", 1, Error());
  rocksdb_transaction_options_set_set_snapshot(txn_options_, 1);
  rocksdb_transaction_t* const txn = Begin();
  const rocksdb_snapshot_t* const snapshot = rocksdb_transaction_get_snapshot(txn);
  rocksdb_transactiondb_put(txn_db_, write_, "a", 1, "2", 1, Error());
  EXPECT_EQ(GetIn(txn, "a"), "2");
  rocksdb_readoptions_set_snapshot(read_, snapshot);
  EXPECT_EQ(GetIn(txn, "a"), "1");
  rocksdb_readoptions_set_snapshot(read_, nullptr);
  Error error;
  rocksdb_transaction_put(txn, "a", 1, "3", 1, error);
  EXPECT_NE(error.Take().find("busy"), std::string::npos);
  rocksdb_free(const_cast<rocksdb_snapshot_t*>(snapshot));
  rocksdb_transaction_destroy(txn);

  const rocksdb_snapshot_t* const of_db = rocksdb_transactiondb_create_snapshot(txn_db_);
  rocksdb_transactiondb_delete(txn_db_, write_, "a", 1, Error());
  rocksdb_readoptions_set_snapshot(read_, of_db);
  EXPECT_EQ(Committed("a"), "2");
  rocksdb_readoptions_set_snapshot(read_, nullptr);
  rocksdb_transactiondb_release_snapshot(txn_db_, of_db);
}

TEST_F(TransactionTest, TwoPhases) {
  OpenTransactions();
  rocksdb_transaction_t* txn = Begin();
  rocksdb_transaction_set_name(txn, "name", 4, Error());
  size_t size = 0;
  char* const name = rocksdb_transaction_get_name(txn, &size);
  EXPECT_EQ(Take(name, size), "name");
  rocksdb_transaction_put(txn, "a", 1, "1", 1, Error());
  rocksdb_transaction_prepare(txn, Error());
  rocksdb_transaction_destroy(txn);
  rocksdb_transactiondb_close(txn_db_);
  OpenTransactions();
  EXPECT_EQ(Committed("a"), "(null)");
  size_t count = 0;
  rocksdb_transaction_t** const prepared = rocksdb_transactiondb_get_prepared_transactions(txn_db_, &count);
  ASSERT_EQ(count, 1u);
  rocksdb_transaction_commit(prepared[0], Error());
  rocksdb_transaction_destroy(prepared[0]);
  rocksdb_free(prepared);
  EXPECT_EQ(Committed("a"), "1");
  EXPECT_EQ(rocksdb_transactiondb_get_prepared_transactions(txn_db_, &count), nullptr);
  EXPECT_EQ(count, 0u);
}

TEST_F(TransactionTest, BatchesOfTransactions) {
  OpenTransactions();
  rocksdb_transaction_t* const txn = Begin();
  rocksdb_transaction_put(txn, "a", 1, "1", 1, Error());
  rocksdb_writebatch_wi_t* const of_txn = rocksdb_transaction_get_writebatch_wi(txn);
  EXPECT_EQ(rocksdb_writebatch_wi_count(of_txn), 1);
  rocksdb_free(of_txn);
  rocksdb_transaction_destroy(txn);

  rocksdb_transaction_t* const copy = Begin();
  rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create(0, 1);
  rocksdb_writebatch_wi_put(batch, "a", 1, "1", 1);
  rocksdb_transaction_rebuild_from_writebatch_wi(copy, batch, Error());
  rocksdb_writebatch_wi_destroy(batch);
  rocksdb_writebatch_t* const more = rocksdb_writebatch_create();
  rocksdb_writebatch_put(more, "b", 1, "2", 1);
  rocksdb_transaction_rebuild_from_writebatch(copy, more, Error());
  rocksdb_writebatch_destroy(more);
  rocksdb_transaction_commit(copy, Error());
  rocksdb_transaction_destroy(copy);
  EXPECT_EQ(Committed("a"), "1");
  EXPECT_EQ(Committed("b"), "2");
}

TEST_F(TransactionTest, ManyKeysAndFamilies) {
  OpenTransactions();
  rocksdb_column_family_handle_t* const family =
      rocksdb_transactiondb_create_column_family(txn_db_, options_, "one", Error());
  rocksdb_transactiondb_put_cf(txn_db_, write_, family, "k", 1, "1", 1, Error());
  rocksdb_transaction_t* const txn = Begin();
  rocksdb_transaction_put_cf(txn, family, "l", 1, "2", 1, Error());
  const Lists keys({"k", "l", "m"});
  const rocksdb_column_family_handle_t* const families[] = {family, family, family};
  char* values[3];
  size_t sizes[3];
  char* errors[3];
  rocksdb_transaction_multi_get_cf(txn, read_, families, 3, keys.data.data(), keys.sizes.data(), values, sizes,
                                   errors);
  EXPECT_EQ(Take(values[0], sizes[0]), "1");
  EXPECT_EQ(Take(values[1], sizes[1]), "2");
  EXPECT_EQ(Take(values[2], sizes[2]), "(null)");
  rocksdb_transactiondb_multi_get(txn_db_, read_, 3, keys.data.data(), keys.sizes.data(), values, sizes, errors);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Take(values[i], sizes[i]), "(null)");
  rocksdb_transaction_delete_cf(txn, family, "k", 1, Error());
  rocksdb_transaction_commit(txn, Error());
  rocksdb_transaction_destroy(txn);
  rocksdb_iterator_t* const iter = rocksdb_transactiondb_create_iterator_cf(txn_db_, read_, family);
  rocksdb_iter_seek_to_first(iter);
  EXPECT_EQ(Rest(iter), "l=2 ");
  uint64_t number = 0;
  EXPECT_EQ(rocksdb_transactiondb_property_int(txn_db_, "rocksdb.num-immutable-mem-table", &number), 0);
  EXPECT_EQ(rocksdb_transactiondb_property_value(txn_db_, "rocksdb.nothing"), nullptr);
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_transactiondb_flush(txn_db_, flush, Error());
  rocksdb_transactiondb_flush_cf(txn_db_, flush, family, Error());
  rocksdb_flushoptions_destroy(flush);
  rocksdb_transactiondb_flush_wal(txn_db_, 1, Error());
  rocksdb_checkpoint_t* const checkpoint = rocksdb_transactiondb_checkpoint_object_create(txn_db_, Error());
  rocksdb_checkpoint_create(checkpoint, path("copy").c_str(), 0, Error());
  rocksdb_checkpoint_object_destroy(checkpoint);
  rocksdb_column_family_handle_destroy(family);
}

TEST_F(TransactionTest, Optimistic) {
  rocksdb_optimistictransactiondb_t* const otxn_db =
      rocksdb_optimistictransactiondb_open(options_, path().c_str(), Error());
  ASSERT_NE(otxn_db, nullptr);
  rocksdb_optimistictransaction_options_t* const options = rocksdb_optimistictransaction_options_create();
  rocksdb_optimistictransaction_options_set_set_snapshot(options, 1);
  rocksdb_t* const base = rocksdb_optimistictransactiondb_get_base_db(otxn_db);
  rocksdb_transaction_t* txn = rocksdb_optimistictransaction_begin(otxn_db, write_, options, nullptr);
  rocksdb_transaction_put(txn, "a", 1, "txn", 3, Error());
  rocksdb_put(base, write_, "a", 1, "db", 2, Error());
  Error error;
  rocksdb_transaction_commit(txn, error);
  EXPECT_NE(error.Take().find("busy"), std::string::npos);
  EXPECT_EQ(rocksdb_optimistictransaction_begin(otxn_db, write_, options, txn), txn);
  rocksdb_transaction_put(txn, "a", 1, "txn", 3, Error());
  rocksdb_transaction_commit(txn, Error());
  EXPECT_EQ(GetFrom(base, "a"), "txn");
  rocksdb_transaction_destroy(txn);
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put(batch, "b", 1, "2", 1);
  rocksdb_optimistictransactiondb_write(otxn_db, write_, batch, Error());
  rocksdb_writebatch_destroy(batch);
  uint64_t number = 0;
  EXPECT_EQ(rocksdb_optimistictransactiondb_property_int(otxn_db, "rocksdb.estimate-num-keys", &number), 0);
  EXPECT_EQ(rocksdb_optimistictransactiondb_property_value(otxn_db, "rocksdb.nothing"), nullptr);
  rocksdb_checkpoint_t* const checkpoint =
      rocksdb_optimistictransactiondb_checkpoint_object_create(otxn_db, Error());
  rocksdb_checkpoint_object_destroy(checkpoint);
  rocksdb_optimistictransaction_options_destroy(options);
  rocksdb_optimistictransactiondb_close_base_db(base);
  rocksdb_optimistictransactiondb_close(otxn_db);
}

}  // namespace
}  // namespace c_api
