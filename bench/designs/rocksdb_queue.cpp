#include "designs/rocksdb_queue.h"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

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

std::string message_key(std::uint64_t id) {
  std::string key(9, 'm');
  put_big(key.data() + 1, id);
  return key;
}
std::string timed(char kind, std::int64_t ms, std::uint64_t id) {
  const TimedKey key = timed_key(ms, id);
  return kind + std::string(key.data(), key.size());
}

class RocksdbQueue final : public Design {
 public:
  RocksdbQueue(const std::string& path, Sync sync) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.write_buffer_size = 64u << 20;
    options.max_write_buffer_number = 4;
    options.recycle_log_file_num = 4;
    options.max_background_jobs = 2;
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(256u << 20);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options, path + "/rocksdb", &opened), "RocksDB opens");
    db_.reset(opened);
    write_.sync = sync == Sync::always;
  }

  std::string_view name() const override { return "RocksDB"; }

  void push(std::span<const Message> batch) override {
    std::uint64_t id = next_id_.fetch_add(batch.size());
    rocksdb::WriteBatch writes;
    std::string earliest;
    for (const Message& message : batch) {
      const std::string due = timed('d', message.due_ms, id);
      writes.Put(message_key(id), rocksdb::Slice(message.payload.data(), message.payload.size()));
      writes.Put(due, rocksdb::Slice());
      if (earliest.empty() || due < earliest) earliest = due;
      ++id;
    }
    check(db_->Write(write_, &writes), "push");
    const std::scoped_lock lock(claims_);
    if (earliest < from_) from_ = earliest;
  }

  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Leased>();
    rocksdb::WriteBatch writes;
    pick(max, timed('d', now_ms() + 1, 0), writes, *taken);
    if (taken->ids.empty()) return taken;
    read(*taken);
    check(db_->Write(write_, &writes), "claim");
    const std::scoped_lock lock(claims_);
    for (const std::uint64_t id : taken->ids) picked_.erase(id);
    return taken;
  }

  void settle(const Claimed& claimed) override {
    const auto& taken = static_cast<const Leased&>(claimed);
    rocksdb::WriteBatch writes;
    for (const std::uint64_t id : taken.ids) {
      writes.SingleDelete(timed('l', taken.deadline_ms, id));
      writes.SingleDelete(message_key(id));
    }
    check(db_->Write(write_, &writes), "settle");
  }

 private:
  // Two claims at once take different messages: who picks is alone, but only who picks.
  void pick(std::size_t max, const std::string& end, rocksdb::WriteBatch& writes, Leased& taken) {
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
      writes.SingleDelete(key);
      writes.Put(timed('l', taken.deadline_ms, id), rocksdb::Slice());
      taken.ids.push_back(id);
    }
    check(at->status(), "range read");
  }

  void read(Leased& taken) {
    std::vector<std::string> keys;
    keys.reserve(taken.ids.size());
    for (const std::uint64_t id : taken.ids) keys.push_back(message_key(id));
    const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    db_->MultiGet(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), keys.size(), slices.data(),
                  values.data(), statuses.data());
    taken.payloads.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      check(statuses[i], "read");
      taken.payloads.emplace_back(values[i].data(), values[i].size());
    }
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
  std::atomic<std::uint64_t> next_id_{1};
  std::mutex claims_;
  std::string from_ = "d";                    // nothing that waits is before it
  std::unordered_set<std::uint64_t> picked_;  // claims under way
};

}  // namespace

std::unique_ptr<Design> make_rocksdb_queue(const std::string& path, Sync sync) {
  return std::make_unique<RocksdbQueue>(path, sync);
}

}  // namespace tarry::bench
