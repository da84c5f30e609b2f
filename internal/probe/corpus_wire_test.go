package probe_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// authority issues the certificates of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

const corpusHost = "rpc.upstream.test"

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a, err := makeAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func makeAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	def := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, def, def, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert: cert, key: key, pool: pool}, nil
}

// server is a server's TLS in one of the corpus's modes.
func (a *authority) server(mode string) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	def := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: corpusHost}, DNSNames: []string{corpusHost},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	parent, signer := a.cert, a.key
	conf := &tls.Config{}
	switch mode {
	case "expired":
		def.NotBefore, def.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	case "not_yet_valid":
		def.NotBefore, def.NotAfter = time.Now().Add(24*time.Hour), time.Now().Add(48*time.Hour)
	case "wrong_host":
		def.DNSNames, def.IPAddresses = []string{"other.upstream.test"}, nil
	case "self_signed":
		parent, signer = def, key
	case "client_cert_required":
		conf.ClientAuth = tls.RequireAnyClientCert
	}
	der, err := x509.CreateCertificate(rand.Reader, def, parent, &key.PublicKey, signer)
	if err != nil {
		panic(err)
	}
	conf.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}
	return conf
}

// prefaceH2 reads the client's preface and answers with settings.
func (k *link) prefaceH2() error {
	buf := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(k.reader(), buf); err != nil {
		return err
	}
	k.h2 = http2.NewFramer(k.conn, k.reader())
	return k.h2.WriteSettings()
}

// readStream reads frames until a request is whole.
func (k *link) readStream() error {
	var body bytes.Buffer
	for {
		f, err := k.h2.ReadFrame()
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				if err := k.h2.WriteSettingsAck(); err != nil {
					return err
				}
			}
		case *http2.HeadersFrame:
			k.stream = f.StreamID
			if f.StreamEnded() {
				return nil
			}
		case *http2.DataFrame:
			body.Write(f.Data())
			if f.StreamEnded() {
				k.takeID(body.Bytes())
				return nil
			}
		}
	}
}

var h2Codes = map[string]http2.ErrCode{
	"NO_ERROR": http2.ErrCodeNo, "PROTOCOL_ERROR": http2.ErrCodeProtocol, "INTERNAL_ERROR": http2.ErrCodeInternal,
	"REFUSED_STREAM": http2.ErrCodeRefusedStream, "CANCEL": http2.ErrCodeCancel, "ENHANCE_YOUR_CALM": http2.ErrCodeEnhanceYourCalm,
}

func (k *link) frame(s step) error {
	var code string
	_ = json.Unmarshal(s.Code, &code)
	switch s.Op {
	case "h2_goaway":
		return k.h2.WriteGoAway(s.LastStreamID, h2Codes[code], []byte(s.Debug))
	case "h2_rst_stream":
		return k.h2.WriteRSTStream(k.stream, h2Codes[code])
	case "h2_data":
		return k.h2.WriteData(k.stream, s.EndStream, []byte(k.text(s)))
	case "h2_headers":
		var b bytes.Buffer
		enc := hpack.NewEncoder(&b)
		_ = enc.WriteField(hpack.HeaderField{Name: ":status", Value: big.NewInt(int64(s.Status)).String()})
		for _, h := range s.Headers {
			_ = enc.WriteField(hpack.HeaderField{Name: strings.ToLower(h.name), Value: h.value})
		}
		return k.h2.WriteHeaders(http2.HeadersFrameParam{StreamID: k.stream, BlockFragment: b.Bytes(), EndStream: s.EndStream, EndHeaders: true})
	}
	return nil // h2_preface is part of the handshake
}

// socket plays a step of a websocket, frame by frame.
func (k *link) socket(s step) error {
	switch s.Op {
	case "ws_upgrade":
		sum := sha1.Sum([]byte(k.key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		return k.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
			base64.StdEncoding.EncodeToString(sum[:]) + "\r\n" + extra(s.Headers) + "\r\n")
	case "ws_recv":
		for {
			op, payload, err := k.readFrame()
			if err != nil {
				return err
			}
			if op == 1 {
				k.takeID(payload)
				return nil
			}
		}
	case "ws_text":
		return k.writeFrame(1, []byte(k.text(s)))
	case "ws_ping":
		return k.writeFrame(9, nil)
	case "ws_close":
		var code uint16
		_ = json.Unmarshal(s.Code, &code)
		return k.writeFrame(8, append(binary.BigEndian.AppendUint16(nil, code), s.Reason...))
	}
	return errors.New("unknown step")
}

// extra is header lines that are written as they are.
func extra(h headers) (lines string) {
	for _, e := range h {
		lines += e.value
	}
	return lines
}

func (k *link) writeFrame(op byte, payload []byte) error {
	b := []byte{0x80 | op}
	switch n := len(payload); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	_, err := k.conn.Write(append(b, payload...))
	return err
}

// readFrame reads one masked frame of a client.
func (k *link) readFrame() (op byte, payload []byte, err error) {
	var h [2]byte
	if _, err := io.ReadFull(k.reader(), h[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(h[1] & 0x7f)
	if n >= 126 {
		ext := make([]byte, map[uint64]int{126: 2, 127: 8}[n])
		if _, err := io.ReadFull(k.reader(), ext); err != nil {
			return 0, nil, err
		}
		n = new(big.Int).SetBytes(ext).Uint64()
	}
	rest := make([]byte, 4+n)
	if _, err := io.ReadFull(k.reader(), rest); err != nil {
		return 0, nil, err
	}
	for i := range rest[4:] {
		rest[4+i] ^= rest[i%4]
	}
	return h[0] & 0x0f, rest[4:], nil
}
