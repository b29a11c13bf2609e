// S16: a scheduler that polls a database: PostgreSQL, with SKIP LOCKED. A claim locks up to `max`
// due rows in a transaction, and skips rows that others have locked; settling deletes the rows and
// commits. If a consumer dies, its connection ends and its locks with it, so the rows are free at
// once. It polls once a second, as in S13's document. Commits are synced, which is the default.
#ifdef TARRY_BENCH_POSTGRES

#include <libpq-fe.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>

#include "designs/openers.h"
#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

class PostgresPolled final : public Compared {
 public:
  explicit PostgresPolled(const Place& place)
      : connection_(PQconnectdb(
            ("host=" + place.postgres_directory + " user=postgres dbname=postgres").c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) give_up("PostgreSQL", PQerrorMessage(connection_));
  }
  ~PostgresPolled() override { PQfinish(connection_); }
  PostgresPolled(const PostgresPolled&) = delete;
  PostgresPolled& operator=(const PostgresPolled&) = delete;

  void clear() override {
    ask("SET client_min_messages = warning");
    ask("DROP TABLE IF EXISTS delayed");
    ask("CREATE TABLE delayed (id bigserial PRIMARY KEY, name text UNIQUE, due bigint, body text)");
    ask("CREATE INDEX delayed_due ON delayed (due)");
  }
  void push(std::span<const Message> batch) override {
    std::string names = "{";
    std::string times = "{";
    std::string bodies = "{";
    for (const Message& message : batch) {
      names.append(names.size() > 1 ? ",\"" : "\"").append(message.key).append("\"");
      times.append(times.size() > 1 ? "," : "").append(std::to_string(message.due_ms));
      bodies.append(bodies.size() > 1 ? ",\"" : "\"").append(message.payload).append("\"");
    }
    ask("INSERT INTO delayed (name, due, body)"
        " SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])",
        {names + "}", times + "}", bodies + "}"});
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override {
    auto taken = std::make_unique<Taken>();
    ask("BEGIN");
    const Answer got =
        ask("SELECT id, body FROM delayed WHERE due <= $1::bigint ORDER BY due LIMIT $2::bigint"
            " FOR UPDATE SKIP LOCKED",
            {std::to_string(now_ms()), std::to_string(max)});
    for (int row = 0; row < PQntuples(got.get()); ++row) {
      taken->tokens.emplace_back(PQgetvalue(got.get(), row, 0));
      taken->payloads.emplace_back(PQgetvalue(got.get(), row, 1));
    }
    if (taken->size() == 0) ask("COMMIT");
    return taken;
  }
  void settle(const Claimed& claimed) override {
    std::string ids = "{";
    for (const std::string& id : static_cast<const Taken&>(claimed).tokens) {
      ids.append(ids.size() > 1 ? "," : "").append(id);
    }
    ask("DELETE FROM delayed WHERE id = ANY($1::bigint[])", {ids + "}"});
    ask("COMMIT");
  }
  bool cancel(const Message& message) override {
    return changed(ask("DELETE FROM delayed WHERE name = $1", {std::string(message.key)}));
  }
  bool reschedule(const Message& message, std::int64_t due_ms) override {
    return changed(ask("UPDATE delayed SET due = $2::bigint WHERE name = $1",
                       {std::string(message.key), std::to_string(due_ms)}));
  }
  std::uint64_t requests() const override { return requests_; }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Answer = std::unique_ptr<PGresult, Clear>;

  Answer ask(const char* sql, std::initializer_list<std::string> values = {}) {
    std::vector<const char*> words;
    for (const std::string& value : values) words.push_back(value.c_str());
    ++requests_;
    Answer answer(PQexecParams(connection_, sql, static_cast<int>(words.size()), nullptr,
                               words.data(), nullptr, nullptr, 0));
    const ExecStatusType status = PQresultStatus(answer.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      give_up("PostgreSQL", PQerrorMessage(connection_));
    }
    return answer;
  }
  static bool changed(const Answer& answer) { return std::atoi(PQcmdTuples(answer.get())) == 1; }
  void rest(std::int64_t most_ms) override { sleep(1'000, most_ms); }

  PGconn* connection_;
  std::uint64_t requests_ = 0;
};

}  // namespace

Opened open_postgres_polled(const Place& place, Role /*role*/) {
  return std::make_unique<PostgresPolled>(place);
}

}  // namespace tarry::bench

#endif
