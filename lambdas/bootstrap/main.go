// Command bootstrap is the one binary of all functions: the handler's name in
// the function's configuration picks what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/hadr-dev/terraform-provider-hadr/internal/awsclient"
	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control/awsrunner"
	"github.com/hadr-dev/terraform-provider-hadr/lambdas/takeover"
	"github.com/hadr-dev/terraform-provider-hadr/lambdas/watch"
)

// version is set when the zips are built.
var version = "dev"

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level(os.Getenv("HADR_LOG_LEVEL"))}))
	handler, err := pick(context.Background(), os.Getenv, log)
	if err != nil {
		log.Error("this function can't start", "error", err)
		os.Exit(1)
	}
	lambda.Start(handler)
}

// pick returns the handler that the function's configuration names.
func pick(ctx context.Context, getenv func(string) string, log *slog.Logger) (any, error) {
	name, table := getenv("_HANDLER"), getenv("HADR_TABLE")
	if table == "" {
		return nil, fmt.Errorf("HADR_TABLE is empty: set it to the name of the state table")
	}
	c, err := clock.FromEnv(getenv)
	if err != nil {
		return nil, err
	}
	cfg, err := awsclient.Load(ctx, awsclient.Options{Version: version})
	if err != nil {
		return nil, err
	}
	runners := awsrunner.New(cfg, table, c, log)
	switch name {
	case "takeover":
		h := &takeover.Handler{Store: runners.Table(), Runner: runners.Group, Clock: c, Log: log, NewID: awsrunner.OperationID}
		return h.Handle, nil
	case "watch":
		groups := strings.FieldsFunc(getenv("HADR_GROUPS"), func(r rune) bool { return r == ',' })
		if len(groups) == 0 {
			return nil, errors.New("HADR_GROUPS is empty: set it to the names of the groups to look at, with commas")
		}
		h := &watch.Handler{Groups: groups, Sweeper: runners.Table(), Runner: runners.Group, Clock: c, Log: log, NewID: awsrunner.OperationID}
		return h.Handle, nil
	}
	return nil, fmt.Errorf("no handler %q: set the function's handler to takeover or watch", name)
}

func level(name string) slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelInfo
	}
	return l
}
