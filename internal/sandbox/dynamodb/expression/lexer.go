// Package expression is the expression language of DynamoDB: condition,
// filter, key condition, update and projection expressions.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html
package expression

import (
	"strings"
)

type tokenKind int

const (
	tokenEnd     tokenKind = iota
	tokenWord              // attribute name, function or keyword
	tokenName              // #placeholder
	tokenValue             // :placeholder
	tokenInteger           // list index
	tokenSymbol            // operator or punctuation
	tokenUnknown           // a character that no expression contains
)

type token struct {
	kind       tokenKind
	text       string
	start, end int // position in the source
}

// is reports whether t is the symbol or, in any case of letters, the keyword s.
func (t token) is(s string) bool {
	return (t.kind == tokenSymbol || t.kind == tokenWord) && strings.EqualFold(t.text, s)
}

// lex splits src into tokens, the last of which is tokenEnd.
func lex(src string) []token {
	var tokens []token
	for i := 0; ; {
		for i < len(src) && strings.IndexByte(" \t\r\n", src[i]) >= 0 {
			i++
		}
		if i == len(src) {
			return append(tokens, token{kind: tokenEnd, text: "<EOF>", start: i, end: i})
		}
		t := next(src, i)
		tokens = append(tokens, t)
		i = t.end
	}
}

func next(src string, start int) token {
	c := src[start]
	span := func(kind tokenKind, from int, in func(byte) bool) token {
		end := from
		for end < len(src) && in(src[end]) {
			end++
		}
		return token{kind: kind, text: src[start:end], start: start, end: end}
	}
	switch {
	case isDigit(c):
		return span(tokenInteger, start, isDigit)
	case isWord(c):
		return span(tokenWord, start, isWord)
	case c == '#':
		return span(tokenName, start+1, isWord)
	case c == ':':
		return span(tokenValue, start+1, isWord)
	}
	for _, s := range []string{"<>", "<=", ">=", "<", ">", "=", "(", ")", "[", "]", ",", ".", "+", "-"} {
		if strings.HasPrefix(src[start:], s) {
			return token{kind: tokenSymbol, text: s, start: start, end: start + len(s)}
		}
	}
	return token{kind: tokenUnknown, text: src[start : start+1], start: start, end: start + 1}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}
