package cloudwatch

import (
	"encoding/base64"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/hadr-dev/terraform-provider-hadr/internal/sandbox/wire"
)

// page returns the elements of all that a token and a page size select, and the
// token of the next page, nil on the last one.
func page[T any](all []T, token *string, size int) ([]T, *string, error) {
	start := 0
	if t := aws.ToString(token); t != "" {
		b, err := base64.RawURLEncoding.DecodeString(t)
		if err == nil {
			start, err = strconv.Atoi(string(b))
		}
		if err != nil || start < 0 {
			return nil, nil, wire.Errorf("InvalidNextToken", "The next token specified is invalid.")
		}
	}
	start = min(start, len(all))
	end := min(start+size, len(all))
	if end == len(all) {
		return all[start:], nil, nil
	}
	next := base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(end)))
	return all[start:end], &next, nil
}

// pageSize checks MaxRecords, of which the API allows 1 to most.
func pageSize(asked *int32, standard, most int) (int, error) {
	if asked == nil {
		return standard, nil
	}
	if n := int(*asked); n >= 1 && n <= most {
		return n, nil
	}
	return 0, invalid("MaxRecords is %d, it must be between 1 and %d", *asked, most)
}
