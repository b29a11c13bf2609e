//go:build go1.21

package tarry

import "log/slog"

// WithSlog sends what the worker has to say to a logger, as warnings.
func WithSlog(logger *slog.Logger) Option {
	return WithLog(func(what string, err error) { logger.Warn(what, "error", err) })
}
