package lambda_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/google/go-cmp/cmp"
)

// https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
func TestStates(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, r *runs) {
		name := aws.String("g")
		created, err := c.CreateFunction(t.Context(), c.input(t, "g", nil))
		noError(t, err)
		if created.State != types.StatePending {
			t.Errorf("a new function is %s, want Pending", created.State)
		}
		_, err = c.Invoke(t.Context(), &api.InvokeInput{FunctionName: name})
		wantCode(t, err, "ResourceConflictException")
		_, err = c.UpdateFunctionConfiguration(t.Context(), &api.UpdateFunctionConfigurationInput{FunctionName: name, Timeout: aws.Int32(5)})
		wantCode(t, err, "ResourceConflictException")
		noError(t, api.NewFunctionActiveV2Waiter(c.Client).Wait(t.Context(), &api.GetFunctionInput{FunctionName: name}, time.Minute))

		c.invoke(t, "g", `{}`)
		before, err := c.GetFunctionConfiguration(t.Context(), &api.GetFunctionConfigurationInput{FunctionName: name})
		noError(t, err)
		_, err = c.UpdateFunctionConfiguration(t.Context(), &api.UpdateFunctionConfigurationInput{FunctionName: name, RevisionId: aws.String("other")})
		wantCode(t, err, "PreconditionFailedException")
		updated, err := c.UpdateFunctionConfiguration(t.Context(), &api.UpdateFunctionConfigurationInput{FunctionName: name, RevisionId: before.RevisionId, Timeout: aws.Int32(60),
			Environment: &types.Environment{Variables: map[string]string{"TAG": "two"}}})
		noError(t, err)
		if updated.State != types.StateActive || updated.LastUpdateStatus != types.LastUpdateStatusInProgress || *updated.RevisionId == *before.RevisionId {
			t.Errorf("an update is %s, %s", updated.State, updated.LastUpdateStatus)
		}
		_, err = c.UpdateFunctionCode(t.Context(), &api.UpdateFunctionCodeInput{FunctionName: name, ZipFile: zipped(t, map[string]string{"bootstrap": script})})
		wantCode(t, err, "ResourceConflictException")
		c.invoke(t, "g", `{}`) // goes on meanwhile
		noError(t, api.NewFunctionUpdatedV2Waiter(c.Client).Wait(t.Context(), &api.GetFunctionInput{FunctionName: name}, time.Minute))
		after, err := c.GetFunctionConfiguration(t.Context(), &api.GetFunctionConfigurationInput{FunctionName: name})
		noError(t, err)
		if *after.Timeout != 60 || after.Environment.Variables["TAG"] != "two" || *after.MemorySize != 128 || *after.CodeSha256 != *before.CodeSha256 {
			t.Errorf("configuration is %+v", after)
		}
		c.invoke(t, "g", `{}`)
		if r.last().Env["TAG"] != "two" {
			t.Error("a warm environment of the old configuration was used again")
		}
		_, err = c.DeleteFunction(t.Context(), &api.DeleteFunctionInput{FunctionName: name})
		noError(t, err)
		_, err = c.GetFunction(t.Context(), &api.GetFunctionInput{FunctionName: name})
		wantCode(t, err, "ResourceNotFoundException")
	})
}

func TestCreateFunctionRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		more func(*api.CreateFunctionInput)
		code string
		text string
	}{
		{"name in use", func(in *api.CreateFunctionInput) { in.FunctionName = aws.String("f") }, "ResourceConflictException", "Function already exist"},
		{"bad name", func(in *api.CreateFunctionInput) { in.FunctionName = aws.String("a b") }, "InvalidParameterValueException", "functionName"},
		{"no code", func(in *api.CreateFunctionInput) { in.Code = &types.FunctionCode{} }, "InvalidParameterValueException", "source for function code"},
		{"code that is no zip", func(in *api.CreateFunctionInput) { in.Code.ZipFile = []byte("no zip") }, "InvalidParameterValueException", "Could not unzip"},
		{"path out of the zip", func(in *api.CreateFunctionInput) { in.Code.ZipFile = zipped(t, map[string]string{"../x": ""}) }, "InvalidParameterValueException", "leads out"},
		{"code in S3", func(in *api.CreateFunctionInput) { in.Code = &types.FunctionCode{S3Bucket: aws.String("b")} }, "InvalidParameterValueException", "ZipFile only"},
		{"no runtime", func(in *api.CreateFunctionInput) { in.Runtime = "" }, "InvalidParameterValueException", "Runtime and Handler are mandatory"},
		{"unknown runtime", func(in *api.CreateFunctionInput) { in.Runtime = "cobol" }, "InvalidParameterValueException", "enum value set"},
		{"runtime that the sandbox lacks", func(in *api.CreateFunctionInput) { in.Runtime = types.RuntimePython313 }, "InvalidParameterValueException", "The sandbox runs"},
		{"timeout of 901", func(in *api.CreateFunctionInput) { in.Timeout = aws.Int32(901) }, "InvalidParameterValueException", "timeout"},
		{"memory of 127", func(in *api.CreateFunctionInput) { in.MemorySize = aws.Int32(127) }, "InvalidParameterValueException", "MemorySize"},
		{"two architectures", func(in *api.CreateFunctionInput) { in.Architectures = []types.Architecture{"arm64", "x86_64"} }, "InvalidParameterValueException", "architectures"},
		{"reserved variable", func(in *api.CreateFunctionInput) { in.Environment.Variables["AWS_REGION"] = "x" }, "InvalidParameterValueException", "Reserved keys used in this request: AWS_REGION"},
		{"bad variable", func(in *api.CreateFunctionInput) { in.Environment.Variables["1"] = "x" }, "InvalidParameterValueException", "Map keys"},
		{"environment over 4 KB", func(in *api.CreateFunctionInput) { in.Environment.Variables["BIG"] = strings.Repeat("x", 4096) }, "InvalidParameterValueException", "4KB"},
		{"malformed role", func(in *api.CreateFunctionInput) { in.Role = aws.String("fn") }, "InvalidParameterValueException", "role"},
		{"role without trust", func(in *api.CreateFunctionInput) { in.Role = aws.String("arn:aws:iam::123456789012:role/other") }, "InvalidParameterValueException", "The role defined for the function cannot be assumed by Lambda."},
		{"layers", func(in *api.CreateFunctionInput) { in.Layers = []string{"arn"} }, "InvalidParameterValueException", "layers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, c *client, _ *runs) {
				_, err := c.CreateFunction(t.Context(), c.input(t, "g", tt.more))
				wantCode(t, err, tt.code)
				if err != nil && !strings.Contains(err.Error(), tt.text) {
					t.Errorf("error is %v, want %q in it", err, tt.text)
				}
			})
		})
	}
	virtual(t, func(t *testing.T, c *client, _ *runs) {
		c.role.denyPass = true
		_, err := c.CreateFunction(t.Context(), c.input(t, "g", nil))
		wantCode(t, err, "AccessDeniedException")
	})
}

