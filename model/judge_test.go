package model

import (
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	row := func(kinds ...OutcomeKind) []Try {
		var ts []Try
		for _, k := range kinds {
			ts = append(ts, Try{Kind: k})
		}
		return ts
	}
	for _, tt := range []struct {
		name  string
		tries []Try
		want  Verdict
	}{
		{"nothing", nil, NoVerdict},
		{"only abandoned", row(NoOutcome), NoVerdict},
		{"a result", row(Result), VerdictHealthy},
		{"a result among failures", row(NoAnswer, Answer, NoAnswer, Result), VerdictHealthy},
		{"a result first", row(Result, NoAnswer), VerdictHealthy},
		{"an answer", row(Answer), VerdictInconclusive},
		{"an answer among silence", row(NoAnswer, NoAnswer, Answer, NoAnswer), VerdictInconclusive},
		{"silence after an answer", row(Answer, NoAnswer), VerdictInconclusive},
		{"silence", row(NoAnswer, NoAnswer), VerdictUnreachable},
	} {
		if got := Judge(tt.tries); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestHealthAfter(t *testing.T) {
	for _, tt := range []struct {
		was  Health
		v    Verdict
		r    Recovers
		want Health
	}{
		{Unknown, VerdictHealthy, RecoversNone, Healthy},
		{Unhealthy, VerdictHealthy, RecoversNone, Healthy},
		{Healthy, VerdictUnreachable, RecoversNone, Unhealthy}, // at once: fall is for upstreams
		{Unknown, VerdictUnreachable, RecoversAll, Unhealthy},
		{Unknown, VerdictInconclusive, RecoversNone, Unknown},
		{Healthy, VerdictInconclusive, RecoversNone, Healthy},
		{Unhealthy, VerdictInconclusive, RecoversNone, Unhealthy},
		{Unknown, VerdictInconclusive, RecoversUnknown, Healthy},
		{Unhealthy, VerdictInconclusive, RecoversUnknown, Unhealthy},
		{Unknown, VerdictInconclusive, RecoversAll, Healthy},
		{Unhealthy, VerdictInconclusive, RecoversAll, Healthy},
		{Healthy, NoVerdict, RecoversAll, Healthy},
		{Unknown, NoVerdict, RecoversAll, Unknown},
	} {
		if got := tt.was.After(tt.v, tt.r); got != tt.want {
			t.Errorf("%v after %v (%v): %v, want %v", tt.was, tt.v, tt.r, got, tt.want)
		}
	}
}

func TestOutcomeWords(t *testing.T) {
	for _, tt := range []struct {
		o    Outcome
		want string
	}{
		{head(1), ""},
		{noAnswer(ReasonTimeout), "timeout"},
		{noAnswer(ReasonNoUpstream), "no upstream"},
		{noAnswer(ReasonNotProtocol), "not json-rpc"},
		{status(403), "403"},
		{status(429), "429"},
		{Outcome{Kind: Answer, Reason: ReasonRateLimit, Evidence: Evidence{HTTP: 200, Code: 429}}, "429"},
		{Outcome{Kind: Answer, Reason: ReasonRateLimit, Evidence: Evidence{HTTP: 200, Code: -32005}}, "rate_limited"},
		{Outcome{Kind: Answer, Reason: ReasonRateLimit, Evidence: Evidence{HTTP: 429}, Findings: FindingSet(Quota)}, "quota"},
		{Outcome{Kind: Answer, Reason: ReasonNodeError, Evidence: Evidence{HTTP: 200, Code: -32000}}, "-32000"},
		{Outcome{Kind: Answer, Reason: ReasonNodeError}, "error"},
		{Outcome{Kind: Answer, Reason: ReasonWSClose, Evidence: Evidence{Code: 1008}}, "close 1008"},
	} {
		if got := tt.o.Word(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.o, got, tt.want)
		}
	}
}

func TestEvidenceInOneLine(t *testing.T) {
	for _, tt := range []struct {
		e    Evidence
		want string
	}{
		{Evidence{HTTP: 429, Code: -32005, Text: "daily request count exceeded"}, `HTTP 429 · -32005 "daily request count exceeded"`},
		{Evidence{HTTP: 429, Text: "Retry-After 40"}, "HTTP 429 · Retry-After 40"},
		{Evidence{Text: "connect: connection refused"}, "connect: connection refused"},
		{Evidence{HTTP: 403}, "HTTP 403"},
		{Evidence{}, ""},
	} {
		if got := tt.e.String(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.e, got, tt.want)
		}
	}
}

