"""The texts of docs/designs.md about each design, in English and in Chinese. The figures come from
a run.
"""

from typing import NamedTuple


class Words(NamedTuple):
    """The same in both languages."""
    en: str
    zh: str


class Design(NamedTuple):
    """One design: its id in the program, its source in the founding documents, its file."""
    id: str
    source: str
    file: str
    name: Words
    how: Words
    when: Words


DESIGNS = [
    Design("tarry-embedded", "", "local/tarry.cpp",
           Words("tarry, embedded", "tarry，嵌入式"),
           Words("`file:` store, `sync=always`: synced before each answer; lease and ack",
                 "`file:` 存储，`sync=always`：每次答复前已 fsync；租约 + ack"),
           Words("Choose it when one machine holds the queue and nothing that was accepted may be "
                 "lost. It needs no other service. Several machines use it through `tarry serve`.",
                 "队列放在一台机器上、已接受的消息一条也不能丢时选它。不需要别的服务；"
                 "多台机器通过 `tarry serve` 使用。")),
    Design("tarry-redis", "", "local/tarry.cpp",
           Words("tarry on Redis", "tarry，基于 Redis"),
           Words("native layout; lease, fenced ack, wake-ups", "原生布局；租约、带栅栏的 ack、唤醒通知"),
           Words("Choose it when you run Redis already and several machines share the queue. Redis "
                 "decides what survives a crash: with `everysec`, up to a second of pushes "
                 "and acks.",
                 "已经在用 Redis、多台机器共享队列时选它。崩溃后留下什么由 Redis 决定："
                 "`everysec` 时最多丢一秒的 push 和 ack。")),
    Design("tarry-rabbitmq", "", "local/tarry.cpp",
           Words("tarry on RabbitMQ", "tarry，基于 RabbitMQ"),
           Words("a ladder of TTL queues; confirms, acks", "TTL 队列阶梯；发布确认、ack"),
           Words("Choose it when RabbitMQ is all that you have. It cannot cancel and cannot move a "
                 "message: no broker of queues can.",
                 "只有 RabbitMQ 时选它。不能取消、也不能改期：消息队列 broker 都做不到。")),
    Design("heap", "S16", "local/heap.cpp",
           Words("Heap in memory (`DelayQueue`)", "内存堆（`DelayQueue`）"),
           Words("process memory; nothing to settle", "进程内存；无需结算"),
           Words("Choose it for timers of one process that it can set again after a restart: "
                 "timeouts of its own requests. Everything pending dies with the process.",
                 "只用于一个进程自己的、重启后能重新设置的定时器，例如自己请求的超时。"
                 "进程一死，待处理的全部丢失。")),
    Design("plain-wheel", "S15", "local/plain_wheel.cpp",
           Words("Plain timing wheel, one level", "单层时间轮"),
           Words("process memory; 512 slots of 10 ms, rounds", "进程内存；512 格 × 10 ms，带圈数"),
           Words("Choose it when nearly all timers are shorter than the ring (5 s here). "
                 "Longer ones "
                 "are looked at in every round, so many of them cost time even when none is due.",
                 "几乎所有定时都短于一圈（这里 5 秒）时选它。更长的每圈都要看一遍，"
                 "积压一多，即使没有到期的也要花时间。")),
    Design("kafka-wheel", "S15", "local/kafka_wheel.cpp",
           Words("Kafka's wheels, driven by a queue of buckets", "Kafka 分层时间轮（桶队列驱动）"),
           Words("process memory; wheels of 20 slots from 1 ms up",
                 "进程内存；每层 20 格，最低层 1 ms"),
           Words("Choose it for very many timers in one process. Kafka itself uses it for requests "
                 "that wait at a broker. As a delay queue it lacks a disk.",
                 "一个进程里有大量定时器时选它；Kafka 用它管理 broker 上等待的请求。"
                 "作为延迟队列，它缺的是落盘。")),
    Design("sqlite-polled", "S16", "sql/sqlite_polled.cpp",
           Words("SQLite, polled", "SQLite 轮询"),
           Words("WAL, synced commits; a lease is a later due time; polls once a second",
                 "WAL，提交时 fsync；租约就是推迟到期时间；每秒查一次"),
           Words("Choose it when the program has SQLite already, a second of lateness is fine and "
                 "there are some thousands a minute.",
                 "程序已经在用 SQLite、晚一秒无妨、每分钟几千条时选它。")),
    Design("postgres-polled", "S16", "sql/postgres_polled.cpp",
           Words("PostgreSQL, polled with SKIP LOCKED", "PostgreSQL 轮询（SKIP LOCKED）"),
           Words("synced commits; the lock lasts as long as the connection; polls once a second",
                 "提交时 fsync；连接在，锁就在；每秒查一次"),
           Words("Choose it when the push has to commit together with your own rows: nothing else "
                 "here can do that. Dead rows make a busy table slow until vacuum has run.",
                 "push 必须和你自己的表在同一事务里提交时选它：这里别的方案都做不到。"
                 "繁忙的表会因死元组变慢，直到 vacuum。")),
    Design("zset-scan", "S1", "redis/zset_scan.cpp",
           Words("Timed ZSET scan", "ZSET 定时扫描"),
           Words("ZADD; ZRANGEBYSCORE every second, ZREM = 1 claims",
                 "ZADD；每秒 ZRANGEBYSCORE，ZREM 返回 1 即抢到"),
           Words("Choose it to understand the idea. It costs two commands and a round trip "
                 "for each "
                 "message, is late by its period, and loses the task in hand.",
                 "适合用来理解思路。每条消息两条命令、一次往返，会晚一个扫描周期，手里的任务会丢。")),
    Design("sharded-zsets", "S2", "redis/sharded_zsets.cpp",
           Words("M sharded ZSETs", "M 个分片 ZSET"),
           Words("hash(id) mod M; INCR mod M picks the one to scan",
                 "hash(id) mod M；INCR mod M 选要扫描的分片"),
           Words("Choose it over the plain scan when one scanner is too slow, and only then. One "
                 "Redis still does all the work; the lateness is that of the scan.",
                 "单个扫描器太慢时才用。活仍由一个 Redis 干；延迟误差和定时扫描一样。")),
    Design("lua-pop-one", "S3", "redis/lua_pop_one.cpp",
           Words("Lua, pops one", "Lua 弹出一条"),
           Words("eight scan threads, each sleeps 100 ms if nothing is due",
                 "八个扫描线程，没有到期的就睡 100 ms"),
           Words("Choose the batch (next) instead: the same code, a fraction of the commands.",
                 "选下面的批量版：代码一样，命令数少得多。")),
    Design("lua-batch", "S6, S7", "redis/lua_batch.cpp",
           Words("Lua, pops a batch", "Lua 批量弹出"),
           Words("ZRANGEBYSCORE + ZREM in one script; sleeps until the head is due",
                 "一个脚本里 ZRANGEBYSCORE + ZREM；睡到队首到期"),
           Words("Choose it when losing a batch at each crash of a consumer is acceptable, "
                 "as for hints and cache refreshes. It is the fastest of the simple ones.",
                 "消费者每次崩溃丢一批也能接受时（提示、缓存刷新）选它。简单方案里最快。")),
    Design("key-expiry", "S7", "redis/key_expiry.cpp",
           Words("Key-expiry events as the wake-up", "键过期事件作为唤醒"),
           Words("S6's ZSET, and a key for each due time whose expiry wakes the consumer",
                 "S6 的 ZSET，每个到期时间一个键，过期时唤醒消费者"),
           Words("Do not choose it. Redis sends the event when it notices the expired key, "
                 "not when "
                 "it expires; a consumer that is not connected misses it; the keys take "
                 "memory.",
                 "不要选。Redis 发现键过期时才发事件，不是到期那一刻；没连着的人听不到；键还占内存。")),
    Design("hourly-zsets", "S8", "redis/hourly_zsets.cpp",
           Words("A ZSET for each hour", "按小时分 ZSET"),
           Words("hour of due time in the key; a ZSET of hours says where to look",
                 "键里带到期小时；另一个 ZSET 记录有哪些小时"),
           Words("Do not choose it for speed: a ZSET's cost grows with the logarithm, and the "
                 "bookkeeping costs more. A use is to delete a whole hour at once.",
                 "别为了速度选它：ZSET 的代价只随对数增长，记账反而更贵。用处是可以整小时删除。")),
    Design("list-alone", "S6", "redis/list_alone.cpp",
           Words("A LIST alone", "只用 LIST"),
           Words("reads the whole LIST and selects the due tasks; LREM = 1 claims",
                 "整个 LIST 读出来挑到期的；LREM 返回 1 即抢到"),
           Words("Do not choose it. A LIST cannot sort by time: each look reads all pending "
                 "messages.",
                 "不要选。LIST 不能按时间排序：每次查看都要读全部积压。")),
    Design("zset-hash", "S10", "redis/zset_hash.cpp",
           Words("ZSET + HASH", "ZSET + HASH"),
           Words("ids and bodies apart; scripts enqueue and dequeue; the latest due comes first",
                 "id 与消息体分开；脚本入队出队；最晚到期的先出"),
           Words("Choose it over a bare ZSET when bodies are large or are cancelled by id. A "
                 "dequeued message is lost if its consumer dies.",
                 "消息体大，或要按 id 取消时，比裸 ZSET 好。出队之后消费者一死就没了。")),
    Design("leased-zset-hash", "S10", "redis/leased_zset_hash.cpp",
           Words("ZSET + HASH with a lease", "ZSET + HASH 加租约"),
           Words("claimed ids move to a ZSET of leases; an ack removes them",
                 "领取的 id 移到租约 ZSET；ack 时删除"),
           Words("Choose it when you must write it yourself and may lose nothing. It has no "
                 "receipt: "
                 "a late ack removes the message from the consumer that has it by now.",
                 "必须自己写、又不能丢时选它。没有回执：迟来的 ack 会删掉别人正在处理的消息。")),
    Design("redisson-scripts", "S11", "redis/redisson_scripts.cpp",
           Words("Redisson's scripts", "Redisson 的脚本"),
           Words("ZSET and LIST of entries, LIST of due values; no Java client",
                 "条目的 ZSET 和 LIST，到期值的 LIST；不用 Java 客户端"),
           Words("Choose something else: each transfer walks the LIST of all pending messages.",
                 "别选：每次转移都要遍历全部积压的 LIST。")),
    Design("redisson", "S11", "redis/redisson.cpp",
           Words("Redisson 4.7, the real one", "真正的 Redisson 4.7"),
           Words("RDelayedQueue in Java, `offerAsync` in batches, `poll` of many",
                 "Java 的 RDelayedQueue，批量 `offerAsync`，一次 `poll` 多条"),
           Words("Its authors have deprecated it. Choose it only where it runs already and few "
                 "messages are pending; tarry can take over its keys.",
                 "作者已弃用。只在已经在用、积压很少时保留；tarry 可以原地接管它的键。")),
    Design("event-processes", "S13", "rabbitmq/event_processes.cpp",
           Words("Event processes and a message queue", "Event 进程 + 消息队列"),
           Words("four ZSETs by hash, each with a process that hands due messages to RabbitMQ; "
                 "acks",
                 "按哈希分四个 ZSET，每个一个进程，到期的转给 RabbitMQ；ack"),
           Words("Choose it when the handlers are RabbitMQ consumers already. You run Redis, "
                 "RabbitMQ and an election of the processes; `tarry relay` is the same in one.",
                 "处理方已经是 RabbitMQ 消费者时选它。要运维 Redis、RabbitMQ 和选主；"
                 "`tarry relay` 把这些合成一个。")),
    Design("message-ttl", "S14", "rabbitmq/message_ttl.cpp",
           Words("RabbitMQ, TTL per message", "RabbitMQ，每条消息 TTL"),
           Words("`expiration`, one waiting queue, dead-lettered to the ready one",
                 "`expiration`，一个等待队列，死信到就绪队列"),
           Words("Do not choose it for mixed delays: a message expires only at the head of "
                 "the queue, "
                 "so a short delay waits behind a long one.",
                 "延迟长短不一时不要选：消息只在队首才过期，短延迟会排在长延迟后面干等。")),
    Design("queue-ttl", "S14", "rabbitmq/queue_ttl.cpp",
           Words("RabbitMQ, TTL per queue", "RabbitMQ，每个队列 TTL"),
           Words("a queue for each of some fixed delays; a delay is rounded up to the next",
                 "几种固定延迟各一个队列；延迟向上取整到下一档"),
           Words("Choose it when there are a few fixed delays, like 30 minutes for every order.",
                 "只有几种固定延迟（例如每个订单都是 30 分钟）时选它。")),
    Design("ttl-ladder", "S14", "rabbitmq/ttl_ladder.cpp",
           Words("RabbitMQ, a ladder of TTL queues", "RabbitMQ，TTL 队列阶梯"),
           Words("25 queues of 100 ms times powers of two; a message goes down the bits of "
                 "its delay",
                 "25 个队列，100 ms 乘 2 的幂；消息按延迟的二进制位逐级下降"),
           Words("Choose it when RabbitMQ is all there is and delays are mixed. Each set bit is a "
                 "hop of the message through a queue; the delay is rounded up to 100 ms.",
                 "只有 RabbitMQ、延迟长短不一时选它。延迟里每个为 1 的位是一次过队列；"
                 "延迟向上取整到 100 ms。")),
    Design("beanstalkd", "", "local/beanstalkd.cpp",
           Words("beanstalkd", "beanstalkd"),
           Words("delays in whole seconds; log synced every 50 ms; acks by `delete`",
                 "延迟以整秒计；日志每 50 ms fsync；以 `delete` 确认"),
           Words("Choose it for a small, old and steady work queue in memory on one machine.",
                 "需要一台机器上小巧、老牌、稳定的内存任务队列时选它。")),
]