// https://docs.aws.amazon.com/lambda/latest/dg/configuration-versions.html
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-aliases.html
func TestVersionsAndAliases(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, r *runs) {
		f := aws.String("f")
		publish := func() string {
			v, err := c.PublishVersion(t.Context(), &api.PublishVersionInput{FunctionName: f})
			noError(t, err)
			return *v.Version
		}
		change := func(tag string) {
			_, err := c.UpdateFunctionConfiguration(t.Context(), &api.UpdateFunctionConfigurationInput{FunctionName: f, Environment: &types.Environment{Variables: map[string]string{"TAG": tag}}})
			noError(t, err)
			time.Sleep(time.Second)
		}
		if one, again := publish(), publish(); one != "1" || again != "1" {
			t.Errorf("published %s, then without a change %s, want 1 and 1", one, again)
		}
		change("one") // drops TEST_BINARY
		if two := publish(); two != "2" {
			t.Errorf("published %s after a change, want 2", two)
		}
		change("one")
		if again := publish(); again != "2" {
			t.Errorf("published %s after an update that changed nothing, want 2", again)
		}
		change("three")
		a, err := c.CreateAlias(t.Context(), &api.CreateAliasInput{FunctionName: f, Name: aws.String("live"), FunctionVersion: aws.String("1")})
		noError(t, err)
		if *a.AliasArn != "arn:aws:lambda:eu-central-1:123456789012:function:f:live" {
			t.Errorf("alias is %s", *a.AliasArn)
		}
		for qualifier, want := range map[string][3]string{"live": {"1", "1", "one"}, "2": {"2", "2", "one"}, "$LATEST": {"$LATEST", "$LATEST", "three"}} {
			out, err := c.Invoke(t.Context(), &api.InvokeInput{FunctionName: f, Qualifier: &qualifier})
			noError(t, err)
			if got := [3]string{*out.ExecutedVersion, r.last().Env["AWS_LAMBDA_FUNCTION_VERSION"], r.last().Env["TAG"]}; got != want || !strings.HasSuffix(r.last().FunctionARN, ":f:"+qualifier) {
				t.Errorf("%s ran %v as %s, want %v", qualifier, got, r.last().FunctionARN, want)
			}
		}
		_, err = c.DeleteFunction(t.Context(), &api.DeleteFunctionInput{FunctionName: f, Qualifier: aws.String("1")})
		wantCode(t, err, "ResourceConflictException")
		_, err = c.UpdateAlias(t.Context(), &api.UpdateAliasInput{FunctionName: f, Name: aws.String("live"), FunctionVersion: aws.String("9")})
		wantCode(t, err, "ResourceNotFoundException")
		_, err = c.UpdateAlias(t.Context(), &api.UpdateAliasInput{FunctionName: f, Name: aws.String("live"), FunctionVersion: aws.String("2"), RevisionId: a.RevisionId})
		noError(t, err)
		_, err = c.UpdateAlias(t.Context(), &api.UpdateAliasInput{FunctionName: f, Name: aws.String("live"), RevisionId: a.RevisionId})
		wantCode(t, err, "PreconditionFailedException")
		_, err = c.DeleteFunction(t.Context(), &api.DeleteFunctionInput{FunctionName: f, Qualifier: aws.String("1")})
		noError(t, err)
		v, err := c.ListVersionsByFunction(t.Context(), &api.ListVersionsByFunctionInput{FunctionName: f})
		noError(t, err)
		var names []string
		for _, one := range v.Versions {
			names = append(names, *one.Version)
		}
		if diff := cmp.Diff([]string{"$LATEST", "2"}, names); diff != "" {
			t.Errorf("versions:\n%s", diff)
		}
		_, err = c.CreateAlias(t.Context(), &api.CreateAliasInput{FunctionName: f, Name: aws.String("12"), FunctionVersion: aws.String("2")})
		wantCode(t, err, "InvalidParameterValueException")
		_, err = c.GetAlias(t.Context(), &api.GetAliasInput{FunctionName: f, Name: aws.String("other")})
		wantCode(t, err, "ResourceNotFoundException")
	})
}

