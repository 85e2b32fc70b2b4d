package imds

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Headers and bounds of IMDSv2.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-v2-how-it-works.html
const (
	tokenHeader = "X-aws-ec2-metadata-token"
	ttlHeader   = "X-aws-ec2-metadata-token-ttl-seconds"
	maxTTL      = 21600
)

// handler is the endpoint of one instance.
type handler struct {
	service *Service
	id      string
}

// ServeHTTP answers as 169.254.169.254 does: text, JSON documents, and plain
// error pages.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i, ok := h.service.lookup(h.id)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.URL.Path == "/latest/api/token" {
		h.token(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "405 - Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	token := r.Header.Get(tokenHeader)
	if (token == "" && i.TokensRequired) || (token != "" && !h.service.validToken(h.id, token)) {
		http.Error(w, "401 - Unauthorized", http.StatusUnauthorized)
		return
	}
	body, kind, status := h.read(i, r.URL.Path)
	if status != http.StatusOK {
		http.Error(w, strconv.Itoa(status)+" - "+http.StatusText(status), status)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, body) // the host may have lost its power meanwhile
}

func (h *handler) token(w http.ResponseWriter, r *http.Request) {
	switch ttl, err := strconv.Atoi(r.Header.Get(ttlHeader)); {
	case r.Method != http.MethodPut:
		http.Error(w, "405 - Method Not Allowed", http.StatusMethodNotAllowed)
	case r.Header.Get("X-Forwarded-For") != "": // a proxy must not fetch tokens
		http.Error(w, "403 - Forbidden", http.StatusForbidden)
	case err != nil || ttl < 1 || ttl > maxTTL:
		http.Error(w, "400 - Bad Request", http.StatusBadRequest)
	default:
		w.Header().Set(ttlHeader, strconv.Itoa(ttl))
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, h.service.newToken(h.id, time.Duration(ttl)*time.Second))
	}
}

const (
	text      = "text/plain"
	documents = "application/json"
)

// read returns the body of a path.
func (h *handler) read(i Instance, p string) (body, kind string, status int) {
	p, ok := strings.CutPrefix(p, "/latest/")
	if !ok {
		return "", "", http.StatusNotFound
	}
	switch p {
	case "dynamic/instance-identity/document":
		return document(h.identity(i)), text, http.StatusOK
	case "user-data":
		return i.UserData, "application/octet-stream", found(i.UserData)
	}
	p, ok = strings.CutPrefix(p, "meta-data")
	if !ok || (p != "" && p[0] != '/') {
		return "", "", http.StatusNotFound
	}
	p = strings.TrimPrefix(p, "/")
	if strings.HasPrefix(p, "iam/") && i.Profile != "" {
		return h.role(i, strings.TrimPrefix(p, "iam/"))
	}
	tree := h.tree(i)
	if v, ok := tree[p]; ok {
		return v, text, http.StatusOK
	}
	list := children(tree, p, i.Profile != "")
	return strings.Join(list, "\n"), text, found(strings.Join(list, ""))
}

func found(body string) int {
	if body == "" {
		return http.StatusNotFound
	}
	return http.StatusOK
}

// tree are the leaves of the metadata but for those of the role.
func (h *handler) tree(i Instance) map[string]string {
	all := map[string]string{
		"instance-id": i.InstanceID, "instance-type": i.Type, "ami-id": i.ImageID, "local-ipv4": i.PrivateIP,
		"hostname": h.hostname(i), "local-hostname": h.hostname(i),
		"placement/region": i.Region, "placement/availability-zone": i.Zone,
		"services/domain": "amazonaws.com", "services/partition": "aws",
	}
	if i.TagsShown {
		for k, v := range i.Tags {
			all["tags/instance/"+k] = v
		}
	}
	maps.DeleteFunc(all, func(_, v string) bool { return v == "" })
	return all
}

func (h *handler) hostname(i Instance) string {
	return "ip-" + strings.ReplaceAll(i.PrivateIP, ".", "-") + "." + i.Region + ".compute.internal"
}

// children lists a directory of the metadata: sub-directories end in a slash.
func children(tree map[string]string, dir string, profile bool) []string {
	dir = strings.TrimSuffix(dir, "/")
	set := map[string]bool{}
	for p := range tree {
		rest := p
		if dir != "" {
			var inside bool
			if rest, inside = strings.CutPrefix(p, dir+"/"); !inside {
				continue
			}
		}
		if head, _, more := strings.Cut(rest, "/"); more {
			rest = head + "/"
		}
		set[rest] = true
	}
	if dir == "" && profile {
		set["iam/"] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// role answers the paths under iam/.
func (h *handler) role(i Instance, p string) (body, kind string, status int) {
	if p == "" {
		return "info\nsecurity-credentials/", text, http.StatusOK
	}
	creds, issued, err := h.service.credentials(i)
	if p == "info" {
		return document(map[string]string{
			"Code": "Success", "LastUpdated": issued.UTC().Format(time.RFC3339), "InstanceProfileArn": i.Profile, "InstanceProfileId": "AIPA" + strings.ToUpper(strings.TrimPrefix(i.InstanceID, "i-")),
		}), documents, http.StatusOK
	}
	if err != nil {
		// As on AWS, a role that EC2 may not assume shows as missing credentials.
		return "", "", http.StatusNotFound
	}
	name := path.Base(creds.RoleARN)
	switch p {
	case "security-credentials", "security-credentials/":
		return name, text, http.StatusOK
	case "security-credentials/" + name:
		return document(map[string]string{
			"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": issued.UTC().Format(time.RFC3339), "Expiration": creds.Expiration.UTC().Format(time.RFC3339),
			"AccessKeyId": creds.AccessKey, "SecretAccessKey": creds.SecretKey, "Token": creds.SessionToken,
		}), documents, http.StatusOK
	}
	return "", "", http.StatusNotFound
}

// identity is the instance identity document.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-identity-documents.html
func (h *handler) identity(i Instance) map[string]any {
	return map[string]any{
		"accountId": i.Account, "architecture": i.Architecture, "availabilityZone": i.Zone, "imageId": i.ImageID,
		"instanceId": i.InstanceID, "instanceType": i.Type, "pendingTime": i.Launched.UTC().Format(time.RFC3339),
		"privateIp": i.PrivateIP, "region": i.Region, "version": "2017-09-30",
	}
}

func document(v any) string {
	b, _ := json.MarshalIndent(v, "", "  ") // maps of texts and times always encode
	return string(b)
}
