package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// providerAddress is where the provider lives in the public registry.
const (
	providerAddress = "registry.terraform.io/hadr-dev/hadr"
	providerVersion = "0.1.0"
)

// Terraform runs the real terraform on a copy of an example.
type Terraform struct {
	Dir string // of the root module
	env []string
	out io.Writer // what terraform prints, for people; nil = nothing
}

// NewTerraform copies modules and example from the source tree into work, and
// offers the built provider through a file system mirror, so that init needs
// no network and checks the version constraint.
func NewTerraform(source, work, provider, example string, env []string, out io.Writer) (*Terraform, error) {
	if _, err := os.Stat(provider); err != nil {
		return nil, fmt.Errorf("there is no provider: %w: run make build, or name it with --provider", err)
	}
	for _, dir := range []string{"modules", example} {
		if err := copyConfiguration(filepath.Join(work, dir), filepath.Join(source, dir)); err != nil {
			return nil, fmt.Errorf("copying %s from --source %s, which must be the root of the source tree: %w", dir, source, err)
		}
	}
	mirror := filepath.Join(work, "mirror")
	plugin := filepath.Join(mirror, filepath.FromSlash(providerAddress), providerVersion, runtime.GOOS+"_"+runtime.GOARCH)
	if err := os.MkdirAll(plugin, 0o755); err != nil {
		return nil, err
	}
	if err := os.Symlink(provider, filepath.Join(plugin, "terraform-provider-hadr_v"+providerVersion)); err != nil {
		return nil, fmt.Errorf("offering the provider: %w", err)
	}
	rc := filepath.Join(work, "terraform.rc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path    = %q\n    include = [\"registry.terraform.io/hadr-dev/*\"]\n  }\n}\n", mirror)
	if err := os.WriteFile(rc, []byte(text), 0o600); err != nil {
		return nil, err
	}
	env = append(env, "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0", "TF_LOG=")
	return &Terraform{Dir: filepath.Join(work, example), env: env, out: out}, nil
}

// copyConfiguration copies the *.tf files of a tree. State, variables and
// plug-ins of somebody who tried the example by hand stay where they are.
func copyConfiguration(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".terraform":
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".tf":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
}

// Run runs one command and returns what it printed.
func (t *Terraform) Run(ctx context.Context, args ...string) (string, error) {
	text, code, err := t.run(ctx, args...)
	if err != nil {
		return text, err
	}
	if code != 0 {
		return text, fmt.Errorf("terraform %s ended with code %d:\n%s", strings.Join(args, " "), code, text)
	}
	return text, nil
}

func (t *Terraform) run(ctx context.Context, args ...string) (text string, code int, err error) {
	cmd := exec.CommandContext(ctx, "terraform", args...)
	cmd.Dir = t.Dir
	// A profile of the person who runs this has no business in the sandbox.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_PROFILE=") }), t.env...)
	var buf bytes.Buffer
	var w io.Writer = &buf
	if t.out != nil {
		w = io.MultiWriter(&buf, t.out)
	}
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return buf.String(), exit.ExitCode(), nil
	case errors.Is(err, exec.ErrNotFound):
		return "", 0, errors.New("terraform is not on PATH: install Terraform 1.11 or newer from https://developer.hashicorp.com/terraform/install")
	case err != nil:
		return buf.String(), 0, fmt.Errorf("terraform %s: %w", strings.Join(args, " "), err)
	}
	return buf.String(), 0, nil
}

// Plan is what `terraform plan` said.
type Plan struct {
	Empty    bool     `json:"empty"`
	Text     string   `json:"-"`
	Warnings []string `json:"warnings"`
}

// Plan runs a plan and reads its warnings.
func (t *Terraform) Plan(ctx context.Context) (Plan, error) {
	text, code, err := t.run(ctx, "plan", "-no-color", "-detailed-exitcode")
	if err != nil {
		return Plan{}, err
	}
	if code == 1 { // https://developer.hashicorp.com/terraform/cli/commands/plan#detailed-exitcode
		return Plan{}, fmt.Errorf("terraform plan failed:\n%s", text)
	}
	return Plan{Empty: code == 0, Text: text, Warnings: warnings(text)}, nil
}

// warnings returns the summary of every warning in the text of a plan.
func warnings(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if _, summary, ok := strings.Cut(line, "Warning: "); ok {
			found = append(found, strings.TrimSpace(summary))
		}
	}
	return found
}

// Outputs reads the root module's outputs.
func (t *Terraform) Outputs(ctx context.Context) (map[string]any, error) {
	quiet := &Terraform{Dir: t.Dir, env: t.env}
	text, err := quiet.Run(ctx, "output", "-json", "-no-color")
	if err != nil {
		return nil, err
	}
	var raw map[string]struct {
		Value any `json:"value"`
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fmt.Errorf("reading terraform's outputs: %w", err)
	}
	values := map[string]any{}
	for name, o := range raw {
		values[name] = o.Value
	}
	return values, nil
}
