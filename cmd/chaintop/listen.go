package main

import (
	"errors"
	"net"
	"strings"
	"syscall"

	"chaintop/internal/config"
)

// listenFlag is --listen of a screen: where the process listens, beside what
// the file says.
type listenFlag struct {
	gateway, ops string
	given        bool
}

func (f *listenFlag) String() string { return "" }
func (f *listenFlag) Type() string   { return "[gateway=|ops=]HOST:PORT" }

// Set takes host:port for the gateway, or one of gateway=host:port and
// ops=host:port.
func (f *listenFlag) Set(text string) error {
	kind, addr, named := strings.Cut(text, "=")
	if !named {
		kind, addr = "gateway", text
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return errors.New("want HOST:PORT, gateway=HOST:PORT or ops=HOST:PORT")
	}
	f.given = true
	switch kind {
	case "gateway":
		f.gateway = addr
	case "ops":
		f.ops = addr
	default:
		return errors.New("want gateway=HOST:PORT or ops=HOST:PORT")
	}
	return nil
}

// listeners opens what a process listens on. all is serve: where the file is
// silent the defaults count; a screen listens only where it is told to.
func listeners(l config.Listen, f listenFlag, all bool) (gate, ops net.Listener, err error) {
	if !all && !l.GatewaySet {
		l.Gateway = ""
	}
	if !all && !l.OpsSet {
		l.Ops = ""
	}
	gateName, opsName := "listen.gateway", "listen.ops"
	if f.gateway != "" {
		l.Gateway, gateName = f.gateway, "--listen gateway"
	}
	if f.ops != "" {
		l.Ops, opsName = f.ops, "--listen ops"
	}
	if gate, err = listen(gateName, l.Gateway); err != nil {
		return nil, nil, err
	}
	if ops, err = listen(opsName, l.Ops); err != nil {
		if gate != nil {
			_ = gate.Close() // nobody knows of it yet
		}
		return nil, nil, err
	}
	return gate, ops, nil
}

func listen(name, addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, usage("%s: %s is in use already", name, addr)
	case errors.Is(err, syscall.EACCES):
		return nil, usage("%s: %s: this user may not listen there", name, addr)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return nil, usage("%s: %s: %v", name, addr, err)
}
