package io.tarry.spring.test;

import io.tarry.TarryClient;
import io.tarry.spring.TarryConnectionDetails;
import io.tarry.spring.listener.TarryListenerRegistry;
import io.tarry.testing.TarryServer;
import java.util.List;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Gives a context with {@link TarryTest} its server and clock. */
final class TarryTestCustomizerFactory implements ContextCustomizerFactory {
  /** Of a context that is not the whole application's. */
  @EnableAutoConfiguration
  static final class Slice {}

  private record Details(String url) implements TarryConnectionDetails {}

  @Override
  public ContextCustomizer createContextCustomizer(
      Class<?> test, List<ContextConfigurationAttributes> attributes) {
    TarryTest wish = TestContextAnnotationUtils.findMergedAnnotation(test, TarryTest.class);
    return wish == null
        ? null
        : new Customizer(List.of(wish.flags()), List.of(wish.value()).isEmpty());
  }

  /** Equal customizers share a context. */
  private record Customizer(List<String> flags, boolean isWhole) implements ContextCustomizer {
    @Override
    public void customizeContext(
        ConfigurableApplicationContext context, MergedContextConfiguration merged) {
      BeanDefinitionRegistry beans = (BeanDefinitionRegistry) context.getBeanFactory();
      if (!isWhole) {
        new AnnotatedBeanDefinitionReader(beans).register(Slice.class);
      }
      RootBeanDefinition server =
          new RootBeanDefinition(
              TarryServer.class, () -> TarryServer.start(flags.toArray(String[]::new)));
      server.setDestroyMethodName("close");
      beans.registerBeanDefinition("tarryTestServer", server);
      beans.registerBeanDefinition(
          "tarryTestConnectionDetails",
          new RootBeanDefinition(
              TarryConnectionDetails.class,
              () -> new Details(context.getBean(TarryServer.class).url())));
      beans.registerBeanDefinition(
          "tarryTestClock",
          new RootBeanDefinition(
              TarryTestClock.class,
              () ->
                  new TarryTestClock(
                      context.getBean(TarryServer.class),
                      context.getBean(TarryClient.class),
                      context.getBean(TarryListenerRegistry.class))));
    }
  }
}
