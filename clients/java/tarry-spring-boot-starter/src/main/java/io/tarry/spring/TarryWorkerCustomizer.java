package io.tarry.spring;

import io.tarry.TarryWorker;

/** A bean that changes the settings of each listener's worker: its threads, for example. */
@FunctionalInterface
public interface TarryWorkerCustomizer {
  /** Changes them. */
  void customize(String listener, TarryWorker.Builder builder);
}
