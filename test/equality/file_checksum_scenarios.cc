// SPDX-License-Identifier: Apache-2.0
// Checksums of whole files, and what deletes files slowly. The bytes of files are each engine's own.

#include "equality/transcript.h"
#include "rocksdb/env.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/metadata.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/write_batch.h"

namespace compassdb_test {

using rocksdb::DB;
using rocksdb::Env;
using rocksdb::Options;
using rocksdb::Status;
using rocksdb::WriteOptions;

namespace {

Options Checked() {
  Options options = FreshOptions();
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  return options;
}

// Of the file's bytes.
std::string Computed(Transcript* t, const std::string& path) {
  std::string data;
  t->Code("read", rocksdb::ReadFileToString(Env::Default(), path, &data));
  const auto generator =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({path, ""});
  generator->Update(data.data(), data.size());
  generator->Finalize();
  return generator->GetChecksum();
}

void Live(Transcript* t) {
  Options options = Checked();
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  for (int round = 0; round < 3; ++round) {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < 100; ++i) {
      batch.Put("key" + std::to_string(1000 + i), std::to_string(round)).PermitUncheckedError();
    }
    t->Code("write", db->Write(WriteOptions(), &batch));
    t->Code("flush", db->Flush(rocksdb::FlushOptions()));
  }
  const auto show = [&] {
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    t->Line(files.empty() ? "no files" : "files");
    for (const auto& file : files) {
      const bool right = file.file_checksum == Computed(t, file.db_path + file.name);
      if (!right || file.file_checksum_func_name != "FileChecksumCrc32c") {
        t->Line("wrong: " + file.file_checksum_func_name);
      }
    }
    rocksdb::LiveFilesStorageInfoOptions with;
    with.include_checksum_info = true;
    std::vector<rocksdb::LiveFileStorageInfo> storage;
    t->Code("storage", db->GetLiveFilesStorageInfo(with, &storage));
    for (const auto& file : storage) {
      // RocksDB 7.8 leaves an empty log out.
      if (file.file_type == rocksdb::kWalFile && file.size == 0) continue;
      if (file.file_type != rocksdb::kTableFile) {
        t->Line(std::to_string(file.file_type) + " " + file.file_checksum_func_name + "," +
                file.file_checksum);
      } else if (file.file_checksum != Computed(t, file.directory + "/" + file.relative_filename)) {
        t->Line("wrong in storage info");
      }
    }
    const std::unique_ptr<rocksdb::FileChecksumList> list(rocksdb::NewFileChecksumList());
    t->Code("list", db->GetLiveFilesChecksumInfo(list.get()));
    t->Line(list->size() > 0 ? "listed" : "nothing listed");
  };
  show();
  t->Code("compact", db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  show();
  t->Code("verify", db->VerifyFileChecksums(rocksdb::ReadOptions()));
  db.reset();
  db = OpenOrNote(t, "db", options);
  if (!db) return;
  show();
  t->Code("verify", db->VerifyFileChecksums(rocksdb::ReadOptions()));
  options.file_checksum_gen_factory = nullptr;
  db.reset();
  db = OpenOrNote(t, "db", options);
  if (!db) return;
  show();
  t->Full("verify without", db->VerifyFileChecksums(rocksdb::ReadOptions()));
}

void Ingested(Transcript* t) {
  const Options options = Checked();
  auto db = OpenOrNote(t, "db", options);
  if (!db) return;
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  const auto write = [&](const std::string& name, rocksdb::ExternalSstFileInfo* info) {
    t->Code("open", writer.Open(t->Path(name)));
    t->Code("put", writer.Put("key", "value"));
    t->Code("finish", writer.Finish(info));
  };
  rocksdb::ExternalSstFileInfo info;
  write("file", &info);
  t->Line(info.file_checksum_func_name);
  t->Line(info.file_checksum == Computed(t, info.file_path) ? "right" : "wrong");
  for (const bool verify : {true, false}) {
    t->Line(verify ? "--- verified" : "--- not verified");
    const auto ingest = [&](const std::string& what, std::vector<std::string> sums,
                            std::vector<std::string> functions) {
      rocksdb::IngestExternalFileArg arg;
      arg.column_family = db->DefaultColumnFamily();
      arg.external_files = {info.file_path};
      arg.options.verify_file_checksum = verify;
      arg.files_checksums = std::move(sums);
      arg.files_checksum_func_names = std::move(functions);
      t->Code(what, db->IngestExternalFiles({arg}));
    };
    ingest("neither", {}, {});
    ingest("both", {info.file_checksum}, {info.file_checksum_func_name});
    ingest("another checksum", {"nonsense"}, {info.file_checksum_func_name});
    ingest("another function", {info.file_checksum}, {"other"});
    ingest("no functions", {info.file_checksum}, {});
    ingest("no checksums", {}, {info.file_checksum_func_name});
    ingest("too many", {info.file_checksum, ""}, {info.file_checksum_func_name, ""});
  }
  t->Scan("ingested", db.get());
  rocksdb::SstFileWriter plain(rocksdb::EnvOptions(), FreshOptions());
  t->Code("open", plain.Open(t->Path("plain")));
  t->Code("put", plain.Put("key", "value"));
  t->Code("finish", plain.Finish(&info));
  t->Line(info.file_checksum_func_name + "," + info.file_checksum);
}

void DeletionRate(Transcript* t) {
  Env* const env = Env::Default();
  t->Code("directory", env->CreateDirIfMissing(t->Path("trash")));
  const auto fill = [&] {
    for (const char* name : {"a", "b.trash", "c"}) {
      t->Code("file", rocksdb::WriteStringToFile(env, "text", t->Path("trash") + "/" + name));
    }
  };
  const auto show = [&] {
    std::vector<std::string> names;
    t->Code("children", env->GetChildren(t->Path("trash"), &names));
    t->Line(std::to_string(names.size()) + " files");
  };
  fill();
  Status s;
  std::unique_ptr<rocksdb::SstFileManager> manager(
      rocksdb::NewSstFileManager(env, nullptr, t->Path("trash"), 0, false, &s));
  t->Code("kept", s);
  show();
  manager.reset(rocksdb::NewSstFileManager(env, nullptr, t->Path("trash"), 0, true, &s));
  t->Code("deleted", s);
  show();
  manager.reset(rocksdb::NewSstFileManager(env, nullptr, t->Path("none"), 0, true, &s));
  t->Line(s.ok() ? "ok" : "failed");
  manager.reset(rocksdb::NewSstFileManager(env, nullptr, "", 1000));
  t->Line(std::to_string(manager->GetDeleteRateBytesPerSecond()) + " " +
          std::to_string(manager->GetMaxTrashDBRatio()) + " " +
          std::to_string(manager->GetTotalTrashSize()) + " " +
          std::to_string(manager->GetTotalSize()));
  manager->SetDeleteRateBytesPerSecond(2000);
  manager->SetMaxTrashDBRatio(0.5);
  t->Line(std::to_string(manager->GetDeleteRateBytesPerSecond()) + " " +
          std::to_string(manager->GetMaxTrashDBRatio()));
}

}  // namespace

std::vector<Scenario> FileChecksumScenarios() {
  return {{"file_checksums_live", Live},
          {"file_checksums_ingested", Ingested},
          {"deletion_rate", DeletionRate}};
}

}  // namespace compassdb_test
