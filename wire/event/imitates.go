package event

import (
	"slices"
	"strings"

	"brine/wire/payload"
)

// inTag are the words behind which tools of Salt search tags for a job, wherever these stand: theirs are expressions
// such as (salt/job|syndic/.*)/JID.
const (
	jobInTag    = "salt/job/"
	syndicInTag = "syndic/"
)

// Imitates tells whether a tag is none of a job, and is taken for one by who searches it: it begins with a job id, or
// holds one behind what the tags of jobs begin with.
func Imitates(tag string) bool {
	first, _, _ := strings.Cut(tag, "/")
	if payload.BeginsWithJID(first) && !payload.IsJID(first) {
		return true
	}
	if strings.HasPrefix(tag, syndicInTag) {
		// what a syndic forwards holds the tags of jobs; nobody else has tags of this kind
		return false
	}
	for i, part := range strings.Split(tag, jobInTag) {
		if i > 0 && (i > 1 || !strings.HasPrefix(tag, jobInTag)) && payload.BeginsWithJID(part) {
			return true
		}
	}
	_, behind, found := strings.Cut(tag, syndicInTag)
	return found && HoldsJID(behind)
}

// HoldsJID tells whether a part of a tag begins with the digits of a job id.
func HoldsJID(tag string) bool {
	return slices.ContainsFunc(strings.Split(tag, "/"), payload.BeginsWithJID)
}
