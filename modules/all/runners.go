package all

import (
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/modules/runners/auth"
	"brine/modules/runners/cache"
	"brine/modules/runners/config"
	"brine/modules/runners/doc"
	"brine/modules/runners/error"
	"brine/modules/runners/event"
	"brine/modules/runners/fileserver"
	"brine/modules/runners/git_pillar"
	"brine/modules/runners/jobs"
	"brine/modules/runners/manage"
	"brine/modules/runners/match"
	"brine/modules/runners/mine"
	"brine/modules/runners/pillar"
	"brine/modules/runners/reactor"
	"brine/modules/runners/salt"
	"brine/modules/runners/saltutil"
	"brine/modules/runners/state"
	"brine/modules/runners/survey"
	"brine/modules/runners/test"
)

// Runners are the modules of salt-run, for a master that is as the options say.
func Runners(o runners.Options) loader.Listed {
	return loader.Listed{
		auth.Module(o),
		cache.Module(o),
		config.Module(),
		doc.Module(o),
		error.Module(),
		event.Module(o),
		fileserver.Module(o),
		git_pillar.Module(),
		jobs.Module(o),
		manage.Module(o),
		match.Module(o),
		mine.Module(o),
		pillar.Module(o),
		reactor.Module(o),
		salt.Module(o),
		saltutil.Module(o),
		state.Module(o),
		survey.Module(o),
		test.Module(o),
	}
}
