// S16: a scheduler that polls a database, on one machine: SQLite in WAL mode, each commit synced. A
// claim moves the due time of up to `max` rows to the end of their lease, so that they become due
// again unless they are deleted. It polls once a second, as in S13's document.
#ifdef TARRY_BENCH_SQLITE

#include <sqlite3.h>

#include <string>

#include "designs/openers.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class SqlitePolled final : public Compared {
 public:
  explicit SqlitePolled(const Place& place) : lease_ms_(place.lease_ms) {
    const std::string path = place.directory + "/queue.db";
    must_be(sqlite3_open(path.c_str(), &db_), SQLITE_OK, "opening");
    sqlite3_busy_timeout(db_, 30'000);
    execute("PRAGMA journal_mode=WAL");
    execute("PRAGMA synchronous=FULL");
    execute(
        "CREATE TABLE IF NOT EXISTS delayed (id INTEGER PRIMARY KEY, name TEXT UNIQUE,"
        " due INTEGER, body BLOB)");
    execute("CREATE INDEX IF NOT EXISTS delayed_due ON delayed (due)");
    insert_ = prepared("INSERT INTO delayed (name, due, body) VALUES (?1, ?2, ?3)");
    claim_ = prepared(
        "UPDATE delayed SET due = ?2 WHERE id IN"
        " (SELECT id FROM delayed WHERE due <= ?1 ORDER BY due LIMIT ?3) RETURNING id, body");
    delete_ = prepared("DELETE FROM delayed WHERE id = ?1");
    cancel_ = prepared("DELETE FROM delayed WHERE name = ?1");
    move_ = prepared("UPDATE delayed SET due = ?2 WHERE name = ?1");
  }
  ~SqlitePolled() override {
    for (sqlite3_stmt* each : {insert_, claim_, delete_, cancel_, move_}) sqlite3_finalize(each);
    sqlite3_close(db_);
  }
  SqlitePolled(const SqlitePolled&) = delete;
  SqlitePolled& operator=(const SqlitePolled&) = delete;

  void push(std::span<const Message> batch) override {
    execute("BEGIN IMMEDIATE");
    for (const Message& message : batch) {
      bind_text(insert_, 1, message.key);
      sqlite3_bind_int64(insert_, 2, message.due_ms);
      bind_text(insert_, 3, message.payload);
      step_to_end(insert_);
    }
    execute("COMMIT");
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Taken>();
    const std::int64_t now = now_ms();
    execute("BEGIN IMMEDIATE");
    sqlite3_bind_int64(claim_, 1, now);
    sqlite3_bind_int64(claim_, 2, now + lease_ms_);
    sqlite3_bind_int64(claim_, 3, static_cast<std::int64_t>(max));
    ++requests_;
    while (sqlite3_step(claim_) == SQLITE_ROW) {
      taken->tokens.push_back(std::to_string(sqlite3_column_int64(claim_, 0)));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(claim_, 1));
      taken->payloads.emplace_back(static_cast<const char*>(sqlite3_column_blob(claim_, 1)), size);
    }
    must_be(sqlite3_reset(claim_), SQLITE_OK, "claiming");
    execute("COMMIT");
    return taken;
  }
  void settle(const Claimed& claimed) override {
    execute("BEGIN IMMEDIATE");
    for (const std::string& id : static_cast<const Taken&>(claimed).tokens) {
      bind_text(delete_, 1, id);
      step_to_end(delete_);
    }
    execute("COMMIT");
  }
  bool cancel(const Message& message) override {
    bind_text(cancel_, 1, message.key);
    step_to_end(cancel_);
    return sqlite3_changes(db_) == 1;
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    bind_text(move_, 1, message.key);
    sqlite3_bind_int64(move_, 2, due_ms);
    step_to_end(move_);
    return sqlite3_changes(db_) == 1;
  }
  void clear() override { execute("DELETE FROM delayed"); }
  std::uint64_t requests() const override { return requests_; }

 private:
  void rest(std::int64_t most_ms) override { sleep(1'000, most_ms); }

  void must_be(int got, int wanted, const char* what) {
    if (got != wanted) give_up(std::string("SQLite, ") + what, sqlite3_errmsg(db_));
  }
  void execute(const char* sql) {
    ++requests_;
    must_be(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr), SQLITE_OK, sql);
  }
  sqlite3_stmt* prepared(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    must_be(sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr), SQLITE_OK, sql);
    return statement;
  }
  static void bind_text(sqlite3_stmt* statement, int index, std::string_view text) {
    sqlite3_bind_text(statement, index, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
  void step_to_end(sqlite3_stmt* statement) {
    ++requests_;
    must_be(sqlite3_step(statement), SQLITE_DONE, "a statement");
    sqlite3_reset(statement);
  }

  const std::int64_t lease_ms_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* claim_ = nullptr;
  sqlite3_stmt* delete_ = nullptr;
  sqlite3_stmt* cancel_ = nullptr;
  sqlite3_stmt* move_ = nullptr;
  std::uint64_t requests_ = 0;
};

}  // namespace

Opened open_sqlite_polled(const Place& place, Role /*role*/) {
  return std::make_unique<SqlitePolled>(place);
}

}  // namespace tarry::bench

#endif
