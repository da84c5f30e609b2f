package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"

	"chaintop/model"
)

// Failure is why no whole answer came: a reason of V4, where on the way, and
// words for a person. It prints without any address; errors.Is and errors.As
// find what the transport said.
type Failure struct {
	Reason   model.Reason
	Layer    model.Layer
	Text     string
	Findings model.Findings // what the failure itself says of the upstream
	Sent     bool           // a connection was there: the request may have reached it
	err      error
}

func (f *Failure) Error() string { return string(f.Layer) + ": " + f.Text }

// Unwrap is the transport's own error.
func (f *Failure) Unwrap() error { return f.err }

// ErrUnbuilt says that a request never left: a file with a key that cannot be
// read, a header that cannot be sent. It says nothing about the upstream (U8).
var ErrUnbuilt = errors.New("the request could not be built")

// fault is a transport's error as a Failure, or as ErrUnbuilt when it comes
// from a layer of ours.
func (c *Client) fault(a *attempt, err error) error {
	at, k, _ := a.state()
	if errors.Is(err, ErrUnbuilt) {
		return err
	}
	if at == stageBuilding && a.ctx.Err() == nil {
		return fmt.Errorf("%w: %s", ErrUnbuilt, c.scrub.text(plainText(err), model.EvidenceRunes))
	}
	if at == stageWaiting && strings.HasPrefix(err.Error(), "net/http: invalid ") {
		return fmt.Errorf("%w: a configured header cannot be sent", ErrUnbuilt)
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return fmt.Errorf("%w: too many open files", ErrUnbuilt)
	}
	f := c.failure(a.ctx, at, k, err)
	f.Text, f.err, f.Sent = c.scrub.text(f.Text, model.EvidenceRunes), err, at >= stageSending
	return f
}

// plainText is err without the address an url.Error quotes.
func plainText(err error) string {
	var u interface {
		error
		Timeout() bool
		Unwrap() error
	}
	if errors.As(err, &u) && strings.Contains(err.Error(), "://") {
		return u.Unwrap().Error()
	}
	return err.Error()
}

// failure judges by the typed error and by how far the attempt came (V3), in
// that order: what our own side said, the deadline, the name, TLS, the
// connection, the grammar.
func (c *Client) failure(ctx context.Context, at stage, k *conn, err error) *Failure {
	if f := ownSide(err); f != nil {
		return f
	}
	if timedOut(ctx, err) {
		return &Failure{Reason: model.ReasonTimeout, Layer: layerOf(at), Text: c.stalled(at, k)}
	}
	for _, judge := range []func(stage, error) *Failure{dnsFailure, tlsFailure, connFailure, streamFailure} {
		if f := judge(at, err); f != nil {
			return f
		}
	}
	return c.grammarFailure(at, k, err)
}

func layerOf(at stage) model.Layer {
	switch at {
	case stageResolving:
		return model.LayerDNS
	case stageBuilding, stageWaiting, stageDialing, stageDialed:
		return model.LayerTCP
	case stageTLS:
		return model.LayerTLS
	case stageSending, stageSent, stageAnswering, stageBody:
	}
	return model.LayerHTTP
}

// timedOut says whether a deadline came first. A deadline of the request is
// seen in its context, one of ours or the kernel's in the error.
func timedOut(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, errDialTimeout) || errors.Is(err, syscall.ETIMEDOUT) {
		return true
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return false
	}
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// stalled says where it stood still when time was up.
func (c *Client) stalled(at stage, k *conn) string {
	switch at {
	case stageResolving:
		return "resolving the name, no answer"
	case stageBuilding, stageWaiting, stageDialing:
		return "connecting, no answer"
	case stageDialed:
		return "connected, no tunnel from our proxy"
	case stageTLS:
		return "connected, TLS handshake not finished"
	case stageSending:
		return "connected, the request could not be sent"
	case stageSent, stageAnswering, stageBody:
	}
	return "request sent, " + c.back(at, k)
}

// back is how much came back. Under TLS only whether anything did is known.
func (c *Client) back(at stage, k *conn) string {
	switch {
	case at < stageAnswering && !c.plain, k == nil:
		return "0 bytes back"
	case c.plain:
		n := k.bytes.Load()
		if n == 1 {
			return "1 byte back"
		}
		return fmt.Sprintf("%d bytes back", n)
	}
	return "headers not finished"
}

// ownSide is what our own proxy or network said.
func ownSide(err error) *Failure {
	var refused *proxyError
	if errors.As(err, &refused) {
		return &Failure{Reason: model.ReasonOwnSide, Layer: model.LayerHTTP, Text: refused.Error()}
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		return &Failure{Reason: model.ReasonOwnSide, Layer: model.LayerTCP, Text: "our proxy: " + syscallText(op.Err)}
	}
	return nil
}

func dnsFailure(_ stage, err error) *Failure {
	var dns *net.DNSError
	if !errors.As(err, &dns) {
		return nil
	}
	f := &Failure{Reason: model.ReasonDNS, Layer: model.LayerDNS, Text: "lookup: the resolver failed"}
	switch {
	case dns.IsNotFound:
		f.Text = "lookup: no such host"
	case dns.IsTimeout:
		f.Text = "lookup: the resolver did not answer"
	case strings.Contains(dns.Err, "server misbehaving"):
		f.Text = "lookup: server misbehaving"
	}
	return f
}

