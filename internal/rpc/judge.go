package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"chaintop/internal/clean"
	"chaintop/model"
)

// Judgement is what an exchange means: an outcome, and what was said to each
// request. A result is one by JSON-RPC's grammar only; whether its value is of
// use is the asker's to say (Useless).
type Judgement struct {
	model.Outcome
	Said []Said // one a request, in the order asked; empty when there was no reply
}

// Said is what came to one request: a result, an error, or neither.
type Said struct {
	Result json.RawMessage
	Err    *Error
}

// Judge says what x means for requests with the given ids, as they were sent:
// one id is a single request, more are a batch, none is a request that has no
// id. It follows V2 to V5: an error answer needs positive
// evidence, and what nobody has catalogued is no answer.
func (c *Client) Judge(x Exchange, ids ...json.RawMessage) Judgement {
	if len(ids) == 0 {
		ids = []json.RawMessage{nil}
	}
	j := c.judge(x, ids)
	j.Took = x.Took
	if x.Asked {
		j.Asked = 1
	}
	return j
}

func (c *Client) judge(x Exchange, ids []json.RawMessage) Judgement {
	switch {
	case x.Failed != nil:
		return c.failed(x.Failed, 0)
	case x.Status == http.StatusProxyAuthRequired, x.Status == http.StatusNetworkAuthenticationRequired:
		return noAnswer(model.ReasonOwnSide, evidence(x, "our own proxy or network said so"))
	case x.Status < 200:
		return noAnswer(model.ReasonMalformed, evidence(x, "not a status of an answer"))
	case x.Status >= 300 && x.Status < 400:
		return c.redirect(x)
	case x.Status >= 400:
		return c.refusal(x, ids)
	case x.Cut != nil:
		return c.failed(x.Cut, x.Status)
	}
	return c.success(x, ids)
}

func evidence(x Exchange, text string) model.Evidence {
	return model.Evidence{Layer: model.LayerHTTP, HTTP: x.Status, Text: clean.Text(text, model.EvidenceRunes)}
}

func noAnswer(r model.Reason, e model.Evidence) Judgement {
	return Judgement{Outcome: model.Outcome{Kind: model.NoAnswer, Reason: r, Evidence: e}}
}

func answer(r model.Reason, e model.Evidence, f model.Findings) Judgement {
	return Judgement{Outcome: model.Outcome{Kind: model.Answer, Reason: r, Evidence: e, Findings: f}}
}

func (c *Client) failed(f *Failure, status int) Judgement {
	j := noAnswer(f.Reason, model.Evidence{Layer: f.Layer, HTTP: status, Text: c.scrub.text(f.Text, model.EvidenceRunes)})
	j.Findings = f.Findings
	return j
}

// redirect is an answer while it stays with the configured host, which sent it;
// a foreign host is where a network of ours sends us to log in (V2, V4).
func (c *Client) redirect(x Exchange) Judgement {
	location := x.Header.Get("Location")
	text := "redirects, which is not followed"
	if location != "" {
		to, err := c.url.reveal().Parse(location)
		if err != nil || !related(to, c.url.reveal()) {
			return noAnswer(model.ReasonOwnSide, evidence(x, "redirects to a foreign host"))
		}
		text = "redirects to its own host, which is not followed"
	}
	return answer(model.ReasonHTTPStatus, evidence(x, text), model.FindingSet(model.Misconfigured))
}

// related says whether two addresses are of one host: the same name, or one a
// name below the other.
func related(a, b *url.URL) bool {
	x, y := strings.ToLower(strings.TrimSuffix(a.Hostname(), ".")), strings.ToLower(strings.TrimSuffix(b.Hostname(), "."))
	if x == y {
		return x != ""
	}
	if len(x) < len(y) {
		x, y = y, x
	}
	// A top-level domain is above everybody.
	return strings.Contains(y, ".") && strings.HasSuffix(x, "."+y) && strings.Trim(y, "0123456789.") != ""
}

// refusal is a status of 400 or more: its status line and headers are whole, and
// that is all the evidence it takes. Its body only says more.
func (c *Client) refusal(x Exchange, ids []json.RawMessage) Judgement {
	s := said{status: x.Status, server: strings.ToLower(x.Header.Get("Server"))}
	e := evidence(x, "")
	reason := model.ReasonHTTPStatus
	r, spoke := firstError(x)
	switch {
	case spoke:
		s.reply, s.code, s.words = true, r.Code, strings.ToLower(r.words())
		e.Layer, e.Code, e.Text = model.LayerRPC, r.Code, c.scrub.text(r.text(), model.EvidenceRunes)
		if x.Status != http.StatusUnauthorized && x.Status != http.StatusForbidden {
			reason = model.ReasonNodeError
		}
	default:
		s.page = isPage(x.Body)
		s.words = strings.ToLower(string(x.Body[:min(len(x.Body), evidenceWindow)]))
		e.Text = c.bodyText(x)
	}
	j := c.limited(s, x, answer(reason, e, s.findings()))
	if spoke {
		j.Said = make([]Said, len(ids))
		for i := range j.Said {
			j.Said[i].Err = r
		}
	}
	return j
}

