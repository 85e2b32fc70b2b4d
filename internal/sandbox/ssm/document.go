package ssm

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

type document struct {
	name, owner string
	kind        types.DocumentType
	target      string
	versions    []*version // by number, from 1; nil = deleted
	fallback    int        // number of the default version
}

type version struct {
	number  int
	name    string
	text    string
	content *content
	created time.Time
}

func (v *version) hash() string {
	sum := sha256.Sum256([]byte(v.text))
	return hex.EncodeToString(sum[:])
}

func (d *document) latest() *version { return d.versions[len(d.versions)-1] }

// version returns a version by number, $DEFAULT, $LATEST or "".
func (d *document) version(which string) (*version, error) {
	switch which {
	case "", "$DEFAULT":
		return d.versions[d.fallback-1], nil
	case "$LATEST":
		return d.latest(), nil
	}
	n, err := strconv.Atoi(which)
	if err != nil || n < 1 || n > len(d.versions) || d.versions[n-1] == nil {
		return nil, wire.Errorf("InvalidDocumentVersion", "The document %s has no version %s", d.name, which)
	}
	return d.versions[n-1], nil
}

// Limits of documents: https://docs.aws.amazon.com/general/latest/gr/ssm.html#limits_ssm
const maxVersions = 1000

var (
	documentName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,128}$`)
	// reservedName: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateDocument.html
	reservedName = regexp.MustCompile(`(?i)^(aws|amazon|amzn|awsec2|awsconfigremediation|awssupport)`)
)

// builtin is AWS's own document with a name, or nil.
func builtin(name string) *document {
	if name != runShellScriptName {
		return nil
	}
	c, err := awsRunShellScript()
	if err != nil {
		return nil
	}
	v := &version{number: 1, text: runShellScript, content: c, created: time.Date(2017, 8, 31, 0, 0, 0, 0, time.UTC)}
	return &document{name: name, owner: ownerAmazon, kind: types.DocumentTypeCommand, versions: []*version{v}, fallback: 1}
}

// find returns a document by name or ARN.
func (s *SSM) find(reg *region, name *string) (*document, error) {
	n := aws.ToString(name)
	if i := strings.LastIndex(n, ":document/"); i >= 0 {
		n = n[i+len(":document/"):]
	}
	if d := builtin(n); d != nil {
		return d, nil
	}
	if d, ok := reg.documents[n]; ok {
		return d, nil
	}
	return nil, wire.Errorf("InvalidDocument", "Document with name %s does not exist.", n)
}

// own returns a document that the account may change.
func (s *SSM) own(reg *region, name *string) (*document, error) {
	d, err := s.find(reg, name)
	if err == nil && d.owner == ownerAmazon {
		err = wire.Errorf("InvalidDocument", "Document %s belongs to %s and cannot be changed.", d.name, d.owner)
	}
	return d, err
}

func readContent(text *string, format types.DocumentFormat) (*content, error) {
	if format != "" && format != types.DocumentFormatJson {
		return nil, badContent("the sandbox reads documents in JSON only, not in %s", format)
	}
	if aws.ToString(text) == "" {
		return nil, validation("Content is required")
	}
	return parse(*text)
}

// CreateDocument makes a Command document.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateDocument.html
func (s *SSM) CreateDocument(r *wire.Request, in *ssm.CreateDocumentInput) (*ssm.CreateDocumentOutput, error) {
	name := aws.ToString(in.Name)
	if !documentName.MatchString(name) || reservedName.MatchString(name) {
		return nil, validation("Document name %q must match %s and not begin with a prefix of AWS", name, documentName)
	}
	if in.DocumentType != "" && in.DocumentType != types.DocumentTypeCommand {
		return nil, wire.Errorf("InvalidDocumentType", "The sandbox has Command documents only, not %s", in.DocumentType)
	}
	c, err := readContent(in.Content, in.DocumentFormat)
	if err != nil {
		return nil, err
	}
	reg := s.enter(r)
	defer s.mu.Unlock()
	if _, ok := reg.documents[name]; ok {
		return nil, wire.Errorf("DocumentAlreadyExists", "Document with same name %s already exists", name)
	}
	d := &document{name: name, owner: reg.account, kind: types.DocumentTypeCommand, target: aws.ToString(in.TargetType), fallback: 1}
	d.versions = []*version{{number: 1, name: aws.ToString(in.VersionName), text: *in.Content, content: c, created: s.world.Clock.Now()}}
	if err := reg.tag(tagged{types.ResourceTypeForTaggingDocument, name}, in.Tags); err != nil {
		return nil, err
	}
	reg.documents[name] = d
	shown := reg.describe(d, d.versions[0])
	shown.Status = types.DocumentStatusCreating
	return &ssm.CreateDocumentOutput{DocumentDescription: &shown}, nil
}

// UpdateDocument adds a version, which does not become the default by itself.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_UpdateDocument.html
func (s *SSM) UpdateDocument(r *wire.Request, in *ssm.UpdateDocumentInput) (*ssm.UpdateDocumentOutput, error) {
	c, err := readContent(in.Content, in.DocumentFormat)
	if err != nil {
		return nil, err
	}
	reg := s.enter(r)
	defer s.mu.Unlock()
	d, err := s.own(reg, in.Name)
	if err != nil {
		return nil, err
	}
	latest := d.latest()
	if v := aws.ToString(in.DocumentVersion); v != "" && v != "$LATEST" && v != strconv.Itoa(latest.number) {
		return nil, wire.Errorf("InvalidDocumentVersion", "The document version %s is not the latest one of %s, which is %d", v, d.name, latest.number)
	}
	if latest.text == *in.Content {
		return nil, wire.Errorf("DuplicateDocumentContent", "The content of the document is the same as version %d of %s", latest.number, d.name)
	}
	for _, v := range d.versions {
		if n := aws.ToString(in.VersionName); v != nil && n != "" && v.name == n {
			return nil, wire.Errorf("DuplicateDocumentVersionName", "The version name %s is already used by version %d of %s", n, v.number, d.name)
		}
	}
	if len(d.versions) >= maxVersions {
		return nil, wire.Errorf("DocumentVersionLimitExceeded", "The document %s has %d versions already", d.name, maxVersions)
	}
	v := &version{number: len(d.versions) + 1, name: aws.ToString(in.VersionName), text: *in.Content, content: c, created: s.world.Clock.Now()}
	d.versions = append(d.versions, v)
	shown := reg.describe(d, v)
	shown.Status = types.DocumentStatusUpdating
	return &ssm.UpdateDocumentOutput{DocumentDescription: &shown}, nil
}

// UpdateDocumentDefaultVersion chooses the version that is used unless a
// caller names one.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_UpdateDocumentDefaultVersion.html
func (s *SSM) UpdateDocumentDefaultVersion(r *wire.Request, in *ssm.UpdateDocumentDefaultVersionInput) (*ssm.UpdateDocumentDefaultVersionOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	d, err := s.own(reg, in.Name)
	if err != nil {
		return nil, err
	}
	v, err := d.version(aws.ToString(in.DocumentVersion))
	if err != nil {
		return nil, err
	}
	d.fallback = v.number
	shown := &types.DocumentDefaultVersionDescription{Name: aws.String(d.name), DefaultVersion: aws.String(strconv.Itoa(v.number))}
	if v.name != "" {
		shown.DefaultVersionName = aws.String(v.name)
	}
	return &ssm.UpdateDocumentDefaultVersionOutput{Description: shown}, nil
}

// DeleteDocument removes a document, or one version that is not the default.
// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DeleteDocument.html
func (s *SSM) DeleteDocument(r *wire.Request, in *ssm.DeleteDocumentInput) (*ssm.DeleteDocumentOutput, error) {
	reg := s.enter(r)
	defer s.mu.Unlock()
	d, err := s.own(reg, in.Name)
	if err != nil {
		return nil, err
	}
	if in.DocumentVersion == nil {
		delete(reg.documents, d.name)
		delete(reg.tags, tagged{types.ResourceTypeForTaggingDocument, d.name})
		return &ssm.DeleteDocumentOutput{}, nil
	}
	v, err := d.version(*in.DocumentVersion)
	if err != nil {
		return nil, err
	}
	if v.number == d.fallback || v == d.latest() {
		return nil, wire.Errorf("InvalidDocumentOperation", "Version %d of %s is its default or its latest version and cannot be deleted", v.number, d.name)
	}
	d.versions[v.number-1] = nil
	return &ssm.DeleteDocumentOutput{}, nil
}