func tlsFailure(at stage, err error) *Failure {
	text, found := certificateText(err)
	var record tls.RecordHeaderError
	var alert tls.AlertError
	f := &Failure{Reason: model.ReasonTLS, Layer: model.LayerTLS, Text: text}
	switch {
	case found:
	case errors.Is(err, http.ErrSchemeMismatch):
		f.Text = "plain HTTP where TLS was due"
		f.Findings = model.FindingSet(model.Misconfigured)
	case errors.As(err, &record):
		f.Text = "not TLS"
		f.Findings = model.FindingSet(model.Misconfigured)
	case errors.As(err, &alert):
		f.Text = "handshake refused: " + strings.TrimPrefix(alert.Error(), "tls: ")
	case at == stageTLS && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		f.Text = "closed during the handshake"
	case at == stageTLS && errors.Is(err, syscall.ECONNRESET):
		f.Text = "reset during the handshake"
	case strings.Contains(err.Error(), "remote error: tls:"):
		_, alert, _ := strings.Cut(err.Error(), "remote error: tls: ")
		f.Text = "handshake refused: " + alert
	case at == stageTLS || strings.Contains(err.Error(), "tls:"):
		f.Text = "handshake failed"
		if _, why, found := strings.Cut(err.Error(), "tls: "); found {
			f.Text = "handshake failed: " + why
		}
	default:
		return nil
	}
	return f
}

// certificateText says what is wrong with a certificate, without the names in it.
func certificateText(err error) (string, bool) {
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &invalid):
		if invalid.Reason != x509.Expired || invalid.Cert == nil {
			return "certificate not valid", true
		}
		if now := time.Now(); now.Before(invalid.Cert.NotBefore) {
			return "certificate not valid before " + invalid.Cert.NotBefore.UTC().Format(time.DateOnly), true
		}
		return "certificate expired on " + invalid.Cert.NotAfter.UTC().Format(time.DateOnly), true
	case errors.As(err, &host):
		return "certificate is for another name", true
	case errors.As(err, &unknown):
		return "certificate signed by an unknown authority", true
	case errors.As(err, &verify):
		return "certificate not verified", true
	}
	return "", false
}

// connFailure is what the network said of the connection.
func connFailure(at stage, err error) *Failure {
	f := &Failure{Layer: model.LayerTCP, Text: syscallText(err)}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Reason = model.ReasonRefused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTDOWN),
		errors.Is(err, syscall.ENETDOWN), errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		f.Reason = model.ReasonNoRoute
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		f.Reason, f.Text = model.ReasonReset, "connection reset"
		if at >= stageSending {
			f.Layer = model.LayerHTTP
		}
		if at >= stageSent {
			f.Text = "request sent, then the connection was reset"
		}
	default:
		return nil
	}
	return f
}

// streamFailure is what HTTP/2 said of the stream or the connection. Its
// connection error has no exported type.
func streamFailure(_ stage, err error) *Failure {
	var stream http2.StreamError
	if errors.As(err, &stream) {
		return &Failure{Reason: model.ReasonReset, Layer: model.LayerHTTP, Text: "stream reset: " + stream.Code.String()}
	}
	text := err.Error()
	if i := strings.Index(text, "ErrCode"); i >= 0 && strings.Contains(text, "GOAWAY") {
		code, _, _ := strings.Cut(text[i+len("ErrCode")+1:], ",")
		return &Failure{Reason: model.ReasonReset, Layer: model.LayerHTTP, Text: "connection ended: GOAWAY " + code}
	}
	if strings.HasPrefix(text, "http2:") && strings.Contains(text, "connection lost") {
		return &Failure{Reason: model.ReasonReset, Layer: model.LayerHTTP, Text: "connection lost"}
	}
	return nil
}

// grammarFailure is what is left: bytes that are not HTTP, or none.
func (c *Client) grammarFailure(at stage, k *conn, err error) *Failure {
	f := &Failure{Reason: model.ReasonMalformed, Layer: model.LayerHTTP, Text: "answer is not valid HTTP"}
	began := ""
	if k != nil && c.plain && !c.h2c {
		began = k.began()
	}
	text := err.Error()
	switch {
	case errors.Is(err, errUnasked):
		f.Reason, f.Text = model.ReasonNotProtocol, "not HTTP, it spoke first: "+c.quote(began)
	case began != "" && !strings.HasPrefix(began, "HTTP/"[:min(5, len(began))]) && at >= stageSending:
		f.Reason, f.Text = model.ReasonNotProtocol, "not HTTP: "+c.quote(began)
	case strings.Contains(text, "headers exceeded"):
		f.Text = fmt.Sprintf("headers longer than %d KiB", maxHeaderBytes>>10)
	case strings.Contains(text, "1xx"):
		f.Text = "only interim answers"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), strings.Contains(text, "server closed idle connection"):
		f.Reason, f.Text = model.ReasonEOF, "connection closed"
		if at >= stageSent {
			f.Text = "request sent, closed after " + strings.TrimSuffix(c.back(at, k), " back")
		}
	case at < stageSending:
		f.Reason, f.Layer, f.Text = model.ReasonNoRoute, layerOf(at), "no connection"
	}
	return f
}

// quote is the beginning of outside text in quotes.
func (c *Client) quote(s string) string { return fmt.Sprintf("%q", c.scrub.text(s, 48)) }

// syscallText is the innermost "connect: connection refused" of a dial's error.
func syscallText(err error) string {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Error()
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return "connect: " + errno.Error()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer"
	}
	return "no connection"
}
