package feed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaintop/internal/memnet"
	"chaintop/model"
)

func TestDoWaitsForTheResultAcrossACut(t *testing.T) {
	bubble(t, func(t *testing.T, p *plant, h *house, c *following) {
		got := make(chan Answer, 1)
		go func() {
			a, err := c.Do(t.Context(), model.Command{Op: model.OpProbe, Chains: []int{2}})
			if err != nil {
				t.Error(err)
			}
			got <- a
		}()
		synctest.Wait()
		h.cut()
		time.Sleep(time.Second)
		p.land(100)
		a := <-got
		if a.Code != CodeOK || !a.Replayed || len(a.Ended) != 1 || a.Ended[0].Chain != "chain2/jsonrpc" {
			t.Errorf("%+v", a)
		}
		if n := p.acts(); n != 1 {
			t.Errorf("it acted %d times", n)
		}
	})
}

func TestDoDoesNotActAgainAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		p := newPlant("e1", 1, 1)
		h := newHouse(t, l, p, nil)
		c := follow(t, l.DialContext, opSecret, nil)
		defer c.stop()
		got := make(chan error, 1)
		go func() {
			_, err := c.Do(t.Context(), model.Command{Op: model.OpProbe})
			got <- err
		}()
		synctest.Wait()
		h.kill()
		l2, _ := l.Relisten()
		again := newPlant("e2", 1, 1)
		h = newHouse(t, l2, again, nil)
		defer h.shut(context.Background())
		if err := <-got; !errors.Is(err, ErrRestarted) {
			t.Errorf("%v", err)
		}
		if n := again.acts(); n != 0 {
			t.Errorf("the new process acted %d times", n)
		}
	})
}

func TestSendBringsEventsAndTellsRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 2, 2)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		refusals := map[string]Answer{}
		c := follow(t, l.DialContext, opSecret, func(o *ClientOptions) {
			o.Refused = func(id string, a Answer) { refusals[id] = a }
		})
		defer c.stop()
		synctest.Wait()
		_, at, _ := c.Snapshot(t.Context())
		if err := c.Send(t.Context(), model.Command{ID: "s-1", Op: model.OpProbe, Chains: []int{1}, Who: "somebody else"}); err != nil {
			t.Fatal(err)
		}
		events, _, err := c.After(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		last := events[len(events)-1]
		if done, ok := last.Body.(model.CommandDone); !ok || done.ID != "s-1" || last.Who != "oncall" {
			t.Errorf("%+v", last)
		}
		for i := range 12 {
			_ = c.Send(t.Context(), model.Command{ID: fmt.Sprint("m-", i), Op: model.OpFault, Upstream: 0, Chains: []int{0}, Kind: "hang"})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(refusals) != 3 || refusals["m-11"].Code != CodeRateLimited {
			t.Errorf("%v, want the three after the burst", refusals)
		}
		clear(refusals)
		p.silence(true)
		_ = c.Send(t.Context(), model.Command{ID: "late", Op: model.OpProbe})
		time.Sleep(time.Second)
		synctest.Wait()
		if refusals["late"].Code != CodeUnavailable {
			t.Errorf("%v", refusals)
		}
		p.silence(false)
		if err := c.Send(t.Context(), model.Command{Op: model.OpCheck, Chains: []int{9}}); err == nil {
			t.Error("a chain there is not was sent")
		}
		h.cut()
		synctest.Wait()
		if err := c.Send(t.Context(), model.Command{Op: model.OpProbe}); !errors.Is(err, ErrNotConnected) {
			t.Errorf("without a connection: %v", err)
		}
	})
}

func TestViewersSendIsRefusedInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := memnet.Listen(), newPlant("e1", 2, 2)
		h := newHouse(t, l, p, nil)
		defer h.shut(context.Background())
		c := follow(t, l.DialContext, viewSecret, nil)
		defer c.stop()
		synctest.Wait()
		if role := c.Status().Role; role != RoleViewer {
			t.Errorf("role %s", role)
		}
		err := c.Send(t.Context(), model.Command{Op: model.OpProbe})
		if err == nil || !strings.Contains(err.Error(), "operator") {
			t.Errorf("%v", err)
		}
		a, err := c.Do(t.Context(), model.Command{Op: model.OpProbe})
		if err != nil || a.Code != CodeForbidden {
			t.Errorf("%+v, %v", a, err)
		}
		if n := p.acts(); n != 0 {
			t.Errorf("it acted %d times", n)
		}
	})
}
