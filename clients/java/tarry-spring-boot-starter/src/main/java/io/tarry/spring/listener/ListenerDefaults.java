package io.tarry.spring.listener;

import java.time.Duration;

/**
 * What a listener has unless its annotation says otherwise.
 *
 * @param concurrency calls at once
 * @param prefetch messages claimed ahead
 * @param lease null: the queue's
 * @param drain how long a stop waits for running calls
 * @param autoStartup whether it starts with the application
 */
public record ListenerDefaults(
    int concurrency, int prefetch, Duration lease, Duration drain, boolean autoStartup) {}
