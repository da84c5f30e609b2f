// Package ops is what machines ask an instance: is it alive, should it get
// traffic, and what are its numbers.
//
// Law: nothing here judges. Readiness is model.Ready, where a request would go
// is model.Route, why is model.Diagnose; the numbers are the picture's, read
// when they are asked for, and counts of its events. No address of an upstream
// or a client leaves by any of its doors (X1). Not promised: a count of events
// that the log lost before they were read; how often that was is a number too.
package ops

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	build "github.com/prometheus/client_golang/prometheus/collectors/version"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"chaintop/feed"
	"chaintop/model"
)

// scrapesAtOnce bounds the scrapes in flight; one more gets a 503.
const scrapesAtOnce = 8

// Options is what a Server is made of.
type Options struct {
	// Picture is the newest picture of the instance, nil before there is one. It
	// is asked at every request and must not wait.
	Picture func() *model.Instance
	// Source is the instance's log, which Run counts. Nil: nothing is counted.
	Source feed.Source
	Feed   http.Handler     // answers /feed; nil: there is no feed
	Now    func() time.Time // the clock of the picture; nil: time.Now
	Logger *slog.Logger     // nil: none
}

// Server answers /healthz, /readyz, /metrics and /feed. The zero value is not
// usable.
type Server struct {
	health  *health
	metrics http.Handler
	feed    http.Handler
	source  feed.Source
	counts  *counts
	logger  *slog.Logger
}

// New is a server that answers at once; its counts move while Run runs.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{health: newHealth(o.Picture, o.Now), feed: o.Feed, source: o.Source, counts: &counts{}, logger: o.Logger}
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		build.NewCollector("chaintop"),
		&collector{picture: s.health.picture, now: s.health.now, counts: s.counts},
	)
	s.metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError,
		ErrorLog:            scrapeLog{o.Logger},
		MaxRequestsInFlight: scrapesAtOnce,
	})
	return s
}

// ServeHTTP answers GET and HEAD of the paths there are, by their exact names.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var next http.Handler
	switch r.URL.Path {
	case "/metrics":
		next = s.metrics
	case "/feed":
		next = s.feed
	case "/healthz", "/readyz":
		next = s.health
	}
	switch {
	case next == nil:
		refuse(w, http.StatusNotFound, "there is no such page")
	case !reads(r):
		refuseMethod(w)
	default:
		next.ServeHTTP(w, r)
	}
}

// scrapeLog takes what a scrape complains of.
type scrapeLog struct{ logger *slog.Logger }

func (l scrapeLog) Println(v ...any) { l.logger.Error("metrics", "err", v) }
