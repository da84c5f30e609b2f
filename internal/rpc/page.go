package rpc

import (
	"bytes"
	"html"
	"strings"

	"chaintop/model"
)

// isPage says whether a body is a web page, whatever it is labelled.
func isPage(body []byte) bool {
	head := bytes.ToLower(body[:min(len(body), 512)])
	return bytes.Contains(head, []byte("<html")) || bytes.Contains(head, []byte("<!doctype html"))
}

// bodyText is a body in words: a page's title, or what it says.
func (c *Client) bodyText(x Exchange) string {
	if len(bytes.TrimSpace(x.Body)) == 0 {
		if x.Cut != nil {
			return c.scrub.text(x.Cut.Text, model.EvidenceRunes)
		}
		return ""
	}
	text := string(x.Body[:min(len(x.Body), evidenceWindow+1)])
	if !isPage(x.Body) {
		return c.scrub.text(text, model.EvidenceRunes)
	}
	title := ""
	lower := strings.ToLower(text)
	if i := strings.Index(lower, "<title"); i >= 0 && len(lower) == len(text) {
		if _, inner, found := strings.Cut(text[i:], ">"); found {
			title, _, _ = strings.Cut(inner, "<")
		}
	}
	if title = c.scrub.text(html.UnescapeString(title), model.EvidenceRunes/2); title == "" {
		return "a web page"
	}
	return "a web page: " + title
}
