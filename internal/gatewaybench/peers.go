//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// target is what load is sent to.
type target struct {
	name string
	addr string
	p    *process
	ops  string // where chaintop's metrics are; empty: it is another
}

// runProxy is the role "proxy": httputil.ReverseProxy as it comes, or with as
// many idle connections as it may need.
func runProxy(args []string) error {
	set := flag.NewFlagSet("proxy", flag.ContinueOnError)
	to := set.String("to", "", "")
	idle := set.Int("idle", 0, "")
	if err := set.Parse(args); err != nil {
		return err
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: *to})
	if t, ok := http.DefaultTransport.(*http.Transport); ok && *idle > 0 {
		t = t.Clone()
		t.MaxIdleConnsPerHost = *idle
		proxy.Transport = t
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return (&http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}).Serve(l)
}

func startProxy(b *brood, name string, up *pair, idle int) (target, error) {
	p, addr, err := b.again(name, "proxy", "-to", up.a.addr, "-idle", fmt.Sprint(idle))
	return target{name: name, addr: addr, p: p}, err
}

// errNoNginx says that there is no nginx to be beside.
var errNoNginx = errors.New("nginx is not installed: apt-get install nginx")

// The two ways nginx is measured: as it comes, and as one sets it up who wants
// from it what chaintop does.
const (
	nginxStock = `
	upstream pair { server %s max_fails=1 fail_timeout=10s; server %s backup; }
	server { listen %s; location / { proxy_pass http://pair; } }`
	nginxTuned = `
	upstream pair { server %s max_fails=1 fail_timeout=10s; server %s backup; keepalive 64; keepalive_requests 1000000; }
	server {
		listen %s;
		keepalive_requests 1000000;
		location / {
			proxy_pass http://pair;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_connect_timeout 500ms;
			proxy_read_timeout 2s;
			proxy_next_upstream error timeout http_502 http_503 http_504 non_idempotent;
		}
	}`
	nginxWhole = `daemon off; pid %[1]s/nginx.pid; error_log %[1]s/error.log; worker_processes auto;
events { worker_connections 4096; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
%[2]s
}`
)

func startNginx(ctx context.Context, b *brood, dir, name, server string, up *pair) (target, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return target{}, errNoNginx
	}
	addr, err := freePort()
	if err != nil {
		return target{}, err
	}
	if dir, err = os.MkdirTemp(dir, "nginx"); err != nil {
		return target{}, err
	}
	conf := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(nginxWhole, dir, fmt.Sprintf(server, up.a.addr, up.b.addr, addr))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return target{}, err
	}
	p, err := b.start(name, syscall.SIGTERM, false, program, "-e", filepath.Join(dir, "error.log"), "-p", dir, "-c", conf)
	if err != nil {
		return target{}, err
	}
	return target{name: name, addr: addr, p: p}, p.answers(ctx, addr)
}

// nginxVersion is empty when there is none.
func nginxVersion() string {
	out, err := exec.Command("nginx", "-v").CombinedOutput()
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(bytes.TrimPrefix(out, []byte("nginx version: "))))
}

// chaintopConfig has the defaults of everything but the addresses.
const chaintopConfig = `listen: {gateway: "%s", ops: "%s"}
log: {level: info}
chains:
  - name: bench
    family: evm
    interface: jsonrpc
    upstreams:
      - {name: a, url: "http://%s", tier: primary}
      - {name: b, url: "http://%s", tier: backup}
`

// startChaintop starts chaintop serve over a pair and waits until both of its
// upstreams were probed or checked and the primary serves.
func startChaintop(ctx context.Context, b *brood, dir, program string, up *pair) (target, error) {
	addr, err := freePort()
	if err != nil {
		return target{}, err
	}
	ops, err := freePort()
	if err != nil {
		return target{}, err
	}
	conf := filepath.Join(dir, "chaintop.yml")
	text := fmt.Sprintf(chaintopConfig, addr, ops, up.a.addr, up.b.addr)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return target{}, err
	}
	p, err := b.start("chaintop", syscall.SIGKILL, false, program, "serve", "--config", conf)
	if err != nil {
		return target{}, err
	}
	t := target{name: chaintopName, addr: addr, p: p, ops: ops}
	if err := p.answers(ctx, addr); err != nil {
		return t, err
	}
	return t, t.serves(ctx, "a")
}

// serves waits until the named upstream answers a request.
func (t target) serves(ctx context.Context, server string) error {
	var r reply
	for range 200 {
		k, err := open(ctx, t.addr)
		if err != nil {
			return err
		}
		var a ask
		a.single(methodRead)
		if err = k.send(a.body); err == nil {
			r, err = k.receive()
		}
		if err == nil && string(r.server) == server && r.fault(a.want) == "" {
			k.close()
			return nil
		}
		k.close()
		if err := nap(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s does not serve from %s: HTTP %d from %q: %s", t.name, server, r.status, r.server, t.p.said)
}

// sumsEvery is how old what the metrics say of traffic may be, and then some.
const sumsEvery = 2500 * time.Millisecond

// noAnswers is how many attempts at an upstream got no answer, as chaintop's own
// metrics count them.
func (t target) noAnswers(ctx context.Context, upstream string) (int, error) {
	if err := nap(ctx, sumsEvery); err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.ops+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := control.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "chaintop_gateway_attempts_total{") && strings.Contains(line, `outcome="no_answer"`) &&
			strings.Contains(line, `upstream="`+upstream+`"`) {
			n, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			return int(n), err
		}
	}
	return 0, errors.Join(errors.New("the metrics do not say how many attempts got no answer"), lines.Err())
}

// chaintopVersion is the first words of `chaintop version`.
func chaintopVersion(ctx context.Context, program string) string {
	out, err := exec.CommandContext(ctx, program, "version").CombinedOutput()
	if err != nil {
		return "?"
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	words := bytes.Fields(line)
	return string(bytes.Join(words[:min(len(words), 4)], []byte(" ")))
}

// nap sleeps, unless ctx ends.
func nap(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
