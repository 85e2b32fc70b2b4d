package ssm

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

func (reg *region) describe(d *document, v *version) types.DocumentDescription {
	shown := types.DocumentDescription{
		Name: aws.String(d.name), Owner: aws.String(d.owner), DocumentType: d.kind, DocumentFormat: types.DocumentFormatJson,
		DocumentVersion: aws.String(strconv.Itoa(v.number)), DefaultVersion: aws.String(strconv.Itoa(d.fallback)),
		LatestVersion: aws.String(strconv.Itoa(d.latest().number)), Status: types.DocumentStatusActive, CreatedDate: aws.Time(v.created),
		SchemaVersion: aws.String(v.content.SchemaVersion), Hash: aws.String(v.hash()), HashType: types.DocumentHashTypeSha256,
		PlatformTypes: []types.PlatformType{types.PlatformTypeLinux}, Tags: reg.shownTags(tagged{types.ResourceTypeForTaggingDocument, d.name}),
	}
	if v.content.Description != "" {
		shown.Description = aws.String(v.content.Description)
	}
	if d.target != "" {
		shown.TargetType = aws.String(d.target)
	}
	if v.name != "" {
		shown.VersionName = aws.String(v.name)
	}
	for _, name := range slices.Sorted(maps.Keys(v.content.Parameters)) {
		p := v.content.Parameters[name]
		s := types.DocumentParameter{Name: aws.String(name), Type: types.DocumentParameterType(p.Type)}
		if p.Description != "" {
			s.Description = aws.String(p.Description)
		}
		if p.Default != nil {
			s.DefaultValue = aws.String(pasted(p.Default))
		}
		shown.Parameters = append(shown.Parameters, s)
	}
	return shown
}

// versionOf returns the version that a reading call asks for.
func (s *SSM) versionOf(reg *region, name, number, label *string) (*document, *version, error) {
	d, err := s.find(reg, name)
	if err != nil {
		return nil, nil, err
	}
	if label != nil {
		for _, v := range d.versions {
			if v != nil && v.name == *label {
				return d, v, nil
			}
		}
		return nil, nil, wire.Errorf("InvalidDocumentVersion", "The document %s has no version named %s", d.name, *label)
	}
	v, err := d.version(aws.ToString(number))
	return d, v, err
}

// DescribeDocument shows a version of a document.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DescribeDocument.html
func (s *SSM) DescribeDocument(r *wire.Request, in *ssm.DescribeDocumentInput) (*ssm.DescribeDocumentOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	d, v, err := s.versionOf(reg, in.Name, in.DocumentVersion, in.VersionName)
	if err != nil {
		return nil, err
	}
	shown := reg.describe(d, v)
	return &ssm.DescribeDocumentOutput{Document: &shown}, nil
}

// GetDocument returns the text of a version as it was given.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetDocument.html
func (s *SSM) GetDocument(r *wire.Request, in *ssm.GetDocumentInput) (*ssm.GetDocumentOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	d, v, err := s.versionOf(reg, in.Name, in.DocumentVersion, in.VersionName)
	if err != nil {
		return nil, err
	}
	if in.DocumentFormat != "" && in.DocumentFormat != types.DocumentFormatJson {
		return nil, validation("The sandbox has documents in JSON only, not in %s", in.DocumentFormat)
	}
	out := &ssm.GetDocumentOutput{
		Name: aws.String(d.name), Content: aws.String(v.text), DocumentVersion: aws.String(strconv.Itoa(v.number)), DocumentType: d.kind,
		DocumentFormat: types.DocumentFormatJson, Status: types.DocumentStatusActive, CreatedDate: aws.Time(v.created),
	}
	if v.name != "" {
		out.VersionName = aws.String(v.name)
	}
	return out, nil
}

// ListDocumentVersions lists the versions of a document, the newest first.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_ListDocumentVersions.html
func (s *SSM) ListDocumentVersions(r *wire.Request, in *ssm.ListDocumentVersionsInput) (*ssm.ListDocumentVersionsOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	d, err := s.find(reg, in.Name)
	if err != nil {
		return nil, err
	}
	var all []types.DocumentVersionInfo
	for _, v := range slices.Backward(d.versions) {
		if v == nil {
			continue
		}
		info := types.DocumentVersionInfo{
			Name: aws.String(d.name), DocumentVersion: aws.String(strconv.Itoa(v.number)), DocumentFormat: types.DocumentFormatJson,
			CreatedDate: aws.Time(v.created), IsDefaultVersion: v.number == d.fallback, Status: types.DocumentStatusActive,
		}
		if v.name != "" {
			info.VersionName = aws.String(v.name)
		}
		all = append(all, info)
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken, 50)
	return &ssm.ListDocumentVersionsOutput{DocumentVersions: shown, NextToken: next}, err
}

// ListDocuments lists the documents of AWS and of the account. Filters are
// Name (a prefix), Owner (Self, Amazon), DocumentType, PlatformTypes and tags.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_ListDocuments.html
func (s *SSM) ListDocuments(r *wire.Request, in *ssm.ListDocumentsInput) (*ssm.ListDocumentsOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	var documents []*document
	if d := builtin(runShellScriptName); d != nil {
		documents = append(documents, d)
	}
	for _, name := range slices.Sorted(maps.Keys(reg.documents)) {
		documents = append(documents, reg.documents[name])
	}
	filters := slices.Clone(in.Filters)
	for _, f := range in.DocumentFilterList {
		key := string(f.Key)
		filters = append(filters, types.DocumentKeyValuesFilter{Key: &key, Values: []string{aws.ToString(f.Value)}})
	}
	var all []types.DocumentIdentifier
	for _, d := range documents {
		ok, err := reg.passes(d, filters)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		x := reg.describe(d, d.versions[d.fallback-1])
		all = append(all, types.DocumentIdentifier{
			Name: x.Name, Owner: x.Owner, DocumentType: x.DocumentType, DocumentFormat: x.DocumentFormat, DocumentVersion: x.DocumentVersion,
			SchemaVersion: x.SchemaVersion, PlatformTypes: x.PlatformTypes, CreatedDate: x.CreatedDate, TargetType: x.TargetType, VersionName: x.VersionName, Tags: x.Tags,
		})
	}
	shown, next, err := page(all, in.MaxResults, in.NextToken, 50)
	return &ssm.ListDocumentsOutput{DocumentIdentifiers: shown, NextToken: next}, err
}

func (reg *region) passes(d *document, filters []types.DocumentKeyValuesFilter) (bool, error) {
	for _, f := range filters {
		var ok bool
		for _, v := range f.Values {
			switch key := aws.ToString(f.Key); {
			case strings.EqualFold(key, "Name"):
				ok = ok || strings.HasPrefix(d.name, v)
			case key == "Owner":
				ok = ok || strings.EqualFold(v, "all") || strings.EqualFold(v, d.owner) || strings.EqualFold(v, "self") && d.owner == reg.account
			case key == "DocumentType":
				ok = ok || v == string(d.kind)
			case key == "PlatformTypes":
				ok = ok || v == string(types.PlatformTypeLinux)
			case strings.HasPrefix(key, "tag:"):
				t, has := reg.tags[tagged{types.ResourceTypeForTaggingDocument, d.name}][key[len("tag:"):]]
				ok = ok || has && t == v
			default:
				return false, wire.Errorf("InvalidFilterKey", "The filter %s is not valid", key)
			}
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}
