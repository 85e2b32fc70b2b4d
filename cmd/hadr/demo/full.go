package demo

import (
	"context"
	"errors"
)

func Full(ctx context.Context, o Options) (Result, error) { return Result{}, errors.New("not yet") }