// limited makes of an answer that speaks of a limit one with that reason, and
// with the pause it asks for.
func (c *Client) limited(s said, x Exchange, j Judgement) Judgement {
	if s.limit() == noLimit {
		return j
	}
	j.Reason = model.ReasonRateLimit
	j.RetryAfter = retryAfter(x.Header, time.Now())
	if e := &j.Evidence; j.RetryAfter > 0 && e.Code == 0 {
		if e.Text == "" || x.Cut != nil {
			e.Text = fmt.Sprintf("Retry-After %d", j.RetryAfter/time.Second)
		} else {
			e.Text = clean.Text(fmt.Sprintf("Retry-After %d, %s", j.RetryAfter/time.Second, e.Text), model.EvidenceRunes)
		}
	}
	return j
}

// firstError is the error of the first reply in the body that has one.
func firstError(x Exchange) (*Error, bool) {
	if x.Cut != nil || len(x.Body) == 0 {
		return nil, false
	}
	replies, _, _, err := Replies(x.Body)
	if err != nil {
		return nil, false
	}
	for _, r := range replies {
		if r.Error != nil && r.isReply() {
			return r.Error, true
		}
	}
	return nil, false
}

// success is a status of 2xx, which says nothing yet.
func (c *Client) success(x Exchange, ids []json.RawMessage) Judgement {
	if len(bytes.TrimSpace(x.Body)) == 0 {
		return noAnswer(model.ReasonEmpty, evidence(x, "no body"))
	}
	replies, list, marked, err := Replies(x.Body)
	if err != nil {
		return c.noReply(x, err)
	}
	if list && len(replies) == 0 {
		return noAnswer(model.ReasonMalformed, evidence(x, "an array without replies"))
	}
	var j Judgement
	if len(ids) > 1 && list {
		j = c.batch(x, replies, ids)
	} else {
		j = c.single(x, replies, ids, list && len(ids) == 1)
	}
	if marked && j.Kind != model.NoAnswer {
		j.Findings = j.Findings.With(model.Noncompliant)
	}
	return j
}

// noReply is a success whose body is no JSON-RPC.
func (c *Client) noReply(x Exchange, err error) Judgement {
	reason, what := model.ReasonNotProtocol, "not JSON-RPC: "
	first := bytes.TrimLeft(x.Body, " \t\r\n")
	switch {
	case errors.Is(err, errDeep):
		return noAnswer(model.ReasonMalformed, evidence(x, fmt.Sprintf("JSON nested deeper than %d", MaxDepth)))
	case errors.Is(err, errTrailing):
		return noAnswer(model.ReasonMalformed, evidence(x, "more than one JSON value"))
	case bytes.HasPrefix(first, []byte{0x1f, 0x8b}):
		return noAnswer(model.ReasonMalformed, evidence(x, "compressed, without saying so"))
	case errors.Is(err, errNoJSON) && (first[0] == '{' || first[0] == '['):
		reason, what = model.ReasonMalformed, "not JSON: "
	}
	return noAnswer(reason, evidence(x, what+c.bodyText(x)))
}

// single is the reply to one request. A list of one is a reply in the wrong
// shape; so is a single error to a batch.
func (c *Client) single(x Exchange, replies []Reply, ids []json.RawMessage, wrapped bool) Judgement {
	r := replies[0]
	for _, other := range replies {
		if other.matches(ids[0]) == matchOurs {
			r = other
		}
	}
	var bent model.Findings
	if wrapped {
		bent = bent.With(model.Noncompliant)
	}
	switch {
	case !r.isReply():
		return c.foreign(x, r)
	case r.Error != nil:
		j := c.errorReply(x, r.Error)
		j.Findings |= bent
		j.Said = make([]Said, len(ids))
		for i := range j.Said {
			j.Said[i].Err = r.Error
		}
		return j
	case len(ids) > 1:
		return noAnswer(model.ReasonMalformed, evidence(x, "one reply to a batch"))
	}
	m := r.matches(ids[0])
	if m == matchNone {
		return noAnswer(model.ReasonIDMismatch, evidence(x, "a reply to another request's id"))
	}
	if r.Result == nil || r.Torn {
		return c.useless(x, r.Result)
	}
	if m == matchLoose || !r.Named {
		bent = bent.With(model.Noncompliant)
	}
	return Judgement{
		Outcome: model.Outcome{Kind: model.Result, Evidence: model.Evidence{Layer: model.LayerRPC, HTTP: x.Status}, Findings: bent},
		Said:    []Said{{Result: r.Result}},
	}
}

