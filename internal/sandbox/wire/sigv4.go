package wire

import (
	"net/http"
	"strings"
)

// scope is what a signature says about its request. The sandbox believes the
// access key and does not compute signatures.
type scope struct {
	accessKey string
	token     string // session token
	region    string
	service   string // signing name
}

// scopeOf reads the credential scope of a signed or presigned request.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func scopeOf(r *http.Request) (scope, bool) {
	credential := r.URL.Query().Get("X-Amz-Credential")
	token := r.URL.Query().Get("X-Amz-Security-Token")
	if h := r.Header.Get("Authorization"); strings.HasPrefix(h, "AWS4-HMAC-SHA256 ") {
		_, rest, _ := strings.Cut(h, "Credential=")
		credential, _, _ = strings.Cut(rest, ",")
		token = r.Header.Get("X-Amz-Security-Token")
	}
	// An access key never holds a slash, so that five parts are the scope.
	p := strings.Split(strings.TrimSpace(credential), "/")
	if len(p) != 5 || p[0] == "" || p[4] != "aws4_request" {
		return scope{}, false
	}
	return scope{accessKey: p[0], token: token, region: p[2], service: p[3]}, true
}
