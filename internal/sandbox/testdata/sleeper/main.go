// Command sleeper is a function that takes its time from the sandbox, as those of
// the product do: each event makes it sleep for 20 seconds.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hadr-dev/terraform-provider-hadr/internal/clock"
)

func main() {
	c, err := clock.FromEnv(os.Getenv)
	if err != nil {
		panic(err)
	}
	api := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/invocation/"
	for {
		r, err := http.Get(api + "next")
		if err != nil {
			return
		}
		io.Copy(io.Discard, r.Body)
		began := c.Now()
		if err := c.Sleep(context.Background(), 20*time.Second); err != nil {
			panic(err)
		}
		fmt.Printf("slept from %s to %s\n", began.Format(time.TimeOnly), c.Now().Format(time.TimeOnly))
		http.Post(api+r.Header.Get("Lambda-Runtime-Aws-Request-Id")+"/response", "application/json", strings.NewReader("{}"))
	}
}
