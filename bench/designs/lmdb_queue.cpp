#include "designs/lmdb_queue.h"

#include <lmdb.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>
#include <vector>

#include "designs/ordered.h"
#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kMapBytes = std::size_t{64} << 30;

void check_lmdb(int code, std::string_view what) {
  if (code != MDB_SUCCESS) give_up(what, ::mdb_strerror(code));
}

MDB_val val(const void* bytes, std::size_t size) { return {size, const_cast<void*>(bytes)}; }

class Transaction {
 public:
  explicit Transaction(MDB_env* env) {
    check_lmdb(::mdb_txn_begin(env, nullptr, 0, &transaction_), "transaction");
  }
  ~Transaction() {
    if (transaction_ != nullptr) ::mdb_txn_abort(transaction_);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() { check_lmdb(::mdb_txn_commit(std::exchange(transaction_, nullptr)), "commit"); }
  MDB_txn* get() const { return transaction_; }

 private:
  MDB_txn* transaction_ = nullptr;
};

using LmdbTaken = Leased<TimedKey>;

class LmdbQueue final : public Design {
 public:
  LmdbQueue(const std::string& path, Sync sync) {
    check_lmdb(::mdb_env_create(&env_), "LMDB");
    check_lmdb(::mdb_env_set_mapsize(env_, kMapBytes), "map size");
    check_lmdb(::mdb_env_set_maxdbs(env_, 2), "databases");
    const unsigned flags = sync == Sync::always ? 0u : MDB_WRITEMAP | MDB_NOSYNC;
    check_lmdb(::mdb_env_open(env_, path.c_str(), flags, 0600), "LMDB opens");
    Transaction transaction(env_);
    check_lmdb(::mdb_dbi_open(transaction.get(), "messages", MDB_CREATE, &messages_), "messages");
    check_lmdb(::mdb_dbi_open(transaction.get(), "leases", MDB_CREATE, &leases_), "leases");
    transaction.commit();
  }
  ~LmdbQueue() override { ::mdb_env_close(env_); }
  LmdbQueue(const LmdbQueue&) = delete;
  LmdbQueue& operator=(const LmdbQueue&) = delete;

  void push(std::span<const Message> batch) override {
    std::vector<std::pair<TimedKey, std::string_view>> sorted;
    sorted.reserve(batch.size());
    Transaction transaction(env_);  // a writing transaction is alone, so it guards the members too
    for (const Message& message : batch) {
      sorted.emplace_back(timed_key(message.due_ms, next_id_++), message.payload);
    }
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [key, payload] : sorted) put(transaction, messages_, key, payload);
    from_ = std::min(from_, sorted.front().first);
    transaction.commit();
  }

  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<LmdbTaken>();
    const TimedKey end = timed_key(now_ms() + 1, 0);
    Transaction transaction(env_);
    pick(transaction, max, end, *taken);
    if (taken->size() == 0) return taken;
    for (const TimedKey& key : taken->keys) {
      taken->leases.emplace_back(timed_key(taken->deadline_ms, big_at(&key[8])), key);
    }
    std::sort(taken->leases.begin(), taken->leases.end());
    for (const auto& [lease, key] : taken->leases) {
      put(transaction, leases_, lease,
          std::string_view(reinterpret_cast<const char*>(key.data()), 8));
    }
    transaction.commit();
    return taken;
  }

  void settle(const Claimed& claimed) override {
    const auto& taken = static_cast<const LmdbTaken&>(claimed);
    Transaction transaction(env_);
    for (const TimedKey& key : taken.keys) {
      remove(transaction, messages_, key);
      picked_.erase(big_at(&key[8]));
    }
    for (const auto& [lease, key] : taken.leases) remove(transaction, leases_, lease);
    transaction.commit();
  }

 private:
  void pick(const Transaction& transaction, std::size_t max, const TimedKey& end,
            LmdbTaken& taken) {
    MDB_cursor* cursor = nullptr;
    check_lmdb(::mdb_cursor_open(transaction.get(), messages_, &cursor), "range read");
    MDB_val key = val(from_.data(), from_.size());
    MDB_val value{};
    int code = ::mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    for (; code == MDB_SUCCESS && taken.size() < max;
         code = ::mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
      TimedKey at{};
      std::memcpy(at.data(), key.mv_data, at.size());
      if (!(at < end)) break;
      from_ = at;
      if (!picked_.insert(big_at(&at[8])).second) continue;
      taken.ids.push_back(big_at(&at[8]));
      taken.keys.push_back(at);
      taken.payloads.emplace_back(static_cast<const char*>(value.mv_data), value.mv_size);
    }
    ::mdb_cursor_close(cursor);
    if (code != MDB_NOTFOUND) check_lmdb(code, "range read");
  }

  static void put(const Transaction& transaction, MDB_dbi into, const TimedKey& timed,
                  std::string_view bytes) {
    MDB_val key = val(timed.data(), timed.size());
    MDB_val value = val(bytes.data(), bytes.size());
    check_lmdb(::mdb_put(transaction.get(), into, &key, &value, 0), "put");
  }
  static void remove(const Transaction& transaction, MDB_dbi from, const TimedKey& timed) {
    MDB_val key = val(timed.data(), timed.size());
    check_lmdb(::mdb_del(transaction.get(), from, &key, nullptr), "delete");
  }

  MDB_env* env_ = nullptr;
  MDB_dbi messages_ = 0;
  MDB_dbi leases_ = 0;
  std::uint64_t next_id_ = 1;
  TimedKey from_{};                           // no waiting message is before it
  std::unordered_set<std::uint64_t> picked_;  // claimed, but not settled
};

}  // namespace

std::unique_ptr<Design> make_lmdb_queue(const std::string& path, Sync sync) {
  return std::make_unique<LmdbQueue>(path, sync);
}

}  // namespace tarry::bench