// JudgeMessage says what a websocket message means for the request with that id.
// Only a reply to that very id counts: many requests and many notifications
// share a socket. ok is false for every other message.
func (c *Client) JudgeMessage(message []byte, id json.RawMessage) (j Judgement, ok bool) {
	replies, list, _, err := Replies(message)
	if err != nil || list || len(replies) != 1 || replies[0].matches(id) != matchOurs || !replies[0].isReply() {
		return Judgement{}, false
	}
	return c.single(Exchange{}, replies, []json.RawMessage{id}, false), true
}

// foreign is an object that is no JSON-RPC reply. An explorer says its limit in
// one, and it may be the bare word of an error.
func (c *Client) foreign(x Exchange, r Reply) Judgement {
	words := ""
	switch {
	case r.Error != nil:
		words = r.Error.words()
	case r.Result != nil && r.Status == "0":
		words = unquoted(r.Result)
	}
	s := said{status: x.Status, words: strings.ToLower(words)}
	if words != "" && s.limit() != noLimit {
		return c.limited(s, x, answer(model.ReasonRateLimit, evidence(x, c.scrub.text(words, model.EvidenceRunes)), s.findings()))
	}
	return noAnswer(model.ReasonNotProtocol, evidence(x, "not JSON-RPC: "+c.bodyText(x)))
}

// errorReply is an error object in a success.
func (c *Client) errorReply(x Exchange, e *Error) Judgement {
	s := said{status: x.Status, code: e.Code, words: strings.ToLower(e.words()), reply: true}
	ev := model.Evidence{Layer: model.LayerRPC, HTTP: x.Status, Code: e.Code, Text: c.scrub.text(e.text(), model.EvidenceRunes)}
	if ev.Code == 0 && ev.Text == "" {
		ev.Text = "an error without words"
	}
	return c.limited(s, x, answer(model.ReasonNodeError, ev, s.findings()))
}

// useless is a reply to our id whose value cannot be used (V2).
func (c *Client) useless(x Exchange, value json.RawMessage) Judgement {
	text := "no result"
	if value != nil {
		text = "result of no use: " + c.scrub.text(string(value[:min(len(value), evidenceWindow)]), 80)
	}
	return answer(model.ReasonUnusableResult, model.Evidence{Layer: model.LayerRPC, HTTP: x.Status, Text: text}, 0)
}

// Useless is j, of the exchange x, when the asker can do nothing with the value.
func (c *Client) Useless(j Judgement, x Exchange, value json.RawMessage) Judgement {
	u := c.useless(x, value)
	u.Took, u.Asked, u.Said, u.Findings = j.Took, j.Asked, j.Said, j.Findings
	return u
}

// batch is a list of replies to a list of requests, in any order. One result
// makes it a result; else the first error, in the order asked, is the answer.
func (c *Client) batch(x Exchange, replies []Reply, ids []json.RawMessage) Judgement {
	heard := make([]Said, len(ids))
	var results int
	var first, loose *Error
	for i, id := range ids {
		for _, r := range replies {
			switch m := r.matches(id); {
			case m == matchNone, r.ID == nil || isNull(r.ID):
				if r.Error != nil && loose == nil {
					loose = r.Error
				}
				continue
			case r.Error != nil:
				heard[i].Err = r.Error
			case r.Result != nil && !r.Torn:
				heard[i].Result = r.Result
				results++
			}
			break
		}
		if first == nil {
			first = heard[i].Err
		}
	}
	if first == nil {
		first = loose
	}
	var j Judgement
	switch {
	case results > 0:
		j.Kind, j.Evidence = model.Result, model.Evidence{Layer: model.LayerRPC, HTTP: x.Status}
		j.Findings = LimitsOf(heard)
	case first != nil:
		j = c.errorReply(x, first)
	default:
		j = noAnswer(model.ReasonIDMismatch, evidence(x, "replies to other requests' ids"))
	}
	j.Said = heard
	return j
}

// LimitsOf is the limits that errors among them speak of.
func LimitsOf(heard []Said) model.Findings {
	var f model.Findings
	for _, h := range heard {
		if h.Err == nil {
			continue
		}
		switch (said{code: h.Err.Code, words: strings.ToLower(h.Err.words()), reply: true}).limit() {
		case rateLimit:
			f = f.With(model.RateLimited)
		case quotaUsed:
			f = f.With(model.Quota)
		case noLimit:
		}
	}
	return f
}