func TestAdvance(t *testing.T) {
	at := func(s int) time.Time { return epoch0.Add(time.Duration(s) * time.Second) }
	end := func(started, ended int, k OutcomeKind) CheckEnd {
		return CheckEnd{Started: at(started), Ended: at(ended), Pass: k}
	}
	for _, tt := range []struct {
		name string
		was  Record
		c    CheckEnd
		want Record
	}{
		{"a pass heals", Record{Streak: 2}, end(5, 6, Result), Record{Health: Healthy, Checked: at(5)}},
		{"a failure short of fall holds unknown", Record{Streak: 1}, end(5, 6, NoAnswer), Record{Streak: 2, Checked: at(5), Failed: at(6)}},
		{"a failure short of fall holds healthy", Record{Health: Healthy}, end(5, 6, NoAnswer), Record{Health: Healthy, Streak: 1, Checked: at(5), Failed: at(6)}},
		{"fall in a row flips", Record{Health: Healthy, Streak: 2}, end(5, 6, NoAnswer), Record{Health: Unhealthy, Streak: 3, Checked: at(5), Failed: at(6)}},
		{"and counts on", Record{Health: Unhealthy, Streak: 3}, end(5, 6, NoAnswer), Record{Health: Unhealthy, Streak: 4, Checked: at(5), Failed: at(6)}},
		{"an error answer holds health and streak", Record{Health: Healthy, Streak: 2, Errors: 1}, end(5, 6, Answer), Record{Health: Healthy, Streak: 2, Errors: 2, Checked: at(5)}},
		{"a failure ends a row of errors", Record{Errors: 2}, end(5, 6, NoAnswer), Record{Streak: 1, Checked: at(5), Failed: at(6)}},
		{"a pass ends a row of errors", Record{Health: Healthy, Errors: 5}, end(5, 6, Result), Record{Health: Healthy, Checked: at(5)}},
		{"an abandoned check changes nothing", Record{Health: Healthy, Streak: 1, Checked: at(1)}, end(5, 6, NoOutcome), Record{Health: Healthy, Streak: 1, Checked: at(1)}},
		{"one that started before the newest was overtaken", Record{Health: Unhealthy, Streak: 3, Checked: at(9)}, end(5, 10, Result), Record{Health: Unhealthy, Streak: 3, Checked: at(9)}},
		{"one that started before the last failure cannot restore", Record{Health: Unhealthy, Streak: 3, Checked: at(2), Failed: at(7)}, end(5, 8, Result), Record{Health: Unhealthy, Streak: 3, Checked: at(2), Failed: at(7)}},
		{"one that started as it failed can", Record{Health: Unhealthy, Streak: 3, Checked: at(2), Failed: at(7)}, end(7, 8, Result), Record{Health: Healthy, Checked: at(7), Failed: at(7)}},
	} {
		if got := Advance(tt.was, tt.c, 3); got != tt.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

func TestHTTPFamilyPasses(t *testing.T) {
	for code, want := range map[int]OutcomeKind{401: Result, 404: Result, 429: Result, 499: Result, 500: NoAnswer, 503: NoAnswer, 599: NoAnswer} {
		if got := HTTP.passes(status(code)); got != want {
			t.Errorf("a HEAD answered %d: %v, want %v", code, got, want)
		}
		if got := EVM.passes(status(code)); got != Answer {
			t.Errorf("evm answered %d: %v, want it to hold", code, got)
		}
	}
	if got := HTTP.passes(noAnswer(ReasonTimeout)); got != NoAnswer {
		t.Errorf("silence: %v", got)
	}
}
