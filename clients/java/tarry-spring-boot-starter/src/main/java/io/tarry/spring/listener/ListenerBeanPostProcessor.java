package io.tarry.spring.listener;

import io.micrometer.observation.ObservationRegistry;
import io.tarry.TarryClient;
import io.tarry.spring.TarryListener;
import io.tarry.spring.TarryWorkerCustomizer;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.Environment;
import org.springframework.messaging.converter.MessageConverter;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.util.StringUtils;

/** Finds the methods with {@link TarryListener}, and makes their listeners. */
public final class ListenerBeanPostProcessor
    implements BeanPostProcessor, SmartInitializingSingleton {
  private record Found(Object bean, String name, Method method, TarryListener listener) {}

  private final BeanFactory beans;
  private final Environment environment;
  private final List<Found> found = new ArrayList<>();
  private final Set<Class<?>> without = ConcurrentHashMap.newKeySet();

  /** It takes nothing from the beans before all of them are there. */
  public ListenerBeanPostProcessor(BeanFactory beans, Environment environment) {
    this.beans = beans;
    this.environment = environment;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    Class<?> type = AopUtils.getTargetClass(bean);
    if (without.contains(type) || !AnnotationUtils.isCandidateClass(type, TarryListener.class)) {
      return bean;
    }
    Map<Method, TarryListener> methods =
        MethodIntrospector.selectMethods(
            type,
            (MethodIntrospector.MetadataLookup<TarryListener>)
                method -> AnnotatedElementUtils.findMergedAnnotation(method, TarryListener.class));
    if (methods.isEmpty()) {
      without.add(type);
    }
    methods.forEach(
        (method, listener) ->
            found.add(
                new Found(
                    bean,
                    name,
                    AopUtils.selectInvocableMethod(method, bean.getClass()),
                    listener)));
    return bean;
  }

  @Override
  public void afterSingletonsInstantiated() {
    TarryListenerRegistry registry = beans.getBean(TarryListenerRegistry.class);
    DefaultMessageHandlerMethodFactory methods = new DefaultMessageHandlerMethodFactory();
    methods.setBeanFactory(beans);
    methods.setMessageConverter(beans.getBean("tarryMessageConverter", MessageConverter.class));
    methods.setCustomArgumentResolvers(List.of(new DeliveryResolver()));
    methods.afterPropertiesSet();
    for (Found one : found) {
      ListenerCall call =
          new ListenerCall(methods.createInvocableHandlerMethod(one.bean(), one.method()));
      registry.add(
          new TarryListenerContainer(
              settings(one),
              beans.getBean(TarryClient.class),
              call::handle,
              beans
                  .getBeanProvider(ObservationRegistry.class)
                  .getIfUnique(() -> ObservationRegistry.NOOP),
              customizers()));
    }
    found.clear();
  }

  private List<TarryWorkerCustomizer> customizers() {
    ObjectProvider<TarryWorkerCustomizer> all = beans.getBeanProvider(TarryWorkerCustomizer.class);
    return all.orderedStream().toList();
  }

  private ListenerSettings settings(Found one) {
    ListenerDefaults defaults = beans.getBean(ListenerDefaults.class);
    TarryListener wish = one.listener();
    String where = one.name() + "." + one.method().getName();
    String id = text(wish.id());
    String queue = text(wish.queue());
    if (queue.isEmpty()) {
      throw new IllegalStateException("@TarryListener " + where + ": the queue has no name");
    }
    String lease = text(wish.lease());
    String start = text(wish.autoStartup());
    return new ListenerSettings(
        id.isEmpty() ? where : id,
        queue,
        number(where, "concurrency", wish.concurrency(), defaults.concurrency(), 1, 1024),
        number(where, "prefetch", wish.prefetch(), defaults.prefetch(), 0, 8976),
        lease.isEmpty() ? defaults.lease() : duration(where, lease),
        defaults.drain(),
        start.isEmpty() ? defaults.autoStartup() : Boolean.parseBoolean(start));
  }

  private String text(String given) {
    return StringUtils.hasText(given) ? environment.resolveRequiredPlaceholders(given).trim() : "";
  }

  private int number(String where, String name, String given, int otherwise, int least, int most) {
    String text = text(given);
    if (text.isEmpty()) {
      return otherwise;
    }
    try {
      int value = Integer.parseInt(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException error) {
      // Told below.
    }
    throw new IllegalStateException(
        "@TarryListener "
            + where
            + ": "
            + name
            + " \""
            + text
            + "\" must be a number from "
            + least
            + " to "
            + most);
  }

  private static Duration duration(String where, String text) {
    try {
      return DurationStyle.detectAndParse(text);
    } catch (IllegalArgumentException error) {
      throw new IllegalStateException(
          "@TarryListener " + where + ": lease \"" + text + "\" is no duration such as 30s", error);
    }
  }
}
