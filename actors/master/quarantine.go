package master

// tagQuarantine is the event of a message that was set aside because the same actor died of it twice.
const tagQuarantine = "brine/actor/quarantine"

// deathsFile is where the last deaths are kept for the next start, in the cache directory.
const deathsFile = "brine_deaths.jsonl"
