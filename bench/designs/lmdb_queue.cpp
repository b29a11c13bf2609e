#include "designs/lmdb_queue.h"

#include <lmdb.h>

#include <utility>

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

class LmdbQueue final : public Design {
 public:
  LmdbQueue(const std::string& path, Sync sync) {
    check_lmdb(::mdb_env_create(&env_), "LMDB");
    check_lmdb(::mdb_env_set_mapsize(env_, kMapBytes), "map size");
    check_lmdb(::mdb_env_set_maxdbs(env_, 3), "databases");
    const unsigned flags = sync == Sync::always ? 0u : MDB_WRITEMAP | MDB_NOSYNC;
    check_lmdb(::mdb_env_open(env_, path.c_str(), flags, 0600), "LMDB opens");
    Transaction transaction(env_);
    check_lmdb(
        ::mdb_dbi_open(transaction.get(), "messages", MDB_CREATE | MDB_INTEGERKEY, &messages_),
        "messages");
    check_lmdb(::mdb_dbi_open(transaction.get(), "waiting", MDB_CREATE, &waiting_), "waiting");
    check_lmdb(::mdb_dbi_open(transaction.get(), "leases", MDB_CREATE, &leases_), "leases");
    transaction.commit();
  }
  ~LmdbQueue() override { ::mdb_env_close(env_); }
  LmdbQueue(const LmdbQueue&) = delete;
  LmdbQueue& operator=(const LmdbQueue&) = delete;

  std::string_view name() const override { return "LMDB"; }

  void push(std::span<const Message> batch) override {
    Transaction transaction(env_);
    for (const Message& message : batch) {
      const std::uint64_t id = next_id_++;  // a transaction that writes is alone
      MDB_val key = val(&id, sizeof id);
      MDB_val value = val(message.payload.data(), message.payload.size());
      check_lmdb(::mdb_put(transaction.get(), messages_, &key, &value, MDB_APPEND), "push");
      put_timed(transaction, waiting_, timed_key(message.due_ms, id));
    }
    transaction.commit();
  }

  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Leased>();
    const std::int64_t now = now_ms();
    Transaction transaction(env_);
    MDB_cursor* cursor = nullptr;
    check_lmdb(::mdb_cursor_open(transaction.get(), waiting_, &cursor), "range read");
    MDB_val key{};
    MDB_val nothing{};
    while (taken->ids.size() < max) {
      const int code = ::mdb_cursor_get(cursor, &key, &nothing, MDB_FIRST);
      if (code == MDB_NOTFOUND) break;
      check_lmdb(code, "range read");
      const auto* bytes = static_cast<const char*>(key.mv_data);
      if (static_cast<std::int64_t>(big_at(bytes)) > now) break;
      const std::uint64_t id = big_at(bytes + 8);
      check_lmdb(::mdb_cursor_del(cursor, 0), "claim");
      MDB_val by_id = val(&id, sizeof id);
      MDB_val value{};
      check_lmdb(::mdb_get(transaction.get(), messages_, &by_id, &value), "read");
      taken->payloads.emplace_back(static_cast<const char*>(value.mv_data), value.mv_size);
      taken->ids.push_back(id);
    }
    ::mdb_cursor_close(cursor);
    if (taken->ids.empty()) return taken;
    for (const std::uint64_t id : taken->ids) {
      put_timed(transaction, leases_, timed_key(taken->deadline_ms, id));
    }
    transaction.commit();
    return taken;
  }

  void settle(const Claimed& claimed) override {
    const auto& taken = static_cast<const Leased&>(claimed);
    Transaction transaction(env_);
    for (const std::uint64_t id : taken.ids) {
      const TimedKey lease = timed_key(taken.deadline_ms, id);
      MDB_val key = val(lease.data(), lease.size());
      check_lmdb(::mdb_del(transaction.get(), leases_, &key, nullptr), "settle");
      MDB_val by_id = val(&id, sizeof id);
      check_lmdb(::mdb_del(transaction.get(), messages_, &by_id, nullptr), "settle");
    }
    transaction.commit();
  }

 private:
  static void put_timed(const Transaction& transaction, MDB_dbi into, const TimedKey& timed) {
    MDB_val key = val(timed.data(), timed.size());
    MDB_val nothing = val("", 0);
    check_lmdb(::mdb_put(transaction.get(), into, &key, &nothing, 0), "put");
  }

  MDB_env* env_ = nullptr;
  MDB_dbi messages_ = 0;
  MDB_dbi waiting_ = 0;
  MDB_dbi leases_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace

std::unique_ptr<Design> make_lmdb_queue(const std::string& path, Sync sync) {
  return std::make_unique<LmdbQueue>(path, sync);
}

}  // namespace tarry::bench
