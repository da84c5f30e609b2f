package rpc

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/prometheus/common/config"
)

// What a transport may take from an upstream, and for how long it is kept.
const (
	maxHeaderBytes = 64 << 10 // status line and headers, interim answers too
	idleTimeout    = 90 * time.Second
	tlsTimeout     = 10 * time.Second
	// A hung HTTP/2 connection is found within their sum.
	pingAfter   = 5 * time.Second
	pingTimeout = 5 * time.Second
)

func isZero(h config.HTTPClientConfig) bool { return reflect.ValueOf(h).IsZero() }

// tlsSource is the TLS configuration of an upstream, for its websocket too.
type tlsSource struct{ base *tls.Config }

// config is a copy that may be changed.
func (s *tlsSource) config() *tls.Config { return s.base.Clone() }

// build makes the round tripper: the configuration's own layers for credentials,
// headers and TLS files that change, over a transport with our bounds.
func (c *Client) build(o Options) error {
	base, err := config.NewTLSConfig(&o.HTTP.TLSConfig)
	if err != nil {
		return err
	}
	if o.RootCAs != nil {
		base.RootCAs = o.RootCAs
	}
	if base.MinVersion == 0 {
		base.MinVersion = tls.VersionTLS12
	}
	c.tls = &tlsSource{base: base}
	layers := func(conf *tls.Config) (http.RoundTripper, error) {
		return c.dressed(&witness{client: c, next: c.transport(conf, o)})
	}
	files := tlsFiles(&o.HTTP.TLSConfig)
	if files == (config.TLSRoundTripperSettings{}) || o.RootCAs != nil {
		c.rt, err = layers(base)
		return err
	}
	c.rt, err = config.NewTLSRoundTripper(base, files, layers)
	return err
}

func (c *Client) transport(conf *tls.Config, o Options) *http.Transport {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(!c.h2c)
	protocols.SetHTTP2(o.HTTP.EnableHTTP2 || c.h2c)
	protocols.SetUnencryptedHTTP2(c.h2c)
	return &http.Transport{
		Proxy:                  o.HTTP.Proxy(),
		ProxyConnectHeader:     o.HTTP.GetProxyConnectHeader(),
		OnProxyConnectResponse: tunnelRefused,
		DialContext:            c.dial,
		TLSClientConfig:        conf,
		TLSHandshakeTimeout:    tlsTimeout,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    o.MaxIdle,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}

// proxyError is the status with which a proxy of ours refused a tunnel.
type proxyError struct{ status int }

func (e *proxyError) Error() string {
	return fmt.Sprintf("our proxy refused the tunnel: HTTP %d", e.status)
}

func tunnelRefused(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return &proxyError{status: resp.StatusCode}
	}
	return nil
}

// dressed puts the configured credentials and headers around next.
func (c *Client) dressed(next http.RoundTripper) (http.RoundTripper, error) {
	h := &c.http
	if a := h.Authorization; a != nil {
		next = config.NewAuthorizationCredentialsRoundTripper(a.Type, secret(string(a.Credentials), a.CredentialsFile), next)
	}
	if b := h.BasicAuth; b != nil {
		next = config.NewBasicAuthRoundTripper(secret(b.Username, b.UsernameFile), secret(string(b.Password), b.PasswordFile), next)
	}
	if a := h.OAuth2; a != nil {
		key := secret(string(a.ClientSecret), a.ClientSecretFile)
		if a.ClientCertificateKey != "" || a.ClientCertificateKeyFile != "" {
			key = secret(string(a.ClientCertificateKey), a.ClientCertificateKeyFile)
		}
		next = config.NewOAuth2RoundTripper(key, a, next)
	}
	if h.HTTPHeaders != nil {
		next = config.NewHeadersRoundTripper(h.HTTPHeaders, next)
	}
	return next, nil
}

// secret reads a value that stands in the configuration or in a file; nil if
// there is neither.
func secret(inline, file string) config.SecretReader {
	switch {
	case inline != "":
		return config.NewInlineSecret(inline)
	case file != "":
		return config.NewFileSecret(file)
	}
	return nil
}

func tlsFiles(t *config.TLSConfig) config.TLSRoundTripperSettings {
	var s config.TLSRoundTripperSettings
	if t.CAFile != "" {
		s.CA = config.NewFileSecret(t.CAFile)
	}
	if t.CertFile != "" {
		s.Cert = config.NewFileSecret(t.CertFile)
	}
	if t.KeyFile != "" {
		s.Key = config.NewFileSecret(t.KeyFile)
	}
	return s
}

// secretHeaders are the headers in which the configuration sends keys.
func (c *Client) secretHeaders() []string {
	names := []string{"Authorization"}
	if c.http.HTTPHeaders != nil {
		for name := range c.http.HTTPHeaders.Headers {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// witness stands below every layer that is ours: what fails above it was never
// on its way, and what is a key here is known before an answer can echo it.
type witness struct {
	client *Client
	next   *http.Transport
}

func (w *witness) RoundTrip(req *http.Request) (*http.Response, error) {
	attemptOf(req.Context()).reach(stageWaiting)
	w.client.scrub.learn(sentSecrets(req.Header, w.client.keys)...)
	return w.next.RoundTrip(req)
}

// CloseIdleConnections is called through the layers above.
func (w *witness) CloseIdleConnections() { w.next.CloseIdleConnections() }
