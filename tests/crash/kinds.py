"""The kinds of rounds, by the names under which `scripts/crash` knows them."""

import random

from clock import run_clock
from full_disk import FullDiskLife
from redis_cluster_life import RedisClusterLife
from redis_daemons import RedisDaemonKillLife, RedisDeafLife, kill_a_worker
from redis_failover import RedisFailoverLife
from redis_flow import run_flow
from redis_full import RedisFullLife
from redis_life import RedisFlushLife, RedisKillLife, RedisLongStopLife, RedisStopLife
from redis_loss import RedisLossLife
from redis_reshard import (RedisBareClusterReshardLife, RedisClusterReshardLife,
                           RedisReshardLife)
from rounds import run_plan
from stop import StopLife, run_workers

# A round with workers takes seconds; there is one for every so many rounds of the server.
WORKERS_A_ROUND = 10
MESSAGES_A_ROUND = 1000
# The work of 8 daemons and 8 Python clients on two cores is more than that.
MESSAGES_A_SECOND = 4000


def run_kill(plan, figures):
    run_plan(plan, figures)


def run_full_disk(plan, figures):
    """Raises disk.NoDisk if no disk can be mounted."""
    run_plan(plan, figures, FullDiskLife)


def run_stop(plan, figures):
    run_plan(plan, figures, StopLife)
    run_workers(plan, figures, max(1, plan.rounds // WORKERS_A_ROUND))


def run_redis_daemons(plan, figures):
    run_plan(plan, figures, RedisDaemonKillLife)
    rng = random.Random(plan.seed)
    for _ in range(max(1, plan.rounds // WORKERS_A_ROUND)):
        if plan.over():
            return
        figures.update(kill_a_worker(plan, random.Random(rng.random())))


def run_redis_flow(plan, figures):
    figures.update(run_flow(plan.seed, plan.rounds * MESSAGES_A_ROUND, MESSAGES_A_SECOND, plan.say))


def run_redis_reshard(plan, figures):
    for life in (RedisReshardLife, RedisClusterReshardLife, RedisBareClusterReshardLife):
        if not plan.over():
            run_plan(plan, figures, life)


def run_redis_reshard_cluster(plan, figures):
    for life in (RedisClusterReshardLife, RedisBareClusterReshardLife):
        if not plan.over():
            run_plan(plan, figures, life)


def _rounds_of(life):
    return lambda plan, figures: run_plan(plan, figures, life)


KINDS = {
    "kill": run_kill,
    "full-disk": run_full_disk,
    "stop": run_stop,
    "clock": run_clock,
    "redis-kill": _rounds_of(RedisKillLife),
    "redis-loss": _rounds_of(RedisLossLife),
    "redis-flush": _rounds_of(RedisFlushLife),
    "redis-stop": _rounds_of(RedisStopLife),
    "redis-long-stop": _rounds_of(RedisLongStopLife),
    "redis-full": _rounds_of(RedisFullLife),
    "redis-deaf": _rounds_of(RedisDeafLife),
    "redis-daemons": run_redis_daemons,
    "redis-cluster": _rounds_of(RedisClusterLife),
    "redis-reshard": run_redis_reshard,
    "redis-reshard-cluster": run_redis_reshard_cluster,
    "redis-failover": _rounds_of(RedisFailoverLife),
    "redis-flow": run_redis_flow,
}
