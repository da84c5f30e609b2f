package main

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"chaintop/internal/config"
)

// screenLog is the logger of a screen: to the file of --log, else to that of
// the config, else nowhere. The caller closes it.
func screenLog(flag string, l config.Log) (*slog.Logger, func(), error) {
	name, field := l.File, "log.file"
	if flag != "" {
		name, field = flag, "--log"
	}
	if name == "" {
		return nil, func() {}, nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, usage("%s: %v", field, err)
	}
	return slog.New(handler(f, l)), func() { _ = f.Close() }, nil // its lines are out already
}

// serveLog is the logger of serve: to the config's file, else to stderr.
func serveLog(stderr io.Writer, l config.Log) (*slog.Logger, func(), error) {
	if l.File != "" {
		return screenLog("", l)
	}
	return slog.New(handler(stderr, l)), func() {}, nil
}

func handler(out io.Writer, l config.Log) slog.Handler {
	o := &slog.HandlerOptions{Level: l.Level}
	if l.Format == "json" {
		return slog.NewJSONHandler(out, o)
	}
	return slog.NewTextHandler(out, o)
}

func isUTF8(locale string) bool {
	l := strings.ToLower(locale)
	return strings.Contains(l, "utf-8") || strings.Contains(l, "utf8")
}