// https://docs.aws.amazon.com/lambda/latest/api/API_AddPermission.html
func TestPermissions(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, _ *runs) {
		f := aws.String("f")
		add := func(in api.AddPermissionInput) error {
			in.FunctionName = f
			if in.Action == nil {
				in.Action = aws.String("lambda:InvokeFunction")
			}
			_, err := c.AddPermission(t.Context(), &in)
			return err
		}
		_, err := c.GetPolicy(t.Context(), &api.GetPolicyInput{FunctionName: f})
		wantCode(t, err, "ResourceNotFoundException")
		alarm := "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:a"
		noError(t, add(api.AddPermissionInput{StatementId: aws.String("alarm"), Principal: aws.String("lambda.alarms.cloudwatch.amazonaws.com"), SourceArn: &alarm, SourceAccount: aws.String("123456789012")}))
		p, err := c.GetPolicy(t.Context(), &api.GetPolicyInput{FunctionName: f})
		noError(t, err)
		var got any
		noError(t, json.Unmarshal([]byte(*p.Policy), &got))
		want := map[string]any{"Version": "2012-10-17", "Id": "default", "Statement": []any{map[string]any{
			"Sid": "alarm", "Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": "arn:aws:lambda:eu-central-1:123456789012:function:f",
			"Principal": map[string]any{"Service": "lambda.alarms.cloudwatch.amazonaws.com"},
			"Condition": map[string]any{"ArnLike": map[string]any{"AWS:SourceArn": alarm}, "StringEquals": map[string]any{"AWS:SourceAccount": "123456789012"}},
		}}}
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("policy (-want +got):\n%s", diff)
		}
		if c.lambda.Policy("arn:aws:lambda:eu-central-1:123456789012:function:f") != *p.Policy {
			t.Error("authorization sees another policy")
		}
		for code, in := range map[string]api.AddPermissionInput{
			"ResourceConflictException":      {StatementId: aws.String("alarm"), Principal: aws.String("*")},
			"PreconditionFailedException":    {StatementId: aws.String("b"), Principal: aws.String("*"), RevisionId: aws.String("x")},
			"InvalidParameterValueException": {StatementId: aws.String("b"), Principal: aws.String("nobody")},
			"ResourceNotFoundException":      {StatementId: aws.String("b"), Principal: aws.String("*"), Qualifier: aws.String("live")},
		} {
			wantCode(t, add(in), code)
		}
		wantCode(t, add(api.AddPermissionInput{StatementId: aws.String("b"), Principal: aws.String("*"), Qualifier: aws.String("$LATEST")}), "InvalidParameterValueException")
		noError(t, add(api.AddPermissionInput{StatementId: aws.String("b"), Principal: aws.String("*"), RevisionId: p.RevisionId}))
		remove := func(id string) error {
			_, err := c.RemovePermission(t.Context(), &api.RemovePermissionInput{FunctionName: f, StatementId: &id})
			return err
		}
		wantCode(t, remove("other"), "ResourceNotFoundException")
		noError(t, remove("alarm"))
		noError(t, remove("b"))
		_, err = c.GetPolicy(t.Context(), &api.GetPolicyInput{FunctionName: f})
		wantCode(t, err, "ResourceNotFoundException")
	})
}

