package io.tarry.spring;

import java.lang.reflect.Type;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.converter.AbstractMessageConverter;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.util.MimeTypeUtils;

/** Payloads in JSON, by whichever Jackson the application has. Thread safe. */
public final class JsonConverter extends AbstractMessageConverter {
  /** A Jackson. */
  public interface Codec {
    /** The object in JSON, in UTF-8. */
    byte[] write(Object value) throws Exception;

    /** The object that the JSON tells. */
    Object read(byte[] json, Type type) throws Exception;
  }

  private final Codec codec;

  /** A converter with that Jackson. */
  public JsonConverter(Codec codec) {
    super(MimeTypeUtils.APPLICATION_JSON);
    this.codec = codec;
  }

  @Override
  protected boolean supports(Class<?> type) {
    return true;
  }

  @Override
  protected boolean supportsMimeType(MessageHeaders headers) {
    return true; // A message need not say that it is JSON.
  }

  @Override
  protected Object convertFromInternal(Message<?> message, Class<?> target, Object hint) {
    if (!(message.getPayload() instanceof byte[] json)) {
      return null;
    }
    Type type = hint instanceof MethodParameter parameter ? type(parameter) : target;
    try {
      return codec.read(json, type);
    } catch (Exception error) {
      throw new MessageConversionException(
          message, "no " + type.getTypeName() + ": " + error.getMessage(), error);
    }
  }

  private static Type type(MethodParameter parameter) {
    MethodParameter value = parameter.nestedIfOptional();
    if (Message.class.isAssignableFrom(value.getNestedParameterType())) {
      value = value.nested();
    }
    return GenericTypeResolver.resolveType(
        value.getNestedGenericParameterType(), value.getContainingClass());
  }

  @Override
  protected Object convertToInternal(Object payload, MessageHeaders headers, Object hint) {
    try {
      return codec.write(payload);
    } catch (Exception error) {
      throw new MessageConversionException(
          payload.getClass().getName() + " is not written as JSON: " + error.getMessage(), error);
    }
  }
}
