package io.tarry.spring.listener;

import java.time.Duration;

/**
 * How a listener works.
 *
 * @param id its name in logs and metrics
 * @param queue the queue's name
 * @param concurrency calls at once
 * @param prefetch messages claimed ahead
 * @param lease null: the queue's
 * @param drain how long a stop waits for running calls; null: as long as they run
 * @param autoStartup whether it starts with the application
 */
public record ListenerSettings(
    String id,
    String queue,
    int concurrency,
    int prefetch,
    Duration lease,
    Duration drain,
    boolean autoStartup) {}
