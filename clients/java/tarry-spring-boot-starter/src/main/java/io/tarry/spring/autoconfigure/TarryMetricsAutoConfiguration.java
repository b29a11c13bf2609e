package io.tarry.spring.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.tarry.spring.listener.TarryListenerMetrics;
import io.tarry.spring.listener.TarryListenerRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Micrometer's figures of the listeners. */
@AutoConfiguration(
    after = TarryAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.actuate.autoconfigure.metrics"
          + ".CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure"
          + ".CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({MeterRegistry.class, TarryListenerRegistry.class})
public class TarryMetricsAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  TarryListenerMetrics tarryListenerMetrics(TarryListenerRegistry listeners, MeterRegistry meters) {
    return new TarryListenerMetrics(listeners, meters);
  }
}
