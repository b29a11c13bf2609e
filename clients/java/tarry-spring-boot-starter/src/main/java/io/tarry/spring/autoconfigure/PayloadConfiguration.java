package io.tarry.spring.autoconfigure;

import io.tarry.spring.JsonConverter;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.messaging.converter.ByteArrayMessageConverter;
import org.springframework.messaging.converter.CompositeMessageConverter;
import org.springframework.messaging.converter.MessageConverter;
import org.springframework.messaging.converter.StringMessageConverter;

/** Payloads: bytes, texts, and JSON by the Jackson that is there. Jackson 3 comes before 2. */
@Configuration(proxyBeanMethods = false)
class PayloadConfiguration {
  @Bean
  @ConditionalOnMissingBean(name = "tarryMessageConverter")
  MessageConverter tarryMessageConverter(ObjectProvider<JsonConverter.Codec> codecs) {
    List<MessageConverter> all = new ArrayList<>();
    all.add(new ByteArrayMessageConverter());
    all.add(new StringMessageConverter(StandardCharsets.UTF_8));
    codecs.orderedStream().findFirst().ifPresent(codec -> all.add(new JsonConverter(codec)));
    return new CompositeMessageConverter(all);
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "tools.jackson.databind.json.JsonMapper")
  static class Jackson3 {
    @Bean
    @Order(0)
    JsonConverter.Codec tarryJackson3(
        ObjectProvider<tools.jackson.databind.json.JsonMapper> mappers) {
      tools.jackson.databind.json.JsonMapper mapper =
          mappers.getIfAvailable(() -> tools.jackson.databind.json.JsonMapper.builder().build());
      return new JsonConverter.Codec() {
        @Override
        public byte[] write(Object value) {
          return mapper.writeValueAsBytes(value);
        }

        @Override
        public Object read(byte[] json, Type type) {
          return mapper.readValue(json, mapper.constructType(type));
        }
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "com.fasterxml.jackson.databind.ObjectMapper")
  static class Jackson2 {
    @Bean
    @Order(1)
    JsonConverter.Codec tarryJackson2(
        ObjectProvider<com.fasterxml.jackson.databind.ObjectMapper> mappers) {
      com.fasterxml.jackson.databind.ObjectMapper mapper =
          mappers.getIfAvailable(
              () ->
                  com.fasterxml.jackson.databind.json.JsonMapper.builder()
                      .findAndAddModules()
                      .build());
      return new JsonConverter.Codec() {
        @Override
        public byte[] write(Object value) throws Exception {
          return mapper.writeValueAsBytes(value);
        }

        @Override
        public Object read(byte[] json, Type type) throws Exception {
          return mapper.readValue(json, mapper.constructType(type));
        }
      };
    }
  }
}
