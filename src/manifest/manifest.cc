// SPDX-License-Identifier: Apache-2.0
#include "manifest/manifest.h"

#include <algorithm>
#include <cstdio>

#include "env/missing.h"
#include "format/file_names.h"
#include "format/foreign_file.h"
#include "format/format_version.h"
#include "log/log_reader.h"
#include "manifest/foreign_directory.h"
#include "manifest/unfinished.h"
#include "util/coding.h"
#include "util/hash.h"
#include "util/no_memory.h"
#include "util/string_util.h"

namespace compassdb {

namespace {

constexpr uint64_t kCurrentChecksumContext = 0x43555252454e5421;  // "CURRENT!"

void EncodeHeader(std::string* dst) {
  PutFixed64(dst, kManifestFormat.magic);
  PutVarint32(dst, kManifestFormat.current);
}

Status CheckHeader(const std::string& path, Slice record) {
  uint64_t magic = 0;
  uint32_t version = 0;
  if (!GetFixed64(&record, &magic) || magic != kManifestFormat.magic ||
      !GetVarint32(&record, &version)) {
    return Status::Corruption(path, "not a CompassDB manifest");
  }
  if (!CanReadVersion(kManifestFormat, version)) {
    return Status::NotSupported(path, "manifest format version " + std::to_string(version) +
                                          " is not known to this release");
  }
  return Status::OK();
}

// CURRENT has the first line only: it is another engine's, or ours and was cut off.
Status OneLineOnly(FileSystem* fs, const std::string& dir, uint64_t number) {
  const Status cut_off = Status::Corruption(CurrentFileName(dir), "the second line is missing");
  std::string own, record;
  Status s = FindOwnFile(fs, dir, &own);
  if (!s.ok()) return s;
  if (!own.empty()) return cut_off;
  const std::string path = ManifestFileName(dir, number);
  std::unique_ptr<SequentialFile> file;
  s = fs->NewSequentialFile(path, &file);
  if (IsMissing(s)) {
    return Status::InvalidArgument(
        dir, "is a RocksDB or LevelDB database whose CURRENT names " + ManifestFileName("", number) +
                 ", which is missing: it can be neither opened nor imported before that file is back, or its own engine "
                 "has made another: `ldb repair` of RocksDB (not for LevelDB's, whose tables it would drop), RepairDB of LevelDB");
  }
  if (!s.ok()) return s;
  LogReader reader(std::move(file), path, number);
  Slice header;
  if (reader.ReadRecord(&header) == LogRead::kRecord && !CheckHeader(path, header).IsCorruption()) return cut_off;
  return Status::InvalidArgument(
      dir, "is a RocksDB or LevelDB database; move it over with `compassdb import`");
}

// The error for a CURRENT that names no manifest.
std::string WhyMalformed(const std::string& data) {
  if (data.empty()) return "is empty";
  const bool text = std::all_of(data.begin(), data.end(), [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r'; });
  return text ? "malformed" : std::string("malformed: it is not text, so either ") + kDamagedOrEncrypted;
}

// Whether the mirror has a record at `offset`, or behind it. False if it cannot be read.
bool MirrorContinues(FileSystem* fs, const std::string& dir, uint64_t number, uint64_t offset) {
  const std::string path = MirrorFileName(dir, number);
  std::unique_ptr<SequentialFile> file;
  if (!fs->NewSequentialFile(path, &file).ok()) return false;
  LogReader reader(std::move(file), path, number);
  if (!reader.SkipTo(offset).ok()) return false;
  Slice record;
  const LogRead read = reader.ReadRecord(&record);
  return read == LogRead::kRecord || read == LogRead::kCorruption;
}

// Reads one file, like Manifest::Follow.
Status FollowFile(FileSystem* fs, const std::string& path, uint64_t number, uint64_t* offset,
                  const std::function<Status(const EditRecord&)>& apply) {
  std::unique_ptr<SequentialFile> file;
  Status s = fs->NewSequentialFile(path, &file);
  if (!s.ok()) return s;
  LogReader reader(std::move(file), path, number);
  Slice record;
  uint64_t records = 0;
  if (*offset > 0) {
    records = 2;  // they have been read
    if (s = reader.SkipTo(*offset); !s.ok()) return s;
  }
  while (true) {
    switch (reader.ReadRecord(&record)) {
      case LogRead::kRecord:
        break;
      case LogRead::kEnd:
      case LogRead::kTornTail:
        // Create syncs header and snapshot before CURRENT names the file.
        return records >= 2 ? Status::OK() : Status::Corruption(path, "ends before its snapshot");
      case LogRead::kCorruption:
      case LogRead::kError:
        return reader.status();
    }
    EditRecord edits;
    s = records++ == 0 ? CheckHeader(path, record) : edits.Open(record);
    if (s.ok() && edits.size() > 0) s = apply(edits);
    if (!s.ok()) {
      const std::string where = path + " at offset " + std::to_string(reader.RecordOffset());
      const std::string what = s.getState() == nullptr ? "" : s.getState();
      if (s.IsCorruption()) return Status::Corruption(where, what);
      return s;
    }
    *offset = reader.EndOffset();
  }
}

}  // namespace

std::string Manifest::CurrentContents(uint64_t number) {
  const std::string name = ManifestFileName("", number);
  const uint32_t checksum = Checksum32(name, kCurrentChecksumContext);
  return name + "\nCompassDB 1 " + std::to_string(checksum) + "\n";
}

Status Manifest::ReadCurrent(FileSystem* fs, const std::string& dir, uint64_t* number) {
  const std::string path = CurrentFileName(dir);
  std::string data;
  constexpr uint64_t kMostBytes = 8 << 10;  // the prefix of a cipher is 4 KiB
  Status s = ReadFileToString(fs, path, &data, kMostBytes);
  if (s.ok() || IsMissing(s)) {
    if (Status finished = CheckFinished(fs, dir); !finished.ok()) return finished;
  }
  if (IsMissing(s)) return Status::NotFound(path, "there is no such file");
  if (!s.ok()) return s;
  if (IsSealed(data)) return Status::InvalidArgument(path, kSealedAdvice);
  const size_t line = data.find('\n');
  FileType type;
  const bool named = line != std::string::npos &&
                     ParseFileName(data.substr(0, line), number, &type) &&
                     type == FileType::kManifest;
  if (named && line + 1 == data.size()) return OneLineOnly(fs, dir, *number);
  unsigned version = 0, checksum = 0;
  int checked = 0;  // how much of the second line is before the checksum
  if (named && sscanf(data.c_str() + line, "\nCompassDB %u %n%u", &version, &checked, &checksum) == 2 && version > 1 &&
      ChecksumHolds(checksum, Checksum32(Slice(data.data(), line + static_cast<size_t>(checked)),
                                         kCurrentChecksumContext))) {
    return Status::NotSupported(path, "format version " + std::to_string(version) + " is not known to this release");
  }
  if (!named || (data != CurrentContents(*number) && !ChecksumsIgnored())) {
    return Status::Corruption(path, WhyMalformed(data));
  }
  return Status::OK();
}

Status Manifest::Replay(FileSystem* fs, const std::string& dir, uint64_t number,
                        const std::function<Status(const EditRecord&)>& apply, uint64_t* end) {
  uint64_t offset = 0;
  Status s = Follow(fs, dir, number, &offset, apply);
  if (end != nullptr) *end = offset;
  // CURRENT names it, so it must exist.
  if (!IsMissing(s)) return s;
  return Status::Corruption(ManifestFileName(dir, number), "named by CURRENT, but missing");
}

Status Manifest::Follow(FileSystem* fs, const std::string& dir, uint64_t number, uint64_t* offset,
                        const std::function<Status(const EditRecord&)>& apply) {
  const std::string path = ManifestFileName(dir, number);
  Status s = FollowFile(fs, path, number, offset, apply);
  while (s.ok() && MirrorContinues(fs, dir, number, *offset)) {
    // What the mirror has was durable in the manifest before: if written after that read, it is in the manifest now.
    const uint64_t before = *offset;
    s = FollowFile(fs, path, number, offset, apply);
    if (IsMissing(s)) return Status::OK();  // replaced since; it was read up to a commit
    if (s.ok() && *offset == before) {
      return Status::Corruption(path + " at offset " + std::to_string(before),
                                "a commit is damaged or cut off, which " + MirrorFileName("", number) +
                                    " has; RepairDB or `compassdb repair` takes it from there");
    }
  }
  return s;
}

Status Manifest::Salvage(FileSystem* fs, const std::string& dir, uint64_t number,
                         const std::function<Status(const EditRecord&)>& apply,
                         uint64_t* records, bool* whole) {
  *records = 0;
  *whole = true;
  const auto counted = [&](const EditRecord& edits) {
    Status s = apply(edits);
    if (s.ok()) ++*records;
    return s;
  };
  uint64_t offset = 0;
  Status s = FollowFile(fs, ManifestFileName(dir, number), number, &offset, counted);
  *whole = s.ok();
  // In turn, until neither has more.
  for (bool mirror = true;; mirror = !mirror) {
    const uint64_t before = offset;
    const std::string path = mirror ? MirrorFileName(dir, number) : ManifestFileName(dir, number);
    s = FollowFile(fs, path, number, &offset, counted);
    if (offset == before) break;
    if (mirror) *whole = false;
  }
  return s;
}

Status Manifest::Create(FileSystem* fs, const std::string& dir, uint64_t number,
                        const std::vector<VersionEdit>& snapshot, std::unique_ptr<Manifest>* out) {
  std::unique_ptr<Manifest> m(new Manifest());
  m->number_ = number;
  const std::string path = ManifestFileName(dir, number);
  std::unique_ptr<WritableFile> file;
  Status s = fs->NewWritableFile(path, FileOptions(), &file);
  if (!s.ok()) return s;
  m->log_ = std::make_unique<LogWriter>(std::move(file), path, number);
  std::string header;
  EncodeHeader(&header);
  s = m->log_->AddRecord(header);
  if (s.ok()) s = m->Append(snapshot);
  if (s.ok()) {
    std::string record;
    EncodeEdits(snapshot, &record);
    m->StartMirror(fs, dir, header, record);
    s = fs->SyncDir(dir);
  }
  if (s.ok()) s = WriteFileAtomically(fs, CurrentFileName(dir), CurrentContents(number));
  if (!s.ok()) return s;
  *out = std::move(m);
  return Status::OK();
}

// An error is ignored: the mirror is needed only for repair.
void Manifest::StartMirror(FileSystem* fs, const std::string& dir, const std::string& header,
                           const std::string& snapshot) {
  const std::string path = MirrorFileName(dir, number_);
  std::unique_ptr<WritableFile> file;
  Status s = fs->NewWritableFile(path, FileOptions(), &file);
  if (!s.ok()) return;
  mirror_ = std::make_unique<LogWriter>(std::move(file), path, number_);
  s = mirror_->AddRecord(header);
  if (s.ok()) s = mirror_->AddRecord(snapshot);
  if (s.ok()) s = mirror_->Sync();
  if (!s.ok()) mirror_.reset();
}

Status Manifest::Append(const std::vector<VersionEdit>& edits) {
  for (const VersionEdit& edit : edits) edit.CheckInvariants();
  std::string record;
  Status s = CatchOutOfMemory("the manifest", [&] {
    EncodeEdits(edits, &record);
    return log_->AddRecord(record);
  });
  if (s.ok()) s = log_->Sync();
  size_ = log_->Size();
  if (s.ok() && mirror_ != nullptr) {
    Status mirrored = CatchOutOfMemory("the manifest's mirror", [&] { return mirror_->AddRecord(record); });
    if (mirrored.ok()) mirrored = mirror_->Flush();
    if (!mirrored.ok()) mirror_.reset();
  }
  return s;
}

Status Manifest::Close() {
  if (mirror_ != nullptr) mirror_->Close().PermitUncheckedError();
  return log_->Close();
}

}  // namespace compassdb
