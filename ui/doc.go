// Package ui is the screen: one Bubble Tea model over a feed.Source and a
// feed.Sink.
//
// Law: the screen knows an instance only by folding the events of its source,
// and changes nothing it shows. A key becomes a command to the sink; what came
// of it is seen when its events arrive. Update does no IO. A frame is a function
// of the picture, the screen's own state (view, selection, size, theme) and the
// time; what is kept between two frames is only text already drawn, by the
// picture it was drawn from.
//
// A frame has exactly the height of the window, and each of its lines exactly
// the width. Text from the picture reaches a line through pen.put alone, which
// lets no control character, bidi sign or zero-width sign through (S7, X2).
//
// A pane is a file, and so is each family of messages. The key table (keys.go) is
// data: keys, footer, Help and docs/keys.md come from it. The filter (filter.go)
// is a parser of its own, held against a chain or an event by its subject.
//
// A picture that is frozen stands while a second one is folded behind it: ages
// count to the moment of the freeze, and only the banner and the clock go on.
//
// What changes the world outside is asked in a box (box.go) whose default does
// nothing. A key that is off for a while has a limit (limits.go), and Help says
// which.
//
// An instance elsewhere is the same screen over a Remote. Ages count on its clock;
// once nothing is heard they stand at the last word, everything is dim, and the
// second line says how old it is (G2).
//
// Not promised: that a picture which breaks the model's own bounds (thousands of
// upstreams a chain) is drawn fast; only that it is drawn.
package ui
