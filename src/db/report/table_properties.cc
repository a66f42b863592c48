// SPDX-License-Identifier: Apache-2.0
#include "db/report/table_properties.h"

#include "options/table_factories.h"
#include "rocksdb/filter_policy.h"
#include "util/coding.h"

namespace compassdb {

void AddCollectedCounts(rocksdb::TableProperties* props) {
  for (const auto& [name, count] :
       {std::pair(&rocksdb::TablePropertiesNames::kDeletedKeys, props->num_deletions),
        std::pair(&rocksdb::TablePropertiesNames::kMergeOperands, props->num_merge_operands)}) {
    std::string value;
    PutVarint64(&value, count);
    props->user_collected_properties[*name] = std::move(value);
  }
}

void AddOptionNames(const ColumnFamily& family, rocksdb::TableProperties* props) {
  const rocksdb::ColumnFamilyOptions options = family.options();
  props->prefix_extractor_name =
      options.prefix_extractor != nullptr ? options.prefix_extractor->AsString() : "nullptr";
  const auto policy = TableSettingsOf(options.table_factory.get()).block.filter_policy;
  props->filter_policy_name = policy != nullptr ? policy->Name() : "";
  const rocksdb::CompressionOptions& c = options.compression_opts;
  props->compression_options =
      "window_bits=" + std::to_string(c.window_bits) + "; level=" + std::to_string(c.level) +
      "; strategy=" + std::to_string(c.strategy) +
      "; max_dict_bytes=" + std::to_string(c.max_dict_bytes) +
      "; zstd_max_train_bytes=" + std::to_string(c.zstd_max_train_bytes) +
      "; enabled=" + std::to_string(c.enabled) +
      "; max_dict_buffer_bytes=" + std::to_string(c.max_dict_buffer_bytes) +
      "; use_zstd_dict_trainer=" + std::to_string(c.use_zstd_dict_trainer) + "; ";
}

void AddPieceProperties(const ColumnFamily& family, const PieceMeta& piece,
                        rocksdb::TableProperties* props) {
  props->column_family_id = family.id();
  props->column_family_name = family.name();
  props->comparator_name = family.user_comparator()->Name();
  if (family.merge_operator() != nullptr) {
    props->merge_operator_name = family.merge_operator()->Name();
  }
  props->orig_file_number = piece.extent.file_number;
  props->data_size += piece.data_bytes;
  props->num_entries += piece.num_records + piece.num_range_tombstones;
  props->num_deletions += piece.num_deletions + piece.num_range_tombstones;
  props->num_merge_operands += piece.num_merges;
  props->num_range_deletions += piece.num_range_tombstones;
  props->num_data_blocks += piece.num_blocks;
  props->raw_value_size += piece.raw_bytes;  // includes keys: they are not counted separately
  props->creation_time = props->file_creation_time = piece.creation_time;
  if (piece.collected != nullptr) {
    const CollectedProperties& collected = *piece.collected;
    props->property_collectors_names = collected.collectors;
    props->user_collected_properties.insert(collected.properties.begin(),
                                            collected.properties.end());
    props->readable_properties.insert(collected.readable.begin(), collected.readable.end());
  }
  AddCollectedCounts(props);
}

Status ReadPieceProperties(const ColumnFamily& family, const Piece& piece,
                           rocksdb::TableProperties* props) {
  AddPieceProperties(family, piece.meta(), props);
  AddOptionNames(family, props);
  CollectedProperties collected;
  if (Status s = piece.ReadCollected(&collected); !s.ok()) return s;
  props->user_collected_properties.merge(collected.properties);
  props->property_collectors_names = std::move(collected.collectors);
  return Status::OK();
}

}  // namespace compassdb
