package io.tarry.spring;

import io.tarry.TarryClient;

/** A bean that changes the settings of the application's client, after the properties. */
@FunctionalInterface
public interface TarryClientCustomizer {
  /** Changes them. */
  void customize(TarryClient.Builder builder);
}