func TestEventInvokeConfig(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, _ *runs) {
		f := aws.String("f")
		_, err := c.GetFunctionEventInvokeConfig(t.Context(), &api.GetFunctionEventInvokeConfigInput{FunctionName: f})
		wantCode(t, err, "ResourceNotFoundException")
		for _, in := range []api.PutFunctionEventInvokeConfigInput{
			{MaximumRetryAttempts: aws.Int32(3)}, {MaximumEventAgeInSeconds: aws.Int32(59)}, {MaximumEventAgeInSeconds: aws.Int32(21601)}, {DestinationConfig: onFailure("queue")},
		} {
			in.FunctionName = f
			_, err := c.PutFunctionEventInvokeConfig(t.Context(), &in)
			wantCode(t, err, "InvalidParameterValueException")
		}
		c.settings(t, api.PutFunctionEventInvokeConfigInput{MaximumRetryAttempts: aws.Int32(0), MaximumEventAgeInSeconds: aws.Int32(60), DestinationConfig: onFailure(queue)})
		_, err = c.UpdateFunctionEventInvokeConfig(t.Context(), &api.UpdateFunctionEventInvokeConfigInput{FunctionName: f, MaximumEventAgeInSeconds: aws.Int32(120)})
		noError(t, err)
		o, err := c.GetFunctionEventInvokeConfig(t.Context(), &api.GetFunctionEventInvokeConfigInput{FunctionName: f})
		noError(t, err)
		if *o.MaximumRetryAttempts != 0 || *o.MaximumEventAgeInSeconds != 120 || *o.DestinationConfig.OnFailure.Destination != queue || !strings.HasSuffix(*o.FunctionArn, ":f:$LATEST") {
			t.Errorf("settings are %+v", o)
		}
		list, err := c.ListFunctionEventInvokeConfigs(t.Context(), &api.ListFunctionEventInvokeConfigsInput{FunctionName: f})
		noError(t, err)
		if len(list.FunctionEventInvokeConfigs) != 1 {
			t.Errorf("%d settings, want 1", len(list.FunctionEventInvokeConfigs))
		}
		_, err = c.DeleteFunctionEventInvokeConfig(t.Context(), &api.DeleteFunctionEventInvokeConfigInput{FunctionName: f})
		noError(t, err)
		_, err = c.GetFunctionEventInvokeConfig(t.Context(), &api.GetFunctionEventInvokeConfigInput{FunctionName: f})
		wantCode(t, err, "ResourceNotFoundException")
	})
}

func TestListFunctionsAndTags(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, _ *runs) {
		for _, name := range []string{"c", "a"} {
			c.create(t, name, func(in *api.CreateFunctionInput) { in.Tags = map[string]string{"k": name} })
		}
		var names string
		for p := api.NewListFunctionsPaginator(c.Client, &api.ListFunctionsInput{MaxItems: aws.Int32(2)}); p.HasMorePages(); {
			out, err := p.NextPage(t.Context())
			noError(t, err)
			for _, f := range out.Functions {
				names += *f.FunctionName
			}
		}
		if names != "acf" {
			t.Errorf("functions are %s, want acf", names)
		}
		arn := "arn:aws:lambda:eu-central-1:123456789012:function:a"
		_, err := c.TagResource(t.Context(), &api.TagResourceInput{Resource: &arn, Tags: map[string]string{"x": "y", "z": "z"}})
		noError(t, err)
		_, err = c.UntagResource(t.Context(), &api.UntagResourceInput{Resource: &arn, TagKeys: []string{"z"}})
		noError(t, err)
		o, err := c.ListTags(t.Context(), &api.ListTagsInput{Resource: &arn})
		noError(t, err)
		if diff := cmp.Diff(map[string]string{"k": "a", "x": "y"}, o.Tags); diff != "" {
			t.Errorf("tags:\n%s", diff)
		}
		if diff := cmp.Diff(o.Tags, c.lambda.Tags(arn)); diff != "" {
			t.Errorf("tags for authorization:\n%s", diff)
		}
	})
}

// All forms of a function's name mean the same function.
func TestFunctionNames(t *testing.T) {
	virtual(t, func(t *testing.T, c *client, _ *runs) {
		for _, name := range []string{"f", "f:$LATEST", "123456789012:function:f", "arn:aws:lambda:eu-central-1:123456789012:function:f", "arn:aws:lambda:eu-central-1:123456789012:function:f:$LATEST"} {
			if _, err := c.GetFunction(t.Context(), &api.GetFunctionInput{FunctionName: &name}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err := c.GetFunction(t.Context(), &api.GetFunctionInput{FunctionName: aws.String("f:1"), Qualifier: aws.String("2")})
		wantCode(t, err, "InvalidParameterValueException")
		_, err = c.GetFunction(t.Context(), &api.GetFunctionInput{FunctionName: aws.String("arn:aws:lambda:us-east-1:123456789012:function:f")})
		wantCode(t, err, "ResourceNotFoundException")
	})
}
