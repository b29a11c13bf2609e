package io.tarry.spring.listener;

import io.tarry.Claimed;
import io.tarry.Delivery;
import io.tarry.spring.TarryHeaders;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;

/** The parameters of a listener that are tarry's own classes. */
final class DeliveryResolver implements HandlerMethodArgumentResolver {
  @Override
  public boolean supportsParameter(MethodParameter parameter) {
    Class<?> type = parameter.getParameterType();
    return type == Delivery.class || type == Claimed.class;
  }

  @Override
  public Object resolveArgument(MethodParameter parameter, Message<?> message) {
    Delivery delivery = (Delivery) message.getHeaders().get(TarryHeaders.DELIVERY);
    return parameter.getParameterType() == Delivery.class ? delivery : delivery.message();
  }
}
