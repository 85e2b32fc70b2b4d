package lambda

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
)

// URLs serves the URLs of functions below URLPath. A URL with AuthType AWS_IAM
// refuses every call: the sandbox does not authorize signed calls of URLs.
// https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
func (l *Lambda) URLs() http.Handler { return http.HandlerFunc(l.serveURL) }

func (l *Lambda) serveURL(w http.ResponseWriter, r *http.Request) {
	id, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, URLPath), "/")
	in, u, allowed := l.byURL(id)
	switch {
	case u == nil:
		refuse(w, http.StatusNotFound, "Not Found")
		return
	case !allowed:
		refuse(w, http.StatusForbidden, "Forbidden. For troubleshooting Function URL authorization issues, see: https://docs.aws.amazon.com/lambda/latest/dg/urls-auth.html")
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxSyncPayload+1))
	if err != nil || len(body) > maxSyncPayload {
		refuse(w, http.StatusRequestEntityTooLarge, "Request Too Long")
		return
	}
	in.id = l.world.UUID()
	event, err := l.urlEvent(in, id, "/"+path, r, body)
	if err == nil {
		in.event = event
		var res *result
		if res, err = l.run(in); err == nil && !res.failed {
			writeURLAnswer(w, res.payload)
			return
		}
	}
	refuse(w, http.StatusBadGateway, "Internal Server Error")
}

// byURL finds the function of a URL and whether everybody may call it.
func (l *Lambda) byURL(id string) (invocation, *functionURL, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, f := range l.functions {
		for _, u := range f.urls {
			if u.id == id {
				return invocation{key: key, qualifier: u.qualifier}, u, u.auth == types.FunctionUrlAuthTypeNone && f.policies[u.qualifier].allowsURL()
			}
		}
	}
	return invocation{}, nil, false
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"Message": message}) // a client that went away needs no answer
}

// urlEvent is the payload of format 2.0.
func (l *Lambda) urlEvent(in invocation, id, path string, r *http.Request, body []byte) ([]byte, error) {
	now := l.world.Clock.Now().UTC()
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		source = r.RemoteAddr
	}
	headers, query := map[string]string{}, map[string]string{}
	for k, v := range r.Header {
		headers[strings.ToLower(k)] = strings.Join(v, ",")
	}
	headers["host"] = r.Host
	for k, v := range r.URL.Query() {
		query[k] = strings.Join(v, ",")
	}
	event := map[string]any{
		"version":         "2.0",
		"routeKey":        "$default",
		"rawPath":         path,
		"rawQueryString":  r.URL.RawQuery,
		"headers":         headers,
		"isBase64Encoded": false,
		"requestContext": map[string]any{
			"accountId": "anonymous", "apiId": id, "domainName": r.Host, "domainPrefix": id, "requestId": in.id, "routeKey": "$default", "stage": "$default",
			"http": map[string]string{"method": r.Method, "path": path, "protocol": r.Proto, "sourceIp": source, "userAgent": r.UserAgent()},
			"time": now.Format("02/Jan/2006:15:04:05 -0700"), "timeEpoch": now.UnixMilli(),
		},
	}
	if len(query) > 0 {
		event["queryStringParameters"] = query
	}
	if len(body) > 0 {
		event["body"] = string(body)
		if !utf8.Valid(body) {
			event["body"], event["isBase64Encoded"] = base64.StdEncoding.EncodeToString(body), true
		}
	}
	return json.Marshal(event)
}

// writeURLAnswer writes what the function returned: an answer with a status
// code, or any other JSON, which is the body of a success.
func writeURLAnswer(w http.ResponseWriter, payload []byte) {
	var a struct {
		StatusCode      int               `json:"statusCode"`
		Headers         map[string]string `json:"headers"`
		Cookies         []string          `json:"cookies"`
		Body            string            `json:"body"`
		IsBase64Encoded bool              `json:"isBase64Encoded"`
	}
	if json.Unmarshal(payload, &a) != nil || a.StatusCode < 200 || a.StatusCode > 599 {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(payload)
		return
	}
	body := []byte(a.Body)
	if a.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(a.Body)
		if err != nil {
			refuse(w, http.StatusBadGateway, "Internal Server Error")
			return
		}
		body = decoded
	}
	w.Header().Set("Content-Type", "application/json")
	for k, v := range a.Headers {
		w.Header().Set(k, v)
	}
	for _, c := range a.Cookies {
		w.Header().Add("Set-Cookie", c)
	}
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(body)
}
