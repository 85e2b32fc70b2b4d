package wire

import (
	"errors"
	"math/big"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
)

// node is a value on its way out, between the SDK's type and the bytes of a
// protocol. Its schema, if there is one, holds the traits that change its form:
// names, timestamp formats and HTTP bindings.
type node struct {
	kind   nodeKind
	schema *smithy.Schema
	scalar any     // string, bool, int64, float64, []byte or time.Time
	items  []*node // of a list
	fields []field // of a structure, a union or a map, in order
	item   string  // XML name of a list's items where no schema tells it
}

type field struct {
	name string
	node *node
}

type nodeKind int

const (
	nilNode nodeKind = iota
	scalarNode
	listNode
	structNode
	mapNode
)

// member returns the field called name, or nil.
func (n *node) member(name string) *node {
	for _, f := range n.fields {
		if f.name == name {
			return f.node
		}
	}
	return nil
}

// treeOf lets v describe itself.
func treeOf(v smithy.Serializable) (*node, error) {
	var w treeWriter
	v.Serialize(&w)
	if w.err != nil {
		return nil, w.err
	}
	if w.root == nil {
		return nil, errors.New("the value describes nothing")
	}
	return w.root, nil
}

// treeWriter builds a node from a value of the SDK.
type treeWriter struct {
	root  *node
	stack []*node
	key   string // of the next value in a map
	err   error
}

var _ smithy.ShapeSerializer = (*treeWriter)(nil)

func (w *treeWriter) add(n *node) {
	if len(w.stack) == 0 {
		if w.root == nil {
			w.root = n
		}
		return
	}
	switch top := w.stack[len(w.stack)-1]; top.kind {
	case listNode:
		top.items = append(top.items, n)
	case mapNode:
		top.fields = append(top.fields, field{w.key, n})
	default:
		name := ""
		if n.schema != nil {
			name = n.schema.MemberName()
		}
		top.fields = append(top.fields, field{name, n})
	}
}

func (w *treeWriter) open(kind nodeKind, s *smithy.Schema) {
	n := &node{kind: kind, schema: s}
	w.add(n)
	w.stack = append(w.stack, n)
}

func (w *treeWriter) close() { w.stack = w.stack[:len(w.stack)-1] }

func (w *treeWriter) put(s *smithy.Schema, v any) {
	w.add(&node{kind: scalarNode, schema: s, scalar: v})
}

func (w *treeWriter) refuse(what string) {
	w.err = errors.New("the sandbox cannot encode " + what)
	w.add(&node{})
}

// Bytes is part of smithy.ShapeSerializer; a tree has no bytes yet.
func (w *treeWriter) Bytes() []byte { return nil }

func (w *treeWriter) WriteInt8(s *smithy.Schema, v int8)       { w.put(s, int64(v)) }
func (w *treeWriter) WriteInt16(s *smithy.Schema, v int16)     { w.put(s, int64(v)) }
func (w *treeWriter) WriteInt32(s *smithy.Schema, v int32)     { w.put(s, int64(v)) }
func (w *treeWriter) WriteInt64(s *smithy.Schema, v int64)     { w.put(s, v) }
func (w *treeWriter) WriteFloat32(s *smithy.Schema, v float32) { w.put(s, float64(v)) }
func (w *treeWriter) WriteFloat64(s *smithy.Schema, v float64) { w.put(s, v) }
func (w *treeWriter) WriteBool(s *smithy.Schema, v bool)       { w.put(s, v) }
func (w *treeWriter) WriteString(s *smithy.Schema, v string)   { w.put(s, v) }
func (w *treeWriter) WriteBlob(s *smithy.Schema, v []byte)     { w.put(s, v) }
func (w *treeWriter) WriteTime(s *smithy.Schema, v time.Time)  { w.put(s, v) }

func (w *treeWriter) WriteBigInt(*smithy.Schema, *big.Int)         { w.refuse("big integers") }
func (w *treeWriter) WriteBigFloat(*smithy.Schema, *big.Float)     { w.refuse("big decimals") }
func (w *treeWriter) WriteDocument(*smithy.Schema, document.Value) { w.refuse("documents") }
func (w *treeWriter) WriteNil(s *smithy.Schema)                    { w.add(&node{schema: s}) }
func (w *treeWriter) WriteUnion(schema, _ *smithy.Schema)          { w.open(structNode, schema) }
func (w *treeWriter) CloseUnion()                                  { w.close() }
func (w *treeWriter) WriteStruct(s *smithy.Schema)                 { w.open(structNode, s) }
func (w *treeWriter) CloseStruct()                                 { w.close() }
func (w *treeWriter) WriteList(s *smithy.Schema)                   { w.open(listNode, s) }
func (w *treeWriter) CloseList()                                   { w.close() }
func (w *treeWriter) WriteMap(s *smithy.Schema)                    { w.open(mapNode, s) }
func (w *treeWriter) WriteKey(_ *smithy.Schema, key string)        { w.key = key }
func (w *treeWriter) CloseMap()                                    { w.close() }
