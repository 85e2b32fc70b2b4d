package db2

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/command"
	"github.com/hadr-dev/terraform-provider-hadr/internal/control"
	"github.com/hadr-dev/terraform-provider-hadr/internal/failover"
)

// StartDatabase implements control.Engine: db2start and ACTIVATE DATABASE, in
// the role on disk. An active database is no error
// (https://www.ibm.com/docs/en/db2/11.5.x?topic=commands-activate-database).
// A primary that is alone is started with START HADR AS PRIMARY BY FORCE (R29;
// https://www.ibm.com/docs/en/db2/11.5.x?topic=commands-start-hadr).
func (e *Engine) StartDatabase(ctx context.Context, p control.Promotion) (failover.Outcome, error) {
	s, err := ParseSettings(p.Settings)
	if err != nil {
		return failover.Failed, err
	}
	step := string(failover.StepRestart)
	parameters := map[string]string{
		"group": p.Group, "table_arn": s.TableARN, "database": s.Database, "owner": s.Owner,
		"epoch": strconv.FormatUint(p.Epoch, 10), "operation": p.OperationID, "step": step,
		"attempt": strconv.Itoa(p.Attempt), "deadline": strconv.FormatInt(p.Deadline.Unix(), 10),
		"alone": map[bool]string{false: "no", true: "yes"}[p.Alone],
	}
	if err := check("start", s.StartDocument, parameters); err != nil {
		return failover.Failed, err
	}
	res := e.runner.Run(ctx, command.Request{
		Document: s.StartDocument, Version: s.versions["start"], Instance: p.Node.Instance, Parameters: parameters,
		Comment: fmt.Sprintf("%s/%s/%d", p.OperationID, step, p.Attempt), Resume: true, // R21
	})
	switch res.Outcome {
	case command.OK:
		return failover.OK, nil
	case command.Failed:
		return failover.Failed, errors.New(strings.TrimSpace(res.Detail + " " + beginning(res.Stdout)))
	}
	return failover.Unknown, errors.New(res.Detail)
}
