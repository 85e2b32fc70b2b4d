package policy

import (
	"regexp"
	"slices"
	"strings"
)

var (
	sidPattern       = regexp.MustCompile(`^[0-9A-Za-z]*$`)
	accountPattern   = regexp.MustCompile(`^[0-9]{12}$`)
	principalPattern = regexp.MustCompile(`^arn:aws[a-z-]*:(iam|sts)::[0-9]{12}:(root|(user|role|assumed-role|federated-user)/.+)$`)
	uniqueIDPattern  = regexp.MustCompile(`^A[A-Z0-9]{15,}$`) // what an ARN becomes once its role is deleted
	servicePattern   = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.(amazonaws\.com|internal)$`)
)

// trustActions are what a trust policy may allow.
var trustActions = []string{"sts:assumerole", "sts:assumerolewithsaml", "sts:assumerolewithwebidentity", "sts:tagsession", "sts:setsourceidentity", "sts:setcontext", "sts:*"}

func (d *Document) validate(kind Kind) error {
	if d.Version != Version2012 && d.Version != "2008-10-17" {
		return malformed("Policy document must be version 2012-10-17 or greater.")
	}
	if len(d.Statements) == 0 {
		return malformed("Syntax errors in policy: Statement is missing or empty.")
	}
	sids := map[string]bool{}
	for _, s := range d.Statements {
		// Resource policies may carry any Sid; identity policies may not.
		// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_sid.html
		if kind != Resource && !sidPattern.MatchString(s.Sid) {
			return malformed("Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*")
		}
		if s.Sid != "" && sids[s.Sid] {
			return malformed("Statement IDs (SID) in a single policy must be unique.")
		}
		sids[s.Sid] = true
		if err := s.validate(kind); err != nil {
			return err
		}
	}
	return nil
}

func (s *Statement) validate(kind Kind) error {
	if s.Effect != Allow && s.Effect != Deny {
		return malformed("Effect is %q, must be Allow or Deny.", s.Effect)
	}
	if err := s.validateActions(kind); err != nil {
		return err
	}
	if err := s.validateResources(kind); err != nil {
		return err
	}
	if kind == Identity {
		if s.Principal != nil || s.NotPrincipal != nil {
			return malformed("Policy document should not specify a principal.")
		}
		return nil
	}
	if (s.Principal == nil) == (s.NotPrincipal == nil) {
		return malformed("Missing required field Principal")
	}
	if s.Principal != nil {
		return s.Principal.validate()
	}
	return s.NotPrincipal.validate()
}

func (s *Statement) validateActions(kind Kind) error {
	if s.Action != nil && s.NotAction != nil {
		return malformed("A statement must not have both Action and NotAction.")
	}
	if len(s.Action)+len(s.NotAction) == 0 {
		return malformed("Missing required field Action")
	}
	for _, a := range slices.Concat(s.Action, s.NotAction) {
		vendor, name, ok := strings.Cut(a, ":")
		if a != "*" && (!ok || vendor == "" || name == "" || strings.ContainsAny(vendor, "*? ")) {
			return malformed("Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.")
		}
		if kind == Trust && !slices.Contains(trustActions, strings.ToLower(a)) {
			return malformed("AssumeRole policy may only specify STS AssumeRole actions.")
		}
	}
	return nil
}

func (s *Statement) validateResources(kind Kind) error {
	if kind == Trust {
		if s.Resource != nil || s.NotResource != nil {
			return malformed("Has prohibited field Resource")
		}
		return nil
	}
	if s.Resource != nil && s.NotResource != nil {
		return malformed("A statement must not have both Resource and NotResource.")
	}
	if len(s.Resource)+len(s.NotResource) == 0 {
		return malformed("Policy statement must contain resources.")
	}
	for _, r := range slices.Concat(s.Resource, s.NotResource) {
		if r != "*" && (!strings.HasPrefix(r, "arn:") || strings.Count(r, ":") < 5) {
			return malformed("Resource %s must be in ARN format or \"*\".", r)
		}
	}
	return nil
}

func (p *Principals) validate() error {
	for _, v := range p.AWS {
		if v != "*" && !accountPattern.MatchString(v) && !principalPattern.MatchString(v) && !uniqueIDPattern.MatchString(v) {
			return malformed("Invalid principal in policy: \"AWS\":%q", v)
		}
	}
	for _, v := range p.Service {
		if !servicePattern.MatchString(v) {
			return malformed("Invalid principal in policy: \"SERVICE\":%q", v)
		}
	}
	return nil
}
