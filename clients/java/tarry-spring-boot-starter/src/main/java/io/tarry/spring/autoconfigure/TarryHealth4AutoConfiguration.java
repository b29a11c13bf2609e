package io.tarry.spring.autoconfigure;

import io.tarry.spring.listener.TarryListenerRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The actuator's health of Spring Boot 4. */
@AutoConfiguration(after = TarryAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(TarryListenerRegistry.class)
@ConditionalOnEnabledHealthIndicator("tarry")
public class TarryHealth4AutoConfiguration {
  @Bean(destroyMethod = "close")
  Probe tarryProbe(TarryClients clients, TarryListenerRegistry listeners) {
    return new Probe(clients, listeners);
  }

  @Bean
  @ConditionalOnMissingBean(name = {"tarryHealthIndicator", "tarryHealthContributor"})
  HealthIndicator tarryHealthContributor(Probe probe) {
    return new AbstractHealthIndicator("tarry cannot be reached") {
      @Override
      protected void doHealthCheck(Health.Builder builder) {
        Probe.Seen seen = probe.look();
        builder.status(seen.up() ? "UP" : "DOWN").withDetails(seen.details());
        if (seen.error() != null) {
          builder.withException(seen.error());
        }
      }
    };
  }
}
