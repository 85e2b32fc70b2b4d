package notify

import "strings"

// setting is where a group's configuration has the topics, with commas.
const setting = "notification_arns"

// Declared are the topics of a group, nil if nobody is to be told.
func Declared(settings map[string]string) []string {
	return strings.FieldsFunc(settings[setting], func(r rune) bool { return r == ',' })
}

// Declare puts the topics of a group into its settings.
func Declare(settings map[string]string, arns []string) { settings[setting] = strings.Join(arns, ",") }
