package feed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"chaintop/feed"
	"chaintop/model"
)

// A client follows a remote instance as a screen does: a picture, then the
// events after it, and a new picture where events are gone.
func ExampleClient() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := feed.NewClient(feed.ClientOptions{
		URL:  "wss://gw-1.example/feed",
		Name: "example 1.0",
		Token: func() (string, error) {
			text, err := os.ReadFile("/run/secrets/oncall")
			return strings.TrimSpace(string(text)), err
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = client.Run(ctx) }() // ends with ctx

	for {
		picture, at, err := client.Snapshot(ctx)
		if err != nil {
			return // ctx is over, or the server will not have us: err says why
		}
		mine := picture.Clone()
		for {
			events, next, err := client.After(ctx, at)
			if errors.Is(err, feed.ErrGap) {
				break
			}
			if err != nil {
				return
			}
			mine.Apply(events...)
			for _, e := range events {
				if line, ok := model.Describe(mine, e); ok {
					fmt.Println(line.Subject, line.What, line.Detail)
				}
			}
			at = next
		}
	}
}
