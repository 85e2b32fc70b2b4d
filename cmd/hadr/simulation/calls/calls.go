// Package calls tells requests to AWS apart by what they ask for, so that
// chance that is drawn for one does not depend on which came first.
package calls

import (
	"bytes"
	"hash/fnv"
	"net/http"
	"strings"
)

// Key is equal for requests of a program that ask for the same. It leaves out
// identifiers that are random in every run.
func Key(program string, r *http.Request, body []byte) uint64 {
	key := Digest(program) ^ Digest(r.URL.Path+r.Header.Get("X-Amz-Target"))
	if r.Header.Get("Content-Type") != "application/cbor" { // CBOR has no words; nobody asks CloudWatch two things at once
		key ^= words(body)
	}
	return key
}

// Digest is FNV-1a, mixed.
func Digest(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return Mix(h.Sum64())
}

// words is a digest of the words of a body in any order, because JSON objects
// have none. It leaves out ULIDs and UUIDs.
func words(body []byte) (sum uint64) {
	start := -1
	for i := 0; i <= len(body); i++ {
		if i < len(body) && inWord(body[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && !identifier(body[start:i]) {
			sum += Digest(string(body[start:i]))
		}
		start = -1
	}
	return sum
}

func inWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-'
}

func identifier(word []byte) bool {
	switch len(word) {
	case 26:
		return bytes.IndexFunc(word, func(r rune) bool { return r >= 'a' && r <= 'z' || r == '-' }) < 0
	case 36:
		return bytes.Count(word, []byte("-")) == 4
	}
	return false
}

// Mix spreads a hash over all its bits, with the finalizer of SplitMix64
// (https://prng.di.unimi.it/splitmix64.c).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Operation names what a request asks for, in any of the protocols of AWS.
func Operation(r *http.Request, body []byte) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndexByte(target, '.')+1:]
	}
	if _, name, ok := strings.Cut(r.URL.Path, "/operation/"); ok {
		return name
	}
	if rest, ok := bytes.CutPrefix(body, []byte("Action=")); ok {
		name, _, _ := bytes.Cut(rest, []byte("&"))
		return string(name)
	}
	return r.Method
}

// Reads reports whether an operation changes nothing, by its name.
func Reads(operation string) bool {
	for _, verb := range []string{"Get", "GET", "Describe", "List", "Query", "Scan"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}
