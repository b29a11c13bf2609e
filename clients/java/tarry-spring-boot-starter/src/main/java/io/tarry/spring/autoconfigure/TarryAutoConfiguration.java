package io.tarry.spring.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import io.tarry.TarryClient;
import io.tarry.spring.TarryClientCustomizer;
import io.tarry.spring.TarryConnectionDetails;
import io.tarry.spring.TarryTemplate;
import io.tarry.spring.listener.ListenerBeanPostProcessor;
import io.tarry.spring.listener.ListenerDefaults;
import io.tarry.spring.listener.TarryListenerRegistry;
import javax.net.ssl.SSLContext;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.messaging.converter.MessageConverter;
import org.springframework.util.StringUtils;

/** The client, the template and the listeners. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration",
      "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
      "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
      "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
    })
@EnableConfigurationProperties(TarryProperties.class)
@Import(PayloadConfiguration.class)
public class TarryAutoConfiguration {
  private record FromProperties(String url, String token) implements TarryConnectionDetails {
    @Override
    public String toString() {
      return url;
    }
  }

  @Bean
  @ConditionalOnMissingBean
  TarryConnectionDetails tarryConnectionDetails(TarryProperties properties) {
    return new FromProperties(properties.url(), properties.token());
  }

  @Bean
  TarryClients tarryClients(
      TarryConnectionDetails details,
      TarryProperties properties,
      Environment environment,
      ObjectProvider<SslBundles> bundles,
      ObjectProvider<TarryClientCustomizer> customizers) {
    SSLContext tls = null;
    if (StringUtils.hasText(properties.sslBundle())) {
      tls = bundles.getObject().getBundle(properties.sslBundle()).createSslContext();
    }
    String name = environment.getProperty("spring.application.name");
    String agent = StringUtils.hasText(properties.agent()) ? properties.agent() : name;
    return new TarryClients(
        details,
        properties,
        StringUtils.hasText(agent) ? agent : null,
        tls,
        customizers.orderedStream().toList());
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  TarryClient tarryClient(TarryClients clients) {
    return clients.client();
  }

  @Bean
  StartCheck tarryStartCheck(TarryClients clients, TarryProperties properties) {
    return new StartCheck(clients, properties.failFast());
  }

  @Bean
  @ConditionalOnMissingBean
  TarryTemplate tarryTemplate(
      TarryClient client,
      @Qualifier("tarryMessageConverter") MessageConverter converter,
      ObjectProvider<ObservationRegistry> observations) {
    return new TarryTemplate(
        client, converter, observations.getIfUnique(() -> ObservationRegistry.NOOP));
  }

  @Bean
  ListenerDefaults tarryListenerDefaults(TarryProperties properties) {
    TarryProperties.Listener all = properties.listener();
    return new ListenerDefaults(
        all.concurrency(), all.prefetch(), all.lease(), all.drain(), all.autoStartup());
  }

  @Bean
  @ConditionalOnMissingBean
  TarryListenerRegistry tarryListenerRegistry() {
    return new TarryListenerRegistry();
  }

  @Bean
  static ListenerBeanPostProcessor tarryListenerBeanPostProcessor(
      BeanFactory beans, Environment environment) {
    return new ListenerBeanPostProcessor(beans, environment);
  }
}
