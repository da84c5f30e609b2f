package ui

import "strings"

// keysDoc is the key table as a Markdown page, so that the manual says what the
// program does.
func keysDoc() string {
	var b strings.Builder
	b.WriteString("# Keys\n\nWritten from the key table of the screen by `go test ./ui -run TestKeysDoc -update`.\n" +
		"`?` shows the same, for the view one is in. Keys that ask an instance for something (`p` `P` `x` `d` `D` `U` `F`) are\n" +
		"off, too, on a screen that only looks, with a token that is a viewer's, and while the feed is not live.\n")
	table := bindings(Options{Sink: &sink{}})
	for _, p := range [...]struct {
		at   place
		name string
	}{
		{inChains, "Chains"}, {inChain, "Chain"}, {inUpstream, "An upstream, opened"}, {inEvents, "Events"}, {inDrain, "Drain"}, {inPrompt, "While a filter is typed"},
		{inMenu, "In a menu"}, {inAsk, "In a question"}, {inPin, "In the box that pins"}, {inDrainBox, "In the box that drains"}, {inHelp, "In Help"}, {inSmall, "In a window below 60×16"},
	} {
		b.WriteString("\n## " + p.name + "\n\n| key | does | where it is off, why |\n| --- | --- | --- |\n")
		for _, k := range table {
			h := k.Help()
			if k.where&p.at == 0 || h.Key == "" {
				continue
			}
			var off []string
			if k.off != "" {
				off = append(off, k.off)
			}
			for _, l := range k.when {
				if l.says != "" && l.says != isViewer.says && (l.says != notLive.says || k.group != groupAct) {
					off = append(off, l.says)
				}
			}
			b.WriteString("| " + keysInDoc(h.Key) + " | " + h.Desc + " | " + strings.Join(off, "; ") + " |\n")
		}
	}
	b.WriteString("\n## In the table of several instances\n\n| key | does |\n| --- | --- |\n")
	for _, k := range severalBindings(nil) {
		if h := k.Help(); h.Key != "" && k.where&inSeveral != 0 {
			b.WriteString("| " + keysInDoc(h.Key) + " | " + h.Desc + " |\n")
		}
	}
	b.WriteString(filterDoc)
	return b.String()
}

// keysInDoc is keys as code, each by itself.
func keysInDoc(s string) string {
	switch s {
	case "click", "click twice", "wheel":
		return s
	}
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = "`" + w + "`"
	}
	return strings.Join(words, " ")
}

const filterDoc = `
## The filter

Terms with a space between must all hold. ` + "`a,b`" + ` in a value is either, ` + "`!term`" + ` is not, a lone ` + "`!`" + ` is
whatever needs attention, quotes keep spaces, case is ignored. Plain text meets names and evidence;
` + "`key:value`" + ` meets one field.

| key | meets |
| --- | --- |
| ` + "`chain` `upstream` `instance` `version` `who` `whose` `serving`" + ` | a part of it; ` + "`serving`" + ` also ` + "`none` `held` `backup` `pinned`" + ` |
| ` + "`health` `verdict` `finding` `reason` `family` `tier`" + ` | its beginning; ` + "`tier`" + ` is that of the upstream that serves |
| ` + "`lag:>5`" + ` | blocks behind, of the upstream furthest behind |
| ` + "`age:>1m`" + ` | of a chain the age of the head that serves, of an event its own |
`
