package world

import "time"

// RoleSession is what a caller of AssumeRole asks for.
type RoleSession struct {
	RoleARN    string
	Name       string // RoleSessionName
	ExternalID string
	Policy     string        // session policy, "" for none
	Duration   time.Duration // 0 = one hour
}
