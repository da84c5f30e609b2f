package probe_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"chaintop/internal/probe"
	"chaintop/internal/rpctest"
	"chaintop/model"
)

// The family http asks whether somebody is there (U1, V1).
func TestHeadIsAnsweredByWhoeverIsThere(t *testing.T) {
	status := func(code int, header string) func(*rpctest.Conn) {
		return func(c *rpctest.Conn) { c.Say(fmt.Sprintf("HTTP/1.1 %d X\r\n%s\r\n", code, header)) }
	}
	type row struct {
		name string
		play func(*rpctest.Conn)
		want string
	}
	var rows []row
	for _, code := range []int{200, 204, 304, 401, 403, 404, 405, 418, 499} {
		rows = append(rows, row{fmt.Sprint(code), status(code, ""), "result "})
	}
	rows = append(rows,
		row{"301", status(301, "Location: /x\r\n"), "result  misconfigured"},
		row{"307 elsewhere", status(307, "Location: http://169.254.169.254/\r\n"), "result  misconfigured"},
		row{"407", status(407, ""), "no_answer own_side"},
		row{"429", status(429, "Retry-After: 7\r\n"), "answer rate_limit rate_limited 7s"},
		row{"500", status(500, ""), "answer http_status"},
		row{"502", status(502, ""), "answer http_status gateway"},
		row{"503", status(503, ""), "answer http_status gateway"},
		row{"504", status(504, ""), "answer http_status gateway"},
		row{"599", status(599, ""), "answer http_status"},
		row{"closed port", nil, "no_answer refused"},
		row{"dropped", func(*rpctest.Conn) {}, "no_answer eof"},
		row{"silence", func(c *rpctest.Conn) { c.Wait() }, "no_answer timeout"},
	)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			target := evmTarget(t, behave(t, r.play), nil)
			target.Family = model.HTTP
			defer target.Client.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			o, err := probe.Try(ctx, target)
			if err != nil {
				t.Fatal(err)
			}
			got := o.Kind.String() + " " + string(o.Reason)
			for _, f := range o.Findings.Words() {
				got += " " + f
			}
			if o.RetryAfter > 0 {
				got += " " + o.RetryAfter.String()
			}
			if got != r.want {
				t.Errorf("%s (%s), want %s", got, o.Evidence, r.want)
			}
			told, err := probe.Facts(ctx, target, everything)
			if err != nil || told != (model.Told{}) {
				t.Errorf("facts of an http upstream: %+v %v", told, err)
			}
		})
	}
}
