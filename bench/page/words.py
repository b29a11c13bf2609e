"""The words of docs/designs.md and docs/designs.zh-CN.md between the figures. The pages themselves
are page.en.md and page.zh.md beside this file.
"""

from pathlib import Path


def _template(language):
    return (Path(__file__).parent / f"page.{language}.md").read_text(encoding="utf-8")


WORDS = {
    "en": {
        "page": _template("en"),
        "made": "`scripts/bench designs` measured this from {date} to {ended}, on this machine: "
                "{cpu}, {cores} cores, {memory}, Linux {kernel}; {packages}. The load average was "
                "{load} before it began. Above 0.5, the machine was busy with something else: "
                "then compare the designs with each other, and do not take the figures for what "
                "this machine can do.",
        "rounds": "The designs took turns. The numbers of rounds are: rates {rates}, lateness "
                  "{lateness}, deaths {kills}; growth, space and the rest were measured once. A "
                  "figure of several rounds is their median, with the lowest and the highest in "
                  "brackets. Losses and doubles are the sums over all rounds; the largest lateness "
                  "is that of any round.",
        "runs": "The page is made of {runs} runs, which may have run beside each other.",
        "quick": "It was a `--quick` run: shorter, with fewer messages, and not to be quoted.",
        "left_out": "Left out, or only in part:",
        "yes": "yes", "no": "no", "unknown": "-", "design": "design", "push": "push",
        "claim": "claim", "not_in_time": "only after the long one",
        "what_heads": ["design", "source", "how", "cancel", "reschedule"],
        "rate_heads": ["design", "push /s", "claim /s", "lifecycles /s", "commands a message",
                       "Redis's µs a message"],
        "late_heads": ["design", "p50", "p99", "max", "missing", "early"],
        "kill_heads": ["design", "kills", "pushed", "lost", "doubled"],
        "line_heads": ["design", "late by"],
        "space_heads": ["design", "pending", "memory B", "disk B"],
        "effort_full": "Rates were measured with up to 200,000 messages, or for 2 s. For "
                       "lateness, messages with delays of 0 to 10 s were pushed for 10 s. For "
                       "growth, 2,000 messages were pushed and claimed among those pending, and "
                       "the median of three runs counts. A design that had not reached a size "
                       "after 45 s more of pushing is not measured at that size. Each round of "
                       "deaths had 6 kills, each about a second after the consumer's first "
                       "message, at up to 2,000 messages a second with delays up to 1 s and "
                       "leases of 2 s. The long delay was 5 s.",
        "effort_quick": "Rates were measured with up to 5,000 messages, or for 0.4 s. For "
                        "lateness, messages with delays of 0 to 1.2 s were pushed for 1 s. For "
                        "growth, 500 messages were pushed and claimed among those pending. There "
                        "were 2 kills, each about 0.5 s after the consumer's first message, at up "
                        "to 2,000 messages a second with delays up to 0.4 s and leases of 1 s. The "
                        "long delay was 1.2 s.",
    },
    "zh": {
        "page": _template("zh"),
        "made": "由 `scripts/bench designs` 于 {date} 至 {ended} 生成：{cpu}，{cores} 核，{memory}，"
                "Linux {kernel}；{packages}。开始前的系统负载为 {load}；"
                "高于 0.5 说明机器当时还在忙别的：这时只宜拿各设计互相比较，不要当作这台机器的能力。",
        "rounds": "各设计轮流测，轮数：吞吐 {rates}，延迟误差 {lateness}，被杀 {kills}；积压增长、占用等各测一次。"
                  "多轮的数字取中位数，括号里是最低和最高的一轮。"
                  "丢失和重复是各轮之和，最大延迟误差取各轮中最大的。",
        "runs": "本页由 {runs} 次运行合成，其中可能有同时进行的。",
        "quick": "这是一次 `--quick` 运行：时间短、消息少，不宜引用。",
        "left_out": "没有测，或只测了一部分：",
        "yes": "支持", "no": "不支持", "unknown": "-", "design": "设计", "push": "push",
        "claim": "领取", "not_in_time": "等到长延迟之后才来",
        "what_heads": ["设计", "来源", "做法", "取消", "改期"],
        "rate_heads": ["设计", "push /s", "领取 /s", "一生 /s", "每条消息的命令数", "每条消息占用 Redis 的 µs"],
        "late_heads": ["设计", "p50", "p99", "最大", "未到", "提前"],
        "kill_heads": ["设计", "杀死次数", "已 push", "丢失", "重复"],
        "line_heads": ["设计", "晚了"],
        "space_heads": ["设计", "积压", "内存 B", "磁盘 B"],
        "effort_full": "吞吐：最多 200,000 条或 2 秒。延迟误差：push 10 秒，延迟 0 到 10 秒。"
                       "积压增长：在积压之中再放 2,000 条，测三次取中间值；再 push 45 秒仍没有达到某个规模的设计，"
                       "不测这个规模。被杀：每轮杀 6 次，每次在消费者收到第一条消息约 1 秒之后，"
                       "每秒最多 2,000 条，延迟不超过 1 秒，租约 2 秒。长延迟：5 秒。",
        "effort_quick": "吞吐：最多 5,000 条或 0.4 秒。延迟误差：push 1 秒，延迟 0 到 1.2 秒。"
                        "积压增长：在积压之中再放 500 条。被杀：杀 2 次，每次在消费者收到第一条消息约 0.5 秒之后，"
                        "每秒最多 2,000 条，延迟不超过 0.4 秒，租约 1 秒。长延迟：1.2 秒。",
    },
}
