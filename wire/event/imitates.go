package event

import (
	"slices"
	"strings"

	"brine/wire/payload"
)

// jobInTag and syndicInTag are the prefixes after which Salt's tools search a tag for a job id. They search anywhere in
// the tag, with expressions such as (salt/job|syndic/.*)/JID.
const (
	jobInTag    = "salt/job/"
	syndicInTag = "syndic/"
)

// Imitates tells whether a tag is not a job's, but a tool that searches for a job's tags would take it for one: it
// begins with a job id, or contains one after a prefix of such tags.
func Imitates(tag string) bool {
	first, _, _ := strings.Cut(tag, "/")
	if payload.BeginsWithJID(first) && !payload.IsJID(first) {
		return true
	}
	if strings.HasPrefix(tag, syndicInTag) {
		// events that a syndic forwards contain the tags of jobs; nobody else has tags of this kind
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

// HoldsJID tells whether any part of a tag begins with the digits of a job id.
func HoldsJID(tag string) bool {
	return slices.ContainsFunc(strings.Split(tag, "/"), payload.BeginsWithJID)
}
