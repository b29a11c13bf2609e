// The designs of docs/designs.md, in its order. The list is written by hand: nothing registers
// itself.
#include "designs/openers.h"

namespace tarry::bench {
namespace {

#ifdef TARRY_BENCH_SQLITE
constexpr auto kOpenSqlite = open_sqlite_polled;
#else
constexpr decltype(Entry::open) kOpenSqlite = nullptr;
#endif
#ifdef TARRY_BENCH_POSTGRES
constexpr auto kOpenPostgres = open_postgres_polled;
#else
constexpr decltype(Entry::open) kOpenPostgres = nullptr;
#endif
#ifdef TARRY_WITH_RABBITMQ
constexpr auto kOpenEventProcesses = open_event_processes;
constexpr auto kOpenMessageTtl = open_message_ttl;
constexpr auto kOpenQueueTtl = open_queue_ttl;
constexpr auto kOpenTtlLadder = open_ttl_ladder;
constexpr auto kOpenTarryOnRabbitmq = open_tarry_on_rabbitmq;
#else
constexpr decltype(Entry::open) kOpenEventProcesses = nullptr;
constexpr decltype(Entry::open) kOpenMessageTtl = nullptr;
constexpr decltype(Entry::open) kOpenQueueTtl = nullptr;
constexpr decltype(Entry::open) kOpenTtlLadder = nullptr;
constexpr decltype(Entry::open) kOpenTarryOnRabbitmq = nullptr;
#endif

constexpr Entry kEntries[] = {
    {"tarry-embedded", kNothing, true, open_tarry_embedded},
    {"tarry-redis", kRedis, false, open_tarry_on_redis},
    {"tarry-rabbitmq", kRabbit, false, kOpenTarryOnRabbitmq},
    {"heap", kNothing, true, open_heap},
    {"plain-wheel", kNothing, true, open_plain_wheel},
    {"kafka-wheel", kNothing, true, open_kafka_wheel},
    {"sqlite-polled", kNothing, false, kOpenSqlite},
    {"postgres-polled", kPostgres, false, kOpenPostgres},
    {"zset-scan", kRedis, false, open_zset_scan},
    {"sharded-zsets", kRedis, false, open_sharded_zsets},
    {"lua-pop-one", kRedis, false, open_lua_pop_one},
    {"lua-batch", kRedis, false, open_lua_batch},
    {"key-expiry", kRedis, false, open_key_expiry},
    {"hourly-zsets", kRedis, false, open_hourly_zsets},
    {"list-alone", kRedis, false, open_list_alone},
    {"zset-hash", kRedis, false, open_zset_hash},
    {"leased-zset-hash", kRedis, false, open_leased_zset_hash},
    {"redisson-scripts", kRedis, false, open_redisson_scripts},
    {"redisson", kRedis | kJava, false, open_redisson},
    {"event-processes", kRedis | kRabbit, false, kOpenEventProcesses},
    {"message-ttl", kRabbit, false, kOpenMessageTtl},
    {"queue-ttl", kRabbit, false, kOpenQueueTtl},
    {"ttl-ladder", kRabbit, false, kOpenTtlLadder},
    {"beanstalkd", kBeanstalk, false, open_beanstalkd},
};

}  // namespace

std::span<const Entry> compared_designs() { return kEntries; }

}  // namespace tarry::bench
