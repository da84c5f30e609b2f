package ops

import (
	"net/http"
	"time"

	"chaintop/internal/clean"
	"chaintop/model"
)

// mostText bounds each text of an answer, in runes.
const mostText = 300

// health answers /healthz and /readyz.
type health struct {
	picture func() *model.Instance
	now     func() time.Time
}

func newHealth(picture func() *model.Instance, now func() time.Time) *health {
	if now == nil {
		now = time.Now
	}
	return &health{picture: picture, now: now}
}

// Health answers /healthz and /readyz alone: for the listener that clients use.
// picture and now are those of Options.
func Health(picture func() *model.Instance, now func() time.Time) http.Handler {
	return newHealth(picture, now)
}

func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := h.page(r.URL.Path)
	switch {
	case page == nil:
		refuse(w, http.StatusNotFound, "there is no such page")
	case !reads(r):
		refuseMethod(w)
	default:
		page(w, h.picture())
	}
}

func (h *health) page(path string) func(http.ResponseWriter, *model.Instance) {
	switch path {
	case "/healthz":
		return h.alive
	case "/readyz":
		return h.ready
	}
	return nil
}

// aliveBody is the answer of /healthz; docs/ops/health.md describes it.
type aliveBody struct {
	Alive    bool   `json:"alive"`
	Instance string `json:"instance"`
	Version  string `json:"version"`
	Drain    string `json:"drain"` // serving, draining, drained; a simulation is none
}

// alive is liveness (D1): only an immediate drain says that the process is to
// be given up. An idle drain, and whatever upstreams do, does not.
func (h *health) alive(w http.ResponseWriter, i *model.Instance) {
	if i == nil {
		answer(w, http.StatusOK, aliveBody{Alive: true, Drain: model.DrainServing.String()})
		return
	}
	body := aliveBody{Alive: !i.Drain.Refuses(), Instance: text(i.Name), Version: text(i.Version), Drain: i.Drain.Real().String()}
	answer(w, status(body.Alive), body)
}

func status(ok bool) int {
	if ok {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

func text(s string) string { return clean.Text(s, mostText) }
