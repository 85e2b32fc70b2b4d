package landscape

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// TFVars renders the landscape as values of the variables of the module
// db2-hadr, in HCL.
func (l Landscape) TFVars() []byte {
	var w strings.Builder
	fmt.Fprintf(&w, "region                     = %q\n", l.Region)
	fmt.Fprintf(&w, "vpc_id                     = %q\n", l.VPC)
	fmt.Fprintf(&w, "vpc_cidr                   = %q\n", CIDR)
	fmt.Fprintf(&w, "instance_profile_role_name = %q\n", Role)
	w.WriteString("route_table_ids = [\n")
	for _, id := range l.RouteTables {
		fmt.Fprintf(&w, "  %q,\n", id)
	}
	w.WriteString("]\nnodes = {\n")
	for _, s := range sides {
		h := l.Databases[s.letter]
		fmt.Fprintf(&w, "  %s = {\n", s.letter)
		fmt.Fprintf(&w, "    instance_id          = %q\n", h.InstanceID)
		fmt.Fprintf(&w, "    network_interface_id = %q\n", h.NetworkInterfaceID)
		fmt.Fprintf(&w, "    availability_zone    = %q\n", h.AvailabilityZone)
		fmt.Fprintf(&w, "    private_ip           = %q\n", h.PrivateIP)
		w.WriteString("  }\n")
	}
	w.WriteString("}\npath_checkers = {\n")
	for n, s := range sides {
		if n < len(l.RouteTables) {
			fmt.Fprintf(&w, "  %q = %q\n", l.RouteTables[n], l.Applications[s.letter].InstanceID)
		}
	}
	w.WriteString("}\n")
	return []byte(w.String())
}

// WriteTFVars writes TFVars to a file, whose name ends in .tfvars; with
// .auto.tfvars Terraform reads it by itself.
func (l Landscape) WriteTFVars(path string) error {
	if filepath.Ext(path) != ".tfvars" {
		return fmt.Errorf("write variables of the landscape to %s: the name must end in .tfvars", path)
	}
	if err := os.WriteFile(path, l.TFVars(), 0o644); err != nil {
		return fmt.Errorf("write variables of the landscape: %w", err)
	}
	return nil
}
