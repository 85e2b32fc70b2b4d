package postgresql

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hadr-dev/terraform-provider-hadr/internal/engine/document"
)

var (
	//go:embed scripts/common.sh
	commonScript string
	//go:embed scripts/status.sql
	statusSQL string
	//go:embed scripts/status.sh
	statusScript string
	//go:embed scripts/promote.sh
	promoteScript string
	//go:embed scripts/start.sh
	startScript string
	//go:embed scripts/demote.sh
	demoteScript string
	//go:embed scripts/rejoin.sh
	rejoinScript string
	//go:embed scripts/fence.sh
	fenceScript string
)

const (
	absolutePath = `/[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}`
	portNumber   = `[1-9][0-9]{0,4}`
)

var (
	paramData     = document.Parameter{Name: "data", Description: "Data directory of the server.", Pattern: `^` + absolutePath + `$`}
	paramBin      = document.Parameter{Name: "bin", Description: "Directory of the server's programs.", Pattern: `^` + absolutePath + `$`}
	paramSocket   = document.Parameter{Name: "socket", Description: "Directory of the server's Unix socket.", Pattern: `^` + absolutePath + `$`}
	paramConfig   = document.Parameter{Name: "config", Description: "Path of postgresql.conf, or none if it is in the data directory.", Pattern: `^(none|` + absolutePath + `)$`}
	paramNode     = document.Parameter{Name: "node", Description: "Id of this node, its application_name as standby.", Pattern: `^[a-z][a-z0-9-]{0,30}$`}
	paramPeer     = document.Parameter{Name: "peer", Description: "Id of the other node, its application_name as standby.", Pattern: `^[a-z][a-z0-9-]{0,30}$`}
	paramPeerHost = document.Parameter{Name: "peer_host", Description: "Name or address of the other node, or none.", Pattern: `^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$`}
	paramPeerPort = document.Parameter{Name: "peer_port", Description: "TCP port of the other node.", Pattern: `^` + portNumber + `$`}
	paramUser     = document.Parameter{Name: "replication_user", Description: "Role that replicates and rewinds.", Pattern: `^[a-z_][a-z0-9_]{0,62}$`}
	paramDatabase = document.Parameter{Name: "database", Description: "Database of the probe.", Pattern: `^[a-z_][a-z0-9_]{0,62}$`}
	paramSSLMode  = document.Parameter{Name: "sslmode", Description: "sslmode of the connections between the nodes.", Pattern: `^(disable|allow|prefer|require|verify-ca|verify-full)$`}
	paramMode     = document.Parameter{Name: "mode", Description: "Whether commits wait for the standby.", Pattern: `^(sync|async)$`}
	paramAtLeast  = document.Parameter{Name: "at_least", Description: "Position that must have been replayed, or none.", Pattern: `^(none|[0-9A-F]{1,8}/[0-9A-F]{1,8})$`}
	paramAs       = document.Parameter{Name: "as", Description: "Start in the role on disk, or as the primary that this operation demoted.", Pattern: `^(on_disk|primary)$`}
	paramLimitMS  = document.Parameter{Name: "limit_ms", Description: "Milliseconds that the fence may take.", Pattern: `^[1-9][0-9]{2,5}$`}
	paramLimit    = document.Parameter{Name: "limit", Description: "Seconds that the long part may take.", Pattern: `^[1-9][0-9]{0,4}$`}
)

// server is where a server is found on its node.
var server = []document.Parameter{document.Owner, paramData, paramBin, paramSocket, document.Port, paramConfig}

// peer is how the other node is reached.
var peer = []document.Parameter{paramNode, paramPeerHost, paramPeerPort, paramUser, paramSSLMode}

var documents = map[string]document.Document{
	"status": {
		Kind: "status", Description: "hadr: read the state of a PostgreSQL server. Changes nothing of the database.",
		Parameters: slices.Concat([]document.Parameter{document.Group}, server, peer[1:]), Timeout: 30,
		Body: document.Guards + "\n" + commonScript + "\nstatus_sql=$(cat <<'HADR_SQL'\n" + statusSQL + "HADR_SQL\n)\n\n" + statusScript,
	},
	"promote": {
		Kind: "promote", Description: "hadr: promote a PostgreSQL standby.",
		Parameters: slices.Concat(document.Order(), server, []document.Parameter{document.VIP, paramAtLeast}), Timeout: 180,
		Body: document.Guards + "\n" + commonScript + "\n" + promoteScript,
	},
	"start": {
		Kind: "start", Description: "hadr: start a PostgreSQL server in the role that it has.",
		Parameters: slices.Concat(document.Order(), server, []document.Parameter{paramAs, document.Alone}), Timeout: 400,
		Body: document.Guards + "\n" + commonScript + "\n" + startScript,
	},
	"demote": {
		Kind: "demote", Description: "hadr: stop a PostgreSQL primary in order, for a switchover, and leave it a standby.",
		Parameters: slices.Concat(document.Order(), server, peer, []document.Parameter{document.VIP, paramPeer}), Timeout: 500,
		Body: document.Guards + "\n" + commonScript + "\n" + demoteScript,
	},
	"rejoin": {
		Kind: "rejoin", Description: "hadr: bring a PostgreSQL server back as standby, with pg_rewind where needed.",
		Parameters: slices.Concat(document.Order(), server, peer, []document.Parameter{document.VIP, paramMode, paramLimit}), Timeout: 1200,
		Body: document.Guards + "\n" + commonScript + "\n" + rejoinScript,
	},
}

// fence is for an agent on the node alone: no document, as nothing but the
// node's own lease orders it.
var fence = document.Document{
	Kind: "fence", Description: "hadr: take the writes away from a PostgreSQL server.",
	Parameters: slices.Concat([]document.Parameter{document.Group}, server, []document.Parameter{paramLimitMS}),
	Body:       document.Guards + "\n" + commonScript + "\n" + fenceScript,
}

// Kinds are the kinds of documents, in order.
func Kinds() []string { return slices.Sorted(maps.Keys(documents)) }

// DocumentOf returns the document of a kind.
func DocumentOf(kind string) (document.Document, error) {
	d, ok := documents[kind]
	if !ok {
		return document.Document{}, fmt.Errorf("no SSM document of the kind %q: want one of %s", kind, strings.Join(Kinds(), ", "))
	}
	return d, nil
}

// parameters are the values of a document for a node; those that only one
// document takes come in extra.
func (s Settings) parameters(d document.Document, group, node string, extra map[string]string) map[string]string {
	host, port := s.peer(node)
	all := map[string]string{
		"group": group, "table_arn": s.TableARN, "owner": s.Owner, "data": s.Data, "bin": s.Bin, "socket": s.Socket, "port": s.Port, "config": s.Config,
		"node": node, "peer": s.other(node), "peer_host": host, "peer_port": port, "replication_user": s.User, "sslmode": s.SSLMode, "mode": string(s.Mode),
		"vip": "none", "at_least": "none", "as": "on_disk", "alone": "no",
		"limit": strconv.Itoa(int(s.RejoinLimit.Seconds())),
	}
	maps.Copy(all, extra)
	values := map[string]string{}
	for _, p := range d.Parameters {
		if v, ok := all[p.Name]; ok {
			values[p.Name] = v
		}
	}
	return values
}
