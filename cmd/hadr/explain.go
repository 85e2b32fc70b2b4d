package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/db2"
)

// explainLimit is far more than db2pd prints for all databases of an instance.
const explainLimit = 4 << 20

// explanation is what hadr reads in an output, as JSON or as text.
type explanation interface {
	WriteText(w io.Writer) error
}

func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show what hadr reads in a database's own output, or what it decides in a situation",
		Long: `Show what hadr reads in a database's own output, or what it decides in a situation.

With --case, a file describes a situation: what is special about the group and
its nodes, and what happens. Shown are what was seen, which guard speaks, and what
is done or is to be done. Nothing is touched, and no AWS account is needed:

  hadr explain --case internal/failover/testdata/decisions/window-too-short.txtar

The guide "guarantees" describes the format. A file that expects another decision
is an error.`,
	}
	caseFlag(cmd)
	cmd.AddCommand(explainHADRCommand(), explainReplyCommand(), explainPostgreSQLCommand())
	return cmd
}

func explainHADRCommand() *cobra.Command {
	var now string
	cmd := &cobra.Command{
		Use:   "db2pd FILE",
		Short: "Explain the output of db2pd -hadr: role, state, gaps, peer window, and what a takeover would do",
		Long: `Explain the output of db2pd -hadr; FILE - is standard input:

  db2pd -db HADRDB -hadr | hadr explain db2pd -

What is left of the peer window is counted from --now, by default this machine's
clock. Give the clock of the host where an older output was saved; the date in its
first line has no time zone and is not used.

Output that is no answer (empty, cut off, an old layout) is an error; with --json
it is "ok": false with its class, and no error.`,
		Args: oneFile,
	}
	cmd.Flags().StringVar(&now, "now", "", "time on the host's clock, RFC 3339 (default: this machine's clock)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		at := time.Now()
		if now != "" {
			var err error
			if at, err = time.Parse(time.RFC3339, now); err != nil {
				return fmt.Errorf("--now %q: want a time such as 2026-03-02T10:00:00Z", now)
			}
		}
		output, err := readOutput(cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		x := db2.ExplainHADR(output, at)
		if x.Unreadable() && !*asJSON {
			return fmt.Errorf("%s: %s: %s; next: %s", args[0], x.ErrorClass, x.Meaning, x.Next)
		}
		return explain(cmd.OutOrStdout(), x, *asJSON)
	}
	return cmd
}

func explainReplyCommand() *cobra.Command {
	var command string
	cmd := &cobra.Command{
		Use:   "clp FILE",
		Short: "Explain the output of a db2 command: code, reason, meaning, what to do next",
		Long: `Explain the output of a db2 command, or of db2 get db cfg; FILE - is standard input:

  db2 takeover hadr on db HADRDB | hadr explain clp -`,
		Args: oneFile,
	}
	cmd.Flags().StringVar(&command, "command", "", "the command that printed it, such as \"db2stop\" (default: what the output tells of it)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		output, err := readOutput(cmd.InOrStdin(), args[0])
		if err != nil {
			return err
		}
		if x, ok := db2.ExplainConfig(output); ok {
			return explain(cmd.OutOrStdout(), x, *asJSON)
		}
		return explain(cmd.OutOrStdout(), db2.ExplainReply(output, command), *asJSON)
	}
	return cmd
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s wants one file with the output, or - for standard input", cmd.CommandPath())
	}
	return nil
}

func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON")
}

func explain(w io.Writer, x explanation, asJSON bool) error {
	if !asJSON {
		return x.WriteText(w)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(x)
}

// readOutput reads a file, or standard input for "-".
func readOutput(stdin io.Reader, name string) (string, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close() //nolint:errcheck // it is only read
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, explainLimit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", name, err)
	case len(b) > explainLimit:
		return "", fmt.Errorf("%s is larger than %d MiB: this is not the output of one command", name, explainLimit>>20)
	case bytes.IndexByte(b, 0) >= 0:
		return "", errors.New(name + " is not text: save the output as plain text, not as UTF-16 or compressed")
	}
	return string(b), nil
}
