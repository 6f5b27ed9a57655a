package all

import (
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/elasticsearch_return"
	"brine/modules/returners/etcd_return"
	"brine/modules/returners/local"
	"brine/modules/returners/multi_returner"
	"brine/modules/returners/mysql"
	"brine/modules/returners/pgjsonb"
	"brine/modules/returners/postgres"
	"brine/modules/returners/rawfile_json"
	"brine/modules/returners/redis_return"
	"brine/modules/returners/slack_webhook_return"
	"brine/modules/returners/smtp_return"
	"brine/modules/returners/sqlite3_return"
	"brine/modules/returners/syslog_return"
)

// Returners are the places where returns and events are kept, for a process that is as the options say.
func Returners(o returners.Options) loader.Listed {
	return loader.Listed{
		elasticsearch_return.Module(),
		etcd_return.Module(),
		local.Module(o),
		multi_returner.Module(o),
		mysql.Module(),
		pgjsonb.Module(),
		postgres.Module(),
		rawfile_json.Module(),
		redis_return.Module(),
		slack_webhook_return.Module(),
		smtp_return.Module(o),
		sqlite3_return.Module(),
		syslog_return.Module(o),
	}
}
