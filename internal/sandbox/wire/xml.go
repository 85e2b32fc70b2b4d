package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"math"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
)

// writeXML writes n as an element called name, as the XML protocols do.
// https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#xml-shape-serialization
func writeXML(w *bytes.Buffer, name string, n *node) {
	if n.kind == nilNode {
		return
	}
	if _, flat := smithy.SchemaTrait[*traits.XMLFlattened](n.schema); flat {
		switch n.kind {
		case listNode:
			for _, it := range n.items {
				writeXML(w, name, it)
			}
			return
		case mapNode:
			writeXMLEntries(w, name, n)
			return
		}
	}
	w.WriteString("<" + name + ">")
	writeXMLContent(w, n)
	w.WriteString("</" + name + ">")
}

// writeXMLContent writes what stands inside the element of n.
func writeXMLContent(w *bytes.Buffer, n *node) {
	switch n.kind {
	case scalarNode:
		writeXMLText(w, n)
	case listNode:
		name := n.item
		if name == "" {
			name = xmlName(n.schema, "member")
		}
		for _, it := range n.items {
			writeXML(w, name, it)
		}
	case mapNode:
		writeXMLEntries(w, "entry", n)
	case structNode:
		for _, f := range n.fields {
			name := f.name
			if t, ok := smithy.SchemaTrait[*traits.XMLName](f.node.schema); ok {
				name = t.Name
			}
			writeXML(w, name, f.node)
		}
	}
}

func writeXMLEntries(w *bytes.Buffer, name string, n *node) {
	key, value := xmlName(n.schema, "key"), xmlName(n.schema, "value")
	for _, f := range n.fields {
		w.WriteString("<" + name + ">")
		writeXML(w, key, &node{kind: scalarNode, scalar: f.name})
		writeXML(w, value, f.node)
		w.WriteString("</" + name + ">")
	}
}

// xmlName returns the XML name of a member of a list or map schema.
func xmlName(s *smithy.Schema, member string) string {
	if s != nil {
		if t, ok := smithy.SchemaTrait[*traits.XMLName](s.Member(member)); ok {
			return t.Name
		}
	}
	return member
}

func writeXMLText(w *bytes.Buffer, n *node) {
	switch v := n.scalar.(type) {
	case string:
		escapeXML(w, v)
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case int64:
		w.WriteString(strconv.FormatInt(v, 10))
	case float64:
		switch {
		case math.IsInf(v, 1):
			w.WriteString("Infinity")
		case math.IsInf(v, -1):
			w.WriteString("-Infinity")
		default:
			w.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
		}
	case []byte:
		w.WriteString(base64.StdEncoding.EncodeToString(v))
	case time.Time:
		w.WriteString(textTime(v, timestampFormat(n.schema, dateTime)))
	}
}

func escapeXML(w *bytes.Buffer, s string) {
	_ = xml.EscapeText(w, []byte(s)) // a buffer takes all that is written
}
