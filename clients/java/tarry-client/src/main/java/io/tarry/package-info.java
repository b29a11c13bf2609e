/** tarry: a delay queue. This is its client; docs/guide/java.md shows how to use it. */
package io.tarry;
