#include "designs/rocksdb_queue.h"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "designs/ordered.h"
#include "harness/must.h"

namespace tarry::bench {
namespace {

void check(const rocksdb::Status& status, std::string_view what) {
  if (!status.ok()) give_up(what, status.ToString());
}

std::string timed(char kind, std::int64_t ms, std::uint64_t id) {
  const TimedKey key = timed_key(ms, id);
  return kind + std::string(key.begin(), key.end());
}

using RocksdbTaken = Leased<std::string>;

class RocksdbQueue final : public Design {
 public:
  RocksdbQueue(const std::string& path, Sync sync) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.write_buffer_size = 64u << 20;
    options.max_write_buffer_number = 4;
    options.max_background_jobs = 2;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(256u << 20);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options, path + "/rocksdb", &opened), "RocksDB opens");
    db_.reset(opened);
    write_.sync = sync == Sync::always;
    write_.memtable_insert_hint_per_batch = true;
  }

  void push(std::span<const Message> batch) override {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    std::uint64_t id = next_id_.fetch_add(batch.size());
    std::vector<std::pair<std::string, std::string_view>> sorted;
    sorted.reserve(batch.size());
    for (const Message& message : batch) {
      sorted.emplace_back(timed('d', message.due_ms, id++), message.payload);
    }
    std::sort(sorted.begin(), sorted.end());
    rocksdb::WriteBatch writes;
    for (const auto& [key, payload] : sorted) {
      writes.Put(key, rocksdb::Slice(payload.data(), payload.size()));
    }
    check(db_->Write(write_, &writes), "push");
    const std::scoped_lock lock(claims_);
    if (sorted.front().first < from_) from_ = sorted.front().first;
  }

  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<RocksdbTaken>();
    pick(max, timed('d', now_ms() + 1, 0), *taken);
    if (taken->size() == 0) return taken;
    for (const std::string& key : taken->keys) {
      taken->leases.emplace_back(timed('l', taken->deadline_ms, big_at(&key[9])), key.substr(1, 8));
    }
    std::sort(taken->leases.begin(), taken->leases.end());
    rocksdb::WriteBatch writes;
    for (const auto& [key, due] : taken->leases) writes.Put(key, due);
    check(db_->Write(write_, &writes), "claim");
    return taken;
  }

  void settle(const Claimed& claimed) override {
    const auto& taken = static_cast<const RocksdbTaken&>(claimed);
    rocksdb::WriteBatch writes;
    for (const std::string& key : taken.keys) writes.SingleDelete(key);
    for (const auto& [key, due] : taken.leases) writes.SingleDelete(key);
    check(db_->Write(write_, &writes), "settle");
    const std::scoped_lock lock(claims_);
    for (const std::uint64_t id : taken.ids) picked_.erase(id);
  }

 private:
  // Only one claim at a time picks messages, so that two claims take different ones. Everything
  // else runs in parallel.
  void pick(std::size_t max, const std::string& end, RocksdbTaken& taken) {
    rocksdb::ReadOptions options;
    const rocksdb::Slice upper(end);
    options.iterate_upper_bound = &upper;
    const std::scoped_lock lock(claims_);
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
    for (at->Seek(from_); at->Valid() && taken.ids.size() < max; at->Next()) {
      const rocksdb::Slice key = at->key();
      const std::uint64_t id = big_at(key.data() + 9);
      from_.assign(key.data(), key.size());
      from_.push_back('\0');
      if (!picked_.insert(id).second) continue;
      taken.ids.push_back(id);
      taken.keys.push_back(key.ToString());
      taken.payloads.push_back(at->value().ToString());
    }
    check(at->status(), "range read");
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
  std::atomic<std::uint64_t> next_id_{1};
  std::mutex claims_;
  std::string from_ = "d";                    // no waiting message is before it
  std::unordered_set<std::uint64_t> picked_;  // claimed, but not settled
};

}  // namespace

std::unique_ptr<Design> make_rocksdb_queue(const std::string& path, Sync sync) {
  return std::make_unique<RocksdbQueue>(path, sync);
}

}  // namespace tarry::bench
